//! Every planted cause is named, with the right party.

use leveret_report::record::{
    Ending, Event, EventKind, Left, Outcome, RunRecord, SwitchEvent, ThreadKind, TimerInterrupt,
};
use leveret_report::synthetic::{A, B, C, DUMMY, Plant, Ring, ring};
use leveret_report::verdict::{Cause, Miss, Party, Stage, Subject, assess, exit_code, verdicts};
use leveret_types::Nanos;

const MICRO: i64 = 1_000;

pub fn micros(value: i64) -> Nanos {
    Nanos(value * MICRO)
}

pub fn with(plants: Vec<(u64, Plant)>) -> Ring {
    Ring { rounds: 400, plants, ..Ring::default() }
}

pub fn of_task(misses: &[Miss], task: usize, instance: u64) -> &Miss {
    let wanted = |miss: &&Miss| miss.subject == Subject::Task(task) && miss.instance == instance;
    misses
        .iter()
        .find(wanted)
        .unwrap_or_else(|| panic!("no miss of task {task} instance {instance}: {misses:#?}"))
}

fn of_channel(misses: &[Miss], channel: usize, instance: u64) -> &Miss {
    let wanted = |miss: &&Miss| miss.subject == Subject::Channel(channel) && miss.instance == instance;
    misses.iter().find(wanted).unwrap_or_else(|| panic!("no miss of channel {channel}: {misses:#?}"))
}

#[track_caller]
fn expect(plant: Plant, task: usize, stage: Stage, cause: Cause, party: Party) -> Vec<Miss> {
    let record = ring(&with(vec![(200, plant)]));
    let misses = verdicts(&record);
    let miss = of_task(&misses, task, 200);
    assert_eq!((miss.stage, miss.cause, miss.party), (stage, cause, party), "{miss:#?}");
    assert!(!miss.evidence.is_empty() && !miss.timeline.is_empty());
    assert_eq!(
        exit_code(&record),
        match party {
            Party::Job => 1,
            Party::Process => 4,
            Party::Machine => 3,
        }
    );
    misses
}

#[test]
fn a_quiet_run_has_no_miss() {
    let record = ring(&with(Vec::new()));
    let assessment = assess(&record);
    assert_eq!(assessment.misses, []);
    assert_eq!(assessment.irregularities, []);
    assert_eq!(assessment.exit_code(), 0);
}

#[test]
fn hog_at_a_higher_priority() {
    let plant = Plant::Hog { task: A, priority: 90, by: micros(300) };
    let misses = expect(plant, A, Stage::Wake, Cause::RunQueueWait, Party::Process);
    assert!(of_task(&misses, A, 200).evidence[0].contains("hog (thread 812, real-time priority 90)"));
}

#[test]
fn hog_at_our_own_priority_goes_first_too() {
    expect(
        Plant::Hog { task: A, priority: 80, by: micros(300) },
        A,
        Stage::Wake,
        Cause::RunQueueWait,
        Party::Process,
    );
}

#[test]
fn a_process_of_lower_rank_that_kept_the_core_is_named() {
    for priority in [0, 1, 79] {
        let plant = Plant::Hog { task: A, priority, by: micros(300) };
        expect(plant, A, Stage::Wake, Cause::RunQueueWait, Party::Process);
    }
}

#[test]
fn ordinary_thread_for_longer_than_any_section_was_given_the_core() {
    let plant = Plant::Hog { task: A, priority: 0, by: micros(40_000) };
    expect(plant, A, Stage::Wake, Cause::RunQueueWait, Party::Process);
}

#[test]
fn kernel_thread_is_the_machine() {
    let plant = Plant::KernelThread { task: C, by: micros(300) };
    let misses = expect(plant, C, Stage::Wake, Cause::KernelSection, Party::Machine);
    assert!(of_task(&misses, C, 200).evidence[0].contains("migration/0"));
}

#[test]
fn late_timer_on_an_idle_core_is_the_machine() {
    let plant = Plant::LateTimer { task: B, by: micros(300) };
    let misses = expect(plant, B, Stage::Wake, Cause::LateTimer, Party::Machine);
    let message = of_channel(&misses, B, 200);
    assert_eq!((message.cause, message.party), (Cause::LatePeer, Party::Machine));
    let root = message.root.as_ref().expect("a root");
    assert_eq!((root.name.as_str(), root.instance, root.cause), ("B.user", 200, Cause::LateTimer));
}

#[test]
fn unknown_occupant_is_ours() {
    expect(Plant::LateUnknown { task: B, by: micros(300) }, B, Stage::Wake, Cause::RunQueueWait, Party::Job);
}

