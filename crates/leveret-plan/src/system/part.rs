//! A part of a system: some of its declarations, as if the others had never been made.

use super::model::{Chain, Crossing, Port, Step, System, SystemHost};
use crate::network::Traffic;
use crate::{Qos, Task};
use leveret_types::{ChannelId, StreamId, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// One declaration of a system, by its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Element {
    /// A chain with its limits.
    Chain(u16),
    /// A task with a period.
    Task {
        /// Index of its host.
        host: u16,
        /// Its index in the host's job.
        task: TaskId,
    },
    /// A time-driven channel between members of one host.
    Channel(Port),
    /// A channel between members of different hosts.
    Crossing(u16),
    /// A channel between hosts that the clock moves.
    Stream(StreamId),
    /// A channel between hosts beside the time table, by its place in [`Traffic::flows`].
    Flow(u32),
}

impl Element {
    /// What it is, by its name in the manifest.
    pub fn words(self, system: &System) -> String {
        let step = |kind: &str, step: Step| format!("{kind} \"{}\"", system.step_name(step));
        match self {
            Self::Chain(chain) => format!("chain \"{}\"", system.chains[usize::from(chain)].name),
            Self::Task { host, task } => step("task", Step::Task { host, task }),
            Self::Channel(port) => step("channel", Step::Channel(port)),
            Self::Crossing(crossing) => step("channel", Step::Crossing(crossing)),
            Self::Stream(stream) => format!("channel \"{}\"", system.traffic.name(stream)),
            Self::Flow(flow) => format!("channel \"{}\"", system.traffic.flows[flow as usize].name),
        }
    }
}

/// Everything that a part of a system can do without.
pub(super) fn elements(system: &System) -> BTreeSet<Element> {
    let mut found: BTreeSet<Element> =
        (0..system.chains.len()).map(|chain| Element::Chain(chain as u16)).collect();
    found.extend((0..system.crossings.len()).map(|crossing| Element::Crossing(crossing as u16)));
    found.extend((0..system.traffic.streams.len()).map(|stream| Element::Stream(StreamId(stream as u32))));
    found.extend((0..system.traffic.flows.len()).map(|flow| Element::Flow(flow as u32)));
    let ports: BTreeSet<Port> = system.crossings.iter().flat_map(Crossing::ports).collect();
    for (host, own) in (0u16..).zip(&system.hosts) {
        found.extend((0..own.job.tasks.len()).map(|task| Element::Task { host, task: TaskId(task as u16) }));
        let timed = own.job.channels.iter().enumerate().filter(|(_, channel)| channel.qos.is_time_driven());
        let timed = timed.map(|(channel, _)| Port { host, channel: ChannelId(channel as u16) });
        found.extend(timed.filter(|port| !ports.contains(port)).map(Element::Channel));
    }
    found
}

/// The declaration of an element of a chain; none for work beside the table, and for channels that are served so.
fn element(system: &System, step: Step) -> Option<Element> {
    match step {
        Step::Task { host, task } => Some(Element::Task { host, task }),
        Step::Crossing(crossing) => Some(Element::Crossing(crossing)),
        Step::Channel(port) => {
            let channel = &system.hosts[usize::from(port.host)].job.channels[port.channel.index()];
            channel.qos.is_time_driven().then_some(Element::Channel(port))
        }
        Step::Work { .. } => None,
    }
}

/// What a chain leads over.
pub(super) fn along<'a>(system: &'a System, chain: &'a Chain) -> impl Iterator<Item = Element> + 'a {
    chain.path.iter().filter_map(|step| element(system, *step))
}

impl System {
    /// The system with these declarations only. Hosts, links and work beside the tables stay, so that their numbers are the same; a chain goes
    /// with what it leads over.
    pub fn only(&self, kept: &BTreeSet<Element>) -> Self {
        let system = self;
        let has = |element: Element| kept.contains(&element);
        let (hosts, tasks) = hosts(system, kept);
        let mut part = System { name: system.name.clone(), hosts, ..System::default() };
        let mut crossings = BTreeMap::new();
        for (index, crossing) in
            (0u16..).zip(&system.crossings).filter(|(index, _)| has(Element::Crossing(*index)))
        {
            crossings.insert(index, part.crossings.len() as u16);
            part.crossings.push(crossing.clone());
        }
        let moved = |step: &Step| match *step {
            Step::Task { host, task } => Step::Task { host, task: tasks[&(host, task)] },
            Step::Crossing(crossing) => Step::Crossing(crossings[&crossing]),
            other => other,
        };
        for (_, chain) in (0u16..).zip(&system.chains).filter(|(index, _)| has(Element::Chain(*index))) {
            if along(system, chain).all(has) {
                part.chains.push(Chain { path: chain.path.iter().map(moved).collect(), ..chain.clone() });
            }
        }
        let streams =
            (0..).zip(&system.traffic.streams).filter(|(id, _)| has(Element::Stream(StreamId(*id))));
        let flows = (0..).zip(&system.traffic.flows).filter(|(id, _)| has(Element::Flow(*id)));
        part.traffic = Traffic {
            network: system.traffic.network.clone(),
            streams: streams.map(|(_, stream)| stream.clone()).collect(),
            flows: flows.map(|(_, flow)| flow.clone()).collect(),
            clock_error: system.traffic.clock_error,
            whole_cycles: system.traffic.whole_cycles,
        };
        part
    }
}

/// The hosts with the tasks that are kept, and where those are now. A channel that goes is one without instants, which nobody uses.
fn hosts(system: &System, kept: &BTreeSet<Element>) -> (Vec<SystemHost>, BTreeMap<(u16, TaskId), TaskId>) {
    let mut gone: BTreeSet<Port> = BTreeSet::new();
    for element in elements(system).difference(kept) {
        match *element {
            Element::Channel(port) => _ = gone.insert(port),
            Element::Crossing(crossing) => gone.extend(system.crossings[usize::from(crossing)].ports()),
            _ => {}
        }
    }
    let mut places = BTreeMap::new();
    let mut hosts = system.hosts.clone();
    for (host, own) in (0u16..).zip(&mut hosts) {
        let stays = |channel: ChannelId| !gone.contains(&Port { host, channel });
        for (index, channel) in own.job.channels.iter_mut().enumerate() {
            if !stays(ChannelId(index as u16)) {
                channel.qos = Qos::BestEffort;
            }
        }
        let mut tasks: Vec<Task> = Vec::new();
        for (index, task) in own.job.tasks.drain(..).enumerate() {
            let id = TaskId(index as u16);
            if !kept.contains(&Element::Task { host, task: id }) {
                continue;
            }
            places.insert((host, id), TaskId(tasks.len() as u16));
            let reads = task.reads.iter().copied().filter(|id| stays(*id)).collect();
            let writes = task.writes.iter().copied().filter(|id| stays(*id)).collect();
            tasks.push(Task { reads, writes, ..task });
        }
        own.job.tasks = tasks;
    }
    (hosts, places)
}
