//! Bounds of chains that not only the clock moves: the sum of what each element may take by its own bound.

use super::wide;
use crate::system::{Chain, PlannedChain, Port, Step, System, SystemPlan};
use crate::{Channel, Qos};
use leveret_types::Nanos;

/// Either sum; `None` where some element has no bound.
type Sum = Option<i128>;

pub(super) fn bounds(plan: &SystemPlan, system: &System, chain: &Chain) -> PlannedChain {
    let (mut reaction, mut age): (Sum, Sum) = (Some(0), Some(0));
    for index in 0..chain.path.len() {
        let [slow, again, common] = element(plan, system, chain, index);
        let add = |sum: Sum, more: [Sum; 2]| Some(sum? + more[0]? + more[1]?);
        reaction = add(reaction, [slow, common]);
        age = add(age, [again, common]);
    }
    let time = |sum: Sum| {
        let sum = sum.and_then(|sum| i64::try_from(sum).ok());
        sum.map_or(Nanos::MAX, Nanos)
    };
    PlannedChain { reaction: time(reaction), age: time(age), exact: false }
}

/// What an element adds to the reaction alone, to the age alone, and to both.
fn element(plan: &SystemPlan, system: &System, chain: &Chain, index: usize) -> [Sum; 3] {
    let zero = Some(0);
    match chain.path[index] {
        Step::Task { host, task } => {
            let period = wide(system.hosts[usize::from(host)].job.tasks[task.index()].period);
            let response = wide(plan.hosts[usize::from(host)].tasks[task.index()].response_bound);
            let again = match index {
                0 => 0,
                _ => channel(system, chain.path[index - 1]).and_then(timed).unwrap_or(0),
            };
            [Some(period), Some(again), Some(response)]
        }
        Step::Work { host, work } => {
            let own = &system.hosts[usize::from(host)].job.sporadics[usize::from(work)];
            let response = plan.hosts[usize::from(host)].sporadics[usize::from(work)].response_bound;
            let in_step = index == 0 || {
                let interval =
                    channel(system, chain.path[index - 1]).and_then(|channel| channel.qos.service());
                let interval = interval.and_then(|(_, interval, _)| interval);
                own.interval.is_none_or(|own| interval.is_some_and(|interval| interval >= own))
            };
            [zero, zero, (in_step && response < Nanos::MAX).then_some(wide(response))]
        }
        Step::Channel(port) => {
            let declared = channel(system, chain.path[index]);
            if declared.and_then(timed).is_some() {
                return [zero, zero, under_way(plan, system, chain, index)];
            }
            let apart = match chain.path[index - 1] {
                Step::Task { host, task } => {
                    Some(system.hosts[usize::from(host)].job.tasks[task.index()].period)
                }
                Step::Work { host, work } => {
                    system.hosts[usize::from(host)].job.sporadics[usize::from(work)].interval
                }
                _ => None,
            };
            let interval = declared.and_then(|channel| channel.qos.service()).and_then(|(_, own, _)| own);
            let in_step = apart.is_some_and(|apart| interval.is_none_or(|interval| interval <= apart));
            let bound = plan.hosts[usize::from(port.host)].channels[port.channel.index()].latency_bound;
            [zero, zero, (in_step && bound < Nanos::MAX).then_some(wide(bound))]
        }
        Step::Crossing(_) => [zero, zero, under_way(plan, system, chain, index)],
    }
}

/// A channel as its source declares it.
fn channel(system: &System, step: Step) -> Option<&Channel> {
    let port: Port = match step {
        Step::Channel(port) => port,
        Step::Crossing(index) => system.crossings[usize::from(index)].source,
        _ => return None,
    };
    Some(&system.hosts[usize::from(port.host)].job.channels[port.channel.index()])
}

/// The period of a channel that the clock moves.
fn timed(channel: &Channel) -> Option<i128> {
    match channel.qos {
        Qos::TimeDriven { period, .. } => Some(wide(period)),
        _ => None,
    }
}

/// From a writer's planned end to the visibility of what it made, at most; between hosts with the error of both clocks.
fn under_way(plan: &SystemPlan, system: &System, chain: &Chain, index: usize) -> Sum {
    let Step::Task { host, task } = chain.path[index - 1] else { return None };
    let declared = &system.hosts[usize::from(host)].job.tasks[task.index()];
    let source = match chain.path[index] {
        Step::Channel(port) => port,
        Step::Crossing(crossing) => system.crossings[usize::from(crossing)].source,
        _ => return None,
    };
    let place = declared.writes.iter().position(|id| *id == source.channel)?;
    let own = &plan.hosts[usize::from(host)];
    let transfers = &own.channels[source.channel.index()].instances;
    let round = wide(own.hyperperiod);
    // At the source's port a message is visible to the network at its release; it is so to the reader as much later as the window is long.
    let window = match chain.path[index] {
        Step::Crossing(crossing) => {
            let window = plan.windows[usize::from(crossing)];
            wide(window.deadline) - wide(window.release) + 2 * wide(system.traffic.clock_error)
        }
        _ => 0,
    };
    let waits = own.tasks[task.index()].instances.iter().map(|instance| {
        let message = i128::from(instance.writes[place]);
        let count = transfers.len() as i128;
        let visible = wide(transfers[message.rem_euclid(count) as usize].visible_at)
            + message.div_euclid(count) * round;
        visible + window - wide(instance.end())
    });
    waits.max()
}
