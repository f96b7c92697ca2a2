//! Messages to the kernel's network configuration: rtnetlink(7).

use crate::Failure;
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The kernel did not do what a message asks.
#[derive(Debug, thiserror::Error)]
pub enum NetlinkError {
    /// There is no such interface.
    #[error("{name}: there is no such network interface on this host; `ip link` lists them")]
    NoInterface {
        /// Its name.
        name: String,
    },
    /// Gates are for the administrator.
    #[error("the kernel changes network interfaces only for who has CAP_NET_ADMIN; run it as root")]
    Permission,
    /// The kernel has no such queueing discipline.
    #[error(
        "this kernel has no queueing discipline \"{kind}\" ({said}); it needs {option} (=y, or =m and `modprobe sch_{kind}`)"
    )]
    NoKind {
        /// Its name.
        kind: &'static str,
        /// The option that builds it in.
        option: &'static str,
        /// The kernel's words.
        said: String,
    },
    /// It refused for a reason of its own.
    #[error("the kernel refused \"{kind}\" for {interface}: {said}")]
    Refused {
        /// The queueing discipline.
        kind: &'static str,
        /// The interface.
        interface: String,
        /// The kernel's words.
        said: String,
    },
    /// The socket failed.
    #[error("no word with the kernel: {0}")]
    Socket(Failure),
}

/// The number of a network interface.
///
/// # Errors
/// [`NetlinkError::NoInterface`].
pub fn interface(name: &str) -> Result<u32, NetlinkError> {
    let none = || NetlinkError::NoInterface { name: name.to_owned() };
    let text = CString::new(name).map_err(|_| none())?;
    // SAFETY: `text` is a C string that lives until the call returns.
    match unsafe { libc::if_nametoindex(text.as_ptr()) } {
        0 => Err(none()),
        number => Ok(number),
    }
}

/// A queueing discipline that a message sets, for what is said where the kernel refuses.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its name.
    pub kind: &'static str,
    /// The kernel's option that builds it in.
    pub option: &'static str,
    /// Of which interface.
    pub interface: &'a str,
}

/// Sends one message that asks to be acknowledged, and waits for the answer.
///
/// # Errors
/// [`NetlinkError`].
pub fn request(message: &[u8], asked: Asked<'_>) -> Result<(), NetlinkError> {
    let socket = open().map_err(NetlinkError::Socket)?;
    // SAFETY: the kernel reads `message.len()` bytes at its start, which the slice has.
    let sent = unsafe { libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
    if sent < 0 {
        return Err(NetlinkError::Socket(Failure::last("send")));
    }
    let mut answer = [0u8; ANSWER_MAX];
    // SAFETY: the kernel writes at most `answer.len()` bytes to its start, which the array has.
    let length = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
    let length = usize::try_from(length).map_err(|_| NetlinkError::Socket(Failure::last("recv")))?;
    let (error, words) = answered(&answer[..length.min(ANSWER_MAX)]);
    judge(error, words, asked)
}

/// An answer repeats no message ([`open`]), so it is short.
const ANSWER_MAX: usize = 8192;

fn open() -> Result<OwnedFd, Failure> {
    // SAFETY: the call takes numbers alone.
    let socket =
        unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE) };
    if socket < 0 {
        return Err(Failure::last("socket"));
    }
    // SAFETY: the descriptor was just made, and nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let on: libc::c_int = 1;
    // Reasons in words, and answers without the message that they answer. An old kernel that knows neither gives a number alone.
    for option in [libc::NETLINK_EXT_ACK, libc::NETLINK_CAP_ACK] {
        // SAFETY: the kernel reads the size of one number at `on`, which lives until the call returns.
        let _ = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_NETLINK,
                option,
                (&raw const on).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
    }
    Ok(socket)
}

/// The number and the words of an answer.
///
/// ```text
///  | length 4 | type 2 | flags 2 | sequence 4 | port 4 | error 4 | the message's header 16 | attributes: 1 is text |
/// ```
fn answered(answer: &[u8]) -> (i32, Option<String>) {
    let number =
        |at: usize| answer.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    let error = number(16).unwrap_or(-libc::EPROTO);
    let mut rest = answer.get(36..).unwrap_or(&[]);
    while let [low, high, kind, kind_high, ..] = *rest {
        let length = usize::from(u16::from_ne_bytes([low, high]));
        let Some(content) = rest.get(4..length) else { break };
        if u16::from_ne_bytes([kind, kind_high]) == MESSAGE_TEXT {
            let text = content.split(|byte| *byte == 0).next().unwrap_or(&[]);
            return (error, Some(String::from_utf8_lossy(text).into_owned()));
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    (error, None)
}

/// `NLMSGERR_ATTR_MSG`.
const MESSAGE_TEXT: u16 = 1;

fn judge(error: i32, words: Option<String>, asked: Asked<'_>) -> Result<(), NetlinkError> {
    let Asked { kind, option, interface } = asked;
    let errno = Errno::from_raw_os_error(-error);
    let said = words.unwrap_or_else(|| std::io::Error::from(errno).to_string());
    match error {
        0 => Ok(()),
        _ if matches!(errno, Errno::PERM | Errno::ACCESS) => Err(NetlinkError::Permission),
        _ if errno == Errno::NOENT || said.contains("kind is unknown") => {
            Err(NetlinkError::NoKind { kind, option, said })
        }
        _ => Err(NetlinkError::Refused { kind, interface: interface.to_owned(), said }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAPRIO: Asked<'_> = Asked { kind: "taprio", option: "CONFIG_NET_SCH_TAPRIO", interface: "lo" };

    fn answer(error: i32, words: &str) -> Vec<u8> {
        let mut bytes = vec![0; 36];
        bytes[16..20].copy_from_slice(&error.to_ne_bytes());
        // Another attribute comes first: the offset of what was wrong.
        bytes.extend([8u16, 2].into_iter().flat_map(u16::to_ne_bytes));
        bytes.extend([0; 4]);
        bytes.extend([words.len() as u16 + 5, MESSAGE_TEXT].into_iter().flat_map(u16::to_ne_bytes));
        bytes.extend(words.as_bytes());
        bytes.push(0);
        bytes
    }

    #[test]
    fn the_kernels_words_are_passed_on() {
        let refused = |error: i32, words: &str| {
            let (error, words) = answered(&answer(error, words));
            judge(error, words, TAPRIO).expect_err("refused").to_string()
        };
        let unknown = refused(-libc::ENOENT, "Specified qdisc kind is unknown.");
        assert!(
            unknown.contains("CONFIG_NET_SCH_TAPRIO") && unknown.contains("kind is unknown"),
            "{unknown}"
        );
        assert!(refused(-libc::EPERM, "").contains("CAP_NET_ADMIN"));
        let interval = refused(-libc::EINVAL, "Not enough time for a frame");
        assert!(interval.contains("lo: Not enough time for a frame"), "{interval}");
    }

    #[test]
    fn nonsense_from_the_socket_is_an_error() {
        for length in 0..60 {
            let (error, _) = answered(&vec![0xff; length]);
            assert_ne!(error, 0);
        }
        assert!(judge(answered(&[]).0, None, TAPRIO).is_err());
        assert_eq!(answered(&[0; 36]), (0, None));
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        assert!(interface("lo").is_ok());
        assert!(interface("no-such-one").expect_err("none").to_string().contains("no-such-one"));
        assert!(interface("a\0b").is_err());
    }
}
