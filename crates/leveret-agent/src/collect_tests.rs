//! Collection from members that tell the truth, and from members that may say anything.

use super::*;
use leveret_memory::{HeapRegion, OwnSegment, PeerSegment, Receiver, Sender};
use leveret_plan::{CoreChoice, Costs, MissingPolicy, plan};
use leveret_protocol::declaration::{JobDeclaration, MemberDeclaration};
use leveret_report::record::{AloneProbe, Ending, MachineFacts, Phase, RunRecord};
use leveret_report::{Report, html, json, text, trace};
use leveret_runtime::{Admitted, Declarations, InProcessJob, OutcomeCode};
use leveret_types::{ByteSize, ChannelId, Generation, MemberId, TaskId};
use std::sync::Arc;

#[path = "collect_tests/damage.rs"]
mod damage;
#[path = "collect_tests/day.rs"]
mod day;
#[path = "collect_tests/events.rs"]
mod events;

const PERIOD: Nanos = Nanos::from_millis(10);
const EPOCH: Nanos = Nanos::from_secs(5000);
const GENERATION: Generation = Generation(1);

/// A writer, a reader, and a channel between them.
fn pair() -> InProcessJob {
    pair_of(PERIOD)
}

fn pair_of(period: Nanos) -> InProcessJob {
    pair_by(period, true)
}

/// The same, with a channel that the clock moves or one of best effort.
fn pair_by(period: Nanos, is_timed: bool) -> InProcessJob {
    let tenths = |count: i64| Nanos(period.0 / 10 * count);
    let budget = Nanos(period.0 / 20);
    let mut writer = Declarations::new("pair");
    let window = [2, 4].map(tenths);
    let source = writer.source("data").size(ByteSize(8));
    let source = match is_timed {
        true => source.time_driven(period, window, MissingPolicy::Skip).declare(),
        false => source.best_effort().declare(),
    };
    let task = writer.task("writer").period(period).window(Nanos::ZERO, window[0]);
    let task = task.budget(budget).core(CoreChoice::Pinned(0));
    if is_timed { task.writes(source) } else { task.sends(source) }.body(|_| {});
    let mut reader = Declarations::new("pair");
    let target = reader.target("data").size(ByteSize(8)).declare();
    let task = reader.task("reader").period(period).window(tenths(5), tenths(9));
    let task = task.budget(budget).core(CoreChoice::Pinned(1));
    if is_timed { task.reads(target) } else { task.receives(target) }.body(|_| {});
    let member = |name: &str, core| MemberDeclaration { name: name.to_owned(), core: Some(core) };
    let manifest = JobDeclaration {
        name: "pair".to_owned(),
        cores: vec![0, 1],
        members: vec![member("W", 0), member("R", 1)],
        ..JobDeclaration::default()
    };
    let planned = |job: &_| plan(job).map_err(|refusal| refusal.to_string());
    InProcessJob::commit(&manifest, vec![writer, reader], Costs::default(), planned).expect("a sound job")
}

/// A small generator (Marsaglia's xorshift64), so that a failing run can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Small, huge, one bit, or anything.
    fn nonsense(&mut self) -> u64 {
        match self.next() % 6 {
            0 => self.next() % 64,
            1 => u64::MAX - self.next() % 64,
            2 => 1 << (self.next() % 64),
            3 => (i64::MAX as u64).wrapping_add(self.next() % 3),
            _ => self.next(),
        }
    }
}

/// The stamp of an instance that kept its plan.
fn honest(job: &InProcessJob, task: usize, instance: u64) -> StampRecord {
    let after = job.plan.hyperperiod.saturating_mul(instance as i64);
    let planned = EPOCH + job.plan.tasks[task].instances[0].start() + after;
    StampRecord {
        instance,
        planned,
        deadline: EPOCH + job.assembled.job.tasks[task].deadline + after,
        woken: planned - Nanos(20_000),
        started: planned + Nanos(100),
        ended: planned + Nanos(30_000),
        gap: Nanos(50),
        gap_at: planned - Nanos(1000),
        ..StampRecord::default()
    }
}

