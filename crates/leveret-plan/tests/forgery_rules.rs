//! Each number of a plan, changed by the least that it can be: the checker names the rule that this number breaks.
//!
//! That some rule is broken would not do, since a change usually breaks several: a rule that is no longer asked for would not be missed.

mod common;

use common::{empty, guard_only, sporadic, task, time_driven};
use leveret_plan::{CoreChoice, Job, Plan, PlannedSporadic, Qos, Segment, Start, checker, digest, plan};
use leveret_types::{ChannelId, Nanos, TaskId};

/// `a` sends to `b` every 100 by the clock, `c` runs twice as often and sends with best effort; beside them work at two priorities.
fn job() -> Job {
    let mut job = empty(&[0, 1], guard_only(3));
    (job.costs.publish, job.costs.switch, job.costs.clock_error) = (Nanos(2), Nanos(1), Nanos(1));
    job.channels.push(time_driven("ab", (0, 0), 100, (0, 50)));
    job.channels.push(time_driven("free", (0, 0), 100, (0, 50)));
    job.channels[1].qos = Qos::BestEffort;
    job.tasks.push(task("a", CoreChoice::Pinned(0), 100, (0, 40), 10));
    job.tasks.push(task("b", CoreChoice::Pinned(0), 100, (20, 90), 10));
    job.tasks.push(task("c", CoreChoice::Pinned(1), 50, (0, 45), 10));
    job.tasks[0].writes = vec![ChannelId(0)];
    job.tasks[1].reads = vec![ChannelId(0)];
    job.tasks[2].writes = vec![ChannelId(1)];
    job.sporadics.push(sporadic("low", CoreChoice::Pinned(1), 1, (10_000, 5_000), 5));
    job.sporadics.push(sporadic("high", CoreChoice::Pinned(1), 2, (10_000, 5_000), 5));
    job
}

/// Changes one number, by this much where the number may go either way.
type Forge = fn(&mut Plan, i64);

fn add(to: &mut Nanos, by: i64) {
    to.0 += by;
}

/// Lets every instance of a task end later, and says so in its bound: rules of cores are looked at where those of tasks hold.
fn lengthen(plan: &mut Plan, task: usize, by: i64) {
    let planned = &mut plan.tasks[task];
    planned.instances.iter_mut().for_each(|instance| add(&mut instance.segments[0].end, by));
    add(&mut planned.response_bound, by);
}

/// Asks for the rule in what the checker finds, for the change in both directions.
fn breaks(rule: &str, forges: &[Forge]) {
    let job = job();
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(checker::check(&planned, &job), Ok(()));
    for (number, forge) in forges.iter().enumerate() {
        for by in [-1, 1] {
            let mut forged = planned.clone();
            forge(&mut forged, by);
            let found = checker::check(&forged, &job).expect_err("a forgery");
            let rules: Vec<&str> = found.iter().map(|violation| violation.rule.as_str()).collect();
            assert!(rules.contains(&rule), "forgery {number} by {by} breaks {rules:?} and not: {rule}");
        }
    }
}

#[test]
fn the_frame_of_a_plan() {
    breaks(
        "its version is the one this program reads",
        &[|plan, by| plan.version = plan.version.wrapping_add_signed(by as i32)],
    );
    breaks(
        "its hyperperiod is the least common multiple",
        &[
            |plan, by| add(&mut plan.hyperperiod, by),
            |plan, by| plan.hyperperiod = Nanos(100 + 100 * by),
            |plan, by| plan.hyperperiod = Nanos(50 * by - 50),
            |plan, _| plan.hyperperiod = Nanos(50),
        ],
    );
    breaks(
        "it assumes the job's costs, none below zero",
        &[
            |plan, by| add(&mut plan.costs.guard, by),
            |plan, by| add(&mut plan.costs.switch, by),
            |plan, by| add(&mut plan.costs.preemption, by),
            |plan, by| add(&mut plan.costs.publish, by),
            |plan, by| add(&mut plan.costs.copy_per_kib, by),
            |plan, by| add(&mut plan.costs.clock_error, by),
        ],
    );
    breaks(
        "it covers every task, channel and core in order",
        &[
            |plan, _| drop(plan.tasks.pop()),
            |plan, _| plan.tasks.swap(0, 1),
            |plan, _| plan.tasks[2].task = TaskId(3),
            |plan, _| drop(plan.channels.pop()),
            |plan, _| plan.channels.swap(0, 1),
            |plan, _| drop(plan.cores.pop()),
            |plan, _| plan.cores.swap(0, 1),
        ],
    );
    breaks(
        "it covers all work beside the table in order",
        &[
            |plan, _| drop(plan.sporadics.pop()),
            |plan, _| plan.sporadics.swap(0, 1),
            |plan, _| plan.sporadics[1].sporadic = 0,
        ],
    );
}