#[test]
fn with_ordinary_scheduling_no_wait_is_the_machine_s() {
    let plants = vec![(200, Plant::Hog { task: A, priority: 0, by: micros(300) })];
    let record = ring(&Ring { real_time: false, ..with(plants) });
    let misses = verdicts(&record);
    let miss = of_task(&misses, A, 200);
    assert_eq!((miss.cause, miss.party), (Cause::RunQueueWait, Party::Process), "{miss:#?}");
}

#[test]
fn stall_in_the_spin_is_the_machine() {
    expect(
        Plant::StallInSpin { task: B, by: micros(300) },
        B,
        Stage::Start,
        Cause::StallInSpin,
        Party::Machine,
    );
}

#[test]
fn page_fault_in_the_spin_is_ours() {
    expect(Plant::FaultInSpin { task: B, by: micros(300) }, B, Stage::Start, Cause::PageFault, Party::Job);
}

#[test]
fn page_fault_in_the_body_is_ours_with_its_address() {
    let plant = Plant::PageFault { task: A, by: micros(120), logged: true };
    let misses = expect(plant, A, Stage::Execution, Cause::PageFault, Party::Job);
    assert!(of_task(&misses, A, 200).evidence[0].contains("0x558000001000"));
    let plant = Plant::PageFault { task: A, by: micros(120), logged: false };
    expect(plant, A, Stage::Execution, Cause::PageFault, Party::Job);
}

#[test]
fn preemption_by_a_higher_priority_is_another_process_s() {
    let plant = Plant::Preempted { task: B, priority: 90, by: micros(200) };
    let misses = expect(plant, B, Stage::Execution, Cause::RunQueueWait, Party::Process);
    assert!(of_task(&misses, B, 200).evidence[0].contains("hog"));
}

#[test]
fn what_the_fair_server_lets_run_is_another_process_s() {
    let plant = Plant::Preempted { task: B, priority: 0, by: micros(200) };
    expect(plant, B, Stage::Execution, Cause::RunQueueWait, Party::Process);
}

#[test]
fn sleeping_in_the_body_is_ours() {
    expect(Plant::Blocked { task: B, by: micros(200) }, B, Stage::Execution, Cause::Blocked, Party::Job);
}

#[test]
fn stopped_member_is_ours() {
    let plant = Plant::Stopped { task: B, by: micros(600) };
    let misses = expect(plant, B, Stage::Wake, Cause::StoppedMember, Party::Job);
    assert_eq!(of_channel(&misses, B, 200).cause, Cause::LatePeer);
}

#[test]
fn clock_step_is_nobody_s_that_can_be_named() {
    let plant = Plant::ClockStep { task: B, by: micros(600) };
    let misses = expect(plant, B, Stage::Wake, Cause::ClockStep, Party::Job);
    assert!(of_task(&misses, B, 200).unproven);
}

#[test]
fn one_overrun_of_many_milliseconds_is_ours() {
    for milliseconds in [5, 20, 100] {
        let plants = vec![(2000, Plant::Overrun { task: A, by: Nanos::from_millis(milliseconds) })];
        let record = ring(&Ring { rounds: 5000, stalls: true, plants, ..Ring::default() });
        let misses = verdicts(&record);
        let miss = of_task(&misses, A, 2000);
        assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "{milliseconds} ms: {miss:#?}");
    }
}

#[test]
fn several_short_overruns_are_ours() {
    let plants =
        (1..=6).map(|k| (k * 700, Plant::Overrun { task: A, by: micros(110 + 10 * k as i64) })).collect();
    let record = ring(&Ring { rounds: 5000, stalls: true, plants, ..Ring::default() });
    let misses = verdicts(&record);
    for k in 1..=6 {
        let miss = of_task(&misses, A, k * 700);
        assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "{miss:#?}");
    }
}

#[test]
fn an_overrun_pushes_the_next_instances_and_they_name_it() {
    let plants = vec![(200, Plant::Overrun { task: A, by: micros(2_500) })];
    let record = ring(&Ring { stalls: true, ..with(plants) });
    let misses = verdicts(&record);
    let next = of_task(&misses, A, 201);
    assert_eq!((next.cause, next.party), (Cause::PreviousInstance, Party::Job), "{next:#?}");
    let root = next.root.as_ref().expect("a root");
    assert_eq!((root.instance, root.cause), (200, Cause::Overrun));
    let other = of_task(&misses, C, 200);
    assert_eq!((other.cause, other.party), (Cause::RunQueueWait, Party::Job), "{other:#?}");
    assert_eq!(other.root.as_ref().map(|root| root.name.as_str()), Some("A.user"));
}