/// What the source of the channel says of a message that it sent in time.
fn sent(job: &InProcessJob, instance: u64) -> RawMessage {
    let after = job.plan.hyperperiod.saturating_mul(instance as i64);
    let due = EPOCH + job.plan.channels[0].instances[0].visible_at + after;
    RawMessage { instance, at: EPOCH + Nanos(30_000) + after, due, size: 8, fate: FateCode::Done as u8 }
}

/// What the target of a channel of best effort says of the messages that it samples.
fn sampled(number: u64) -> RawMessage {
    let due = EPOCH + PERIOD.saturating_mul(number as i64);
    let (instance, at) = (SAMPLED_OF * number, due + Nanos(700));
    RawMessage { instance, at, due, size: 8, fate: FateCode::Sampled as u8 }
}

/// What is collected of the pair's segments until `now`, in as many drains.
fn collected(job: &InProcessJob, segments: &[PeerSegment], instants: &[Nanos]) -> RunRecord {
    let tasks = (0..2).map(|task| {
        let reader = segments[task].task(TaskId(task as u16));
        let table = TaskTable::new(&job.assembled, &job.plan, task);
        let mut collector = TaskCollector::new(reader, 0, table, (EPOCH, 0));
        instants.iter().for_each(|now| drop(collector.drain(|| *now)));
        collector.finish(task as u16, instants[instants.len() - 1])
    });
    let (tasks, events): (Vec<_>, Vec<_>) = tasks.unzip();
    let table = ChannelTable::new(&job.assembled, &job.plan, 0);
    let (source, target) = (segments[0].source(ChannelId(0)), segments[1].target(ChannelId(0)));
    let mut channel = ChannelCollector::new(source, target, table, (EPOCH, 0));
    for now in instants {
        let _wrong = channel.drain(|| *now);
    }
    let now = instants[instants.len() - 1];
    let phase = Phase {
        label: "pair".to_owned(),
        job: job.assembled.job.clone(),
        plan: job.plan.clone(),
        epoch_monotonic: EPOCH,
        rounds: ((now - EPOCH).0 / PERIOD.0).unsigned_abs(),
        tasks,
        channels: vec![channel.finish(now)],
        switches: Vec::new(),
        timers: Vec::new(),
        events: events.into_iter().flatten().collect(),
        alone: AloneProbe::default(),
    };
    RunRecord {
        job: "pair".to_owned(),
        started_unix_s: 0,
        machine: MachineFacts::default(),
        phases: vec![phase],
        ending: Ending::Completed,
    }
}

fn segment(job: &InProcessJob, member: u16, word: impl FnMut(usize) -> u64) -> (OwnSegment, PeerSegment) {
    let admitted = Admitted { assembled: &job.assembled, plan: &job.plan, generation: GENERATION };
    let layout = admitted.layout(MemberId(member)).expect("a layout");
    let region = Arc::new(HeapRegion::filled(layout.size(), word));
    let own = OwnSegment::create(region.clone(), &layout).expect("fresh");
    let peer =
        PeerSegment::attach(region, &layout, MemberId(member), GENERATION).expect("its header is right");
    (own, peer)
}

/// Every number of a record is one that a run until `now` can have had, and every output can be made of it.
fn assert_believable(record: &RunRecord, now: Nanos, seed: u64) {
    let phase = &record.phases[0];
    let (elapsed, rounds) = (now - EPOCH, phase.rounds + 2);
    let is_within = |at: Nanos| Nanos::from_secs(-3601) <= at && at <= elapsed + PERIOD.saturating_mul(5);
    for task in &phase.tasks {
        assert!(task.records_lost <= rounds && task.instances.len() as u64 <= rounds, "seed {seed}");
        for instance in &task.instances {
            let instants =
                [instance.planned, instance.woken, instance.started, instance.ended, instance.gap_at];
            assert!(
                instance.instance <= rounds && instants.into_iter().all(is_within),
                "{seed}: {instance:?}"
            );
            assert!(instance.gap <= elapsed && instance.cpu <= elapsed + PERIOD, "{seed}: {instance:?}");
        }
        let counts = task.data_path;
        let most = elapsed.0.unsigned_abs() + 3600 * 1_000_000_000;
        let counts =
            [counts.allocations, counts.page_faults, counts.system_calls, counts.involuntary_switches];
        assert!(counts.into_iter().flatten().chain(task.gaps).all(|count| count <= most), "{seed}: {task:?}");
    }
    // What the clock moves is bound by it; of the rest a machine sends no message in 10 ns.
    let is_timed = !phase.plan.channels[0].instances.is_empty();
    let most =
        if is_timed { rounds + 1 + leveret_runtime::START_AHEAD_MAX } else { now.0.unsigned_abs() / 10 };
    for message in &phase.channels[0].messages {
        let instants = [message.inserted, message.taken, Some(message.due)];
        assert!(
            message.instance <= most && instants.into_iter().flatten().all(is_within),
            "{seed}: {message:?}"
        );
    }
    let report = Report::of(record);
    for wrong in &report.assessment.irregularities {
        assert!(wrong.count < 1 << 32, "{seed}: {wrong:?}");
    }
    assert!(text::table(&report).contains("verdict: ") && html::page(&report).ends_with("</html>\n"));
    assert!(json::text(&report).len() + trace::text(&report).len() > 100);
}