#[test]
fn instances_and_their_windows() {
    breaks(
        "every instance of one hyperperiod is planned",
        &[|plan, by| {
            let instances = &mut plan.tasks[2].instances;
            if by < 0 { instances.truncate(1) } else { instances.push(instances[0].clone()) }
        }],
    );
    breaks(
        "its response bound is the longest response",
        &[
            |plan, by| add(&mut plan.tasks[0].response_bound, by),
            |plan, by| add(&mut plan.tasks[1].response_bound, by),
            |plan, by| add(&mut plan.tasks[2].response_bound, by),
        ],
    );
    breaks(
        "it fills the first message that it can",
        &[|plan, by| plan.tasks[0].instances[0].writes[0] += by],
    );
    breaks(
        "it reads the freshest message that it can",
        &[|plan, by| plan.tasks[1].instances[0].reads[0] += by],
    );
    breaks(
        "a best-effort channel has no planned message",
        &[|plan, by| plan.tasks[2].instances[1].writes[0] = by.max(0)],
    );
    breaks(
        "its window follows from its declaration and its messages",
        &[
            |plan, by| add(&mut plan.tasks[0].instances[0].earliest, by),
            |plan, by| add(&mut plan.tasks[0].instances[0].latest, by),
            |plan, by| add(&mut plan.tasks[1].instances[0].earliest, by),
            |plan, by| add(&mut plan.tasks[1].instances[0].latest, by),
            |plan, by| add(&mut plan.tasks[2].instances[1].earliest, by),
            |plan, by| add(&mut plan.tasks[2].instances[1].latest, by),
        ],
    );
    breaks(
        "it runs within its window, in one piece unless preemptible",
        &[
            |plan, _| plan.tasks[2].instances[0].segments.clear(),
            |plan, _| {
                let Segment { start, end } = plan.tasks[2].instances[0].segments[0];
                let parts = [(start, start + Nanos(4)), (start + Nanos(6), end + Nanos(2))];
                plan.tasks[2].instances[0].segments =
                    parts.map(|(start, end)| Segment { start, end }).to_vec();
            },
            |plan, _| {
                let segment = &mut plan.tasks[2].instances[0].segments[0];
                segment.end = segment.start;
            },
        ],
    );
    breaks(
        "it runs for its budget and every cost charged to it",
        &[|plan, by| lengthen(plan, 1, by), |plan, by| lengthen(plan, 2, by)],
    );
}

#[test]
fn transfers_buffers_and_ages() {
    breaks(
        "each transfer has its insertion limit and its visibility",
        &[
            |plan, by| add(&mut plan.channels[0].instances[0].insert_by, by),
            |plan, by| add(&mut plan.channels[0].instances[0].visible_at, by),
            |plan, by| {
                let instances = &mut plan.channels[0].instances;
                if by < 0 { instances.clear() } else { instances.push(instances[0]) }
            },
        ],
    );
    breaks(
        "a buffer is always free, and none is wasted",
        &[|plan, by| plan.channels[0].buffers = plan.channels[0].buffers.wrapping_add_signed(by as i32)],
    );
    breaks(
        "its latency bound is the oldest message's age",
        &[|plan, by| add(&mut plan.channels[0].latency_bound, by)],
    );
    breaks(
        "a channel without a table has no transfers, and the bound of what serves it, within its deadline",
        &[
            |plan, _| plan.channels[1].instances = plan.channels[0].instances.clone(),
            |plan, by| plan.channels[1].latency_bound = Nanos(50 + by),
            |plan, by| plan.channels[1].buffers = plan.channels[1].buffers.wrapping_add_signed(by as i32),
        ],
    );
}

