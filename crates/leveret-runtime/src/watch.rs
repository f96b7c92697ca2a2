//! What a member's threads share while they run: when to stop, who has died. Plain words, no locks.

use leveret_memory::sync::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use leveret_os::clock;
use leveret_os::futex::{self, Awaited};
use leveret_os::lost::Notice;
use leveret_os::said::say;
use leveret_protocol::control::{Place, Wish};
use leveret_types::{MemberId, Nanos};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// That a member wants the job to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopWish {
    /// Since when.
    pub(crate) at: Nanos,
    pub(crate) reason: &'static str,
    pub(crate) place: Place,
}

impl StopWish {
    /// The wish in the message to the agent.
    pub(crate) fn told(self, why: String) -> Wish {
        Wish { at: self.at, why, place: self.place }
    }
}

/// Shared by the tasks and the control thread of one member.
pub struct Watch {
    /// No instance whose planned start is at or after this instant may start.
    stop_at: AtomicI64,
    stop_requested: AtomicBool,
    /// Another mode takes over at the stop.
    gives_way: AtomicBool,
    wish: OnceLock<StopWish>,
    /// Why the agent has ordered the stop.
    ending: OnceLock<String>,
    dead: Box<[AtomicU64]>,
    /// Counts what has changed above: threads that sleep on events sleep on it too.
    bell: AtomicU32,
    /// Of the mode that takes over.
    successor: OnceLock<Arc<Watch>>,
}

