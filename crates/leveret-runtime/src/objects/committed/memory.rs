//! The memory that a commit makes for buffers: one segment, of which each that wants memory has its part.
//!
//! It is made when all of them are known, and which of them lie in a channel's segment. The parts hold it: it goes with the last buffer
//! that is released, so what a mode keeps stays where it is.

use super::Committed;
use leveret_memory::{Part, Region};
use leveret_os::private_memory::{PrivateMemory, PrivateMemoryError};
use std::sync::Arc;

impl Committed {
    /// Gives every buffer its bytes that wants some.
    ///
    /// # Errors
    /// When the system has no memory; then no buffer got any.
    pub(in crate::objects) fn make_memory(&self) -> Result<(), PrivateMemoryError> {
        let wanting = || self.buffers.iter().filter(|buffer| buffer.storage.wanted() > 0);
        let sizes: Vec<usize> = wanting().map(|buffer| buffer.storage.wanted()).collect();
        if sizes.is_empty() {
            return Ok(());
        }
        // What no address space holds is refused like what the system has not got.
        let room = Part::room(sizes.iter().copied()).unwrap_or(usize::MAX);
        let segment: Arc<dyn Region> = Arc::new(PrivateMemory::new(room)?);
        for (buffer, part) in wanting().zip(Part::cut(segment, sizes.iter().copied())) {
            buffer.storage.place(part);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::objects::keep::Kept;
    use crate::objects::{BufferDescription, Code, Dataspec, OwnedStorage, Storage, World};
    use leveret_memory::{PART_ALIGNMENT, Part, Region};
    use leveret_types::MemberId;
    use std::sync::{Arc, Mutex, Weak};

    /// Wants so many bytes of commit.
    struct Wanting(usize, Mutex<Option<Part>>);

    impl Wanting {
        fn new(size: usize) -> Arc<Self> {
            Arc::new(Self(size, Mutex::new(None)))
        }

        fn segment(&self) -> Weak<dyn Region> {
            let part = self.1.lock().expect("nobody panicked");
            Arc::downgrade(&part.as_ref().expect("it has its part").region())
        }
    }

    impl Storage for Wanting {
        fn prepare(&self, _: usize) -> Result<(), Code> {
            Ok(())
        }
        fn release(&self) {
            *self.1.lock().expect("nobody panicked") = None;
        }
        fn read(&self, reader: &mut dyn FnMut(&[u8])) {
            reader(&[]);
        }
        fn address(&self) -> usize {
            self.1.lock().expect("nobody panicked").as_ref().map_or(0, |part| part.address().addr().get())
        }
        fn write(&self, writer: &mut dyn FnMut(&mut [u8])) {
            writer(&mut []);
        }
        fn resize(&self, _: usize) -> Result<(), Code> {
            Ok(())
        }
        fn wanted(&self) -> usize {
            if self.address() == 0 { self.0 } else { 0 }
        }
        fn place(&self, part: Part) {
            *self.1.lock().expect("nobody panicked") = Some(part);
        }
    }

    fn world() -> World {
        World::new(MemberId(0), &["a".to_owned()]).expect("an empty world has room")
    }

    fn buffer(world: &mut World, size: usize, storage: Arc<dyn Storage>) {
        world.buffer("", BufferDescription { size, dataspec: Dataspec::Byte, storage }).expect("a buffer");
    }

    // spec: BUFFER-MEMORY-06, BUFFER-MEMORY-07
    #[test]
    fn one_segment_has_the_memory_of_all_buffers_of_a_commit() {
        let mut world = world();
        let sizes = [1, 64, 65, 5000];
        let storages = sizes.map(Wanting::new);
        for (size, storage) in sizes.into_iter().zip(&storages) {
            buffer(&mut world, size, storage.clone());
        }
        let own = Arc::new(OwnedStorage::new(8));
        buffer(&mut world, 8, own.clone());
        let before = own.address();
        let committed = world.prepare(&Kept::default()).expect("everything fits");
        committed.make_memory().expect("there is memory");
        let segment = storages[0].segment();
        let mut expected = segment.upgrade().expect("it is held").base().addr().get();
        for (size, storage) in sizes.into_iter().zip(&storages) {
            assert!(storage.segment().ptr_eq(&segment));
            assert_eq!(storage.address(), expected, "the parts lie side by side");
            expected += size.next_multiple_of(PART_ALIGNMENT);
        }
        assert_eq!(own.address(), before, "memory of the program's stays where it is");

        // A later commit makes one for those alone that have none.
        let late = Wanting::new(7);
        buffer(&mut world, 7, late.clone());
        let addresses = storages.each_ref().map(|storage| storage.address());
        let committed = world.prepare(&Kept::default()).expect("everything fits");
        committed.make_memory().expect("there is memory");
        assert_eq!(storages.each_ref().map(|storage| storage.address()), addresses);
        assert!(!late.segment().ptr_eq(&segment));

        // The last buffer that is left holds all of it.
        storages[1..].iter().for_each(|storage| storage.release());
        assert!(segment.upgrade().is_some());
        storages[0].release();
        assert!(segment.upgrade().is_none());
    }

    #[test]
    fn where_there_is_no_memory_no_buffer_gets_any() {
        for sizes in [[8, 1 << 55], [8, usize::MAX]] {
            let mut world = world();
            let storages = sizes.map(Wanting::new);
            storages.iter().for_each(|storage| buffer(&mut world, 8, storage.clone()));
            let committed = world.prepare(&Kept::default()).expect("everything fits");
            let error = committed.make_memory().expect_err("no machine has as much");
            assert!(
                error.to_string().contains("fewer or smaller buffers") || error.size == usize::MAX,
                "{error}"
            );
            assert!(storages.iter().all(|storage| storage.address() == 0));
        }
    }
}
