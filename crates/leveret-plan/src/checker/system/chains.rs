//! Chains, followed forwards: from each instance of the first task to the first instance of the last that has its data or later data.

use super::bounds::bounds;
use super::parts::first_messages;
use super::violation;
use crate::checker::{Violation, wide};
use crate::system::{Chain, PlannedChain, Port, Step, System, SystemPlan};
use crate::{PlannedTask, Qos};
use leveret_types::{INSTANCES_MAX, Nanos};

/// A task of a chain, its instances counted from the epoch, and its messages as the channel counts them.
struct Stage<'a> {
    planned: &'a PlannedTask,
    round: i128,
    period: i128,
    reads: Option<End>,
    writes: Option<End>,
}

/// A task's end of a channel.
#[derive(Clone, Copy)]
struct End {
    place: usize,
    /// Messages in a round of the task's host.
    messages: i128,
    first: i128,
}

impl Stage<'_> {
    fn at(&self, instance: i128) -> (usize, i128) {
        let count = self.planned.instances.len() as i128;
        (instance.rem_euclid(count) as usize, instance.div_euclid(count))
    }
    fn start(&self, instance: i128) -> i128 {
        let (index, turn) = self.at(instance);
        wide(self.planned.instances[index].start()) + turn * self.round
    }
    fn end(&self, instance: i128) -> i128 {
        let (index, turn) = self.at(instance);
        wide(self.planned.instances[index].end()) + turn * self.round
    }
    fn made(&self, instance: i128) -> i128 {
        let Some(end) = self.writes else { return 0 };
        let (index, turn) = self.at(instance);
        i128::from(self.planned.instances[index].writes[end.place]) + turn * end.messages + end.first
    }
    /// The first instance that sees this message, or a later one.
    fn first_with(&self, message: i128) -> i128 {
        let Some(end) = self.reads else { return 0 };
        let seen = |index: usize| i128::from(self.planned.instances[index].reads[end.place]) + end.first;
        // What is seen never goes back: in the last round that begins with an older one, or at the start of the next.
        let turn = (message - 1 - seen(0)).div_euclid(end.messages);
        let count = self.planned.instances.len();
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            if seen(middle) + turn * end.messages < message {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        turn * count as i128 + low as i128
    }
}

/// What a chain takes under a plan whose hosts were found to be right.
pub(super) fn taken(plan: &SystemPlan, system: &System, chain: &Chain) -> Result<PlannedChain, Violation> {
    let Some(stages) = stages(plan, system, chain) else { return Ok(bounds(plan, system, chain)) };
    let place = || format!("chain `{}`", chain.name);
    let mut round: i128 = 1;
    for stage in &stages {
        let (mut a, mut b) = (round, stage.round);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        round = round / a * stage.round;
        if round > i128::from(i64::MAX) {
            return Err(violation(place(), "its hosts repeat together in time to look at it", String::new()));
        }
    }
    let (first, last) = (&stages[0], &stages[stages.len() - 1]);
    let count = round / first.period;
    if count > INSTANCES_MAX as i128 || round / last.period > INSTANCES_MAX as i128 {
        return Err(violation(place(), "its hosts repeat together in time to look at it", String::new()));
    }
    let arrives = |instance: i128| {
        let through = |at: i128, pair: &[Stage<'_>]| pair[1].first_with(pair[0].made(at));
        stages.windows(2).fold(instance, through)
    };
    let (mut reaction, mut age) = (i128::MIN, i128::MIN);
    let mut here = arrives(0);
    for instance in 0..count {
        reaction = reaction.max(last.end(here) - first.start(instance - 1));
        let next = arrives(instance + 1);
        if next > here {
            // The last one before later data comes still has this instance's.
            age = age.max(last.end(next - 1) - first.start(instance));
        }
        here = next;
    }
    let apart = match (chain.path.first(), chain.path.last()) {
        (Some(Step::Task { host: a, .. }), Some(Step::Task { host: b, .. })) if a != b => {
            2 * wide(system.traffic.clock_error)
        }
        _ => 0,
    };
    let time = |value: i128| Nanos(i64::try_from(value + apart).unwrap_or(i64::MAX));
    Ok(PlannedChain { reaction: time(reaction), age: time(age), exact: true })
}

/// The tasks of a chain; `None` where the clock does not move everything.
fn stages<'a>(plan: &'a SystemPlan, system: &'a System, chain: &Chain) -> Option<Vec<Stage<'a>>> {
    let mut stages = Vec::new();
    for (index, step) in chain.path.iter().enumerate().step_by(2) {
        let Step::Task { host, task } = *step else { return None };
        let (own, job) = (&plan.hosts[usize::from(host)], &system.hosts[usize::from(host)].job);
        let declared = &job.tasks[task.index()];
        let round = wide(own.hyperperiod);
        let reads = match index {
            0 => None,
            _ => Some(end(plan, system, chain.path[index - 1], (host, &declared.reads), round)?),
        };
        let writes = match chain.path.get(index + 1) {
            None => None,
            Some(next) => Some(end(plan, system, *next, (host, &declared.writes), round)?),
        };
        let period = wide(declared.period);
        stages.push(Stage { planned: &own.tasks[task.index()], round, period, reads, writes });
    }
    Some(stages)
}

/// The end of a channel that a task holds; `None` where the clock does not move the channel.
fn end(
    plan: &SystemPlan,
    system: &System,
    channel: Step,
    (host, held): (u16, &[leveret_types::ChannelId]),
    round: i128,
) -> Option<End> {
    let (ports, crossing): (Vec<Port>, _) = match channel {
        Step::Channel(port) => (vec![port], None),
        Step::Crossing(index) => {
            let crossing = &system.crossings[usize::from(index)];
            let ports = crossing.targets.iter().copied().chain([crossing.source]).collect();
            (ports, Some((crossing, plan.windows[usize::from(index)])))
        }
        _ => return None,
    };
    let port = ports.into_iter().find(|port| port.host == host && held.contains(&port.channel))?;
    let own = &system.hosts[usize::from(host)].job.channels[port.channel.index()];
    let Qos::TimeDriven { period, .. } = own.qos else { return None };
    let first = crossing.map_or(0, |(crossing, window)| first_messages(crossing, window, system, port));
    let place = held.iter().position(|id| *id == port.channel)?;
    Some(End { place, messages: round / wide(period), first })
}
