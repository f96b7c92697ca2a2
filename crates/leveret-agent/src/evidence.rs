//! What else happened on the job's cores: who ran, what faulted, when a timer expired. Kept only around instants that need explaining.

use crate::other_jobs;
use crate::thin::{Coarseness, Windows};
use leveret_os::perf::{FaultLog, SwitchLog, SwitchRecord, TimerLog, UNKNOWN_THREAD};
use leveret_os::{clock, threads_of};
use leveret_report::record::{Event, EventKind, SwitchEvent, ThreadKind, TimerInterrupt};
use leveret_types::Nanos;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Switches are remembered this long, so that a late instance can still be explained when it is read.
const MEMORY: Nanos = Nanos::from_millis(500);
/// Threads named per drain: each costs two small files to read.
const NAMES_PER_DRAIN: usize = 16;
/// What has a core, where a container hides other threads.
const IDLE_OR_UNSEEN: &str = "the idle task or a thread that cannot be seen from this container";
/// A reading of the logs this long after the one before is noted: the agent was stopped, or kept from running.
const READ_LATE: Nanos = Nanos::from_millis(200);
/// What a switch and a timer interrupt take, in the maps here and as they are recorded.
const SWITCH_BYTES: usize = 2 * size_of::<SwitchEvent>();
const TIMER_BYTES: usize = 4 * size_of::<TimerInterrupt>();
/// Page faults and losses of evidence that are kept.
const FAULTS_MAX: usize = 65_536;
/// Kept before and after a suspicious instant.
const MARGIN: Nanos = Nanos::from_micros(500);

/// What was kept of a phase, in order of time.
pub(crate) struct Found {
    pub(crate) switches: Vec<SwitchEvent>,
    pub(crate) timers: Vec<TimerInterrupt>,
    /// Page faults and losses of evidence.
    pub(crate) events: Vec<Event>,
}

/// Logs over one phase.
pub(crate) struct Evidence {
    logs: Vec<SwitchLog>,
    timers: Vec<TimerLog>,
    faults: Vec<(u16, FaultLog)>,
    recent: VecDeque<SwitchRecord>,
    recent_timers: VecDeque<(Nanos, u32)>,
    kept: BTreeMap<(Nanos, u32), SwitchRecord>,
    kept_timers: BTreeSet<(Nanos, u32)>,
    coarseness: Coarseness,
    events: Vec<Event>,
    /// When the logs were read last, and what they had lost by then.
    drained: (Nanos, u64),
    threads: BTreeMap<u32, (ThreadKind, String)>,
    epoch: Nanos,
    /// The job's own, by which its members are told from those of other jobs.
    socket: PathBuf,
    pub(crate) whole_core: bool,
}

