use super::*;
use crate::control::poll;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

fn shell(script: &str) -> Spawn {
    Spawn { args: vec!["-c".into(), script.into()], stdin: Stream::Null, ..Spawn::new("/bin/sh") }
}

/// Runs a shell to its end; what it wrote, and how it ended.
fn output(mut what: Spawn) -> (String, Exit) {
    let (read_end, write_end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    what.stdout = Stream::File(write_end);
    let child = spawn(what).unwrap();
    let mut text = String::new();
    std::fs::File::from(read_end).read_to_string(&mut text).unwrap();
    (text, child.pidfd.wait().unwrap())
}

/// The next change of a child, with a watchdog.
fn next_change(child: &Child) -> Change {
    let until = crate::clock::now() + leveret_types::Nanos::from_secs(20);
    loop {
        if let Some(change) = child.pidfd.next_change().unwrap() {
            return change;
        }
        assert!(crate::clock::now() < until, "nothing happened to the child");
        std::thread::yield_now();
    }
}

#[test]
fn a_child_gets_its_arguments_environment_and_directory() {
    let what = Spawn {
        env: vec![("GREETING".into(), "hello".into())],
        working_dir: Some("/".into()),
        ..shell("echo \"$GREETING $(pwd)\"; exit 3")
    };
    let (text, exit) = output(what);
    assert_eq!((text.as_str(), exit), ("hello /\n", Exit::Status(3)));
    assert_eq!(exit.to_string(), "exit status 3");
    let (text, _) = output(Spawn { env_clear: true, ..shell("echo \"${HOME-none}\"") });
    assert_eq!(text, "none\n");
}

#[test]
fn a_child_has_a_session_of_its_own_where_it_should() {
    // Fields of /proc/self/stat after the name: state, parent, process group, session.
    let group = "read -r line < /proc/$$/stat; set -- ${line##*) }; [ $3 = $$ ] && [ $4 = $$ ] && echo own || echo shared";
    let (text, exit) = output(Spawn { own_session: true, ..shell(group) });
    assert_eq!((text.as_str(), exit), ("own\n", Exit::Status(0)));
    let (text, _) = output(shell(group));
    assert_eq!(text, "shared\n");
}

#[test]
fn a_program_that_cannot_run_is_an_error_here() {
    let message = spawn(Spawn::new("/nowhere/at/all")).unwrap_err().to_string();
    assert!(message.contains("/nowhere/at/all") && message.contains("no such program"), "{message}");
    let message = spawn(Spawn::new("/etc/passwd")).unwrap_err().to_string();
    assert!(message.contains("chmod +x"), "{message}");
}

#[test]
fn the_end_is_pollable_and_told_in_words() {
    let child = spawn(shell("while :; do :; done")).unwrap();
    assert!(!poll(&[child.pidfd.as_fd()], Some(Duration::ZERO)).unwrap()[0].readable);
    child.pidfd.signal(Signal::KILL).unwrap();
    assert!(poll(&[child.pidfd.as_fd()], Some(Duration::from_secs(20))).unwrap()[0].readable);
    let exit = child.pidfd.wait().unwrap();
    assert_eq!(exit.to_string(), "signal 9 (SIGKILL)");
    assert!(!exit.is_success());
    assert!(matches!(child.pidfd.next_change(), Err(WatchError::NotAChild(_))));
    assert!(matches!(child.pidfd.signal(Signal::TERM), Err(WatchError::Gone(_))));
}

#[test]
fn the_limit_on_the_size_of_files_is_named_as_the_end() {
    // Whoever started the tests may ignore the signal, and a shell can only keep to that.
    let child = spawn(shell("exec env --default-signal=XFSZ sh -c 'kill -XFSZ $$'")).unwrap();
    let exit = child.pidfd.wait().unwrap().to_string();
    assert!(exit.contains("SIGXFSZ") && exit.contains("`ulimit -f unlimited`"), "{exit}");
}

#[test]
fn stops_and_continuations_are_seen() {
    let child = spawn(shell("while :; do :; done")).unwrap();
    assert_eq!(child.pidfd.next_change(), Ok(None));
    child.pidfd.signal(Signal::STOP).unwrap();
    assert_eq!(next_change(&child), Change::Stopped(libc::SIGSTOP));
    child.pidfd.signal(Signal::CONT).unwrap();
    assert_eq!(next_change(&child), Change::Continued);
    child.pidfd.signal(Signal::TERM).unwrap();
    assert_eq!(next_change(&child), Change::Ended(Exit::Signal(libc::SIGTERM)));
}

#[test]
fn a_child_dies_with_the_thread_that_started_it() {
    let child = std::thread::spawn(|| spawn(shell("while :; do :; done")).unwrap()).join().unwrap();
    assert_eq!(next_change(&child), Change::Ended(Exit::Signal(libc::SIGKILL)));
}

#[test]
fn an_unprivileged_child_has_no_capability() {
    if !crate::user::is_root() {
        eprintln!("SKIPPED: needs root to become another user");
        return;
    }
    let (text, exit) = output(shell("id -u; id -g; grep CapEff /proc/self/status").unprivileged());
    assert_eq!(text, "65534\n65534\nCapEff:\t0000000000000000\n");
    assert!(exit.is_success());
    let child = spawn(shell("while :; do :; done").unprivileged()).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.pid)).unwrap();
    assert!(status.contains("Groups:\t \n"), "{status}");
    child.pidfd.signal(Signal::KILL).unwrap();
    child.pidfd.wait().unwrap();
}

#[test]
fn an_ordinary_user_cannot_start_a_child_as_another() {
    let refusal = crate::user::in_unprivileged_thread(|| {
        spawn(Spawn { uid: Some(0), ..shell("true") }).map(|_| ()).unwrap_err().to_string()
    });
    let message = refusal.unwrap();
    assert!(message.contains("only root"), "{message}");
}

#[test]
fn only_kept_descriptors_are_inherited() {
    let (kept, _kept_end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let (dropped, _dropped_end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let (kept_number, dropped_number) = (kept.as_raw_fd(), dropped.as_raw_fd());
    let script = format!(
        "test -e /proc/self/fd/{kept_number} && echo kept; test -e /proc/self/fd/{dropped_number} || echo closed"
    );
    let (text, _) = output(Spawn { keep: vec![kept], ..shell(&script) });
    assert_eq!(text, "kept\nclosed\n");
}

#[test]
fn another_process_can_be_watched_but_not_waited_for() {
    let parent = std::os::unix::process::parent_id();
    match PidFd::open(parent) {
        Ok(other) => assert!(matches!(other.next_change(), Err(WatchError::NotAChild(_)))),
        Err(refusal) => eprintln!("SKIPPED: the parent cannot be seen: {refusal}"),
    }
    assert!(matches!(PidFd::open(0), Err(WatchError::Gone(_))));
    assert!(matches!(PidFd::open(u32::MAX), Err(WatchError::Gone(_))));
}
