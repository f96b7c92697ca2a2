//! What a chain takes at least, whatever the tables are.

use super::parts::{Parts, first_messages};
use super::refusal::{Bounds, bounds, round};
use super::{violation, wide};
use crate::checker::network::quickest;
use crate::checker::{Violation, charged, shown};
use crate::system::{Chain, ChainLimit, Port, Step, System};
use crate::{Job, Task};
use leveret_types::{INSTANCES_MAX, StreamId};

/// Accepts that a chain takes longer than its limit in every plan.
pub(super) fn check(
    system: &System,
    parts: &Parts,
    chain: usize,
    limit: ChainLimit,
) -> Result<(), Violation> {
    let Some(chain) = system.chains.get(chain) else {
        return Err(violation("certificate".to_owned(), "its chain exists", chain.to_string()));
    };
    let place = || format!("chain `{}`", chain.name);
    let most = match limit {
        ChainLimit::Reaction => chain.reaction,
        ChainLimit::Age => chain.age,
    };
    let Some(most) = most else { return Err(violation(place(), "it has the limit", String::new())) };
    let sum = by_parts(system, parts, chain, limit);
    let least = match followed(system, parts, chain, limit)? {
        Some(followed) => sum.max(followed),
        None => sum,
    };
    if least > wide(most) {
        return Ok(());
    }
    Err(violation(
        place(),
        "no plan keeps its limit",
        format!("at least {}, and {most} are allowed", shown(least)),
    ))
}

/// What two clocks may differ by at the ends of a chain.
fn clocks(system: &System, chain: &Chain) -> i128 {
    let host = |step: Option<&Step>| match step {
        Some(Step::Task { host, .. } | Step::Work { host, .. }) => Some(*host),
        _ => None,
    };
    let is_one = host(chain.path.first()) == host(chain.path.last());
    if is_one { 0 } else { 2 * wide(system.traffic.clock_error) }
}

/// The sum of what each element takes for itself. An event may wait for the slowest task before that.
fn by_parts(system: &System, parts: &Parts, chain: &Chain, limit: ChainLimit) -> i128 {
    let error = 2 * wide(system.traffic.clock_error);
    let (mut sum, mut slowest) = (clocks(system, chain), 0);
    for step in &chain.path {
        sum += match *step {
            Step::Task { host, task } => {
                let job = &system.hosts[usize::from(host)].job;
                let task = &job.tasks[task.index()];
                slowest = slowest.max(wide(task.period));
                charged(job, task)
            }
            Step::Work { host, work } => {
                wide(system.hosts[usize::from(host)].job.sporadics[usize::from(work)].budget)
            }
            Step::Channel(port) => {
                let job = &system.hosts[usize::from(port.host)].job;
                let is_timed = job.channels[port.channel.index()].qos.is_time_driven();
                if is_timed { wide(job.costs.publish) + error } else { 0 }
            }
            Step::Crossing(index) => {
                let crossing = &system.crossings[usize::from(index)];
                let stream = StreamId((system.traffic.streams.len() + usize::from(index)) as u32);
                let way = match crossing.window {
                    Some(window) => wide(window.deadline) - wide(window.release),
                    None => quickest(&parts.traffic, stream) + error,
                };
                way + wide(system.hosts[usize::from(crossing.source.host)].job.costs.publish) + error
            }
        };
    }
    if limit == ChainLimit::Reaction { sum + slowest } else { sum }
}

/// A task of a chain, with the places of what it reads and writes there, and how many messages later the crossing counts than its port.
struct Link<'a> {
    job: &'a Job,
    task: &'a Task,
    read: Option<(usize, i128)>,
    write: Option<(usize, i128)>,
}

impl Link<'_> {
    fn bounds(&self, k: i128) -> Bounds {
        bounds(self.job, self.task, k)
    }

    /// The message that instance `k` reads, as the crossing counts.
    fn seen(&self, k: i128) -> i128 {
        let Some((place, first)) = self.read else { return k };
        self.bounds(k).reads[place].unwrap_or(0) + first
    }

    /// The instance that fills a message. Its period is the channel's.
    fn filler(&self, message: i128) -> i128 {
        let Some((place, first)) = self.write else { return message };
        message - first - self.bounds(0).writes[place].unwrap_or(0)
    }
}

