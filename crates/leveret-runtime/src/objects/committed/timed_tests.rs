//! Two members and a time-driven channel whose ends no task of the program serves, in virtual time.

use super::super::{ChannelMetrics, End, EndState};
use super::*;
use crate::VirtualClock;
use crate::in_process::InProcessJob;
use crate::objects::{
    BufferDescription, ChannelDescription, Committed, Dataspec, Handle, OwnedStorage, Policy, Qos, World,
    job_in_tests,
};
use leveret_os::clock;
use proptest::prelude::*;

const PERIOD: Nanos = Nanos::from_millis(10);
/// Of a run in virtual time.
const EPOCH: Nanos = Nanos::from_secs(1);

/// One member's end.
struct Side {
    committed: Arc<Committed>,
    channel: Handle,
    input: Handle,
    output: Handle,
}

/// What a thread of the program does.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Call {
    Start,
    Activate,
    ActivateAt(u64),
    Deactivate,
    DeactivateAt(u64),
    Insert,
}

use Call::{Activate, ActivateAt, Deactivate, DeactivateAt, Insert, Start};

/// A call at one side, so long after the epoch, and what it must answer.
type Planned = (Nanos, usize, Call, Result<(), Code>);

/// The sending side.
const S: usize = 0;
/// The receiving side.
const R: usize = 1;

fn ms(value: i64) -> Nanos {
    Nanos::from_millis(value)
}

struct Pair {
    sides: [Side; 2],
    job: InProcessJob,
    /// Buffers that are not in an iterator yet.
    spare: [Vec<Handle>; 2],
}

/// With so many buffers in the input iterators, and the slack.
fn pair(stock: [usize; 2], slack: u32) -> Pair {
    pair_of(stock, slack, Qos::Time { start: ms(2), deadline: ms(4), period: PERIOD })
}

/// As [`pair`], with this quality of service.
fn pair_of(stock: [usize; 2], slack: u32, qos: Qos) -> Pair {
    let names = ["a".to_owned(), "b".to_owned()];
    let mut bindings = Vec::new();
    let mut sides = Vec::new();
    let mut spare = [Vec::new(), Vec::new()];
    for (rank, stocked) in stock.into_iter().enumerate() {
        let mut world = World::new(MemberId(rank as u16), &names).expect("a world");
        let mut iterator = || {
            world.bufiter("i", Policy::Fifo, (8, Dataspec::Int64), Handle::default()).expect("an iterator")
        };
        let (input, output) = (iterator(), iterator());
        let qos = world.qos("q", qos).expect("a QoS");
        let group = Handle::GROUP_WORLD;
        let description = ChannelDescription { input, output, source: 0, target: 1, group, qos };
        let channel = world.ptchannel("c", description).expect("a channel");
        world.set_slack(channel, slack).expect("not committed yet");
        for number in 0..stocked + 4 {
            let storage: Arc<dyn crate::objects::Storage> = Arc::new(OwnedStorage::new(8));
            let description = BufferDescription { size: 8, dataspec: Dataspec::Int64, storage };
            let buffer = world.buffer("b", description).expect("a buffer");
            // A message is the label of its buffer.
            world.set_label(buffer, number as i64).expect("not committed yet");
            if number < stocked {
                world.stock(input, buffer).expect("it fits");
            } else {
                spare[rank].push(buffer);
            }
        }
        let binding = world
            .bind(&crate::objects::keep::Kept::default())
            .unwrap_or_else(|unfit| panic!("{:?} {}", unfit.code, unfit.detail));
        sides.push(Side { committed: binding.committed.clone(), channel, input, output });
        bindings.push(binding);
    }
    let job = job_in_tests(&mut bindings);
    for (rank, binding) in bindings.iter().enumerate() {
        binding.attach_timed(|end| job.shared_activation(MemberId(rank as u16), end.0));
        binding.committed.settle([]).expect("nothing is mapped");
    }
    let sides = sides.try_into().unwrap_or_else(|_| panic!("two sides"));
    Pair { sides, job, spare }
}

