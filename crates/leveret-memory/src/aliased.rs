//! Aliased buffers: the program's own buffers at the sending end lie in its segment, and those at the receiving end are the
//! same bytes, seen through the read-only mapping. A transfer moves an index and no content.
//!
//! ```text
//!   sender                                       receiver
//!   fills buffer i, publishes (k, i)  ------>    word i = k + 1, then released = k + 1
//!                                                reads buffer i as long as its program likes
//!   buffer i is back: released > k    <------    word i = 0, when its program has put buffer i back
//!   and word i is not k + 1
//! ```
//! The words are counts with a check.
//!
//! An instance that the receiver passes over leaves no word, so its buffer is back as soon as it is released. A receiver
//! that says nonsense gets its own messages overwritten, or keeps buffers that it has no use for; nobody else is hurt.

use crate::alleged::Alleged;
use crate::block::BorrowedControl;
use crate::counted::{count_of, counted};
use crate::layout::{ShelfPlace, TargetPlace};
use crate::peer::PeerTarget;
use crate::region::Region;
use crate::sync::{AtomicU64, Ordering};
use crate::window::{Window, scaled};
use crate::{checksum, copy};
use std::mem::{offset_of, size_of};
use std::ptr::NonNull;
use std::sync::Arc;

const RETURNS: usize = offset_of!(BorrowedControl, returns);

/// Where the words of [`BorrowedControl`] lie.
#[derive(Clone)]
pub(crate) struct Borrowed(Window);

impl Borrowed {
    pub(crate) fn new(segment: &Window, place: &TargetPlace) -> Option<Self> {
        let length = size_of::<BorrowedControl>() + place.spec.mapping.buffers() as usize * size_of::<u64>();
        Some(Self(segment.part(place.borrowed?, length)))
    }

    fn word(&self, index: u32) -> &AtomicU64 {
        self.0.word(size_of::<BorrowedControl>() + index as usize * size_of::<u64>())
    }
}

/// The sender's view of what the receiver has in use. For any number of threads.
#[derive(Clone)]
pub struct Lender {
    peer: PeerTarget,
    borrowed: Borrowed,
}

impl Lender {
    pub(crate) fn new(peer: &PeerTarget) -> Option<Self> {
        Some(Self { borrowed: peer.borrowed.clone()?, peer: peer.clone() })
    }

    /// Whether the receiver is done with buffer `index`, which was published as `instance`.
    ///
    /// # Panics
    /// When the channel has no buffer of that index.
    #[inline]
    pub fn is_back(&self, index: u32, instance: u64) -> bool {
        if self.peer.released().is_none_or(|released| released <= instance) {
            return false;
        }
        // Acquire: the receiver's reads of the buffer happen before what the program writes there next.
        let word = Alleged::new(self.borrowed.word(index).load(Ordering::Acquire));
        // A word that something has written over keeps no buffer: nobody would give it back.
        count_of(word.any_value()) != Some(instance + 1)
    }

    /// How many buffers the receiver says it gave back; any value is possible.
    #[inline]
    pub fn returns(&self) -> u64 {
        Alleged::new(self.borrowed.0.word(RETURNS).load(Ordering::Acquire)).any_value()
    }
}

/// What the receiver's program has in use of the sender's buffers. A buffer has one user at a time; any of the member's
/// threads may be it.
#[derive(Clone)]
pub struct Borrower(Borrowed);

impl Borrower {
    pub(crate) fn new(borrowed: &Borrowed) -> Self {
        Self(borrowed.clone())
    }

    /// Says that buffer `index` is in use, with the message of `instance`; before that instance is released.
    ///
    /// # Panics
    /// When the channel has no buffer of that index.
    #[inline]
    pub fn keep(&self, index: u32, instance: u64) {
        // Relaxed: the release of the instance publishes it.
        self.0.word(index).store(counted(instance + 1), Ordering::Relaxed);
    }

    /// Gives buffer `index` back, if it was in use.
    ///
    /// # Panics
    /// When the channel has no buffer of that index.
    #[inline]
    pub fn give_back(&self, index: u32) {
        let word = self.0.word(index);
        if word.load(Ordering::Relaxed) != 0 {
            // Release: all reads of the buffer happen before the sender, which acquires this, lets it be written.
            word.store(0, Ordering::Release);
            self.0.0.word(RETURNS).fetch_add(1, Ordering::Release);
        }
    }
}

/// Where aliased buffers lie, in this process's mapping.
#[derive(Clone)]
pub struct Shelf {
    window: Window,
    stride: usize,
    buffers: u32,
    size: u32,
    region: Arc<dyn Region>,
}

impl Shelf {
    pub(crate) fn new(segment: &Window, place: &ShelfPlace) -> Self {
        let length = place.stride * place.buffers as usize;
        assert!(place.size as usize <= place.stride, "neighbours do not overlap");
        Self {
            window: segment.part(place.offset, length),
            stride: place.stride,
            buffers: place.buffers,
            size: place.size,
            region: segment.region(),
        }
    }

    /// How many there are.
    pub fn buffers(&self) -> u32 {
        self.buffers
    }

    /// Bytes of each.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Bytes from one to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Whether this process may write to them: at the sending end it may.
    pub fn is_writable(&self) -> bool {
        self.region.is_writable()
    }

    /// The first byte of buffer `index`. It stays in place for as long as [`Shelf::region`] is held.
    ///
    /// # Panics
    /// When there is no such buffer.
    pub fn address(&self, index: u32) -> NonNull<u8> {
        assert!(index < self.buffers, "a shelf has {} buffers", self.buffers);
        // SAFETY: the window has room for `buffers` times the stride, and `index` is one of them.
        unsafe { self.window.base().add(scaled(index as usize * self.stride)) }
    }

    /// Copies buffer `index` to the front of `out`. At the receiving end the bytes are the sender's, which may change them meanwhile: there
    /// is no slice of them.
    ///
    /// # Panics
    /// When there is no such buffer, or `out` is longer than it.
    pub fn copy_out(&self, index: u32, out: &mut [u8]) {
        assert!(out.len() <= self.size(), "a buffer of the shelf has {} bytes", self.size);
        // SAFETY: buffers begin at multiples of the stride, which is one of words, and none is longer than it.
        unsafe { copy::out_of_shared(self.address(index), out) };
    }

    /// The checksum of the first `length` bytes of buffer `index`, whoever may be writing them.
    ///
    /// # Panics
    /// When there is no such buffer, or it is shorter.
    pub(crate) fn checksum(&self, index: u32, length: usize) -> u32 {
        assert!(length <= self.size(), "a buffer of the shelf has {} bytes", self.size);
        // SAFETY: as in `copy_out`.
        unsafe { checksum::of_shared(self.address(index), length) }
    }

    /// What keeps the bytes in place.
    pub fn region(&self) -> Arc<dyn Region> {
        self.region.clone()
    }
}