/// The longest that some instance of the last task takes at least: which instance of the first it goes back to is fixed by declared windows,
/// the first starts at the latest, the last ends at the earliest. None where not all windows are declared, or the clock does not move
/// everything, or there is one task only.
fn followed(
    system: &System,
    parts: &Parts,
    chain: &Chain,
    limit: ChainLimit,
) -> Result<Option<i128>, Violation> {
    let Some(links) = links(system, parts, chain) else { return Ok(None) };
    let (Some(first), Some(last)) = (links.first(), links.last()) else { return Ok(None) };
    if links.len() < 2 {
        return Ok(None);
    }
    let mut turn: i128 = 1;
    for link in &links {
        let (own, mut a) = (round(link.job)?, turn);
        let mut b = own;
        while b != 0 {
            (a, b) = (b, a % b);
        }
        turn = turn / a * own;
        if turn / wide(last.task.period) > INSTANCES_MAX as i128 {
            let rule = "its hosts repeat together in time to look at it";
            return Err(violation(format!("chain `{}`", chain.name), rule, String::new()));
        }
    }
    let back = |k: i128| {
        let pairs = links.windows(2).rev();
        pairs.fold(k, |k, pair| pair[0].filler(pair[1].seen(k)))
    };
    let end = |k: i128| last.bounds(k).earliest + charged(last.job, last.task);
    let start = |k: i128| first.bounds(k).latest - charged(first.job, first.task);
    let mut longest = i128::MIN;
    let mut missed = back(-1);
    for k in 0..turn / wide(last.task.period) {
        let source = back(k);
        match limit {
            ChainLimit::Age => longest = longest.max(end(k) - start(source)),
            ChainLimit::Reaction if source > missed => longest = longest.max(end(k) - start(missed)),
            ChainLimit::Reaction => {}
        }
        missed = source;
    }
    Ok((longest > i128::MIN).then_some(longest + clocks(system, chain)))
}

fn links<'a>(system: &'a System, parts: &'a Parts, chain: &Chain) -> Option<Vec<Link<'a>>> {
    let mut links = Vec::new();
    for (index, step) in chain.path.iter().enumerate().step_by(2) {
        let Step::Task { host, task } = *step else { return None };
        let job = &parts.jobs[usize::from(host)];
        let task = &job.tasks[task.index()];
        // Where the end of any of its channels is open, so is its window.
        let open = system.crossings.iter().filter(|crossing| crossing.window.is_none());
        let mut ends = open.flat_map(|crossing| crossing.targets.iter().chain([&crossing.source]));
        if ends.any(|port| {
            port.host == host && (task.reads.contains(&port.channel) || task.writes.contains(&port.channel))
        }) {
            return None;
        }
        let read = match index {
            0 => None,
            _ => Some(end(system, chain.path[index - 1], host, &task.reads)?),
        };
        let write = match chain.path.get(index + 1) {
            None => None,
            Some(next) => Some(end(system, *next, host, &task.writes)?),
        };
        links.push(Link { job, task, read, write });
    }
    Some(links)
}

/// Where a task holds a channel, and which message of the channel is its port's message 0.
fn end(
    system: &System,
    channel: Step,
    host: u16,
    held: &[leveret_types::ChannelId],
) -> Option<(usize, i128)> {
    let place = |port: &Port| held.iter().position(|id| *id == port.channel).filter(|_| port.host == host);
    match channel {
        Step::Channel(port) => {
            let own = &system.hosts[usize::from(host)].job.channels[port.channel.index()];
            Some((place(&port).filter(|_| own.qos.is_time_driven())?, 0))
        }
        Step::Crossing(index) => {
            let crossing = &system.crossings[usize::from(index)];
            let window = crossing.window?;
            let ports = crossing.targets.iter().chain([&crossing.source]);
            let port = ports.copied().find(|port| place(port).is_some())?;
            Some((place(&port)?, first_messages(crossing, window, system, port)))
        }
        Step::Task { .. } | Step::Work { .. } => None,
    }
}
