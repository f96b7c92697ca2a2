//! Instants of a tracepoint, noted by a program in the kernel.
//!
//! A perf event of a tracepoint has holes: the kernel counts in each thread how deeply its events nest, and leaves out what happens in one
//! whose count it has got wrong for good. Where that is an idle task, no interrupt that comes to the idle core is ever logged. The program does not go through that count.
//!
//! ```text
//!   one slot for each core:    | written | instant | instant | ...   (INSTANTS, a power of two)
//!                                          ^ written % INSTANTS comes next
//! ```
//!
//! The program alone writes. Where nobody reads in time the oldest instants are overwritten, and counted as lost.

use super::event::{Mapped, PerfError, page_bytes};
use crate::Failure;
use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_types::Nanos;
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// Kept for each core: 64 KiB.
const INSTANTS: u64 = 8192;
const SLOT_BYTES: usize = 8 + 8 * INSTANTS as usize;

/// Of `bpf(2)`: what is asked of it, and what a map and a program are.
mod kernel {
    pub(super) const MAP_CREATE: i64 = 0;
    pub(super) const PROGRAM_LOAD: i64 = 5;
    pub(super) const RAW_TRACEPOINT_OPEN: i64 = 17;
    pub(super) const MAP_ARRAY: u32 = 2;
    pub(super) const MAPPABLE: u32 = 1 << 10;
    pub(super) const PROGRAM_RAW_TRACEPOINT: u32 = 17;
    pub(super) const LOOK_UP: i32 = 1;
    pub(super) const CLOCK_MONOTONIC: i32 = 5;
    pub(super) const THIS_CORE: i32 = 8;

    #[repr(C)]
    pub(super) struct Map {
        pub kind: u32,
        pub key_bytes: u32,
        pub value_bytes: u32,
        pub entries: u32,
        pub flags: u32,
    }

    #[repr(C)]
    pub(super) struct Program {
        pub kind: u32,
        pub count: u32,
        pub instructions: *const Instruction,
        pub license: *const std::ffi::c_char,
        pub log_level: u32,
        pub log_bytes: u32,
        pub log: u64,
        pub kernel_version: u32,
        pub flags: u32,
        pub name: [u8; 16],
    }

    #[repr(C)]
    pub(super) struct Attachment {
        pub tracepoint: *const std::ffi::c_char,
        pub program: i32,
        pub zero: u32,
    }

    #[repr(C)]
    pub(super) struct Instruction {
        code: u8,
        registers: u8,
        offset: i16,
        immediate: i32,
    }

    pub(super) const fn instruction(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
        let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
        Instruction { code, registers, offset, immediate }
    }
}
use kernel::{Instruction, instruction};

/// A program that notes each passing of a tracepoint, by core, while it is held.
#[derive(Debug)]
pub(super) struct Stamps {
    slots: Mapped,
    // Keeps the program running.
    _attached: OwnedFd,
}

// SAFETY: the mapping is only ever read, by atomic loads.
unsafe impl Sync for Stamps {}

/// Those of one core.
#[derive(Debug)]
pub(super) struct CoreStamps {
    stamps: Arc<Stamps>,
    core: u32,
    read: u64,
    lost: u64,
}

