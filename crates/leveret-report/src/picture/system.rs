//! The plan of a system: the cores of all hosts and the links between them below each other, what leads from the one to the other, and chains.

use super::trace::trace;
use super::{Arrow, Group, Picture, job, network};
use leveret_plan::system::{Crossing, Parts, Step, System, SystemPlan, parts, port_shifts};
use leveret_plan::{Plan, Qos, Task};
use leveret_types::{ChannelId, Nanos, NodeId};

/// Most bars that are put together before a part of them is chosen.
const SLOTS_MAX: i64 = 4_000_000;

/// Hosts and network repeat together only after so long that there is too much to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the tables of the hosts and of the network repeat together only after {round}, with {slots} slots, and {SLOTS_MAX} are drawn at most; \
     periods that are multiples of each other make that shorter"
)]
pub struct TooLong {
    /// When they repeat together.
    pub round: Nanos,
    /// Slots until then.
    pub slots: i64,
}

/// The picture of a plan that the checker accepted for this system. Of hosts only what the clock moves is drawn, of the network only what has slots.
///
/// # Errors
/// When there is too much of it.
pub fn system(system: &System, plan: &SystemPlan) -> Result<Picture, TooLong> {
    let parts = parts(system, &plan.windows);
    let round = common_round(plan)?;
    let mut picture = Picture {
        title: format!("system \"{}\"", system.name),
        round,
        span: (Nanos::ZERO, round),
        ..Picture::default()
    };
    let mut tasks = Vec::with_capacity(parts.jobs.len());
    for (host, own) in plan.hosts.iter().enumerate() {
        tasks.push(picture.groups.len() as u32);
        picture.join(of_host(system, &parts, host, own, round));
    }
    let streams = picture.groups.len() as u32;
    let mut links = network::network(&system.name, &parts.traffic, &plan.network);
    let turns = turns(round, plan.network.hyperperiod, !links.bars.is_empty());
    for (group, crossing) in links.groups.iter_mut().skip(system.traffic.streams.len()).zip(&system.crossings)
    {
        let chosen = if crossing.window.is_none() { "chosen by the planner" } else { "declared" };
        group.facts.push(("the window is", chosen.to_owned()));
    }
    picture.join(links.repeated(turns));
    let locals = (0..parts.jobs.len()).map(|host| locals(system, host)).collect();
    let whole = Whole { system, plan, parts: &parts, tasks, locals, streams, places: Places::of(&picture) };
    for index in 0..system.crossings.len() {
        let arrows = whole.arrows(&picture, index);
        picture.arrows.extend(arrows);
    }
    for index in 0..system.chains.len() {
        whole.chain(&mut picture, index);
    }
    Ok(picture)
}

/// When everything that is drawn repeats.
fn common_round(plan: &SystemPlan) -> Result<Nanos, TooLong> {
    let segments = |own: &Plan| -> i64 {
        let instances = own.tasks.iter().flat_map(|task| &task.instances);
        instances.map(|instance| instance.segments.len() as i64).sum()
    };
    let slots: i64 = plan.network.links.iter().map(|slots| slots.len() as i64).sum();
    let mut all: Vec<(i64, i64)> = plan.hosts.iter().map(|own| (own.hyperperiod.0, segments(own))).collect();
    all.push((plan.network.hyperperiod.0, slots));
    all.retain(|(_, slots)| *slots > 0);
    let round = all.iter().try_fold(1i64, |round, (own, _)| {
        let (mut a, mut b) = (round, *own);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        (round / a.max(1)).checked_mul(*own)
    });
    let Some(round) = round else { return Err(TooLong { round: Nanos::MAX, slots: i64::MAX }) };
    if all.is_empty() {
        return Ok(plan.network.hyperperiod);
    }
    let times = all.iter().map(|(own, slots)| (round / own).saturating_mul(*slots));
    let slots = times.fold(0i64, i64::saturating_add);
    if slots > SLOTS_MAX { Err(TooLong { round: Nanos(round), slots }) } else { Ok(Nanos(round)) }
}

/// How often a part repeats in the round; what has nothing to draw need not fit into it.
fn turns(round: Nanos, own: Nanos, is_drawn: bool) -> i64 {
    if is_drawn { round.0 / own.0.max(1) } else { 1 }
}

fn of_host(system: &System, parts: &Parts, host: usize, plan: &Plan, round: Nanos) -> Picture {
    let drawn = locals(system, host);
    let own = job::part(&parts.jobs[host], plan, |id| drawn.contains(&id));
    let turns = turns(round, plan.hyperperiod, !own.bars.is_empty());
    let mut own = own.repeated(turns);
    let name = system.host_name(host as u16);
    for row in &mut own.rows {
        row.name = format!("{name} {}", row.name);
        row.section = "cores".to_owned();
    }
    for group in &mut own.groups {
        group.facts.insert(0, ("host", name.to_owned()));
    }
    own
}

