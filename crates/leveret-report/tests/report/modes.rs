//! A record of several phases, of which one goes on with what the one before had.

use leveret_plan::Qos;
use leveret_report::Report;
use leveret_report::record::{Event, EventKind, Outcome, Phase, RunRecord};
use leveret_report::synthetic::{B, Plant, Ring, ring};
use leveret_report::verdict::{Cause, Miss, Party, Subject, assess, verdicts};
use leveret_report::why::why;
use leveret_types::Nanos;
use std::collections::BTreeSet;

const ROUNDS: u64 = 300;

fn record(sizes: &[u32], plants: Vec<(u64, Plant)>) -> RunRecord {
    ring(&Ring { rounds: ROUNDS, sizes: sizes.to_vec(), plants, ..Ring::default() })
}

/// The phase as it is of tasks and channels that had so many instances before its epoch.
fn go_on_from(phase: &mut Phase, before: u64) {
    for task in &mut phase.tasks {
        task.before = before;
        task.instances.iter_mut().for_each(|instance| instance.instance += before);
    }
    for channel in &mut phase.channels {
        channel.before = before;
        channel.messages.iter_mut().for_each(|message| message.instance += before);
    }
    for event in &mut phase.events {
        if let EventKind::Overrun { instance, .. } = &mut event.kind {
            *instance += before;
        }
    }
}

/// What is judged of a miss, whatever its instance is called.
#[derive(PartialEq, Debug)]
struct Judged {
    subject: Subject,
    late_by: Option<Nanos>,
    cause: Cause,
    party: Party,
    root: Option<(String, Cause)>,
    marks: usize,
}

fn judged(miss: &Miss) -> Judged {
    let root = miss.root.as_ref().map(|root| (root.name.clone(), root.cause));
    let Miss { subject, late_by, cause, party, .. } = *miss;
    Judged { subject, late_by, cause, party, root, marks: miss.timeline.len() }
}

fn every_plant() -> Vec<(u64, Plant)> {
    let by = Nanos::from_micros(700);
    vec![
        (40, Plant::LateTimer { task: B, by }),
        (80, Plant::Stopped { task: B, by }),
        (120, Plant::Overrun { task: B, by }),
        (160, Plant::Hog { task: B, priority: 90, by }),
    ]
}

#[test]
fn instances_that_are_numbered_on_are_judged_as_they_were() {
    let first = record(&[4], every_plant());
    let mut later = first.clone();
    go_on_from(&mut later.phases[0], 1_000_001);
    let (expected, found) = (verdicts(&first), verdicts(&later));
    assert!(expected.len() >= 4, "{expected:#?}");
    assert_eq!(expected.iter().map(judged).collect::<Vec<_>>(), found.iter().map(judged).collect::<Vec<_>>());
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected.instance + 1_000_001, found.instance);
        let root = |miss: &Miss| miss.root.as_ref().map(|root| root.instance);
        assert_eq!(root(expected).map(|instance| instance + 1_000_001), root(found));
    }
    assert_eq!(assess(&later).irregularities, assess(&first).irregularities);
    let page = leveret_report::html::page(&Report::of(&later));
    assert!(page.contains("\"first\":1000001"));
}

#[test]
fn an_instance_has_one_number_in_all_phases() {
    let mut run = record(&[4, 8], Vec::new());
    go_on_from(&mut run.phases[1], ROUNDS);
    let report = Report::of(&run);
    for (instance, phase) in [(ROUNDS - 1, "4 B"), (ROUNDS, "8 B"), (2 * ROUNDS - 1, "8 B")] {
        for name in ["B.user", "a-to-b"] {
            let text = why(&report, name, instance).expect("it is there");
            assert_eq!(
                text.matches("instance").count(),
                text.matches(&format!("instance {instance}")).count()
            );
            assert_eq!(text.matches("phase \"").count(), 1, "{text}");
            assert!(text.contains(&format!("phase \"{phase}\"")), "{text}");
        }
    }
}

