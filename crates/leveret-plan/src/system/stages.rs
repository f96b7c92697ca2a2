//! Windows laid out by stages, for crossings that declare none: everything in the order in which data passes, each message with the time that its way takes while
//! all that share its fullest link are sent too.
//!
//! [`super::choose`] divides the time of one chain after the other, by what each needs for itself alone. Where many chains meet, at a controller for instance, what
//! each gets so is too short for all of them together; laid out by stages, all that arrive before the same task have the same, longer window.

use super::model::{Crossing, Step, System, Window};
use super::needs::Needs;

use crate::bind::{Transfer, div_ceil};
use leveret_types::{ChannelId, Nanos, TaskId};

/// What messages and tasks have, in 64ths of what they need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub messages: i64,
    pub tasks: i64,
}

/// A window for each crossing, the declared one where there is one.
pub(super) fn windows(system: &System, needs: &Needs, stretch: Stretch) -> Vec<Window> {
    let mut layout = Layout::new(system, needs, stretch);
    for (host, task) in layout.order() {
        layout.place(host, task);
    }
    let any = |(window, crossing): (Option<Window>, &Crossing)| {
        window.unwrap_or(Window { release: Nanos::ZERO, deadline: crossing.period })
    };
    layout.windows.into_iter().zip(&system.crossings).map(any).collect()
}

/// A task: its host and its place in the host's job.
type Place = (usize, usize);

struct Layout<'a> {
    system: &'a System,
    needs: &'a Needs,
    stretch: Stretch,
    windows: Vec<Option<Window>>,
    /// By crossing: when its first message is visible, once its writer has a place.
    visible: Vec<Option<i64>>,
    /// By host and task: when it has ended, once it has a place.
    ends: Vec<Vec<Option<i64>>>,
}

impl<'a> Layout<'a> {
    fn new(system: &'a System, needs: &'a Needs, stretch: Stretch) -> Self {
        Self {
            system,
            needs,
            stretch,
            windows: system.crossings.iter().map(|crossing| crossing.window).collect(),
            visible: vec![None; system.crossings.len()],
            ends: system.hosts.iter().map(|host| vec![None; host.job.tasks.len()]).collect(),
        }
    }

    /// Tasks such that writers come before readers. Where they wait for each other in a circle, the task goes first that begins a chain, else the first of all: it reads
    /// what was written in the period before.
    fn order(&self) -> Vec<Place> {
        let all: Vec<Place> = self
            .ends
            .iter()
            .enumerate()
            .flat_map(|(host, tasks)| (0..tasks.len()).map(move |task| (host, task)))
            .collect();
        let begins = |place: &Place| {
            let first = |chain: &super::model::Chain| matches!(chain.path.first(), Some(Step::Task { host, task }) if (usize::from(*host), task.index()) == *place);
            self.system.chains.iter().any(first)
        };
        let mut writers: Vec<Vec<Place>> = all.iter().map(|place| self.writers(*place)).collect();
        let mut left: Vec<usize> = (0..all.len()).collect();
        let mut order = Vec::with_capacity(all.len());
        while !left.is_empty() {
            let ready: Vec<usize> = left.iter().copied().filter(|index| writers[*index].is_empty()).collect();
            let next = match ready.is_empty() {
                false => ready,
                true => left
                    .iter()
                    .copied()
                    .find(|index| begins(&all[*index]))
                    .or(left.first().copied())
                    .into_iter()
                    .collect(),
            };
            let placed: Vec<Place> = next.iter().map(|index| all[*index]).collect();
            left.retain(|index| !next.contains(index));
            for index in &left {
                writers[*index].retain(|writer| !placed.contains(writer));
            }
            order.extend(placed);
        }
        order
    }

    /// The tasks that write what a task reads.
    fn writers(&self, (host, task): Place) -> Vec<Place> {
        let job = &self.system.hosts[host].job;
        let mut found = Vec::new();
        for channel in &job.tasks[task].reads {
            let own =
                job.tasks.iter().position(|other| other.writes.contains(channel)).filter(|own| *own != task);
            found.extend(own.map(|own| (host, own)));
            let reads = |crossing: &&Crossing| {
                crossing.targets.iter().any(|port| usize::from(port.host) == host && port.channel == *channel)
            };
            for crossing in self.system.crossings.iter().filter(reads) {
                let source = usize::from(crossing.source.host);
                let tasks = &self.system.hosts[source].job.tasks;
                let writer = tasks.iter().position(|other| other.writes.contains(&crossing.source.channel));
                found.extend(writer.map(|writer| (source, writer)).filter(|writer| *writer != (host, task)));
            }
        }
        found
    }

    /// Places a task behind all that it reads and that has a place, and what it writes behind it.
    fn place(&mut self, host: usize, task: usize) {
        let job = &self.system.hosts[host].job;
        let begin = job.tasks[task]
            .reads
            .iter()
            .filter_map(|channel| self.read_from(host, *channel))
            .max()
            .unwrap_or(0);
        let length = stretched(self.needs.tasks[host][task], self.stretch.tasks);
        let end = super::choose::after_task(
            self.system,
            self.needs,
            (host as u16, TaskId(task as u16)),
            begin,
            length,
        );
        self.ends[host][task] = Some(end);
        for index in 0..self.system.crossings.len() {
            let source = self.system.crossings[index].source;
            if usize::from(source.host) == host && job.tasks[task].writes.contains(&source.channel) {
                let length = stretched(self.needs.shared[index], self.stretch.messages);
                self.visible[index] =
                    Some(super::choose::after_crossing(self.system, &mut self.windows, index, end, length));
            }
        }
    }

    /// From when on a channel can be read on a host, if its writer has a place.
    fn read_from(&self, host: usize, channel: ChannelId) -> Option<i64> {
        let job = &self.system.hosts[host].job;
        let crossing = self.system.crossings.iter().position(|crossing| {
            crossing.targets.iter().any(|port| usize::from(port.host) == host && port.channel == channel)
        });
        if let Some(crossing) = crossing {
            return self.visible[crossing];
        }
        let writer = job.tasks.iter().position(|task| task.writes.contains(&channel))?;
        let end = self.ends[host][writer]?;
        let at = Transfer::of(&job.channels[channel.index()], &job.costs)?;
        Some(at.visible_at(div_ceil(end - at.insert_by, at.period)))
    }
}

fn stretched(length: i64, parts: i64) -> i64 {
    i64::try_from(i128::from(length) * i128::from(parts) / 64).unwrap_or(i64::MAX)
}