/// Time-driven channels between members of one host.
fn locals(system: &System, host: usize) -> Vec<ChannelId> {
    let is_port = |id: ChannelId| {
        let mut ports = system.crossings.iter().flat_map(|one| one.targets.iter().chain([&one.source]));
        ports.any(|port| usize::from(port.host) == host && port.channel == id)
    };
    let channels = &system.hosts[host].job.channels;
    let timed = (0..channels.len()).filter(|index| matches!(channels[*index].qos, Qos::TimeDriven { .. }));
    timed.map(|index| ChannelId(index as u16)).filter(|id| !is_port(*id)).collect()
}

/// Where instances and their bars stand in a picture.
pub(super) struct Places {
    /// By group, then number: its instances, one for each copy.
    pub instances: Vec<Vec<Vec<u32>>>,
    /// By instance: its bars.
    pub bars: Vec<Vec<u32>>,
}

impl Places {
    fn of(picture: &Picture) -> Self {
        let mut instances = vec![Vec::new(); picture.groups.len()];
        for (index, instance) in picture.instances.iter().enumerate() {
            let own: &mut Vec<Vec<u32>> = &mut instances[instance.group as usize];
            let number = instance.number as usize;
            own.resize(own.len().max(number + 1), Vec::new());
            own[number].push(index as u32);
        }
        let mut bars = vec![Vec::new(); picture.instances.len()];
        for (index, bar) in picture.bars.iter().enumerate() {
            bars[bar.instance as usize].push(index as u32);
        }
        Self { instances, bars }
    }

    /// How many instances of a group the round has.
    pub fn count(&self, group: u32) -> i64 {
        self.instances.get(group as usize).map_or(0, Vec::len) as i64
    }

    /// The bars of an instance and its copies, which is counted over all rounds.
    pub fn of_instance(&self, group: u32, number: i64) -> impl Iterator<Item = u32> {
        let count = self.count(group);
        let own = (count > 0).then(|| &self.instances[group as usize][number.rem_euclid(count) as usize]);
        own.into_iter().flatten().flat_map(|instance| self.bars[*instance as usize].iter().copied())
    }
}

/// What is needed to find in a picture what a plan has.
pub(super) struct Whole<'a> {
    pub system: &'a System,
    pub plan: &'a SystemPlan,
    parts: &'a Parts,
    /// By host: the group of its first task.
    tasks: Vec<u32>,
    /// By host: the channels that have groups after those of its tasks.
    locals: Vec<Vec<ChannelId>>,
    /// The group of the first stream.
    streams: u32,
    pub places: Places,
}

