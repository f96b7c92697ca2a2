//! Who keeps a thread from running without taking its core: signals that stop, debuggers, control groups that freeze.
//!
//! Tracepoints that fire only when such a thing happens: a core that runs and sleeps by its plan never passes one. Beside them, each
//! wake-up of the threads that are watched, says since when one that has no core wants one.

use super::event::{
    Attributes, Event, PerfError, SAMPLE_CPU, SAMPLE_RAW, SAMPLE_TID, SAMPLE_TIME, TYPE_TRACEPOINT, Target,
    USE_CLOCK_ID, field, tracepoint_file, tracepoint_id,
};
use super::ring::{Record, Ring};
use super::scheduled::RAW;
use super::timers::RECORD_SAMPLE;
use crate::Failure;
use leveret_types::Nanos;
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};

/// 16 KiB: some 200 records between two drains.
const DATA_PAGES: usize = 4;
/// 256 KiB: some 2,500 wake-ups or signals. A debugger that goes step by step, or who stops and lets go all the time, makes more, of which the
/// first say all.
const OFTEN_PAGES: usize = 64;
/// The kernel compares each wake-up of the machine with all of them: of more threads, some ranges of numbers hold all, and others.
const WATCHED_MAX: usize = 64;
/// `TRACE_FLAG_HARDIRQ`, `TRACE_FLAG_SOFTIRQ` and `TRACE_FLAG_NMI`: the context in which a tracepoint was passed.
const INTERRUPTS: u8 = 0x08 | 0x10 | 0x40;
const CHILD: u32 = libc::SIGCHLD as u32;
const STOPPED: u32 = libc::CLD_STOPPED as u32;
/// SIGSTOP, SIGTSTP, SIGTTIN and SIGTTOU; and to a debugger (or the parent) that a thread has stopped, `CLD_TRAPPED` or `CLD_STOPPED`.
const STOPS: &CStr =
    c"sig == 19 || sig == 20 || sig == 21 || sig == 22 || (sig == 17 && (code == 4 || code == 5))";

/// Groups of version 2 have a hierarchy of their own.
const UNIFIED: &CStr = c"dst_root == 0";

/// What somebody did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Sent this signal, which stops, to a thread or its process.
    Stop {
        /// Which signal.
        signal: u32,
        /// Which thread was chosen for it.
        thread: u32,
    },
    /// Stopped itself, which this thread, a debugger or the parent, was told.
    Trap {
        /// The debugger, or the parent.
        tracer: u32,
        /// Whether it may be the parent: of a stop by a signal it is told too.
        may_be_parent: bool,
    },
    /// Froze a control group (of version 2), by its path.
    Freeze(String),
    /// Let a frozen one go on.
    Thaw(String),
    /// Moved a process, or a thread alone, to another control group (of version 2).
    Move {
        /// Which: the first thread of the process.
        thread: u32,
        /// Path of the group.
        group: String,
    },
    /// A watched thread was put on a core's queue.
    Wake {
        /// Which thread.
        thread: u32,
        /// Which core.
        core: u32,
        /// Whether an interrupt did it, as at the end of a sleep, or when a thread asks another core to do it; else the thread that this record is
        /// of.
        in_interrupt: bool,
    },
}

/// A hold, when, and by whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoldRecord {
    /// When.
    pub time: Nanos,
    /// The process that did it.
    pub process: u32,
    /// Its thread.
    pub thread: u32,
    /// What.
    pub what: Hold,
}

/// Where the fields of a tracepoint lie.
#[derive(Clone, Copy, Debug)]
enum Fields {
    Signal { number: usize, code: usize, thread: usize },
    Freeze { path: usize },
    Thaw { path: usize },
    Move { hierarchy: usize, thread: usize, path: usize },
    Wake { thread: usize, core: usize, flags: usize },
}

/// One tracepoint on one core.
#[derive(Debug)]
struct Log {
    fields: Fields,
    ring: Ring,
    // Keeps the event running.
    _event: Event,
}

/// All of it on all cores: who does such a thing may do it from anywhere.
#[derive(Debug)]
pub struct HoldLog {
    logs: Vec<Log>,
    watched: BTreeSet<u32>,
}