impl Pair {
    /// Runs so many periods; each call is made when its time comes.
    fn run(&mut self, periods: u64, calls: &[Planned]) {
        let (mut left, mut spare) = (calls.iter().copied().peekable(), self.spare.clone());
        let sides = &self.sides;
        let mut made = |now: Nanos| {
            while let Some((at, side, call, expected)) = left.next_if(|(at, ..)| *at <= now - EPOCH) {
                let found = sides[side].call(call, EPOCH + at, &mut spare[side]);
                assert_eq!(found, expected, "{call:?} of side {side} at {at}");
            }
        };
        self.job.arm(EPOCH, periods);
        made(EPOCH - ms(5));
        self.job.run_virtual(periods, |_, planned, _| made(EPOCH + planned));
        assert_eq!(left.count(), 0, "every call was made");
    }

    fn metrics(&self) -> [ChannelMetrics; 2] {
        [S, R].map(|side| self.sides[side].committed.metrics(self.sides[side].channel).expect("an end"))
    }

    /// How often each side performed, missed for want of a buffer at the sender and the receiver, and paused.
    fn counted(&self) -> [[u64; 4]; 2] {
        self.metrics()
            .map(|found| [found.completed, found.no_sender_buffer, found.no_receiver_buffer, found.paused])
    }

    /// Buffers in the output iterators.
    fn outputs(&self) -> [usize; 2] {
        [S, R].map(|side| {
            let Side { committed, output, .. } = &self.sides[side];
            std::iter::from_fn(|| committed.remove(*output).ok()).count()
        })
    }

    fn look(&self, side: usize, at: Nanos) -> Result<Option<Outcome>, Code> {
        self.sides[side].with(|timed, channel| timed.look(channel, EPOCH + at))
    }
}

impl Side {
    fn with<T>(&self, body: impl FnOnce(&mut TimedEnd, &CommittedChannel) -> T) -> T {
        let channel = &self.committed.channels[0];
        let mut end = channel.end.lock().expect("nobody panicked");
        match &mut *end {
            End::Timed(timed) => body(timed, channel),
            _ => panic!("the end is time-driven"),
        }
    }

    fn call(&self, call: Call, now: Nanos, spare: &mut Vec<Handle>) -> Result<(), Code> {
        match call {
            Insert => {
                let buffer = spare.pop().expect("four are spare");
                self.committed.insert(self.input, buffer)
            }
            Start => self.with(|timed, channel| timed.may_start(channel, now).map(|()| timed.start())),
            Activate => self.with(|timed, channel| timed.activate(channel, now)),
            ActivateAt(period) => self.with(|timed, channel| timed.activate_at(channel, period, now)),
            Deactivate => self.with(|timed, _| timed.deactivate(now)),
            DeactivateAt(period) => self.with(|timed, _| timed.deactivate_at(period, now)),
        }
    }
}

const BEFORE: Nanos = Nanos::from_millis(-5);

fn both_active() -> Vec<Planned> {
    vec![(BEFORE, S, Activate, Ok(())), (BEFORE, R, Activate, Ok(()))]
}

// spec: SIDED-ZERO-02, CHANNEL-END-01
#[test]
fn activated_ends_make_one_transfer_in_each_period() {
    let mut pair = pair([6, 6], 1);
    pair.run(6, &both_active());
    assert_eq!(pair.counted(), [[6, 0, 0, 0]; 2]);
    assert_eq!(pair.outputs(), [6, 6]);
    assert_eq!(pair.metrics()[R].latency.count, 6);
}

#[test]
fn idle_ends_make_none_and_miss_none() {
    let mut pair = pair([6, 6], 1);
    pair.run(4, &[]);
    assert_eq!((pair.counted(), pair.outputs()), ([[0; 4]; 2], [0, 0]));
    assert_eq!(pair.look(S, ms(5)), Err(Code::NotStarted));
}

/// One change more than can be kept changes nothing; it took back the activation before it.
// spec: MPIRTX_Channel_deactivate_at/LIMIT
#[test]
fn a_pause_that_lies_ahead_has_room_for_one_activation_after_it() {
    let mut pair = pair([20, 20], 1);
    let mut calls = both_active();
    calls.extend([
        (ms(21), R, DeactivateAt(6), Ok(())),
        (ms(22), R, ActivateAt(8), Ok(())),
        (ms(23), R, DeactivateAt(11), Err(Code::Limit)),
        // The pause is over, and what it ended was taken.
        (ms(91), R, DeactivateAt(12), Ok(())),
    ]);
    pair.run(14, &calls);
    assert_eq!(pair.counted()[R][0], 6 + 4, "0 to 5, and 8 to 11");
    let mut pair = self::pair([20, 20], 1);
    let mut calls = both_active();
    calls.extend([
        (ms(21), R, DeactivateAt(6), Ok(())),
        (ms(22), R, ActivateAt(9), Ok(())),
        // Taken back.
        (ms(23), R, DeactivateAt(7), Ok(())),
    ]);
    pair.run(14, &calls);
    assert_eq!(pair.counted()[R][0], 6);
}