impl Evidence {
    /// Opens the logs: of whole cores where that is allowed, else of our own threads. Returns why not, if so.
    pub(crate) fn open(
        cores: &[u32],
        tasks: &[(u16, u32)],
        epoch: Nanos,
        socket: &Path,
    ) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let whole: Result<Vec<_>, _> = cores.iter().map(|core| SwitchLog::open_core(*core)).collect();
        let (logs, whole_core) = match whole {
            Ok(logs) => (logs, true),
            Err(error) => {
                warnings.push(error.to_string());
                (tasks.iter().filter_map(|(_, thread)| SwitchLog::open_thread(*thread).ok()).collect(), false)
            }
        };
        // Who may watch whole cores may as a rule watch their timers; for anybody else that goes without saying.
        let watched = if whole_core { cores } else { &[] };
        let mut timers = Vec::new();
        for core in watched {
            match TimerLog::open_core(*core) {
                Ok(log) => timers.push(log),
                Err(error) => warnings.push(error.to_string()),
            }
        }
        let mut faults = Vec::new();
        for (task, thread) in tasks {
            match FaultLog::open_thread(*thread) {
                Ok(log) => faults.push((*task, log)),
                Err(error) => warnings.push(error.to_string()),
            }
        }
        warnings.sort();
        warnings.dedup();
        let threads =
            tasks.iter().map(|(task, thread)| (*thread, (ThreadKind::Task(*task), String::new()))).collect();
        let evidence = Self {
            logs,
            timers,
            faults,
            recent: VecDeque::new(),
            recent_timers: VecDeque::new(),
            kept: BTreeMap::new(),
            kept_timers: BTreeSet::new(),
            coarseness: Coarseness::default(),
            events: Vec::new(),
            drained: (clock::now(), 0),
            threads,
            epoch,
            socket: socket.to_owned(),
            whole_core,
        };
        (evidence, warnings)
    }

    /// Takes in what the kernel has logged since the last time.
    pub(crate) fn drain(&mut self) {
        let recent = &mut self.recent;
        for log in &mut self.logs {
            log.drain(|record| recent.push_back(record));
        }
        recent.make_contiguous().sort_by_key(|record| (record.time, record.core));
        self.name_fresh();
        let recent_timers = &mut self.recent_timers;
        for log in &mut self.timers {
            let core = log.core();
            log.drain(|at| recent_timers.push_back((at, core)));
        }
        recent_timers.make_contiguous().sort_unstable();
        let epoch = self.epoch;
        for (task, log) in &mut self.faults {
            log.drain(|fault| {
                if fault.time >= epoch {
                    let kind = EventKind::PageFault { task: *task, address: fault.address };
                    self.events.push(Event { at: fault.time - epoch, kind });
                }
            });
        }
        self.note_losses();
    }

    /// Where records were dropped, or threads may have ended long before they could be asked for their names, the
    /// verdict must know that it does not see everything, and since when.
    fn note_losses(&mut self) {
        let (now, lost) = (clock::now(), self.lost());
        let (since, before) = std::mem::replace(&mut self.drained, (now, lost));
        if lost > before || now - since > READ_LATE {
            let kind = EventKind::EvidenceLost { since: since - self.epoch, records: lost - before };
            self.events.push(Event { at: now - self.epoch, kind });
        }
    }

    /// Names the threads of the latest switches while they live.
    fn name_fresh(&mut self) {
        let fresh: Vec<u32> = self.recent.iter().rev().map(|record| record.tid_to).collect();
        let mut asked = 0;
        for thread in fresh {
            if asked < NAMES_PER_DRAIN && !self.threads.contains_key(&thread) {
                self.name(thread);
                asked += 1;
            }
        }
    }

    /// Keeps the switches between two instants (of the monotonic clock), with a margin, and names the threads.
    pub(crate) fn keep(&mut self, from: Nanos, until: Nanos) {
        let (from, until) = (from - MARGIN, until + MARGIN);
        let first = self.recent.partition_point(|record| record.time < from);
        // One switch before the window tells who had the core when it opened.
        let before: Vec<SwitchRecord> = self.cores_before(first);
        let within = self.recent.range(first..).take_while(|record| record.time <= until).copied();
        let chosen: Vec<SwitchRecord> = before.into_iter().chain(within).collect();
        let others: BTreeSet<u32> = chosen.iter().map(|record| record.tid_to).collect();
        others.into_iter().for_each(|thread| self.rank_again(thread));
        for record in chosen {
            self.name(record.tid_to);
            self.kept.insert((record.time, record.core), record);
        }
        let first = self.recent_timers.partition_point(|(at, _)| *at < from);
        self.kept_timers.extend(self.recent_timers.range(first..).take_while(|(at, _)| *at <= until));
    }

    fn cores_before(&self, first: usize) -> Vec<SwitchRecord> {
        let mut last: BTreeMap<u32, SwitchRecord> = BTreeMap::new();
        for record in self.recent.range(..first).rev().take(256) {
            last.entry(record.core).or_insert(*record);
        }
        last.into_values().collect()
    }

    /// Forgets what is too old to matter.
    pub(crate) fn forget(&mut self, now: Nanos) {
        while self.recent.front().is_some_and(|record| record.time < now - MEMORY) {
            self.recent.pop_front();
        }
        while self.recent_timers.front().is_some_and(|(at, _)| *at < now - MEMORY) {
            self.recent_timers.pop_front();
        }
    }

    /// Leaves out what lies around no miss when it takes more than `capacity` bytes, and then what lies around every other miss,
    /// again and again.
    pub(crate) fn thin(&mut self, windows: &Windows, capacity: usize) {
        let epoch = self.epoch;
        self.events.truncate(FAULTS_MAX);
        while self.kept.len() * SWITCH_BYTES + self.kept_timers.len() * TIMER_BYTES > capacity {
            let coarseness = self.coarseness;
            self.kept.retain(|(at, _), _| coarseness.keeps_log(*at - epoch, windows));
            self.kept_timers.retain(|(at, _)| coarseness.keeps_log(*at - epoch, windows));
            if self.kept.len() * SWITCH_BYTES + self.kept_timers.len() * TIMER_BYTES > capacity / 2
                && !self.coarseness.give_up_half()
            {
                // So much lies around the first misses alone: the earliest of it stays.
                let latest = self.kept.keys().nth(capacity / 4 / SWITCH_BYTES).copied();
                latest.into_iter().for_each(|latest| drop(self.kept.split_off(&latest)));
                let latest = self.kept_timers.iter().nth(capacity / 4 / TIMER_BYTES).copied();
                latest.into_iter().for_each(|latest| drop(self.kept_timers.split_off(&latest)));
            }
        }
    }

    fn name(&mut self, thread: u32) {
        if self.threads.contains_key(&thread) {
            return;
        }
        let known = match thread {
            0 if threads_of::are_all_visible() => (ThreadKind::Idle, "idle".to_owned()),
            // The kernel shows threads of other process namespaces by the same number.
            0 => (ThreadKind::Idle, IDLE_OR_UNSEEN.to_owned()),
            UNKNOWN_THREAD => (ThreadKind::Unknown, String::new()),
            _ => match threads_of::about(thread) {
                Ok(found) if found.kernel => (ThreadKind::Kernel, found.name),
                // Of the job, though no task: not another process's doing.
                Ok(found) if other_jobs::is_own(&self.socket, thread) => (ThreadKind::Unknown, found.name),
                Ok(found) => {
                    let kind = ThreadKind::Foreign { priority: found.priority };
                    (kind, other_jobs::named(&self.socket, thread, found.name))
                }
                Err(_) => (ThreadKind::Unknown, String::new()),
            },
        };
        self.threads.insert(thread, known);
    }

    /// A foreign thread may have been raised (`chrt`) since it was asked: the highest rank that it was seen to have counts.
    fn rank_again(&mut self, thread: u32) {
        if let Some((ThreadKind::Foreign { priority }, _)) = self.threads.get_mut(&thread)
            && let Ok(found) = threads_of::about(thread)
        {
            *priority = found.priority.max(*priority);
        }
    }

    /// Records that the kernel dropped because they were not read in time.
    pub(crate) fn lost(&self) -> u64 {
        let switches: u64 = self.logs.iter().map(SwitchLog::lost).sum();
        let timers: u64 = self.timers.iter().map(TimerLog::lost).sum();
        switches + timers + self.faults.iter().map(|(_, log)| log.lost()).sum::<u64>()
    }

    /// Everything that was kept, in order of time.
    pub(crate) fn finish(self) -> Found {
        let epoch = self.epoch;
        let switches = self
            .kept
            .into_values()
            .map(|record| {
                let (to_kind, to_name) =
                    self.threads.get(&record.tid_to).cloned().unwrap_or((ThreadKind::Unknown, String::new()));
                SwitchEvent {
                    at: record.time - epoch,
                    core: record.core,
                    from: record.tid_from,
                    to: record.tid_to,
                    preempted: record.preempted,
                    to_kind,
                    to_name,
                }
            })
            .collect();
        let timers =
            self.kept_timers.into_iter().map(|(at, core)| TimerInterrupt { at: at - epoch, core }).collect();
        Found { switches, timers, events: self.events }
    }
}
