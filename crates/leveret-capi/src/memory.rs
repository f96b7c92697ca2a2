//! Memory behind a buffer: the application's, or the library's from commit to uncommit.

use leveret_memory::sync::{AtomicPtr, Ordering};
use leveret_runtime::objects::{Code, Storage};
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// System memory begins at a line, so that copies are fast.
const ALIGNMENT: usize = 64;

/// Bytes that C code reads and writes by their address.
pub(crate) struct Memory {
    base: AtomicPtr<u8>,
    size: usize,
    /// The library's own, from commit to uncommit.
    is_system: bool,
}

impl Memory {
    /// The application's bytes from `base` on.
    pub(crate) fn of_application(base: *mut u8, size: usize) -> Self {
        Self { base: AtomicPtr::new(base), size, is_system: false }
    }

    /// Memory that commit makes.
    pub(crate) fn of_system(size: usize) -> Self {
        Self { base: AtomicPtr::new(std::ptr::null_mut()), size, is_system: true }
    }

    fn layout(&self) -> Result<Layout, Code> {
        Layout::from_size_align(self.size, ALIGNMENT).map_err(|_| Code::Bufsize)
    }
}

impl Storage for Memory {
    fn prepare(&self, size: usize) -> Result<(), Code> {
        debug_assert_eq!(size, self.size, "a buffer keeps its size");
        if !self.is_system || !self.base.load(Ordering::Acquire).is_null() {
            return Ok(());
        }
        // SAFETY: a buffer's size is above zero, so the layout's is.
        let base = unsafe { alloc_zeroed(self.layout()?) };
        if base.is_null() {
            return Err(Code::NoMemory);
        }
        // Written, since zeroed memory may have no pages yet.
        for page in (0..self.size).step_by(4096) {
            // SAFETY: within the allocation.
            unsafe { base.add(page).write_volatile(0) };
        }
        self.base.store(base, Ordering::Release);
        Ok(())
    }

    fn release(&self) {
        if self.is_system {
            let base = self.base.swap(std::ptr::null_mut(), Ordering::AcqRel);
            if let (false, Ok(layout)) = (base.is_null(), self.layout()) {
                // SAFETY: made by `prepare` with this layout, and nobody has the address any more but a caller who was
                // told that it ends with uncommit.
                unsafe { dealloc(base, layout) };
            }
        }
    }

    fn read(&self, reader: &mut dyn FnMut(&[u8])) {
        let base = self.base.load(Ordering::Acquire);
        let size = if base.is_null() { 0 } else { self.size };
        let base = if base.is_null() { std::ptr::dangling() } else { base.cast_const() };
        // SAFETY: the application promised at creation that `size` bytes are there, and leaves a buffer alone that is in
        // an iterator or a transfer; system memory has that size.
        reader(unsafe { std::slice::from_raw_parts(base, size) });
    }

    fn write(&self, writer: &mut dyn FnMut(&mut [u8])) {
        let base = self.base.load(Ordering::Acquire);
        let size = if base.is_null() { 0 } else { self.size };
        let base = if base.is_null() { std::ptr::dangling_mut() } else { base };
        // SAFETY: as for `read`; a buffer has one user at a time.
        writer(unsafe { std::slice::from_raw_parts_mut(base, size) });
    }

    fn address(&self) -> usize {
        self.base.load(Ordering::Acquire).expose_provenance()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.release();
    }
}
