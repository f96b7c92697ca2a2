//! Running without privilege, for tests and for children: an ordinary user without capabilities.

use crate::Failure;
use rustix::io::Errno;

/// The user and group that own nothing (`nobody`, `nogroup` on Debian; the kernel's overflow ids).
pub const NOBODY: u32 = 65_534;

/// Why privileges could not be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DropPrivilegeError {
    /// The kernel refused.
    #[error("dropping privileges: {0}; only root can become another user")]
    Refused(Failure),
    /// The scratch thread could not be started.
    #[error("starting a thread without privileges: {0}; raise `ulimit -u`")]
    Thread(Failure),
    /// The work itself panicked.
    #[error("the work without privileges panicked; its message is above")]
    Panicked,
}

/// Whether this thread may do what root may: its effective user is root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether this thread holds a capability, such as `CAP_SYS_NICE`.
pub fn has_capability(capability: rustix::thread::CapabilitySet) -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(capability))
}

/// Gives up root for good on the calling thread alone: supplementary groups, group, user and with them every
/// capability. Does nothing where the thread is not root to begin with.
///
/// The C library would change every thread of the process; the bare calls change one, which is what a test
/// wants. A thread that has done this must end soon: it shares memory with privileged ones.
///
/// # Errors
///
/// [`DropPrivilegeError::Refused`].
pub fn drop_privileges_of_this_thread() -> Result<(), DropPrivilegeError> {
    if !is_root() {
        return Ok(());
    }
    // SAFETY: plain integers; an empty group list is given by length 0, for which the pointer is not read.
    let groups = unsafe { libc::syscall(libc::SYS_setgroups, 0_usize, std::ptr::null::<u32>()) };
    check("setgroups", groups)?;
    // SAFETY: plain integers.
    check("setresgid", unsafe { libc::syscall(libc::SYS_setresgid, NOBODY, NOBODY, NOBODY) })?;
    // SAFETY: plain integers.
    check("setresuid", unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) })?;
    if has_capability(rustix::thread::CapabilitySet::SYS_NICE) {
        return Err(DropPrivilegeError::Refused(Failure::new("setresuid", Errno::PERM)));
    }
    Ok(())
}

fn check(call: &'static str, answer: libc::c_long) -> Result<(), DropPrivilegeError> {
    if answer == 0 { Ok(()) } else { Err(DropPrivilegeError::Refused(Failure::last(call))) }
}

/// Runs `work` on a scratch thread without privileges and returns what it returned.
///
/// # Errors
///
/// [`DropPrivilegeError`].
pub fn in_unprivileged_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, DropPrivilegeError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("unprivileged".to_owned())
            .spawn_scoped(scope, || drop_privileges_of_this_thread().map(|()| work()))
            .map_err(|error| DropPrivilegeError::Thread(Failure::of_io("clone", &error)))?;
        thread.join().map_err(|_| DropPrivilegeError::Panicked)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::CapabilitySet;

    #[test]
    fn the_scratch_thread_has_no_capability_and_the_others_keep_theirs() {
        let before = rustix::thread::capabilities(None).unwrap().effective;
        in_unprivileged_thread(|| {
            assert!(!is_root());
            assert_eq!(rustix::thread::capabilities(None).unwrap().effective, CapabilitySet::empty());
            assert_eq!(rustix::thread::capabilities(None).unwrap().permitted, CapabilitySet::empty());
        })
        .unwrap();
        assert_eq!(rustix::thread::capabilities(None).unwrap().effective, before);
    }
}
