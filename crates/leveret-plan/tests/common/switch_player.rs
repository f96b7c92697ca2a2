//! A processor played nanosecond by nanosecond across a switch: the time table of the plan that holds, then sporadic work by level. A run
//! of the plan before that has begun goes on after the switch; what has not begun is dropped, or is its successor's.

use super::player::Arrivals;
use leveret_plan::{Job, Plan};
use leveret_types::Nanos;

/// One side of the switch, with the arrivals of its works: those of the plan before are before the switch.
pub struct Side<'a> {
    pub job: &'a Job,
    pub plan: &'a Plan,
    pub arrivals: &'a [Arrivals],
}

struct Run {
    is_new: bool,
    work: usize,
    arrived: i64,
    ready: i64,
    left: i64,
    has_begun: bool,
    has_run: bool,
    /// Where its response is told: it may be served by its successor.
    told: (bool, usize),
}

fn held(plan: &Plan, core: u32, at: i64) -> bool {
    let round = plan.hyperperiod.0;
    let within = |from: Nanos, to: Nanos| (at - from.0).rem_euclid(round) < to.0 - from.0;
    let on_core = plan.tasks.iter().filter(|task| task.core == core);
    on_core.flat_map(|task| &task.instances).any(|instance| {
        within(instance.start() - plan.costs.guard, instance.start())
            || instance.segments.iter().any(|segment| within(segment.start, segment.end))
    })
}

/// Every run of a side.
fn arrived<'s>(side: &'s Side<'_>, is_new: bool) -> impl Iterator<Item = Run> + 's {
    side.arrivals.iter().enumerate().flat_map(move |(work, arrivals)| {
        let left = (side.job.sporadics[work].budget.0 + side.job.costs.switch.0).max(1);
        let mut before = i64::MIN;
        arrivals.iter().map(move |(arrived, delay)| {
            let ready = (arrived + delay).max(before);
            before = ready;
            let (has_begun, has_run, told) = (false, false, (is_new, work));
            Run { is_new, work, arrived: *arrived, ready, left, has_begun, has_run, told }
        })
    })
}

/// At the switch: what has not begun is dropped, or is its successor's.
fn switch(runs: &mut Vec<Run>, kept: &[(usize, usize)]) {
    runs.retain_mut(|run| {
        let successor = kept.iter().find(|(before, _)| !run.is_new && *before == run.work);
        if let (Some((_, after)), false) = (successor, run.has_begun) {
            (run.is_new, run.work) = (true, *after);
        }
        run.is_new || run.has_begun
    });
}

/// The longest responses of each side's works on one core. `kept` pairs works of the two sides; instants count from the switch.
pub fn play(
    old: &Side<'_>,
    new: &Side<'_>,
    kept: &[(usize, usize)],
    core: u32,
    span: (i64, i64),
) -> [Vec<i64>; 2] {
    let mut longest = [vec![0; old.arrivals.len()], vec![0; new.arrivals.len()]];
    let mut runs: Vec<Run> = arrived(old, false).chain(arrived(new, true)).collect();
    let mut running: Option<(bool, usize, i64)> = None;
    for now in span.0..span.1 {
        if now == 0 {
            switch(&mut runs, kept);
        }
        let plan = if now < 0 { old.plan } else { new.plan };
        let level = |run: &Run| {
            let side = if run.is_new { new } else { old };
            side.plan.sporadics[run.work].level
        };
        let may_run = |run: &Run| {
            let waits = kept.iter().find(|(_, after)| run.is_new && *after == run.work);
            let is_held_up = waits
                .is_some_and(|(before, _)| runs.iter().any(|other| !other.is_new && other.work == *before));
            run.ready <= now && (run.is_new == (now >= 0) || run.has_begun) && !is_held_up
        };
        // Of one work the earliest arrival; what has begun goes before what has not.
        let urgency =
            |run: &Run| (std::cmp::Reverse(level(run)), !run.has_begun, run.ready, run.work, run.arrived);
        let next = if held(plan, core, now) {
            None
        } else {
            runs.iter().filter(|run| may_run(run)).min_by_key(|run| urgency(run))
        };
        let next = next.map(|run| (run.is_new, run.work, run.arrived));
        let find = |runs: &[Run], who: (bool, usize, i64)| {
            runs.iter().position(|run| (run.is_new, run.work, run.arrived) == who)
        };
        if let Some(before) = running
            && next != Some(before)
            && let Some(place) = find(&runs, before)
            && runs[place].has_run
        {
            runs[place].left += new.job.costs.preemption.0;
            runs[place].has_run = false;
        }
        running = next;
        let Some(place) = next.and_then(|who| find(&runs, who)) else { continue };
        let run = &mut runs[place];
        run.left -= 1;
        (run.has_begun, run.has_run) = (true, true);
        if run.left == 0 {
            let run = runs.remove(place);
            let side = &mut longest[usize::from(run.told.0)];
            side[run.told.1] = side[run.told.1].max(now + 1 - run.arrived);
            running = None;
        }
    }
    longest
}
