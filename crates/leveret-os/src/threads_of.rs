//! Who a thread is, for laying the blame: read from `/proc`, so good for threads of any process that this user may
//! see.

use crate::{Failure, clock};
use leveret_types::Nanos;
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Why nothing is known of a thread.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ThreadError {
    /// It has ended, or `/proc` hides it.
    #[error("thread {tid}: {failure}; it has ended, or /proc is mounted with hidepid")]
    Unreadable {
        /// Which thread.
        tid: u32,
        /// What failed.
        failure: Failure,
    },
    /// The kernel's text is not as expected.
    #[error("thread {tid}: /proc/{tid}/{file} has no field \"{field}\"; this kernel was built without it")]
    Field {
        /// Which thread.
        tid: u32,
        /// Which file.
        file: &'static str,
        /// Which field.
        field: &'static str,
    },
}

/// The scheduling policy of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// `SCHED_OTHER`, `SCHED_BATCH`, `SCHED_IDLE` and whatever is not real-time.
    Ordinary,
    /// `SCHED_FIFO`.
    Fifo,
    /// `SCHED_RR`.
    RoundRobin,
    /// `SCHED_DEADLINE`.
    Deadline,
}

/// What is known of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadInfo {
    /// Its id.
    pub tid: u32,
    /// Its name, at most 15 bytes (longer for some of the kernel's).
    pub name: String,
    /// Whether it is the kernel's own (an interrupt thread, a worker, the stop machine).
    pub kernel: bool,
    /// Its policy.
    pub policy: Policy,
    /// 0 for ordinary scheduling, 1 to 99 for `SCHED_FIFO` and `SCHED_RR`, 100 for `SCHED_DEADLINE`.
    pub priority: u8,
}

/// Of the thread itself: in `/proc/TID` the kernel sums up all threads of its process, each time that it is read.
fn read(tid: u32, file: &'static str) -> Result<String, ThreadError> {
    std::fs::read_to_string(format!("/proc/{tid}/task/{tid}/{file}"))
        .map_err(|error| ThreadError::Unreadable { tid, failure: Failure::of_io("open", &error) })
}

/// Who a thread is.
///
/// # Errors
///
/// [`ThreadError`].
pub fn about(tid: u32) -> Result<ThreadInfo, ThreadError> {
    Stat::parse(tid, &read(tid, "stat")?)?.info()
}

/// What a thread has had of cores since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoreTime {
    /// How long it ran.
    pub ran: Nanos,
    /// How long it waited while it was runnable. The kernel adds a wait when it ends.
    pub waited: Nanos,
    /// Whether it runs or waits for a core now.
    pub is_runnable: bool,
}

/// What a thread has had of cores.
///
/// # Errors
///
/// [`ThreadError`]; also where the kernel does not keep the account.
pub fn core_time(tid: u32) -> Result<CoreTime, ThreadError> {
    let is_runnable = Stat::parse(tid, &read(tid, "stat")?)?.is_runnable();
    let text = read(tid, "schedstat")?;
    let missing = || ThreadError::Field { tid, file: "schedstat", field: "run_delay" };
    // | time on cores | time waiting for one | times put on one |
    let mut fields = text.split_ascii_whitespace().map(str::parse::<i64>);
    match (fields.next(), fields.next(), fields.next()) {
        // A kernel without the account prints three zeros; a thread that has run was put on a core at least once.
        (Some(Ok(0)), Some(Ok(0)), Some(Ok(0))) => Err(missing()),
        (Some(Ok(ran)), Some(Ok(waited)), Some(Ok(_))) => {
            Ok(CoreTime { ran: Nanos(ran), waited: Nanos(waited), is_runnable })
        }
        _ => Err(missing()),
    }
}

/// How long the calling thread has waited for cores, to be asked again and again.
#[derive(Debug)]
pub struct OwnWaits(File);

impl OwnWaits {
    /// Of the thread that calls; `None` where the kernel keeps no account. Whoever asks later gets the wait of this thread.
    pub fn open() -> Option<Self> {
        let waits = Self(File::open("/proc/thread-self/schedstat").ok()?);
        waits.so_far().map(|_| waits)
    }