// spec: LAW-THREAD-02, MPIRTX_Channel_deactivate_at/SLACK
#[test]
fn while_another_thread_is_at_an_end_calls_are_refused_and_questions_answered() {
    let mut pair = pair([6, 6], 1);
    pair.job.arm(clock::now() + Nanos::from_secs(1000), 1);
    let Side { committed, channel, .. } = &pair.sides[S];
    let state = || committed.status(*channel).map(|status| (status.state, status.under_way));
    let in_use = |expected| {
        let _held = committed.channels[0].end.lock().expect("nobody panicked");
        assert_eq!(committed.activate_at(*channel, 9), Err(Code::Slack));
        assert_eq!(committed.deactivate_at(*channel, 9), Err(Code::Slack));
        assert_eq!((state(), committed.test(*channel)), (Ok(expected), Ok(false)));
    };
    in_use((EndState::Idle, 0));
    assert_eq!(committed.start(*channel), Ok(()));
    in_use((EndState::Started, 1));
    assert_eq!(state(), Ok((EndState::Started, 1)));
    let Side { committed, channel, .. } = &pair.sides[R];
    assert_eq!(committed.activate_at(*channel, 9), Ok(()));
    let _held = committed.channels[0].end.lock().expect("nobody panicked");
    assert_eq!(committed.status(*channel).map(|status| status.state), Ok(EndState::Active));
}

#[test]
fn every_instance_of_a_long_stall_is_counted() {
    const PERIODS: u64 = 200;
    for stalled in [S, R] {
        let mut pair = pair([6, 6], 1);
        let members: Vec<MemberId> = pair.job.assembled.job.tasks.iter().map(|task| task.member).collect();
        pair.job.arm(EPOCH, PERIODS);
        for side in &pair.sides {
            assert_eq!(side.call(Activate, EPOCH + BEFORE, &mut Vec::new()), Ok(()));
        }
        let mut stall = Some(ms(1500));
        pair.job.run_virtual(PERIODS, |task, planned, clock| {
            if members[task.index()].index() == stalled && planned >= ms(100) {
                stall.take().into_iter().for_each(|stall| clock.delay_next_wake(stall));
            }
        });
        let counted = pair.metrics()[stalled];
        let missed = counted.no_sender_buffer + counted.no_receiver_buffer + counted.late;
        assert_eq!(counted.completed + missed, PERIODS, "stalled {stalled}: {counted:?}");
    }
}

// spec: SIDED-DEACTIVATE-03
#[test]
fn while_one_end_takes_no_part_instances_are_neither_made_nor_missed() {
    let mut pair = pair([6, 6], 1);
    pair.run(5, &[(BEFORE, S, Activate, Ok(())), (BEFORE, R, ActivateAt(3), Ok(()))]);
    assert_eq!(pair.counted(), [[2, 0, 0, 3], [2, 0, 0, 0]]);
    assert_eq!(pair.outputs(), [2, 2]);
}

// spec: SIDED-ACTIVATE-02, SIDED-ACTIVATE-03
#[test]
fn activation_begins_with_the_first_instance_that_both_ends_can_still_make() {
    for (first, second) in [(S, R), (R, S)] {
        let mut pair = pair([6, 6], 1);
        pair.run(9, &[(ms(11), first, Activate, Ok(())), (ms(31), second, Activate, Ok(()))]);
        // The call within period 3 affects 5; what the first end does alone is no miss.
        let [sender, receiver] = pair.counted();
        assert_eq!([sender[0], receiver[0]], [4, 4], "first {first}");
        assert_eq!([sender[1], sender[2], receiver[1], receiver[2]], [0; 4]);
        assert_eq!(pair.outputs(), [4, 4]);
    }
}

