//! From a placement to a plan: instances in order, segments, orders, bounds, buffers, accounts.

use crate::bind::Transfer;
use crate::buffers::Traffic;
use crate::nesting::{Reserved, parents};
use crate::search::{Placement, Span};
use crate::windows::Problem;
use crate::{
    Job, NO_INSTANCE, PLAN_VERSION, Plan, PlannedChannel, PlannedCore, PlannedInstance, PlannedTask,
    PlannedTransfer, Segment, digest,
};
use leveret_types::{ChannelId, Nanos, TaskId};

/// A channel that needs more buffers than any may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooManyBuffers {
    /// By index.
    pub channel: usize,
    pub needed: u64,
}

/// The plan that a placement makes.
pub(crate) fn assemble(job: &Job, problem: &Problem, placement: &Placement) -> Result<Plan, TooManyBuffers> {
    let spans: Vec<Vec<Span>> =
        placement.spans.iter().map(|spans| in_order(spans, problem.hyperperiod)).collect();
    let mut tasks: Vec<PlannedTask> =
        (0..job.tasks.len()).map(|task| blank(job, problem, placement, task)).collect();
    let mut cores = Vec::with_capacity(job.cores.len());
    for core in 0..job.cores.len() {
        let on_core = OnCore::new(problem, placement, &spans, core);
        on_core.fill(problem, &spans, &mut tasks);
        on_core.order(&mut tasks);
        cores.push(on_core.account(problem, job.cores[core], &tasks));
    }
    for (task, planned) in job.tasks.iter().zip(&mut tasks) {
        let response = |(k, instance): (usize, &PlannedInstance)| {
            instance.end() - task.period.saturating_mul(k as i64) - task.release
        };
        planned.response_bound =
            planned.instances.iter().enumerate().map(response).max().unwrap_or(Nanos::ZERO);
    }
    let channels = (0..job.channels.len())
        .map(|index| {
            channel(job, problem.hyperperiod, &tasks, index)
                .map_err(|needed| TooManyBuffers { channel: index, needed })
        })
        .collect::<Result<_, _>>()?;
    Ok(Plan {
        version: PLAN_VERSION,
        job: job.name.clone(),
        job_digest: digest(job),
        hyperperiod: Nanos(problem.hyperperiod),
        costs: job.costs,
        tasks,
        channels,
        sporadics: Vec::new(),
        cores,
    })
}

/// Instances of one task are alike, so they can trade places until each starts after the one before it. Windows
/// are ordered too, so the trade keeps every window.
fn in_order(spans: &[Span], round: i64) -> Vec<Span> {
    let mut turns: i64 = 0;
    let mut sorted: Vec<Span> = spans
        .iter()
        .map(|span| {
            let turn = span.start.div_euclid(round);
            turns += turn;
            Span { start: span.start - turn * round, end: span.end - turn * round }
        })
        .collect();
    sorted.sort_by_key(|span| span.start);
    // The sum of all starts stays the same, which fixes how far the sequence is turned.
    let count = spans.len() as i64;
    (0..count)
        .map(|k| {
            let (place, turn) = ((k + turns).rem_euclid(count), (k + turns).div_euclid(count));
            let span = sorted[place as usize];
            Span { start: span.start + turn * round, end: span.end + turn * round }
        })
        .collect()
}

/// A task's plan without its segments.
fn blank(job: &Job, problem: &Problem, placement: &Placement, index: usize) -> PlannedTask {
    let (task, load) = (&job.tasks[index], &problem.loads[index]);
    let transfer = |channel: &ChannelId| Transfer::of(&job.channels[channel.index()], &job.costs);
    let instance = |(k, window): (usize, &crate::windows::Window)| {
        let released = k as i64 * task.period.0 + task.release.0 + job.costs.clock_error.0;
        let seen = |transfer: Transfer| transfer.seen_at(window.latest - load.charged);
        let filled = |transfer: Transfer| transfer.written_by(k as i64, released, load.charged);
        PlannedInstance {
            earliest: Nanos(window.earliest),
            latest: Nanos(window.latest),
            segments: Vec::new(),
            reads: task.reads.iter().map(|channel| transfer(channel).map_or(NO_INSTANCE, seen)).collect(),
            writes: task.writes.iter().map(|channel| transfer(channel).map_or(NO_INSTANCE, filled)).collect(),
        }
    };
    PlannedTask {
        task: TaskId(index as u16),
        core: job.cores.get(placement.cores[index]).copied().unwrap_or_default(),
        order: 0,
        instances: load.windows.iter().enumerate().map(instance).collect(),
        response_bound: Nanos::ZERO,
    }
}

/// All instances on one core and how they enclose each other.
struct OnCore {
    /// Task and instance.
    who: Vec<(usize, usize)>,
    reserved: Vec<Reserved>,
    parents: Vec<Option<usize>>,
}

