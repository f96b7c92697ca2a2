//! Whole jobs in one process: by virtual time, where everything is exact, and on threads, for race detectors.
#![allow(missing_docs, reason = "a test has no public interface")]

use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_memory::{Alleged, MessageRecord};
use leveret_plan::{CoreChoice, Costs, MissingPolicy, Placement, plan};
use leveret_protocol::declaration::{IteratorPolicy, JobDeclaration, MemberDeclaration};
use leveret_runtime::{Absence, Declarations, FateCode, InProcessJob, Input, SendRefusal};
use leveret_types::{ByteSize, ChannelId, MemberId, Nanos, TaskId};
use std::sync::{Arc, Mutex};

const PERIOD: Nanos = Nanos::from_millis(10);

fn us(value: i64) -> Nanos {
    Nanos::from_micros(value)
}

fn manifest(members: &[&str]) -> JobDeclaration {
    JobDeclaration {
        name: "in-process".to_owned(),
        cores: vec![0, 1],
        members: members
            .iter()
            .enumerate()
            .map(|(rank, name)| MemberDeclaration { name: (*name).to_owned(), core: Some(rank as u32 % 2) })
            .collect(),
        ..JobDeclaration::default()
    }
}

/// What a pair of tasks is like.
#[derive(Clone, Copy)]
struct Pair {
    placement: Placement,
    missing: MissingPolicy,
    size: u64,
    reader_period: i64,
    /// When messages are due, and the reader's window, within the period.
    due: i64,
    reads: (i64, i64),
}

const PLAIN: Pair = Pair {
    placement: Placement::Separate,
    missing: MissingPolicy::Skip,
    size: 64,
    reader_period: 1,
    due: 4_000,
    reads: (5_000, 9_000),
};

type Seen = Arc<Mutex<Vec<Result<(u64, u64), Absence>>>>;

/// A writer that sends its instance number, unless `silent` says so, and a reader that notes what it sees.
fn pair(shape: Pair, silent: impl Fn(u64) -> bool + Send + 'static) -> (InProcessJob, Seen) {
    let seen: Seen = Arc::default();
    let mut writer = Declarations::new("pair");
    let policy = if shape.placement == Placement::Aliased {
        IteratorPolicy::FifoOrdered
    } else {
        IteratorPolicy::Fifo
    };
    let window = [us(2_000), us(shape.due)];
    let source = writer
        .source("data")
        .size(ByteSize(shape.size))
        .policy(policy)
        .time_driven(PERIOD, window, shape.missing)
        .declare();
    writer
        .task("writer")
        .period(PERIOD)
        .window(us(0), us(2_000))
        .budget(us(500))
        .core(CoreChoice::Pinned(0))
        .writes(source)
        .body(move |instance| {
            let number = instance.instance().0;
            if silent(number) {
                return;
            }
            let mut slot = instance.output(source).expect("a planned slot is free");
            slot.bytes_mut()[..8].copy_from_slice(&number.to_le_bytes());
            slot.insert(8).expect("8 bytes fit");
            assert_eq!(instance.send(source, &[0; 8]), Err(SendRefusal::AlreadySent));
        });
    let mut reader = Declarations::new("pair");
    let target = reader.target("data").size(ByteSize(shape.size)).policy(policy).declare();
    let notes = seen.clone();
    reader
        .task("reader")
        .period(Nanos(PERIOD.0 * shape.reader_period))
        .window(us(shape.reads.0), us(shape.reads.1))
        .budget(us(500))
        .core(CoreChoice::Pinned(1))
        .reads(target)
        .body(move |instance| {
            let mut bytes = [0; 8];
            let note = match instance.input(target) {
                Input::Message(message) | Input::Held(message, _) => {
                    message.copy_to(&mut bytes).expect("nobody overwrites a taken message");
                    Ok((message.instance().0, u64::from_le_bytes(bytes)))
                }
                Input::Absent(absence) => Err(absence),
            };
            notes.lock().expect("one reader").push(note);
        });
    let job = InProcessJob::commit(&manifest(&["W", "R"]), vec![writer, reader], Costs::default(), |job| {
        plan(job).map_err(|refusal| refusal.to_string())
    });
    (job.unwrap_or_else(|error| panic!("{error}")), seen)
}