// spec: LAW-VALID-01
#[test]
fn members_that_say_anything_are_counted_and_never_believed() {
    for is_timed in [true, false] {
        let job = pair_by(PERIOD, is_timed);
        (1..=160).for_each(|seed| say_anything(&job, is_timed, seed));
    }
}

fn say_anything(job: &InProcessJob, is_timed: bool, seed: u64) {
    let mut random = Random(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15));
    let everywhere = seed.is_multiple_of(4);
    let mut word = |place: usize| if everywhere && place > 0 { random.nonsense() } else { 0 };
    let (mut writer, writer_peer) = segment(job, 0, &mut word);
    let (mut reader, reader_peer) = segment(job, 1, &mut word);
    let mut stamps =
        [writer.take_task(TaskId(0)).expect("declared"), reader.take_task(TaskId(1)).expect("declared")];
    let (mut sender, mut receiver) = ends(&mut writer, &mut reader, &writer_peer, &reader_peer);
    for instance in 0..40 {
        for (task, stamps) in stamps.iter_mut().enumerate() {
            stamps.push(&any_stamp(&mut random, honest(job, task, instance)));
            stamps.set(TaskCounter::Allocations, random.nonsense());
            stamps.set(TaskCounter::SpinNs, random.nonsense());
            stamps.count_gap(random.next() as usize % 12);
        }
        let honest = if is_timed { sent(job, instance) } else { sampled(instance) };
        sender.record(&any_message(&mut random, honest));
        receiver.record(&any_message(&mut random, honest));
    }
    let instants = [EPOCH + PERIOD.saturating_mul(20), EPOCH + PERIOD.saturating_mul(40)];
    let record = collected(job, &[writer_peer, reader_peer], &instants);
    assert_believable(&record, instants[1], seed);
}

/// Both ends of the channel.
fn ends(
    writer: &mut OwnSegment,
    reader: &mut OwnSegment,
    writer_peer: &PeerSegment,
    reader_peer: &PeerSegment,
) -> (Sender, Receiver) {
    let channel = ChannelId(0);
    let source = writer.take_source(channel).expect("declared");
    let target = reader.take_target(channel).expect("declared");
    (
        Sender::new(source, reader_peer.target(channel).expect("declared")),
        Receiver::new(target, writer_peer.source(channel).expect("declared")),
    )
}

/// A stamp of which some fields say anything, or none.
fn any_stamp(random: &mut Random, honest: StampRecord) -> StampRecord {
    let mut stamp = honest;
    let any = Nanos(random.nonsense() as i64);
    match random.next() % 16 {
        0 => stamp.instance = random.nonsense(),
        1 => stamp.planned = any,
        2 => stamp.deadline = any,
        3 => stamp.woken = any,
        4 => stamp.started = any,
        5 => stamp.ended = any,
        6 => stamp.gap = any,
        7 => stamp.gap_at = any,
        8 => stamp.cpu = any,
        9 => stamp.outcome = random.next() as u8,
        10 => stamp.clock_step = any,
        11 => (stamp.faults, stamp.switches) = (random.nonsense() as u32, random.nonsense() as u32),
        _ => {}
    }
    stamp
}