// spec: SIDED-TWO-01
#[test]
fn two_starts_meet_in_one_transfer_whoever_is_first() {
    for (first, second) in [(S, R), (R, S)] {
        let mut pair = pair([6, 6], 1);
        let calls = [
            (ms(11), first, Start, Ok(())),
            (ms(11), first, Start, Err(Code::Slack)),
            (ms(12), first, Activate, Err(Code::Slack)),
            (ms(41), first, Start, Err(Code::Slack)),
            (ms(41), second, Start, Ok(())),
        ];
        pair.run(9, &calls);
        assert_eq!(pair.counted(), [[1, 0, 0, 0]; 2], "first {first}");
        assert_eq!(pair.outputs(), [1, 1]);
        assert_eq!(pair.look(S, ms(90)), Ok(Some(Outcome::Complete)));
        assert_eq!(pair.look(R, ms(90)), Ok(Some(Outcome::Complete)));
    }
}

// spec: SIDED-ONE-01, SIDED-ONE-02, SIDED-ONE-03
#[test]
fn each_start_at_one_end_is_one_transfer_if_the_other_is_active() {
    for (starts, active) in [(S, R), (R, S)] {
        let mut pair = pair([6, 6], 1);
        let calls = [
            (BEFORE, active, Activate, Ok(())),
            (ms(21), starts, Start, Ok(())),
            (ms(61), starts, Start, Ok(())),
            (ms(62), active, Start, Err(Code::Active)),
        ];
        pair.run(10, &calls);
        let counted = pair.counted();
        assert_eq!([counted[S][0], counted[R][0]], [2, 2], "started by {starts}");
        assert_eq!([counted[S][1], counted[R][1], counted[S][2], counted[R][2]], [0; 4]);
        // The sender moves from 22 ms on in period 2, and from 62 ms on in period 6: both can still be met.
        let instances: Vec<i64> = pair.received().iter().map(|(instance, _)| *instance).collect();
        assert_eq!(instances, [2, 6], "started by {starts}");
        assert_eq!(pair.outputs(), [2, 0], "what was received is taken");
    }
}

// spec: SIDED-SLACK-03, SIDED-SLACK-05
#[test]
fn as_many_starts_as_the_slack_allows_are_as_many_transfers() {
    for starts in [S, R] {
        let mut pair = pair([6, 6], 3);
        let start = (ms(21), starts, Start, Ok(()));
        let beyond = (ms(21), starts, Start, Err(Code::Slack));
        pair.run(9, &[(BEFORE, 1 - starts, Activate, Ok(())), start, start, start, beyond]);
        let counted = pair.counted();
        assert_eq!([counted[S][0], counted[R][0]], [3, 3], "started by {starts}");
        assert_eq!(pair.outputs(), [3, 3]);
    }
}

// spec: CHANNEL-MISS-01, CHANNEL-START-05
#[test]
fn a_sender_without_a_buffer_misses_at_both_ends_and_the_next_instance_is_unaffected() {
    let mut pair = pair([2, 6], 1);
    let mut calls = both_active();
    calls.push((ms(31), S, Insert, Ok(())));
    pair.run(5, &calls);
    // Instances 0 and 1, none in 2, the inserted one in 3, none in 4.
    assert_eq!(pair.counted(), [[3, 2, 0, 0]; 2]);
    assert_eq!(pair.outputs(), [3, 3]);
    let mut pair = self::pair([0, 6], 1);
    pair.run(5, &[(BEFORE, R, Activate, Ok(())), (ms(11), S, Start, Ok(()))]);
    assert_eq!(pair.counted()[S], [0, 1, 0, 0]);
    assert_eq!(pair.look(S, ms(49)), Ok(Some(Outcome::NoSenderBuffer)));
}

impl Pair {
    /// The labels of the buffers in a side's output iterator, in their order.
    fn labels(&self, side: usize) -> Vec<i64> {
        let Side { committed, output, .. } = &self.sides[side];
        let removed = std::iter::from_fn(|| committed.remove(*output).ok());
        removed.map(|buffer| committed.label(buffer).expect("the program's")).collect()
    }

    /// Runs both ends activated; a thread of the sender's program puts a buffer with the period's number in at the beginning of each in which
    /// `insert` says so, which may plant what it likes into the clock of the sender's task.
    fn run_inserting(&mut self, periods: u64, mut insert: impl FnMut(i64, &VirtualClock) -> bool) {
        let mut spare = self.spare[S].clone();
        self.job.arm(EPOCH, periods);
        let sides = &self.sides;
        for side in sides {
            side.call(Activate, EPOCH + BEFORE, &mut Vec::new()).expect("idle");
        }
        let mut next = 0;
        self.job.run_virtual(periods, |_, planned, clock| {
            // The sender's task comes first in each period.
            let period = planned.0 / PERIOD.0;
            if period < next || period >= periods as i64 {
                return;
            }
            next = period + 1;
            if insert(period, clock) {
                let number = |bytes: &mut [u8]| bytes.copy_from_slice(&period.to_le_bytes());
                sides[S].committed.write(*spare.last().expect("one"), number).expect("the program's");
                sides[S].call(Insert, EPOCH + planned, &mut spare).expect("it fits");
            }
        });
    }