impl Stamps {
    /// Starts noting on the cores up to `last_core`; `tracepoint` without its group.
    pub(super) fn open(
        name: &'static str,
        tracepoint: &CStr,
        last_core: u32,
    ) -> Result<Arc<Self>, PerfError> {
        let refused = |failure| PerfError::Open { event: name, target: "all cores".to_owned(), failure };
        let entries = last_core + 1;
        let map = kernel::Map {
            kind: kernel::MAP_ARRAY,
            key_bytes: 4,
            value_bytes: SLOT_BYTES as u32,
            entries,
            flags: kernel::MAPPABLE,
        };
        // SAFETY: the structure has no pointers.
        let map = unsafe { call(kernel::MAP_CREATE, &map) }.map_err(refused)?;
        let bytes = (SLOT_BYTES * entries as usize).next_multiple_of(page_bytes());
        let slots = Mapped::of(map.as_fd(), bytes).map_err(|errno| refused(Failure::new("mmap", errno)))?;
        let instructions = noting(map.as_raw_fd());
        let program = kernel::Program {
            kind: kernel::PROGRAM_RAW_TRACEPOINT,
            count: instructions.len() as u32,
            instructions: instructions.as_ptr(),
            license: c"Dual MIT/GPL".as_ptr(),
            log_level: 0,
            log_bytes: 0,
            log: 0,
            kernel_version: 0,
            flags: 0,
            name: *b"leveret_stamps\0\0",
        };
        // SAFETY: the pointers are to the instructions, whose count stands beside them, and to a C string; both live through the call.
        let program = unsafe { call(kernel::PROGRAM_LOAD, &program) }.map_err(refused)?;
        let attachment =
            kernel::Attachment { tracepoint: tracepoint.as_ptr(), program: program.as_raw_fd(), zero: 0 };
        // SAFETY: the pointer is to a C string that lives through the call.
        let attached = unsafe { call(kernel::RAW_TRACEPOINT_OPEN, &attachment) }.map_err(refused)?;
        Ok(Arc::new(Self { slots, _attached: attached }))
    }

    /// Those of a core up to the last that was opened for, from now on.
    pub(super) fn of_core(self: &Arc<Self>, core: u32) -> CoreStamps {
        let mut stamps = CoreStamps { stamps: self.clone(), core, read: 0, lost: 0 };
        stamps.read = stamps.written().load(Ordering::Acquire);
        stamps
    }
}

