//! Two members on threads of one process, through the objects' own calls: what arrives, and for race detectors.

use super::{Committed, End};
use crate::in_process::InProcessJob;
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use crate::objects::{
    BufferDescription, BufiterPolicy, ChannelDescription, Dataspec, EndState, Form, Outcome, Policy, Qos,
    World, job_in_tests, storage_in_tests,
};
use leveret_memory::sync::{AtomicBool, AtomicU64, Ordering};
use leveret_os::clock;
use leveret_types::{MemberId, Nanos};
use std::sync::Arc;

const SIZE: usize = 64;
/// Of each channel, at each end: fewer than there are messages under way, so that both ends wait for the other.
const BUFFERS: usize = 4;
const MESSAGES: u64 = 1500;
/// Not a bound: what comes, comes in less.
const WATCHDOG: Nanos = Nanos::from_secs(60);

/// Channels from the first member to the second.
#[derive(Clone, Copy)]
struct Case {
    /// One of each quality of service.
    qoses: &'static [Qos],
    /// Whether the channels of a member have one pair of iterators.
    are_shared: bool,
    form: Form,
}

const ONE: Case = Case { qoses: &[Qos::BestEffort], are_shared: false, form: Form::Plain };

struct Side {
    committed: Arc<Committed>,
    channels: Vec<Handle>,
    /// Of each channel.
    inputs: Vec<Handle>,
    outputs: Vec<Handle>,
    /// A container of all channels.
    all: Handle,
}

/// Buffers are where the program of each member takes them first: the sender out of its output, the receiver's are in its input.
fn side(
    rank: usize,
    case: Case,
    all: impl Fn(&[Handle]) -> Vec<Handle>,
) -> (Side, crate::objects::commit::Binding) {
    let mut world = World::new(MemberId(rank as u16), &names()).expect("a world");
    let (mut inputs, mut outputs, mut channels) = (Vec::new(), Vec::new(), Vec::new());
    for (place, qos) in case.qoses.iter().enumerate() {
        let mut buffer = |_| {
            let description =
                BufferDescription { size: SIZE, dataspec: Dataspec::Byte, storage: storage_in_tests(SIZE) };
            world.buffer("b", description).expect("a buffer")
        };
        let buffers: Vec<Handle> = (0..BUFFERS).map(&mut buffer).collect();
        if place == 0 || !case.are_shared {
            let is_plain = case.form == Form::Plain;
            let allowed =
                if is_plain { Handle::default() } else { world.cvector("v", &buffers).expect("a vector") };
            let policy = BufiterPolicy { base: Policy::Fifo, form: case.form };
            inputs.push(world.bufiter("i", policy, (SIZE, Dataspec::Byte), allowed).expect("an iterator"));
            let plain = BufiterPolicy { form: Form::Plain, ..policy };
            outputs.push(world.bufiter("o", plain, (SIZE, Dataspec::Byte), allowed).expect("an iterator"));
        } else {
            inputs.push(inputs[0]);
            outputs.push(outputs[0]);
        }
        let stocked = if rank == 0 { outputs[place] } else { inputs[place] };
        buffers.iter().for_each(|buffer| world.stock(stocked, *buffer).expect("it fits"));
        let (group, qos) = (Handle::GROUP_WORLD, world.qos("q", *qos).expect("a QoS"));
        let (input, output) = (inputs[place], outputs[place]);
        let description = ChannelDescription { input, output, source: 0, target: 1, group, qos };
        channels.push(world.ptchannel(&format!("c{place}"), description).expect("a channel"));
    }
    let all = world.cvector("all", &all(&channels)).expect("a vector");
    let binding = world
        .bind(&crate::objects::keep::Kept::default())
        .unwrap_or_else(|unfit| panic!("{:?} {}", unfit.code, unfit.detail));
    (Side { committed: binding.committed.clone(), channels, inputs, outputs, all }, binding)
}

fn names() -> [String; 2] {
    ["a".to_owned(), "b".to_owned()]
}

/// All ends are activated.
fn sides(case: Case) -> ([Side; 2], InProcessJob) {
    sides_of(case, <[Handle]>::to_vec)
}