fn any_message(random: &mut Random, honest: RawMessage) -> RawMessage {
    let mut message = honest;
    let any = random.nonsense();
    match random.next() % 12 {
        0 => message.instance = any,
        1 => message.at = Nanos(any as i64),
        2 => message.due = Nanos(any as i64),
        3 => message.size = any as u32,
        4 => message.fate = any as u8,
        5 | 6 => message.fate = (random.next() % 14) as u8,
        // Whatever can be said of it fits, but that there is no such instance yet.
        7 | 8 => {
            let ahead = any % (1 << 40);
            message.instance += ahead;
            message.due = message.due + PERIOD.saturating_mul(ahead as i64);
            message.fate = (random.next() % 14) as u8;
        }
        _ => {}
    }
    message
}

/// What is kept, and what is counted as untrue of the source and the target, when both ends say this in place of instance 7.
fn kept_of(is_timed: bool, is_source: bool, change: fn(&mut RawMessage)) -> (usize, Implausible) {
    let job = pair_by(PERIOD, is_timed);
    let (mut writer, writer_peer) = segment(&job, 0, |_| 0);
    let (mut reader, reader_peer) = segment(&job, 1, |_| 0);
    let (mut sender, mut receiver) = ends(&mut writer, &mut reader, &writer_peer, &reader_peer);
    for instance in 0..20 {
        let mut message = if is_timed { sent(&job, instance) } else { sampled(instance) };
        if instance == 7 {
            change(&mut message);
        }
        if is_source { sender.record(&message) } else { receiver.record(&message) }
    }
    let now = EPOCH + PERIOD.saturating_mul(20);
    let record = collected(&job, &[writer_peer, reader_peer], &[now]);
    assert_believable(&record, now, 0);
    let channel = &record.phases[0].channels[0];
    (channel.messages.len(), channel.implausible)
}

// spec: LAW-VALID-01
#[test]
fn a_message_that_cannot_be_true_is_left_out_and_lies_with_its_end() {
    fn far(message: &mut RawMessage, fate: FateCode) {
        message.instance += 1 << 30;
        message.due = message.due + PERIOD.saturating_mul(1 << 30);
        message.fate = fate as u8;
    }
    let timed: [fn(&mut RawMessage); 8] = [
        |message| message.instance = u64::MAX,
        |message| message.due = message.due + Nanos(1),
        |message| message.size = 9,
        |message| message.fate = FateCode::TooLong as u8,
        |message| far(message, FateCode::Missing),
        |message| far(message, FateCode::NoBuffer),
        |message| far(message, FateCode::Passed),
        |message| far(message, FateCode::Done),
    ];
    let untimed: [fn(&mut RawMessage); 7] = [
        |message| message.instance = u64::MAX - 63,
        |message| message.instance += 1,
        |message| message.instance = 1 << 62,
        |message| message.fate = FateCode::Missing as u8,
        |message| message.fate = FateCode::Done as u8,
        |message| message.due = message.at + Nanos(1),
        |message| (message.instance, message.fate) = (u64::MAX, FateCode::Damaged as u8),
    ];
    for (which, change) in timed.into_iter().enumerate() {
        let expected = (19, Implausible { source: 1, target: 0 });
        assert_eq!(kept_of(true, true, change), expected, "timed {which}");
        let expected = (19, Implausible { source: 0, target: 1 });
        assert_eq!(kept_of(true, false, change), expected, "timed {which}");
    }
    for (which, change) in untimed.into_iter().enumerate() {
        let expected = (19, Implausible { source: 0, target: 1 });
        assert_eq!(kept_of(false, false, change), expected, "untimed {which}");
    }
    // A transfer is started for an instance that the receiver joins in at, which may be that far ahead; its due instant then is, too.
    fn ahead(message: &mut RawMessage, by: u64) {
        message.instance += by;
        message.due = message.due + PERIOD.saturating_mul(by as i64);
    }
    assert_eq!(kept_of(true, true, |message| ahead(message, 16)), (20, Implausible::default()));
    assert_eq!(kept_of(true, true, |message| ahead(message, 17)), (19, Implausible { source: 1, target: 0 }));
    // A sender of best effort leaves no records.
    assert_eq!(kept_of(false, true, |_| {}), (0, Implausible { source: 20, target: 0 }));
    assert_eq!(kept_of(true, true, |_| {}), (20, Implausible::default()));
    assert_eq!(kept_of(false, false, |_| {}), (20, Implausible::default()));
}

