//! How long a chain takes under a plan. What each instance reads is fixed by declared instants, so every instance of the last task is
//! followed back to the instance of the first whose data it uses, over one common round.

use super::bound;
use super::model::{Chain, Port, Step, System, Window};
use super::plan::{PlannedChain, SystemPlan};
use super::project::{source_window, target_window};
use crate::admission::Lean;
use crate::windows::{charged, least_common_multiple};
use crate::{Plan, PlannedTask, Qos};
use leveret_types::{INSTANCES_MAX, Nanos};
use serde::Serialize;
use std::fmt;

/// One stretch of a chain's time. They follow each other without a gap.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChainPart {
    /// What happens in it.
    pub kind: PartKind,
    /// The name of the task or channel.
    pub name: String,
    /// How long it takes.
    pub length: Nanos,
}

/// What happens in a stretch of a chain's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// An event waits until the first task starts anew, and until that is not overtaken by later data.
    Sampling,
    /// A task runs.
    Task,
    /// A message waits for its channel's window.
    Release,
    /// A message is under way: in its channel's window, until it is visible.
    Channel,
    /// A message waits until the task that reads it starts.
    Start,
    /// The clocks of the first and the last host may differ by this.
    Clocks,
}

impl fmt::Display for ChainPart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.kind {
            PartKind::Sampling => write!(out, "until `{name}` samples ")?,
            PartKind::Task | PartKind::Channel => write!(out, "`{name}` ")?,
            PartKind::Release => write!(out, "until the window of `{name}` ")?,
            PartKind::Start => write!(out, "until `{name}` reads ")?,
            PartKind::Clocks => write!(out, "error of the clocks ")?,
        }
        if self.length == Nanos::MAX {
            out.write_str("without bound")
        } else {
            write!(out, "{}", self.length)
        }
    }
}

/// By which instances a chain's longest times are reached. They are counted from the epoch, and may lie before it or in a later round of
/// the plan, which repeats.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChainWays {
    /// The instance of the first task that an event has just missed, from whose start the reaction counts.
    pub missed: i64,
    /// For each element of the path the instance of the task, or the message of the channel, by which the event is answered.
    pub reaction: Vec<i64>,
    /// For each element of the path the instance or message by which what is oldest is used last.
    pub age: Vec<i64>,
}

/// A chain, and where its longest times come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Walked {
    pub planned: PlannedChain,
    pub reaction: Vec<ChainPart>,
    pub age: Vec<ChainPart>,
    /// Where the clock moves everything.
    pub ways: Option<ChainWays>,
}

/// By which instances a chain of a system takes longest under a plan that the checker accepted; `None` where its times are bounds.
pub fn chain_ways(system: &System, plan: &SystemPlan, chain: &Chain) -> Option<ChainWays> {
    walk(system, &plan.windows, &plan.hosts, chain).ok()?.ways
}

/// A chain whose tasks repeat together only after too long a time to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLong;

/// Follows a chain of a system under a plan of all its hosts.
pub(crate) fn walk(
    system: &System,
    windows: &[Window],
    hosts: &[Plan],
    chain: &Chain,
) -> Result<Walked, TooLong> {
    match Walk::new(system, windows, hosts, chain)? {
        Some(walk) => Ok(walk.longest()),
        None => Ok(bound::bound(system, windows, hosts, chain)),
    }
}

/// What no plan within the same windows goes below: the first task starts as late as it can, the last ends as early. `None` where that
/// says nothing, since not everything is moved by the clock, or both are one.
pub(crate) fn least(system: &System, windows: &[Window], hosts: &[Plan], chain: &Chain) -> Option<Walked> {
    let mut walk = Walk::new(system, windows, hosts, chain).ok()??;
    let count = walk.links.len();
    if count < 2 {
        return None;
    }
    walk.links[0].lean = Some(Lean::Late);
    walk.links[count - 1].lean = Some(Lean::Early);
    Some(walk.longest())
}

/// A task of the chain under the plan; instances are counted from the epoch, in both directions.
struct Link<'a> {
    planned: &'a PlannedTask,
    name: &'a str,
    round: i64,
    /// What one instance takes at least.
    charged: i64,
    /// Where in its windows it is looked at, if not where the plan has it.
    lean: Option<Lean>,
    /// Of what it reads: the place in its reads, the messages of a round, and by how much the port counts later than the crossing.
    reads: Option<(usize, i64, i64)>,
    /// Of what it writes: message `k + ahead` is filled by instance `k`.
    ahead: i64,
}

