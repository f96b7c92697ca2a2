//! Memory behind a buffer: the application's, or the library's from commit to uncommit.

use leveret_memory::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use leveret_memory::{Part, Region, Shelf};
use leveret_runtime::objects::{Code, Storage};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that C code reads and writes by their address.
pub(crate) struct Memory {
    base: AtomicPtr<u8>,
    size: AtomicUsize,
    /// The library's own, from commit to uncommit; there when the base is not null.
    is_system: bool,
    /// The segment in which the library's own lies: that of its commit, or a channel's. It keeps the bytes in place.
    segment: Mutex<Option<Arc<dyn Region>>>,
    is_writable: AtomicBool,
    /// Where it lies if it is a peer's.
    borrowed: Mutex<Option<Borrowed>>,
}

/// A buffer of a peer's, which may change its bytes at any time.
struct Borrowed {
    shelf: Shelf,
    index: u32,
    /// What it held when it was last read.
    copy: Vec<u8>,
}

impl Memory {
    /// The application's bytes from `base` on.
    pub(crate) fn of_application(base: *mut u8, size: usize) -> Self {
        Self::new(base, size, false)
    }

    /// Memory that commit makes.
    pub(crate) fn of_system(size: usize) -> Self {
        Self::new(std::ptr::null_mut(), size, true)
    }

    fn new(base: *mut u8, size: usize, is_system: bool) -> Self {
        Self {
            base: AtomicPtr::new(base),
            size: AtomicUsize::new(size),
            is_system,
            segment: Mutex::new(None),
            is_writable: AtomicBool::new(true),
            borrowed: Mutex::new(None),
        }
    }

    fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    fn borrowed(&self) -> MutexGuard<'_, Option<Borrowed>> {
        // Never contended: a buffer has one user at a time.
        self.borrowed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn segment(&self) -> MutexGuard<'_, Option<Arc<dyn Region>>> {
        self.segment.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for Memory {
    fn prepare(&self, size: usize) -> Result<(), Code> {
        debug_assert_eq!(size, self.size(), "a buffer keeps its size");
        Ok(())
    }

    fn release(&self) {
        if self.is_system {
            // Nobody has the address any more but a caller who was told that it ends with uncommit.
            self.base.store(std::ptr::null_mut(), Ordering::Release);
            self.is_writable.store(true, Ordering::Relaxed);
            drop(self.segment().take());
            *self.borrowed() = None;
        }
    }

    fn read(&self, reader: &mut dyn FnMut(&[u8])) {
        let base = self.base.load(Ordering::Acquire);
        if !base.is_null()
            && !self.is_writable.load(Ordering::Relaxed)
            && let Some(Borrowed { shelf, index, copy }) = &mut *self.borrowed()
        {
            shelf.copy_out(*index, copy);
            return reader(copy);
        }
        let size = if base.is_null() { 0 } else { self.size() };
        let base = if base.is_null() { std::ptr::dangling() } else { base.cast_const() };
        // SAFETY: the application promised at creation that `size` bytes are there, and leaves a buffer alone that is in
        // an iterator or a transfer; system memory has that size.
        reader(unsafe { std::slice::from_raw_parts(base, size) });
    }

    fn write(&self, writer: &mut dyn FnMut(&mut [u8])) {
        let base = self.base.load(Ordering::Acquire);
        // What is another member's is never written to.
        let is_none = base.is_null() || !self.is_writable.load(Ordering::Relaxed);
        let size = if is_none { 0 } else { self.size() };
        let base = if is_none { std::ptr::dangling_mut() } else { base };
        // SAFETY: as for `read`; a buffer has one user at a time.
        writer(unsafe { std::slice::from_raw_parts_mut(base, size) });
    }

    fn address(&self) -> usize {
        self.base.load(Ordering::Acquire).expose_provenance()
    }

    fn resize(&self, size: usize) -> Result<(), Code> {
        // Only outside a commit, so system memory has no bytes now; and no memory reaches beyond the last address.
        if self.base.load(Ordering::Acquire).addr().checked_add(size).is_none() {
            return Err(Code::Bufsize);
        }
        self.size.store(size, Ordering::Relaxed);
        Ok(())
    }

    fn is_system(&self) -> bool {
        self.is_system
    }

    fn adopt(&self, shelf: &Shelf, index: u32) -> Result<(), Code> {
        if !self.is_system || shelf.size() != self.size() {
            return Ok(());
        }
        if !shelf.is_writable() {
            let mut copy = Vec::new();
            copy.try_reserve_exact(self.size()).map_err(|_| Code::NoMemory)?;
            // Written, so that sending the buffer on faults no page in.
            copy.resize(self.size(), 0);
            *self.borrowed() = Some(Borrowed { shelf: shelf.clone(), index, copy });
        }
        *self.segment() = Some(shelf.region());
        self.is_writable.store(shelf.is_writable(), Ordering::Relaxed);
        self.base.store(shelf.address(index).as_ptr(), Ordering::Release);
        Ok(())
    }

    fn wanted(&self) -> usize {
        if self.is_system && self.base.load(Ordering::Acquire).is_null() { self.size() } else { 0 }
    }

    fn place(&self, part: Part) {
        *self.segment() = Some(part.region());
        self.base.store(part.address().as_ptr(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_memory::{
        EventSpec, HeapRegion, Mapping, OwnSegment, PeerSegment, SegmentLayout, SegmentSpec, SourceSpec,
    };
    use leveret_types::{ChannelId, Generation, MemberId};
    use std::ptr::NonNull;

    const SIZE: usize = 100;
    const CHANNEL: ChannelId = ChannelId(0);

    /// A region as those see it to whom it does not belong.
    struct ReadOnly(Arc<HeapRegion>);

    // SAFETY: it is that of the region within, which lives as long.
    unsafe impl Region for ReadOnly {
        fn base(&self) -> NonNull<u8> {
            self.0.base()
        }

        fn len(&self) -> usize {
            self.0.len()
        }

        fn is_writable(&self) -> bool {
            false
        }
    }

    /// Aliased buffers of a channel, as the sender and as the receiver have them.
    fn shelves() -> [Shelf; 2] {
        let (member, generation) = (MemberId(0), Generation(1));
        let (size, mapping) = (SIZE as u32, Mapping::Aliased(3));
        let source =
            SourceSpec { channel: CHANNEL, size, buffers: 2, waits: false, mapping, checksum: false };
        let layout = SegmentLayout::new(&SegmentSpec {
            member,
            generation,
            sources: vec![source],
            targets: Vec::new(),
            tasks: Vec::new(),
            message_records: 1,
            events: EventSpec::default(),
        });
        let layout = layout.expect("the specification is good");
        let region = Arc::new(HeapRegion::new(layout.size()));
        let mut own = OwnSegment::create(region.clone(), &layout).expect("fresh memory");
        let seen = PeerSegment::attach(Arc::new(ReadOnly(region)), &layout, member, generation);
        let seen = seen.expect("the header is good").source(CHANNEL).expect("declared");
        let own = own.take_source(CHANNEL).expect("declared");
        [own.shelf(), seen.shelf()].map(|shelf| shelf.expect("aliased").clone())
    }

    fn contents(memory: &Memory) -> (usize, Vec<u8>) {
        let mut found = (0, Vec::new());
        memory.read(&mut |bytes| found = (bytes.as_ptr().addr(), bytes.to_vec()));
        found
    }

    /// As a transfer reads what it sends on: there is no slice of memory that a peer may write to meanwhile.
    #[test]
    fn a_peers_bytes_are_read_as_a_copy() {
        let [own, seen] = shelves();
        let [theirs, ours] = [Memory::of_system(SIZE), Memory::of_system(SIZE)];
        theirs.adopt(&own, 1).expect("it fits");
        ours.adopt(&seen, 1).expect("it fits");
        assert_eq!(ours.address(), theirs.address(), "they are one");
        for content in [3, 7] {
            theirs.write(&mut |bytes| bytes.fill(content));
            let (place, bytes) = contents(&ours);
            assert_eq!(bytes, [content; SIZE]);
            let theirs_alone = ours.address()..ours.address() + SIZE;
            assert!(!theirs_alone.contains(&place), "not a copy");
        }
        ours.write(&mut |bytes| assert!(bytes.is_empty(), "they are not to be written"));
        assert_eq!(contents(&theirs).0, theirs.address(), "its owner reads them where they are");
        ours.release();
        assert_eq!((ours.address(), contents(&ours).1), (0, Vec::new()));
    }
}
