//! The lock-free structures of this crate in the interleavings that loom explores. Their files are taken by themselves, with the few
//! types that they name: the rest of the crate makes system calls and has no place under loom.
//!
//! What a structure guards is one of loom's cells, so that an access that is not ordered shows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p leveret-runtime --release --test loom`
#![cfg(loom)]
#![allow(missing_docs, reason = "a test has no public interface")]
#![allow(dead_code, reason = "of each file a part is tried")]

#[path = "../src/gate.rs"]
mod gate;
#[path = "../src/objects/committed/loans.rs"]
mod loans;
#[path = "../src/objects/events/occurrence.rs"]
mod occurrence;

/// As in the crate, without what only commits need.
mod event_end {
    #[derive(Clone)]
    pub(crate) struct FiringSource {
        pub(crate) reader: leveret_memory::FiringReader,
        pub(crate) member: leveret_types::MemberId,
        pub(crate) rank: u16,
        pub(crate) priority: u8,
    }
}

mod objects {
    pub(crate) mod events {
        pub(crate) mod body {
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub(crate) enum ReceptorCombination {
                Any,
                All,
            }
        }
    }
}

use event_end::FiringSource;
use gate::Gate;
use leveret_memory::{
    Borrower, EventSpec, FiringWriter, HeapRegion, Mapping, OwnSegment, PeerSegment, Receiver, Region,
    SegmentLayout, SegmentSpec, Sender, SourceSpec, Taken, TargetSpec, TriggerSpec,
};
use leveret_types::{ChannelId, Generation, MemberId, Nanos, TriggerId};
use loans::Loans;
use loom::cell::Cell;
use loom::thread;
use objects::events::body::ReceptorCombination;
use occurrence::Occurrence;

type Shared<T> = loom::sync::Arc<T>;

const GENERATION: Generation = Generation(1);
const CHANNEL: ChannelId = ChannelId(0);

/// Explores with at most this many preemptions; loom's authors find three enough for practically every fault.
fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(3);
    builder.max_branches = 10_000;
    builder.check(model);
}

/// A segment of this member with these parts, as its owner and as a peer sees it.
fn segment(
    member: u16,
    sources: Vec<SourceSpec>,
    targets: Vec<TargetSpec>,
    events: EventSpec,
) -> (OwnSegment, PeerSegment) {
    let member = MemberId(member);
    let spec = SegmentSpec {
        member,
        generation: GENERATION,
        sources,
        targets,
        tasks: Vec::new(),
        message_records: 1,
        events,
    };
    let layout = SegmentLayout::new(&spec).expect("the specification is good");
    let region: std::sync::Arc<dyn Region> = std::sync::Arc::new(HeapRegion::new(layout.size()));
    let own = OwnSegment::create(region.clone(), &layout).expect("fresh memory");
    (own, PeerSegment::attach(region, &layout, member, GENERATION).expect("a good header"))
}

#[test]
fn who_finds_a_gate_open_sees_what_came_before_it_opened() {
    explore(|| {
        let (gate, asked) = (Shared::new(Gate::default()), Shared::new(Cell::new(0)));
        let (theirs, called) = (gate.clone(), asked.clone());
        // The one that looks is the second thread: loom does not try the opener first otherwise, since it begins with a load.
        let looking = thread::spawn(move || {
            if theirs.is_open(0) {
                assert_eq!(called.get(), 1);
            }
        });
        asked.set(1);
        gate.open(0);
        gate.open(1);
        looking.join().unwrap();
        assert!(gate.is_open(0) && gate.is_open(1) && !gate.is_open(2));
    });
}

/// One aliased buffer: the sender with its loans, and the receiver with what it borrows.
fn aliased() -> (Sender, Loans, Receiver, Borrower) {
    let mapping = Mapping::Aliased(1);
    let source = SourceSpec { channel: CHANNEL, size: 8, buffers: 2, waits: false, mapping, checksum: false };
    let target = TargetSpec { channel: CHANNEL, waits: false, mapping };
    let (mut own, peer_source) = segment(0, vec![source], vec![], EventSpec::default());
    let (mut end, peer_target) = segment(1, vec![], vec![target], EventSpec::default());
    let (to, from) = (peer_target.target(CHANNEL).unwrap(), peer_source.source(CHANNEL).unwrap());
    let (own, end) = (own.take_source(CHANNEL).unwrap(), end.take_target(CHANNEL).unwrap());
    let (loans, borrower) = (Loans::new(to.lender().unwrap(), 1), end.borrower().unwrap());
    (Sender::new(own, to), loans, Receiver::new(end, from), borrower)
}