impl Link<'_> {
    fn split(&self, instance: i64) -> (usize, i64) {
        let count = self.planned.instances.len() as i64;
        (instance.rem_euclid(count) as usize, instance.div_euclid(count))
    }
    fn start(&self, instance: i64) -> i64 {
        let (index, round) = self.split(instance);
        let planned = &self.planned.instances[index];
        let start = match self.lean {
            None => planned.start().0,
            Some(Lean::Late) => planned.latest.0 - self.charged,
            Some(Lean::Early) => planned.earliest.0,
        };
        start + round * self.round
    }
    fn end(&self, instance: i64) -> i64 {
        let (index, round) = self.split(instance);
        let planned = &self.planned.instances[index];
        let end = match self.lean {
            None => planned.end().0,
            Some(Lean::Late) => planned.latest.0,
            Some(Lean::Early) => planned.earliest.0 + self.charged,
        };
        end + round * self.round
    }
    fn seen(&self, instance: i64) -> i64 {
        let Some((place, messages, shift)) = self.reads else { return 0 };
        let (index, round) = self.split(instance);
        self.planned.instances[index].reads[place] + round * messages + shift
    }
}

/// A channel of the chain: its window for message `k` begins at `k * period + release`, and the message is visible at `visible`.
struct Conduit<'a> {
    name: &'a str,
    period: i64,
    release: i64,
    visible: i64,
}

struct Walk<'a> {
    links: Vec<Link<'a>>,
    conduits: Vec<Conduit<'a>>,
    /// Instances of the last task to look at.
    count: i64,
    /// What two clocks may differ by.
    clocks: i64,
}

impl<'a> Walk<'a> {
    /// `None` where not everything is moved by the clock.
    fn new(
        system: &'a System,
        windows: &[Window],
        hosts: &'a [Plan],
        chain: &'a Chain,
    ) -> Result<Option<Self>, TooLong> {
        let mut walk = Self { links: Vec::new(), conduits: Vec::new(), count: 0, clocks: 0 };
        let mut round = 1;
        let mut period = 1;
        let mut first = None;
        for index in (0..chain.path.len()).step_by(2) {
            let Step::Task { host, task } = chain.path[index] else { return Ok(None) };
            let plan = &hosts[usize::from(host)];
            let declared = system.task(host, task);
            round = least_common_multiple(round, plan.hyperperiod.0);
            period = declared.period.0;
            first.get_or_insert(period);
            let mut link = Link {
                planned: &plan.tasks[task.index()],
                name: &declared.name,
                round: plan.hyperperiod.0,
                charged: charged(&system.hosts[usize::from(host)].job, declared),
                lean: None,
                reads: None,
                ahead: 0,
            };
            if let Some(before) = index.checked_sub(1) {
                let Some(end) = reading(system, windows, chain.path[before], chain.path[index]) else {
                    return Ok(None);
                };
                let place = declared.reads.iter().position(|id| *id == end.port.channel).unwrap_or(0);
                link.reads = Some((place, plan.hyperperiod.0 / end.period, end.shift));
                walk.conduits.push(Conduit {
                    name: system.step_name(chain.path[before]),
                    period: end.period,
                    release: end.window.release.0,
                    visible: end.window.deadline.0 + system.traffic.clock_error.0,
                });
            }
            if let Some(next) = chain.path.get(index + 1) {
                let Some((port, shift)) = writing(system, windows, *next) else { return Ok(None) };
                let place = declared.writes.iter().position(|id| *id == port.channel).unwrap_or(0);
                link.ahead = link.planned.instances[0].writes[place] + shift;
            }
            walk.links.push(link);
        }
        walk.count = round / period;
        // Neither may the first task have more: who follows chains forwards looks at each of its instances.
        let first = first.map_or(0, |first| round / first);
        if walk.count.max(first) > INSTANCES_MAX as i64 {
            return Err(TooLong);
        }
        walk.clocks = clocks(system, chain);
        Ok(Some(walk))
    }

    /// The instance of each task whose data the last task's instance uses.
    fn back(&self, last: i64) -> Vec<i64> {
        let mut instances = vec![last; self.links.len()];
        for index in (1..self.links.len()).rev() {
            instances[index - 1] = self.links[index].seen(instances[index]) - self.links[index - 1].ahead;
        }
        instances
    }

    fn longest(&self) -> Walked {
        let (first, last) = (&self.links[0], &self.links[self.links.len() - 1]);
        // (time, instances): the greatest time, of the earliest instance that has it; of those that begin in the first round or later, if there are any.
        let greater = |now: (i64, i64), best: (i64, i64)| {
            now.0 > best.0 || (now.0 == best.0 && first.start(now.1) >= 0 && first.start(best.1) < 0)
        };
        let mut age = (i64::MIN, Vec::new(), 0);
        let mut reaction = (i64::MIN, Vec::new(), 0);
        let mut before = self.back(-1)[0];
        for instance in 0..self.count {
            let way = self.back(instance);
            let end = last.end(instance);
            let missed = before;
            before = way[0];
            let (waited, old) = (end - first.start(missed), end - first.start(before));
            if before > missed && greater((waited, missed), (reaction.0, reaction.2)) {
                reaction = (waited, way.clone(), missed);
            }
            if greater((old, before), (age.0, age.2)) {
                age = (old, way, before);
            }
        }
        let planned = PlannedChain {
            reaction: Nanos(reaction.0 + self.clocks),
            age: Nanos(age.0 + self.clocks),
            exact: true,
        };
        let sampling = first.start(reaction.1[0]) - first.start(reaction.2);
        let sampling = part(PartKind::Sampling, first.name, sampling);
        let ways = ChainWays {
            missed: reaction.2,
            reaction: self.elements(&reaction.1),
            age: self.elements(&age.1),
        };
        let reaction = std::iter::once(sampling).chain(self.parts(&reaction.1)).collect();
        Walked { planned, reaction, age: self.parts(&age.1), ways: Some(ways) }
    }

