use super::*;
use rustix::fs::Mode;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;

fn watched(connection: Connection) -> Connection {
    // A watchdog for a hang, not an assertion about time.
    connection.set_receive_timeout(Some(Duration::from_secs(20))).unwrap();
    connection
}

fn pair() -> (Connection, Connection) {
    let (left, right) = Connection::pair().unwrap();
    (watched(left), watched(right))
}

fn raw(connection: &Connection, bytes: &[u8]) {
    assert_eq!(rustix::io::write(&connection.socket, bytes), Ok(bytes.len()));
}

/// Some bytes, with a descriptor.
fn raw_with(connection: &Connection, bytes: &[u8], descriptor: BorrowedFd<'_>) {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors = [descriptor];
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)));
    let parts = [std::io::IoSlice::new(bytes)];
    let sent = rustix::net::sendmsg(&connection.socket, &parts, &mut ancillary, SendFlags::NOSIGNAL);
    assert_eq!(sent, Ok(bytes.len()));
}

/// A header that trickles in would bring as many with each of its bytes.
#[test]
fn descriptors_come_with_the_first_byte_alone() {
    let (file, _mapping) = crate::memory_file::MemoryFile::create("passed", 4096).unwrap();
    let (left, right) = pair();
    left.send(b"", &[file.as_fd()]).unwrap();
    assert_eq!(right.receive().unwrap().fds.len(), 1);
    raw_with(&left, b"L", file.as_fd());
    assert!(right.receive_arrived().unwrap().is_none(), "the first byte of a header");
    raw_with(&left, b"E", file.as_fd());
    let refused = right.receive_arrived().unwrap_err();
    assert!(matches!(refused, ReceiveError::Descriptors { found: 2, .. }), "{refused}");
}

#[test]
fn frames_arrive_whole_and_in_order() {
    let (left, right) = pair();
    for body in [&b""[..], b"one", b"two"] {
        left.send(body, &[]).unwrap();
    }
    for body in [&b""[..], b"one", b"two"] {
        assert_eq!(right.receive().unwrap().bytes, body);
    }
    assert!(right.receive_arrived().unwrap().is_none());
}

#[test]
fn a_large_frame_passes_a_small_buffer_both_ways_of_receiving() {
    let (left, right) = pair();
    let body: Vec<u8> = (0..BODY_BYTES_MAX).map(|byte| ((byte * 31) >> 3) as u8).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            left.send(&body, &[]).unwrap();
            left.send(&body[..1_000_000], &[]).unwrap();
        });
        assert!(right.receive().unwrap().bytes == body);
        let frame = loop {
            if let Some(frame) = right.receive_arrived().unwrap() {
                break frame;
            }
            assert!(poll(&[right.as_fd()], Some(Duration::from_secs(20))).unwrap()[0].readable);
        };
        assert!(frame.bytes == body[..1_000_000]);
    });
}