#[test]
fn an_isolated_stall_in_ten_thousand_bodies_is_not_proven() {
    let plants = vec![(5000, Plant::StallInBody { task: A, by: micros(100) })];
    let record = ring(&Ring { rounds: 10_000, stalls: true, seed: 3, plants, ..Ring::default() });
    let misses = verdicts(&record);
    let miss = of_task(&misses, A, 5000);
    assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "{miss:#?}");
    assert!(miss.unproven, "{miss:#?}");
    assert!(miss.evidence[0].contains("probability"));
}

#[test]
fn a_machine_stall_that_delays_another_task_stays_with_the_machine() {
    let plants = vec![(200, Plant::LateTimer { task: DUMMY, by: micros(100) })];
    let mut record = ring(&with(plants));
    assert_eq!(verdicts(&record), [], "the window is wide enough");
    record.phases[0].job.tasks[DUMMY].deadline = micros(800);
    for instance in &mut record.phases[0].tasks[DUMMY].instances {
        instance.deadline = instance.planned + micros(150);
    }
    let miss = of_task(&verdicts(&record), DUMMY, 200).clone();
    assert_eq!((miss.cause, miss.party), (Cause::LateTimer, Party::Machine), "{miss:#?}");
}

#[test]
fn chain_from_a_machine_stall_counts_as_the_machines() {
    let record = ring(&with(vec![(200, Plant::LateTimer { task: A, by: micros(5_000) })]));
    let assessment = assess(&record);
    assert!(assessment.counts.machine > 4, "{:?}", assessment.counts);
    assert_eq!(
        assessment.counts.job,
        0,
        "{:#?}",
        assessment.misses.iter().find(|miss| miss.party == Party::Job)
    );
    assert_eq!(assessment.counts.machine_roots, 3, "one for each task whose timer was late");
    assert_eq!(assessment.exit_code(), 3);
}

#[test]
fn channel_causes() {
    let cases = [
        (Plant::Corrupt { channel: B }, Stage::Arrival, Cause::CorruptSegment),
        (Plant::NoBuffer { channel: B }, Stage::Taking, Cause::LatePeer),
        (Plant::NotInserted { channel: B }, Stage::Insertion, Cause::NotInserted),
        (Plant::TooLong { channel: B }, Stage::Insertion, Cause::TooLong),
        (Plant::NoRoom { channel: B }, Stage::Taking, Cause::NoRoom),
    ];
    for (plant, stage, cause) in cases {
        let record = ring(&with(vec![(200, plant)]));
        let misses = verdicts(&record);
        let miss = of_channel(&misses, B, 200);
        assert_eq!((miss.stage, miss.cause, miss.party), (stage, cause, Party::Job), "{miss:#?}");
        assert_eq!(exit_code(&record), 1);
    }
}

#[test]
fn no_room_behind_a_receiver_that_the_machine_stalled() {
    let plants =
        vec![(199, Plant::LateTimer { task: C, by: micros(300) }), (200, Plant::NoRoom { channel: B })];
    let misses = verdicts(&ring(&with(plants)));
    let miss = of_channel(&misses, B, 200);
    assert_eq!((miss.stage, miss.cause, miss.party), (Stage::Taking, Cause::LatePeer, Party::Machine));
}

#[test]
fn no_buffer_behind_a_receiver_that_the_machine_stalled() {
    let plants =
        vec![(199, Plant::LateTimer { task: C, by: micros(300) }), (200, Plant::NoBuffer { channel: B })];
    let misses = verdicts(&ring(&with(plants)));
    let miss = of_channel(&misses, B, 200);
    assert_eq!(
        (miss.stage, miss.cause, miss.party),
        (Stage::Taking, Cause::LatePeer, Party::Machine),
        "{miss:#?}"
    );
}

#[test]
fn losses_force_failure() {
    let quiet = ring(&with(Vec::new()));
    let mut lost = quiet.clone();
    lost.phases[0].tasks[A].records_lost = 1;
    let mut corrupt = quiet.clone();
    corrupt.phases[0].channels[0].corrupt = 1;
    let mut unordered = quiet.clone();
    unordered.phases[0].channels[0].out_of_order = 1;
    let mut hole = quiet.clone();
    hole.phases[0].tasks[A].instances.remove(17);
    let mut short = quiet;
    short.phases[0].tasks[A].instances.truncate(300);
    for (record, kind) in [
        (lost, "records-lost"),
        (corrupt, "corrupt"),
        (unordered, "out-of-order"),
        (hole, "unaccounted"),
        (short, "unaccounted"),
    ] {
        let assessment = assess(&record);
        assert_eq!(assessment.exit_code(), 1, "{kind}");
        assert!(assessment.irregularities.iter().any(|found| found.kind == kind), "{kind}");
    }
}