    /// The sum of all waits that have ended.
    pub fn so_far(&self) -> Option<Nanos> {
        let mut text = [0; 96];
        let length = self.0.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(text.get(..length)?).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok().map(Nanos)
    }
}

/// A thread that keeps another from its core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Who it is.
    pub thread: ThreadInfo,
    /// Its process.
    pub process: u32,
    /// The core.
    pub core: u32,
    /// For how long it ran.
    pub ran: Nanos,
    /// Within which time.
    pub within: Nanos,
}

impl Holder {
    /// Whether it ran for so long that others miss the core for it.
    fn keeps_it(&self) -> bool {
        self.ran > Nanos::ZERO && self.ran.0 >= self.within.0 / HOLDS_LEAST
    }
}

/// A look for who has the core that a thread waits for, and for what runs there each look after it. Each reads all of `/proc`.
#[derive(Clone, Debug, Default)]
pub struct HolderSearch {
    /// The core at the look before, when that was, and what each thread that may hold the core had run.
    before: Option<(u32, Nanos, HashMap<u32, Nanos>)>,
}

/// Whoever had a core for less than this part of the time is not who keeps it.
const HOLDS_LEAST: i64 = 8;

impl HolderSearch {
    /// Who has the core that a runnable thread waits for: of the threads on that core that it does not outrank, the one that has run most
    /// since the look before. Of equal real-time priority is one that keeps the core too, for it gives it up by itself only. `None` at the first
    /// look, and where nobody can be seen that has run for an eighth of the time.
    pub fn look(&mut self, waiting: u32) -> Option<Holder> {
        let text = read(waiting, "stat").ok()?;
        let stat = Stat::parse(waiting, &text).ok()?;
        let (core, own) = (stat.core()?, stat.info().ok()?);
        let number =
            |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse::<u32>().ok();
        let processes = std::fs::read_dir("/proc").ok()?.filter_map(number);
        let all = processes.flat_map(|process| {
            let threads = threads(process).unwrap_or_default();
            threads.into_iter().map(move |thread| (process, thread))
        });
        let candidates = all.filter_map(|(process, tid)| {
            let text = read(tid, "stat").ok()?;
            let stat = Stat::parse(tid, &text).ok()?;
            let thread = stat.info().ok()?;
            let may_hold = tid != waiting
                && stat.core() == Some(core)
                && thread.priority > 0
                && thread.priority >= own.priority;
            if !may_hold {
                return None;
            }
            Some((thread, process, core_time(tid).ok()?.ran))
        });
        let candidates: Vec<(ThreadInfo, u32, Nanos)> = candidates.collect();
        let ran = candidates.iter().map(|(thread, _, ran)| (thread.tid, *ran)).collect();
        let now = clock::now();
        let before = self.before.replace((core, now, ran)).filter(|(before, ..)| *before == core);
        let (_, at, before) = before?;
        let within = now - at;
        // One that was not there before has begun since, or came from another core.
        let since = |tid: u32, ran: Nanos| ran - before.get(&tid).copied().unwrap_or(Nanos::ZERO);
        let grown = candidates.into_iter().map(|(thread, process, ran)| {
            let ran = since(thread.tid, ran);
            Holder { thread, process, core, ran, within }
        });
        grown.filter(Holder::keeps_it).max_by_key(|holder| holder.ran)
    }
}

/// Variables of the environment with which a thread's process was started; none where this user may not see it.
pub fn environment<const N: usize>(tid: u32, names: [&str; N]) -> [Option<String>; N] {
    let bytes = std::fs::read(format!("/proc/{tid}/environ")).unwrap_or_default();
    names.map(|name| {
        let value = |entry: &[u8]| Some(entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?.to_vec());
        let value = bytes.split(|byte| *byte == 0).find_map(value)?;
        String::from_utf8(value).ok()
    })
}

/// Whether a thread's process was started with any environment; none is seen either while it changes into another program.
pub fn has_environment(tid: u32) -> bool {
    std::fs::read(format!("/proc/{tid}/environ")).is_ok_and(|bytes| !bytes.is_empty())
}

