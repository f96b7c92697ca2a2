//! Both ends of a best-effort channel, each at a member of its own, called in any order.
//!
//! A best-effort end is moved by whoever calls at it, inserts into one of its iterators, or finds nothing to remove there; so the calls
//! alone decide what happens, and the oracle knows every answer. The first member asks, at its own end and, one call after the other,
//! at that of the second.

use crate::call::{Answer, Call, Interface, Remote, serve};
use crate::job;
use crate::store::{Base, Shape, Store};
use leveret_runtime::objects::{Code, Dataspec};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::collections::VecDeque;
use std::os::unix::net::{UnixListener, UnixStream};

const BUFFERS: usize = 5;
/// So many cases at most; each commits once.
const CASES: u32 = 64;
/// A wait that is too short for anybody to come.
const SHORT: i64 = 20_000;

/// The sending end.
const S: usize = 0;
/// The receiving end.
const R: usize = 1;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Into the input or the output iterator.
    Insert(usize, usize),
    Remove(usize),
    Count(usize),
    SetLabel(usize, i64),
    Start,
    Activate,
    Deactivate,
    Test,
    Wait(i64),
    Status,
}

/// One end as it is made.
#[derive(Clone, Copy, Debug)]
struct Shaped {
    /// Of the input and the output iterator.
    bases: [usize; 2],
    /// The output iterator is the input iterator.
    is_one: bool,
    /// Buffers that are in the input iterator from the commit on.
    stocked: usize,
}

#[derive(Clone, Debug)]
struct Case {
    slack: u64,
    ends: [Shaped; 2],
    steps: Vec<(usize, Step)>,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..2_usize, 0..BUFFERS).prop_map(|(place, buffer)| Step::Insert(place, buffer)),
        4 => (0..2_usize).prop_map(Step::Remove),
        1 => (0..2_usize).prop_map(Step::Count),
        1 => (0..BUFFERS, -2..3_i64).prop_map(|(buffer, label)| Step::SetLabel(buffer, label)),
        6 => Just(Step::Start),
        2 => Just(Step::Activate),
        2 => Just(Step::Deactivate),
        3 => Just(Step::Test),
        2 => Just(Step::Wait(0)),
        1 => Just(Step::Wait(SHORT)),
        1 => Just(Step::Status),
    ]
}

fn shaped() -> impl Strategy<Value = Shaped> {
    // UNORDERED would leave it open what a transfer takes.
    ([0..3_usize, 0..3_usize], prop::bool::weighted(0.2), 0..BUFFERS)
        .prop_map(|(bases, is_one, stocked)| Shaped { bases, is_one, stocked })
}

fn case() -> impl Strategy<Value = Case> {
    let steps = prop::collection::vec((0..2_usize, step()), 0..100);
    (1..5_u64, [shaped(), shaped()], steps).prop_map(|(slack, ends, steps)| Case { slack, ends, steps })
}

/// One of the two members.
///
/// # Panics
/// When an answer is not the oracle's.
pub fn take_part(own: &mut dyn Interface) {
    // Each commits something before it may meet the other: who comes first makes the place to meet.
    let place = job::folder().join("meet");
    if job::is_first() {
        let listener = UnixListener::bind(&place).expect("a place to meet");
        own.must(Call::Commit);
        own.must(Call::Uncommit);
        let (stream, _) = listener.accept().expect("the other comes");
        lead(own, Remote::new(stream));
    } else {
        own.must(Call::Commit);
        own.must(Call::Uncommit);
        serve(UnixStream::connect(place).expect("the first was there before the commit"), own);
    }
}