/// No task of the run says how long it went on; the deaths of its members, which were starved until they were ended, do.
#[test]
fn an_interrupted_run_of_starved_members_lacks_instances() {
    let mut record = ring(&with(Vec::new()));
    record.ending = Ending::Interrupted;
    let phase = &mut record.phases[0];
    let round = phase.plan.hyperperiod;
    let starved_for = Nanos::from_secs(2).0 / round.0;
    let recorded = phase.rounds;
    phase.rounds += starved_for.unsigned_abs();
    let at = round.saturating_mul(phase.rounds as i64);
    let died = |member| Event { at, kind: EventKind::MemberDied { member, how: "SIGKILL".to_owned() } };
    phase.events.extend((0..phase.job.members.len() as u16).map(died));
    let assessment = assess(&record);
    let absent: Vec<_> =
        assessment.irregularities.iter().filter(|found| found.kind == "unaccounted").collect();
    assert_eq!(absent.len(), record.phases[0].tasks.len(), "{recorded}: {:#?}", assessment.irregularities);
    // What is lost in the second before a death may have been on its way.
    let least = Nanos::from_millis(900).0 / round.0;
    assert!(absent.iter().all(|found| found.count >= least.unsigned_abs()), "{absent:#?}");
}

#[test]
fn the_machines_own_stalls_are_at_worst_unproven() {
    for seed in 1..=6 {
        let record = ring(&Ring { rounds: 5000, stalls: true, seed, ..Ring::default() });
        let assessment = assess(&record);
        let ours = assessment.misses.iter().find(|miss| miss.party == Party::Job && !miss.unproven);
        assert!(ours.is_none(), "seed {seed}: {ours:#?}");
        assert!(assessment.counts.machine > 0, "seed {seed}: the machine should have missed some");
    }
}

/// The miss of A's instance 200 after `change` was made to its record.
fn changed(ring_of: Ring, change: impl Fn(&mut leveret_report::record::InstanceRecord)) -> Miss {
    let mut record = ring(&ring_of);
    let a = &mut record.phases[0].tasks[A];
    change(&mut a.instances[200]);
    of_task(&verdicts(&record), A, 200).clone()
}

#[test]
fn a_lower_rank_proves_nothing_when_ours_is_unknown() {
    let mut record = ring(&with(vec![(200, Plant::Hog { task: A, priority: 1, by: micros(300) })]));
    record.phases[0].tasks[A].priority = 0;
    assert_eq!(of_task(&verdicts(&record), A, 200).party, Party::Process);
}

#[test]
fn kernel_thread_before_an_ordinary_one_is_ours() {
    let plants = vec![(200, Plant::KernelThread { task: A, by: micros(300) })];
    let record = ring(&Ring { real_time: false, ..with(plants) });
    assert_eq!(of_task(&verdicts(&record), A, 200).party, Party::Job);
}

#[test]
fn time_stolen_without_a_switch_is_the_machines() {
    let miss = changed(with(Vec::new()), |record| {
        record.cpu = record.ended - record.started;
        record.ended = record.started + micros(300);
    });
    assert_eq!(
        (miss.stage, miss.cause, miss.party),
        (Stage::Execution, Cause::StallInExecution, Party::Machine)
    );
}

#[test]
fn time_lost_with_unlogged_switches_is_ours() {
    let ring_of = Ring { whole_core_log: false, ..with(Vec::new()) };
    let miss = changed(ring_of, |record| {
        record.cpu = record.ended - record.started;
        record.ended = record.started + micros(300);
        record.switches = 2;
    });
    assert_eq!((miss.stage, miss.cause, miss.party), (Stage::Execution, Cause::RunQueueWait, Party::Job));
    assert!(miss.evidence[0].contains("coarse"), "{miss:#?}");
}

#[test]
fn unknown_switches_prove_nothing() {
    let ring_of = Ring { whole_core_log: false, ..with(Vec::new()) };
    let miss = changed(ring_of, |record| {
        record.started = record.started + micros(300);
        record.ended = record.ended + micros(300);
        record.switches = u32::MAX;
    });
    assert_eq!((miss.stage, miss.cause, miss.party), (Stage::Start, Cause::Unexplained, Party::Job));
}

#[test]
fn a_fault_of_the_instance_before_is_not_blamed_again() {
    let plants = vec![
        (199, Plant::PageFault { task: A, by: micros(10), logged: true }),
        (200, Plant::StallInSpin { task: A, by: micros(300) }),
    ];
    let mut record = ring(&with(plants));
    record.phases[0].tasks[A].instances[200].faults = 1;
    let misses = verdicts(&record);
    let miss = of_task(&misses, A, 200);
    assert_eq!((miss.cause, miss.party), (Cause::StallInSpin, Party::Machine), "{miss:#?}");
}