impl HoldLog {
    /// Opens the log on these cores, with the wake-ups of these threads.
    ///
    /// # Errors
    ///
    /// [`PerfError`].
    pub fn open(cores: &[u32], threads: &[u32]) -> Result<Self, PerfError> {
        let signals = fields("signal:signal_generate", "events/signal/signal_generate/format", |format| {
            let [number, code, thread] = ["sig", "code", "pid"].map(|name| field(format, name, 4));
            Some(Fields::Signal { number: number?, code: code?, thread: thread? })
        })?;
        let path = |format: &str| field(format, "path", 4);
        let freezes = fields("cgroup:cgroup_freeze", "events/cgroup/cgroup_freeze/format", |format| {
            Some(Fields::Freeze { path: path(format)? })
        });
        let thaws = fields("cgroup:cgroup_unfreeze", "events/cgroup/cgroup_unfreeze/format", |format| {
            Some(Fields::Thaw { path: path(format)? })
        });
        let moves =
            fields("cgroup:cgroup_attach_task", "events/cgroup/cgroup_attach_task/format", |format| {
                let [hierarchy, thread, path] =
                    ["dst_root", "pid", "dst_path"].map(|name| field(format, name, 4));
                Some(Fields::Move { hierarchy: hierarchy?, thread: thread?, path: path? })
            });
        let wakes = fields("sched:sched_wakeup", "events/sched/sched_wakeup/format", |format| {
            Some(Fields::Wake {
                thread: field(format, "pid", 4)?,
                core: field(format, "target_cpu", 4)?,
                flags: field(format, "common_flags", 1)?,
            })
        })?;
        let watched: BTreeSet<u32> = threads.iter().copied().collect();
        let of_watched = CString::new(numbers(&watched)).unwrap_or_default();
        let mut logs = Vec::new();
        for core in cores {
            let stops = ("signal:signal_generate", "events/signal/signal_generate/id", Some(STOPS));
            logs.push(Log::open(*core, stops, signals)?);
            if !watched.is_empty() {
                let wake =
                    ("sched:sched_wakeup", "events/sched/sched_wakeup/id", Some(of_watched.as_c_str()));
                logs.push(Log::open(*core, wake, wakes)?);
            }
            // A kernel without control groups has nothing that could freeze.
            if let (Ok(freezes), Ok(thaws), Ok(moves)) = (&freezes, &thaws, &moves) {
                let freeze = ("cgroup:cgroup_freeze", "events/cgroup/cgroup_freeze/id", None);
                logs.push(Log::open(*core, freeze, *freezes)?);
                let thaw = ("cgroup:cgroup_unfreeze", "events/cgroup/cgroup_unfreeze/id", None);
                logs.push(Log::open(*core, thaw, *thaws)?);
                let moved =
                    ("cgroup:cgroup_attach_task", "events/cgroup/cgroup_attach_task/id", Some(UNIFIED));
                logs.push(Log::open(*core, moved, *moves)?);
            }
        }
        Ok(Self { logs, watched })
    }

    /// Records that were lost because nobody drained in time, since the log was opened.
    pub fn lost(&self) -> u64 {
        self.logs.iter().map(|log| log.ring.lost()).sum()
    }

    /// What has happened since the last call, in order of time.
    pub fn drain(&mut self) -> Vec<HoldRecord> {
        let mut found = Vec::new();
        let watched = &self.watched;
        let is_asked = |hold: &HoldRecord| match hold.what {
            Hold::Wake { thread, .. } => watched.contains(&thread),
            _ => true,
        };
        for log in &mut self.logs {
            let fields = log.fields;
            log.ring.drain(|record| found.extend(hold_of(record, fields).filter(is_asked)));
        }
        found.sort_by_key(|hold| hold.time);
        found
    }
}