/// With these in the container.
fn sides_of(case: Case, all: impl Fn(&[Handle]) -> Vec<Handle>) -> ([Side; 2], InProcessJob) {
    let [from, to] = [0, 1].map(|rank| side(rank, case, &all));
    let (sides, mut bindings) = ([from.0, to.0], [from.1, to.1]);
    let mut job = job_in_tests(&mut bindings);
    for (rank, binding) in bindings.iter().enumerate() {
        let own = job.mapped.iter().filter(|(member, ..)| member.index() == rank);
        binding.committed.settle(own.map(|(.., mapped)| (0, mapped.clone()))).expect("they fit");
    }
    let ends: Vec<_> = job.sources.drain(..).zip(job.targets.drain(..)).collect();
    for (place, ((_, source), (_, target))) in ends.into_iter().enumerate() {
        for (side, end) in sides.iter().zip([End::source(source), End::target(target)]) {
            let channel = &side.committed.channels[place];
            channel.attach(end);
            // An end with a priority is active then too, but has no thread to tell of it: a test serves it.
            let activated = side.committed.activate(side.channels[place]);
            assert!(activated.is_ok() || channel.served.is_some(), "{activated:?}");
        }
    }
    (sides, job)
}

/// A message: who has sent it, and its number there.
type Content = (u64, u64);

impl Side {
    /// The next buffer of an iterator; transfers go on meanwhile.
    fn take(&self, iterator: Handle) -> Handle {
        let limit = clock::now() + WATCHDOG;
        loop {
            if let Ok(buffer) = self.committed.remove(iterator) {
                return buffer;
            }
            assert!(clock::now() < limit, "no buffer comes");
            std::thread::yield_now();
        }
    }

    fn send(&self, channel: usize, content: Content) {
        let buffer = self.take(self.outputs[channel]);
        let written = self.committed.write(buffer, |bytes| {
            bytes[..8].copy_from_slice(&content.0.to_le_bytes());
            bytes[8..].chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&content.1.to_le_bytes()));
        });
        written.expect("it is the program's");
        self.committed.insert(self.inputs[channel], buffer).expect("it is allowed");
    }

    /// What is in a buffer that was received, which goes back for another message.
    fn received(&self, channel: usize, buffer: Handle) -> Content {
        let mut words = Vec::new();
        let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
        let read = self.committed.read(buffer, |bytes| words.extend(bytes.chunks_exact(8).map(word)));
        read.expect("it is the program's");
        assert!(words[1..].iter().all(|word| *word == words[1]), "a message in pieces: {words:?}");
        assert_eq!(self.committed.length(buffer), Ok(SIZE));
        self.committed.insert(self.inputs[channel], buffer).expect("it is allowed");
        (words[0], words[1])
    }

    fn completed(&self) -> u64 {
        let of = |channel: &Handle| self.committed.metrics(*channel).expect("an end").completed;
        self.channels.iter().map(of).sum()
    }
}

/// One thread at each end; who receives sleeps until something comes.
// spec: SIDED-ZERO-01, BUFITER-LAW-01
#[test]
fn in_process_every_message_arrives_whole_and_in_order() {
    for form in [Form::Plain, Form::Mapped] {
        let ([from, to], _job) = sides(Case { form, ..ONE });
        std::thread::scope(|scope| {
            scope.spawn(|| (0..MESSAGES).for_each(|number| from.send(0, (0, number))));
            for number in 0..MESSAGES {
                assert_eq!(to.committed.wait(to.channels[0], WATCHDOG), Ok(()), "{form:?}");
                let buffer = to.committed.remove(to.outputs[0]).expect("it was waited for");
                assert_eq!(to.received(0, buffer), (0, number), "{form:?}");
            }
        });
        assert_eq!([from.completed(), to.completed()], [MESSAGES; 2], "{form:?}");
    }
}

