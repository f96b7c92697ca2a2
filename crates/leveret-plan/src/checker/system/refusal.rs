//! Counts again what is said to show that a system has no plan: what must run on a core in some time, what a chain takes at least, and, by
//! the checker of networks, what must move.

use super::{least, parts, violation};
use crate::checker::{Violation, charged, check_certificate, instants, shown, wide};
use crate::network::STREAM_TIME_MAX;
use crate::system::{System, SystemCertificate, Window};
use crate::{CoreChoice, Job, Qos, Task};
use leveret_types::{ChannelId, INSTANCES_MAX, Nanos};

/// Accepts what is said to show that a system has no plan, whatever windows are chosen for channels that declare none.
///
/// # Errors
/// The first thing in it that does not follow.
pub fn check_system_certificate(certificate: &SystemCertificate, system: &System) -> Result<(), Violation> {
    if let Err(error) = system.validate() {
        return Err(violation(
            "certificate".to_owned(),
            "it is for a system that is right",
            error.to_string(),
        ));
    }
    for own in &system.hosts {
        if let Err(errors) = crate::validate(&own.job) {
            let found = errors.first().map(ToString::to_string).unwrap_or_default();
            return Err(violation(format!("host `{}`", own.job.name), "its job is right", found));
        }
    }
    // A chosen window begins at 0 or later and ends within an hour: what cannot be within this one is within none.
    let widest = Window { release: Nanos::ZERO, deadline: STREAM_TIME_MAX };
    let windows: Vec<Window> =
        system.crossings.iter().map(|crossing| crossing.window.unwrap_or(widest)).collect();
    let parts = parts::parts(system, &windows);
    match certificate {
        SystemCertificate::Network(network) => check_certificate(network, &parts.traffic),
        SystemCertificate::Core { host, core, within } => {
            let job = job(system, parts.jobs, *host)?;
            check_core(&job, *core, *within)
        }
        SystemCertificate::Task { host, task } => {
            let job = job(system, parts.jobs, *host)?;
            match job.tasks.get(task.index()) {
                Some(task) => check_task(&job, task),
                None => Err(violation(format!("host `{}`", job.name), "its task exists", task.to_string())),
            }
        }
        SystemCertificate::Chain { chain, limit } => {
            least::check(system, &parts, usize::from(*chain), *limit)
        }
    }
}

/// A host's job without the ends of channels whose windows are open: they may be anywhere.
fn job(system: &System, mut jobs: Vec<Job>, host: u16) -> Result<Job, Violation> {
    if usize::from(host) >= jobs.len() {
        return Err(violation("certificate".to_owned(), "its host exists", host.to_string()));
    }
    let mut job = jobs.swap_remove(usize::from(host));
    let open = system.crossings.iter().filter(|crossing| crossing.window.is_none());
    let ends = open.flat_map(|crossing| crossing.targets.iter().chain([&crossing.source]));
    let ends: Vec<ChannelId> = ends.filter(|port| port.host == host).map(|port| port.channel).collect();
    for task in &mut job.tasks {
        if task.writes.iter().any(|id| ends.contains(id)) {
            // Its message may be due sooner; then what it reads may be older, and it may start sooner.
            task.reads = Vec::new();
        }
        task.reads.retain(|id| !ends.contains(id));
        task.writes.retain(|id| !ends.contains(id));
    }
    Ok(job)
}

/// After how long the table of a job repeats, where it has one; what it holds is within bounds.
pub(super) fn round(job: &Job) -> Result<i128, Violation> {
    let channels = job.channels.iter().filter_map(|channel| match channel.qos {
        Qos::TimeDriven { period, .. } => Some(wide(period)),
        _ => None,
    });
    let periods = job.tasks.iter().map(|task| wide(task.period)).chain(channels);
    let too_long =
        || violation(format!("host `{}`", job.name), "it repeats in time to look at it", String::new());
    periods.clone().try_fold(1, |round: i128, period| {
        let (mut a, mut b) = (round, period);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let next = round / a * period;
        let count: i128 = periods.clone().map(|period| next / period).sum();
        if next > i128::from(i64::MAX) || count > INSTANCES_MAX as i128 { Err(too_long()) } else { Ok(next) }
    })
}