fn lead(own: &mut dyn Interface, remote: Remote) {
    let cases = Config::default().cases.min(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let ways = std::cell::RefCell::new((own, remote));
    let followed = TestRunner::new(config).run(&case(), |case| {
        let mut ways = ways.borrow_mut();
        let (own, remote) = &mut *ways;
        let mut model = Model::new(&mut **own, remote, &case);
        let followed = model.follow(&case);
        model.end();
        followed
    });
    ways.into_inner().1.call(&Call::End);
    if let Err(failure) = followed {
        panic!("{failure}");
    }
}

/// What is known of one end.
struct End {
    channel: u64,
    iterators: Vec<u64>,
    buffers: Vec<u64>,
    /// Of the input iterator, and of the output iterator if that is another.
    stores: Vec<Store>,
    labels: [i64; BUFFERS],
    /// The number in each buffer.
    contents: [u64; BUFFERS],
    /// Started, and not performed at this end.
    pending: u64,
    is_active: bool,
    is_started: bool,
    /// Transfers that have ended here, and of how many of them a wait or a test has told.
    ended: u64,
    told: u64,
    last: Option<u64>,
    /// At the sending end: transfers that it knows to have been taken.
    delivered: u64,
    /// The buffers of those that it does not know to have been taken, in their order.
    sent: VecDeque<usize>,
}

impl End {
    fn new(way: &mut dyn Interface, shaped: Shaped, slack: u64) -> Self {
        let dataspec = Dataspec::Int64 as i32;
        let buffers: Vec<u64> = (0..BUFFERS).map(|_| way.must(Call::Buffer { size: 8, dataspec })).collect();
        let count = if shaped.is_one { 1 } else { 2 };
        let policies = shaped.bases.iter().take(count).map(|base| *base as i32);
        let iterators: Vec<u64> = policies
            .map(|policy| way.must(Call::Iterator { policy, size: 8, dataspec, allowed: 0 }))
            .collect();
        let both = [iterators[0], iterators[count - 1]];
        let channel =
            way.must(Call::Channel { name: "model".to_owned(), iterators: both, slack: slack as i32 });
        let of_base = |base: &usize| Store::new(Base::ALL[*base], false, None);
        let mut end = Self {
            channel,
            buffers,
            stores: shaped.bases.iter().take(count).map(of_base).collect(),
            iterators,
            labels: [0; BUFFERS],
            contents: [0; BUFFERS],
            pending: 0,
            is_active: false,
            is_started: false,
            ended: 0,
            told: 0,
            last: None,
            delivered: 0,
            sent: VecDeque::new(),
        };
        for buffer in 0..shaped.stocked {
            way.must(Call::Insert { iterator: end.iterators[0], buffer: end.buffers[buffer] });
            end.stores[0].put(buffer, 0);
        }
        end
    }

    fn place(&self, which: usize) -> usize {
        which.min(self.stores.len() - 1)
    }

    fn put(&mut self, which: usize, buffer: usize) {
        let place = self.place(which);
        self.stores[place].put(buffer, self.labels[buffer]);
    }

    fn has_work(&self) -> bool {
        self.is_active || self.pending > 0
    }

    fn is_used(&self, buffer: usize) -> bool {
        self.sent.contains(&buffer) || self.stores.iter().any(|store| store.has(buffer))
    }

    /// Of the sender: what was taken is counted, and its buffers come back.
    fn count_delivered(&mut self, taken: u64) {
        while self.delivered < taken {
            let buffer = self.sent.pop_front().expect("each message that is under way has its buffer");
            self.put(1, buffer);
            self.count(self.delivered);
            self.delivered += 1;
        }
    }

    fn count(&mut self, instance: u64) {
        self.ended += 1;
        self.last = Some(instance);
    }
}

/// Both ends and what is between them.
struct Model<'i> {
    own: &'i mut dyn Interface,
    remote: &'i mut Remote,
    ends: [End; 2],
    slack: u64,
    /// Messages that were sent and not taken.
    between: VecDeque<u64>,
    sent: u64,
    taken: u64,
    /// The number that was written last.
    written: u64,
    is_committed: bool,
}

impl<'i> Model<'i> {
    fn new(own: &'i mut dyn Interface, remote: &'i mut Remote, case: &Case) -> Self {
        let ends = [End::new(own, case.ends[S], case.slack), End::new(remote, case.ends[R], case.slack)];
        let (slack, between) = (case.slack, VecDeque::new());
        Self { own, remote, ends, slack, between, sent: 0, taken: 0, written: 0, is_committed: false }
    }

    fn call(&mut self, side: usize, call: &Call) -> Answer {
        if side == S { self.own.call(call) } else { self.remote.call(call) }
    }

    /// At both members at once.
    fn together(&mut self, call: &Call) -> [Answer; 2] {
        self.remote.ask(call);
        let own = self.own.call(call);
        [own, self.remote.hear()]
    }

    fn follow(&mut self, case: &Case) -> Result<(), TestCaseError> {
        for side in [S, R] {
            let channel = self.ends[side].channel;
            prop_assert_eq!(self.call(side, &Call::Start(channel)).code, Code::NotCommitted as i32);
        }
        prop_assert_eq!(self.together(&Call::Commit), [Answer::default(); 2]);
        self.is_committed = true;
        self.ask_of_a_mode()?;
        for (side, step) in &case.steps {
            let expected = self.step(*side, *step)?;
            let Some((call, expected)) = expected else { continue };
            let answer = self.call(*side, &call);
            prop_assert_eq!(answer, expected, "{:?} of {}", step, ["the sender", "the receiver"][*side]);
        }
        self.drain()
    }

