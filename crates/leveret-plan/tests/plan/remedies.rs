//! What a refusal proposes leads to an admitted job: each remedy is made and the whole job planned again.

use crate::common::generate::{Shape, jobs};
use crate::common::{US, empty, guard_only, ring, sporadic, task, time_driven};
use leveret_plan::{
    Change, CoreChoice, DeclarationKind, ExplainBudget, Job, Kept, MissingPolicy, Plan, Qos, Refusal, plan,
    plan_beside_keeping, plan_within,
};
use leveret_types::{ChannelId, MemberId, Nanos, TaskId};
use proptest::prelude::*;

/// Makes each remedy, and plans.
fn every_remedy_fits(job: &Job, refusal: &Refusal) {
    for remedy in &refusal.fits {
        let changed = remedy.apply(job).expect("the remedy names objects of the job");
        if let Err(next) = plan(&changed) {
            panic!("{remedy}\n--- was told of\n{refusal}\n--- and does not fit:\n{next}\n{job:#?}");
        }
    }
}

/// Without any one change that is a decision by itself the rest is refused. (Periods change with whatever hangs on them.)
fn no_part_is_needless(job: &Job, refusal: &Refusal) {
    for remedy in refusal.fits.iter().filter(|remedy| remedy.decisions() > 1) {
        for left_out in 0..remedy.changes.len() {
            let mut less = remedy.clone();
            if matches!(less.changes.remove(left_out), Change::Period { .. }) {
                continue;
            }
            assert!(less.apply(job).is_none_or(|changed| plan(&changed).is_err()), "{less} of {remedy}");
        }
    }
}

/// The ring with every period set to this, foreign tasks included.
fn ring_at(period: i64) -> Job {
    let mut job = ring(1_000);
    job.tasks.iter_mut().for_each(|task| task.period = Nanos(period));
    for channel in &mut job.channels {
        let Qos::TimeDriven { period: of_channel, .. } = &mut channel.qos else { continue };
        *of_channel = Nanos(period);
    }
    for foreign in &mut job.tasks[3..] {
        (foreign.release, foreign.deadline, foreign.budget) =
            (Nanos(4_400 * US), Nanos(4_475 * US), Nanos(20 * US));
    }
    job
}

#[test]
fn a_ring_that_is_too_fast_is_told_what_fits_the_whole_ring() {
    for period in [900, 500, 400, 300, 250, 200, 150, 125, 100, 75, 60] {
        let job = ring_at(period * US);
        let Err(refusal) = plan(&job) else { continue };
        every_remedy_fits(&job, &refusal);
        no_part_is_needless(&job, &refusal);
        let text = refusal.to_string();
        assert!(!refusal.fits.is_empty(), "{period} us: {text}");
        for change in refusal.fits.iter().flat_map(|remedy| &remedy.changes) {
            // The period of one of the ring is that of all.
            let Change::Period { object, to, .. } = change else { continue };
            let ends = ["A.user", "B.user", "C.user", "AB", "BC", "CA"];
            if !ends.contains(&object.name.as_str()) {
                continue;
            }
            let remedy =
                refusal.fits.iter().find(|remedy| remedy.changes.contains(change)).expect("it is of one");
            for end in ends {
                let is = |change: &Change| {
                    change.object().name == end
                        && matches!(change, Change::Period { to: other, .. } if other == to)
                };
                assert!(remedy.changes.iter().any(is), "{end} is left behind: {remedy}");
            }
        }
    }
}

#[test]
fn two_remedies_never_send_the_user_around() {
    // What was told first used to lead to a refusal that told of the way back.
    let job = ring_at(200 * US);
    let refusal = plan(&job).expect_err("A and C collide, and so do others");
    assert!(refusal.search.single_failed, "{refusal}");
    assert!(refusal.to_string().contains("no change of a single"), "{refusal}");
    let periods = refusal.fits.iter().any(|remedy| {
        remedy.changes.len() > 1
            && remedy.changes.iter().all(|change| matches!(change, Change::Period { .. }))
    });
    assert!(periods, "longer periods of all that must change together: {refusal}");
}