impl OnCore {
    fn new(problem: &Problem, placement: &Placement, spans: &[Vec<Span>], core: usize) -> Self {
        let (mut who, mut reserved) = (Vec::new(), Vec::new());
        for (task, spans) in spans.iter().enumerate().filter(|(task, _)| placement.cores[*task] == core) {
            for (instance, span) in spans.iter().enumerate() {
                let from = span.start - problem.guard;
                who.push((task, instance));
                reserved
                    .push(Reserved { from: from.rem_euclid(problem.hyperperiod), length: span.end - from });
            }
        }
        let parents = parents(&reserved, problem.hyperperiod);
        Self { who, reserved, parents }
    }

    /// Writes the segments: each span less what directly interrupts it.
    fn fill(&self, problem: &Problem, spans: &[Vec<Span>], tasks: &mut [PlannedTask]) {
        let mut holes: Vec<Vec<Segment>> = vec![Vec::new(); self.who.len()];
        for (inner, outer) in self.parents.iter().enumerate().filter_map(|(i, outer)| Some((i, (*outer)?))) {
            let (task, instance) = self.who[outer];
            let offset =
                (self.reserved[inner].from - self.reserved[outer].from).rem_euclid(problem.hyperperiod);
            let start = spans[task][instance].start - problem.guard + offset;
            holes[outer]
                .push(Segment { start: Nanos(start), end: Nanos(start + self.reserved[inner].length) });
        }
        for ((task, instance), holes) in self.who.iter().zip(&mut holes) {
            let span = spans[*task][*instance];
            holes.sort_by_key(|hole| hole.start);
            let mut from = Nanos(span.start);
            let segments = &mut tasks[*task].instances[*instance].segments;
            for hole in holes {
                if hole.start > from {
                    segments.push(Segment { start: from, end: hole.start });
                }
                from = hole.end;
            }
            segments.push(Segment { start: from, end: Nanos(span.end) });
        }
    }

    /// Gives each task one more than the highest order that it interrupts; 0 where it interrupts none.
    fn order(&self, tasks: &mut [PlannedTask]) {
        let mut interrupts: Vec<(usize, usize)> = self
            .parents
            .iter()
            .enumerate()
            .filter_map(|(inner, outer)| Some((self.who[inner].0, self.who[(*outer)?].0)))
            .collect();
        interrupts.sort_unstable();
        interrupts.dedup();
        let mut settled = false;
        while !settled {
            settled = true;
            for (inner, outer) in &interrupts {
                if tasks[*inner].order <= tasks[*outer].order {
                    tasks[*inner].order = tasks[*outer].order + 1;
                    settled = false;
                }
            }
        }
    }

    fn account(&self, problem: &Problem, core: u32, tasks: &[PlannedTask]) -> PlannedCore {
        let run = |(task, instance): &(usize, usize)| -> i64 {
            tasks[*task].instances[*instance].segments.iter().map(|s| s.end.0 - s.start.0).sum()
        };
        let used = self.who.iter().map(|who| run(who) + problem.guard).sum();
        let mut roots: Vec<Reserved> = self
            .reserved
            .iter()
            .zip(&self.parents)
            .filter(|(_, outer)| outer.is_none())
            .map(|(r, _)| *r)
            .collect();
        roots.sort_by_key(|root| root.from);
        let following = roots
            .iter()
            .skip(1)
            .map(|root| root.from)
            .chain(roots.first().map(|r| r.from + problem.hyperperiod));
        let longest_gap = roots
            .iter()
            .zip(following)
            .map(|(root, next)| next - root.from - root.length)
            .max()
            .unwrap_or(problem.hyperperiod);
        PlannedCore {
            core,
            used: Nanos(used),
            sporadic: Nanos::ZERO,
            left: Nanos(problem.hyperperiod - used),
            longest_gap: Nanos(longest_gap),
        }
    }
}

/// A channel's plan. `Err` is the number of buffers that it needs, beyond what it may have.
fn channel(job: &Job, hyperperiod: i64, tasks: &[PlannedTask], index: usize) -> Result<PlannedChannel, u64> {
    let declared = &job.channels[index];
    let id = ChannelId(index as u16);
    let Some(transfer) = Transfer::of(declared, &job.costs) else {
        let buffers = declared.buffers.max(1);
        return Ok(PlannedChannel { channel: id, buffers, instances: Vec::new(), latency_bound: Nanos::MAX });
    };
    let place = |ends: &[ChannelId]| ends.iter().position(|end| *end == id);
    let both = || job.tasks.iter().zip(tasks);
    let writer = both().find_map(|(task, planned)| Some((planned, place(&task.writes)?)));
    let readers = both().filter_map(|(task, planned)| Some((planned, place(&task.reads)?))).collect();
    let traffic = Traffic::new(transfer, hyperperiod, writer, readers);
    let planned = |instance| PlannedTransfer {
        insert_by: Nanos(transfer.insert_by(instance)),
        visible_at: Nanos(transfer.visible_at(instance)),
    };
    Ok(PlannedChannel {
        channel: id,
        buffers: traffic.buffers(declared)?,
        instances: (0..hyperperiod / transfer.period).map(planned).collect(),
        latency_bound: traffic.latency_bound(),
    })
}