    /// A channel of a mode that does not run is not committed, whatever it is asked; one that is gone is no channel.
    fn ask_of_a_mode(&mut self) -> Result<(), TestCaseError> {
        for side in [S, R] {
            let (policy, size, dataspec) = (0, 8, Dataspec::Int64 as i32);
            let way: &mut dyn Interface = if side == S { &mut *self.own } else { &mut *self.remote };
            let mode = way.must(Call::Mode);
            let iterator = way.must(Call::Iterator { policy, size, dataspec, allowed: 0 });
            let name = "of the mode".to_owned();
            let channel = way.must(Call::Channel { name, iterators: [iterator; 2], slack: 1 });
            let calls = [
                Call::Start(channel),
                Call::Activate(channel),
                Call::Deactivate(channel),
                Call::Test(channel),
                Call::Wait(channel, 0),
                Call::Status(channel),
            ];
            for call in &calls {
                prop_assert_eq!(way.call(call), Answer::code(Code::NotCommitted as i32), "{:?}", call);
            }
            way.must(Call::Free(channel));
            for call in &calls {
                prop_assert_eq!(way.call(call), Answer::code(Code::StaleObject as i32), "{:?}", call);
            }
            way.must(Call::Free(iterator));
            way.must(Call::Free(mode));
        }
        Ok(())
    }