/// Where instance `k` of a task must run, and which message of each channel it writes and reads; counted from the epoch, in both directions.
pub(super) struct Bounds {
    pub earliest: i128,
    pub latest: i128,
    pub writes: Vec<Option<i128>>,
    pub reads: Vec<Option<i128>>,
}

/// By the declarations alone, as `docs/planner.md` has it.
pub(super) fn bounds(job: &Job, task: &Task, k: i128) -> Bounds {
    let (length, error) = (charged(job, task), wide(job.costs.clock_error));
    let released = k * wide(task.period) + wide(task.release) + error;
    let (mut earliest, mut latest) = (released, k * wide(task.period) + wide(task.deadline) - error);
    let mut writes = Vec::new();
    for id in &task.writes {
        // The first message, not before its own number, that it can insert in time.
        let message = instants(job, &job.channels[id.index()]).map(|at| {
            let first = -(at.insert_by - released - length).div_euclid(at.period);
            let message = first.max(k);
            latest = latest.min(message * at.period + at.insert_by);
            message
        });
        writes.push(message);
    }
    let mut reads = Vec::new();
    for id in &task.reads {
        // The freshest message that is visible when it must have started.
        let message = instants(job, &job.channels[id.index()]).map(|at| {
            let message = (latest - length - at.visible_at).div_euclid(at.period);
            earliest = earliest.max(message * at.period + at.visible_at);
            message
        });
        reads.push(message);
    }
    Bounds { earliest, latest, writes, reads }
}

fn guarded(job: &Job, task: &Task) -> i128 {
    charged(job, task) + wide(job.costs.guard)
}

/// What a core may be used for in a round.
fn capacity(job: &Job, round: i128) -> i128 {
    round * i128::from(job.costs.utilisation_permille) / 1000
}

/// A task for itself.
fn check_task(job: &Job, task: &Task) -> Result<(), Violation> {
    let round = round(job)?;
    let needs = guarded(job, task) * (round / wide(task.period));
    let room = wide(task.deadline) - wide(task.release) - 2 * wide(job.costs.clock_error);
    if needs > capacity(job, round) || charged(job, task) > room {
        return Ok(());
    }
    let found = format!("{} of {}", shown(charged(job, task)), shown(room));
    Err(violation(format!("task `{}`", task.name), "it needs more than its window or a core has", found))
}

/// What must run on a core, or on all of them, within a stretch of time or a round.
fn check_core(job: &Job, core: Option<u32>, within: Option<(Nanos, Nanos)>) -> Result<(), Violation> {
    let round = round(job)?;
    let cores = if core.is_some() { 1 } else { job.cores.len() as i128 };
    let tasks = job.tasks.iter().filter(|task| core.is_none_or(|core| task.core == CoreChoice::Pinned(core)));
    let (needs, has) = match within {
        None => {
            let needs = tasks.map(|task| guarded(job, task) * (round / wide(task.period))).sum();
            (needs, capacity(job, round) * cores)
        }
        Some((from, to)) => {
            let inside: Option<i128> = tasks.map(|task| must(job, task, (wide(from), wide(to)))).sum();
            let Some(inside) = inside.filter(|_| from < to) else {
                let found = format!("{from} to {to}");
                return Err(violation(format!("host `{}`", job.name), "its stretch can be looked at", found));
            };
            // The guard of the first task on each core may lie before the stretch.
            (inside - cores * wide(job.costs.guard), (wide(to) - wide(from)) * cores)
        }
    };
    if needs > has {
        return Ok(());
    }
    let found = format!("{} of {}", shown(needs), shown(has));
    Err(violation(format!("host `{}`", job.name), "more must run there than fits", found))
}

/// What a task must run within a stretch, guards included; none where that is too much to look at.
fn must(job: &Job, task: &Task, (from, to): (i128, i128)) -> Option<i128> {
    let period = wide(task.period);
    // Whatever it reads and writes, its windows lie within the declared ones.
    let first = (from - wide(task.deadline)).div_euclid(period);
    let last = (to - wide(task.release)).div_euclid(period) + 1;
    if last - first > 4 * INSTANCES_MAX as i128 {
        return None;
    }
    let inside = (first..=last).filter(|k| {
        let bounds = bounds(job, task, *k);
        bounds.earliest >= from && bounds.latest <= to
    });
    Some(inside.count() as i128 * guarded(job, task))
}
