//! What is kept, and how a thread of it is named.

use super::*;
use crate::families::Family;
use leveret_os::perf;
use leveret_report::record::Left;
use leveret_report::synthetic::{A, Plant, Ring, ring};
use leveret_report::verdict::{Miss, Party, Subject, verdicts};

fn families() -> Rc<Families> {
    Rc::new(Families::blind(std::path::Path::new("/run/own")))
}

/// A foreign thread that was asked.
fn know(evidence: &mut Evidence, thread: u32, name: &str) {
    let about = About::new(ThreadKind::Foreign { priority: 0 }, name);
    evidence.threads.insert((thread, Nanos(i64::MIN)), about);
}

#[test]
fn a_thread_has_the_rank_and_name_that_it_had_then() {
    let mut name = [0; 16];
    name[..3].copy_from_slice(b"hog");
    let left = leveret_os::perf::Left::Asleep;
    let record = |to_rank: Option<u8>| SwitchRecord {
        time: Nanos(1),
        core: 0,
        tid_from: 0,
        tid_to: 7,
        pid_to: 7,
        preempted: false,
        left,
        from_rank: to_rank,
        to_rank,
        from_name: None,
        to_name: to_rank.map(|_| name),
    };
    let as_it_was =
        |record: &SwitchRecord, known: About| as_it_was((record.to_rank, record.name_to()), known);
    let asked = ThreadKind::Foreign { priority: 0 };
    let hog = |priority| (ThreadKind::Foreign { priority }, "hog".to_owned());
    // A rank in the log needs no look at /proc.
    assert!(unranked(&[record(Some(50)), record(Some(0))]).is_empty());
    assert_eq!(unranked(&[record(Some(50)), record(None), record(None)]), BTreeSet::from([7]));
    for known in ["hog", "sh", ""] {
        assert_eq!(as_it_was(&record(Some(50)), About::new(asked, known)), hog(50));
    }
    assert_eq!(as_it_was(&record(None), About::new(asked, "hog")), hog(0));
    let own = |priority, name: &str| (ThreadKind::Own { priority }, name.to_owned());
    let (kind, name) = own(0, "helper");
    assert_eq!(as_it_was(&record(Some(5)), About::new(kind, name)), own(5, "hog"));
    // A thread that ended before it could be asked belongs to whoever started it; if that is unknown, it may be the job's.
    let gone = |family| About { family, ..About::new(ThreadKind::Unknown, "") };
    let ended = |rank, family| as_it_was(&record(rank), gone(family));
    assert_eq!(ended(Some(50), Family::Foreign), hog(50));
    assert_eq!(ended(Some(50), Family::Own), own(50, "hog"));
    assert_eq!(ended(Some(50), Family::Kernel), (ThreadKind::Kernel, "hog".to_owned()));
    assert_eq!(ended(Some(50), Family::Unknown), (ThreadKind::Unknown, "hog".to_owned()));
    assert_eq!(ended(None, Family::Foreign), (ThreadKind::Unknown, String::new()), "its rank is not known");
    assert_eq!(of_own_process(ended(Some(95), Family::Unknown).0), ThreadKind::Own { priority: 0 });
    assert_eq!(of_own_process(ThreadKind::Task(1)), ThreadKind::Task(1));
    let kernel = About::new(ThreadKind::Kernel, "migration/0");
    assert_eq!(as_it_was(&record(Some(99)), kernel), (ThreadKind::Kernel, "migration/0".to_owned()));
}

#[test]
fn a_thread_that_became_another_program_is_named_by_what_it_was_when_it_left() {
    let name = |text: &str| {
        let mut name = [0; 16];
        name[..text.len()].copy_from_slice(text.as_bytes());
        Some(name)
    };
    let (mut evidence, _) = Evidence::open(&[], &[], Nanos::ZERO, &families());
    know(&mut evidence, 5_000_001, "sh");
    let switch = |at: i64, from: (u32, &str), to: (u32, &str)| SwitchRecord {
        time: Nanos(at),
        core: 0,
        tid_from: from.0,
        tid_to: to.0,
        pid_to: UNKNOWN_THREAD,
        preempted: false,
        left: perf::Left::Asleep,
        from_rank: Some(50),
        to_rank: Some(50),
        from_name: name(from.1),
        to_name: name(to.1),
    };
    let (hog, idle) = (5_000_001, 0);
    let came = switch(1_000, (idle, "swapper/0"), (hog, "sh"));
    let left = switch(2_000, (hog, "hog"), (idle, "swapper/0"));
    evidence.recent.insert(vec![came, left, switch(3_000, (idle, "swapper/0"), (hog, "again"))]);
    evidence.keep(1, Nanos(900), Nanos(4_000));
    let found = evidence.finish().switches;
    let of_hog: Vec<&str> =
        found.iter().filter(|event| event.to == hog).map(|event| event.to_name.as_str()).collect();
    // It has not left again.
    assert_eq!(of_hog, ["hog", "again"]);
}

