//! A processor played nanosecond by nanosecond: the time table first, then sporadic work by priority, first come
//! first served among equals, each preemption paid for by what is preempted.

use leveret_plan::{Job, Plan};
use leveret_types::Nanos;

/// Arrivals of one work, in order, each with how long it takes until it is ready.
pub type Arrivals = Vec<(i64, i64)>;

struct Run {
    work: usize,
    arrived: i64,
    ready: i64,
    left: i64,
    has_run: bool,
}

/// Whether the table holds a core at each instant of its round.
fn reserved(plan: &Plan, core: u32) -> Vec<bool> {
    let round = plan.hyperperiod.0;
    let mut held = vec![false; round as usize];
    let mut hold = |from: Nanos, to: Nanos| {
        for at in from.0..to.0 {
            held[at.rem_euclid(round) as usize] = true;
        }
    };
    for instance in plan.tasks.iter().filter(|task| task.core == core).flat_map(|task| &task.instances) {
        hold(instance.start() - plan.costs.guard, instance.start());
        instance.segments.iter().for_each(|segment| hold(segment.start, segment.end));
    }
    held
}

/// The longest response of each work whose runs ended, for these arrivals on one core.
pub fn play(job: &Job, plan: &Plan, core: u32, arrivals: &[Arrivals], until: i64) -> Vec<i64> {
    let held = reserved(plan, core);
    let mut longest = vec![0; arrivals.len()];
    let mut runs: Vec<Run> = Vec::new();
    for (work, arrivals) in arrivals.iter().enumerate() {
        let sporadic = &job.sporadics[work];
        let mut ready_before = i64::MIN;
        for (arrived, delay) in arrivals {
            // One thread serves them in turn.
            let ready = (arrived + delay).max(ready_before);
            ready_before = ready;
            let left = (sporadic.budget.0 + job.costs.switch.0).max(1);
            runs.push(Run { work, arrived: *arrived, ready, left, has_run: false });
        }
    }
    let urgency =
        |run: &Run| (std::cmp::Reverse(job.sporadics[run.work].priority), run.ready, run.work, run.arrived);
    runs.sort_by_key(urgency);
    let mut running: Option<(usize, i64)> = None;
    for now in 0..until {
        let next = if held[now.rem_euclid(held.len() as i64) as usize] {
            None
        } else {
            runs.iter().position(|run| run.ready <= now)
        };
        let next = next.map(|place| (runs[place].work, runs[place].arrived));
        if let Some(before) = running
            && next != Some(before)
            && let Some(run) = runs.iter_mut().find(|run| (run.work, run.arrived) == before)
            && run.has_run
        {
            run.left += job.costs.preemption.0;
            run.has_run = false;
        }
        running = next;
        let Some(who) = next else { continue };
        let place = runs.iter().position(|run| (run.work, run.arrived) == who).unwrap();
        runs[place].left -= 1;
        runs[place].has_run = true;
        if runs[place].left == 0 {
            let run = runs.remove(place);
            longest[run.work] = longest[run.work].max(now + 1 - run.arrived);
            running = None;
        }
    }
    longest
}