impl Whole<'_> {
    /// The group of an element of a chain; `None` of what no clock moves.
    pub fn group(&self, step: Step) -> Option<u32> {
        match step {
            Step::Task { host, task } => Some(self.tasks[usize::from(host)] + task.index() as u32),
            Step::Work { .. } => None,
            Step::Channel(port) => {
                let host = usize::from(port.host);
                let place = self.locals[host].iter().position(|id| *id == port.channel)?;
                let tasks = self.system.hosts[host].job.tasks.len();
                Some(self.tasks[host] + (tasks + place) as u32)
            }
            Step::Crossing(index) => {
                Some(self.streams + (self.system.traffic.streams.len() + usize::from(index)) as u32)
            }
        }
    }

    /// The bars of a crossing's message that arrive at a host, by whatever copy.
    pub fn arriving<'p>(
        &'p self,
        picture: &'p Picture,
        index: u16,
        message: i64,
        node: NodeId,
    ) -> impl Iterator<Item = u32> + 'p {
        let stream = self.system.traffic.streams.len() + usize::from(index);
        let group = self.streams + stream as u32;
        self.places.of_instance(group, message).filter(move |bar| {
            let bar = &picture.bars[*bar as usize];
            let copy = picture.instances[bar.instance as usize].copy;
            let hop = self.plan.network.ways[stream][usize::from(copy)].tree.hops[usize::from(bar.part)];
            self.parts.traffic.network.links[hop.link.index()].target == node
        })
    }

    /// Every instance of a task in the round, with the message that it has at one of its ends: read, or written.
    fn messages(&self, host: u16, index: usize, place: usize, written: bool) -> Vec<(u32, i64)> {
        let own = &self.plan.hosts[usize::from(host)];
        let task = &self.system.hosts[usize::from(host)].job.tasks[index];
        let planned = &own.tasks[index].instances;
        let group = self.tasks[usize::from(host)] + index as u32;
        let channel = if written { task.writes[place] } else { task.reads[place] };
        let transfers = own.channels[channel.index()].instances.len() as i64;
        let each = self.places.instances[group as usize].iter().enumerate().filter_map(|(number, found)| {
            let instance = planned.get(number % planned.len().max(1))?;
            let turn = (number / planned.len().max(1)) as i64;
            let message = if written { instance.writes[place] } else { instance.reads[place] };
            Some((*found.first()?, message + turn * transfers))
        });
        each.collect()
    }

    /// From who writes a crossing to its first slots, and from its last to everybody who reads it.
    fn arrows(&self, picture: &Picture, index: usize) -> Vec<Arrow> {
        let crossing: &Crossing = &self.system.crossings[index];
        let window = self.plan.windows[index];
        let shifts = port_shifts(self.system, crossing, window);
        let group = self.streams + (self.system.traffic.streams.len() + index) as u32;
        let count = self.places.count(group);
        let mut arrows = Vec::new();
        if count == 0 {
            return arrows;
        }
        let begin = |message: i64| crossing.period.saturating_mul(message.rem_euclid(count));
        let place = |ends: &[ChannelId], id: ChannelId| ends.iter().position(|one| *one == id);
        let tasks = |host: u16| self.system.hosts[usize::from(host)].job.tasks.iter().enumerate();
        let of = |host: u16, id: ChannelId, ends: fn(&Task) -> &[ChannelId]| -> Vec<(usize, usize)> {
            tasks(host).filter_map(|(task, own)| Some((task, place(ends(own), id)?))).collect()
        };
        let source = crossing.source;
        for (task, place) in of(source.host, source.channel, |task| &task.writes) {
            for (instance, message) in self.messages(source.host, task, place, true) {
                let message = message + shifts.source;
                let Some(from) = self.places.bars[instance as usize].last() else { continue };
                let first = |bar: &u32| picture.bars[*bar as usize].after.is_none();
                arrows.extend(self.places.of_instance(group, message).filter(first).map(|to| Arrow {
                    group,
                    from: *from,
                    to,
                    rounds: message.div_euclid(count),
                    at: begin(message) + window.release,
                }));
            }
        }
        let visible = window.deadline + self.system.traffic.clock_error;
        for (target, shift) in crossing.targets.iter().zip(&shifts.targets) {
            let node = self.system.hosts[usize::from(target.host)].node;
            for (task, place) in of(target.host, target.channel, |task| &task.reads) {
                for (instance, message) in self.messages(target.host, task, place, false) {
                    let message = message + shift;
                    let Some(to) = self.places.bars[instance as usize].first() else { continue };
                    arrows.extend(self.arriving(picture, index as u16, message, node).map(|from| Arrow {
                        group,
                        from,
                        to: *to,
                        rounds: -message.div_euclid(count),
                        at: begin(message) + visible,
                    }));
                }
            }
        }
        arrows
    }

    /// A group for a chain, and its longest ways.
    fn chain(&self, picture: &mut Picture, index: usize) {
        let (chain, planned) = (&self.system.chains[index], self.plan.chains[index]);
        let group = picture.groups.len() as u32;
        let shown = |time: Nanos| if time == Nanos::MAX { "no bound".to_owned() } else { time.to_string() };
        let of = |time: Nanos, limit: Option<Nanos>| match limit {
            Some(limit) => format!("{} of {limit}", shown(time)),
            None => shown(time),
        };
        let path: Vec<_> = chain.path.iter().map(|step| self.system.step_name(*step)).collect();
        let mut facts = vec![
            ("path", path.join(", ")),
            ("reaction", of(planned.reaction, chain.reaction)),
            ("data age", of(planned.age, chain.age)),
        ];
        let slack = |limit: Option<Nanos>, takes: Nanos| limit.map(|limit| (limit - takes).to_string());
        facts.extend(slack(chain.reaction, planned.reaction).map(|slack| ("reaction slack", slack)));
        facts.extend(slack(chain.age, planned.age).map(|slack| ("age slack", slack)));
        if !planned.exact {
            facts.push(("both are", "bounds, since not everything is moved by the clock".to_owned()));
        }
        let mut members: Vec<u32> = chain.path.iter().filter_map(|step| self.group(*step)).collect();
        members.dedup();
        let (name, part) = (chain.name.clone(), "part");
        picture.groups.push(Group { name, kind: "chain", part, facts, members });
        let values = [of(planned.reaction, chain.reaction), of(planned.age, chain.age)];
        let traces = trace(self, picture, group, index, values);
        picture.traces.extend(traces);
    }
}
