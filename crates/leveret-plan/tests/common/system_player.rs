//! A system under a plan, played in virtual time: tasks start and end when the plan says, a channel's reader sees what is visible at
//! that instant, and every message carries what it was made of. It knows nothing of how the plan numbers messages, but for the number
//! that a writer gives its message.

use leveret_plan::Qos;
use leveret_plan::system::{Step, System, SystemPlan};
use leveret_types::Nanos;
use std::collections::BTreeMap;

/// What one message or one run of a task was made of: per chain, the instance of the chain's first task.
type Origin = Vec<Option<i64>>;

/// What a chain took: longest reaction, greatest age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    pub reaction: i64,
    pub age: i64,
}

/// An act of a task, in order of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Act {
    End,
    Start,
}

/// A channel as both its ends see it: who it is, its period, when a message must be there, when it is seen.
struct Conduit {
    key: (u16, u16),
    period: i64,
    insert_by: i64,
    visible: i64,
}

struct Player<'a> {
    system: &'a System,
    plan: &'a SystemPlan,
    /// By channel and message.
    messages: BTreeMap<(u16, u16), BTreeMap<i64, Origin>>,
    /// Of runs under way.
    running: BTreeMap<(u16, u16, i64), Origin>,
    /// Per chain: (end, origin) of each run of its last task.
    outputs: Vec<Vec<(i64, i64)>>,
    rounds: i64,
    round: i64,
}

/// Plays a system; `Err` says what was not as planned.
pub fn play(system: &System, plan: &SystemPlan) -> Result<Vec<Measured>, String> {
    let common = plan.hosts.iter().map(|host| host.hyperperiod.0).fold(1, lcm);
    let rounds = 16;
    let (messages, running) = (BTreeMap::new(), BTreeMap::new());
    let outputs = vec![Vec::new(); system.chains.len()];
    let mut player = Player { system, plan, messages, running, outputs, rounds, round: common };
    player.arrivals()?;
    for (time, act, host, task, instance) in player.acts() {
        match act {
            Act::Start => player.start(time, host, task, instance)?,
            Act::End => player.end(time, host, task, instance)?,
        }
    }
    (0..system.chains.len()).map(|chain| player.measured(chain)).collect()
}

fn lcm(a: i64, b: i64) -> i64 {
    let gcd = |mut a: i64, mut b: i64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    a / gcd(a, b) * b
}

