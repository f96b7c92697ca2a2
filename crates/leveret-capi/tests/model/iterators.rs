//! One member's iterators: calls before a commit, while it stands and after it, with handles that are right and wrong.

use crate::call::{Answer, Call, Interface};
use crate::store::{Base, Shape, Store};
use leveret_runtime::objects::{Code, Dataspec};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

const SIZE: u64 = 8;
/// Buffers of the iterators' shape; the first of them are those of the allowed set.
const FITTING: usize = 5;
/// Behind those: one of another size, and one of another type.
const BUFFERS: usize = FITTING + 2;
/// So many cases at most; each commits once.
const CASES: u32 = 32;

/// Which object a call is given.
#[derive(Clone, Copy, Debug)]
enum Which {
    Good(usize),
    Null,
    Freed,
    /// Of another class.
    Foreign,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(Which, Which),
    Remove(Which),
    Count(Which),
    SetLabel(Which, i64),
    Label(Which),
}

#[derive(Clone, Debug)]
struct Case {
    policy: i32,
    /// How many buffers are allowed; 0: any that fits, in an iterator of a plain form.
    allowed: usize,
    before: Vec<Step>,
    within: Vec<Step>,
    after: Vec<Step>,
}

fn which(good: usize) -> impl Strategy<Value = Which> {
    prop_oneof![
        24 => (0..good).prop_map(Which::Good),
        1 => Just(Which::Null),
        1 => Just(Which::Freed),
        1 => Just(Which::Foreign),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (which(2), which(BUFFERS)).prop_map(|(iterator, buffer)| Step::Insert(iterator, buffer)),
        5 => which(2).prop_map(Step::Remove),
        1 => which(2).prop_map(Step::Count),
        2 => (which(BUFFERS), -2..3_i64).prop_map(|(buffer, label)| Step::SetLabel(buffer, label)),
        1 => which(BUFFERS).prop_map(Step::Label),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let steps = || prop::collection::vec(step(), 0..60);
    (0..12_i32, 0..FITTING, steps(), steps(), steps()).prop_map(|(policy, allowed, before, within, after)| {
        // MAPPED and ORDERED speak of the i-th buffer.
        let allowed = if policy >= 4 { allowed.max(1) } else { allowed };
        Case { policy, allowed, before, within, after }
    })
}

/// Follows many sequences of calls.
///
/// # Panics
/// When an answer is not the oracle's.
pub fn follow_any(own: &mut dyn Interface) {
    let cases = Config::default().cases.min(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let own = std::cell::RefCell::new(own);
    let followed = TestRunner::new(config).run(&case(), |case| {
        let mut own = own.borrow_mut();
        let mut model = Model::new(&mut **own, &case);
        let followed = model.follow(&case);
        model.end();
        followed
    });
    if let Err(failure) = followed {
        panic!("{failure}");
    }
}

struct Model<'i> {
    own: &'i mut dyn Interface,
    buffers: Vec<u64>,
    labels: Vec<i64>,
    /// The one that is tested, and a plain one beside it.
    iterators: [u64; 2],
    stores: [Store; 2],
    vector: u64,
    /// A handle of a buffer and of an iterator that are gone.
    freed: [u64; 2],
    is_committed: bool,
}

fn shape(buffer: usize) -> Shape {
    match buffer {
        0..FITTING => Shape::Right,
        FITTING => Shape::OtherSize,
        _ => Shape::OtherDataspec,
    }
}

impl<'i> Model<'i> {
    fn new(own: &'i mut dyn Interface, case: &Case) -> Self {
        let (word, byte) = (Dataspec::Int64 as i32, Dataspec::Byte as i32);
        let of_shape = |shape| match shape {
            Shape::Right => Call::Buffer { size: SIZE, dataspec: word },
            Shape::OtherSize => Call::Buffer { size: 2 * SIZE, dataspec: word },
            Shape::OtherDataspec => Call::Buffer { size: SIZE, dataspec: byte },
        };
        let buffers: Vec<u64> = (0..BUFFERS).map(|buffer| own.must(of_shape(shape(buffer)))).collect();
        let iterator = |own: &mut dyn Interface, policy, allowed| {
            own.must(Call::Iterator { policy, size: SIZE, dataspec: word, allowed })
        };
        let gone = [own.must(of_shape(Shape::Right)), iterator(own, 0, 0)];
        for object in gone {
            own.must(Call::Free(object));
        }
        let vector = own.must(Call::Vector(buffers[..case.allowed.max(1)].to_vec()));
        let tested = iterator(own, case.policy, if case.allowed == 0 { 0 } else { vector });
        let beside = iterator(own, 0, 0);
        let base = Base::ALL[case.policy as usize % 4];
        let allowed = (case.allowed > 0).then(|| (0..case.allowed).collect());
        let stores = [Store::new(base, case.policy >= 8, allowed), Store::new(Base::Fifo, false, None)];
        let (labels, iterators) = (vec![0; BUFFERS], [tested, beside]);
        Self { own, buffers, labels, iterators, stores, vector, freed: gone, is_committed: false }
    }

    fn follow(&mut self, case: &Case) -> Result<(), TestCaseError> {
        for step in &case.before {
            self.step(*step)?;
        }
        self.commit()?;
        for step in &case.within {
            self.step(*step)?;
        }
        let again = self.own.call(&Call::Commit);
        prop_assert_eq!(again.code, Code::ObjectCommitted as i32);
        // As each was when the commit began to end, the buffers are the program's.
        prop_assert_eq!(self.own.call(&Call::Uncommit), Answer::default());
        self.is_committed = false;
        self.stores.iter_mut().for_each(Store::clear);
        for step in &case.after {
            self.step(*step)?;
        }
        Ok(())
    }

    /// What is in an ORDERED iterator must be the first of its order; another is emptied and committed then.
    fn commit(&mut self) -> Result<(), TestCaseError> {
        if !self.stores[0].may_be_committed() {
            prop_assert_eq!(self.own.call(&Call::Commit), Answer::code(Code::NotAllowed as i32));
            while self.stores[0].len() > 0 {
                self.step(Step::Remove(Which::Good(0)))?;
            }
        }
        prop_assert_eq!(self.own.call(&Call::Commit), Answer::default());
        self.is_committed = true;
        Ok(())
    }

    /// A handle, and what a function for its class finds behind it.
    fn find(&self, which: Which, is_buffer: bool) -> (u64, Result<usize, Code>) {
        let all = if is_buffer { &self.buffers[..] } else { &self.iterators[..] };
        match which {
            Which::Good(place) => (all[place], Ok(place)),
            Which::Null => (0, Err(Code::NullObject)),
            Which::Freed => (self.freed[usize::from(!is_buffer)], Err(Code::StaleObject)),
            Which::Foreign => {
                (if is_buffer { self.iterators[1] } else { self.buffers[0] }, Err(Code::WrongClass))
            }
        }
    }

    fn is_used(&self, buffer: usize) -> bool {
        self.stores.iter().any(|store| store.has(buffer))
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Insert(iterator, buffer) => {
                let ((iterator, place), (buffer, number)) =
                    (self.find(iterator, false), self.find(buffer, true));
                let expected = place.and_then(|place| Ok((place, number?))).and_then(|(place, number)| {
                    let is_used = self.is_used(number);
                    self.stores[place].insert((number, shape(number)), self.labels[number], is_used)
                });
                self.expect(&Call::Insert { iterator, buffer }, expected.map(|()| 0), step)
            }
            Step::Remove(iterator) => {
                let (iterator, place) = self.find(iterator, false);
                let answer = self.own.call(&Call::Remove(iterator));
                let store = match place {
                    Ok(place) if self.stores[place].len() > 0 => &mut self.stores[place],
                    place => {
                        let code = place.err().unwrap_or(Code::Empty) as i32;
                        prop_assert_eq!(answer, Answer::code(code), "{:?}", step);
                        return Ok(());
                    }
                };
                let removed = self.buffers.iter().position(|buffer| Answer::value(*buffer) == answer);
                prop_assert!(removed.is_some_and(|buffer| store.gives(buffer)), "{answer:?} of {store:?}");
                removed.iter().for_each(|buffer| store.take_out(*buffer));
                if !self.is_committed {
                    store.go_on_after_the_first();
                }
                Ok(())
            }
            Step::Count(iterator) => {
                let (iterator, place) = self.find(iterator, false);
                let expected = place.map(|place| self.stores[place].len() as u64);
                self.expect(&Call::Count(iterator), expected, step)
            }
            Step::SetLabel(buffer, label) => {
                let (buffer, number) = self.find(buffer, true);
                let expected = number.and_then(|number| {
                    if self.is_used(number) {
                        return Err(Code::BufferInUse);
                    }
                    self.labels[number] = label;
                    Ok(0)
                });
                self.expect(&Call::SetLabel(buffer, label), expected, step)
            }
            Step::Label(buffer) => {
                let (buffer, number) = self.find(buffer, true);
                self.expect(&Call::Label(buffer), number.map(|number| self.labels[number] as u64), step)
            }
        }
    }

    fn expect(&mut self, call: &Call, expected: Result<u64, Code>, step: Step) -> Result<(), TestCaseError> {
        let expected = expected.map_or_else(|code| Answer::code(code as i32), Answer::value);
        prop_assert_eq!(self.own.call(call), expected, "{:?} while committed: {}", step, self.is_committed);
        Ok(())
    }

    /// Everything goes, whatever was found.
    fn end(self) {
        if self.is_committed {
            self.own.must(Call::Uncommit);
        }
        for iterator in self.iterators {
            while self.own.call(&Call::Remove(iterator)).code == 0 {}
            self.own.must(Call::Free(iterator));
        }
        self.own.must(Call::Free(self.vector));
        for buffer in self.buffers {
            self.own.must(Call::Free(buffer));
        }
    }
}