    /// The instance and the content of each message that was received.
    fn received(&self) -> Vec<(i64, i64)> {
        let Side { committed, output, .. } = &self.sides[R];
        let removed = std::iter::from_fn(|| committed.remove(*output).ok());
        let read = |buffer: Handle| {
            let mut number = [0; 8];
            committed.read(buffer, |bytes| number.copy_from_slice(bytes)).expect("the program's");
            let (instance, _) = committed.received(buffer).expect("a message's");
            (instance as i64, i64::from_le_bytes(number))
        };
        removed.map(read).collect()
    }
}

/// A program that puts in one message for each instance: none is sent for an instance after its own, however the one before was missed.
// spec: CHANNEL-MISS-01
#[test]
fn what_was_for_a_missed_instance_is_not_sent_for_another() {
    let mut pair = pair([0, 6], 1);
    pair.job.stop(MemberId(R as u16));
    pair.run_inserting(4, |_, _| true);
    let [sender, _] = pair.metrics();
    assert!(sender.no_receiver_buffer > 0, "{sender:?}");
    assert_eq!(sender.completed + sender.no_receiver_buffer, 4);
    // They are inserted from the back of the spares.
    assert_eq!(pair.labels(S), [3, 2, 1, 0], "each came back, sent or not");
    assert_eq!(pair.sides[S].committed.count(pair.sides[S].input), Ok(0));
    // Without a message it was our own miss, whatever the receiver has given back.
    let mut pair = self::pair([0, 6], 1);
    pair.job.stop(MemberId(R as u16));
    pair.run_inserting(4, |period, _| period != 3);
    assert_eq!(pair.metrics()[S].no_sender_buffer, 1);
}

/// The library's task comes too late for two instances, and the program's thread goes on putting in a message for each.
// spec: CHANNEL-MISS-01
#[test]
fn what_was_for_a_late_instance_is_not_sent_for_another() {
    let mut pair = pair([0, 6], 1);
    pair.run_inserting(4, |period, clock| {
        if period == 1 {
            clock.delay_next_wake(ms(16));
        }
        true
    });
    let [sender, _] = pair.metrics();
    assert_eq!((sender.completed, sender.late), (2, 2), "{sender:?}");
    assert_eq!(pair.received(), [(0, 0), (3, 3)]);
    assert_eq!(pair.labels(S), [3, 2, 1, 0], "each came back, sent or not");
}

// spec: CHANNEL-MISS-03, CHANNEL-MISS-07, CHANNEL-MISS-08
#[test]
fn a_receiver_without_a_buffer_misses_and_the_sender_learns_of_it() {
    let mut pair = pair([6, 1], 1);
    pair.run(5, &both_active());
    // The sender learns of each with the next; of the last one, not any more.
    assert_eq!(pair.counted(), [[2, 0, 3, 0], [1, 0, 4, 0]]);
    assert_eq!(pair.outputs(), [5, 1], "what was sent comes back to the sender all the same");
    assert_eq!(pair.sides[R].with(|_, channel| channel.tally.last()), (4, Outcome::NoReceiverBuffer));
}

/// Instance 1 is sent at 12 ms and taken after 14 ms. A call between these leaves it whole at both ends, and counts from the second
/// instance on that has not arrived then: 2 has not, so 3 is the first that is not made.
// spec: SIDED-DEACTIVATE-01
#[test]
fn the_instance_under_way_is_completed_whoever_deactivates() {
    for side in [S, R] {
        let mut pair = pair([9, 9], 1);
        let mut calls = both_active();
        calls.push((ms(13), side, Deactivate, Ok(())));
        pair.run(6, &calls);
        let [sender, receiver] = pair.counted();
        assert_eq!([sender[..3].to_vec(), receiver[..3].to_vec()], [[3, 0, 0], [3, 0, 0]], "side {side}");
        assert_eq!(pair.outputs(), [3, 3]);
    }
}