#[test]
fn descriptors_stay_with_their_frame_and_close_on_exec() {
    let (left, right) = pair();
    let (file, _mapping) = crate::memory_file::MemoryFile::create("passed", 4096).unwrap();
    let many = vec![file.as_fd(); DESCRIPTORS_MAX];
    left.send(b"none", &[]).unwrap();
    left.send(b"one", &[file.as_fd()]).unwrap();
    left.send(b"", &many).unwrap();
    left.send(b"none again", &[]).unwrap();
    assert_eq!(right.receive().unwrap().fds.len(), 0);
    let frame = right.receive().unwrap();
    assert_eq!((&frame.bytes[..], frame.fds.len()), (&b"one"[..], 1));
    crate::memory_file::verify_seals(frame.fds[0].as_fd(), 4096).unwrap();
    assert!(rustix::io::fcntl_getfd(&frame.fds[0]).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
    assert_eq!(right.receive().unwrap().fds.len(), DESCRIPTORS_MAX);
    assert_eq!(right.receive().unwrap().fds.len(), 0);
    let too_many = vec![file.as_fd(); DESCRIPTORS_MAX + 1];
    assert_eq!(left.send(b"", &too_many), Err(SendError::TooManyDescriptors { count: 254 }));
    assert!(matches!(left.send(&vec![0; BODY_BYTES_MAX + 1], &[]), Err(SendError::TooLarge { .. })));
    left.send(b"still whole", &[]).unwrap();
    assert_eq!(right.receive().unwrap().bytes, b"still whole");
}

#[test]
fn a_peer_that_closes_is_told_from_one_that_breaks_off() {
    let (left, right) = pair();
    left.send(b"last words", &[]).unwrap();
    drop(left);
    assert_eq!(right.receive().unwrap().bytes, b"last words");
    assert_eq!(right.receive().unwrap_err(), ReceiveError::Closed);
    assert_eq!(right.send(b"anybody?", &[]), Err(SendError::Closed));

    let (left, right) = pair();
    raw(&left, b"LVRC\x05");
    drop(left);
    assert_eq!(right.receive().unwrap_err(), ReceiveError::Truncated { arrived: 5, expected: 12 });

    let (left, right) = pair();
    raw(&left, b"LVRC\x05\0\0\0\0\0\0\0ab");
    drop(left);
    let error = right.receive_arrived().unwrap_err();
    assert_eq!(error, ReceiveError::Truncated { arrived: 14, expected: 17 });
    assert_eq!(right.receive().unwrap_err(), error);
}

#[test]
fn a_timeout_within_a_frame_loses_nothing() {
    let (left, right) = Connection::pair().unwrap();
    right.set_receive_timeout(Some(Duration::from_millis(1))).unwrap();
    assert_eq!(right.receive().unwrap_err(), ReceiveError::TimedOut);
    raw(&left, b"LVRC\x05\0\0");
    assert_eq!(right.receive().unwrap_err(), ReceiveError::TimedOut);
    raw(&left, b"\0\0\0\0\0ab");
    assert!(right.receive_arrived().unwrap().is_none());
    raw(&left, b"cde");
    assert_eq!(right.receive().unwrap().bytes, b"abcde");
}

#[test]
fn nonsense_is_refused_for_good_and_before_allocating() {
    let (left, right) = pair();
    raw(&left, b"GET / HTTP/1.1\r\n");
    assert!(matches!(right.receive().unwrap_err(), ReceiveError::Magic { .. }));
    left.send(b"now in earnest", &[]).unwrap();
    assert!(matches!(right.receive().unwrap_err(), ReceiveError::Magic { .. }));

    let (left, right) = pair();
    raw(&left, b"LVRC\xff\xff\xff\xff\0\0\0\0");
    assert_eq!(
        right.receive().unwrap_err(),
        ReceiveError::TooLarge { bytes: u32::MAX, limit: BODY_BYTES_MAX }
    );

    // Who need not say much is not listened to for long.
    let (left, right) = pair();
    right.set_receive_limit(4);
    left.send(b"four", &[]).unwrap();
    left.send(b"fives", &[]).unwrap();
    assert_eq!(right.receive_arrived().unwrap().unwrap().bytes, b"four");
    assert_eq!(right.receive_arrived().unwrap_err(), ReceiveError::TooLarge { bytes: 5, limit: 4 });

    let (left, right) = pair();
    raw(&left, b"LVRC\0\0\0\0\x02\0\0\0");
    assert_eq!(right.receive().unwrap_err(), ReceiveError::Descriptors { announced: 2, found: 0 });
}

#[test]
fn a_peer_that_does_not_read_is_given_up() {
    let (left, _right) = pair();
    left.set_send_timeout(Some(Duration::from_millis(1)));
    assert_eq!(left.send(&vec![0; BODY_BYTES_MAX], &[]), Err(SendError::TimedOut));
    assert_eq!(left.send(b"", &[]), Err(SendError::Broken));
}

/// It has always read something, and would still take minutes.
#[test]
fn a_peer_that_reads_slowly_is_given_up_too() {
    let (left, right) = pair();
    left.set_send_timeout(Some(Duration::from_millis(50)));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut byte = [0];
            // Until the sender has given up, and is gone.
            while matches!(rustix::io::read(&right.socket, &mut byte), Ok(1)) {}
        });
        assert_eq!(left.send(&vec![0; BODY_BYTES_MAX], &[]), Err(SendError::TimedOut));
        assert_eq!(left.send(b"", &[]), Err(SendError::Broken));
        left.shut();
        reader.join().unwrap();
    });
}

#[test]
fn of_a_peer_that_never_stops_so_much_is_taken_at_a_time() {
    let (left, right) = pair();
    for _ in 0..10 {
        left.send(&[0; 1000], &[]).unwrap();
    }
    let taken = |mut bytes: usize| {
        let frames = std::iter::from_fn(|| right.receive_some(&mut bytes).unwrap());
        frames.count()
    };
    // Each has a header of 12 bytes; what is begun is kept.
    assert_eq!(taken(2 * 1012), 2);
    assert_eq!(taken(1), 0);
    assert_eq!(taken(1000), 1);
    assert_eq!(taken(usize::MAX), 7);
}