/// A filter that lets these threads through, and few others: where they are many, gaps between their numbers are let through, the
/// narrowest first.
fn numbers(threads: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = threads.iter().map(|thread| (*thread, *thread)).collect();
    let cost =
        |ranges: &[(u32, u32)]| ranges.iter().map(|(from, to)| 1 + usize::from(from != to)).sum::<usize>();
    while cost(&ranges) > WATCHED_MAX {
        let gaps = ranges.windows(2).map(|pair| pair[1].0 - pair[0].1).enumerate();
        let Some((place, _)) = gaps.min_by_key(|(_, gap)| *gap) else { break };
        ranges[place].1 = ranges.remove(place + 1).1;
    }
    let one = |(from, to): &(u32, u32)| match from == to {
        true => format!("pid == {from}"),
        false => format!("(pid >= {from} && pid <= {to})"),
    };
    ranges.iter().map(one).collect::<Vec<_>>().join(" || ")
}

fn fields(
    name: &'static str,
    path: &str,
    parse: impl Fn(&str) -> Option<Fields>,
) -> Result<Fields, PerfError> {
    let failure = Failure::new("read", Errno::BADMSG);
    parse(&tracepoint_file(name, path)?).ok_or(PerfError::Tracepoint { name, failure })
}

impl Log {
    fn open(
        core: u32,
        (name, id, filter): (&'static str, &str, Option<&CStr>),
        fields: Fields,
    ) -> Result<Self, PerfError> {
        let mut attributes = Attributes::new(TYPE_TRACEPOINT, tracepoint_id(name, id)?, USE_CLOCK_ID);
        attributes.sample_period = 1;
        attributes.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_RAW;
        let event = Event::open("the log of stops and freezes", &attributes, Target::Core(core))?;
        if let Some(filter) = filter {
            event.filter(filter)?;
        }
        let often = matches!(fields, Fields::Wake { .. } | Fields::Signal { .. });
        let pages = if often { OFTEN_PAGES } else { DATA_PAGES };
        Ok(Self { fields, ring: Ring::map(&event, pages)?, _event: event })
    }
}

/// ```text
///  | pid | tid | time | core | - | size | raw ... |
/// ```
fn hold_of(record: &Record<'_>, fields: Fields) -> Option<HoldRecord> {
    if record.kind != RECORD_SAMPLE {
        return None;
    }
    let word = |offset: usize| record.word(RAW + offset);
    // | offset and length of the text, 16 bits each |
    let text = |offset: usize| {
        let place = word(offset)?;
        let start = RAW + (place & 0xffff) as usize;
        let bytes = record.body.get(start..start + (place >> 16) as usize)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    };
    let what = match fields {
        Fields::Signal { number, code, thread } => match word(number)? {
            CHILD => Hold::Trap { tracer: word(thread)?, may_be_parent: word(code)? == STOPPED },
            signal => Hold::Stop { signal, thread: word(thread)? },
        },
        Fields::Wake { thread, core, flags } => {
            let flags = *record.body.get(RAW + flags)?;
            Hold::Wake { thread: word(thread)?, core: word(core)?, in_interrupt: flags & INTERRUPTS != 0 }
        }
        Fields::Move { hierarchy, .. } if word(hierarchy)? != 0 => return None,
        Fields::Move { thread, path, .. } => Hold::Move { thread: word(thread)?, group: text(path)? },
        Fields::Freeze { path } => Hold::Freeze(text(path)?),
        Fields::Thaw { path } => Hold::Thaw(text(path)?),
    };
    let time = Nanos(record.long(8)?.cast_signed());
    Some(HoldRecord { time, process: record.word(0)?, thread: record.word(4)?, what })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Signal, Spawn, spawn};
    use crate::scheduling::{allowed_cores, pin, process_id};
    use crate::user;

    fn sample(raw: &[u8]) -> Vec<u8> {
        let mut body = [70_u32, 71].map(u32::to_ne_bytes).concat();
        body.extend(5_u64.to_ne_bytes());
        body.extend([3_u32, 0, raw.len() as u32].map(u32::to_ne_bytes).concat());
        body.extend(raw);
        body
    }