#[test]
fn a_reader_may_look_less_often_by_itself_and_a_writer_takes_its_channel_along() {
    let mut job = empty(&[0], guard_only(10));
    job.tasks.push(task("measure", CoreChoice::Pinned(0), 100, (0, 100), 45));
    job.tasks.push(task("control", CoreChoice::Pinned(0), 100, (100, 200), 45));
    job.channels.push(time_driven("level", (0, 0), 100, (0, 100)));
    (job.tasks[0].writes, job.tasks[1].reads) = (vec![ChannelId(0)], vec![ChannelId(0)]);
    let refusal = plan(&job).expect_err("110 of every 100");
    every_remedy_fits(&job, &refusal);
    let periods: Vec<Vec<&str>> = refusal
        .fits
        .iter()
        .filter(|remedy| matches!(remedy.changes[0], Change::Period { .. }))
        .map(|remedy| remedy.changes.iter().map(|change| change.object().name.as_str()).collect())
        .collect();
    assert!(periods.contains(&vec!["control"]), "{refusal}");
    // The control would take each measurement twice if it stayed as fast as it is.
    assert!(!periods.iter().any(|names| names.contains(&"measure") && names.len() < 3), "{refusal}");
}

/// A sender and a receiver that movers serve, and a task that is in their way.
fn moved() -> Job {
    let mut job = empty(&[0], guard_only(10));
    job.channels.push(time_driven("x", (0, 0), 1_000, (100, 200)));
    let mut sends = task("mover of x from m", CoreChoice::Pinned(0), 1_000, (100, 200), 60);
    (sends.mover, sends.writes) = (true, vec![ChannelId(0)]);
    let mut takes = task("mover of x to m", CoreChoice::Pinned(0), 1_000, (200, 700), 60);
    (takes.mover, takes.reads) = (true, vec![ChannelId(0)]);
    job.tasks = vec![task("busy", CoreChoice::Pinned(0), 1_000, (100, 200), 60), sends, takes];
    job
}

#[test]
fn movers_are_told_by_their_channels_and_follow_them() {
    let job = moved();
    let refusal = plan(&job).expect_err("two of 60 in 100");
    every_remedy_fits(&job, &refusal);
    assert!(refusal.conflict.iter().any(|declaration| declaration.mover), "{refusal}");
    let text = refusal.to_string();
    assert!(text.contains("`mover of x from m`") && text.contains("a mover is the library's"), "{text}");
    let changes = || refusal.fits.iter().flat_map(|remedy| &remedy.changes);
    assert!(changes().all(|change| !change.object().name.contains("mover")), "{text}");
    let moved = changes().find(|change| change.object().kind == DeclarationKind::Channel);
    let moved = moved.unwrap_or_else(|| panic!("the channel can be moved: {text}"));
    // What the library declared is where the channel is now.
    let changed = leveret_plan::Remedy::from(moved.clone()).apply(&job).expect("applies");
    let Qos::TimeDriven { release, deadline, .. } = changed.channels[0].qos else { panic!("time-driven") };
    assert_eq!((changed.tasks[1].release, changed.tasks[1].deadline), (release, deadline));
    assert_eq!((changed.tasks[2].release, changed.tasks[2].deadline), (deadline, deadline + Nanos(500)));
}

#[test]
fn a_search_that_ends_at_its_bound_says_so() {
    let job = ring_at(200 * US);
    let refusal =
        plan_within(&job, ExplainBudget { conflict: 20_000_000, changes: 64 }).expect_err("as before");
    assert!(refusal.fits.is_empty() && refusal.search.exhausted, "{refusal}");
    let text = refusal.to_string();
    assert!(text.contains("together within ") && text.contains("there may be one"), "{text}");
    let bottleneck = refusal.overload.is_some() || refusal.bottleneck.is_some();
    assert!(bottleneck && text.contains("is asked for"), "{text}");
}

#[test]
fn the_same_job_is_explained_alike() {
    for job in [ring_at(200 * US), ring_at(100 * US), moved()] {
        assert_eq!(plan(&job), plan(&job));
    }
}

const SMALL: Shape =
    Shape { cores: 2, tasks: 5, instances: 12, preemptible: true, channels: true, periods: &[8, 12, 24] };
const ODD: Shape =
    Shape { cores: 2, tasks: 4, instances: 60, preemptible: false, channels: true, periods: &[7, 9, 12, 20] };

/// Plans, with the tasks and channels of these bits kept.
fn plan_keeping(job: &Job, bits: u32) -> Result<Plan, Refusal> {
    let of =
        |shift: u32, count: usize| (0..count as u16).filter(move |index| bits >> shift >> index & 1 == 1);
    let kept = Kept {
        tasks: of(0, job.tasks.len()).map(TaskId).collect(),
        channels: of(8, job.channels.len()).map(ChannelId).collect(),
        works: of(16, job.sporadics.len()).collect(),
    };
    plan_beside_keeping(job, &[], &kept, ExplainBudget::default())
}