impl CoreStamps {
    pub(super) fn core(&self) -> u32 {
        self.core
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    fn written(&self) -> &AtomicU64 {
        self.word(0)
    }

    fn word(&self, word: usize) -> &AtomicU64 {
        assert!(8 * word < SLOT_BYTES, "word {word} is beyond the slot");
        let at = self.stamps.slots.at(SLOT_BYTES * self.core as usize + 8 * word);
        // SAFETY: within the mapping, which lives as long as `self`, by the assertion and as the core is one opened for; 8-aligned, as is
        // the size of a slot; the kernel stores to it while we load, which an atomic load allows.
        unsafe { AtomicU64::from_ptr(at.cast()) }
    }

    /// Hands over the instants since the last call, in order.
    pub(super) fn drain(&mut self, mut take: impl FnMut(Nanos)) {
        let written = self.written().load(Ordering::Acquire);
        let mut found = Vec::with_capacity(written.saturating_sub(self.read).min(INSTANTS) as usize);
        for index in written.saturating_sub(INSTANTS).max(self.read)..written {
            let instant = self.word(1 + (index % INSTANTS) as usize).load(Ordering::Acquire);
            found.push((index, Nanos(instant.cast_signed())));
        }
        // What has come meanwhile, and the one that is being written, may have overwritten the first of them.
        let whole = (self.written().load(Ordering::Acquire) + 1).saturating_sub(INSTANTS);
        self.lost += whole.min(written).saturating_sub(self.read);
        self.read = written;
        found.into_iter().filter(|(index, _)| *index >= whole).for_each(|(_, instant)| take(instant));
    }
}

/// `bpf(2)`, which gives a descriptor.
///
/// # Safety
///
/// The pointers in `attributes` must be what the kernel takes them for.
unsafe fn call<T>(command: i64, attributes: &T) -> Result<OwnedFd, Failure> {
    // SAFETY: the kernel reads as many bytes as the structure has; for the pointers in it the caller vouches.
    let answer =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    if answer < 0 {
        return Err(Failure::last("bpf"));
    }
    let descriptor = i32::try_from(answer).map_err(|_| Failure::new("bpf", Errno::BADF))?;
    // SAFETY: the call succeeded, so the number is a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The program: `slot = slots[this core]; slot.instant[slot.written % INSTANTS] = now; slot.written += 1`, if there is such a slot.
fn noting(map: i32) -> [Instruction; 19] {
    const CALL: u8 = 0x85;
    const EXIT: u8 = 0x95;
    const IF_ZERO: u8 = 0x15;
    const LOAD_MAP: u8 = 0x18;
    const LOAD: u8 = 0x79;
    const STORE: u8 = 0x7b;
    const STORE_HALF: u8 = 0x63;
    const MOVE: u8 = 0xbf;
    const MOVE_NUMBER: u8 = 0xb7;
    const ADD: u8 = 0x0f;
    const ADD_NUMBER: u8 = 0x07;
    const AND_NUMBER: u8 = 0x57;
    const SHIFT_LEFT: u8 = 0x67;
    const ATOMIC: u8 = 0xdb;
    /// Ordered after all that stands before it.
    const ATOMIC_FETCH_ADD: i32 = 1;
    const MAP_DESCRIPTOR: u8 = 1;
    [
        instruction(CALL, 0, 0, 0, kernel::THIS_CORE),
        instruction(STORE_HALF, 10, 0, -4, 0),
        instruction(LOAD_MAP, 1, MAP_DESCRIPTOR, 0, map),
        instruction(0, 0, 0, 0, 0),
        instruction(MOVE, 2, 10, 0, 0),
        instruction(ADD_NUMBER, 2, 0, 0, -4),
        instruction(CALL, 0, 0, 0, kernel::LOOK_UP),
        instruction(IF_ZERO, 0, 0, 9, 0),
        instruction(MOVE, 6, 0, 0, 0),
        instruction(CALL, 0, 0, 0, kernel::CLOCK_MONOTONIC),
        instruction(LOAD, 2, 6, 0, 0),
        instruction(AND_NUMBER, 2, 0, 0, INSTANTS as i32 - 1),
        instruction(SHIFT_LEFT, 2, 0, 0, 3),
        instruction(ADD, 2, 6, 0, 0),
        instruction(STORE, 2, 0, 8, 0),
        instruction(MOVE_NUMBER, 1, 0, 0, 1),
        instruction(ATOMIC, 6, 1, 0, ATOMIC_FETCH_ADD),
        instruction(MOVE_NUMBER, 0, 0, 0, 0),
        instruction(EXIT, 0, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
    use rustix::io::pwrite;

    /// Slots as the program would have left them: in each word of the second core's the number of the instant that lies there.
    fn written(count: u64, read: u64) -> CoreStamps {
        let file = memfd_create(c"slots", MemfdFlags::CLOEXEC).unwrap();
        let bytes = (2 * SLOT_BYTES).next_multiple_of(page_bytes());
        ftruncate(&file, bytes as u64).unwrap();
        pwrite(&file, &count.to_ne_bytes(), SLOT_BYTES as u64).unwrap();
        for index in count.saturating_sub(INSTANTS)..count {
            let at = SLOT_BYTES as u64 + 8 * (1 + index % INSTANTS);
            pwrite(&file, &index.to_ne_bytes(), at).unwrap();
        }
        let slots = Mapped::of(file.as_fd(), bytes).unwrap();
        CoreStamps { stamps: Arc::new(Stamps { slots, _attached: file }), core: 1, read, lost: 0 }
    }

    fn drained(stamps: &mut CoreStamps) -> Vec<u64> {
        let mut taken = Vec::new();
        stamps.drain(|at| taken.push(at.0.cast_unsigned()));
        taken
    }

    #[test]
    fn each_instant_is_read_once_and_in_order() {
        let mut stamps = written(5, 2);
        assert_eq!((drained(&mut stamps), drained(&mut stamps), stamps.lost()), (vec![2, 3, 4], vec![], 0));
        let round = 3 * INSTANTS;
        assert_eq!(drained(&mut written(round + 2, round - 2)), Vec::from_iter(round - 2..round + 2));
    }

    /// The one that comes next may be half written, in the place of the oldest.
    #[test]
    fn what_was_overwritten_is_lost_and_counted() {
        let mut stamps = written(3 * INSTANTS, 10);
        let taken = drained(&mut stamps);
        assert_eq!((taken.first(), taken.last()), (Some(&(2 * INSTANTS + 1)), Some(&(3 * INSTANTS - 1))));
        assert_eq!(stamps.lost() + taken.len() as u64, 3 * INSTANTS - 10);
        let mut full = written(INSTANTS, 0);
        assert_eq!((drained(&mut full).len() as u64, full.lost()), (INSTANTS - 1, 1));
    }
}