#[test]
fn without_the_machines_share_it_would_still_be_late() {
    let plants = vec![
        (200, Plant::StallInSpin { task: A, by: micros(35) }),
        (200, Plant::PageFault { task: A, by: micros(160), logged: true }),
    ];
    let misses = verdicts(&ring(&with(plants)));
    let miss = of_task(&misses, A, 200);
    assert_eq!((miss.cause, miss.party), (Cause::PageFault, Party::Job), "{miss:#?}");
    assert!(
        miss.evidence.iter().any(|sentence| sentence.contains("the machine's: the miss is the job's")),
        "{miss:#?}"
    );
}

#[test]
fn a_message_late_though_its_sender_kept_its_window_is_examined_too() {
    let mut record = ring(&with(vec![(200, Plant::PageFault { task: A, by: micros(120), logged: true })]));
    record.phases[0].tasks[A].instances[200].deadline = micros(200_000 + 900);
    let misses = verdicts(&record);
    let message = of_channel(&misses, A, 200);
    assert_eq!(
        (message.stage, message.cause, message.party),
        (Stage::Execution, Cause::PageFault, Party::Job)
    );
}

#[test]
fn a_longer_table_of_the_same_plan_changes_no_verdict() {
    let plants = vec![
        (199, Plant::LateTimer { task: C, by: micros(300) }),
        (200, Plant::NoBuffer { channel: B }),
        (303, Plant::Hog { task: A, priority: 90, by: micros(300) }),
        (351, Plant::Died { task: B }),
    ];
    let short = Ring { stalls: true, ..with(plants) };
    let long = Ring { periods_per_round: 4, ..short.clone() };
    let (short, long) = (ring(&short), ring(&long));
    assert_eq!(long.phases[0].plan.tasks[A].instances.len(), 4);
    assert_eq!(verdicts(&short), verdicts(&long));
}

#[test]
fn one_overrun_in_a_very_short_run_is_ours() {
    for (seed, stalls) in [(1, false), (2, true), (3, true), (4, true)] {
        for milliseconds in [10, 30] {
            let plants = vec![(10, Plant::Overrun { task: A, by: Nanos::from_millis(milliseconds) })];
            let period = Nanos::from_millis(20);
            let record = ring(&Ring { rounds: 20, seed, stalls, period, plants, ..Ring::default() });
            let miss = of_task(&verdicts(&record), A, 10).clone();
            assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "seed {seed}: {miss:#?}");
        }
    }
}

/// A run on a machine that stalls for milliseconds all the time, and a body of A's instance 2000 that took 8 ms.
fn a_long_body_among_long_stalls() -> RunRecord {
    let plants = vec![(2000, Plant::StallInBody { task: A, by: Nanos::from_millis(8) })];
    let mut record = ring(&Ring { rounds: 5000, stalls: true, plants, ..Ring::default() });
    let a = &mut record.phases[0].tasks[A];
    a.gaps = [400; 10];
    a.instances[100].gap = Nanos::from_millis(9);
    record
}

#[test]
fn a_body_as_long_as_the_machines_stalls_is_not_proven() {
    let record = a_long_body_among_long_stalls();
    let miss = of_task(&verdicts(&record), A, 2000).clone();
    assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "{miss:#?}");
    assert!(miss.unproven, "{miss:#?}");
}

/// A busy host lets a virtual core stand still right after its wake-ups, and seldom in a spin.
#[test]
fn long_bodies_among_wake_ups_as_late_are_not_proven() {
    let judged = |late: usize| {
        let plants = (1..=14).map(|k| (k * 100, Plant::Overrun { task: A, by: micros(110) })).collect();
        let mut record = ring(&Ring { rounds: 2000, stalls: true, plants, ..Ring::default() });
        let lateness = &mut record.phases[0].alone.lateness_ns;
        *lateness = [vec![5_000; 455 - late], vec![150_000; late]].concat();
        of_task(&verdicts(&record), A, 700).clone()
    };
    let miss = judged(134);
    assert_eq!((miss.cause, miss.party, miss.unproven), (Cause::Overrun, Party::Job, true), "{miss:#?}");
    assert!(miss.evidence[0].contains("was that late 134 times in 455"), "{miss:#?}");
    // A timer that was never that late excuses nothing.
    let miss = judged(0);
    assert_eq!((miss.cause, miss.party, miss.unproven), (Cause::Overrun, Party::Job, false), "{miss:#?}");
}

#[test]
fn a_stall_longer_than_any_seen_is_not_assumed() {
    let mut record = a_long_body_among_long_stalls();
    for task in &mut record.phases[0].tasks {
        for instance in &mut task.instances {
            instance.gap = instance.gap.min(Nanos::from_millis(1));
        }
    }
    record.phases[0].alone.lateness_ns = vec![5_000; 100];
    let miss = of_task(&verdicts(&record), A, 2000).clone();
    assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "{miss:#?}");
    assert!(miss.evidence[0].contains("was not seen to stall"), "{miss:#?}");
}