impl Watch {
    /// For a job of this many members, stopping at `stop_at`.
    pub fn new(members: usize, stop_at: Nanos) -> Self {
        Self {
            stop_at: AtomicI64::new(stop_at.0),
            stop_requested: AtomicBool::new(false),
            gives_way: AtomicBool::new(false),
            wish: OnceLock::new(),
            ending: OnceLock::new(),
            dead: (0..members.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            bell: AtomicU32::new(0),
            successor: OnceLock::new(),
        }
    }

    /// The instant of the stop; only ever moves earlier.
    #[inline]
    pub fn stop_at(&self) -> Nanos {
        Nanos(self.stop_at.load(Ordering::Acquire))
    }

    /// Moves the stop to `instant` if that is earlier.
    pub fn stop_no_later_than(&self, instant: Nanos) {
        if self.stop_at.fetch_min(instant.0, Ordering::AcqRel) > instant.0 {
            self.ring();
        }
    }

    /// The agent has ordered a stop, for this reason; to be said before the stop is moved. The first is kept.
    pub(crate) fn ends_for(&self, reason: String) {
        let _ = self.ending.set(reason);
    }

    /// Why what runs ends before its horizon, once it has ended. The agent knows more names than who has asked for it.
    pub(crate) fn end_reason(&self) -> Option<&str> {
        self.ending.get().map(String::as_str).or_else(|| Some(self.wish()?.reason))
    }

    /// From the stop on the cores are another mode's: threads that end there must take nothing from it.
    pub fn give_way(&self) {
        self.gives_way.store(true, Ordering::Release);
    }

    /// Whether another mode takes over at the stop.
    pub fn gives_way(&self) -> bool {
        self.gives_way.load(Ordering::Acquire)
    }

    /// What is kept from here goes on under another watch, from when this one gives way.
    pub(crate) fn succeeded_by(&self, next: &Arc<Self>) {
        let _ = self.successor.set(next.clone());
    }

    fn ring(&self) {
        self.bell.fetch_add(1, Ordering::Release);
        // It can fail only for an address that is not mapped, and this one is.
        let _ = futex::wake(&self.bell, u32::MAX);
    }

    /// To wait until the stop has moved or a peer is gone; to be made before looking whether it has.
    pub(crate) fn bell(&self) -> Awaited {
        Awaited::new(NonNull::from(&self.bell).cast(), self.bell.load(Ordering::Acquire))
    }

    /// A task wants the job to stop: this member's tasks start no further instance, and the agent stops the
    /// others. The first reason is kept.
    pub(crate) fn request_stop(&self, reason: &'static str, place: Place) -> StopWish {
        // A `OnceLock` set from a value without a heap allocates nothing and waits only for a concurrent first set.
        let wish = StopWish { at: clock::now(), reason, place };
        let _ = self.wish.set(wish);
        self.stop_requested.store(true, Ordering::Release);
        self.stop_no_later_than(Nanos::ZERO);
        wish
    }

    /// For a thread that runs functions of the program: if one of them takes the thread along, the job ends, by this task instance
    /// if it is known then, and the wish is told.
    pub(crate) fn notice(
        self: Arc<Self>,
        place: impl FnOnce() -> Place + Send + 'static,
        tell: impl FnOnce(&'static str, StopWish) + Send + 'static,
    ) -> Notice {
        const REASON: &str = "a function of the program has ended the library's thread; it must return";
        Notice::new(move || {
            say(&["leveret: ", REASON]);
            tell(REASON, self.request_stop(REASON, place()));
        })
    }

    /// What is wanted, once a task wants the job to stop.
    pub(crate) fn wish(&self) -> Option<StopWish> {
        if self.stop_requested.load(Ordering::Acquire) { self.wish.get().copied() } else { None }
    }

    /// A peer is gone.
    pub fn mark_dead(&self, member: MemberId) {
        if let Some(word) = self.dead.get(member.index() / 64) {
            word.fetch_or(1 << (member.index() % 64), Ordering::Release);
            self.ring();
        }
    }

    /// Whether any peer is gone.
    pub fn is_anyone_dead(&self) -> bool {
        self.dead.iter().any(|word| word.load(Ordering::Acquire) != 0)
    }

    /// Whether a peer is gone.
    #[inline]
    pub fn is_dead(&self, member: MemberId) -> bool {
        self.dead
            .get(member.index() / 64)
            .is_some_and(|word| word.load(Ordering::Acquire) >> (member.index() % 64) & 1 == 1)
    }
}

/// The watch of an end that may be kept in another mode: then it is the one of that mode.
#[derive(Clone)]
pub(crate) struct Watched(Arc<Held>);

struct Held {
    first: Arc<Watch>,
    /// The end goes on in modes that take over.
    is_kept: AtomicBool,
    /// The one with which it ends.
    last: OnceLock<Arc<Watch>>,
}

impl Watched {
    pub(crate) fn new(first: Arc<Watch>) -> Self {
        Self(Arc::new(Held { first, is_kept: AtomicBool::new(false), last: OnceLock::new() }))
    }

    /// The end goes on in the mode that takes over. Said by whoever changes the mode, while others may use the end.
    pub(crate) fn keep(&self) {
        self.0.is_kept.store(true, Ordering::Release);
    }

    /// The end does not go on after what runs.
    pub(crate) fn end_with(&self, last: &Arc<Watch>) {
        let _ = self.0.last.set(last.clone());
    }

    /// The present one.
    #[inline]
    pub(crate) fn now(&self) -> &Watch {
        let mut watch = &self.0.first;
        if self.0.is_kept.load(Ordering::Acquire) {
            let is_last = |watch: &Arc<Watch>| self.0.last.get().is_some_and(|last| Arc::ptr_eq(last, watch));
            // Few steps: at each change of mode an end that nobody uses at that moment gets the watch itself.
            while let Some(next) = watch.successor.get().filter(|_| watch.gives_way() && !is_last(watch)) {
                watch = next;
            }
        }
        watch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_end_follows_the_modes_to_the_one_with_which_it_ends() {
        let watches: Vec<_> = (1..=4).map(|stop| Arc::new(Watch::new(2, Nanos(stop)))).collect();
        let [kept, other] = [(), ()].map(|()| Watched::new(watches[0].clone()));
        kept.keep();
        assert_eq!(kept.now().stop_at(), Nanos(1));
        watches[0].succeeded_by(&watches[1]);
        assert_eq!(kept.now().stop_at(), Nanos(1), "no switch is agreed on");
        watches[0].give_way();
        assert_eq!((kept.now().stop_at(), other.now().stop_at()), (Nanos(2), Nanos(1)));
        watches[1].succeeded_by(&watches[2]);
        watches[1].give_way();
        watches[2].mark_dead(MemberId(1));
        assert!(kept.now().is_dead(MemberId(1)) && !other.now().is_dead(MemberId(1)));
        kept.end_with(&watches[2]);
        watches[2].succeeded_by(&watches[3]);
        watches[2].give_way();
        assert_eq!(kept.now().stop_at(), Nanos(3));
    }
}