/// The threads of a process, ascending.
///
/// # Errors
///
/// [`ThreadError`].
pub fn threads(pid: u32) -> Result<Vec<u32>, ThreadError> {
    let failed =
        |error: &std::io::Error| ThreadError::Unreadable { tid: pid, failure: Failure::of_io("open", error) };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/task")).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        found.extend(entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    if found.is_empty() {
        return Err(ThreadError::Unreadable { tid: pid, failure: Failure::new("getdents64", Errno::SRCH) });
    }
    found.sort_unstable();
    Ok(found)
}

/// The process of a thread; `None` where it has ended, or `/proc` hides it.
pub fn process_of(tid: u32) -> Option<u32> {
    status(tid, "Tgid:")
}

/// The process of the debugger that holds a thread; `None` where none does, or the thread has ended.
pub fn tracer_of(tid: u32) -> Option<u32> {
    status(tid, "TracerPid:").filter(|tracer| *tracer != 0)
}

/// The process of the debugger that keeps a thread from running just now; `None` where it runs, or none holds it.
pub fn held_by(tid: u32) -> Option<u32> {
    let is_held = || doing(tid) == Some(HELD);
    // Let go and held again in between it would be held still.
    if is_held() { tracer_of(tid).filter(|_| is_held()) } else { None }
}

fn status(tid: u32, field: &str) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(field))?.trim().parse().ok()
}

/// The process that a thread's process is a child of; `None` where it has ended, or `/proc` hides it, or nobody here is its parent.
pub fn parent_of(tid: u32) -> Option<u32> {
    let text = read(tid, "stat").ok()?;
    let parent = Stat::parse(tid, &text).ok()?.number(4, "ppid").ok()?;
    u32::try_from(parent).ok().filter(|parent| *parent != 0)
}

/// The threads of a process: each by the number that it has for itself, and by the one that it has here. They differ in a process
/// namespace of its own.
///
/// # Errors
///
/// [`ThreadError`].
pub fn numbers(pid: u32) -> Result<Vec<(u32, u32)>, ThreadError> {
    let here = threads(pid)?;
    let namespace = |of: String| std::fs::read_link(format!("/proc/{of}/ns/pid")).ok();
    if namespace(pid.to_string()).is_none_or(|its| Some(its) == namespace("self".to_owned())) {
        return Ok(here.into_iter().map(|thread| (thread, thread)).collect());
    }
    let innermost = |thread: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).ok()?;
        let all = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        all.split_ascii_whitespace().last()?.parse().ok()
    };
    Ok(here.into_iter().filter_map(|thread| Some((innermost(thread)?, thread))).collect())
}

/// `/proc/TID/stat`, whose second field is the name in parentheses and may hold anything, parentheses too.
struct Stat<'a> {
    tid: u32,
    name: &'a str,
    /// From the third field on.
    fields: Vec<&'a str>,
}

const FLAG_KERNEL_THREAD: u64 = 0x0020_0000;

impl<'a> Stat<'a> {
    fn parse(tid: u32, text: &'a str) -> Result<Self, ThreadError> {
        let (name, fields) = text
            .split_once('(')
            .and_then(|(_, rest)| rest.rsplit_once(')'))
            .ok_or(ThreadError::Field { tid, file: "stat", field: "comm" })?;
        Ok(Self { tid, name, fields: fields.split_ascii_whitespace().collect() })
    }

    /// Field `number` as `proc_pid_stat(5)` counts them, from 1.
    fn number(&self, number: usize, field: &'static str) -> Result<u64, ThreadError> {
        self.fields.get(number - 3).and_then(|text| text.parse().ok()).ok_or(ThreadError::Field {
            tid: self.tid,
            file: "stat",
            field,
        })
    }

    fn is_runnable(&self) -> bool {
        self.fields.first() == Some(&"R")
    }

    /// The core on which it ran last, or waits.
    fn core(&self) -> Option<u32> {
        self.number(39, "processor").ok().and_then(|core| u32::try_from(core).ok())
    }