#[test]
fn timer_interrupts_in_a_body_prove_that_the_core_ran() {
    let started = a_long_body_among_long_stalls().phases[0].tasks[A].instances[2000].started;
    let judged = |core: u32, after_ms: &[i64]| {
        let mut record = a_long_body_among_long_stalls();
        let at = |ms: &i64| TimerInterrupt { at: started + Nanos::from_millis(*ms), core };
        record.phases[0].timers = after_ms.iter().map(at).collect();
        of_task(&verdicts(&record), A, 2000).clone()
    };
    let miss = judged(0, &[-1, 3, 7, 11]);
    assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "{miss:#?}");
    assert!(miss.evidence[0].contains("2 timer interrupts came on core 0") && !miss.unproven, "{miss:#?}");
    // None within the body, one right after its beginning, and those of another core prove nothing.
    for (core, after_ms) in [(0, &[-1, 9][..]), (0, &[0, 9]), (1, &[3, 7])] {
        let miss = judged(core, after_ms);
        assert!(miss.unproven && miss.party == Party::Job, "core {core}, {after_ms:?}: {miss:#?}");
    }
}

#[test]
fn stalls_in_one_body_of_five_do_not_make_the_others_overruns() {
    let mut record = a_long_body_among_long_stalls();
    for instance in record.phases[0].tasks[A].instances.iter_mut().step_by(5) {
        if instance.outcome == Outcome::Ran && instance.instance != 2000 {
            instance.ended = instance.started + micros(150);
        }
    }
    record.phases[0].tasks[A].gaps = [2_000_000; 10];
    let miss = of_task(&verdicts(&record), A, 2000).clone();
    assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "{miss:#?}");
    assert!(miss.unproven, "{miss:#?}");
}

#[test]
fn lost_evidence_is_named_where_it_was_lost() {
    let plants = vec![(200, Plant::LateUnknown { task: B, by: micros(300) })];
    let judged = |since_ms: i64, until_ms: i64| {
        let mut record = ring(&with(plants.clone()));
        let kind = EventKind::EvidenceLost { since: Nanos::from_millis(since_ms), records: 712 };
        record.phases[0].events.push(Event { at: Nanos::from_millis(until_ms), kind });
        of_task(&verdicts(&record), B, 200).clone()
    };
    let miss = judged(100, 300);
    assert_eq!((miss.cause, miss.party), (Cause::EvidenceLost, Party::Job), "{miss:#?}");
    assert!(miss.evidence[0].contains("712 records"), "{miss:#?}");
    assert_eq!(judged(300, 400).cause, Cause::RunQueueWait);
}

#[test]
fn changed_scheduling_is_never_the_machine() {
    // Seen at 150 ms, and seen to be back at 250 ms; instance k is planned about k ms after the epoch.
    let changed = |plant: Plant, back: bool| {
        let mut record = ring(&with(vec![(200, plant.clone()), (120, plant.clone()), (300, plant)]));
        let event = |at: i64, since: i64, now: &str| {
            let (now, set) = (now.to_owned(), "SCHED_FIFO 12 on core 0".to_owned());
            let kind =
                EventKind::SchedulingChanged { task: A as u16, since: Nanos::from_millis(since), now, set };
            Event { at: Nanos::from_millis(at), kind }
        };
        record.phases[0].events.push(event(150, 130, "SCHED_OTHER on core 0"));
        if back {
            record.phases[0].events.push(event(250, 230, "SCHED_FIFO 12 on core 0"));
        }
        let misses = verdicts(&record);
        [120, 200, 300].map(|instance| of_task(&misses, A, instance).clone())
    };
    let (ours, machine) = ((Cause::SchedulingChanged, Party::Job), (Cause::LateTimer, Party::Machine));
    for (back, expected) in [(true, [machine, ours, machine]), (false, [machine, ours, ours])] {
        let found = changed(Plant::LateTimer { task: A, by: micros(300) }, back);
        assert_eq!(found.clone().map(|miss| (miss.cause, miss.party)), expected, "{found:#?}");
        assert!(found[1].evidence[0].contains("first found at SCHED_OTHER on core 0 at 150"), "{found:#?}");
    }
    let waits = changed(Plant::Hog { task: A, priority: 1, by: micros(300) }, true);
    assert_eq!((waits[1].cause, waits[1].party), ours, "{waits:#?}");
    // What the task did itself stays what it is.
    let faults = changed(Plant::PageFault { task: A, by: micros(120), logged: true }, true);
    assert_eq!((faults[1].cause, faults[1].party), (Cause::PageFault, Party::Job), "{faults:#?}");
}

