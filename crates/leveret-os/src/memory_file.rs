//! Sealed memory files (design section 5): written through one mapping, read through any number.
//!
//! ```text
//!   memfd_create ── ftruncate ── mmap read-write ── seal SHRINK|GROW|FUTURE_WRITE|SEAL ── pass the descriptor
//!                                     │ owner                                               │ peers
//!                                     ▼                                                     ▼
//!                              the only writer                                   verify seals, mmap read-only
//! ```
//!
//! `F_SEAL_FUTURE_WRITE` keeps the owner's mapping and refuses every later one, `write` and hole punching too,
//! so that a peer who holds the descriptor can read and nothing else. `F_SEAL_SHRINK` is what makes reading
//! safe: a file that cannot shrink cannot turn a load into `SIGBUS`.

use crate::{Failure, Region};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

/// The seals that every segment carries.
pub const SEALS: SealFlags =
    SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::FUTURE_WRITE).union(SealFlags::SEAL);

/// Seals by the kernel's names.
fn names_of(seals: SealFlags) -> String {
    let names: Vec<&str> = seals.iter_names().map(|(name, _)| name).collect();
    names.join(", ")
}

/// Why a memory file could not be made, verified or mapped.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MemoryFileError {
    /// Zero bytes, or more than an address space holds.
    #[error("memory file \"{name}\": a size of {size} B cannot be mapped; give it 1 B to {max} B", max = isize::MAX)]
    Size {
        /// Name of the file.
        name: String,
        /// What was asked for, in bytes.
        size: u64,
    },
    /// The kernel refused to make it.
    #[error("memory file \"{name}\" of {size} B: {failure}; {}", create_remedy(failure))]
    Create {
        /// Name of the file.
        name: String,
        /// Size in bytes.
        size: u64,
        /// What failed.
        failure: Failure,
    },
    /// The descriptor is not a memory file.
    #[error(
        "the descriptor is not a sealed memory file ({failure}); the peer must send the one it got from commit"
    )]
    NotAMemoryFile {
        /// What failed.
        failure: Failure,
    },
    /// Seals are missing, so that its owner could still shrink it under a reader or let others write.
    #[error("the memory file lacks seals: {}; refuse this peer", names_of(*expected - *found))]
    Unsealed {
        /// What is required.
        expected: SealFlags,
        /// What was found.
        found: SealFlags,
    },
    /// Pages of another kind than a segment's.
    #[error(
        "the memory file lies in a file system of type {found:#x} (0x958458f6 has huge pages) where a segment has ordinary memory, \
         {expected:#x}; refuse this peer"
    )]
    NotOrdinaryMemory {
        /// The type that is required.
        expected: u64,
        /// What was found.
        found: u64,
    },
    /// Another size than agreed.
    #[error("the memory file has {found} B where {expected} B were agreed; refuse this peer")]
    WrongSize {
        /// What was agreed, in bytes.
        expected: u64,
        /// What was found, in bytes.
        found: u64,
    },
    /// The kernel refused to map it.
    #[error("mapping {size} B read-only: {failure}; {}", create_remedy(failure))]
    Map {
        /// Size in bytes.
        size: u64,
        /// What failed.
        failure: Failure,
    },
    /// The kernel refused to pin the pages. The mapping works; its pages may be swapped out.
    #[error(
        "locking {size} B in memory: {failure}; pages may be swapped out and fault back on the data path; \
         raise the limit with `ulimit -l unlimited` or a memlock line in /etc/security/limits.conf"
    )]
    Lock {
        /// Size in bytes.
        size: usize,
        /// What failed.
        failure: Failure,
    },
}

fn create_remedy(failure: &Failure) -> &'static str {
    match failure.errno {
        Errno::FBIG => {
            "the limit on the size of files is reached, which holds for memory files too; `ulimit -f unlimited`"
        }
        Errno::MFILE => "too many open files in this process; raise `ulimit -n`",
        Errno::NFILE => "too many open files on this machine; raise fs.file-max",
        Errno::NOMEM | Errno::NOSPC => "not enough memory; declare fewer or smaller buffers, or free some",
        Errno::AGAIN => "the memlock limit is reached; raise `ulimit -l`",
        Errno::NOSYS | Errno::INVAL => "the kernel lacks sealed memory files; Linux 5.1 or later is needed",
        _ => "see `leveret doctor`",
    }
}

/// Makes sealed memory files.
#[derive(Debug)]
pub struct MemoryFile;

impl MemoryFile {
    /// Makes a zero-filled memory file of `size` bytes, maps it for writing with every page present, and seals
    /// it. The returned mapping is the only writable one there will ever be; the descriptor is for the peers.
    ///
    /// `name` shows in `/proc/PID/maps` and nowhere else.
    ///
    /// # Errors
    ///
    /// [`MemoryFileError::Size`] or [`MemoryFileError::Create`].
    pub fn create(name: &str, size: u64) -> Result<(OwnedFd, Mapping), MemoryFileError> {
        let length = mappable(size).ok_or_else(|| MemoryFileError::Size { name: name.to_owned(), size })?;
        let failed = |call| {
            move |errno| MemoryFileError::Create {
                name: name.to_owned(),
                size,
                failure: Failure::new(call, errno),
            }
        };
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = match rustix::fs::memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
            // Kernels before 6.3 do not know NOEXEC_SEAL.
            Err(Errno::INVAL) => rustix::fs::memfd_create(name, flags),
            made => made,
        }
        .map_err(failed("memfd_create"))?;
        rustix::fs::ftruncate(&file, size).map_err(failed("ftruncate"))?;
        let mapping = Mapping::map(file.as_fd(), length, ProtFlags::READ | ProtFlags::WRITE)
            .map_err(|failure| MemoryFileError::Create { name: name.to_owned(), size, failure })?;
        // A child made by fork would be a second writer.
        // SAFETY: the range is exactly the mapping made above, and DontFork changes nothing for this process.
        unsafe { rustix::mm::madvise(mapping.base.as_ptr().cast(), length, Advice::LinuxDontFork) }
            .map_err(failed("madvise"))?;
        rustix::fs::fcntl_add_seals(&file, SEALS).map_err(failed("fcntl(F_ADD_SEALS)"))?;
        Ok((file, mapping))
    }
}