#[test]
fn a_stop_from_before_the_epoch_is_the_cause_after_it() {
    let by = Nanos::from_micros(600);
    let mut run = record(&[4], vec![(0, Plant::Stopped { task: B, by })]);
    let stop =
        run.phases[0].events.iter_mut().find(|event| matches!(event.kind, EventKind::MemberStopped { .. }));
    stop.expect("it was planted").at = Nanos::from_millis(-500);
    let misses = verdicts(&run);
    let miss = misses.iter().find(|miss| miss.subject == Subject::Task(B)).expect("it is late");
    assert_eq!((miss.instance, miss.cause, miss.party), (0, Cause::StoppedMember, Party::Job), "{miss:#?}");
    assert!(miss.evidence[0].contains("was stopped by a signal 500ms before the epoch"), "{miss:#?}");
    // What is not told of cannot be its cause.
    run.phases[0].events.clear();
    let misses = verdicts(&run);
    let miss = misses.iter().find(|miss| miss.subject == Subject::Task(B)).expect("it is late");
    assert_eq!(miss.cause, Cause::LateTimer, "{miss:#?}");
}

/// B stands still in the last instance of a phase, for whose end the first ones of the next, which goes on with it, wait in vain.
#[test]
fn what_held_up_the_last_instance_before_a_switch_is_the_cause_of_those_after_it() {
    let by = Nanos::from_micros(600);
    let mut run = record(&[4, 8], vec![(ROUNDS - 1, Plant::Stopped { task: B, by })]);
    let began = run.phases[0].epoch_monotonic;
    run.phases[1].epoch_monotonic = began + Nanos::from_millis(ROUNDS as i64);
    go_on_from(&mut run.phases[1], ROUNDS);
    let last = run.phases[0].tasks[B].instances.last_mut().expect("it ran");
    last.ended = last.ended + Nanos::from_millis(2);
    for skipped in &mut run.phases[1].tasks[B].instances[..2] {
        skipped.outcome = Outcome::SkippedOverrun;
        // It waited until it would have been too late.
        (skipped.started, skipped.ended) = (skipped.deadline, skipped.deadline);
    }
    let of_b = |run: &RunRecord| -> Vec<(usize, u64, Cause, Cause)> {
        let misses = verdicts(run);
        let own = misses.iter().filter(|miss| miss.subject == Subject::Task(B));
        let root = |miss: &Miss| miss.root.as_ref().map_or(miss.cause, |root| root.cause);
        own.map(|miss| (miss.phase, miss.instance, miss.cause, root(miss))).collect()
    };
    let stopped = Cause::StoppedMember;
    let after = |instance| (1, instance, Cause::PreviousInstance, stopped);
    assert_eq!(of_b(&run), [(0, ROUNDS - 1, stopped, stopped), after(ROUNDS), after(ROUNDS + 1)]);
    // Where the phase before has no such instance nothing else is known.
    run.phases[0].tasks[B].instances.pop();
    assert_eq!(of_b(&run)[0], (1, ROUNDS, Cause::Overrun, Cause::Overrun));
}

#[test]
fn instances_of_which_nothing_is_known_are_no_kept_windows() {
    let mut run = record(&[4], Vec::new());
    run.phases[0].tasks[B].instances.truncate(200);
    let report = Report::of(&run);
    assert_eq!(report.assessment.misses, []);
    let unknown = ROUNDS - 1 - 200;
    let told = format!("no miss is known, and of {unknown} instances nothing is; ");
    assert!(report.conclusion().starts_with(&told), "{}", report.conclusion());
    let whole = record(&[4], Vec::new());
    assert_eq!(Report::of(&whole).conclusion(), "no miss; nothing lost, corrupt or out of order");
}

#[test]
fn the_bare_timer_is_told_by_its_core_and_period() {
    let mut run = record(&[4, 8, 16], Vec::new());
    run.phases[1].alone.period = Nanos::from_millis(7);
    let report = Report::of(&run);
    let rows = &report.statistics.machine_alone;
    let told: Vec<(i64, u64)> = rows.iter().map(|row| (row.period_ns.0, row.lateness_ns.count)).collect();
    assert_eq!(told, [(1_000_000, 2 * ROUNDS / 3), (7_000_000, ROUNDS / 3)]);
    let table = leveret_report::text::table(&report);
    for period in ["1ms", "7ms"] {
        let line = format!(
            "the machine alone: a bare clock_nanosleep every {period} on core 1 (SCHED_FIFO 1) was late"
        );
        assert_eq!(table.matches(&line).count(), 1, "{table}");
    }
}