// spec: SIDED-DEACTIVATE-01, SIDED-DEACTIVATE-02, SIDED-ACTIVATE-05
#[test]
fn activation_and_deactivation_keep_to_their_periods() {
    let mut pair = pair([9, 9], 1);
    let mut calls = both_active();
    calls.extend([
        (ms(11), R, DeactivateAt(1), Err(Code::TimePast)),
        (ms(11), R, DeactivateAt(4), Ok(())),
        (ms(51), R, Deactivate, Err(Code::NotStarted)),
        (ms(51), R, ActivateAt(5), Err(Code::TimePast)),
        (ms(51), R, ActivateAt(7), Ok(())),
    ]);
    pair.run(9, &calls);
    let [sender, receiver] = pair.counted();
    assert_eq!((sender, receiver), ([6, 0, 0, 3], [6, 0, 0, 0]), "0 to 3, 7 and 8");
    assert_eq!(pair.outputs(), [6, 6]);
}

// spec: CHANNEL-WAIT-02
#[test]
fn a_wait_at_an_activated_end_tells_of_each_instance_once() {
    let mut pair = pair([9, 9], 1);
    pair.run(3, &both_active());
    assert_eq!(pair.look(R, ms(29)), Ok(Some(Outcome::Complete)));
    assert_eq!(pair.look(R, ms(30)), Err(Code::Uncommitted), "the run is over, and nothing more ends");
    // The last message left in instance 2, whose instant is 24 ms.
    assert_eq!(pair.look(S, ms(23)), Ok(Some(Outcome::Complete)));
    assert_eq!(pair.look(S, ms(23)), Ok(None));
    assert_eq!(pair.look(S, ms(24)), Ok(Some(Outcome::Complete)));
}

/// The sender misses instance 0, or 1, and its next message is on its way when it looks.
// spec: CHANNEL-WAIT-02, CHANNEL-WAIT-07
#[test]
fn a_wait_while_a_message_is_on_its_way_tells_how_the_instance_before_it_ended() {
    for (missed, told) in [(1, Outcome::NoSenderBuffer), (0, Outcome::Complete)] {
        let mut pair = pair([0, 6], 1);
        pair.run_inserting(3, |period, _| period != missed);
        // The message of instance 2 arrives at 24 ms.
        assert_eq!(pair.look(S, ms(23)), Ok(Some(told)), "instance {missed} was missed");
        assert_eq!(pair.look(S, ms(23)), Ok(None));
        assert_eq!(pair.look(S, ms(24)), Ok(Some(Outcome::Complete)));
    }
}

/// The receiver takes no part from instance 2 on, and nobody has waited for instance 1, which the sender missed.
// spec: CHANNEL-WAIT-02
#[test]
fn a_wait_after_pauses_tells_how_the_last_instance_that_was_to_be_made_ended() {
    let mut pair = pair([1, 6], 1);
    let mut calls = both_active();
    calls.push((BEFORE, R, DeactivateAt(2), Ok(())));
    pair.run(5, &calls);
    assert_eq!(pair.counted()[S], [1, 1, 0, 3]);
    assert_eq!(pair.look(S, ms(43)), Ok(Some(Outcome::NoSenderBuffer)));
    assert_eq!(pair.look(S, ms(43)), Ok(None));
}

/// A wait for any of several channels reports each completion once.
// spec: CONTAINER-ANY-03
#[test]
fn what_was_settled_is_not_told_again() {
    let mut pair = pair([3, 3], 1);
    pair.run(5, &[(ms(11), S, Start, Ok(())), (ms(11), R, Start, Ok(()))]);
    let mut shot = shot([3, 3]);
    shot.run(9, &[(ms(120), S, Start, Ok(()))]);
    for (pair, side, at, first) in [
        (&pair, S, ms(45), Ok(Some(Outcome::Complete))),
        (&pair, R, ms(45), Ok(Some(Outcome::Complete))),
        (&shot, S, ms(700), Err(Code::Missed)),
    ] {
        assert_eq!(pair.look(side, at), first);
        pair.sides[side].with(|timed, channel| timed.settle(channel));
        assert_eq!(pair.look(side, at), Err(Code::NotStarted), "side {side}, after {first:?}");
    }
}