#[test]
fn a_thread_that_nobody_knows_proves_nothing_though_it_gave_way() {
    let judged = |preempted: bool| {
        let plants = vec![(200, Plant::Hog { task: A, priority: 0, by: micros(300) })];
        let mut record = ring(&with(plants));
        let phase = &mut record.phases[0];
        let at = phase.tasks[A].instances[200].planned;
        for event in &mut phase.switches {
            if event.to_name == "hog" {
                event.to_kind = ThreadKind::Unknown;
            }
            if event.to == phase.tasks[A].thread {
                event.left = if preempted { Left::Runnable } else { Left::Asleep };
            }
        }
        // Somebody with a higher priority than ours was about, so that rank cannot be taken for granted.
        let (to_kind, to_name) = (ThreadKind::Foreign { priority: 95 }, "other".to_owned());
        let seen = SwitchEvent {
            at: at - micros(900),
            core: 0,
            from: 0,
            to: 900,
            left: Left::Asleep,
            to_process: None,
            to_kind,
            to_name,
        };
        phase.switches.insert(0, seen);
        of_task(&verdicts(&record), A, 200).clone()
    };
    for preempted in [true, false] {
        let miss = judged(preempted);
        assert_eq!((miss.party, miss.unproven), (Party::Job, true), "{miss:#?}");
    }
}

/// A stalls in its spin until the next period's start, keeps the plan of that period without having slept, and C waits
/// for both.
fn displaced() -> RunRecord {
    let mut record = ring(&with(Vec::new()));
    let phase = &mut record.phases[0];
    let next = phase.tasks[A].instances[201].planned;
    let stalled = &mut phase.tasks[A].instances[200];
    (stalled.gap_at, stalled.outcome) = (stalled.planned - micros(2), Outcome::SkippedCritical);
    let over = next - micros(40);
    stalled.gap = over - stalled.gap_at;
    (stalled.started, stalled.ended) = (over, over);
    let came = stalled.woken - micros(1);
    let after = &mut phase.tasks[A].instances[201];
    after.woken = over + micros(1);
    let left = after.ended + micros(3);
    let waited = &mut phase.tasks[C].instances[200];
    waited.woken = left + micros(5);
    (waited.started, waited.ended, waited.outcome) = (waited.woken, waited.woken, Outcome::SkippedCritical);
    let (a, c) = (phase.tasks[A].thread, phase.tasks[C].thread);
    let switch = |at, from, to, task| {
        let to_kind = ThreadKind::Task(task);
        let to_name = String::new();
        SwitchEvent { at, core: 0, from, to, left: Left::Asleep, to_kind, to_process: None, to_name }
    };
    phase.switches = vec![switch(came, 0, a, A as u16), switch(left, a, c, C as u16)];
    phase
        .events
        .push(Event { at: came - Nanos(100), kind: EventKind::Woken { task: A as u16, core: 0, by: None } });
    record
}

#[test]
fn who_is_pushed_into_anothers_time_waits_for_what_pushed_it() {
    let misses = verdicts(&displaced());
    let root = of_task(&misses, A, 200);
    assert_eq!((root.cause, root.party), (Cause::StallInSpin, Party::Machine), "{root:#?}");
    let miss = of_task(&misses, C, 200);
    assert_eq!((miss.cause, miss.party), (Cause::RunQueueWait, Party::Machine), "{miss:#?}");
    let root = miss.root.as_ref().expect("a root");
    assert_eq!((root.task, root.instance, root.cause), (A, 200, Cause::StallInSpin));
}

#[test]
fn an_overrun_that_ended_in_time_is_not_why_the_next_was_left_out() {
    let plants = vec![(200, Plant::LateTimer { task: B, by: micros(300) })];
    let mut record = ring(&with(plants));
    let b = &mut record.phases[0].tasks[B].instances;
    b[199].ended = b[199].started + micros(53);
    b[200].outcome = Outcome::SkippedOverrun;
    let miss = of_task(&verdicts(&record), B, 200).clone();
    assert_eq!((miss.cause, miss.party), (Cause::LateTimer, Party::Machine), "{miss:#?}");
}

