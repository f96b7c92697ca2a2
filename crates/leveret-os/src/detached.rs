//! Kernel file systems that are mounted nowhere: a private instance, seen by this process alone.
//!
//! tracefs and debugfs are often not mounted, in containers above all. Root can make an instance of its own and
//! read from it without anything being mounted anywhere.

use crate::Failure;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Files are read up to this length; the format of a tracepoint has some 2 KiB.
const LONGEST: usize = 16 << 10;

/// Reads a file of the kernel's file system `kind` (`debugfs`, `tracefs`): from a private instance, or else below
/// the directories where it is usually mounted.
pub(crate) fn read(kind: &CStr, usual: &[&str], path: &str) -> Result<String, Failure> {
    let mut refusal = match instance(kind).and_then(|root| read_at(root.as_fd(), path)) {
        Ok(text) => return Ok(text),
        Err(failure) => failure,
    };
    for directory in usual {
        match read_at(rustix::fs::CWD, &format!("{directory}/{path}")) {
            Ok(text) => return Ok(text),
            // That it is not mounted there says less than why an instance of our own did not do.
            Err(failure) if failure.errno != Errno::NOENT => refusal = failure,
            Err(_) => {}
        }
    }
    Err(refusal)
}

/// Reads a file of debugfs.
pub(crate) fn read_debugfs(path: &str) -> Result<String, Failure> {
    read(c"debugfs", &["/sys/kernel/debug"], path)
}

fn read_at(root: BorrowedFd<'_>, path: &str) -> Result<String, Failure> {
    let failed = |call| move |errno| Failure::new(call, errno);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(root, path, flags, Mode::empty()).map_err(failed("openat"))?;
    let mut text = vec![0_u8; LONGEST];
    let mut length = 0;
    loop {
        match rustix::io::read(&file, &mut text[length..]).map_err(failed("read"))? {
            0 => break,
            more => length += more,
        }
    }
    Ok(String::from_utf8_lossy(&text[..length]).trim().to_owned())
}

fn instance(kind: &CStr) -> Result<OwnedFd, Failure> {
    const CLOSE_ON_EXEC: libc::c_uint = 1;
    const COMMAND_CREATE: libc::c_uint = 6;
    let none = std::ptr::null::<libc::c_char>();
    // SAFETY: the name is a C string that lives through the call.
    let context =
        descriptor("fsopen", unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), CLOSE_ON_EXEC) })?;
    let number = context.as_raw_fd();
    // SAFETY: the command takes no key and no value.
    if unsafe { libc::syscall(libc::SYS_fsconfig, number, COMMAND_CREATE, none, none, 0) } != 0 {
        return Err(Failure::last("fsconfig"));
    }
    // SAFETY: integers only.
    descriptor("fsmount", unsafe { libc::syscall(libc::SYS_fsmount, number, CLOSE_ON_EXEC, 0) })
}

fn descriptor(call: &'static str, answer: libc::c_long) -> Result<OwnedFd, Failure> {
    if answer < 0 {
        return Err(Failure::last(call));
    }
    // SAFETY: the call succeeded, so the number is a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(answer as i32) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_file_is_an_error_and_a_usual_place_is_tried() {
        assert_eq!(read(c"no such thing", &["/nowhere"], "x").unwrap_err().call, "fsopen");
        let text = read(c"no such thing", &["/nowhere", "/proc/sys/kernel"], "ostype").unwrap();
        assert_eq!(text, "Linux");
    }

    #[test]
    fn an_ordinary_user_gets_an_error() {
        let refusal = crate::user::in_unprivileged_thread(|| instance(c"debugfs").map(|_| ())).unwrap();
        assert!(refusal.unwrap_err().is_permission());
    }
}