/// However often an end says it, and however much of it it says was overwritten: what is counted is what so many instances can have.
#[test]
fn what_an_end_says_again_and_again_is_counted_as_often_as_can_be() {
    let job = pair();
    let (mut writer, writer_peer) = segment(&job, 0, |_| 0);
    let (mut reader, reader_peer) = segment(&job, 1, |_| 0);
    let (mut sender, mut receiver) = ends(&mut writer, &mut reader, &writer_peer, &reader_peer);
    let table = ChannelTable::new(&job.assembled, &job.plan, 0);
    let (source, target) = (writer_peer.source(ChannelId(0)), reader_peer.target(ChannelId(0)));
    let mut channel = ChannelCollector::new(source, target, table, (EPOCH, 0));
    let now = EPOCH + PERIOD.saturating_mul(20);
    for _ in 0..50 {
        for _ in 0..20_000 {
            receiver.record(&RawMessage { fate: FateCode::Corrupt as u8, ..sent(&job, 7) });
        }
        let _wrong = channel.drain(|| now);
    }
    let record = channel.record.clone();
    assert!(record.corrupt + record.records_lost <= 400, "{record:?}");
    assert!(record.implausible.target > 0 && record.implausible.source == 0, "{record:?}");
    // The other end is as credible as before.
    sender.record(&sent(&job, 7));
    let _wrong = channel.drain(|| now);
    assert_eq!((channel.messages.len(), channel.record.implausible.source), (1, 0));
}

#[test]
fn what_a_task_counts_it_counts_from_the_epoch_on() {
    let now = EPOCH + PERIOD;
    let count = |now: Nanos, count: u64| Span { epoch: EPOCH, now }.count_of_task(Alleged::new(count));
    let second = 1_000_000_000;
    assert_eq!(count(now, second + 10_000_000), Some(second + 10_000_000));
    assert_eq!(count(now, second + 10_000_001), None);
    // Set up long before an epoch that lies far ahead.
    assert_eq!(count(EPOCH - Nanos::from_secs(4000), 7), Some(7));
}

#[test]
fn an_instance_that_a_member_names_has_begun_or_is_the_next() {
    let job = pair();
    let now = EPOCH + PERIOD.saturating_mul(20);
    for before in [0, 1000] {
        let table = TaskTable::new(&job.assembled, &job.plan, 0);
        let task = TaskCollector::new(None, 0, table, (EPOCH, before));
        let table = ChannelTable::new(&job.assembled, &job.plan, 0);
        let channel = ChannelCollector::new(None, None, table, (EPOCH, before));
        let begun = |instance| [task.has_begun(instance, now), channel.has_begun(instance, now)];
        for possible in [0, before, before + 20] {
            assert_eq!(begun(possible), [true, true], "{possible} after {before}");
        }
        for impossible in [before + 23, 1 << 40, 1 << 63, u64::MAX] {
            assert_eq!(begun(impossible), [false, false], "{impossible} after {before}");
        }
    }
}