#[test]
fn the_accounts_of_cores() {
    breaks(
        "use, rest and longest gap are right",
        &[
            |plan, by| add(&mut plan.cores[0].used, by),
            |plan, by| add(&mut plan.cores[0].left, by),
            |plan, by| add(&mut plan.cores[0].longest_gap, by),
            |plan, by| add(&mut plan.cores[1].used, by),
            |plan, by| add(&mut plan.cores[1].left, by),
            |plan, by| add(&mut plan.cores[1].longest_gap, by),
        ],
    );
    breaks(
        "what work beside the table may use is right",
        &[|plan, by| add(&mut plan.cores[0].sporadic, by), |plan, by| add(&mut plan.cores[1].sporadic, by)],
    );
    breaks(
        "its order is the least above all that it interrupts",
        &[|plan, _| plan.tasks[0].order += 1, |plan, _| plan.tasks[2].order += 1],
    );
}

#[test]
fn work_beside_the_table() {
    breaks(
        "its level is the number of lower priorities",
        &[
            |plan, _| plan.sporadics[0].level += 1,
            |plan, by| plan.sporadics[1].level = plan.sporadics[1].level.wrapping_add_signed(by as i16),
        ],
    );
    breaks(
        "its bound is the longest response",
        &[
            |plan, by| add(&mut plan.sporadics[0].response_bound, by),
            |plan, by| add(&mut plan.sporadics[1].response_bound, by),
        ],
    );
}

/// Declarations that no planner accepts are not accepted with a plan either.
#[test]
fn declarations_that_have_no_plan() {
    let refused = |rule: &str, change: fn(&mut Job)| {
        let mut job = job();
        let mut planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
        change(&mut job);
        (planned.costs, planned.job_digest) = (job.costs, digest(&job));
        let found = checker::check(&planned, &job).expect_err("it has no plan");
        assert!(found.iter().any(|violation| violation.rule == rule), "{found:?} and not: {rule}");
    };
    let below_zero = "it assumes the job's costs, none below zero";
    refused(below_zero, |job| job.costs.guard = Nanos(-1));
    refused(below_zero, |job| job.costs.switch = Nanos(-1));
    refused(below_zero, |job| job.costs.preemption = Nanos(-1));
    refused(below_zero, |job| job.costs.publish = Nanos(-1));
    refused(below_zero, |job| job.costs.copy_per_kib = Nanos(-1));
    refused(below_zero, |job| job.costs.clock_error = Nanos(-1));
    let unknown = "its tasks use channels that exist";
    refused(unknown, |job| job.tasks[2].reads = vec![ChannelId(2)]);
    refused(unknown, |job| job.tasks[2].writes = vec![ChannelId(2)]);
    let started = "work is started by channels that exist, at positive intervals";
    refused("it runs on the core that it asked for", |job| job.sporadics[0].core = CoreChoice::Pinned(0));
    refused(started, |job| job.sporadics[1].start = Start::Message(ChannelId(2)));
    refused(started, |job| job.sporadics[1].start = Start::Request(ChannelId(2)));
    refused(started, |job| job.sporadics[1].interval = Some(Nanos::ZERO));
    refused(started, |job| job.sporadics[0].interval = Some(Nanos(-1)));
}

/// The table takes the whole core, and its only stretch reaches to its own beginning.
#[test]
fn work_beside_a_table_that_leaves_nothing() {
    let mut job = empty(&[0], guard_only(0));
    job.tasks.push(task("all", CoreChoice::Pinned(0), 100, (0, 100), 100));
    let mut planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(checker::check(&planned, &job), Ok(()));
    job.sporadics.push(sporadic("beside", CoreChoice::Pinned(0), 1, (1_000, 500), 1));
    let response_bound = Nanos(500);
    planned.sporadics.push(PlannedSporadic { sporadic: 0, core: 0, level: 0, response_bound });
    planned.job_digest = digest(&job);
    let found = checker::check(&planned, &job).expect_err("there is no time for it");
    assert_eq!(found[0].rule, "no more than its share is used", "{found:?}");
}
