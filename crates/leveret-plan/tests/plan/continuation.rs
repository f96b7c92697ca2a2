//! Channels and tasks that go on from one plan in another.

use crate::common::{empty, guard_only, task, time_driven};
use leveret_plan::{
    ContinuationConflict, CoreChoice, InstancesBefore, Job, Kept, OverrunPolicy, Placement, Plan, Qos,
    continuation, plan,
};
use leveret_types::{ByteSize, ChannelId, Nanos, TaskId};

const PERIOD: i64 = 1_000;

fn planned(job: Job) -> (Job, Plan) {
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    (job, planned)
}

/// "talk" on core 0 sends on "words", which "hear" on core 1 takes in these windows.
fn pair(talk: (i64, i64), hear: (i64, i64)) -> Job {
    let mut job = empty(&[0, 1], guard_only(50));
    job.channels.push(time_driven("words", (0, 0), PERIOD, (100, 900)));
    job.tasks.push(task("talk", CoreChoice::Pinned(0), PERIOD, talk, 50));
    job.tasks.push(task("hear", CoreChoice::Pinned(1), PERIOD, hear, 50));
    job.tasks[0].writes = vec![ChannelId(0)];
    job.tasks[1].reads = vec![ChannelId(0)];
    job
}

/// All of [`pair`], where it stands behind so many other tasks and channels.
fn all(tasks: u16, channels: u16) -> Kept {
    Kept {
        channels: vec![ChannelId(channels)],
        tasks: vec![TaskId(tasks), TaskId(tasks + 1)],
        works: Vec::new(),
    }
}

fn check(before: Job, after: Job, kept: &Kept) -> Vec<ContinuationConflict> {
    let (before, after) = (planned(before), planned(after));
    continuation((&before.0, &before.1), (&after.0, &after.1), kept).err().unwrap_or_default()
}

// spec: MODE-KEEP-01, MODE-COMMIT-01
#[test]
fn what_is_declared_alike_goes_on_beside_anything_else() {
    let before = pair((100, 300), (0, 400));
    assert_eq!(check(before.clone(), before.clone(), &all(0, 0)), []);
    // Another hyperperiod, and other numbers of tasks and channels.
    let mut after = pair((100, 300), (0, 400));
    for task in &mut after.tasks {
        let ends = task.reads.iter_mut().chain(&mut task.writes);
        ends.for_each(|channel| *channel = ChannelId(1));
    }
    after.channels.insert(0, time_driven("other", (0, 0), PERIOD, (100, 900)));
    after.tasks.insert(0, task("slow", CoreChoice::Any, 3 * PERIOD, (0, 3 * PERIOD), 90));
    assert_eq!(check(before.clone(), after.clone(), &all(1, 1)), []);
    assert_eq!(check(after, before, &all(0, 0)), []);
}

#[test]
fn what_is_altered_is_named_with_both_values() {
    let before = || pair((100, 300), (0, 400));
    let told = |after: Job| -> Vec<String> {
        check(before(), after, &all(0, 0)).iter().map(ToString::to_string).collect()
    };
    let changed = |change: fn(&mut Job)| {
        let mut after = before();
        change(&mut after);
        told(after)
    };
    let window = changed(|job| job.tasks[0].deadline = Nanos(299));
    assert_eq!(window.len(), 1);
    assert!(window[0].contains("task \"talk\"") && window[0].contains("window"), "{window:?}");
    assert!(
        window[0].contains("window differs: [100ns, 300ns] in what runs, [100ns, 299ns] in the mode"),
        "{window:?}"
    );
    assert!(changed(|job| job.tasks[1].budget = Nanos(51))[0].contains("budget"));
    assert!(changed(|job| job.channels[0].size = ByteSize(8))[0].contains("size"));
    let qos = changed(|job| {
        job.channels[0].qos = Qos::BestEffort;
        (job.tasks[0].writes, job.tasks[1].reads) = Default::default();
    });
    assert!(qos[0].contains("channel \"words\"") && qos[0].contains("quality of service"), "{qos:?}");
    let words = "time-driven, period 1us, window [100ns, 900ns], a missing message is skipped in what runs, best effort in the mode";
    assert!(qos[0].contains(words), "{qos:?}");
    let other = changed(|job| {
        job.tasks[0].overrun = OverrunPolicy::Late;
        job.channels[0].placement = Placement::Aliased;
    });
    assert!(
        other[0]
            .contains("separate buffers at the two ends in what runs, one buffer for both ends in the mode")
    );
    assert!(other[1].contains("overrun policy differs: skip in what runs, late in the mode"), "{other:?}");
    let renamed = changed(|job| job.tasks[0].name = "speak".to_owned());
    assert_eq!(renamed.len(), 1);
    assert!(renamed[0].contains("\"speak\"") && renamed[0].contains("not part of what runs"), "{renamed:?}");
}