#[test]
fn a_stamp_that_cannot_be_true_is_left_out_and_lies_with_its_member() {
    let job = pair();
    let wrong: [fn(&mut StampRecord); 12] = [
        |stamp| stamp.instance = 1 << 63,
        |stamp| stamp.instance += 1,
        |stamp| stamp.planned = stamp.planned + Nanos(1),
        |stamp| stamp.deadline = Nanos::MAX,
        |stamp| stamp.woken = Nanos(i64::MIN),
        |stamp| stamp.started = stamp.planned - Nanos::from_millis(2),
        |stamp| stamp.ended = EPOCH + Nanos::from_secs(3),
        |stamp| stamp.gap = Nanos(-1),
        |stamp| stamp.gap_at = Nanos::ZERO,
        |stamp| stamp.cpu = Nanos::from_secs(1),
        |stamp| stamp.clock_step = Nanos(i64::MIN),
        |stamp| stamp.outcome = 4,
    ];
    for (which, change) in wrong.into_iter().enumerate() {
        let (mut writer, writer_peer) = segment(&job, 0, |_| 0);
        let (mut reader, reader_peer) = segment(&job, 1, |_| 0);
        let mut stamps = writer.take_task(TaskId(0)).expect("declared");
        let mut others = reader.take_task(TaskId(1)).expect("declared");
        for instance in 0..20 {
            let mut stamp = honest(&job, 0, instance);
            stamp.outcome = OutcomeCode::Ran as u8;
            others.push(&honest(&job, 1, instance));
            if instance == 7 {
                change(&mut stamp);
            }
            stamps.push(&stamp);
        }
        let now = EPOCH + PERIOD.saturating_mul(20);
        let record = collected(&job, &[writer_peer, reader_peer], &[now]);
        let [writer, reader] = &record.phases[0].tasks[..] else { panic!("two tasks") };
        assert_eq!((writer.implausible, writer.instances.len()), (1, 19), "change {which}");
        assert_eq!((reader.implausible, reader.instances.len()), (0, 20), "change {which}");
        let report = Report::of(&record);
        let told: Vec<_> =
            report.assessment.irregularities.iter().filter(|found| found.kind == "implausible").collect();
        assert_eq!((told.len(), told[0].count), (1, 1), "change {which}: {told:?}");
        assert!(told[0].sentence.contains("member W"), "{}", told[0].sentence);
        assert_eq!(report.assessment.exit_code(), 1);
    }
}

/// A run with twenty times the data of the limit holds the same bytes, and accounts for every instance.
#[test]
fn a_long_run_is_held_in_the_bytes_that_a_short_one_is() {
    const CAPACITY: usize = 1_000_000;
    let job = pair();
    let (task_table, channel_table) =
        (TaskTable::new(&job.assembled, &job.plan, 0), ChannelTable::new(&job.assembled, &job.plan, 0));
    let mut task = TaskCollector::new(None, 0, task_table, (EPOCH, 0));
    let mut channel = ChannelCollector::new(None, None, channel_table, (EPOCH, 0));
    let mut windows = Windows::new(PERIOD.saturating_mul(3));
    let (count, mut random, mut missed) = (200_000, Random(77), Vec::new());
    for instance in 0..count {
        let mut stamp = honest(&job, 0, instance);
        stamp.ended = stamp.ended + Nanos((random.next() % 100_000) as i64);
        if instance % 9_000 == 8_999 {
            stamp.ended = stamp.deadline + Nanos(5);
            missed.push(instance);
        }
        let found = task.take(&stamp, Outcome::Ran);
        if let Some(found) = found.filter(|found| found.missed) {
            windows.open(found.from - EPOCH, found.until - EPOCH);
        }
        let message = sent(&job, instance);
        channel.sent(&message, FateCode::Done);
        channel.received(&RawMessage { at: message.due + Nanos(700), ..message }, FateCode::Done);
        if instance % 40 == 0 {
            task.thin(&windows, CAPACITY);
            channel.thin(&windows, CAPACITY);
            assert!(task.bytes <= CAPACITY && channel.messages.len() * MESSAGE_BYTES <= CAPACITY);
        }
    }
    let ((task, _), channel) = (task.finish(0, Nanos::MAX), channel.finish(Nanos::MAX));
    assert_eq!(task.instances.len() as u64 + task.thinned.count, count);
    assert_eq!(channel.messages.len() as u64 + channel.thinned.count, count);
    assert_eq!((task.thinned.missed, channel.thinned.taken), (0, channel.thinned.count));
    let distribution = &task.thinned.execution;
    assert_eq!(distribution.count, task.thinned.count);
    assert!(distribution.counts.len() < 2000 && distribution.max <= 130_000, "{}", distribution.counts.len());
    // Each miss with the two instances before and after it, and the messages of all of them.
    let is_kept = |number: u64| task.instances.binary_search_by_key(&number, |found| found.instance).is_ok();
    let is_told =
        |number: u64| channel.messages.binary_search_by_key(&number, |found| found.instance).is_ok();
    for number in missed.into_iter().flat_map(|miss| miss - 2..=miss + 2).chain(0..64) {
        assert!(is_kept(number) && is_told(number), "{number}");
    }
}