/// A switch of a made-up run as the kernel logs it.
fn logged(event: &SwitchEvent) -> SwitchRecord {
    let priority = if let ThreadKind::Foreign { priority } = event.to_kind { priority } else { 0 };
    let left = if event.left == Left::Runnable { perf::Left::Runnable } else { perf::Left::Asleep };
    SwitchRecord {
        time: event.at,
        core: event.core,
        tid_from: event.from,
        tid_to: event.to,
        pid_to: UNKNOWN_THREAD,
        preempted: event.left == Left::Runnable,
        left,
        from_rank: None,
        to_rank: Some(priority),
        from_name: None,
        to_name: Some([0; 16]),
    }
}

/// While the other core makes five thousand switches a second.
#[test]
fn a_hog_of_fifteen_seconds_is_named_once_the_late_thread_tells() {
    const ROUNDS: u64 = 400;
    let period = Nanos::from_millis(50);
    let plants = vec![(20, Plant::Hog { task: A, priority: 95, by: Nanos::from_secs(15) })];
    let mut record = ring(&Ring { rounds: ROUNDS, period, plants, ..Ring::default() });
    let phase = &mut record.phases[0];
    // Of the hog's victim no wake-up is logged.
    phase.events.retain(|event| !matches!(event.kind, EventKind::Woken { .. }));
    let mut own = phase.tasks[A].clone();
    let (mut evidence, _) = Evidence::open(&[], &[], Nanos::ZERO, &families());
    for (task, record) in phase.tasks.iter().enumerate() {
        evidence.tasks.insert(record.thread, task as u16);
    }
    let hog = phase.switches.iter().find(|event| event.to_name == "hog").expect("it comes").clone();
    know(&mut evidence, hog.to, &hog.to_name);
    let before = own.instances[19].ended + Nanos(200);
    let left = SwitchEvent { at: before, from: own.thread, to: 0, to_kind: ThreadKind::Idle, ..hog.clone() };
    phase.switches.insert(0, left);
    let busy = |at| SwitchEvent { at, core: 1, from: 5_000_001, to: 5_000_002, ..hog.clone() };
    for round in 1..=ROUNDS as i64 {
        let (since, now) = (period.saturating_mul(round - 1), period.saturating_mul(round));
        let is_fresh = |at: Nanos| at > since && at <= now;
        let fresh = phase.switches.iter().filter(|event| is_fresh(event.at)).map(logged);
        let others = (1..250).map(|turn| logged(&busy(since + Nanos::from_micros(200 * turn))));
        evidence.kept_span = None;
        evidence.recent.insert(fresh.chain(others).collect());
        for instance in own.instances.extract_if(.., |instance| instance.ended <= now) {
            if instance.ended > instance.deadline || instance.is_skipped() {
                evidence.keep(own.thread, instance.planned, instance.ended);
            }
        }
        evidence.forget(now);
    }
    let found = evidence.finish();
    assert_eq!(found.events, [], "nothing of its core was forgotten");
    phase.switches = found.switches;
    let misses = verdicts(&record);
    let of_own: Vec<&Miss> = misses.iter().filter(|miss| miss.subject == Subject::Task(A)).collect();
    assert!(of_own.len() > 290, "{}", of_own.len());
    for miss in of_own {
        let culprit = miss.culprit.as_ref().map(|culprit| (culprit.name.as_str(), culprit.rank.as_str()));
        assert_eq!((miss.party, culprit), (Party::Process, Some(("hog", "SCHED_FIFO 95"))), "{miss:#?}");
    }
}

#[test]
fn what_is_forgotten_of_a_late_thread_s_core_is_noted_once() {
    let (mut evidence, _) = Evidence::open(&[], &[], Nanos::ZERO, &families());
    let switch = |at: i64| SwitchRecord {
        time: Nanos(at),
        ..logged(&SwitchEvent {
            at: Nanos(at),
            core: 0,
            from: 5_000_001,
            to: 5_000_002,
            left: Left::Asleep,
            to_kind: ThreadKind::Unknown,
            to_process: None,
            to_name: String::new(),
        })
    };
    evidence.recent.insert((0..100_000).map(|turn| switch(turn * 1000)).collect());
    evidence.forget(Nanos(100_000_000));
    for _ in 0..2 {
        evidence.keep(1, Nanos(600_000), Nanos(90_000_000));
    }
    evidence.keep(1, Nanos(99_000_000), Nanos(99_000_000));
    let found = evidence.finish();
    let [event] = &found.events[..] else { panic!("{:?}", found.events) };
    assert_eq!(event.kind, EventKind::EvidenceForgotten { since: Nanos(100_000) });
    assert!(found.switches.iter().all(|switch| switch.at > event.at));
}
