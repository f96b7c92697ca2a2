//! Whatever a record holds, judging and printing it never panics, and every miss has exactly one party.

use leveret_report::record::{Event, EventKind, Fate, Outcome, RunRecord, ThreadKind, TimerInterrupt};
use leveret_report::synthetic::{Plant, Ring, ring};
use leveret_report::verdict::{Counts, Subject, assess};
use leveret_report::{Report, html, json, learn, storage, text, trace, why};
use leveret_types::Nanos;
use proptest::prelude::*;

/// A change of one field, chosen by number.
type Change = (u8, usize, i64);

fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => -2_000_000_i64..60_000_000,
        1 => any::<i64>(),
        1 => Just(i64::MAX),
        1 => Just(i64::MIN),
        1 => Just(0),
    ]
}

fn plant() -> impl Strategy<Value = Plant> {
    (0_u8..10, 0_usize..4, 1_i64..8_000_000).prop_map(|(kind, task, by)| {
        let by = Nanos(by);
        match kind {
            0 => Plant::Hog { task, priority: (by.0 % 100) as u8, by },
            1 => Plant::LateTimer { task, by },
            2 => Plant::StallInSpin { task, by },
            3 => Plant::Overrun { task, by },
            4 => Plant::PageFault { task, by, logged: by.0 % 2 == 0 },
            5 => Plant::Preempted { task, priority: (by.0 % 100) as u8, by },
            6 => Plant::Stopped { task, by },
            7 => Plant::Died { task },
            8 => Plant::NoBuffer { channel: task % 3 },
            _ => Plant::ClockStep { task, by },
        }
    })
}

fn change(record: &mut RunRecord, (what, place, value): Change) {
    let phase = &mut record.phases[0];
    let at = Nanos(value);
    let number = value.unsigned_abs();
    let task = place % phase.tasks.len();
    let tasks = &mut phase.tasks[task];
    let count = tasks.instances.len().max(1);
    let instance = tasks.instances.get_mut(place % count);
    let channel = &mut phase.channels[place % 3];
    let messages = channel.messages.len().max(1);
    let message = channel.messages.get_mut(place % messages);
    match (what, instance, message) {
        (0, Some(instance), _) => instance.planned = at,
        (1, Some(instance), _) => instance.woken = at,
        (2, Some(instance), _) => instance.started = at,
        (3, Some(instance), _) => instance.ended = at,
        (4, Some(instance), _) => instance.deadline = at,
        (5, Some(instance), _) => (instance.gap, instance.gap_at) = (at, Nanos(value / 2)),
        (6, Some(instance), _) => (instance.switches, instance.faults) = (value as u32, (value >> 7) as u32),
        (7, Some(instance), _) => instance.cpu = at,
        (8, Some(instance), _) => instance.instance = number,
        (9, Some(instance), _) => {
            let outcomes =
                [Outcome::Ran, Outcome::RanLate, Outcome::SkippedCritical, Outcome::SkippedOverrun];
            instance.outcome = outcomes[(number % 4) as usize];
        }
        (10, _, Some(message)) => message.inserted = (value % 3 != 0).then_some(at),
        (11, _, Some(message)) => message.due = at,
        (12, _, Some(message)) => message.taken = (value % 3 != 0).then_some(at),
        (13, _, Some(message)) => message.instance = number,
        (14, _, Some(message)) => {
            let fates = [
                Fate::Taken,
                Fate::Untaken,
                Fate::Late,
                Fate::Missing,
                Fate::NoBuffer,
                Fate::Invalid,
                Fate::NoRoom,
                Fate::Corrupt,
            ];
            message.fate = fates[(number % 7) as usize];
        }
        (15, ..) => tasks.records_lost = number,
        (16, ..) => tasks.gaps[place % 10] = number,
        (17, ..) => tasks.spin_total = at,
        (18.., ..) => change_around(record, (what, place, value)),
        _ => {}
    }
}

