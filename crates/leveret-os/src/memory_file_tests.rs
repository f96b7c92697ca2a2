use super::*;
use crate::futex;
use leveret_memory::sync::{AtomicU32, Ordering};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::time::Duration;

fn write(mapping: &Mapping, offset: usize, value: u32) {
    assert!(mapping.is_writable() && offset + 4 <= mapping.len() && offset.is_multiple_of(4));
    word(mapping, offset).store(value, Ordering::Release);
}

fn word(mapping: &Mapping, offset: usize) -> &AtomicU32 {
    assert!(offset + 4 <= mapping.len() && offset.is_multiple_of(4));
    // SAFETY: in bounds and aligned by the assertion (a mapping starts on a page); shared only as an atomic.
    unsafe { &*mapping.base().as_ptr().add(offset).cast::<AtomicU32>() }
}

#[test]
fn readers_see_what_the_owner_writes() {
    let (file, owner) = MemoryFile::create("test", 10_000).unwrap();
    let reader = Mapping::read_only(file.as_fd(), 10_000).unwrap();
    assert_eq!((owner.len(), reader.len()), (10_000, 10_000));
    assert!(owner.is_writable() && !reader.is_writable());
    assert_eq!(word(&reader, 9_996).load(Ordering::Acquire), 0);
    write(&owner, 9_996, 77);
    assert_eq!(word(&reader, 9_996).load(Ordering::Acquire), 77);
}

// spec: LAW-WRITER-01
#[test]
fn a_second_writable_mapping_is_refused() {
    let (file, _owner) = MemoryFile::create("test", 4096).unwrap();
    let failure = Mapping::map(file.as_fd(), 4096, ProtFlags::READ | ProtFlags::WRITE).unwrap_err();
    assert_eq!(failure, Failure::new("mmap", Errno::PERM));
}

// spec: LAW-WRITER-01
#[test]
fn a_read_only_mapping_cannot_be_made_writable() {
    let (file, _owner) = MemoryFile::create("test", 4096).unwrap();
    let reader = Mapping::read_only(file.as_fd(), 4096).unwrap();
    // SAFETY: the range is the reader's mapping, and the call is expected to change nothing.
    let changed = unsafe {
        rustix::mm::mprotect(
            reader.base().as_ptr().cast(),
            4096,
            rustix::mm::MprotectFlags::READ | rustix::mm::MprotectFlags::WRITE,
        )
    };
    assert_eq!(changed, Err(Errno::ACCESS));
}

// spec: LAW-WRITER-01
#[test]
fn neither_write_nor_reopening_nor_punching_nor_resizing_gets_through() {
    let (file, _owner) = MemoryFile::create("test", 8192).unwrap();
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // Opening for writing is the kernel's to refuse or to make useless: whichever it does, no byte may change.
    match OpenOptions::new().write(true).open(&path) {
        Ok(mut reopened) => {
            assert_eq!(reopened.write_all(b"x").unwrap_err().raw_os_error(), Some(libc::EPERM));
            let again = Mapping::map(reopened.as_fd(), 4096, ProtFlags::READ | ProtFlags::WRITE);
            assert!(matches!(again.unwrap_err().errno, Errno::PERM | Errno::ACCESS));
        }
        Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EPERM)),
    }
    assert_eq!(rustix::io::write(&file, b"x"), Err(Errno::PERM));
    let punch = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    assert_eq!(rustix::fs::fallocate(&file, punch, 0, 4096), Err(Errno::PERM));
    assert_eq!(rustix::fs::ftruncate(&file, 4096), Err(Errno::PERM));
    assert_eq!(rustix::fs::ftruncate(&file, 16384), Err(Errno::PERM));
    assert_eq!(rustix::fs::fcntl_add_seals(&file, SealFlags::WRITE), Err(Errno::PERM));
}

#[test]
fn a_reader_sleeps_on_a_read_only_mapping_and_is_woken() {
    let (file, owner) = MemoryFile::create("test", 4096).unwrap();
    let reader = Mapping::read_only(file.as_fd(), 4096).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while word(&reader, 0).load(Ordering::Acquire) == 0 {
                let waited = futex::wait(word(&reader, 0), 0, Some(Duration::from_secs(20))).unwrap();
                assert_ne!(waited, futex::Waited::TimedOut, "the wake never came");
            }
        });
        write(&owner, 0, 1);
        futex::wake(word(&owner, 0), 1).unwrap();
    });
}

#[test]
fn only_files_with_the_agreed_seals_and_size_are_mapped() {
    let (file, _owner) = MemoryFile::create("test", 4096).unwrap();
    assert_eq!(verify_seals(file.as_fd(), 4096), Ok(()));
    assert_eq!(
        Mapping::read_only(file.as_fd(), 8192).unwrap_err(),
        MemoryFileError::WrongSize { expected: 8192, found: 4096 }
    );
    let unsealed = rustix::fs::memfd_create("bare", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&unsealed, 4096).unwrap();
    rustix::fs::fcntl_add_seals(&unsealed, SealFlags::SHRINK | SealFlags::GROW).unwrap();
    let refusal = Mapping::read_only(unsealed.as_fd(), 4096).unwrap_err();
    assert!(matches!(refusal, MemoryFileError::Unsealed { .. }), "{refusal}");
    let (pipe, _write_end) = rustix::pipe::pipe().unwrap();
    let refusal = Mapping::read_only(pipe.as_fd(), 4096).unwrap_err();
    assert!(matches!(refusal, MemoryFileError::NotAMemoryFile { .. }), "{refusal}");
}

#[test]
fn a_sealed_file_of_huge_pages_is_refused() {
    const HUGE: u64 = 2 << 20;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    // No page of the pool is needed as long as nobody maps it.
    let file = match rustix::fs::memfd_create("huge", flags) {
        Ok(file) => file,
        Err(errno) => return eprintln!("SKIPPED: no memory files of huge pages: {errno}"),
    };
    rustix::fs::ftruncate(&file, HUGE).unwrap();
    rustix::fs::fcntl_add_seals(&file, SEALS).unwrap();
    let refusal = Mapping::read_only(file.as_fd(), HUGE).unwrap_err();
    assert!(matches!(refusal, MemoryFileError::NotOrdinaryMemory { .. }), "{refusal}");
    assert!(refusal.to_string().contains("huge pages"), "{refusal}");
}

#[test]
fn sizes_that_cannot_be_mapped_are_refused_by_name() {
    for size in [0, u64::MAX] {
        let message = MemoryFile::create("ring", size).unwrap_err().to_string();
        assert!(message.contains("\"ring\"") && message.contains(&size.to_string()), "{message}");
    }
    let message = MemoryFile::create("ring", isize::MAX as u64).unwrap_err().to_string();
    assert!(message.contains("\"ring\""), "{message}");
}

#[test]
fn pages_can_be_locked_or_the_refusal_names_the_limit() {
    let (_file, owner) = MemoryFile::create("test", 4096).unwrap();
    if let Err(refusal) = owner.lock() {
        eprintln!("SKIPPED: locking pages: {refusal}");
        assert!(refusal.to_string().contains("ulimit -l"));
    }
}

#[test]
fn works_without_privilege() {
    crate::user::in_unprivileged_thread(|| {
        let (file, _owner) = MemoryFile::create("test", 4096).unwrap();
        let failure = Mapping::map(file.as_fd(), 4096, ProtFlags::READ | ProtFlags::WRITE).unwrap_err();
        assert_eq!(failure.errno, Errno::PERM);
        Mapping::read_only(file.as_fd(), 4096).unwrap();
    })
    .unwrap();
}