/// Every channel event-driven, with every 64th message from -3 ms on, and a mode that goes on with them.
fn event_driven() -> RunRecord {
    let mut run = record(&[4, 8, 16], Vec::new());
    let qos = Qos::EventDriven { start: None, completion: None, priority: 9, interval: None, deadline: None };
    for (number, phase) in run.phases.iter_mut().enumerate() {
        phase.job.channels.iter_mut().for_each(|channel| channel.qos = qos.clone());
        for channel in &mut phase.channels {
            channel.messages.truncate(3);
            for (place, message) in channel.messages.iter_mut().enumerate() {
                message.instance = (3 * number + place) as u64 * 64;
                message.due = Nanos::from_millis(-3 + 2 * place as i64);
                (message.inserted, message.taken) = (Some(message.due), Some(message.due + Nanos(2_500)));
            }
            (channel.sent, channel.taken) = (Some(170), Some(170));
        }
    }
    run
}

#[test]
fn a_message_that_nothing_was_planned_for_is_told_by_what_was_measured() {
    let run = event_driven();
    let report = Report::of(&run);
    let text = why(&report, "a-to-b", 64).expect("it is recorded");
    assert_eq!(text.matches("planned").count(), 0, "{text}");
    for words in
        ["1ms before ", "measured: inserted (4 bytes)", "measured: taken, 2.5us after it was inserted"]
    {
        assert!(text.contains(words), "{words:?} in {text}");
    }
    assert!(!text.contains(" -"), "nothing is negative: {text}");
    assert!(text.contains("it has no window: its channel is event-driven"), "{text}");
    let table = leveret_report::text::table(&report);
    assert!(table.contains("170 (3 recorded)"), "{table}");
}

#[test]
fn a_message_that_is_not_recorded_is_told_with_the_nearest_and_each_sentence_once() {
    let run = event_driven();
    let report = Report::of(&run);
    let told = why(&report, "a-to-b", 220).expect_err("it is not recorded").to_string();
    for (words, times) in [
        (
            "of a channel that the clock does not move the first message and every 64th after it is recorded",
            1,
        ),
        ("of a time-driven one each would be", 1),
        ("where 170 were sent and 170 taken", 3),
        ("phase \"8 B\" has 192 to 320", 1),
        ("; the nearest that is recorded is instance 192, in phase \"8 B\"", 1),
    ] {
        assert_eq!(told.matches(words).count(), times, "{words:?} in {told}");
    }
}

#[test]
fn no_cause_of_a_miss_is_told_twice() {
    let run = record(&[4], every_plant());
    for miss in verdicts(&run) {
        let unique: BTreeSet<&String> = miss.evidence.iter().collect();
        assert_eq!(unique.len(), miss.evidence.len(), "{miss:#?}");
    }
    // An event that two readers of it had noted.
    let mut twice = run.clone();
    let events = run.phases[0].events.iter();
    twice.phases[0].events = events.flat_map(|event| [event.clone(), event.clone()]).collect();
    let text = why(&Report::of(&twice), "B.user", 80).expect("it is there");
    assert_eq!(text.matches("event: member B went on").count(), 1, "{text}");
}

#[test]
fn phases_with_one_label_are_told_apart_on_the_page() {
    let mut run = record(&[4, 8, 16], Vec::new());
    run.phases[2].label = "4 B".to_owned();
    run.phases[1].rounds = 0;
    let page = leveret_report::html::page(&Report::of(&run));
    for words in ["Tasks, 4 B (1)", "Tasks, 8 B", "Tasks, 4 B (2)"] {
        assert_eq!(page.matches(&format!("<caption>{words}</caption>")).count(), 1, "{words}");
    }
    assert!(!page.contains("0\u{a0}at\u{a0}8\u{a0}B"), "nothing ran in rounds there");
}

#[test]
fn a_death_around_a_switch_is_told_once_in_the_phase_in_which_it_was() {
    for (since_second, told) in [(-20, 0), (0, 1), (5, 1)] {
        let mut run = record(&[4, 8], Vec::new());
        let first = run.phases[0].epoch_monotonic;
        let second = first + Nanos::from_millis(ROUNDS as i64);
        run.phases[1].epoch_monotonic = second;
        let when = second + Nanos::from_millis(since_second);
        for phase in &mut run.phases {
            let kind = EventKind::MemberDied { member: 1, how: "exit status 7".to_owned() };
            phase.events.push(Event { at: when - phase.epoch_monotonic, kind });
        }
        let found = assess(&run).irregularities;
        let deaths: Vec<Option<usize>> =
            found.iter().filter(|found| found.kind == "member-died").map(|found| found.phase).collect();
        assert_eq!(deaths, [Some(told)], "{since_second}: {found:?}");
    }
}
