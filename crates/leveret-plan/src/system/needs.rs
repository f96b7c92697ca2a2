//! What each part of a system needs at least, whoever else there is.

use super::chain::{ChainPart, PartKind, clocks, part};
use super::explain::SystemRefusal;
use super::model::{Chain, Step, System, Window};
use super::project::parts;
use crate::network::under_way;
use crate::windows::charged;
use crate::{Job, Qos};
use leveret_types::Nanos;

/// Least times, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Needs {
    /// By host and task: the length of one instance.
    pub tasks: Vec<Vec<i64>>,
    /// By crossing: from the start of the first transmission to the last arrival on the way that would be taken first, and the clock error
    /// at both ends.
    pub crossings: Vec<i64>,
    /// The same while all that share the fullest link of that way are sent too.
    pub shared: Vec<i64>,
    /// What it takes on no way less.
    pub least: Vec<i64>,
}

impl Needs {
    pub(super) fn of(system: &System) -> Result<Self, SystemRefusal> {
        let lengths = |job: &Job| job.tasks.iter().map(|task| charged(job, task)).collect();
        let tasks = system.hosts.iter().map(|host| lengths(&host.job)).collect();
        let any = |crossing: &super::Crossing| {
            let (release, deadline) = (Nanos::ZERO, crossing.period);
            crossing.window.unwrap_or(Window { release, deadline })
        };
        let windows: Vec<Window> = system.crossings.iter().map(any).collect();
        let mut traffic = parts(system, &windows).traffic;
        traffic.streams.drain(..system.traffic.streams.len());
        let own = under_way(&traffic).map_err(|refusal| SystemRefusal::Network {
            refusal: Box::new(refusal),
            traffic: Box::new(traffic.clone()),
            chosen: Vec::new(),
        })?;
        let error = 2 * system.traffic.clock_error.0;
        let crossings = own.iter().map(|own| own.likely.0 + error).collect();
        let shared = own.iter().map(|own| own.shared.0 + error).collect();
        Ok(Self { tasks, crossings, shared, least: own.iter().map(|own| own.least.0 + error).collect() })
    }

    /// What a channel takes at least from the writer's end to its visibility; `None` where nothing is known of it.
    pub(super) fn channel(&self, system: &System, step: Step) -> Option<i64> {
        match step {
            Step::Channel(port) => {
                let job = &system.hosts[usize::from(port.host)].job;
                let channel = &job.channels[port.channel.index()];
                let visible = job.costs.publish + job.costs.clock_error.saturating_mul(2);
                matches!(channel.qos, Qos::TimeDriven { .. }).then_some(visible.0)
            }
            Step::Crossing(index) => {
                let crossing = &system.crossings[usize::from(index)];
                let costs = &system.hosts[usize::from(crossing.source.host)].job.costs;
                let own = crossing
                    .window
                    .map_or(self.least[usize::from(index)], |window| (window.deadline - window.release).0);
                Some(own + costs.publish.0 + 2 * costs.clock_error.0)
            }
            Step::Task { .. } | Step::Work { .. } => None,
        }
    }

    /// The least age of a chain, by its parts: what no plan goes below.
    pub(super) fn age(&self, system: &System, chain: &Chain) -> Vec<ChainPart> {
        let mut all = Vec::new();
        for step in &chain.path {
            let (kind, length) = match *step {
                Step::Task { host, task } => {
                    (PartKind::Task, Some(self.tasks[usize::from(host)][task.index()]))
                }
                Step::Work { host, work } => (PartKind::Task, Some(system.work(host, work).budget.0)),
                Step::Channel(_) | Step::Crossing(_) => (PartKind::Channel, self.channel(system, *step)),
            };
            all.extend(length.map(|length| part(kind, system.step_name(*step), length)));
        }
        all.push(part(PartKind::Clocks, "", clocks(system, chain)));
        all.retain(|part| part.length > Nanos::ZERO);
        all
    }

    /// The least reaction time of a chain: beside its age, an event waits as long as the slowest task's period, at the worst.
    pub(super) fn reaction(&self, system: &System, chain: &Chain) -> Vec<ChainPart> {
        let periods = chain.path.iter().filter_map(|step| match *step {
            Step::Task { host, task } => Some((system.task(host, task).period, system.step_name(*step))),
            _ => None,
        });
        let slowest = periods.max_by_key(|(period, _)| *period);
        let wait = slowest.map(|(period, name)| part(PartKind::Sampling, name, period.0));
        wait.into_iter().chain(self.age(system, chain)).collect()
    }
}