fn taken(seen: &Seen) -> Vec<Result<(u64, u64), Absence>> {
    seen.lock().expect("the run is over").clone()
}

// spec: SIDED-ZERO-02, CHANNEL-ALIAS-04
#[test]
fn in_process_every_message_arrives_at_its_instance() {
    for placement in [Placement::Separate, Placement::Aliased] {
        for size in [8, 40, 41, 4096] {
            let (mut job, seen) = pair(Pair { placement, size, ..PLAIN }, |_| false);
            job.run_virtual(50, |_, _, _| {});
            let expected: Vec<_> = (0..50).map(|k| Ok((k, k))).collect();
            assert_eq!(taken(&seen), expected, "{placement:?} {size}");
        }
    }
}

// spec: CHANNEL-MISS-01, CHANNEL-MISS-04
#[test]
fn in_process_a_missing_message_costs_its_instance_only() {
    let (mut job, seen) = pair(PLAIN, |number| number % 7 == 3);
    job.run_virtual(40, |_, _, _| {});
    for (k, note) in (0..40).zip(taken(&seen)) {
        assert_eq!(note, if k % 7 == 3 { Err(Absence::Missing) } else { Ok((k, k)) });
    }
}

// spec: CHANNEL-MISS-05
#[test]
fn in_process_hold_last_gives_the_last_good_one_again() {
    for placement in [Placement::Separate, Placement::Aliased] {
        let shape = Pair { placement, missing: MissingPolicy::HoldLast, ..PLAIN };
        let (mut job, seen) = pair(shape, |number| (10..15).contains(&number));
        job.run_virtual(30, |_, _, _| {});
        for (k, note) in (0..30).zip(taken(&seen)) {
            let expected = if (10..15).contains(&k) { 9 } else { k };
            assert_eq!(note, Ok((expected, expected)), "{placement:?} instance {k}");
        }
    }
}

// spec: CHANNEL-MISS-02
#[test]
fn in_process_a_message_inserted_after_it_was_due_is_late_even_if_it_is_there() {
    let (mut job, seen) = pair(PLAIN, |_| false);
    // The writer's core stalls for 3 ms in the body's frame of instance 5: it inserts after 4 ms, before 5 ms.
    job.run_virtual(10, |task, planned, clock| {
        if task == TaskId(0) && planned.0 / PERIOD.0 == 5 {
            clock.delay_next_wake(us(4_500));
        }
    });
    let notes = taken(&seen);
    assert!(matches!(notes[5], Err(Absence::Late(_) | Absence::Missing)), "{:?}", notes[5]);
    assert_eq!(notes[6], Ok((6, 6)), "the next instance is unaffected");
}

#[test]
fn in_process_under_sampling_sees_the_freshest_and_never_starves_the_writer() {
    let (mut job, seen) = pair(Pair { reader_period: 4, ..PLAIN }, |_| false);
    job.run_virtual(25, |_, _, _| {});
    let notes = taken(&seen);
    assert_eq!(notes.len(), 25);
    for (k, note) in (0..25_u64).zip(notes) {
        let (instance, content) = note.expect("every fourth message is seen");
        assert_eq!(instance, content);
        assert_eq!(instance % 4, 0, "round {k} reads the message of its own period");
    }
}