#[test]
fn a_listener_knows_who_connects_and_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("job");
    let listener = Listener::bind(&place).unwrap();
    assert_eq!(std::fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
    let client = watched(Connection::connect(listener.path()).unwrap());
    assert!(poll(&[listener.as_fd()], Some(Duration::from_secs(20))).unwrap()[0].readable);
    let server = watched(listener.accept().unwrap());
    let peer = server.peer_credentials().unwrap();
    assert_eq!((peer.pid, peer.uid), (std::process::id(), rustix::process::getuid().as_raw()));
    client.send(b"hello", &[]).unwrap();
    assert_eq!(server.receive().unwrap().bytes, b"hello");
    let path = listener.path().to_owned();
    let second = Listener::bind(&place).unwrap_err();
    assert!(second.to_string().contains("another agent"), "{second}");
    assert!(path.exists());
    drop(listener);
    assert!(!place.exists());
    assert!(matches!(Connection::connect(&path), Err(ConnectError::Refused { .. })));
    rustix::fs::mkdir(&place, Mode::RWXU).unwrap();
    drop(Listener::bind(&place).unwrap());
    assert!(place.exists() && !path.exists());
}

/// A directory with a socket as an agent has it, last changed at `modified_s`. It is left behind once the listener is
/// dropped.
fn place_of_agent(
    base: &std::path::Path,
    name: &str,
    modified_s: i64,
) -> (std::path::PathBuf, std::os::unix::net::UnixListener) {
    let place = base.join(name);
    rustix::fs::mkdir(&place, Mode::RWXU).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(place.join(SOCKET_NAME)).unwrap();
    let then = rustix::fs::Timespec { tv_sec: modified_s, tv_nsec: 0 };
    let times = rustix::fs::Timestamps { last_access: then, last_modification: then };
    rustix::fs::utimensat(rustix::fs::CWD, &place, &times, rustix::fs::AtFlags::empty()).unwrap();
    (place, listener)
}

#[test]
fn only_what_a_killed_agent_left_is_swept() {
    let base = tempfile::tempdir().unwrap();
    let now = crate::host::unix_seconds();
    let (dead, listener) = place_of_agent(base.path(), "agent-1", now - 3600);
    drop(listener);
    let (alive, _listener) = place_of_agent(base.path(), "agent-2", now - 3600);
    let (starting, listener) = place_of_agent(base.path(), "agent-3", now);
    drop(listener);
    let (foreign, listener) = place_of_agent(base.path(), "other-1", now - 3600);
    drop(listener);
    sweep(base.path(), "agent-");
    assert!(!dead.exists());
    assert!(alive.join(SOCKET_NAME).exists() && starting.exists() && foreign.exists());
}

/// As that of an agent that is stopped: it accepts nothing, and no further connection finds room.
#[test]
fn an_agent_that_does_not_answer_is_neither_waited_for_nor_swept() {
    let base = tempfile::tempdir().unwrap();
    let (place, listener) = place_of_agent(base.path(), "agent-1", crate::host::unix_seconds() - 3600);
    rustix::net::listen(&listener, 0).unwrap();
    let _waiting = Connection::connect(&place.join(SOCKET_NAME)).unwrap();
    sweep(base.path(), "agent-");
    assert!(place.join(SOCKET_NAME).exists());
}

#[test]
fn an_exposed_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("open");
    rustix::fs::mkdir(&place, Mode::RWXU).unwrap();
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
    let message = Listener::bind(&place).unwrap_err().to_string();
    assert!(message.contains("found mode 0755") && message.contains("chmod 700"), "{message}");
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(directory.path(), &link).unwrap();
    assert!(Listener::bind(&link).is_err());
    let long = directory.path().join("x".repeat(120));
    let message = Listener::bind(&long).unwrap_err().to_string();
    assert!(message.contains("107 bytes"), "{message}");
}

#[test]
fn poll_tells_a_hang_up() {
    let (left, right) = pair();
    assert!(!poll(&[right.as_fd()], Some(Duration::ZERO)).unwrap()[0].any());
    drop(left);
    assert!(poll(&[right.as_fd()], None).unwrap()[0].hung_up);
    assert!(right.as_fd().as_raw_fd() >= 0);
}