    #[test]
    fn signals_and_groups_are_read_as_the_kernel_writes_them() {
        let of = |body: &[u8], fields| hold_of(&Record { kind: RECORD_SAMPLE, flags: 0, body }, fields);
        let signal = Fields::Signal { number: 8, code: 16, thread: 36 };
        let sent = |number: u32, code: u32| {
            let mut raw = [0; 48];
            raw[8..12].copy_from_slice(&number.to_ne_bytes());
            raw[16..20].copy_from_slice(&code.to_ne_bytes());
            raw[36..40].copy_from_slice(&9_u32.to_ne_bytes());
            of(&sample(&raw), signal).map(|found| found.what)
        };
        assert_eq!(sent(19, 0), Some(Hold::Stop { signal: 19, thread: 9 }));
        assert_eq!(sent(17, 4), Some(Hold::Trap { tracer: 9, may_be_parent: false }));
        assert_eq!(sent(17, 5), Some(Hold::Trap { tracer: 9, may_be_parent: true }));
        let mut raw = vec![0; 24];
        raw.extend((28_u32 | 4 << 16).to_ne_bytes());
        raw.extend(b"/ab\0");
        let body = sample(&raw);
        let found = of(&body, Fields::Freeze { path: 24 }).unwrap();
        assert_eq!((found.time, found.process, found.thread), (Nanos(5), 70, 71));
        assert_eq!(found.what, Hold::Freeze("/ab".to_owned()));
        assert_eq!(of(&body, Fields::Thaw { path: 24 }).unwrap().what, Hold::Thaw("/ab".to_owned()));
        for length in 0..body.len() {
            assert_eq!(of(&body[..length], Fields::Freeze { path: 24 }), None, "{length}");
        }
        let moved = |hierarchy: u32| {
            let mut raw = [hierarchy, 0, 0, 9, 20 | 4 << 16].map(u32::to_ne_bytes).concat();
            raw.extend(b"/ab\0");
            of(&sample(&raw), Fields::Move { hierarchy: 0, thread: 12, path: 16 }).map(|found| found.what)
        };
        assert_eq!(moved(0), Some(Hold::Move { thread: 9, group: "/ab".to_owned() }));
        assert_eq!(moved(1), None, "a group of version 1");
        let wake = |flags: u8| {
            let mut raw = [0; 36];
            (raw[2], raw[24], raw[32]) = (flags, 9, 1);
            let fields = Fields::Wake { thread: 24, core: 32, flags: 2 };
            (of(&sample(&raw), fields).map(|found| found.what), of(&sample(&raw)[..61], fields))
        };
        // Interrupts off (1) and a reschedule due (4) are no interrupt.
        for (flags, in_interrupt) in [(0, false), (5, false), (8, true), (0x15, true), (0x40, true)] {
            let expected = Hold::Wake { thread: 9, core: 1, in_interrupt };
            assert_eq!(wake(flags), (Some(expected), None), "{flags:#x}");
        }
    }

    #[test]
    fn many_threads_are_watched_by_ranges_of_numbers() {
        let few = BTreeSet::from([7, 9, 4_194_000]);
        assert_eq!(numbers(&few), "pid == 7 || pid == 9 || pid == 4194000");
        let many: BTreeSet<u32> = (0..2000).map(|each| 1000 + 3 * each + 1000 * (each / 700)).collect();
        let filter = numbers(&many);
        assert!(filter.matches("pid").count() <= WATCHED_MAX && filter.len() < 4096, "{filter}");
        let bound = |text: &str| text.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().unwrap();
        let ranges: Vec<(u32, u32)> = filter
            .split(" || ")
            .map(|range| match range.split_once(" && ") {
                Some((from, to)) => (bound(from), bound(to)),
                None => (bound(range), bound(range)),
            })
            .collect();
        let holds = |thread: &u32| ranges.iter().any(|(from, to)| from <= thread && thread <= to);
        assert!(many.iter().all(holds));
        assert!(!holds(&3150) && !holds(&999), "the widest gaps stay: {filter}");
    }

