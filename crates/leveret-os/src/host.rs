//! What a process asks of its host once: its environment, a secret, a place for its socket, the wall clock.

use crate::Failure;
use rustix::fs::{Access, AtFlags, CWD};
use std::path::{Path, PathBuf};

/// A variable of the environment, if it is set and is text.
#[allow(clippy::disallowed_methods, reason = "the one place through which the agent and members read it")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// 128 random bits as text, from the kernel.
///
/// # Errors
///
/// [`Failure`] when the kernel has no randomness to give.
pub fn random_token() -> Result<String, Failure> {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())
            .map_err(|errno| Failure::new("getrandom", errno))?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A longer base leaves too little of the 107 bytes that a socket's path may have.
const BASE_LENGTH_MAX: usize = 64;

/// A path for a new directory of this process alone: below the first of `XDG_RUNTIME_DIR`, `TMPDIR` and `/tmp` that
/// this user may write and that is short enough for a socket's path. Nothing is created.
///
/// # Errors
///
/// [`Failure`] as for [`random_token`].
pub fn private_path(prefix: &str) -> Result<PathBuf, Failure> {
    let token = random_token()?;
    Ok(runtime_base().join(format!("{prefix}-{}-{}", std::process::id(), &token[..8])))
}

/// The directory in which [`private_path`] places its directories.
pub fn runtime_base() -> PathBuf {
    let named = ["XDG_RUNTIME_DIR", "TMPDIR"].into_iter().filter_map(environment).map(PathBuf::from);
    // `su` and `sudo` may leave the variables of another user behind.
    named.into_iter().find(|base| is_usable_base(base)).unwrap_or_else(|| PathBuf::from("/tmp"))
}

fn is_usable_base(base: &Path) -> bool {
    let rights = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
    base.is_absolute()
        && base.as_os_str().len() <= BASE_LENGTH_MAX
        && base.is_dir()
        && rustix::fs::accessat(CWD, base, rights, AtFlags::EACCESS).is_ok()
}

/// Seconds since 1970 by the wall clock.
pub fn unix_seconds() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec
}

/// Whether a process of user `uid` is the same user's as this one.
pub fn is_same_user(uid: u32) -> bool {
    rustix::process::geteuid().as_raw() == uid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_have_the_promised_length() {
        let (first, second) = (random_token().unwrap(), random_token().unwrap());
        assert!(first.len() == 32 && first.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
        assert_ne!(first, second);
    }

    #[test]
    fn private_paths_are_fresh_and_absolute() {
        let (first, second) = (private_path("leveret").unwrap(), private_path("leveret").unwrap());
        assert_ne!(first, second);
        assert!(
            first.is_absolute() && !first.exists() && first.parent().is_some_and(std::path::Path::is_dir)
        );
    }

    #[test]
    fn a_base_must_be_a_short_absolute_directory_that_may_be_written() {
        assert!(is_usable_base(Path::new("/tmp")));
        for bad in ["", ".", "tmp", "/nonexistent", "/proc/version"] {
            assert!(!is_usable_base(Path::new(bad)), "{bad}");
        }
        assert!(!is_usable_base(&Path::new("/tmp").join("./".repeat(BASE_LENGTH_MAX))));
    }

    #[test]
    fn users_are_told_apart() {
        let this = rustix::process::geteuid().as_raw();
        assert!(is_same_user(this) && !is_same_user(this.wrapping_add(1)));
        assert_eq!(environment("LEVERET_NO_SUCH_VARIABLE"), None);
        assert!(unix_seconds() > 1_700_000_000);
    }
}
