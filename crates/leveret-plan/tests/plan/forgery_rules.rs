//! Each number of a plan, changed by the least that it can be: the checker names the rule that this number breaks.
//!
//! That some rule is broken would not do, since a change usually breaks several: a rule that is no longer asked for would not be missed.

use crate::common::{empty, guard_only, sporadic, task, time_driven};
use leveret_plan::{
    CoreChoice, Job, MissingPolicy, Plan, PlannedSporadic, Qos, Segment, Start, checker, digest, plan,
};
use leveret_types::{ChannelId, INSTANCES_MAX, Nanos, TaskId};
use proptest::prelude::*;

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
            |plan, _| {
                plan.cores.pop();
            },
            |plan, _| plan.cores.swap(0, 1),
        ],
    );
    breaks(
        "it covers all work beside the table in order",
        &[
            |plan, _| plan.sporadics.truncate(1),
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

/// One task at every nanosecond, and one in the whole round: as many instances as may be planned, and one more.
#[test]
fn no_more_instances_than_can_be_planned() {
    for (count, is_broken) in [(INSTANCES_MAX as i64, false), (INSTANCES_MAX as i64 + 1, true)] {
        let round = count - 1;
        let mut job = empty(&[0, 1], guard_only(0));
        job.tasks.push(task("whole", CoreChoice::Pinned(0), round, (0, round), 1));
        let mut planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
        job.tasks.push(task("often", CoreChoice::Pinned(1), 1, (0, 1), 1));
        let mut often = planned.tasks[0].clone();
        (often.task, often.core) = (TaskId(1), 1);
        planned.tasks.push(often);
        planned.job_digest = digest(&job);
        let rule = "its hyperperiod is the least common multiple";
        assert_eq!(rules_of(&planned, &job)[0] == rule, is_broken, "{count}");
    }
}

fn rules_of(plan: &Plan, job: &Job) -> Vec<String> {
    let found = checker::check(plan, job).expect_err("a forgery");
    found.into_iter().map(|violation| violation.rule).collect()
}

#[test]
fn a_task_of_any_core_runs_on_one_of_the_job_s() {
    let mut job = empty(&[0], guard_only(0));
    job.tasks.push(task("t", CoreChoice::Any, 100, (0, 100), 10));
    let mut planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    planned.tasks[0].core = 7;
    assert_eq!(rules_of(&planned, &job)[0], "it runs on the core it is pinned to, one of the job's");
}

/// Windows that reach into the next period: an instance ends a guard before the next one, also before the first of the next round.
#[test]
fn instances_of_one_task_follow_each_other() {
    let mut job = empty(&[0, 1], guard_only(3));
    job.tasks.push(task("t", CoreChoice::Pinned(0), 50, (3, 80), 10));
    job.tasks.push(task("other", CoreChoice::Pinned(1), 100, (3, 90), 10));
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    let rule = "it ends before the next one's guard".to_owned();
    for instance in 0..2 {
        let next = planned.tasks[0].instances[1 - instance].start() + Nanos(100 * instance as i64);
        for (end, is_broken) in [(next - Nanos(3), false), (next - Nanos(2), true)] {
            let mut forged = planned.clone();
            forged.tasks[0].instances[instance].segments = vec![Segment { start: end - Nanos(10), end }];
            assert_eq!(rules_of(&forged, &job).contains(&rule), is_broken, "instance {instance} until {end}");
        }
    }
}

#[test]
fn pieces_of_a_task_have_a_length_and_gaps_between_them() {
    let mut job = empty(&[0], guard_only(0));
    job.tasks.push(task("t", CoreChoice::Pinned(0), 100, (0, 100), 10));
    job.tasks[0].preemptible = true;
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    let rule = "it runs within its window, in one piece unless preemptible".to_owned();
    let pieces: [(&[(i64, i64)], bool); 4] = [
        (&[(0, 4), (6, 12)], false),
        (&[(0, 4), (4, 10)], true),
        (&[(0, 4), (6, 6), (8, 14)], true),
        (&[(6, 12), (0, 4)], true),
    ];
    for (pieces, is_broken) in pieces {
        let mut forged = planned.clone();
        let segments = pieces.iter().map(|(start, end)| Segment { start: Nanos(*start), end: Nanos(*end) });
        forged.tasks[0].instances[0].segments = segments.collect();
        let last = forged.tasks[0].instances[0].end();
        forged.tasks[0].response_bound = last;
        assert_eq!(rules_of(&forged, &job).contains(&rule), is_broken, "{pieces:?}");
    }
}

#[test]
fn a_message_that_a_task_does_not_see_is_named_with_its_instant() {
    let mut job = job();
    job.tasks[1].deadline = Nanos(95);
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    for (by, visible_at) in [(-1, "-49ns"), (1, "151ns"), (2, "251ns")] {
        let mut forged = planned.clone();
        forged.tasks[1].instances[0].reads[0] += by;
        let found = checker::check(&forged, &job).expect_err("a forgery");
        let rule =
            |violation: &&checker::Violation| violation.rule == "it reads the freshest message that it can";
        let found = found.iter().find(rule).expect("the rule").found.clone();
        assert_eq!(found, format!("message {by} of `ab`, visible at {visible_at}"));
    }
}

/// No task writes: messages are taken as their channel's release says, while instances of the reader begin and end at any time between.
#[test]
fn buffers_and_ages_of_a_channel_that_no_task_writes() {
    let mut jobs = 0;
    for (period, reads_every) in [(20, 20), (10, 40), (5, 40), (40, 20)] {
        for release in 0..period.min(8) {
            for (deadline, budget) in [(9, 3), (13, 11), (20, 1), (35, 12)] {
                let mut job = empty(&[0], guard_only(0));
                job.channels.push(time_driven("c", (0, 0), period, (release, release + deadline)));
                job.tasks.push(task("t", CoreChoice::Pinned(0), reads_every, (2, reads_every), budget));
                job.tasks[0].reads = vec![ChannelId(0)];
                let Ok(planned) = plan(&job) else { continue };
                jobs += 1;
                assert_eq!(checker::check(&planned, &job), Ok(()), "{job:?}");
                for by in [-1, 1] {
                    let mut forged = planned.clone();
                    forged.channels[0].buffers = forged.channels[0].buffers.wrapping_add_signed(by);
                    assert_eq!(rules_of(&forged, &job), ["a buffer is always free, and none is wasted"]);
                }
            }
        }
    }
    assert!(jobs > 20, "{jobs}");
}

/// One channel, with a writer, up to two readers, or neither, each at a rate of its own.
fn channels() -> impl Strategy<Value = Job> {
    let period = || prop_oneof![Just(10_i64), Just(20), Just(40)];
    let end = || (period(), 0..12_i64, 1..6_i64);
    let ends = (prop::option::of(end()), prop::collection::vec(end(), 0..=2));
    let channel = (period(), 0..8_i64, 1..60_i64, any::<bool>(), 0..4_i64);
    (ends, channel).prop_map(|((writer, readers), (period, release, length, holds, error))| {
        let mut job = empty(&[0, 1, 2], guard_only(0));
        job.costs.clock_error = Nanos(error / 3);
        let mut new = time_driven("c", (0, 0), period, (release, release + length));
        if let (true, Qos::TimeDriven { missing, .. }) = (holds, &mut new.qos) {
            *missing = MissingPolicy::HoldLast;
        }
        job.channels.push(new);
        let all = readers.into_iter().map(|end| (end, false)).chain(writer.map(|end| (end, true)));
        for (core, ((every, from, budget), writes)) in all.enumerate() {
            let name = format!("t{core}");
            let mut new = task(&name, CoreChoice::Pinned(core as u32), every, (from, every + 10), budget);
            (if writes { &mut new.writes } else { &mut new.reads }).push(ChannelId(0));
            job.tasks.push(new);
        }
        job
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// The planner and the checker count buffers and ages by themselves, and find the same: no more and no less is accepted.
    #[test]
    fn buffers_and_ages_are_the_ones_that_the_planner_finds(job in channels()) {
        let Ok(planned) = plan(&job) else { return Ok(()) };
        prop_assert_eq!(checker::check(&planned, &job), Ok(()));
        for by in [-1, 1] {
            let mut forged = planned.clone();
            forged.channels[0].buffers = forged.channels[0].buffers.wrapping_add_signed(by);
            prop_assert_eq!(rules_of(&forged, &job), ["a buffer is always free, and none is wasted"]);
            forged = planned.clone();
            add(&mut forged.channels[0].latency_bound, i64::from(by));
            prop_assert_eq!(rules_of(&forged, &job), ["its latency bound is the oldest message's age"]);
        }
    }
}