    #[test]
    fn who_stops_a_process_is_logged() {
        let mut log = match HoldLog::open(&allowed_cores(), &[]) {
            Ok(log) => log,
            Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
        };
        let mut what = Spawn::new("/bin/sleep");
        what.args = vec!["60".into()];
        let child = spawn(what).unwrap();
        child.pidfd.signal(Signal::STOP).unwrap();
        let stop = Hold::Stop { signal: 19, thread: child.pid };
        let found = log.drain().into_iter().find(|hold| hold.what == stop);
        assert_eq!(found.map(|hold| hold.process), Some(process_id()));
        child.pidfd.signal(Signal::KILL).unwrap();
        child.pidfd.wait().unwrap();
    }

    /// The wake-ups of the calling thread while `act` runs, where its wake-ups may be watched.
    fn wakes_of(act: impl FnOnce()) -> Option<Vec<HoldRecord>> {
        let thread = crate::scheduling::thread_id();
        // Among so many that ranges of numbers are let through.
        let watched: Vec<u32> = (0..=100).map(|each| thread + 7 * each).collect();
        let mut log = match HoldLog::open(&allowed_cores(), &watched) {
            Ok(log) => log,
            Err(refusal) => {
                eprintln!("SKIPPED: {refusal}");
                return None;
            }
        };
        // Opening the log waits for the kernel's own threads.
        let began = crate::clock::now();
        act();
        let woken = |hold: &HoldRecord| {
            hold.time > began && matches!(hold.what, Hold::Wake { thread: of, .. } if of == thread)
        };
        Some(log.drain().into_iter().filter(woken).collect())
    }

    #[test]
    fn a_watched_thread_is_seen_to_wake() {
        // On the core that is never idle meanwhile: of an idle one, some kernels record nothing.
        let core = allowed_cores()[0];
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                pin(core).unwrap();
                while is_done.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                    std::hint::spin_loop();
                }
            });
            let sleeper = scope.spawn(|| {
                pin(core).unwrap();
                wakes_of(|| {
                    for _ in 0..10 {
                        crate::clock::sleep_until(crate::clock::now() + Nanos::from_micros(300));
                    }
                })
            });
            let wakes = sleeper.join();
            drop(done);
            let Some(wakes) = wakes.unwrap() else { return };
            // A sleep whose time is over before it begins is none.
            assert!(wakes.len() >= 5, "{wakes:?}");
            let in_interrupt = |hold: &HoldRecord| matches!(hold.what, Hold::Wake { in_interrupt: true, .. });
            assert!(wakes.iter().all(in_interrupt), "{wakes:?}");
        });
    }

    fn is_asleep(thread: u32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{thread}/stat")).unwrap();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
    }

    #[test]
    fn who_wakes_a_watched_thread_on_its_core_is_seen() {
        let core = allowed_cores()[0];
        let (ready, is_ready) = std::sync::mpsc::channel();
        let (ask, asked) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            pin(core).unwrap();
            wakes_of(move || {
                ready.send(crate::scheduling::thread_id()).unwrap();
                drop(ready);
                while asked.recv().is_ok() {}
            })
        });
        let waker = std::thread::spawn(move || {
            pin(core).unwrap();
            // Nothing comes where the log cannot be had.
            let Ok(sleeper) = is_ready.recv() else { return 0 };
            for _ in 0..20 {
                while !is_asleep(sleeper) {
                    std::thread::yield_now();
                }
                ask.send(()).unwrap();
            }
            crate::scheduling::thread_id()
        });
        let waker = waker.join().unwrap();
        let Some(wakes) = sleeper.join().unwrap() else { return };
        let by_waker = |hold: &&HoldRecord| {
            hold.thread == waker && matches!(hold.what, Hold::Wake { in_interrupt: false, .. })
        };
        assert!(wakes.iter().filter(by_waker).count() >= 5, "{wakes:?}");
    }

    #[test]
    fn an_ordinary_user_is_told_what_it_takes() {
        match user::in_unprivileged_thread(|| HoldLog::open(&[0], &[]).map(|_| ())).unwrap() {
            Ok(()) => eprintln!("SKIPPED: everybody may watch signals here"),
            Err(refusal) => {
                let message = refusal.to_string();
                assert!(message.contains("root") || message.contains("perf_event_paranoid"), "{message}");
            }
        }
    }
}