    fn info(&self) -> Result<ThreadInfo, ThreadError> {
        let policy = match self.number(41, "policy")? {
            1 => Policy::Fifo,
            2 => Policy::RoundRobin,
            6 => Policy::Deadline,
            _ => Policy::Ordinary,
        };
        let priority = match policy {
            Policy::Ordinary => 0,
            Policy::Deadline => 100,
            Policy::Fifo | Policy::RoundRobin => {
                u8::try_from(self.number(40, "rt_priority")?).unwrap_or(99).min(99)
            }
        };
        let kernel = self.number(9, "flags")? & FLAG_KERNEL_THREAD != 0;
        Ok(ThreadInfo { tid: self.tid, name: self.name.to_owned(), kernel, policy, priority })
    }
}

const HELD: &str = "a debugger holds it";

/// What a thread does now, in words; `None` of one that is gone.
pub fn doing(tid: u32) -> Option<&'static str> {
    let text = read(tid, "stat").ok()?;
    Some(match *Stat::parse(tid, &text).ok()?.fields.first()? {
        "R" => "it computes, or waits for a core",
        "S" => "it waits for something in a call of its own",
        "D" => "the kernel makes it wait",
        "T" => "it is stopped by a signal",
        "t" => HELD,
        _ => "it ends",
    })
}

/// Whether a thread is stopped by a signal now.
pub fn is_stopped(tid: u32) -> bool {
    read(tid, "stat").is_ok_and(|text| {
        Stat::parse(tid, &text).is_ok_and(|stat| stat.fields.first().is_some_and(|state| *state == "T"))
    })
}

