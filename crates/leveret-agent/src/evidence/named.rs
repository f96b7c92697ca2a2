//! What a thread was, and its name: as the log has it, as it can be asked, and by whose process it is.

use crate::families::{Families, Family};
use crate::other_jobs;
use leveret_os::perf::{self, SwitchRecord, UNKNOWN_THREAD};
use leveret_os::threads_of;
use leveret_report::record::{AWAKE_THREADS, Left, ThreadKind};

/// What has a core, where a container hides other threads.
const IDLE_OR_UNSEEN: &str = "the idle task or a thread that cannot be seen from this container";

/// What is known of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct About {
    /// What it is, as it and its process could be asked.
    pub(super) kind: ThreadKind,
    /// Of what, by who began it: all that is known of one that has ended with its process.
    pub(super) family: Family,
    pub(super) name: String,
}

impl About {
    pub(super) fn new(kind: ThreadKind, name: impl Into<String>) -> Self {
        Self { kind, family: Family::Unknown, name: name.into() }
    }
}

/// What a thread is, and its name, as it and its process can be asked now.
pub(super) fn about(families: &Families, thread: u32, process: u32) -> About {
    let of_process = |asked: u32, found: threads_of::ThreadInfo| match families.of_living(asked, process) {
        // Of the job, though no task: not another process's doing.
        Family::Own => About::new(ThreadKind::Own { priority: found.priority }, found.name),
        Family::Unknown => About::new(ThreadKind::Unknown, found.name),
        Family::Foreign | Family::Kernel => {
            let kind = ThreadKind::Foreign { priority: found.priority };
            About::new(kind, families.named(asked, found.name))
        }
    };
    // Its process's number may be another one's now, where the log has that.
    let ended = || {
        let of_thread = families.of_thread(thread, UNKNOWN_THREAD);
        let family =
            if of_thread == Family::Unknown { families.of_thread(thread, process) } else { of_thread };
        About { kind: ThreadKind::Unknown, family, name: families.name_of(thread).unwrap_or_default() }
    };
    match thread {
        0 if threads_of::are_all_visible() => About::new(ThreadKind::Idle, "idle"),
        // The kernel shows threads of other process namespaces by the same number.
        0 => About::new(ThreadKind::Idle, IDLE_OR_UNSEEN),
        UNKNOWN_THREAD => About::new(ThreadKind::Unknown, ""),
        _ => match threads_of::about(thread) {
            Ok(found) if found.kernel => About::new(ThreadKind::Kernel, found.name),
            Ok(found) => of_process(thread, found),
            // It has ended; its process may live.
            Err(_) if families.of_thread(thread, UNKNOWN_THREAD) != Family::Unknown => ended(),
            Err(_) => match threads_of::about(process) {
                Ok(found) if process != UNKNOWN_THREAD && !found.kernel => of_process(process, found),
                _ => ended(),
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
/// it earlier, may find another program. One that ended before it could be asked is what those are that began it; where nobody saw that, it is
/// not known whose it was.
pub(super) fn as_it_was((rank, name): (Option<u8>, Option<String>), known: About) -> (ThreadKind, String) {
    let About { kind, family, name: called } = known;
    let (Some(priority), Some(was)) = (rank, name) else { return (kind, called) };
    match (kind, family) {
        (ThreadKind::Foreign { .. }, _) => {
            (ThreadKind::Foreign { priority }, other_jobs::renamed(called, &was))
        }
        (ThreadKind::Own { .. }, _) => (ThreadKind::Own { priority }, other_jobs::renamed(called, &was)),
        (ThreadKind::Unknown, Family::Own) => (ThreadKind::Own { priority }, was),
        (ThreadKind::Unknown, Family::Foreign) => (ThreadKind::Foreign { priority }, was),
        (ThreadKind::Unknown, Family::Kernel) => (ThreadKind::Kernel, was),
        (ThreadKind::Unknown, Family::Unknown) => (kind, was),
        _ => (kind, called),
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
    use std::path::Path;

    #[test]
    fn a_thread_that_has_ended_is_its_process_s() {
        let child = leveret_os::process::spawn(leveret_os::process::Spawn {
            args: vec!["60".into()],
            ..leveret_os::process::Spawn::new("/bin/sleep")
        });
        let child = child.expect("sleep starts");
        let ended = std::thread::spawn(leveret_os::scheduling::thread_id).join().expect("it ends");
        let ours = leveret_os::scheduling::process_id();
        let families = Families::blind(Path::new("/run/own"));
        let about = |process| about(&families, ended, process).kind;
        // The first process is nobody's child.
        assert!(matches!(about(1), ThreadKind::Foreign { .. }));
        assert!([child.pid, ours].map(about).iter().all(|kind| matches!(kind, ThreadKind::Own { .. })));
        assert_eq!([about(UNKNOWN_THREAD), about(ended)], [ThreadKind::Unknown; 2]);
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
