//! The stores behind buffer iterators: which buffers are there, and which comes next. Within one process.
//!
//! ```text
//!   insert(index, label)   +---------------------------+   remove() -> index
//!   any thread      -----> | store of 0 .. capacity    | ----->   any thread
//!   (owns the buffer)      | each buffer at most once  |          (owns the buffer from here on)
//!                          +---------------------------+
//!
//!   policy      removed is                 structure                         insert + remove, in locked instructions
//!   FIFO        the first inserted         ring of positions                 4
//!   LIFO        the last inserted          stack of links                    3
//!   SORTED      the lowest label, then     list of links, marked before      4, and a walk past the labels that are
//!               the first inserted         they are taken out                not higher
//!   UNORDERED   any                        a bit for each buffer             2
//!   ORDERED     the first inserted; it     two counters, and a position      3
//!               is the next in the cycle   for each buffer
//! ```
//!
//! A buffer is named by its index in the iterator's allowed set. Where an iterator has none (late binding), its owner
//! gives each buffer an index when it first comes in.
//!
//! Every store is lock-free: a thread that is preempted in the middle of an operation holds up nobody. Where an
//! operation needs several steps, whoever meets a half-done one does the next step itself (counting on FIFO's tail and
//! ORDERED's insertions, unlinking in SORTED) or cannot see it yet. Whenever a thread must start again, another has
//! completed a step. Nothing is allocated after [`IteratorStore::new`], and nothing makes a system call. All is safe
//! code over indices; the numbers beside them (see `link.rs`) keep an index that was taken out and came back from being
//! mistaken for one that never left.
//!
//! Insertion hands over what the thread wrote to the buffer before; removal sees it.

mod fifo;
mod lifo;
mod line;
mod link;
mod members;
mod ordered;
mod sorted;
mod unordered;

use fifo::Fifo;
use leveret_types::BUFFERS_MAX;
use lifo::Lifo;
use ordered::Ordered;
use sorted::Sorted;
use std::fmt;
use unordered::Unordered;

/// Which of the buffers inside comes out next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Policy {
    /// The one inserted first.
    Fifo,
    /// The one inserted last.
    Lifo,
    /// The one with the lowest label; of equal labels, the one inserted first.
    Sorted,
    /// Any.
    Unordered,
    /// The one inserted first, where the program promises to insert in the order 0, 1, .., capacity - 1, 0, ..
    Ordered,
}

impl fmt::Display for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Fifo => "FIFO",
            Self::Lifo => "LIFO",
            Self::Sorted => "SORTED",
            Self::Unordered => "UNORDERED",
            Self::Ordered => "ORDERED",
        })
    }
}

/// Why a buffer was not inserted. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InsertError {
    /// The allowed set has no such buffer.
    #[error(
        "buffer {index} is not allowed: the iterator was made for buffers 0 to {}; insert one of these, or make it for more",
        .capacity - 1
    )]
    NotAllowed {
        /// Which was to be inserted.
        index: u32,
        /// How many are allowed.
        capacity: u32,
    },
    /// The buffer was not removed since it was last inserted.
    #[error("buffer {index} is in the iterator already: insert a buffer only after it was removed")]
    AlreadyIn {
        /// Which was to be inserted.
        index: u32,
    },
    /// The program broke its promise to insert in the order of the allowed set.
    #[error(
        "buffer {index} is out of order: the iterator is ORDERED and buffer {expected} is next; insert that one, or make the iterator FIFO"
    )]
    OutOfOrder {
        /// Which was to be inserted.
        index: u32,
        /// Which one was promised.
        expected: u32,
    },
}

/// A store of buffers with one of the policies, for any number of threads at once.
pub struct IteratorStore {
    capacity: u32,
    store: Store,
}

enum Store {
    Fifo(Fifo),
    Lifo(Lifo),
    Sorted(Sorted),
    Unordered(Unordered),
    Ordered(Ordered),
}

impl IteratorStore {
    /// An empty store for buffers 0 to `capacity - 1`. The only place that allocates.
    ///
    /// # Panics
    /// When `capacity` is 0 or more than [`BUFFERS_MAX`].
    pub fn new(policy: Policy, capacity: u32) -> Self {
        assert!(
            (1..=BUFFERS_MAX).contains(&capacity),
            "an iterator holds 1 to {BUFFERS_MAX} buffers, not {capacity}"
        );
        let store = match policy {
            Policy::Fifo => Store::Fifo(Fifo::new(capacity)),
            Policy::Lifo => Store::Lifo(Lifo::new(capacity)),
            Policy::Sorted => Store::Sorted(Sorted::new(capacity)),
            Policy::Unordered => Store::Unordered(Unordered::new(capacity)),
            Policy::Ordered => Store::Ordered(Ordered::new(capacity)),
        };
        Self { capacity, store }
    }

    /// Puts buffer `index` in. `label` orders a SORTED store; the others do not look at it.
    ///
    /// The caller owns the buffer: it is not in, and no other thread inserts it at the same time. If that is not so,
    /// one of the two gets [`InsertError::AlreadyIn`].
    #[inline]
    pub fn insert(&self, index: u32, label: i64) -> Result<(), InsertError> {
        if index >= self.capacity {
            return Err(InsertError::NotAllowed { index, capacity: self.capacity });
        }
        match &self.store {
            Store::Fifo(store) => store.insert(index),
            Store::Lifo(store) => store.insert(index),
            Store::Sorted(store) => store.insert(index, label),
            Store::Unordered(store) => store.insert(index),
            Store::Ordered(store) => store.insert(index),
        }
    }

    /// Takes out the buffer that the policy says is next. The caller owns it. `None` when the store was empty.
    #[inline]
    pub fn remove(&self) -> Option<u32> {
        match &self.store {
            Store::Fifo(store) => store.remove(),
            Store::Lifo(store) => store.remove(),
            Store::Sorted(store) => store.remove(),
            Store::Unordered(store) => store.remove(),
            Store::Ordered(store) => store.remove(),
        }
    }

    /// Takes out buffer `index`, if it is in and the policy names no order: of an UNORDERED store any buffer is next.
    #[inline]
    pub fn remove_this(&self, index: u32) -> bool {
        match &self.store {
            Store::Unordered(store) if index < self.capacity => store.remove_this(index),
            _ => false,
        }
    }

    /// How many buffers are in: exact when no other thread is at work, out of date at once when one is. Looks at each
    /// buffer under some policies, so it is nothing for every message.
    pub fn len_hint(&self) -> u32 {
        let count = match &self.store {
            Store::Fifo(store) => store.len_hint(),
            Store::Lifo(store) => store.len_hint(),
            Store::Sorted(store) => store.len_hint(),
            Store::Unordered(store) => store.len_hint(),
            Store::Ordered(store) => store.len_hint(),
        };
        count.min(self.capacity)
    }

    /// How many buffers are allowed.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// In which order buffers come out.
    pub fn policy(&self) -> Policy {
        match &self.store {
            Store::Fifo(_) => Policy::Fifo,
            Store::Lifo(_) => Policy::Lifo,
            Store::Sorted(_) => Policy::Sorted,
            Store::Unordered(_) => Policy::Unordered,
            Store::Ordered(_) => Policy::Ordered,
        }
    }
}

impl fmt::Debug for IteratorStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "IteratorStore({}, about {} of {})", self.policy(), self.len_hint(), self.capacity)
    }
}
