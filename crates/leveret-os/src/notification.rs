//! A descriptor that becomes readable when something has happened: for loops that wait by `poll` or `epoll`.

use crate::Failure;
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// An `eventfd`. Who waits reads its eight bytes, by which it is no longer readable.
pub struct Notification {
    event: OwnedFd,
}

impl Notification {
    /// A fresh one, which is not readable.
    ///
    /// # Errors
    /// When this process may not have another descriptor.
    pub fn create() -> Result<Self, Failure> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        eventfd(0, flags).map(|event| Self { event }).map_err(|errno| Failure::new("eventfd", errno))
    }

    /// Makes it readable. One that has been so for long stays so.
    pub fn raise(&self) {
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }

    /// Its number, valid as long as this value lives.
    pub fn number(&self) -> RawFd {
        self.event.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::poll;
    use std::os::fd::AsFd;
    use std::time::Duration;

    #[test]
    fn it_is_readable_from_when_it_is_raised_until_it_is_read() {
        let notification = Notification::create().expect("a descriptor");
        let is_readable = || {
            let ready = poll(&[notification.event.as_fd()], Some(Duration::ZERO)).expect("it is polled");
            ready[0].any()
        };
        assert!(!is_readable());
        notification.raise();
        notification.raise();
        assert!(is_readable());
        let mut count = [0; 8];
        assert_eq!(rustix::io::read(&notification.event, &mut count), Ok(8));
        assert_eq!(u64::from_ne_bytes(count), 2);
        assert!(!is_readable());
    }
}