/// The type of the file system in which ordinary memory files lie.
const TMPFS: u64 = libc::TMPFS_MAGIC as u64;

/// Checks that `file` is a memory file of `expected_size` bytes that nobody can resize, and that nobody but the
/// holder of an earlier mapping can write. One of huge pages, which can be sealed too, is refused: no member makes one,
/// and mapping it would take from a pool that is not the reader's to spend.
///
/// # Errors
///
/// [`MemoryFileError::NotAMemoryFile`], [`MemoryFileError::Unsealed`], [`MemoryFileError::NotOrdinaryMemory`] or
/// [`MemoryFileError::WrongSize`].
pub fn verify_seals(file: BorrowedFd<'_>, expected_size: u64) -> Result<(), MemoryFileError> {
    let not_a_file =
        |call| move |errno| MemoryFileError::NotAMemoryFile { failure: Failure::new(call, errno) };
    let found = rustix::fs::fcntl_get_seals(file).map_err(not_a_file("fcntl(F_GET_SEALS)"))?;
    if !found.contains(SEALS) {
        return Err(MemoryFileError::Unsealed { expected: SEALS, found });
    }
    let found = rustix::fs::fstatfs(file).map_err(not_a_file("fstatfs"))?.f_type as u64;
    if found != TMPFS {
        return Err(MemoryFileError::NotOrdinaryMemory { expected: TMPFS, found });
    }
    let found = rustix::fs::fstat(file).map_err(not_a_file("fstat"))?.st_size as u64;
    if found != expected_size {
        return Err(MemoryFileError::WrongSize { expected: expected_size, found });
    }
    Ok(())
}

fn mappable(size: u64) -> Option<usize> {
    usize::try_from(size).ok().filter(|length| (1..=isize::MAX as usize).contains(length))
}

/// A mapping of a memory file; unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    length: usize,
    writable: bool,
}

// SAFETY: the mapping belongs to the process, not to a thread; no method hands out access to its bytes.
unsafe impl Send for Mapping {}
// SAFETY: as for Send; every method takes `&self` and reads only the three fields, which never change.
unsafe impl Sync for Mapping {}

// SAFETY: `base..base + length` was mapped by `map`, at a page, is unmapped only by `drop`, and the file behind it
// is sealed against shrinking (`create` seals it, `read_only` verifies it), so that every byte stays readable, and
// writable where `map` asked for that. No method of this type touches the bytes.
unsafe impl Region for Mapping {
    fn base(&self) -> NonNull<u8> {
        self.base
    }
    fn len(&self) -> usize {
        self.length
    }
    fn is_writable(&self) -> bool {
        self.writable
    }
}

impl Mapping {
    /// Maps a peer's memory file for reading, every page present, after [`verify_seals`]. Without the seals a
    /// peer could shrink the file, and the next load would end this process with `SIGBUS`.
    ///
    /// # Errors
    ///
    /// Those of [`verify_seals`], and [`MemoryFileError::Map`].
    pub fn read_only(file: BorrowedFd<'_>, size: u64) -> Result<Self, MemoryFileError> {
        let length = mappable(size).ok_or_else(|| MemoryFileError::Size { name: String::new(), size })?;
        verify_seals(file, size)?;
        Self::map(file, length, ProtFlags::READ).map_err(|failure| MemoryFileError::Map { size, failure })
    }

    /// Pins the pages in memory. Without privilege the memlock limit decides; a failure is worth a warning, not
    /// the end: the pages are present already and leave only under memory pressure.
    ///
    /// # Errors
    ///
    /// [`MemoryFileError::Lock`].
    pub fn lock(&self) -> Result<(), MemoryFileError> {
        // SAFETY: the range is this mapping; locking changes residency, not content.
        unsafe { rustix::mm::mlock(self.base.as_ptr().cast(), self.length) }.map_err(|errno| {
            MemoryFileError::Lock { size: self.length, failure: Failure::new("mlock", errno) }
        })
    }

    fn map(file: BorrowedFd<'_>, length: usize, protection: ProtFlags) -> Result<Self, Failure> {
        // SAFETY: a null hint lets the kernel choose an unused range, so no existing mapping is touched.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                MapFlags::SHARED | MapFlags::POPULATE,
                file,
                0,
            )
        }
        .map_err(|errno| Failure::new("mmap", errno))?;
        let base = NonNull::new(base.cast()).ok_or(Failure::new("mmap", Errno::FAULT))?;
        Ok(Self { base, length, writable: protection.contains(ProtFlags::WRITE) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `map` and nothing borrowed from `self` outlives it. The only failures
        // of munmap are wrong arguments, which the fields exclude; there is nobody to tell anyway.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
#[path = "memory_file_tests.rs"]
mod tests;
