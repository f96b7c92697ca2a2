//! Memory of buffers in tests on threads.
//!
//! A lock around the bytes would order whatever their users do. Where a race detector looks there is none, as in the memory of C programs,
//! so it sees whoever uses a buffer that it does not have.

use super::storage::Storage;
use std::sync::Arc;

/// So many zeros.
pub(super) fn storage_in_tests(size: usize) -> Arc<dyn Storage> {
    #[cfg(portable_copy)]
    return Arc::new(plain::Plain::new(size));
    #[cfg(not(portable_copy))]
    Arc::new(super::storage::OwnedStorage::new(size))
}

#[cfg(portable_copy)]
mod plain {
    use crate::objects::error::Code;
    use crate::objects::storage::Storage;
    use leveret_memory::Handed;

    pub(super) struct Plain(Handed);

    impl Plain {
        pub(super) fn new(size: usize) -> Self {
            Self(Handed::new(size))
        }
    }

    impl Storage for Plain {
        fn prepare(&self, _: usize) -> Result<(), Code> {
            Ok(())
        }
        fn release(&self) {}
        fn read(&self, reader: &mut dyn FnMut(&[u8])) {
            self.0.read(reader);
        }
        fn address(&self) -> usize {
            0
        }
        fn write(&self, writer: &mut dyn FnMut(&mut [u8])) {
            self.0.write(writer);
        }
        fn resize(&self, _: usize) -> Result<(), Code> {
            Err(Code::Bufsize)
        }
    }
}
