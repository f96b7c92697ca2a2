//! What moves once, at an absolute time, in a table that repeats.

use crate::{end, manifest, meet, refused, sized, us};
use leveret_plan::{MissingPolicy, Qos};
use leveret_protocol::admission::without_shots;
use leveret_protocol::assemble::Assembled;
use leveret_protocol::declaration::*;
use leveret_types::{ChannelId, Nanos};

fn at(start: i64, deadline: i64) -> Qos {
    let (release, deadline) = (us(start), us(deadline));
    Qos::TimeDriven { period: Nanos::ZERO, release, deadline, missing: MissingPolicy::Skip }
}

fn mover(name: &str, window: [i64; 2]) -> TaskDeclaration {
    TaskDeclaration {
        name: name.to_owned(),
        period: Some(Nanos::ZERO),
        release: Some(us(window[0])),
        deadline: Some(us(window[1])),
        budget: Some(us(20)),
        once: true,
        ..TaskDeclaration::default()
    }
}

/// A sends to B once in each of these windows; both have a mover for each.
fn shots(windows: &[[i64; 2]]) -> Vec<MemberDeclarations> {
    let mut members = vec![MemberDeclarations::default(); 3];
    for (number, [start, deadline]) in windows.iter().copied().enumerate() {
        let name = format!("shot-{number}");
        let channel = ChannelDeclaration { name: name.clone(), qos: Some(at(start, deadline)), ..sized() };
        members[0].ends.push(end(End::Source, channel.clone()));
        members[1].ends.push(end(End::Target, channel));
        let sends = mover(&format!("A:{number}"), [start, deadline]);
        members[0].tasks.push(TaskDeclaration { writes: vec![name.clone()], ..sends });
        let takes = mover(&format!("B:{number}"), [deadline, deadline + 10_000]);
        members[1].tasks.push(TaskDeclaration { reads: vec![name], ..takes });
    }
    members
}

/// Beside these, a task with a period.
fn beside(period: i64, mut members: Vec<MemberDeclarations>) -> Vec<MemberDeclarations> {
    members[2].tasks.push(TaskDeclaration {
        name: "C.work".to_owned(),
        period: Some(us(period)),
        budget: Some(us(100)),
        ..TaskDeclaration::default()
    });
    members
}

fn window_of(assembled: &Assembled, channel: usize) -> [Nanos; 3] {
    match assembled.job.channels[channel].qos {
        Qos::TimeDriven { period, release, deadline, .. } => [period, release, deadline],
        _ => panic!("a single shot is time-driven"),
    }
}

// spec: QOS-TIME-START-02
#[test]
fn the_epoch_brings_a_round_to_each_shot() {
    // Rounds of 5 ms; the second and the third shot come 7 and 1003 ms after the first.
    let windows = [[50_000, 51_000], [57_000, 58_500], [1_053_000, 1_054_000]];
    let assembled = meet(&manifest(), &beside(5_000, shots(&windows)));
    let found: Vec<_> = (0..3).map(|channel| window_of(&assembled, channel)).collect();
    let expected = [[5_000, 0, 1_000], [5_000, 2_000, 3_500], [5_000, 3_000, 4_000]];
    assert_eq!(found, expected.map(|times| times.map(us)));
    let round = us(5_000);
    for earliest in [us(3), us(44_999), us(45_000), us(45_001), us(50_000)] {
        let epoch = assembled.epoch(earliest, round).expect("before the first shot");
        assert!(earliest <= epoch && epoch < earliest + round, "{earliest} {epoch}");
        for shot in &assembled.shots {
            let [period, release, deadline] = window_of(&assembled, shot.channel.index());
            // The rounds before it are whole.
            let instance = (shot.at - epoch - release).0 / period.0;
            let begin = epoch + period.saturating_mul(instance);
            assert_eq!([begin + release, begin + deadline], shot.window);
        }
    }
    let late = assembled.epoch(us(50_001), round).expect_err("the first shot cannot be met");
    assert_eq!((late.channel, late.window), (ChannelId(0), [us(50_000), us(51_000)]));
}

#[test]
fn the_place_of_a_shot_depends_on_no_clock() {
    let near = meet(&manifest(), &beside(5_000, shots(&[[50_000, 51_000], [57_000, 58_500]])));
    let far = meet(&manifest(), &beside(5_000, shots(&[[9_123_456, 9_124_456], [9_130_456, 9_131_956]])));
    assert_eq!(near.job, far.job);
}

#[test]
fn a_window_longer_than_a_round_counts_with_its_end() {
    let assembled = meet(&manifest(), &beside(5_000, shots(&[[50_000, 90_000]])));
    assert_eq!(window_of(&assembled, 0), [5_000, 0, 5_000].map(us));
    let shot = &assembled.shots[0];
    assert_eq!((shot.at, shot.window), (us(85_000), [us(50_000), us(90_000)]));
    // The sender's mover has the channel's window, the receiver's comes within half a round.
    let task = |name: &str| {
        let task = assembled.job.tasks.iter().find(|task| task.name == name).expect("declared");
        [task.period, task.release, task.deadline]
    };
    assert_eq!(task("A:0"), [5_000, 0, 5_000].map(us));
    assert_eq!(task("B:0"), [5_000, 0, 2_500].map(us));
    assert_eq!(shot.until, us(92_500));
    // Where nothing is periodic there is a round all the same.
    let alone = meet(&manifest(), &shots(&[[50_000, 950_000]]));
    assert_eq!(window_of(&alone, 0), [100_000, 0, 100_000].map(us));
}

#[test]
fn what_repeats_cannot_move_what_happens_once() {
    let mut code = shots(&[[50_000, 51_000]]);
    let task = &mut code[0].tasks[0];
    (task.once, task.period) = (false, Some(us(5_000)));
    (task.release, task.deadline) = (None, None);
    let errors = leveret_protocol::assemble::assemble(&manifest(), &code, leveret_plan::Costs::default());
    let text = crate::text(&errors.expect_err("a task with a period writes a shot"));
    assert!(text.contains("task \"A:0\"") && text.contains("channel \"shot-0\""), "{text}");
    let mut code = shots(&[[50_000, 51_000]]);
    code[1].tasks.clear();
    refused(&manifest(), &code, &["channel \"shot-0\"", "moves once", "give it a period"]);
    let mut code = shots(&[]);
    let periodic = ChannelDeclaration { qos: Some(crate::every(1_000)), ..sized() };
    code[0].ends.push(end(End::Source, periodic.clone()));
    code[1].ends.push(end(End::Target, periodic));
    code[0].tasks.push(TaskDeclaration { writes: vec!["AB".to_owned()], ..mover("A:0", [1, 900]) });
    refused(&manifest(), &code, &["task \"A:0\"", "channel \"AB\""]);
}

/// In a mode and in a commit of a group, whose epoch others have set.
#[test]
fn a_shot_is_refused_where_the_epoch_is_bound() {
    for what in ["a mode", "the commit of a group"] {
        let shot = meet(&manifest(), &beside(5_000, shots(&[[50_000, 51_000]])));
        let refused = without_shots(&shot, what).expect_err("a shot");
        assert!(refused.mismatches.is_empty());
        let named =
            format!("channel \"shot-0\" of group \"world\" is a single shot, which {what} cannot have");
        assert!(refused.reason.starts_with(&named), "{}", refused.reason);
        let periodic = meet(&manifest(), &beside(5_000, vec![MemberDeclarations::default(); 3]));
        assert!(without_shots(&periodic, what).is_ok());
    }
}
