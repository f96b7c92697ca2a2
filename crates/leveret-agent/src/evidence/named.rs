//! What a thread was, and its name: as the log has it, as it can be asked, and by whose process it is.

use crate::other_jobs::{self, OWN_THREADS};
use leveret_os::perf::{self, SwitchRecord, UNKNOWN_THREAD};
use leveret_os::threads_of;
use leveret_report::record::{AWAKE_THREADS, Left, ThreadKind};
use std::path::Path;

/// What has a core, where a container hides other threads.
const IDLE_OR_UNSEEN: &str = "the idle task or a thread that cannot be seen from this container";
/// The kernel's workers come and go; anything else that ended before it could be asked was a process's.
const WORKERS: &str = "kworker/";

/// What a thread is, and its name, as it and its process can be asked now.
pub(super) fn about(socket: &Path, thread: u32, process: u32) -> (ThreadKind, String) {
    let of_process = |asked: u32, found: threads_of::ThreadInfo| match other_jobs::is_own(socket, asked) {
        // Of the job, though no task: not another process's doing.
        true => (ThreadKind::Own { priority: found.priority }, found.name),
        false => {
            let kind = ThreadKind::Foreign { priority: found.priority };
            (kind, other_jobs::named(socket, asked, found.name))
        }
    };
    match thread {
        0 if threads_of::are_all_visible() => (ThreadKind::Idle, "idle".to_owned()),
        // The kernel shows threads of other process namespaces by the same number.
        0 => (ThreadKind::Idle, IDLE_OR_UNSEEN.to_owned()),
        UNKNOWN_THREAD => (ThreadKind::Unknown, String::new()),
        _ => match threads_of::about(thread) {
            Ok(found) if found.kernel => (ThreadKind::Kernel, found.name),
            Ok(found) => of_process(thread, found),
            // It has ended; its process may live.
            Err(_) if process == UNKNOWN_THREAD => (ThreadKind::Unknown, String::new()),
            Err(_) => match threads_of::about(process) {
                Ok(found) if !found.kernel => of_process(process, found),
                _ => (ThreadKind::Unknown, String::new()),
            },
        },
    }
}

/// A thread's name, by which none but the agent's is taken for one that keeps a core awake.
pub(super) fn own_name(name: String, process: u32, agent: u32) -> String {
    match name.starts_with(AWAKE_THREADS) && process != agent {
        true => format!("process {process}'s {name}"),
        false => name,
    }
}

/// In what state the one that left did so.
pub(super) fn left(record: &SwitchRecord) -> Left {
    match record.left {
        perf::Left::Runnable => Left::Runnable,
        perf::Left::Asleep => Left::Asleep,
        perf::Left::Uninterruptible => Left::Uninterruptible,
        perf::Left::Stopped => Left::Stopped,
        perf::Left::Traced => Left::Traced,
        perf::Left::Ended => Left::Ended,
        perf::Left::Unknown if record.preempted => Left::Runnable,
        perf::Left::Unknown => Left::Unknown,
    }
}

/// What is known of a thread, with the rank and the name that it had on its core where the log has them. Whoever looks for it later, or has met
/// it earlier, may find another program.
pub(super) fn as_it_was(
    (rank, name): (Option<u8>, Option<String>),
    (kind, known): (ThreadKind, String),
) -> (ThreadKind, String) {
    let (Some(priority), Some(was)) = (rank, name) else { return (kind, known) };
    match kind {
        ThreadKind::Foreign { .. } => (ThreadKind::Foreign { priority }, other_jobs::renamed(known, &was)),
        ThreadKind::Own { .. } => (ThreadKind::Own { priority }, other_jobs::renamed(known, &was)),
        ThreadKind::Unknown if was.starts_with(WORKERS) || was.starts_with(OWN_THREADS) => (kind, was),
        ThreadKind::Unknown => (ThreadKind::Foreign { priority }, was),
        _ => (kind, known),
    }
}

/// A thread of a process of the job, which may have ended before it could be asked whose it is.
pub(super) fn of_own_process(kind: ThreadKind) -> ThreadKind {
    match kind {
        ThreadKind::Foreign { priority } => ThreadKind::Own { priority },
        ThreadKind::Unknown => ThreadKind::Own { priority: 0 },
        _ => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_ended_is_its_process_s() {
        let child = leveret_os::process::spawn(leveret_os::process::Spawn {
            args: vec!["60".into()],
            ..leveret_os::process::Spawn::new("/bin/sleep")
        });
        let child = child.expect("sleep starts");
        let ended = std::thread::spawn(leveret_os::scheduling::thread_id).join().expect("it ends");
        let ours = leveret_os::scheduling::process_id();
        let is_foreign = |asked: (ThreadKind, String)| matches!(asked.0, ThreadKind::Foreign { .. });
        let own = Path::new("/run/own");
        assert!(is_foreign(about(own, ended, child.pid)));
        assert!(matches!(about(own, ended, ours).0, ThreadKind::Own { .. }));
        assert_eq!(about(own, ended, UNKNOWN_THREAD), (ThreadKind::Unknown, String::new()));
        assert_eq!(about(own, ended, ended), (ThreadKind::Unknown, String::new()));
        child.pidfd.signal(leveret_os::process::Signal::KILL).expect("it lives");
        child.pidfd.wait().expect("it ends");
    }

    #[test]
    fn no_thread_but_the_agent_s_is_taken_for_one_that_keeps_a_core_awake() {
        let named = |process| own_name(format!("{AWAKE_THREADS}0"), process, 7);
        assert_eq!([named(7), named(8)], ["leveret-awake-0", "process 8's leveret-awake-0"]);
        assert!(!named(UNKNOWN_THREAD).starts_with(AWAKE_THREADS));
        assert_eq!(own_name("leveret-alone".to_owned(), 8, 7), "leveret-alone");
    }
}
