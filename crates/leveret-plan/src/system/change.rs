//! A change of a system's declarations, by the names that the manifest has.

use super::explain::ChainLimit;
use super::model::{Crossing, Port, System, Window};
use super::moved::move_member;
use super::project::stream;
use crate::explain::Rated;
use crate::network::{ChangeFields, FlowChange, NetworkChange, StreamChange};
use crate::{Change, Qos, Remedy};
use leveret_types::Nanos;

/// A change after which a system may have a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SystemChange {
    /// Of tasks, work and channels within one host.
    Host {
        /// Index of the host.
        host: u16,
        /// What changes there.
        remedy: Remedy,
    },
    /// Of a channel over the network that the clock moves.
    Channel {
        /// Its name.
        channel: String,
        /// What changes of it.
        change: StreamChange,
    },
    /// A channel between members of different hosts declares no window any more.
    OpenWindow {
        /// Its name.
        channel: String,
    },
    /// Of a channel between hosts beside the time table.
    Flow {
        /// Its name.
        channel: String,
        /// What changes of it.
        change: FlowChange,
    },
    /// A member runs on another host.
    Move {
        /// Its name.
        member: String,
        /// Index of its host.
        from: u16,
        /// Index of the other host.
        to: u16,
    },
    /// One period for all of these, which must change together.
    Period {
        /// Tasks and channels.
        of: Vec<Paced>,
        /// The new period.
        to: Nanos,
    },
    /// Of a cable, or of the clocks.
    Network(NetworkChange),
    /// Another limit of a chain.
    Limit {
        /// Its name.
        chain: String,
        /// Which limit.
        limit: ChainLimit,
        /// The new one.
        to: Nanos,
    },
}

/// What has a period.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Paced {
    /// What it is.
    pub kind: PacedKind,
    /// Its name.
    pub name: String,
    /// Its present period.
    pub from: Nanos,
}

/// Whose period it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PacedKind {
    /// A task's, on this host.
    Task(u16),
    /// A channel's within this host.
    Channel(u16),
    /// A channel's between members of different hosts.
    Crossing,
}

impl SystemChange {
    /// Makes the change, as far as the system has what it is of.
    pub fn apply(&self, system: &mut System) {
        match self {
            Self::Host { host, remedy } => {
                let job = &mut system.hosts[usize::from(*host)].job;
                for change in &remedy.changes {
                    if let Some(changed) = change.apply(job) {
                        *job = changed;
                    }
                }
            }
            Self::Channel { channel, change } => change_channel(system, channel, change),
            Self::OpenWindow { channel } => {
                system
                    .crossings
                    .iter_mut()
                    .filter(|one| one.name == *channel)
                    .for_each(|one| one.window = None);
            }
            Self::Flow { channel, change } => {
                let flows = system.traffic.flows.iter_mut();
                flows.filter(|flow| flow.name == *channel).for_each(|flow| change.apply(flow));
            }
            Self::Move { member, from, to } => move_member(system, member, (*from, *to)),
            Self::Period { of, to } => of.iter().for_each(|paced| paced.set(system, *to)),
            Self::Network(change) => {
                change.apply(&mut system.traffic);
                let error = system.traffic.clock_error;
                system.hosts.iter_mut().for_each(|host| host.job.costs.clock_error = error);
            }
            Self::Limit { chain, limit, to } => {
                for one in system.chains.iter_mut().filter(|one| one.name == *chain) {
                    match limit {
                        ChainLimit::Reaction => one.reaction = Some(*to),
                        ChainLimit::Age => one.age = Some(*to),
                    }
                }
            }
        }
    }