/// Two threads of the sender's member look for it: one of them gets it, and what the receiver did with it is over.
#[test]
fn a_lent_buffer_comes_back_to_one_thread_and_after_its_borrower_is_done() {
    explore(|| {
        let (mut sender, loans, mut receiver, borrower) = aliased();
        let (loans, buffer) = (Shared::new(loans), Shared::new(Cell::new(1)));
        loans.lend(0, 0);
        sender.reserve(0).unwrap().publish_for(0, 8, Nanos::ZERO);
        let theirs = buffer.clone();
        let reading = thread::spawn(move || {
            let Taken::Message(message) = receiver.take(0) else { panic!("published") };
            borrower.keep(0, 0);
            message.release();
            assert_eq!(theirs.get(), 1, "still borrowed");
            borrower.give_back(0);
        });
        let collect = |loans: &Loans, buffer: &Cell<u64>| {
            let is_back = loans.take_back(0);
            if is_back {
                buffer.set(2);
            }
            is_back
        };
        let (others, same) = (loans.clone(), buffer.clone());
        let other = thread::spawn(move || collect(&others, &same));
        let mine = collect(&loans, &buffer);
        reading.join().unwrap();
        let theirs = other.join().unwrap();
        assert!(!(mine && theirs), "taken back twice");
        assert_eq!(loans.take_back(0), !(mine || theirs), "left with nobody");
        assert!(!loans.has_any());
    });
}

/// Whoever sees that nothing is lent sees what the thread that took it back did before.
#[test]
fn nothing_lent_is_seen_after_the_buffer_was_taken_back() {
    explore(|| {
        let (mut sender, loans, mut receiver, borrower) = aliased();
        let loans = Shared::new(loans);
        loans.lend(0, 0);
        sender.reserve(0).unwrap().publish_for(0, 8, Nanos::ZERO);
        let Taken::Message(message) = receiver.take(0) else { panic!("published") };
        borrower.keep(0, 0);
        message.release();
        let content = Shared::new(Cell::new(0));
        let (theirs, written) = (loans.clone(), content.clone());
        let taking = thread::spawn(move || {
            written.set(1);
            borrower.give_back(0);
            assert!(theirs.take_back(0), "nobody else looks for it");
        });
        if !loans.has_any() {
            assert_eq!(content.get(), 1);
        }
        taking.join().unwrap();
    });
}

/// So many triggers of one member.
fn triggers(count: u16) -> (Vec<FiringWriter>, Vec<FiringSource>) {
    let declared = (0..count).map(|trigger| TriggerSpec { trigger: TriggerId(trigger), kept: 4 }).collect();
    let events = EventSpec { triggers: declared, listeners: Vec::new() };
    let (mut own, peer) = segment(0, vec![], vec![], events);
    let ends = (0..count).map(|rank| {
        let reader = peer.trigger(TriggerId(rank), Nanos::ZERO).expect("declared");
        let source = FiringSource { reader, member: MemberId(0), rank, priority: 1 };
        (own.take_trigger(TriggerId(rank)).expect("not taken"), source)
    });
    ends.unzip()
}

#[test]
fn an_occurrence_is_consumed_once_and_after_what_came_before_its_firing() {
    explore(|| {
        let (mut writers, sources) = triggers(1);
        let receptor = Shared::new(Occurrence::of_sources(sources));
        let (content, writer) = (Shared::new(Cell::new(0)), writers.remove(0));
        let cause = content.clone();
        let firing = thread::spawn(move || {
            cause.set(1);
            writer.fire(Nanos(5));
        });
        let consume = |receptor: &Occurrence, content: &Cell<u64>| {
            let consumed = receptor.consume()?;
            assert_eq!(content.get(), 1);
            Some((consumed.number, consumed.time))
        };
        let (same, seen) = (receptor.clone(), content.clone());
        let other = thread::spawn(move || consume(&same, &seen));
        let mine = consume(&receptor, &content);
        let theirs = other.join().unwrap();
        firing.join().unwrap();
        let rest = consume(&receptor, &content);
        let found: Vec<_> = [mine, theirs, rest].into_iter().flatten().collect();
        assert_eq!(found, [(0, Some(Nanos(5)))]);
        assert_eq!(receptor.pending(), 0);
    });
}

#[test]
fn of_two_triggers_that_must_both_fire_each_firing_is_consumed_once() {
    explore(|| {
        let (writers, sources) = triggers(2);
        let parts = sources.into_iter().map(|source| Occurrence::of_sources(vec![source])).collect();
        let receptor = Shared::new(Occurrence::combined(ReceptorCombination::All, parts));
        writers[0].fire(Nanos(1));
        writers[1].fire(Nanos(2));
        let same = receptor.clone();
        let other = thread::spawn(move || same.consume());
        let mine = receptor.consume();
        let theirs = other.join().unwrap();
        let found: Vec<_> = [mine, theirs].into_iter().flatten().collect();
        assert_eq!(found.len(), 1, "one occurrence, and one of the two gets it");
        assert_eq!((found[0].rank, found[0].time, found[0].lost), (1, Some(Nanos(2)), 0));
        assert_eq!(receptor.pending(), 0);
    });
}

/// Draining consumes all that is pending, and beside another consumer nothing twice.
#[test]
fn what_is_drained_is_consumed_by_nobody_else() {
    explore(|| {
        let (writers, sources) = triggers(1);
        let receptor = Shared::new(Occurrence::of_sources(sources));
        writers[0].fire(Nanos(1));
        let same = receptor.clone();
        let other = thread::spawn(move || same.consume().is_some());
        let drained = receptor.drain().is_some();
        let consumed = other.join().unwrap();
        assert!(drained != consumed, "drained {drained}, consumed {consumed}");
        assert_eq!(receptor.pending(), 0);
    });
}