#[test]
fn in_process_records_join_by_instance() {
    let (mut job, _) = pair(PLAIN, |number| number == 4);
    job.run_virtual(8, |_, _, _| {});
    let sender = job.segment(MemberId(0)).expect("a valid segment");
    let receiver = job.segment(MemberId(1)).expect("a valid segment");
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let mut from = sender.source(ChannelId(0)).expect("the channel").records();
    let told = |record: Alleged<MessageRecord>| (record.any_value().instance, record.any_value().fate);
    assert_eq!(from.drain(|record| sent.push(told(record))).lost.any_value(), 0);
    let mut to = receiver.target(ChannelId(0)).expect("the channel").records();
    assert_eq!(to.drain(|record| received.push(told(record))).lost.any_value(), 0);
    let fate = |k| if k == 4 { FateCode::Missing as u8 } else { FateCode::Done as u8 };
    assert_eq!(sent, (0..8).map(|k| (k, fate(k))).collect::<Vec<_>>());
    assert_eq!(received, sent);
}

/// The writer's instance and the reader's start together, on two threads: the one fills a buffer while the other reads its neighbour.
#[test]
fn in_process_threads_write_and_read_at_one_instant() {
    let rounds = 300;
    for placement in [Placement::Separate, Placement::Aliased] {
        for size in [8, 4096] {
            let shape = Pair { placement, size, due: 10_000, reads: (0, 2_000), ..PLAIN };
            let (mut job, seen) = pair(shape, |number| number % 7 == 3);
            job.run_threads(rounds);
            let expected: Vec<_> = (0..rounds)
                .map(|k| match k.checked_sub(1) {
                    None => Err(Absence::BeforeFirst),
                    Some(sent) if sent % 7 == 3 => Err(Absence::Missing),
                    Some(sent) => Ok((sent, sent)),
                })
                .collect();
            assert_eq!(taken(&seen), expected, "{placement:?} {size}");
        }
    }
}

#[test]
fn in_process_threads_pass_a_ring() {
    let rounds = 300;
    let (misses, runs) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let names = ["A", "B", "C"];
    let channels = ["CA", "AB", "BC"];
    let mut members = Vec::new();
    for (rank, name) in names.iter().enumerate() {
        let mut declared = Declarations::new("ring");
        let (from, to) = (channels[rank], channels[(rank + 1) % 3]);
        let at = |slot: i64| us(1_000 * slot);
        let slot = 2 * rank as i64;
        let source =
            declared.source(to).time_driven(PERIOD, [at(slot + 1), at(slot + 2)], MissingPolicy::Skip);
        let source = source.size(ByteSize(1024)).declare();
        let target = declared.target(from).size(ByteSize(1024)).declare();
        let (misses, runs, first) = (misses.clone(), runs.clone(), rank == 0);
        declared
            .task(&format!("{name}.user"))
            .period(PERIOD)
            .window(at(slot), at(slot + 1))
            .budget(us(300))
            .reads(target)
            .writes(source)
            .body(move |instance| {
                let mut bytes = [0; 1024];
                let number = instance.instance().0;
                // What comes round to the first was sent in the period before.
                let expected = if first { number.checked_sub(1) } else { Some(number) };
                let is_right = match (instance.input(target), expected) {
                    (Input::Message(message), Some(sent)) => {
                        message.copy_to(&mut bytes).is_ok() && bytes.iter().all(|byte| *byte == sent as u8)
                    }
                    (Input::Absent(Absence::BeforeFirst), None) => true,
                    _ => false,
                };
                misses.fetch_add(u64::from(!is_right), Ordering::Relaxed);
                runs.fetch_add(1, Ordering::Relaxed);
                // Written in place: a race detector knows who writes plain memory, and when.
                let mut slot = instance.output(source).expect("a planned slot is free");
                slot.bytes_mut().fill(number as u8);
                slot.insert(1024).expect("it fits");
            });
        members.push(declared);
    }
    let manifest = manifest(&names);
    let job = InProcessJob::commit(&manifest, members, Costs::default(), |job| {
        plan(job).map_err(|refusal| refusal.to_string())
    });
    let mut job = job.unwrap_or_else(|error| panic!("{error}"));
    job.run_threads(rounds);
    assert_eq!((runs.load(Ordering::Relaxed), misses.load(Ordering::Relaxed)), (3 * rounds, 0));
}