/// A task that misses always: the first misses are kept, of the others the number.
#[test]
fn more_misses_than_fit_are_counted_each() {
    let job = pair();
    let mut task = TaskCollector::new(None, 0, TaskTable::new(&job.assembled, &job.plan, 0), (EPOCH, 0));
    let mut windows = Windows::new(PERIOD.saturating_mul(3));
    for instance in 0..20_000 {
        let mut stamp = honest(&job, 0, instance);
        stamp.ended = stamp.deadline + Nanos(5);
        let found = task.take(&stamp, Outcome::Ran).expect("a miss");
        windows.open(found.from - EPOCH, found.until - EPOCH);
        task.thin(&windows, 4_000_000);
        assert!(task.bytes <= 4_000_000 + MISS_BYTES * 2);
    }
    let (record, _) = task.finish(0, Nanos::MAX);
    let kept = record.instances.iter().filter(|instance| instance.is_missed()).count() as u64;
    assert!(kept > 400 && kept + record.thinned.missed == 20_000, "{kept}");
}

fn raw(instance: u64, fate: FateCode) -> RawMessage {
    RawMessage { instance, at: Nanos(700), due: Nanos(500), size: 4, fate: fate as u8 }
}

/// The fate of instance 3 after these records of the source (`true`) and the target.
fn fate(records: &[(bool, FateCode)]) -> Option<Fate> {
    let job = pair();
    let table = ChannelTable::new(&job.assembled, &job.plan, 0);
    let mut collector = ChannelCollector::new(None, None, table, (Nanos::ZERO, 0));
    for (is_source, fate) in records {
        if *is_source {
            collector.sent(&raw(3, *fate), *fate);
        } else {
            collector.received(&raw(3, *fate), *fate);
        }
    }
    collector.finish(Nanos::MAX).messages.first().map(|message| message.fate)
}

#[test]
fn a_transfer_outside_the_time_table_is_late_when_it_was_awaited_in_vain() {
    use FateCode::{Done, NoBuffer, Passed, Vacant};
    assert_eq!(fate(&[(false, Vacant)]), None, "nothing was started");
    assert_eq!(fate(&[(false, Vacant), (true, Done)]), Some(Fate::Late));
    assert_eq!(fate(&[(true, Done), (false, Vacant)]), Some(Fate::Late));
    assert_eq!(fate(&[(true, Done), (false, Done)]), Some(Fate::Taken));
    assert_eq!(fate(&[(true, Done), (false, Passed)]), Some(Fate::Untaken));
    assert_eq!(fate(&[(true, Done)]), Some(Fate::Untaken));
    assert_eq!(fate(&[(true, NoBuffer)]), Some(Fate::NoBuffer));
    assert_eq!(fate(&[(true, NoBuffer), (true, Done)]), Some(Fate::Untaken));
    // The source is read before the target, and may have written meanwhile.
    assert_eq!(fate(&[(false, Done), (true, NoBuffer), (true, Done)]), Some(Fate::Taken));
}

#[test]
fn a_message_that_is_too_long_is_a_miss_of_its_own_kind() {
    use FateCode::{Done, Missing, TooLong};
    assert_eq!(fate(&[(true, TooLong), (false, Missing)]), Some(Fate::TooLong));
    assert_eq!(fate(&[(false, Missing), (true, TooLong)]), Some(Fate::TooLong));
    assert_eq!(fate(&[(true, TooLong), (true, Done)]), Some(Fate::Untaken), "a shorter one went instead");
    assert_eq!(fate(&[(false, Done), (true, TooLong)]), Some(Fate::Taken));
}

// spec: CHANNEL-MISS-07
#[test]
fn a_message_that_the_program_had_no_buffer_for_is_a_miss_of_its_own_kind() {
    use FateCode::{Done, NoRoom};
    assert_eq!(fate(&[(true, Done), (false, Done), (false, NoRoom)]), Some(Fate::NoRoom));
    assert_eq!(fate(&[(false, Done), (false, NoRoom), (true, Done)]), Some(Fate::NoRoom));
}
