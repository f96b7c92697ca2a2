//! Bounds of chains of which not everything is moved by the clock: each element's own bound, added up (Davare and others, DAC 2007). Of what
//! the clock moves they ask no more than that it keeps its plan.

use super::chain::{ChainPart, PartKind, Walked, part, reading, writing};
use super::model::{Chain, Step, System, Window};
use super::plan::PlannedChain;
use crate::{Plan, Qos, Start};
use leveret_types::{ChannelId, Nanos};

/// Never: some element has no bound.
const NEVER: i64 = i64::MAX;

pub(super) fn bound(system: &System, windows: &[Window], hosts: &[Plan], chain: &Chain) -> Walked {
    let mut reaction = Vec::new();
    let mut age = Vec::new();
    for (index, step) in chain.path.iter().enumerate() {
        let name = system.step_name(*step);
        match *step {
            Step::Task { host, task } => {
                let response = hosts[usize::from(host)].tasks[task.index()].response_bound.0;
                let period = system.task(host, task).period.0;
                // An event, or a message, may come right after an instance has looked.
                let wait = if index == 0 { PartKind::Sampling } else { PartKind::Start };
                reaction.extend([part(wait, name, period), part(PartKind::Task, name, response)]);
                // What an instance reads is read again until the next message is visible.
                let again = index
                    .checked_sub(1)
                    .and_then(|before| reading(system, windows, chain.path[before], *step));
                age.extend(again.map(|end| part(PartKind::Start, name, end.period)));
                age.push(part(PartKind::Task, name, response));
            }
            Step::Work { host, work } => {
                let response = hosts[usize::from(host)].sporadics[usize::from(work)].response_bound.0;
                let paced = index < 2 || keeps_pace(system, chain, index);
                let response = if paced { response } else { NEVER };
                reaction.push(part(PartKind::Task, name, response));
                age.push(part(PartKind::Task, name, response));
            }
            Step::Channel(_) | Step::Crossing(_) => {
                let length = channel(system, windows, hosts, chain, index);
                reaction.push(part(PartKind::Channel, name, length));
                age.push(part(PartKind::Channel, name, length));
            }
        }
    }
    let planned = PlannedChain { reaction: total(&reaction), age: total(&age), exact: false };
    Walked { planned, reaction, age, ways: None }
}

fn total(parts: &[ChainPart]) -> Nanos {
    parts.iter().fold(Nanos::ZERO, |sum, part| sum.saturating_add(part.length))
}

/// From the writer's end to the message's arrival, at most.
fn channel(system: &System, windows: &[Window], hosts: &[Plan], chain: &Chain, index: usize) -> i64 {
    if let (Step::Channel(port), None) = (chain.path[index], writing(system, windows, chain.path[index])) {
        let paced = sends_in_time(system, chain.path[index - 1], port.host, port.channel);
        let bound = hosts[usize::from(port.host)].channels[port.channel.index()].latency_bound.0;
        return if paced { bound } else { NEVER };
    }
    let (Step::Task { host, task }, Some((port, shift))) =
        (chain.path[index - 1], writing(system, windows, chain.path[index]))
    else {
        return NEVER;
    };
    let declared = system.task(host, task);
    let place = declared.writes.iter().position(|id| *id == port.channel).unwrap_or(0);
    let Some(end) = reading(system, windows, chain.path[index], chain.path[index + 1]) else { return NEVER };
    let error = system.traffic.clock_error.0;
    let clocks = if matches!(chain.path[index], Step::Crossing(_)) { 2 * error } else { 0 };
    let planned = &hosts[usize::from(host)].tasks[task.index()];
    let waits = planned.instances.iter().map(|instance| {
        let message = instance.writes[place] + shift;
        message * end.period + end.window.deadline.0 + error - instance.end().0
    });
    waits.max().map_or(NEVER, |longest| longest + clocks)
}

/// Whether a sender leaves at least the channel's interval between two transfers, so that none waits for its pace.
fn sends_in_time(system: &System, sender: Step, host: u16, channel: ChannelId) -> bool {
    let channel = &system.hosts[usize::from(host)].job.channels[channel.index()];
    let Some((_, interval, _)) = channel.qos.service() else { return false };
    apart(system, sender).is_some_and(|apart| interval.is_none_or(|interval| interval <= apart))
}

/// Least distance between two runs of what is declared.
fn apart(system: &System, step: Step) -> Option<Nanos> {
    match step {
        Step::Task { host, task } => Some(system.task(host, task).period),
        Step::Work { host, work } => system.work(host, work).interval,
        Step::Channel(_) | Step::Crossing(_) => None,
    }
}

/// Whether work that a transfer starts is ready for the next one when that comes, so that none waits for its pace.
fn keeps_pace(system: &System, chain: &Chain, index: usize) -> bool {
    let (Step::Channel(port), Step::Work { host, work }) = (chain.path[index - 1], chain.path[index]) else {
        return false;
    };
    let own = system.work(host, work);
    let Qos::EventDriven { interval, .. } =
        &system.hosts[usize::from(port.host)].job.channels[port.channel.index()].qos
    else {
        return false;
    };
    let sole = matches!(own.start, Start::Event { .. });
    sole && match (own.interval, interval) {
        (None, _) => true,
        (Some(own), Some(other)) => own <= *other,
        (Some(_), None) => false,
    }
}