/// Threads that are at one end at once go on with each other's transfers.
// spec: SIDED-ZERO-01, BUFITER-LAW-01
#[test]
fn in_process_threads_that_share_both_ends_lose_and_repeat_nothing() {
    const THREADS: u64 = 2;
    let ([from, to], _job) = sides(ONE);
    let received = AtomicU64::new(0);
    let found: Vec<Vec<Content>> = std::thread::scope(|scope| {
        for sender in 0..THREADS {
            let from = &from;
            scope.spawn(move || (0..MESSAGES).for_each(|number| from.send(0, (sender, number))));
        }
        let receive = || {
            let (mut found, limit) = (Vec::new(), clock::now() + WATCHDOG);
            while received.load(Ordering::Relaxed) < THREADS * MESSAGES && clock::now() < limit {
                match to.committed.remove(to.outputs[0]) {
                    Ok(buffer) => {
                        received.fetch_add(1, Ordering::Relaxed);
                        found.push(to.received(0, buffer));
                    }
                    Err(_) => std::thread::yield_now(),
                }
            }
            found
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(receive)).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    });
    for sender in 0..THREADS {
        let of_sender = |found: &Vec<Content>| -> Vec<u64> {
            found.iter().filter(|(from, _)| *from == sender).map(|(_, number)| *number).collect()
        };
        let numbers: Vec<Vec<u64>> = found.iter().map(of_sender).collect();
        assert!(numbers.iter().all(|numbers| numbers.is_sorted()), "each thread gets them in their order");
        let mut all = numbers.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..MESSAGES), "each message of {sender} arrives once");
    }
    assert_eq!([from.completed(), to.completed()], [THREADS * MESSAGES; 2]);
}

const TWO: Case = Case { qoses: &[Qos::BestEffort, Qos::BestEffort], ..ONE };

/// A test for all tells of none where any of them is not complete.
// spec: CONTAINER-APPLY-03
#[test]
fn a_channel_that_is_there_twice_needs_two_transfers() {
    for qoses in [TWO.qoses, &[Qos::Priority { priority: 5 }; 2]] {
        let ([from, to], _job) = sides_of(Case { qoses, ..TWO }, |channels| vec![channels[0]; 2]);
        let move_one = |number| {
            from.send(0, (0, number));
            for side in [&from, &to].into_iter().filter(|_| qoses[0] != Qos::BestEffort) {
                side.committed.serve_end(0, true);
            }
        };
        let (committed, channel) = (&to.committed, to.channels[0]);
        move_one(0);
        assert_eq!(committed.test_all(to.all), Ok(false), "one was moved");
        assert_eq!(
            [committed.test(channel), committed.test(channel)],
            [Ok(true), Ok(false)],
            "it is still there"
        );
        move_one(1);
        move_one(2);
        assert_eq!([committed.test_all(to.all), committed.test(channel)], [Ok(true), Ok(false)]);
    }
}