/// A change of the plan, the model, the log or the events.
fn change_around(record: &mut RunRecord, (what, place, value): Change) {
    let phase = &mut record.phases[0];
    let (at, number) = (Nanos(value), value.unsigned_abs());
    let task = place % phase.tasks.len();
    match what {
        18 => phase.plan.hyperperiod = at,
        19 => phase.plan.costs.guard = at,
        20 => phase.plan.tasks[task].instances.clear(),
        21 => {
            phase.plan.channels.pop();
        }
        22 => {
            phase.job.tasks.pop();
        }
        23 => phase.job.tasks.clear(),
        24 => phase.rounds = number,
        25 => {
            for event in &mut phase.switches {
                event.core = u32::MAX;
            }
        }
        26 => {
            if let Some(event) = phase.switches.get_mut(place) {
                (event.at, event.to_kind) = (at, ThreadKind::Task(number as u16));
            }
        }
        27 => {
            let member = number as u16;
            phase.events.push(Event { at, kind: EventKind::MemberStopped { member } });
        }
        28 => phase
            .events
            .push(Event { at, kind: EventKind::ClockStepped { task: task as u16, by: Nanos(value / 3) } }),
        29 => record.machine.switch_log_whole_core = false,
        30 => phase.plan.tasks[task].instances.iter_mut().for_each(|planned| {
            planned.reads.iter_mut().for_each(|read| *read = value);
            planned.segments.clear();
        }),
        31 => phase.timers.push(TimerInterrupt { at, core: number as u32 % 3 }),
        32 => {
            let kind = EventKind::EvidenceLost { since: Nanos(value / 3), records: number };
            phase.events.push(Event { at, kind });
        }
        33 => {
            let (now, set) = (format!("{}", number % 3), "1".to_owned());
            let kind =
                EventKind::SchedulingChanged { task: place as u16 % 5, since: Nanos(value / 3), now, set };
            phase.events.push(Event { at, kind });
        }
        34 => phase.tasks[task].before = number,
        35 => phase.channels[place % 3].before = number,
        _ => phase.tasks.truncate(place % 5),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_every_miss_has_one_party(
        seed in any::<u64>(),
        plants in proptest::collection::vec((0_u64..30, plant()), 0..5),
        changes in proptest::collection::vec((0_u8..37, 0_usize..40, instant()), 0..12),
    ) {
        let mut record = ring(&Ring { seed, rounds: 30, stalls: true, plants, ..Ring::default() });
        for each in changes {
            if !record.phases[0].tasks.is_empty() {
                change(&mut record, each);
            }
        }
        let assessment = assess(&record);
        let counts = Counts::of(&assessment.misses);
        prop_assert_eq!(counts.all(), assessment.misses.len() as u64);
        prop_assert!(assessment.misses.iter().all(|miss| !miss.evidence.is_empty()));
        let bad = record.phases[0].channels.iter().flat_map(|channel| &channel.messages)
            .filter(|message| !matches!(message.fate, Fate::Taken | Fate::Untaken)).count();
        let judged = assessment.misses.iter().filter(|miss| matches!(miss.subject, Subject::Channel(_))).count();
        prop_assert_eq!(bad, judged, "no message is lost silently");
        prop_assert!([0, 1, 3, 4].contains(&assessment.exit_code()));

        let report = Report::of(&record);
        let page = html::page(&report);
        prop_assert!(page.ends_with("</html>\n"));
        prop_assert!(serde_json::from_str::<serde_json::Value>(&json::text(&report)).is_ok());
        prop_assert!(serde_json::from_str::<serde_json::Value>(&trace::text(&report)).is_ok());
        prop_assert!(text::table(&report).contains("verdict: "));
        learn::table(&learn::propose(&report, learn::Options::default()));
        for miss in report.assessment.misses.iter().take(5) {
            let _ = why::why(&report, &miss.name, miss.instance);
        }
        let stored = storage::encode(&record).expect("a record can be stored");
        prop_assert_eq!(storage::decode(&stored).expect("what was stored can be read"), record);
    }
}
