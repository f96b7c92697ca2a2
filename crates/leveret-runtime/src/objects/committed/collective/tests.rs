//! Random groups, sizes, types, operations and orders of calls against an oracle that knows only what each kind means.

use crate::in_process::InProcessJob;
use crate::objects::error::Code;
use crate::objects::{
    BufferDescription, CollectiveDescription, CollectiveKind, Committed, Dataspec, Handle, Operation, Policy,
    Qos, World, job_in_tests, storage_in_tests,
};
use crate::watch::{Watch, Watched};
use leveret_types::{MemberId, Nanos};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

const EPOCH: Nanos = Nanos::from_secs(1);
const PERIOD: Nanos = Nanos::from_millis(20);

#[derive(Clone, Debug)]
struct Case {
    kind: CollectiveKind,
    dataspec: Dataspec,
    members: usize,
    root: usize,
    /// Elements of what one member sends to another.
    elements: usize,
    transfers: usize,
    /// How many buffers a sender has.
    sent_at_once: usize,
    /// Whether the iterators say which buffers may be in them; otherwise they take any of their size.
    is_allowed: bool,
    slack: u32,
    /// Whatever the contents and the order of calls are made of.
    seed: u64,
}

fn kind() -> impl Strategy<Value = CollectiveKind> {
    prop_oneof![
        1 => Just(CollectiveKind::Broadcast),
        1 => Just(CollectiveKind::Scatter),
        1 => Just(CollectiveKind::Gather),
        1 => Just(CollectiveKind::Barrier),
        1 => Just(CollectiveKind::Alltoall),
        3 => (0..Operation::ALL.len()).prop_map(|place| CollectiveKind::Reduce(Operation::ALL[place])),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let dataspec = prop_oneof![
        Just(Dataspec::Int32),
        Just(Dataspec::Uint8),
        Just(Dataspec::Int64),
        Just(Dataspec::Float64),
        Just(Dataspec::Byte),
    ];
    let sizes = (1..6_usize, 1..40_usize, 1..5_usize, 1..4_u32);
    (kind(), dataspec, sizes, any::<bool>(), any::<u64>())
        .prop_map(|(kind, dataspec, (members, elements, transfers, slack), is_allowed, seed)| {
            let root = if kind.has_root() { (seed % members as u64) as usize } else { 0 };
            let sent_at_once = transfers;
            Case { kind, dataspec, members, root, elements, transfers, sent_at_once, is_allowed, slack, seed }
        })
        .prop_filter("the type allows the operation", |case| match case.kind {
            CollectiveKind::Reduce(operation) => operation.fits(case.dataspec),
            _ => true,
        })
}

/// One step of a generator that needs no state of its own.
fn mixed(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

impl Case {
    fn piece(&self) -> usize {
        if self.kind == CollectiveKind::Barrier { 0 } else { self.elements * self.dataspec.size() }
    }

    fn roles(&self, rank: usize) -> [bool; 2] {
        self.kind.roles(rank == self.root)
    }

    fn sent_size(&self) -> usize {
        match self.kind {
            CollectiveKind::Scatter | CollectiveKind::Alltoall => self.piece() * self.members,
            _ => self.piece(),
        }
    }

    fn received_size(&self) -> usize {
        match self.kind {
            CollectiveKind::Gather | CollectiveKind::Alltoall => self.piece() * self.members,
            _ => self.piece(),
        }
    }

    /// What a member sends. Floating-point numbers stay numbers.
    fn sent(&self, rank: usize, transfer: usize) -> Vec<u8> {
        let seed = mixed(self.seed ^ (rank as u64) << 32 ^ transfer as u64);
        if self.dataspec == Dataspec::Float64 {
            let numbers =
                (0..self.sent_size() / 8).map(|place| mixed(seed + place as u64) as i64 as f64 / 3.0);
            return numbers.flat_map(f64::to_ne_bytes).collect();
        }
        (0..self.sent_size()).map(|place| mixed(seed + place as u64) as u8).collect()
    }

    /// What a member must receive.
    fn expected(&self, rank: usize, transfer: usize) -> Vec<u8> {
        let piece = self.piece();
        let section = |from: usize| self.sent(from, transfer)[rank * piece..(rank + 1) * piece].to_vec();
        match self.kind {
            CollectiveKind::Broadcast => self.sent(self.root, transfer),
            CollectiveKind::Scatter => section(self.root),
            CollectiveKind::Gather => (0..self.members).flat_map(|from| self.sent(from, transfer)).collect(),
            CollectiveKind::Alltoall => (0..self.members).flat_map(section).collect(),
            CollectiveKind::Barrier => Vec::new(),
            CollectiveKind::Reduce(operation) => {
                let mut result = self.sent(0, transfer);
                for from in 1..self.members {
                    operation.combine(self.dataspec, &mut result, &self.sent(from, transfer));
                }
                result
            }
        }
    }
}

/// A member's end.
struct Side {
    committed: Arc<Committed>,
    channel: Handle,
    sends: [Handle; 2],
    receives: [Handle; 2],
}

/// An input and an output iterator, one of which has so many buffers.
fn iterators(world: &mut World, case: &Case, (size, count): (usize, usize), stocked: usize) -> [Handle; 2] {
    let mut buffer = |_| {
        let storage = storage_in_tests(size);
        let description = BufferDescription { size, dataspec: case.dataspec, storage };
        world.buffer("b", description).expect("a buffer")
    };
    let buffers: Vec<Handle> = (0..count).map(&mut buffer).collect();
    let allowed =
        if case.is_allowed { world.cvector("v", &buffers).expect("a vector") } else { Handle::default() };
    let iterators = [0, 1]
        .map(|_| world.bufiter("i", Policy::Fifo, (size, case.dataspec), allowed).expect("an iterator"));
    buffers.iter().for_each(|buffer| world.stock(iterators[stocked], *buffer).expect("it fits"));
    iterators
}

fn committed(case: &Case, qos: Option<Qos>) -> (Vec<Side>, InProcessJob) {
    let names: Vec<String> = (0..case.members).map(|rank| format!("m{rank}")).collect();
    let (mut sides, mut bindings) = (Vec::new(), Vec::new());
    for rank in 0..case.members {
        let mut world = World::new(MemberId(rank as u16), &names).expect("a world");
        let [mut sends, mut receives] = [[Handle::default(); 2]; 2];
        let [is_sender, is_receiver] = case.roles(rank);
        if is_sender {
            // The program takes them from where sent ones go.
            sends = iterators(&mut world, case, (case.sent_size(), case.sent_at_once), 1);
        }
        if is_receiver {
            receives = iterators(&mut world, case, (case.received_size(), case.transfers), 0);
        }
        let qos = qos.map_or(Handle::default(), |qos| world.qos("q", qos).expect("a QoS"));
        let (kind, root, group) = (case.kind, case.root as u32, Handle::GROUP_WORLD);
        let description = CollectiveDescription { kind, sends, receives, root, group, qos };
        let channel = world.collective("c", description).expect("a channel");
        world.set_slack(channel, case.slack).expect("not committed yet");
        let binding = world
            .bind(&crate::objects::keep::Kept::default())
            .unwrap_or_else(|unfit| panic!("{:?} {}", unfit.code, unfit.detail));
        sides.push(Side { committed: binding.committed.clone(), channel, sends, receives });
        bindings.push(binding);
    }
    let mut job = job_in_tests(&mut bindings);
    let watch = Arc::new(Watch::new(case.members, Nanos::MAX));
    let (mut sources, mut targets) =
        (VecDeque::from(std::mem::take(&mut job.sources)), VecDeque::from(std::mem::take(&mut job.targets)));
    for (rank, binding) in bindings.iter().enumerate() {
        binding.attach_timed(|end| job.shared_activation(MemberId(rank as u16), end.0));
        binding.attach_collectives(&watch, |edges| {
            // Ends come in the order in which they were declared, member by member.
            let mut source = |rank: u32| (rank, sources.pop_front().expect("a source").1);
            let sends = edges.sends.iter().map(|(rank, _)| source(*rank)).collect();
            let mut target = |rank: u32| (rank, targets.pop_front().expect("a target").1);
            (sends, edges.receives.iter().map(|(rank, _)| target(*rank)).collect())
        });
        binding.committed.settle([]).expect("nothing is mapped");
    }
    (sides, job)
}

impl Side {
    fn provide(&self, case: &Case, rank: usize, transfer: usize) {
        if case.roles(rank)[0] {
            let buffer = self.committed.remove(self.sends[1]).expect("a buffer");
            let content = case.sent(rank, transfer);
            self.committed
                .write(buffer, |bytes| bytes.copy_from_slice(&content))
                .expect("it is the program's");
            self.committed.insert(self.sends[0], buffer).expect("it fits");
        }
    }

    fn check(&self, case: &Case, rank: usize, transfer: usize) {
        if case.roles(rank)[1] {
            let buffer = self.committed.remove(self.receives[1]).expect("it was received");
            let expected = case.expected(rank, transfer);
            let mut found = Vec::new();
            self.committed.read(buffer, |bytes| found = bytes.to_vec()).expect("it is the program's");
            assert_eq!(found, expected, "rank {rank}, transfer {transfer} of {case:?}");
            assert_eq!(self.committed.length(buffer), Ok(expected.len()));
        }
    }

    /// Inserts what has come back.
    #[cfg(debug_assertions)]
    fn send_again(&self, case: &Case, rank: usize) {
        while case.roles(rank)[0]
            && let Ok(buffer) = self.committed.remove(self.sends[1])
        {
            self.committed.insert(self.sends[0], buffer).expect("it fits");
        }
    }

    fn completed(&self) -> u64 {
        self.committed.metrics(self.channel).expect("an end").completed
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    // spec: COLLECTIVE-REDUCE-01, COLLECTIVE-REDUCE-03, COLLECTIVE-GATHER-01, COLLECTIVE-SCATTER-01
    // spec: COLLECTIVE-ALLTOALL-01, COLLECTIVE-ALLTOALL-02, COLLECTIVE-BCAST-01, COLLECTIVE-BARRIER-01
    #[test]
    fn best_effort_delivers_whatever_the_order_of_calls(case in case()) {
        let (sides, _job) = committed(&case, None);
        let mut started = vec![0; case.members];
        let mut provided = vec![0; case.members];
        let mut turn = case.seed;
        // A member that is at it again and again may have to wait for others; the oracle gives up long after that.
        for _ in 0..200_000 {
            if sides.iter().all(|side| side.completed() == case.transfers as u64) {
                break;
            }
            turn = mixed(turn.wrapping_add(0x9e37_79b9_7f4a_7c15));
            let (rank, call) = ((turn >> 8) as usize % case.members, turn % 3);
            let side = &sides[rank];
            match call {
                0 if provided[rank] < case.transfers => {
                    side.provide(&case, rank, provided[rank]);
                    provided[rank] += 1;
                }
                1 if started[rank] < case.transfers => {
                    started[rank] += usize::from(side.committed.start(side.channel).is_ok());
                }
                _ => {
                    let before = started.iter().min().copied().unwrap_or(0) as u64;
                    let _ = side.committed.test(side.channel);
                    if case.kind == CollectiveKind::Barrier {
                        prop_assert!(side.completed() <= before, "a barrier lets nobody pass alone");
                    }
                }
            }
        }
        for (rank, side) in sides.iter().enumerate() {
            prop_assert_eq!(side.completed(), case.transfers as u64, "rank {}", rank);
            prop_assert_eq!(side.committed.test(side.channel), Ok(true));
            for transfer in 0..case.transfers {
                side.check(&case, rank, transfer);
            }
        }
    }

    #[test]
    fn the_passing_of_time_delivers(case in case(), is_started in any::<bool>()) {
        let qos = Qos::Time { start: Nanos::from_millis(2), deadline: Nanos::from_millis(12), period: PERIOD };
        let (sides, mut job) = committed(&case, Some(qos));
        let transfers = if is_started { case.transfers.min(case.slack as usize) } else { case.transfers };
        let periods = transfers as u64 + 3;
        job.arm(EPOCH, periods);
        // What was committed looks at the machine's clock, which is far from the epoch of virtual time.
        let first = 1;
        for (rank, side) in sides.iter().enumerate() {
            for transfer in 0..transfers {
                side.provide(&case, rank, transfer);
            }
            side.with(|timed, channel| {
                if is_started {
                    for _ in 0..transfers {
                        timed.may_start(channel, EPOCH - PERIOD).expect("within the slack");
                        timed.start();
                    }
                } else {
                    timed.activate_at(channel, first, EPOCH - PERIOD).expect("in time");
                    timed.deactivate_at(first + transfers as u64, EPOCH - PERIOD).expect("in time");
                }
            });
        }
        job.run_virtual(periods, |_, _, _| {});
        for (rank, side) in sides.iter().enumerate() {
            let metrics = side.committed.metrics(side.channel).expect("an end");
            prop_assert_eq!(metrics.completed, transfers as u64, "rank {}: {:?}", rank, metrics);
            prop_assert_eq!(metrics.late + metrics.invalid + metrics.paused + metrics.no_sender_buffer, 0);
            for transfer in 0..transfers {
                side.check(&case, rank, transfer);
            }
            side.with(|timed, channel| {
                let over = EPOCH + PERIOD.saturating_mul(periods as i64);
                assert_eq!(timed.under_way(channel, over), 0, "rank {rank}");
            });
        }
    }
}

impl Side {
    fn with<T>(
        &self,
        call: impl FnOnce(
            &mut crate::objects::committed::TimedEnd,
            &crate::objects::committed::CommittedChannel,
        ) -> T,
    ) -> T {
        let channel = self.committed.channel(self.channel).expect("a channel");
        match &mut *channel.end.lock().expect("nobody panicked") {
            crate::objects::committed::End::Timed(timed) => call(timed, channel),
            _ => panic!("it is time-driven"),
        }
    }
}

const KINDS: [CollectiveKind; 6] = [
    CollectiveKind::Broadcast,
    CollectiveKind::Scatter,
    CollectiveKind::Gather,
    CollectiveKind::Alltoall,
    CollectiveKind::Barrier,
    CollectiveKind::Reduce(Operation::Sum),
];

/// A scatter of two members, of which the first has inserted three buffers that are refused by no start; and what it has inserted.
fn about_to_scatter(qos: Qos) -> (Vec<Side>, InProcessJob, Vec<Handle>) {
    let case = Case {
        kind: CollectiveKind::Scatter,
        dataspec: Dataspec::Int64,
        members: 2,
        root: 0,
        elements: 1,
        transfers: 3,
        sent_at_once: 3,
        is_allowed: false,
        slack: 1,
        seed: 1,
    };
    let (sides, job) = committed(&case, Some(qos));
    let inserted = (0..3).map(|_| {
        let buffer = sides[0].committed.remove(sides[0].sends[1]).expect("a buffer");
        sides[0].committed.insert(sides[0].sends[0], buffer).expect("it fits");
        buffer
    });
    let inserted = inserted.collect();
    (sides, job, inserted)
}

/// The order of buffers in an iterator.
fn left_in(side: &Side, iterator: Handle) -> Vec<Handle> {
    std::iter::from_fn(|| side.committed.remove(iterator).ok()).collect()
}

#[test]
fn a_start_that_is_refused_leaves_the_buffers_in_their_order() {
    let by_clock = Qos::Time { start: Nanos(0), deadline: Nanos::from_millis(12), period: PERIOD };
    let (sides, job, inserted) = about_to_scatter(by_clock);
    job.watch(MemberId(0)).mark_dead(MemberId(1));
    assert_eq!(sides[0].committed.start(sides[0].channel), Err(Code::PeerLost));
    assert_eq!(left_in(&sides[0], sides[0].sends[0]), inserted);

    let (sides, _job, inserted) = about_to_scatter(Qos::Priority { priority: 5 });
    let channel = sides[0].committed.channel(sides[0].channel).expect("a channel");
    let served = channel.served.as_ref().expect("it is served");
    served
        .watched
        .set(Watched::new(Arc::new(Watch::new(2, Nanos::MAX))))
        .unwrap_or_else(|_| panic!("it was set"));
    let collective = channel.collective.as_deref().expect("it is collective");
    // Another thread is in the middle of a start.
    let starting = collective.ready.begin_start().expect("nobody starts");
    assert_eq!(sides[0].committed.start(sides[0].channel), Err(Code::Slack));
    drop(starting);
    assert_eq!(left_in(&sides[0], sides[0].sends[0]), inserted);
    assert!(collective.ready.begin_start().is_some());
}

/// Each member on a thread of its own, which waits for its own transfers alone.
#[test]
fn in_process_members_on_threads_deliver_each_kind() {
    let watchdog = Nanos::from_secs(60);
    for kind in KINDS {
        let case = Case {
            kind,
            dataspec: Dataspec::Int64,
            members: 3,
            root: if kind.has_root() { 1 } else { 0 },
            elements: 4,
            transfers: 100,
            sent_at_once: 100,
            is_allowed: true,
            slack: 1,
            seed: 1,
        };
        let (sides, _job) = committed(&case, None);
        std::thread::scope(|scope| {
            for (rank, side) in sides.iter().enumerate() {
                let case = &case;
                scope.spawn(move || {
                    for transfer in 0..case.transfers {
                        side.provide(case, rank, transfer);
                        assert_eq!(side.committed.start(side.channel), Ok(()), "rank {rank} of {case:?}");
                        assert_eq!(
                            side.committed.wait(side.channel, watchdog),
                            Ok(()),
                            "rank {rank} of {case:?}"
                        );
                        side.check(case, rank, transfer);
                    }
                });
            }
        });
        assert!(sides.iter().all(|side| side.completed() == case.transfers as u64), "{case:?}");
    }
}

/// Between two steps of one member's call all others go on as far as they can, and what they receive has room for much more than what is sent
/// at once; it ends all the same.
// spec: LAW-STEPS-02
#[cfg(debug_assertions)]
#[test]
fn a_call_ends_however_quick_the_other_members_are() {
    use leveret_memory::sync::steps;
    for kind in KINDS {
        for caller in 0..3 {
            let (members, root, transfers, sent_at_once, slack) = (3, 1, 200, 2, 2);
            let (dataspec, is_allowed) = (Dataspec::Int64, true);
            let case = Case {
                kind,
                members,
                root,
                elements: 1,
                dataspec,
                transfers,
                sent_at_once,
                is_allowed,
                slack,
                seed: 1,
            };
            let (sides, _job) = committed(&case, None);
            for (rank, side) in sides.iter().enumerate() {
                assert_eq!(side.committed.activate(side.channel), Ok(()));
                side.send_again(&case, rank);
            }
            let own = &sides[caller];
            let mut others = || {
                for (rank, side) in sides.iter().enumerate() {
                    if rank != caller {
                        let _ = side.committed.test(side.channel);
                        side.send_again(&case, rank);
                    }
                }
            };
            // The rings have two buffers. For each: a piece to and from every member, the buffers of the transfer taken and put, and a
            // transfer that is counted.
            let (ring, pieces) = (2, 2 * members as u64);
            let most = 100 + ring * (pieces * 30 + 100);
            let before = own.completed();
            for _ in 0..5 {
                let _ = steps::beside(most, &mut others, || own.committed.test(own.channel));
                let _ = steps::beside(most, &mut others, || own.committed.status(own.channel));
                own.send_again(&case, caller);
            }
            assert!(own.completed() > before && own.completed() < transfers as u64, "{case:?}");
        }
    }
}