#[test]
fn bodies_that_are_long_only_when_a_tick_comes_are_overruns_all_the_same() {
    let rounds: Vec<u64> = (1..=6).map(|k| k * 700).collect();
    let judged = |ticks: usize, by: i64| {
        let plants =
            rounds.iter().map(|round| (*round, Plant::Overrun { task: A, by: micros(by) })).collect();
        let mut record = ring(&Ring { rounds: 5000, stalls: true, plants, ..Ring::default() });
        let phase = &mut record.phases[0];
        let started = |round: &u64| phase.tasks[A].instances[*round as usize].started;
        let at = rounds.iter().take(ticks).map(started);
        phase.timers = at.map(|at| TimerInterrupt { at: at + micros(20), core: 0 }).collect();
        of_task(&verdicts(&record), A, 700).clone()
    };
    for (ticks, by) in [(5, 110), (0, 110), (1, 110), (4, 110), (6, 300), (6, 900)] {
        let miss = judged(ticks, by);
        assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "{ticks} {by}: {miss:#?}");
    }
}

#[test]
fn a_timer_is_late_only_where_its_interrupt_was_and_the_thread_came_with_it() {
    let judged = |plant: Plant, before_the_thread: i64| {
        let mut record = ring(&with(vec![(200, plant)]));
        let woken = record.phases[0].tasks[A].instances[200].woken;
        let interrupts = [woken - Nanos::from_millis(50), woken - micros(before_the_thread)];
        record.phases[0].timers = interrupts.map(|at| TimerInterrupt { at, core: 0 }).to_vec();
        let miss = of_task(&verdicts(&record), A, 200).clone();
        (miss.cause, miss.party, miss.unproven)
    };
    let by = micros(40_000);
    let hog = |priority| Plant::Hog { task: A, priority, by };
    let idle = || Plant::LateTimer { task: A, by };
    assert_eq!(judged(idle(), 20), (Cause::LateTimer, Party::Machine, false));
    // The kernel keeps interrupts off in calls of threads too.
    let unproven = (Cause::LateTimer, Party::Job, true);
    let kernel = Plant::KernelThread { task: A, by };
    assert_eq!([judged(hog(0), 20), judged(hog(79), 20)], [unproven; 2]);
    assert_eq!(judged(kernel, 20), (Cause::KernelSection, Party::Machine, false));
    // Who ranks with it would have gone first, had the interrupt come in time.
    let behind = (Cause::RunQueueWait, Party::Process, false);
    assert_eq!([judged(hog(80), 20), judged(hog(90), 20)], [behind; 2]);
    // It came long after an interrupt: the hog had the core meanwhile, and of the idle core nothing is known.
    assert_eq!(judged(hog(0), 39_000), behind);
    assert_eq!(judged(idle(), 39_000), (Cause::Unexplained, Party::Job, true));
}

#[test]
fn a_deadline_thread_that_used_up_its_budget_is_throttled_by_its_own_doing() {
    let judged = |body: i64| {
        let mut record = ring(&with(vec![(200, Plant::LateTimer { task: A, by: micros(300) })]));
        let phase = &mut record.phases[0];
        phase.timers =
            vec![TimerInterrupt { at: phase.tasks[A].instances[200].planned - micros(49), core: 0 }];
        let a = &mut phase.tasks[A];
        a.priority = 100;
        a.instances[198].ended = a.instances[198].started + micros(body);
        let miss = of_task(&verdicts(&record), A, 200).clone();
        (miss.cause, miss.party, miss.unproven)
    };
    assert_eq!(judged(60), (Cause::Throttled, Party::Job, false));
    assert_eq!(judged(1), (Cause::Unexplained, Party::Job, true));
}

#[test]
fn who_sleeps_after_having_taken_our_core_does_not_make_us_sleep() {
    let plant = Plant::Preempted { task: B, priority: 90, by: micros(200) };
    let mut record = ring(&with(vec![(200, plant)]));
    let phase = &mut record.phases[0];
    let instance = phase.tasks[B].instances[200];
    let own = phase.tasks[B].thread;
    let within = |event: &&mut SwitchEvent| {
        event.from == own && event.at > instance.started && event.at < instance.ended
    };
    let taken = phase.switches.iter_mut().find(within).expect("it was preempted");
    assert_eq!(taken.left, Left::Runnable, "{taken:?}");
    // Half a way the one that has it goes to sleep, and another one comes before us.
    let other = SwitchEvent {
        at: taken.at + micros(100),
        from: taken.to,
        to: 913,
        left: Left::Asleep,
        to_process: None,
        to_kind: ThreadKind::Foreign { priority: 0 },
        to_name: "other".to_owned(),
        ..taken.clone()
    };
    let back =
        phase.switches.iter_mut().find(|event| event.at > other.at && event.to == own).expect("it came back");
    back.from = other.to;
    phase.switches.push(other);
    let misses = verdicts(&record);
    let miss = of_task(&misses, B, 200);
    assert_eq!((miss.cause, miss.party), (Cause::RunQueueWait, Party::Process), "{miss:#?}");
    assert!(!miss.evidence.iter().any(|sentence| sentence.contains("went to sleep")), "{miss:#?}");
}