/// A reader that is not kept itself may still meet other messages of a channel that is.
#[test]
fn no_message_is_passed_over_or_met_twice() {
    let only_channel = Kept { channels: vec![ChannelId(0)], ..Kept::default() };
    // Each instance sees the message of the period before; in the mode that of its own.
    let (early, late) = (pair((100, 300), (0, 400)), pair((100, 300), (900, 1_000)));
    let conflicts = check(early.clone(), late.clone(), &only_channel);
    let [ContinuationConflict::OtherMessages { channel, task }] = &conflicts[..] else {
        panic!("{conflicts:?}")
    };
    assert_eq!((channel.as_str(), task.as_str()), ("words", "hear"));
    assert!(!check(late, early, &only_channel).is_empty());
}

#[test]
fn a_last_instance_ends_before_the_first_begins_on_whatever_core() {
    let only_task = Kept { tasks: vec![TaskId(0)], ..Kept::default() };
    let on = |core: u32, window: (i64, i64), budget: i64| {
        let mut job = empty(&[0, 1], guard_only(50));
        job.tasks.push(task("long", CoreChoice::Pinned(core), PERIOD, window, budget));
        job
    };
    assert_eq!(
        check(on(0, (600, 1_000), 400), on(1, (0, 400), 400), &only_task).len(),
        1,
        "the window differs"
    );
    // Into the next period: on core 0 to 200 after the switch, on core 1 from 500 before that.
    let before = on(0, (700, 1_200), 500);
    assert_eq!(check(before.clone(), on(1, (700, 1_200), 500), &only_task), []);
    let after = on(1, (100, 650), 500);
    let conflicts = check(before, after, &only_task);
    assert!(
        conflicts.iter().any(|conflict| matches!(
            conflict,
            ContinuationConflict::Meets { ends, starts, .. } if *ends == Nanos(200) && *starts < *ends
        )),
        "{conflicts:?}"
    );
}

/// The messages of a channel with a hundred readers' time in between need more buffers than two.
#[test]
fn buffers_are_those_that_there_are() {
    let only_channel = Kept { channels: vec![ChannelId(0)], ..Kept::default() };
    let mut before = pair((100, 300), (0, 400));
    before.channels[0].buffers = 2;
    let mut after = before.clone();
    after.channels[0].buffers = 5;
    let conflicts = check(before, after, &only_channel);
    let expected = ContinuationConflict::Buffers { channel: "words".to_owned(), has: 2, needs: 5 };
    assert_eq!(conflicts, [expected]);
    assert!(conflicts[0].to_string().contains("its 2 buffers, and would need 5"));
}

#[test]
fn instances_of_what_goes_on_are_counted_over_every_epoch() {
    let first = planned(pair((100, 300), (0, 400)));
    let mut longer = pair((100, 300), (0, 400));
    for task in &mut longer.tasks {
        let ends = task.reads.iter_mut().chain(&mut task.writes);
        ends.for_each(|channel| *channel = ChannelId(1));
    }
    longer.channels.insert(0, time_driven("other", (0, 0), PERIOD, (100, 900)));
    longer.tasks.insert(0, task("slow", CoreChoice::Any, 3 * PERIOD, (0, 3 * PERIOD), 90));
    let longer = planned(longer);
    let none = InstancesBefore::default();
    let second = none.next((&first.0, &first.1), 7, &longer.0, &all(1, 1));
    assert_eq!(second, InstancesBefore { tasks: vec![0, 7, 7], channels: vec![0, 7] });
    // Three of each in a round of that, and what began there begins to count.
    let third = second.next((&longer.0, &longer.1), 2, &first.0, &all(0, 0));
    assert_eq!(third, InstancesBefore { tasks: vec![13, 13], channels: vec![13] });
    let alone = Kept { tasks: vec![TaskId(1)], ..Kept::default() };
    let fourth = third.next((&first.0, &first.1), 1, &first.0, &alone);
    assert_eq!(fourth, InstancesBefore { tasks: vec![0, 14], channels: vec![0] });
}