    /// By how much it changes what is declared, in thousandths of that; 0 for what has no degrees.
    pub(super) fn size(&self, system: &System) -> i64 {
        let relative = |from: i64, to: i64| {
            let permille = i128::from(from.abs_diff(to)) * 1000 / i128::from(from.max(1));
            i64::try_from(permille).unwrap_or(i64::MAX)
        };
        match self {
            Self::Host { remedy, .. } => remedy
                .changes
                .iter()
                .map(|change| relative(measure(change, 0), measure(change, 1)))
                .max()
                .unwrap_or(0),
            Self::Channel { channel, change } => {
                let Some(now) = declared(system, channel) else { return 0 };
                let window = (now.deadline - now.release).0;
                match *change {
                    StreamChange::Release(to) => relative(window, window + (now.release - to).0),
                    StreamChange::Deadline(to) => relative(window, (to - now.release).0),
                    StreamChange::Latency(to) => relative(now.latency.unwrap_or(to).0, to.0),
                    StreamChange::Jitter(to) => relative(now.jitter.unwrap_or(to).0, to.0),
                    StreamChange::Size(to) => relative(now.size.0.cast_signed(), to.0.cast_signed()),
                    StreamChange::Period(to) => relative(now.period.0, to.0),
                    StreamChange::FreeWays | StreamChange::OneWay => 0,
                }
            }
            Self::OpenWindow { .. } | Self::Flow { .. } => 0,
            // As much as to change all of it.
            Self::Move { .. } => 1000,
            Self::Period { of, to } => of.iter().map(|paced| relative(paced.from.0, to.0)).max().unwrap_or(0),
            Self::Network(NetworkChange::Rate(link, to)) => {
                let now = system.traffic.network.links[link.index()].rate.0;
                relative(now.cast_signed(), to.0.cast_signed())
            }
            Self::Network(NetworkChange::ClockError(to)) => relative(system.traffic.clock_error.0, to.0),
            Self::Network(NetworkChange::Stream(..) | NetworkChange::Flow(..)) => 0,
            Self::Limit { chain, limit, to } => {
                let now = system.chains.iter().find(|one| one.name == *chain).and_then(|one| limit.of(one));
                relative(now.unwrap_or(*to).0, to.0)
            }
        }
    }

    /// The change as advice, with what the system declares now.
    pub fn words(&self, system: &System) -> String {
        match self {
            Self::Host { host, remedy } if system.hosts.len() > 1 => {
                format!("{remedy} (host \"{}\")", system.host_name(*host))
            }
            Self::Host { remedy, .. } => remedy.to_string(),
            Self::Channel { channel, change } => {
                let words = declared(system, channel).map_or_else(String::new, |now| change.words(&now));
                format!("channel \"{channel}\": {words}")
            }
            Self::OpenWindow { channel } => {
                format!("channel \"{channel}\": no `window`; the planner finds one that fits")
            }
            Self::Flow { channel, change } => {
                let flow = system.traffic.flows.iter().find(|flow| flow.name == *channel);
                flow.map_or_else(String::new, |flow| change.words(flow))
            }
            Self::Move { member, from, to } => {
                let (from, to) = (system.host_name(*from), system.host_name(*to));
                format!("member \"{member}\": host = \"{to}\" in place of {from}")
            }
            Self::Period { of, to } => {
                let words = |paced: &Paced| format!("{} (now {})", paced.words(), paced.from);
                let listed: Vec<_> = of.iter().map(words).collect();
                format!("period = \"{to}\" for {}", listed.join(", "))
            }
            Self::Network(change) => change.words(&system.traffic),
            Self::Limit { chain, limit, to } => {
                let now = system.chains.iter().find(|one| one.name == *chain).and_then(|one| limit.of(one));
                let now = now.map_or_else(String::new, |now| format!(" in place of {now}"));
                format!("chain \"{chain}\": {} = \"{to}\"{now}", limit.key())
            }
        }
    }
}

impl SystemChange {
    /// The change in numbers; what is more than one number has its kind alone.
    pub fn fields(&self, system: &System) -> ChangeFields {
        let of = |kind, channel| ChangeFields { kind, channel, link: None, from: None, to: None, unit: None };
        match self {
            Self::Host { .. } => of("host", None),
            Self::Channel { channel, change } => declared(system, channel)
                .map_or_else(|| of("channel", Some(channel.clone())), |now| change.fields(&now)),
            Self::OpenWindow { channel } => of("window", Some(channel.clone())),
            Self::Flow { channel, change } => {
                let flow = system.traffic.flows.iter().find(|flow| flow.name == *channel);
                flow.map_or_else(|| of("channel", Some(channel.clone())), |flow| change.fields(flow))
            }
            Self::Move { .. } => of("member-host", None),
            Self::Period { to, .. } => {
                ChangeFields { to: Some(to.0), unit: Some("ns"), ..of("period", None) }
            }
            Self::Network(change) => change.fields(&system.traffic),
            Self::Limit { chain, limit, to } => {
                let now = system.chains.iter().find(|one| one.name == *chain).and_then(|one| limit.of(one));
                let (from, to) = (now.map(|now| now.0), Some(to.0));
                ChangeFields { from, to, unit: Some("ns"), ..of(limit.key(), None) }
            }
        }
    }
}