/// A message has left, and its instant has not come: it is under way still.
// spec: SIDED-ACTIVATE-07, SIDED-SLACK-02
#[test]
fn a_message_on_its_way_takes_up_the_slack() {
    let mut pair = pair([6, 6], 1);
    let calls = [
        (BEFORE, R, Activate, Ok(())),
        (ms(11), S, Start, Ok(())),
        // It leaves at 12 ms and arrives at 14 ms.
        (ms(13), S, Activate, Err(Code::Slack)),
        (ms(13), S, Start, Err(Code::Slack)),
        (ms(21), S, Start, Ok(())),
    ];
    pair.run(6, &calls);
    assert_eq!(pair.counted()[S], [2, 0, 0, 0]);
}

/// The other end's pause ends nothing, and holds back nothing that has ended.
// spec: CHANNEL-TEST-01
#[test]
fn what_is_over_is_told_while_the_other_end_pauses() {
    let mut pair = pair([6, 6], 1);
    let mut calls = both_active();
    calls.push((BEFORE, R, DeactivateAt(1), Ok(())));
    pair.run(2, &calls);
    assert_eq!(pair.look(S, ms(13)), Ok(Some(Outcome::Complete)));
}

fn any_call() -> impl Strategy<Value = (i64, usize, Call)> {
    let call = prop_oneof![
        3 => Just(Start),
        2 => Just(Activate),
        2 => Just(Deactivate),
        2 => Just(Insert),
        1 => (0..12_u64).prop_map(ActivateAt),
        1 => (0..12_u64).prop_map(DeactivateAt),
    ];
    (0..100_i64, 0..2_usize, call)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever both sides ask for and when: what one sent the other took or had no buffer for, nothing was late, and no
    /// buffer is lost.
    #[test]
    fn whatever_is_asked_both_ends_agree_on_every_instance(
        stock in [0..4_usize, 0..4_usize],
        slack in 1..4_u32,
        calls in prop::collection::vec(any_call(), 0..24),
    ) {
        let mut calls = calls;
        calls.sort_by_key(|(at, ..)| *at);
        let mut pair = pair(stock, slack);
        let (mut spare, mut inserted) = (pair.spare.clone(), [0, 0]);
        let mut started = [0; 2];
        pair.job.arm(EPOCH, 10);
        let sides = &pair.sides;
        let mut left = calls.into_iter().peekable();
        pair.job.run_virtual(10, |_, planned, _| {
            while let Some((at, side, call)) = left.next_if(|(at, ..)| ms(*at) <= planned) {
                let is_insert = matches!(call, Insert);
                if is_insert && spare[side].is_empty() {
                    continue;
                }
                let answer = sides[side].call(call, EPOCH + ms(at), &mut spare[side]);
                let is_ok = answer.is_ok();
                inserted[side] += usize::from(is_insert && is_ok);
                started[side] += u64::from(matches!(call, Start) && is_ok);
            }
        });
        let [sender, receiver] = pair.metrics();
        let sent = sender.completed + sender.no_receiver_buffer;
        prop_assert_eq!(sent, receiver.completed + receiver.no_receiver_buffer);
        prop_assert_eq!(sender.no_sender_buffer, receiver.no_sender_buffer);
        prop_assert_eq!([sender.late, receiver.late, sender.invalid, receiver.invalid], [0; 4]);
        prop_assert_eq!(pair.outputs(), [sent as usize, receiver.completed as usize]);
        for side in [S, R] {
            let Side { committed, input, .. } = &pair.sides[side];
            let unused = std::iter::from_fn(|| committed.remove(*input).ok()).count();
            let moved = [sent, receiver.completed][side] as usize;
            prop_assert_eq!(unused + moved, stock[side] + inserted[side]);
            let under_way = pair.sides[side].with(|timed, _| timed.activation.under_way());
            prop_assert!(under_way <= u64::from(slack) && under_way <= started[side]);
        }
    }
}

/// A single shot 530 ms after the epoch, in rounds of 100 ms.
fn shot(stock: [usize; 2]) -> Pair {
    pair_of(stock, 2, Qos::Time { start: EPOCH + ms(500), deadline: EPOCH + ms(530), period: Nanos::ZERO })
}