/// The first process namespace; the kernel numbers it so (`PROC_PID_INIT_INO`).
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Whether this process sees every thread of the machine: it is in no process namespace but the first.
pub fn are_all_visible() -> bool {
    std::fs::read_link("/proc/self/ns/pid").is_ok_and(|name| name.as_os_str() == FIRST_NAMESPACE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::{Class, apply, process_id, thread_id};
    use leveret_memory::sync::{AtomicBool, Ordering};

    const FIFO: &str = "77 (a) b (c) S 2 0 0 0 -1 2129984 5 6 7 8 1 2 3 4 -51 0 1 0 30 0 0 0 0 0 0 0 0 0 0 0 0 \
                        0 0 0 0 1 50 1 0 0 0 0 0 0 0 0 0 0 0";

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = Stat::parse(77, FIFO).unwrap();
        let info = stat.info().unwrap();
        let expected =
            ThreadInfo { tid: 77, name: "a) b (c".into(), kernel: true, policy: Policy::Fifo, priority: 50 };
        assert_eq!(info, expected);
    }

    #[test]
    fn a_cut_text_is_an_error_that_names_the_field() {
        for length in 0..FIFO.len() - 30 {
            assert!(Stat::parse(77, &FIFO[..length]).and_then(|stat| stat.info()).is_err(), "{length}");
        }
        let message = Stat::parse(77, "77 (x) S 1 2").unwrap().info().unwrap_err().to_string();
        assert!(message.contains("policy"), "{message}");
    }

    #[test]
    fn this_thread_is_known_by_name_and_class() {
        let thread = std::thread::Builder::new().name("hare".into()).spawn(|| {
            let tid = thread_id();
            let info = about(tid).unwrap();
            assert_eq!((info.name.as_str(), info.kernel), ("hare", false));
            assert_eq!((info.policy, info.priority), (Policy::Ordinary, 0));
            match apply(Class::Fifo { priority: 3 }) {
                Ok(()) => {
                    assert_eq!(about(tid).map(|info| (info.policy, info.priority)), Ok((Policy::Fifo, 3)))
                }
                Err(refusal) => eprintln!("SKIPPED: {refusal}"),
            }
            match core_time(tid) {
                Ok(time) => assert!(time.is_runnable && time.ran > Nanos::ZERO),
                Err(refusal) => eprintln!("SKIPPED: {refusal}"),
            }
            assert!(threads(process_id()).unwrap().contains(&tid));
            assert_eq!(process_of(tid), Some(process_id()));
        });
        thread.unwrap().join().unwrap();
    }

    /// A thread on `core` at this priority: it says who it is, and then does as it is told until that is done.
    fn ranked<'s>(
        scope: &'s std::thread::Scope<'s, '_>,
        (core, priority): (u32, u8),
        does: impl FnOnce() + Send + 's,
    ) -> Option<u32> {
        let (say, said) = std::sync::mpsc::channel();
        scope.spawn(move || {
            let ranked = apply(Class::Fifo { priority }).map_err(|refusal| refusal.to_string());
            // From here on it may wait for whoever has the core.
            let _ = say.send(ranked.clone().map(|()| thread_id()));
            if ranked.is_ok() && crate::scheduling::pin(core).is_ok() {
                does();
            }
        });
        let found = said.recv().unwrap();
        found.inspect_err(|refusal| eprintln!("SKIPPED: {refusal}")).ok()
    }

    /// Ends a hog, whatever becomes of the test.
    struct Over<'o>(&'o AtomicBool);

    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Until something outside is so.
    fn awaited(mut is_so: impl FnMut() -> bool) {
        let begun = crate::clock::now();
        while !is_so() {
            assert!(crate::clock::now() - begun < Nanos::from_secs(60), "it is never so");
            std::thread::yield_now();
        }
    }

    #[test]
    fn who_has_the_core_of_a_waiting_thread_is_found_though_it_ranks_no_higher() {
        let [core, other, ..] = crate::scheduling::allowed_cores()[..] else {
            return eprintln!("SKIPPED: there is one core");
        };
        for (hog_priority, waiting_priority) in [(5, 5), (6, 5)] {
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let _over = Over(&is_over);
                crate::scheduling::pin(other).unwrap();
                let spin = || while !is_over.load(Ordering::Relaxed) {};
                let Some(hog) = ranked(scope, (core, hog_priority), spin) else { return };
                let has_run = |tid, at_least| core_time(tid).is_ok_and(|time| time.ran > at_least);
                awaited(|| has_run(hog, Nanos::from_millis(20)));
                let Some(waiting) = ranked(scope, (core, waiting_priority), || {}) else { return };
                let on_core = |text: String| Stat::parse(waiting, &text).unwrap().core() == Some(core);
                awaited(|| read(waiting, "stat").is_ok_and(on_core));
                let mut search = HolderSearch::default();
                assert_eq!(search.look(waiting), None, "nothing has run since");
                let before = core_time(hog).unwrap().ran;
                awaited(|| has_run(hog, before + Nanos::from_millis(100)));
                let found = search.look(waiting).unwrap();
                assert_eq!((found.thread.tid, found.process), (hog, process_id()), "{found:?}");
                assert_eq!(found.core, core);
                assert!(
                    found.ran > Nanos::from_millis(100) && found.within >= Nanos(found.ran.0 / 2),
                    "{found:?}"
                );
                let of = |ran: i64| Holder { ran: Nanos(ran), within: Nanos(8_000), ..found.clone() };
                assert_eq!([0, 1, 999, 1_000].map(|ran| of(ran).keeps_it()), [false, false, false, true]);
            });
        }
    }

    #[test]
    fn the_kernels_threads_are_told_from_others() {
        match about(2) {
            Ok(info) if info.name == "kthreadd" => assert!(info.kernel),
            _ => eprintln!("SKIPPED: the kernel's threads cannot be seen from this container"),
        }
    }

    #[test]
    fn the_environment_of_a_process_is_read_by_whole_names() {
        let mut what = crate::process::Spawn::new("/bin/sleep");
        what.args = vec!["60".into()];
        what.env = vec![("HARE_JOB".into(), "a=b c".into())];
        let child = crate::process::spawn(what).unwrap();
        let tid = child.pid;
        // A program is told to have started a little before the kernel shows its environment.
        let begun = crate::clock::now();
        while environment(tid, ["HARE_JOB"]) == [None] && crate::clock::now() - begun < Nanos::from_secs(60) {
            std::thread::yield_now();
        }
        assert_eq!(environment(tid, ["HARE_JOB", "HARE", "JOB"]), [Some("a=b c".to_owned()), None, None]);
        child.pidfd.signal(crate::process::Signal::KILL).unwrap();
        child.pidfd.wait().unwrap();
        assert_eq!(environment(u32::MAX, ["PATH"]), [None]);
    }

    #[test]
    fn a_thread_that_is_gone_is_an_error() {
        // Larger than the kernel's largest id.
        assert!(matches!(about(4_194_305), Err(ThreadError::Unreadable { .. })));
        assert!(matches!(threads(u32::MAX), Err(ThreadError::Unreadable { .. })));
    }
}