    /// What is in the iterators in the end is what the oracle says, with the numbers that were sent.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        for side in [S, R] {
            for which in 0..self.ends[side].stores.len() {
                loop {
                    if let Some((call, expected)) = self.step(side, Step::Remove(which))? {
                        prop_assert_eq!(self.call(side, &call), expected);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Does a step in the oracle. Gives the call and what it must answer, unless it was made already.
    fn step(&mut self, side: usize, step: Step) -> Result<Option<(Call, Answer)>, TestCaseError> {
        let channel = self.ends[side].channel;
        let of_code = |answer: Result<(), Code>| {
            answer.map_or_else(|code| Answer::code(code as i32), |()| Answer::default())
        };
        Ok(Some(match step {
            Step::Insert(which, buffer) => return self.insert(side, which, buffer).map(Some),
            Step::Remove(which) => return self.remove(side, which),
            Step::Count(which) => {
                self.move_if_asked(side);
                let end = &self.ends[side];
                let place = end.place(which);
                (Call::Count(end.iterators[place]), Answer::value(end.stores[place].len() as u64))
            }
            Step::SetLabel(buffer, label) => {
                let end = &mut self.ends[side];
                let answer = if end.is_used(buffer) { Err(Code::BufferInUse) } else { Ok(()) };
                if answer.is_ok() {
                    end.labels[buffer] = label;
                }
                (Call::SetLabel(end.buffers[buffer], label), of_code(answer))
            }
            Step::Start => (Call::Start(channel), of_code(self.start(side))),
            Step::Activate => (Call::Activate(channel), of_code(self.activate(side))),
            Step::Deactivate => (Call::Deactivate(channel), of_code(self.deactivate(side))),
            Step::Test => {
                let answer = self.look(side);
                (
                    Call::Test(channel),
                    answer
                        .map_or_else(|code| Answer::code(code as i32), |told| Answer::value(u64::from(told))),
                )
            }
            Step::Wait(timeout) => {
                let answer = match self.look(side) {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(Code::Timeout),
                    Err(code) => Err(code),
                };
                (Call::Wait(channel, timeout), of_code(answer))
            }
            Step::Status => {
                self.progress(side);
                let under_way = self.under_way(side);
                let end = &self.ends[side];
                let state = if end.is_active { 2 } else { u64::from(under_way > 0) };
                let (outcome, instance) = end.last.map_or((0, 0), |last| (1, last));
                (Call::Status(channel), Answer { code: 0, values: [state, outcome, instance, under_way] })
            }
        }))
    }

    /// A buffer of the sender's gets a number of its own before it goes in.
    fn insert(&mut self, side: usize, which: usize, buffer: usize) -> Result<(Call, Answer), TestCaseError> {
        let handle = self.ends[side].buffers[buffer];
        let is_used = self.ends[side].is_used(buffer);
        if !is_used && side == S {
            self.written += 1;
            let wrote = self.call(side, &Call::Write(handle, self.written));
            prop_assert_eq!(wrote, Answer::default());
            self.ends[side].contents[buffer] = self.written;
        }
        let end = &mut self.ends[side];
        let place = end.place(which);
        let answer = end.stores[place].insert((buffer, Shape::Right), end.labels[buffer], is_used);
        let call = Call::Insert { iterator: end.iterators[place], buffer: handle };
        if answer.is_ok() {
            self.move_if_asked(side);
        }
        Ok((call, answer.map_or_else(|code| Answer::code(code as i32), |()| Answer::default())))
    }

    /// What is removed holds what was sent; so it is made here.
    fn remove(&mut self, side: usize, which: usize) -> Result<Option<(Call, Answer)>, TestCaseError> {
        let place = self.ends[side].place(which);
        let call = Call::Remove(self.ends[side].iterators[place]);
        let mut removed = self.ends[side].stores[place].take();
        self.move_if_asked(side);
        if removed.is_none() {
            removed = self.ends[side].stores[place].take();
        }
        let Some(buffer) = removed else { return Ok(Some((call, Answer::code(Code::Empty as i32)))) };
        let handle = self.ends[side].buffers[buffer];
        prop_assert_eq!(self.call(side, &call), Answer::value(handle));
        let read = self.call(side, &Call::Read(handle));
        prop_assert_eq!(read, Answer::value(self.ends[side].contents[buffer]));
        Ok(None)
    }

    fn start(&mut self, side: usize) -> Result<(), Code> {
        if self.under_way(side) >= self.slack {
            self.progress(side);
        }
        let under_way = self.under_way(side);
        let end = &mut self.ends[side];
        if end.is_active {
            return Err(Code::Active);
        }
        if under_way >= self.slack {
            return Err(Code::Slack);
        }
        end.pending += 1;
        end.is_started = true;
        self.transfer(side);
        Ok(())
    }

    fn activate(&mut self, side: usize) -> Result<(), Code> {
        self.progress(side);
        let under_way = self.under_way(side);
        let end = &mut self.ends[side];
        if !end.is_active {
            if under_way > 0 {
                return Err(Code::Slack);
            }
            (end.is_active, end.is_started, end.told) = (true, false, end.ended);
        }
        self.progress(side);
        Ok(())
    }

    fn deactivate(&mut self, side: usize) -> Result<(), Code> {
        let end = &mut self.ends[side];
        if !end.is_active {
            return Err(Code::NotStarted);
        }
        end.is_active = false;
        self.progress(side);
        Ok(())
    }

    /// Whether a wait would end now.
    fn look(&mut self, side: usize) -> Result<bool, Code> {
        self.progress(side);
        let under_way = self.under_way(side);
        let end = &mut self.ends[side];
        if end.is_active {
            let is_new = end.ended > end.told;
            end.told += u64::from(is_new);
            return Ok(is_new);
        }
        if end.is_started { Ok(under_way == 0) } else { Err(Code::NotStarted) }
    }

    fn under_way(&self, side: usize) -> u64 {
        let end = &self.ends[side];
        if side == S { end.pending + self.sent - end.delivered } else { end.pending }
    }

    fn move_if_asked(&mut self, side: usize) {
        if self.ends[side].has_work() || side == S && !self.ends[S].sent.is_empty() {
            self.progress(side);
        }
    }

    fn progress(&mut self, side: usize) {
        if side == S {
            self.ends[S].count_delivered(self.taken);
        }
        self.transfer(side);
    }

    /// Performs what was asked for, as far as it can be.
    fn transfer(&mut self, side: usize) {
        let end = &mut self.ends[side];
        while end.has_work() {
            if side == S {
                if end.stores[0].len() == 0 {
                    end.count_delivered(self.taken);
                }
                let Some(buffer) = end.stores[0].take() else { break };
                self.between.push_back(end.contents[buffer]);
                // It is the transfer's until the receiver has taken the message.
                end.sent.push_back(buffer);
                self.sent += 1;
                end.pending = end.pending.saturating_sub(1);
            } else {
                if self.between.is_empty() {
                    break;
                }
                let Some(buffer) = end.stores[0].take() else { break };
                end.contents[buffer] = self.between.pop_front().expect("it is not empty");
                end.count(self.taken);
                self.taken += 1;
                end.pending = end.pending.saturating_sub(1);
                end.put(1, buffer);
            }
        }
    }

    /// Everything goes, whatever was found.
    fn end(mut self) {
        if self.is_committed {
            let ended = self.together(&Call::Uncommit);
            assert_eq!(ended, [Answer::default(); 2]);
        }
        for side in [S, R] {
            let end = &mut self.ends[side];
            let objects: Vec<u64> = [end.channel]
                .into_iter()
                .chain(end.iterators.drain(..))
                .chain(end.buffers.drain(..))
                .collect();
            let way: &mut dyn Interface = if side == S { &mut *self.own } else { &mut *self.remote };
            // Stocked buffers leave with a commit; without one they are still in.
            for iterator in &objects[1..] {
                while way.call(&Call::Remove(*iterator)).code == 0 {}
            }
            for object in objects {
                way.must(Call::Free(object));
            }
        }
    }
}