/// A time before or after a change, by which its size is told; windows by how long they are.
fn measure(change: &Change, which: usize) -> i64 {
    match change {
        Change::Period { from, to, .. }
        | Change::Release { from, to, .. }
        | Change::Deadline { from, to, .. }
        | Change::Interval { from, to, .. }
        | Change::Budget { from, to, .. } => [*from, *to][which].0,
        Change::Window { from, to, .. } => [from.1, to.1][which].0,
        Change::Core { .. } => 1,
    }
}

/// A channel that the network moves by the clock, as it is declared; where it leaves its window out, with one of its period.
fn declared(system: &System, channel: &str) -> Option<crate::network::Stream> {
    let own = system.traffic.streams.iter().find(|stream| stream.name == *channel).cloned();
    own.or_else(|| {
        let crossing = system.crossings.iter().find(|crossing| crossing.name == *channel)?;
        let any = Window { release: Nanos::ZERO, deadline: crossing.period };
        Some(stream(system, crossing, crossing.window.unwrap_or(any)))
    })
}

fn change_channel(system: &mut System, channel: &str, change: &StreamChange) {
    let own = system.traffic.streams.iter_mut().filter(|stream| stream.name == *channel);
    own.for_each(|stream| change.apply(stream));
    let Some(index) = system.crossings.iter().position(|crossing| crossing.name == *channel) else { return };
    let Some(mut changed) = declared(system, channel) else { return };
    change.apply(&mut changed);
    let crossing = &mut system.crossings[index];
    if let Some(window) = &mut crossing.window {
        *window = Window { release: changed.release, deadline: changed.deadline };
    }
    crossing.latency = changed.latency;
    crossing.jitter = changed.jitter;
    crossing.size = changed.size;
    crossing.copies = changed.copies;
    crossing.ways = changed.ways;
    for port in ports(crossing) {
        system.hosts[usize::from(port.host)].job.channels[port.channel.index()].size = changed.size;
    }
}

fn ports(crossing: &Crossing) -> Vec<Port> {
    crossing.ports().collect()
}

impl Paced {
    /// A task or channel of a host, by its place in the job.
    pub(super) fn of(system: &System, host: u16, rated: Rated) -> Option<Self> {
        let job = &system.hosts[usize::from(host)].job;
        let from = rated.period(job)?;
        let (kind, name) = match rated {
            Rated::Task(task) => (PacedKind::Task(host), job.tasks[task].name.clone()),
            Rated::Channel(channel) => {
                let is_end = |crossing: &&Crossing| {
                    crossing.ports().any(|port| port.host == host && port.channel.index() == channel)
                };
                match system.crossings.iter().find(is_end) {
                    Some(crossing) => (PacedKind::Crossing, crossing.name.clone()),
                    None => (PacedKind::Channel(host), rated.name(job).name),
                }
            }
        };
        Some(Self { kind, name, from })
    }

    /// Gives it a period. A window that was the whole period stays that.
    fn set(&self, system: &mut System, to: Nanos) {
        match self.kind {
            PacedKind::Task(host) => {
                let tasks = system.hosts[usize::from(host)].job.tasks.iter_mut();
                for task in tasks.filter(|task| task.name == self.name) {
                    if (task.release, task.deadline) == (Nanos::ZERO, task.period) {
                        task.deadline = to;
                    }
                    task.period = to;
                }
            }
            PacedKind::Channel(host) => {
                let job = &mut system.hosts[usize::from(host)].job;
                let places = 0..job.channels.len();
                for place in places
                    .filter(|place| Rated::Channel(*place).name(job).name == self.name)
                    .collect::<Vec<_>>()
                {
                    pace(&mut job.channels[place].qos, to);
                }
            }
            PacedKind::Crossing => {
                let Some(index) = system.crossings.iter().position(|one| one.name == self.name) else {
                    return;
                };
                system.crossings[index].period = to;
                for port in ports(&system.crossings[index]) {
                    pace(
                        &mut system.hosts[usize::from(port.host)].job.channels[port.channel.index()].qos,
                        to,
                    );
                }
            }
        }
    }

    fn words(&self) -> String {
        match self.kind {
            PacedKind::Task(_) => format!("task \"{}\"", self.name),
            _ => format!("channel \"{}\"", self.name),
        }
    }
}

fn pace(qos: &mut Qos, to: Nanos) {
    if let Qos::TimeDriven { period, release, deadline, .. } = qos {
        if (*release, *deadline) == (Nanos::ZERO, *period) {
            *deadline = to;
        }
        *period = to;
    }
}