    /// Instances of tasks, and between them the messages that they read.
    fn elements(&self, way: &[i64]) -> Vec<i64> {
        let mut elements = Vec::with_capacity(way.len() * 2);
        for (index, (link, instance)) in self.links.iter().zip(way).enumerate() {
            elements.extend((index > 0).then(|| link.seen(*instance)));
            elements.push(*instance);
        }
        elements
    }

    fn parts(&self, way: &[i64]) -> Vec<ChainPart> {
        let mut parts = Vec::new();
        for (index, (link, instance)) in self.links.iter().zip(way).enumerate() {
            let (start, end) = (link.start(*instance), link.end(*instance));
            if let Some(before) = index.checked_sub(1) {
                let conduit = &self.conduits[before];
                let message = link.seen(*instance);
                let inserted = self.links[before].end(way[before]);
                let visible = message * conduit.period + conduit.visible;
                let begin = inserted.max(message * conduit.period + conduit.release);
                parts.push(part(PartKind::Release, conduit.name, begin - inserted));
                parts.push(part(PartKind::Channel, conduit.name, visible - begin));
                parts.push(part(PartKind::Start, link.name, start - visible));
            }
            parts.push(part(PartKind::Task, link.name, end - start));
        }
        parts.push(part(PartKind::Clocks, "", self.clocks));
        parts.retain(|part| part.length != Nanos::ZERO);
        parts
    }
}

pub(super) fn part(kind: PartKind, name: &str, length: i64) -> ChainPart {
    ChainPart { kind, name: name.to_owned(), length: Nanos(length) }
}

/// What the clocks of the first and the last host may differ by.
pub(super) fn clocks(system: &System, chain: &Chain) -> i64 {
    let ends = [chain.path.first(), chain.path.last()].map(|step| step.and_then(|step| step.host()));
    if ends[0] == ends[1] { 0 } else { 2 * system.traffic.clock_error.0 }
}

/// The end of a channel at which a task reads.
pub(super) struct Reading {
    pub port: Port,
    pub period: i64,
    /// The channel's own.
    pub window: Window,
    pub shift: i64,
}

/// Where a channel is read by a task; `None` where the clock does not move it.
pub(super) fn reading(system: &System, windows: &[Window], step: Step, reader: Step) -> Option<Reading> {
    let Step::Task { host, task } = reader else { return None };
    match step {
        Step::Channel(port) => {
            let channel = &system.hosts[usize::from(port.host)].job.channels[port.channel.index()];
            let Qos::TimeDriven { period, release, deadline, .. } = channel.qos else { return None };
            Some(Reading { port, period: period.0, window: Window { release, deadline }, shift: 0 })
        }
        Step::Crossing(index) => {
            let crossing = &system.crossings[usize::from(index)];
            let window = windows[usize::from(index)];
            let reads = &system.task(host, task).reads;
            let is_read = |port: &&Port| port.host == host && reads.contains(&port.channel);
            let port = *crossing.targets.iter().find(is_read)?;
            let costs = &system.hosts[usize::from(host)].job.costs;
            let shift = target_window(window, crossing.period, costs).shift;
            Some(Reading { port, period: crossing.period.0, window, shift })
        }
        Step::Task { .. } | Step::Work { .. } => None,
    }
}

/// Where a channel is written, and by how much its messages count later there than their port does.
pub(super) fn writing(system: &System, windows: &[Window], step: Step) -> Option<(Port, i64)> {
    match step {
        Step::Channel(port) => {
            let channel = &system.hosts[usize::from(port.host)].job.channels[port.channel.index()];
            channel.qos.is_time_driven().then_some((port, 0))
        }
        Step::Crossing(index) => {
            let crossing = &system.crossings[usize::from(index)];
            let costs = &system.hosts[usize::from(crossing.source.host)].job.costs;
            let shift = source_window(windows[usize::from(index)], crossing.period, costs).shift;
            Some((crossing.source, shift))
        }
        Step::Task { .. } | Step::Work { .. } => None,
    }
}
