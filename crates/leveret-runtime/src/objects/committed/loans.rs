//! Aliased buffers that are with the receiver, as the sender's member keeps account of them. Any of its threads may find one back.

use leveret_memory::Lender;
use leveret_memory::sync::{AtomicU32, AtomicU64, Ordering};

/// The sender's buffers that the receiver has.
pub(crate) struct Loans {
    lender: Lender,
    /// For each place of the allowed set, the instance with which its buffer went, plus one; 0: it is here.
    out: Box<[AtomicU64]>,
    outstanding: AtomicU32,
}

impl Loans {
    pub(crate) fn new(lender: Lender, buffers: usize) -> Self {
        let out = (0..buffers).map(|_| AtomicU64::new(0)).collect();
        Self { lender, out, outstanding: AtomicU32::new(0) }
    }

    /// The buffer of this place went with this instance.
    pub(crate) fn lend(&self, place: u32, instance: u64) {
        self.out[place as usize].store(instance + 1, Ordering::Release);
        self.outstanding.fetch_add(1, Ordering::Release);
    }

    /// Whether some buffer is with the receiver.
    pub(crate) fn has_any(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) != 0
    }

    /// Whether every buffer is with the receiver.
    pub(crate) fn has_all(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) as usize == self.out.len()
    }

    /// Whether the buffer of this place has come back; says so once.
    pub(crate) fn take_back(&self, place: u32) -> bool {
        let out = &self.out[place as usize];
        let went = out.load(Ordering::Acquire);
        let is_back = went != 0 && self.lender.is_back(place, went - 1);
        if is_back && out.compare_exchange(went, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            self.outstanding.fetch_sub(1, Ordering::Release);
            return true;
        }
        false
    }
}
