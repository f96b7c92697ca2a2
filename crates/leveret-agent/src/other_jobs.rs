//! Whether a foreign thread belongs to another Leveret job, so that a person need not hunt for a hog that they started
//! themselves.

use leveret_os::threads_of;
use leveret_runtime::{JOB_VARIABLE, SOCKET_VARIABLE};
use leveret_types::NAME_BYTES_MAX;
use std::path::Path;

/// Threads of the agent and of members that no task names begin so.
pub(crate) const OWN_THREADS: &str = "leveret";

/// Follows the name of a thread that is of another job.
const OF_ANOTHER_JOB: &str = " of another Leveret job";

/// A foreign thread's name, with the job that it is of where that is another Leveret job.
///
/// Members inherit the job's name and socket by their environment, which the same user and root may read. Another
/// agent's threads, such as its bare timer, are known by their names.
pub(crate) fn named(own_socket: &Path, thread: u32, name: String) -> String {
    let [job, socket] = threads_of::environment(thread, [JOB_VARIABLE, SOCKET_VARIABLE]);
    let is_own = threads_of::threads(leveret_os::scheduling::process_id())
        .is_ok_and(|threads| threads.binary_search(&thread).is_ok());
    told(own_socket, name, job, socket, is_own)
}

/// What is known of a thread by its name, of one that has another name now; of what it is, nothing changes.
pub(crate) fn renamed(known: String, now: &str) -> String {
    match known.find(OF_ANOTHER_JOB) {
        _ if now.is_empty() => known,
        Some(place) => format!("{now}{}", &known[place..]),
        None => now.to_owned(),
    }
}

/// Whether a thread is the agent's, or of a process of this job.
pub(crate) fn is_own(own_socket: &Path, thread: u32) -> bool {
    let [socket] = threads_of::environment(thread, [SOCKET_VARIABLE]);
    let is_of_agent = || {
        let threads = threads_of::threads(leveret_os::scheduling::process_id());
        threads.is_ok_and(|threads| threads.binary_search(&thread).is_ok())
    };
    socket.is_some_and(|socket| Path::new(&socket) == own_socket) || is_of_agent()
}

fn told(own: &Path, name: String, job: Option<String>, socket: Option<String>, is_own: bool) -> String {
    match socket {
        _ if is_own => name,
        Some(socket) if Path::new(&socket) == own => name,
        None if !name.starts_with(OWN_THREADS) => name,
        _ => match job.filter(|job| is_name(job)) {
            Some(job) => format!("{name}{OF_ANOTHER_JOB} \"{job}\""),
            None => format!("{name}{OF_ANOTHER_JOB}"),
        },
    }
}

/// What another process says is shown only where it is a name as manifests have them.
fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_os::process::{Signal, Spawn, spawn};

    #[test]
    fn a_thread_of_another_job_is_named_with_it() {
        let own = Path::new("/run/own");
        let told = |name: &str, job: Option<&str>, socket: Option<&str>| {
            told(own, name.to_owned(), job.map(str::to_owned), socket.map(str::to_owned), false)
        };
        assert_eq!(told("B.user", Some("ring"), Some("/run/1")), "B.user of another Leveret job \"ring\"");
        assert_eq!(told("B.user", None, Some("/run/1")), "B.user of another Leveret job");
        assert_eq!(told("B.user", Some("\u{1b}[31m"), Some("/run/1")), "B.user of another Leveret job");
        assert_eq!(told("leveret-alone", None, None), "leveret-alone of another Leveret job");
        // A thread of our own members that no task names, and one of nobody's.
        assert_eq!(told("helper", Some("ring"), Some("/run/own")), "helper");
        assert_eq!(told("stress-ng", None, None), "stress-ng");
        let later =
            ["sh", "sh of another Leveret job \"ring\"", ""].map(|known| renamed(known.to_owned(), "hog"));
        assert_eq!(later, ["hog", "hog of another Leveret job \"ring\"", "hog"]);
        assert_eq!(renamed("sh".to_owned(), ""), "sh");
    }

    #[test]
    fn a_member_is_known_by_its_environment_and_we_are_not_another_job() {
        let mut what = Spawn::new("/bin/sleep");
        what.args = vec!["60".into()];
        what.env = vec![(JOB_VARIABLE.into(), "other".into()), (SOCKET_VARIABLE.into(), "/run/other".into())];
        let child = spawn(what).unwrap();
        let thread = child.pid;
        // A program is told to have started a little before the kernel shows its environment.
        let begun = leveret_os::clock::now();
        while threads_of::environment(thread, [JOB_VARIABLE]) == [None]
            && leveret_os::clock::now() - begun < leveret_types::Nanos::from_secs(60)
        {
            std::thread::yield_now();
        }
        let name = named(Path::new("/run/own"), thread, "sleep".to_owned());
        assert_eq!(name, "sleep of another Leveret job \"other\"");
        assert!(is_own(Path::new("/run/other"), thread) && !is_own(Path::new("/run/own"), thread));
        assert!(is_own(Path::new("/run/own"), leveret_os::scheduling::thread_id()));
        assert_eq!(named(Path::new("/run/other"), thread, "sleep".to_owned()), "sleep");
        child.pidfd.signal(Signal::KILL).unwrap();
        child.pidfd.wait().unwrap();
        let own = leveret_os::scheduling::thread_id();
        assert_eq!(named(Path::new("/run/own"), own, "leveret-alone".to_owned()), "leveret-alone");
    }
}