/// A success is taken once, whoever else tests or waits meanwhile, and a test for all loses none.
// spec: LAW-THREAD-02, CONTAINER-APPLY-02
#[test]
fn in_process_threads_that_test_all_and_one_are_told_of_each_transfer_once() {
    for qoses in [TWO.qoses, &[Qos::Priority { priority: 5 }; 2]] {
        let ([from, to], _job) = sides(Case { qoses, ..TWO });
        let is_over = AtomicBool::new(false);
        // Of each channel, what threads were told of.
        let told = [const { AtomicU64::new(0) }; 2];
        let left = |place: usize| {
            let of_channel = told[place].load(Ordering::SeqCst);
            to.committed.metrics(to.channels[place]).expect("an end").completed - of_channel
        };
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (to, told, is_over) = (&to, &told, &is_over);
                scope.spawn(move || {
                    while !is_over.load(Ordering::SeqCst) {
                        if thread == 0 && to.committed.test_all(to.all) == Ok(true) {
                            for count in told {
                                count.fetch_add(1, Ordering::SeqCst);
                            }
                        }
                        if thread == 1 && to.committed.test(to.channels[1]) == Ok(true) {
                            told[1].fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
            for number in 0..MESSAGES {
                for channel in 0..2 {
                    from.send(channel, (0, number));
                    if qoses[0] != Qos::BestEffort {
                        from.committed.serve_end(channel, true);
                        to.committed.serve_end(channel, true);
                    }
                    to.received(channel, to.take(to.outputs[channel]));
                    if qoses[0] != Qos::BestEffort {
                        from.committed.serve_end(channel, true);
                    }
                }
            }
            is_over.store(true, Ordering::SeqCst);
        });
        for (place, channel) in to.channels.iter().enumerate() {
            for number in 0..left(place) {
                assert_eq!(to.committed.test(*channel), Ok(true), "{number} of channel {place} was lost");
            }
            assert_eq!(to.committed.test(*channel), Ok(false), "channel {place} was told of twice");
        }
    }
}

/// No call waits for another thread: who would change something is refused, and who asks gets an answer.
// spec: LAW-THREAD-02, MPIRT_Channel_deactivate/SLACK, MPIRT_Container_deactivate/SLACK
#[test]
fn while_another_thread_is_at_an_end_calls_are_refused_and_questions_answered() {
    let ([from, _], _job) = sides(ONE);
    let (committed, channel) = (&from.committed, from.channels[0]);
    let state = || {
        let status = committed.status(channel).expect("it has an end");
        (status.state, status.under_way)
    };
    let changes = [Committed::start, Committed::activate, Committed::deactivate];
    let in_use = |expected: (EndState, u64)| {
        let _held = committed.channels[0].end.lock().expect("nobody panicked");
        assert_eq!(changes.map(|change| change(committed, channel)), [Err(Code::Slack); 3]);
        assert_eq!(committed.deactivate_all(from.all), Err(Code::Slack));
        assert_eq!(state(), expected);
        assert_eq!((committed.test(channel), committed.test_all(from.all)), (Ok(false), Ok(false)));
        assert_eq!(committed.test_any(from.all), Ok(None));
        assert_eq!(committed.wait_within(&committed.channels[0]), Err(Code::Timeout));
        assert_eq!(committed.wait(channel, Nanos::ZERO), Err(Code::Timeout));
    };
    in_use((EndState::Active, 0));
    assert_eq!(committed.deactivate(channel), Ok(()));
    in_use((EndState::Idle, 0));
    assert_eq!(committed.start(channel), Ok(()));
    in_use((EndState::Started, 1));
    assert_eq!(state(), (EndState::Started, 1));
}

/// One pair of iterators at each end, whatever channel it is; what is complete is waited for at all of them at once.
fn all_arrive_through_shared_iterators(case: Case, meanwhile: fn(&Side)) {
    let ([from, to], _job) = sides(case);
    let channels = case.qoses.len() as u64;
    let is_over = AtomicBool::new(false);
    let mut found: Vec<Content> = std::thread::scope(|scope| {
        for side in [&from, &to] {
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    meanwhile(side);
                    std::thread::yield_now();
                }
            });
        }
        scope.spawn(|| {
            for number in 0..channels * MESSAGES {
                from.send((number % channels) as usize, (0, number));
            }
        });
        let receiver = scope.spawn(|| {
            let received = (0..channels * MESSAGES).map(|_| {
                let (channel, outcome) = to.committed.wait_any(to.all, WATCHDOG).expect("it comes");
                assert!(to.channels.contains(&channel) && outcome == Outcome::Complete);
                to.received(0, to.committed.remove(to.outputs[0]).expect("it was waited for"))
            });
            received.collect()
        });
        let received = receiver.join();
        is_over.store(true, Ordering::Relaxed);
        received.expect("it ends")
    });
    found.sort_unstable();
    assert!(found.into_iter().eq((0..channels * MESSAGES).map(|number| (0, number))), "each arrives once");
    assert_eq!(to.completed(), channels * MESSAGES);
}

// spec: BUFITER-SHARE-01, CONTAINER-ANY-01
#[test]
fn in_process_channels_that_share_iterators_deliver_everything() {
    let case = Case { qoses: &[Qos::BestEffort, Qos::BestEffort], are_shared: true, form: Form::Plain };
    // Another thread is at the ends besides.
    all_arrive_through_shared_iterators(case, |side| {
        for channel in &side.channels {
            // It may be in use.
            let _ = side.committed.status(*channel);
        }
    });
}

/// A thread of each member's serves the ends, and those of the program never touch them.
// spec: QOS-PRIORITY-01, CONTAINER-ANY-01
#[test]
fn in_process_ends_that_are_served_at_priorities_deliver_everything() {
    const QOSES: [Qos; 2] = [Qos::Priority { priority: 5 }, Qos::Priority { priority: 40 }];
    let case = Case { qoses: &QOSES, are_shared: true, form: Form::Plain };
    all_arrive_through_shared_iterators(case, |side| {
        for channel in (0..QOSES.len()).rev() {
            side.committed.serve_end(channel, true);
        }
    });
}
