//! What proves that a miss is another's than the job's, and what does not; and what is said of it.

use leveret_report::record::{Event, EventKind, Left, RunRecord, SwitchEvent, ThreadKind};
use leveret_report::synthetic::{A, B, Plant, Ring, ring};
use leveret_report::verdict::{Cause, Miss, Party, Subject, assess, exit_code, verdicts};
use leveret_types::Nanos;

fn micros(value: i64) -> Nanos {
    Nanos(value * 1_000)
}

fn with(plants: Vec<(u64, Plant)>) -> Ring {
    Ring { rounds: 400, plants, ..Ring::default() }
}

#[track_caller]
fn missed(record: &RunRecord, subject: Subject, instance: u64) -> Miss {
    let misses = verdicts(record);
    let wanted = |miss: &&Miss| miss.subject == subject && miss.instance == instance;
    misses.iter().find(wanted).unwrap_or_else(|| panic!("no miss: {misses:#?}")).clone()
}

/// A late timer while something else than the idle task had the core.
fn late_while(change: impl Fn(&mut RunRecord, &mut SwitchEvent)) -> (Cause, Party, bool) {
    let mut record = ring(&with(vec![(200, Plant::LateTimer { task: A, by: micros(300) })]));
    let due = record.phases[0].tasks[A].instances[200].planned - micros(50);
    let place = record.phases[0].switches.iter().rposition(|event| event.core == 0 && event.at < due);
    let place = place.expect("the idle task came before");
    let mut came = record.phases[0].switches[place].clone();
    change(&mut record, &mut came);
    let (left, to) = (came.to, came.at);
    record.phases[0].switches[place] = came;
    let next = record.phases[0].switches.iter_mut().find(|event| event.core == 0 && event.at > to);
    next.expect("A's thread comes").from = left;
    let miss = missed(&record, Subject::Task(A), 200);
    (miss.cause, miss.party, miss.unproven)
}

#[test]
fn a_late_timer_is_the_machine_s_only_where_nothing_had_the_core_that_can_hold_it_up() {
    let machine = (Cause::LateTimer, Party::Machine, false);
    let unproven = (Cause::LateTimer, Party::Job, true);
    assert_eq!(late_while(|_, _| ()), machine);
    let own = |is_kept_awake: bool, name: &'static str| {
        late_while(move |record, came| {
            record.machine.kept_awake = is_kept_awake;
            (came.to, came.to_kind, came.to_name) = (900, ThreadKind::Own { priority: 0 }, name.to_owned());
        })
    };
    // The agent's thread that keeps the core awake makes no call; any other thread of the job may.
    assert_eq!(own(true, "leveret-awake-0"), machine);
    assert_eq!(
        [own(false, "leveret-awake-0"), own(true, "leveret-alone"), own(true, "helper")],
        [unproven; 3]
    );
    // In a container what seems to be the idle task may be anybody.
    let unseen = late_while(|record, came| {
        let idle = record.phases[0].switches.iter_mut().filter(|event| event.to_kind == ThreadKind::Idle);
        idle.chain([came]).for_each(|event| event.to_name = "the idle task or a thread outside".to_owned());
    });
    assert_eq!(unseen, unproven);
    let unknown = late_while(|_, came| (came.to, came.to_kind) = (900, ThreadKind::Unknown));
    assert_eq!(unknown, unproven);
    // An earlier interrupt may be among what was lost.
    for kind in [
        EventKind::EvidenceLost { since: Nanos::ZERO, records: 1 },
        EventKind::EvidenceForgotten { since: Nanos::ZERO },
    ] {
        let lost = late_while(|record, came| {
            record.phases[0].events.push(Event { at: came.at + micros(50), kind: kind.clone() });
        });
        assert_eq!(lost, (Cause::EvidenceLost, Party::Job, true), "{kind:?}");
    }
}

#[test]
fn a_core_that_is_idle_while_a_body_wants_it_proves_nothing() {
    let judged = |priority: u8| {
        let mut record = ring(&with(vec![(200, Plant::Blocked { task: B, by: micros(200) })]));
        let phase = &mut record.phases[0];
        phase.tasks[B].priority = priority;
        let (thread, body) = (phase.tasks[B].thread, phase.tasks[B].instances[200]);
        let in_body = |event: &&mut SwitchEvent| {
            event.from == thread && event.at > body.started && event.at < body.ended
        };
        phase.switches.iter_mut().find(in_body).expect("it left its core").left = Left::Runnable;
        missed(&record, Subject::Task(B), 200)
    };
    let (real_time, ordinary) = (judged(79), judged(0));
    let found = [&real_time, &ordinary].map(|miss| (miss.cause, miss.party, miss.unproven));
    assert_eq!(found, [(Cause::Throttled, Party::Job, true), (Cause::Unexplained, Party::Job, true)]);
    // The limit on real-time time is none of an ordinary thread's.
    assert!(real_time.evidence[0].contains("limit on real-time time"), "{real_time:#?}");
    assert!(!ordinary.evidence[0].contains("real-time"), "{ordinary:#?}");
}