/// How an end ended, and how a wait and a further start answer after the shot.
fn after_a_shot(pair: &Pair, side: usize) -> (Outcome, Result<Option<Outcome>, Code>, Result<(), Code>) {
    let (instance, outcome) = pair.sides[side].with(|_, channel| channel.tally.last());
    assert_eq!(instance, 0, "a shot is instance 0");
    let under_way = pair.sides[side].with(|timed, channel| timed.under_way(channel, EPOCH + ms(700)));
    assert_eq!(under_way, 0, "nothing is left to wait for");
    let start = pair.sides[side].with(|timed, channel| timed.may_start(channel, EPOCH + ms(700)));
    (outcome, pair.look(side, ms(700)), start)
}

// spec: QOS-TIME-START-02
#[test]
fn a_shot_is_one_transfer_whoever_starts_and_whoever_is_activated() {
    for asked in [[Start, Start], [Start, Activate], [Activate, Start], [Activate, Activate]] {
        let mut pair = shot([3, 3]);
        let calls = [S, R].map(|side| (ms(120), side, asked[side], Ok(())));
        pair.run(9, &calls);
        assert_eq!(pair.counted(), [[1, 0, 0, 0]; 2], "{asked:?}");
        assert_eq!(pair.outputs(), [1, 1]);
        for side in [S, R] {
            let told = Ok(Some(Outcome::Complete));
            let expected = (Outcome::Complete, told, Err(Code::TimePast));
            assert_eq!(after_a_shot(&pair, side), expected, "{asked:?}");
            // At an activated end it is told once, at a started one as often as it is asked for.
            let again = if asked[side] == Activate { Err(Code::NotStarted) } else { told };
            assert_eq!(pair.look(side, ms(700)), again, "{asked:?}");
        }
        // The message was inserted in the window, and taken at its end.
        let latency = pair.metrics()[R].latency;
        assert!(latency.last > Nanos::ZERO && latency.last <= ms(30) + ms(10), "{}", latency.last);
    }
}

#[test]
fn a_shot_whose_other_end_takes_no_part_is_told_as_missed() {
    for (side, call) in [(S, Start), (S, Activate), (R, Start), (R, Activate)] {
        let mut pair = shot([3, 3]);
        pair.run(9, &[(ms(120), side, call, Ok(()))]);
        let found = after_a_shot(&pair, side);
        assert_eq!(found, (Outcome::Paused, Err(Code::Missed), Err(Code::TimePast)), "{call:?} of {side}");
        // At an activated end it is told once, at a started one as often as it is asked for.
        let again = if call == Activate { Code::NotStarted } else { Code::Missed };
        assert_eq!(pair.look(side, ms(700)), Err(again), "{call:?} of {side}");
        assert_eq!(pair.outputs(), [0, 0]);
        assert_eq!(pair.look(1 - side, ms(700)), Err(Code::NotStarted), "the other asked for nothing");
    }
}

#[test]
fn a_shot_without_a_buffer_is_missed_at_both_ends() {
    let mut pair = shot([0, 3]);
    pair.run(9, &[(ms(120), S, Start, Ok(())), (ms(120), R, Activate, Ok(()))]);
    for side in [S, R] {
        assert_eq!(after_a_shot(&pair, side).0, Outcome::NoSenderBuffer);
    }
    assert_eq!(pair.counted(), [[0, 1, 0, 0]; 2]);
}

#[test]
fn what_comes_too_late_for_a_shot_is_refused() {
    let late = ms(499) + Nanos::from_micros(1);
    for side in [S, R] {
        let mut pair = shot([3, 3]);
        let calls = [
            (ms(120), 1 - side, Activate, Ok(())),
            (ms(120), side, ActivateAt(0), Err(Code::UndefForObject)),
            (ms(120), side, DeactivateAt(0), Err(Code::UndefForObject)),
            (ms(120), side, Deactivate, Err(Code::NotStarted)),
        ];
        pair.run(9, &calls);
        for call in [Start, Activate] {
            let answer = pair.sides[side].call(call, EPOCH + late, &mut Vec::new());
            assert_eq!(answer, Err(Code::TimePast), "{call:?}");
        }
    }
    // Given up before it, and asked for again.
    let mut pair = shot([3, 3]);
    let mut calls = both_active();
    for call in [Deactivate, Activate, Deactivate, Activate] {
        calls.push((ms(120), S, call, Ok(())));
    }
    calls.push((ms(220), R, Deactivate, Ok(())));
    pair.run(9, &calls);
    assert_eq!(pair.counted()[S], [0, 0, 0, 1], "one end alone");
    assert_eq!(pair.outputs(), [0, 0]);
}