/// Whether a remedy changes nothing of those.
fn leaves(job: &Job, bits: u32, refusal: &Refusal) -> bool {
    let is_kept = |change: &Change| {
        let object = change.object();
        let task = job.tasks.iter().position(|task| task.name == object.name);
        let work = job.sporadics.iter().position(|work| work.name == object.name);
        let channel = job.channels.iter().position(|channel| object.name.contains(&channel.name));
        let place = match object.kind {
            DeclarationKind::Task => task.or(work.map(|place| place + 16)),
            DeclarationKind::Channel => channel.map(|place| place + 8),
        };
        place.is_none_or(|place| bits >> place & 1 == 1)
    };
    !refusal.fits.iter().flat_map(|remedy| &remedy.changes).any(is_kept)
}

/// Both ask for 60 % of one core: the one that is not kept must give.
#[test]
fn what_a_mode_keeps_is_not_proposed_to_change() {
    let mut job = empty(&[0, 1], guard_only(0));
    for name in ["old", "new"] {
        job.tasks.push(task(name, CoreChoice::Pinned(0), 1_000 * US, (0, 1_000 * US), 600 * US));
    }
    for kept in 0..2_u32 {
        let refusal = plan_keeping(&job, 1 << kept).expect_err("an overload");
        let text = refusal.to_string();
        every_remedy_fits(&job, &refusal);
        assert!(!refusal.fits.is_empty() && leaves(&job, 1 << kept, &refusal), "{text}");
        assert!(text.contains(["old", "new"][kept as usize]), "the conflict has both: {text}");
    }
    let refusal = plan_keeping(&job, 3).expect_err("an overload");
    assert_eq!(refusal.fits, [], "nothing may change: {refusal}");
}

/// The same of work beside the table: what else runs on its core may give, and the work may not.
#[test]
fn work_that_a_mode_keeps_is_not_proposed_to_change() {
    let mut job = empty(&[0, 1], guard_only(0));
    let interval = 1_000 * US;
    for (name, priority) in [("old", 2), ("new", 3)] {
        let (core, times) = (CoreChoice::Pinned(0), (interval, interval));
        job.sporadics.push(sporadic(name, core, priority, times, 600 * US));
    }
    for kept in 0..2_u32 {
        let refusal = plan_keeping(&job, 1 << 16 << kept).expect_err("too much");
        every_remedy_fits(&job, &refusal);
        assert!(!refusal.fits.is_empty() && leaves(&job, 1 << 16 << kept, &refusal), "{refusal}");
    }
    assert_eq!(plan_keeping(&job, 3 << 16).expect_err("too much").fits, []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_remedy_of_a_small_job_fits(job in jobs(SMALL)) {
        if let Err(refusal) = plan(&job) {
            every_remedy_fits(&job, &refusal);
            no_part_is_needless(&job, &refusal);
        }
    }

    #[test]
    fn no_remedy_changes_what_is_kept(job in jobs(SMALL), bits in any::<u32>()) {
        if let Err(refusal) = plan_keeping(&job, bits) {
            every_remedy_fits(&job, &refusal);
            prop_assert!(leaves(&job, bits, &refusal), "{refusal}");
        }
    }

    #[test]
    fn every_remedy_of_a_job_with_odd_periods_fits(job in jobs(ODD)) {
        if let Err(refusal) = plan(&job) {
            every_remedy_fits(&job, &refusal);
        }
    }

    #[test]
    fn every_remedy_of_a_pipeline_fits(
        windows in prop::collection::vec((0..6_i64, 2..8_i64, 1..6_i64, 0..2_u32), 2..6),
        period in 8..30_i64,
    ) {
        let job = pipeline(&windows, period);
        if leveret_plan::validate(&job).is_ok() && let Err(refusal) = plan(&job) {
            every_remedy_fits(&job, &refusal);
        }
    }
}

/// Stages that hand on a message each, all at one period: (gap before, window, budget, core).
fn pipeline(stages: &[(i64, i64, i64, u32)], period: i64) -> Job {
    let mut job = empty(&[0, 1], guard_only(1));
    let mut at = 0;
    for (index, (gap, window, budget, core)) in stages.iter().enumerate() {
        let from = at + gap;
        let until = from + window.max(budget);
        let mut stage = task(&format!("s{index}"), CoreChoice::Pinned(*core), period, (from, until), *budget);
        stage.member = MemberId(0);
        if index > 0 {
            stage.reads = vec![ChannelId(index as u16 - 1)];
        }
        if index + 1 < stages.len() {
            stage.writes = vec![ChannelId(index as u16)];
            let mut channel = time_driven(&format!("c{index}"), (0, 0), period, (until - 1, until + 2));
            if let Qos::TimeDriven { missing, .. } = &mut channel.qos {
                *missing = MissingPolicy::HoldLast;
            }
            job.channels.push(channel);
        }
        job.tasks.push(stage);
        at = until;
    }
    job
}