impl Player<'_> {
    /// Everything that tasks do, by time; what ends goes before what starts.
    fn acts(&self) -> Vec<(i64, Act, u16, u16, i64)> {
        let mut acts = Vec::new();
        for (host, plan) in self.plan.hosts.iter().enumerate() {
            for (task, planned) in plan.tasks.iter().enumerate() {
                let count = planned.instances.len() as i64;
                for turn in 0..self.rounds * self.round / plan.hyperperiod.0 {
                    for (k, instance) in planned.instances.iter().enumerate() {
                        let (number, late) = (turn * count + k as i64, turn * plan.hyperperiod.0);
                        let place = (host as u16, task as u16, number);
                        acts.push((instance.start().0 + late, Act::Start, place.0, place.1, place.2));
                        acts.push((instance.end().0 + late, Act::End, place.0, place.1, place.2));
                    }
                }
            }
        }
        acts.sort_unstable();
        acts
    }

    /// Every message of a crossing is sent after it was inserted, and has come before it is visible.
    fn arrivals(&self) -> Result<(), String> {
        let (system, plan) = (self.system, self.plan);
        let first = system.traffic.streams.len();
        let error = system.traffic.clock_error.0;
        for (link, slots) in system.traffic.network.links.iter().zip(&plan.network.links) {
            for slot in slots {
                let Some(index) = slot.stream.index().checked_sub(first) else { continue };
                let (crossing, window) = (&system.crossings[index], plan.windows[index]);
                let begin = i64::from(slot.instance) * crossing.period.0;
                let took = system.traffic.network.frames.occupation(crossing.size, link.rate).0;
                let arrived = slot.start.0 + took + link.propagation.0 + link.processing.0;
                if slot.start.0 < begin + window.release.0 + error {
                    return Err(format!("{} is sent too soon: {slot:?}", crossing.name));
                }
                if arrived > begin + window.deadline.0 - error {
                    return Err(format!("{} comes too late: {slot:?}", crossing.name));
                }
            }
        }
        Ok(())
    }

    /// Channels by their source; those that cross, by their place among the crossings.
    fn conduit(&self, host: u16, channel: u16) -> Conduit {
        let job = &self.system.hosts[usize::from(host)].job;
        let (publish, error) = (job.costs.publish.0, job.costs.clock_error.0);
        for (index, crossing) in self.system.crossings.iter().enumerate() {
            let here = |port: &leveret_plan::system::Port| port.host == host && port.channel.0 == channel;
            if here(&crossing.source) || crossing.targets.iter().any(here) {
                let window = self.plan.windows[index];
                return Conduit {
                    key: (u16::MAX, index as u16),
                    period: crossing.period.0,
                    insert_by: window.release.0 - publish - error,
                    visible: window.deadline.0 + error,
                };
            }
        }
        let Qos::TimeDriven { period, deadline, .. } = job.channels[usize::from(channel)].qos else {
            panic!("these systems are moved by the clock")
        };
        Conduit {
            key: (host, channel),
            period: period.0,
            insert_by: deadline.0 - publish - error,
            visible: deadline.0 + error,
        }
    }

    fn start(&mut self, time: i64, host: u16, task: u16, instance: i64) -> Result<(), String> {
        let declared = &self.system.hosts[usize::from(host)].job.tasks[usize::from(task)];
        let mut origin: Origin = self
            .system
            .chains
            .iter()
            .map(|chain| {
                let first = Step::Task { host, task: leveret_types::TaskId(task) };
                (chain.path.first() == Some(&first)).then_some(instance)
            })
            .collect();
        for read in &declared.reads {
            let conduit = self.conduit(host, read.0);
            // What has become visible last.
            let number = (time - conduit.visible).div_euclid(conduit.period);
            let made = self.messages.get(&conduit.key).and_then(|messages| messages.get(&number));
            if made.is_none() && number >= 8 {
                let writers = &self.system.hosts;
                let is_written = writers.iter().any(|host| {
                    host.job.tasks.iter().any(|task| {
                        let host = writers.iter().position(|other| other == host).unwrap_or(0) as u16;
                        task.writes.iter().any(|id| self.conduit(host, id.0).key == conduit.key)
                    })
                });
                if is_written {
                    return Err(format!("`{}` finds no message {number} at {time}", declared.name));
                }
            }
            for (index, chain) in self.system.chains.iter().enumerate() {
                if follows(&chain.path, host, task, conduit.key) {
                    origin[index] = made.and_then(|made| made[index]);
                }
            }
        }
        self.running.insert((host, task, instance), origin);
        Ok(())
    }

    fn end(&mut self, time: i64, host: u16, task: u16, instance: i64) -> Result<(), String> {
        let declared = &self.system.hosts[usize::from(host)].job.tasks[usize::from(task)];
        let origin = self.running.remove(&(host, task, instance)).ok_or("an end without a start")?;
        let planned = &self.plan.hosts[usize::from(host)].tasks[usize::from(task)];
        let (k, turn) =
            (instance as usize % planned.instances.len(), instance / planned.instances.len() as i64);
        for (place, id) in declared.writes.iter().enumerate() {
            let conduit = self.conduit(host, id.0);
            let own = self.plan.hosts[usize::from(host)].hyperperiod.0 / conduit.period;
            // A port may count from the period after.
            let number = planned.instances[k].writes[place] + turn * own;
            let shift = i64::from(conduit.key.0 == u16::MAX && conduit.insert_by < 0);
            let number = number + shift;
            if time > number * conduit.period + conduit.insert_by {
                return Err(format!("`{}` inserts message {number} too late, at {time}", declared.name));
            }
            if self.messages.entry(conduit.key).or_default().insert(number, origin.clone()).is_some() {
                return Err(format!("`{}` fills message {number} twice", declared.name));
            }
        }
        let last = Step::Task { host, task: leveret_types::TaskId(task) };
        for (index, chain) in self.system.chains.iter().enumerate() {
            if chain.path.last() == Some(&last)
                && let Some(first) = origin[index]
            {
                self.outputs[index].push((time, first));
            }
        }
        Ok(())
    }

    /// What a chain took in the last rounds but one, once everything has come through.
    fn measured(&self, chain: usize) -> Result<Measured, String> {
        let declared = &self.system.chains[chain];
        let (Some(Step::Task { host, task }), Some(end)) = (declared.path.first(), declared.path.last())
        else {
            return Err("a chain without a task".to_owned());
        };
        let plan = &self.plan.hosts[usize::from(*host)];
        let planned = &plan.tasks[task.index()];
        let start = |instance: i64| {
            let count = planned.instances.len() as i64;
            let turn = instance.div_euclid(count);
            planned.instances[instance.rem_euclid(count) as usize].start().0 + turn * plan.hyperperiod.0
        };
        let mut outputs = self.outputs[chain].clone();
        outputs.sort_unstable();
        let (from, to) = ((self.rounds - 3) * self.round, (self.rounds - 1) * self.round);
        let settled = || outputs.iter().filter(|(end, _)| (from..to).contains(end));
        let age = settled().map(|(end, first)| end - start(*first)).max();
        // An event right after a start is first seen by the next instance; its first output is the first with that or later data.
        let reaction = settled().filter_map(|(end, first)| {
            let before = outputs.iter().take_while(|(earlier, _)| earlier < end).last()?.1;
            (before < *first).then(|| end - start(before))
        });
        let ends = if declared.path.first().map(host_of) == Some(host_of(end)) { 0 } else { 2 };
        let clocks = ends * self.system.traffic.clock_error.0;
        match (reaction.max(), age) {
            (Some(reaction), Some(age)) => Ok(Measured { reaction: reaction + clocks, age: age + clocks }),
            _ => Err(format!("nothing came through chain {chain} in {}", Nanos(self.rounds * self.round))),
        }
    }
}

fn host_of(step: &Step) -> u16 {
    if let Step::Task { host, .. } = step { *host } else { u16::MAX }
}

/// Whether a chain goes over this channel into this task.
fn follows(path: &[Step], host: u16, task: u16, key: (u16, u16)) -> bool {
    let here = Step::Task { host, task: leveret_types::TaskId(task) };
    path.windows(2).any(|pair| {
        let channel = match pair[0] {
            Step::Channel(port) => (port.host, port.channel.0),
            Step::Crossing(index) => (u16::MAX, index),
            _ => return false,
        };
        pair[1] == here && channel == key
    })
}