#[test]
fn equals_may_have_been_raised_in_between() {
    let plants = vec![(200, Plant::Hog { task: A, priority: 0, by: micros(300) })];
    let record = ring(&Ring { real_time: false, ..with(plants) });
    let miss = missed(&record, Subject::Task(A), 200);
    let said = "both had ordinary scheduling when it came and when it left: they take turns, or it was raised in between";
    assert!(miss.evidence[0].ends_with(said), "{miss:#?}");
}

#[test]
fn a_hog_of_many_seconds_is_named_by_each_instance_that_it_delayed() {
    let plants = vec![(20, Plant::Hog { task: A, priority: 90, by: Nanos::from_secs(15) })];
    let period = Nanos::from_millis(50);
    let misses = verdicts(&ring(&Ring { rounds: 400, period, plants, ..Ring::default() }));
    let of_a: Vec<&Miss> = misses.iter().filter(|miss| miss.subject == Subject::Task(A)).collect();
    assert!(of_a.len() > 290, "{}", of_a.len());
    for miss in of_a {
        let culprit = miss.culprit.as_ref().map(|culprit| culprit.name.as_str());
        assert_eq!((miss.party, culprit), (Party::Process, Some("hog")), "{miss:#?}");
    }
}

#[test]
fn windows_are_said_to_be_kept_only_of_instances_that_had_the_buffers() {
    let judged = |change: fn(&mut RunRecord)| {
        let mut record = ring(&with(vec![(200, Plant::NoBuffer { channel: B })]));
        change(&mut record);
        let miss = missed(&record, Subject::Channel(B), 200);
        (miss.unproven, miss.evidence[0].clone())
    };
    let (unproven, said) = judged(|_| ());
    assert!(!unproven && said.contains("although its task kept its windows"), "{said}");
    // Its reader is planned for no message that had a buffer.
    let (unproven, said) = judged(|record| {
        record.phases[0]
            .plan
            .tasks
            .iter_mut()
            .flat_map(|task| &mut task.instances)
            .for_each(|one| one.reads.clear());
    });
    assert!(unproven && said.contains("which instances had its"), "{said}");
    let (unproven, said) =
        judged(|record| record.phases[0].job.tasks.iter_mut().for_each(|task| task.reads.clear()));
    assert!(
        !unproven && said.contains("no task reads this channel") && !said.contains("kept its windows"),
        "{said}"
    );
}

#[test]
fn the_exit_code_tells_whose_the_misses_are() {
    let plants = |parties: &[Party]| {
        let plant = |(party, round): (&Party, u64)| match party {
            Party::Job => (round, Plant::Blocked { task: B, by: micros(200) }),
            Party::Process => (round, Plant::Hog { task: A, priority: 90, by: micros(300) }),
            Party::Machine => (round, Plant::LateTimer { task: B, by: micros(300) }),
        };
        parties.iter().zip((100..).step_by(50)).map(plant).collect()
    };
    let (job, process, machine) = (Party::Job, Party::Process, Party::Machine);
    for (parties, code) in [
        (vec![], 0),
        (vec![machine], 3),
        (vec![process], 4),
        (vec![process, machine], 4),
        (vec![job], 1),
        (vec![job, machine], 1),
        (vec![job, process], 1),
        (vec![job, process, machine], 1),
    ] {
        let record = ring(&with(plants(&parties)));
        let counts = assess(&record).counts;
        let found = [(job, counts.job), (process, counts.process), (machine, counts.machine)];
        assert!(found.iter().all(|(party, count)| (*count > 0) == parties.contains(party)), "{counts}");
        assert_eq!(exit_code(&record), code, "{parties:?}");
        let mut irregular = record;
        irregular.phases[0].tasks[A].records_lost = 1;
        assert_eq!(exit_code(&irregular), 1, "{parties:?}");
    }
}

/// Each failure that is told says how many there were until then.
#[test]
fn runs_that_failed_fail_the_run_once_for_each_handler() {
    let mut record = ring(&with(Vec::new()));
    assert_eq!(exit_code(&record), 0);
    let failed = |at, what: &str, times| {
        let kind = EventKind::RunsFailed { member: 1, what: what.to_owned(), times };
        Event { at: micros(at), kind }
    };
    let told = [
        failed(1_000, "handler \"brake\"", 1),
        failed(2_000, "handler \"brake\"", 2),
        failed(2_500, "task \"log\"", 1),
        failed(3_000, "handler \"brake\"", 4),
    ];
    record.phases[0].events.extend(told);
    let assessment = assess(&record);
    let found: Vec<_> =
        assessment.irregularities.iter().map(|each| (each.kind.as_str(), each.count)).collect();
    assert_eq!(found, [("runs-failed", 4), ("runs-failed", 1)]);
    let [brake, log] = &assessment.irregularities[..] else { panic!("{found:?}") };
    assert!(brake.sentence.starts_with("4 runs or more of handler \"brake\" failed"), "{}", brake.sentence);
    assert!(log.sentence.starts_with("a run of task \"log\" failed"), "{}", log.sentence);
    assert_eq!((brake.name.as_str(), exit_code(&record)), ("B", 1));
}
