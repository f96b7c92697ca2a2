//! What else happened on the job's cores: who ran, what faulted, when a timer expired. Kept only around instants that need explaining.

use crate::changes::Changes;
use crate::other_jobs::{self, OWN_THREADS};
use crate::thin::{Coarseness, Windows};
use leveret_os::perf::{self, FaultLog, SwitchLog, SwitchRecord, TimerLog, UNKNOWN_THREAD};
use leveret_os::{clock, threads_of};
use leveret_report::journal::Growth;
use leveret_report::record::{Event, EventKind, Left, SwitchEvent, ThreadKind, TimerInterrupt};
use leveret_types::Nanos;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::path::{Path, PathBuf};

/// Switches are remembered this long: a task that is kept from its core leaves no stamp until it is given back.
const MEMORY: Nanos = Nanos::from_secs(10);
/// And no more of them than this, 2 MiB.
const RECENT_MOST: usize = 1 << 16;
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
/// Switches among which the last one of each core is looked for.
const CORES_LOOKED_BACK: usize = 256;
/// Threads of which the name is remembered; of more, only those of what is kept.
const THREADS_MAX: usize = 8192;
/// Kept before and after a suspicious instant.
const MARGIN: Nanos = Nanos::from_micros(500);

/// What was kept of a phase, in order of time.
pub(crate) struct Found {
    pub(crate) switches: Vec<SwitchEvent>,
    pub(crate) timers: Vec<TimerInterrupt>,
    /// Page faults and losses of evidence.
    pub(crate) events: Vec<Event>,
}

/// What a journal has not been given.
pub(crate) struct Unsaved {
    is_noted: bool,
    switches: Changes<(Nanos, u32)>,
    timers: Changes<(Nanos, u32)>,
    events: Vec<Event>,
    /// Threads of which more is known than before.
    threads: BTreeSet<u32>,
}

impl Unsaved {
    fn new(is_noted: bool) -> Self {
        let (switches, timers) = (Changes::new(is_noted), Changes::new(is_noted));
        Self { is_noted, switches, timers, events: Vec::new(), threads: BTreeSet::new() }
    }
}

/// Logs over one phase.
pub(crate) struct Evidence {
    logs: Vec<SwitchLog>,
    timers: Vec<TimerLog>,
    faults: Vec<(u16, FaultLog)>,
    recent: VecDeque<SwitchRecord>,
    recent_timers: VecDeque<(Nanos, u32)>,
    /// The last that was forgotten although it was not old, and how many such there were.
    forgotten: (Nanos, u64),
    kept: BTreeMap<(Nanos, u32), SwitchRecord>,
    kept_timers: BTreeSet<(Nanos, u32)>,
    coarseness: Coarseness,
    events: Vec<Event>,
    /// Since the journal was given its share.
    unsaved: Unsaved,
    /// When the logs were read last, and what they had lost by then.
    drained: (Nanos, u64),
    threads: BTreeMap<u32, (ThreadKind, String)>,
    /// Asked for their rank since the log was last read.
    ranked: BTreeSet<u32>,
    epoch: Nanos,
    /// The job's own, by which its members are told from those of other jobs.
    socket: PathBuf,
    /// Those of the tasks: a thread that ended before it could be asked is known by them.
    processes: BTreeSet<u32>,
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
            forgotten: (Nanos(i64::MIN), 0),
            kept: BTreeMap::new(),
            kept_timers: BTreeSet::new(),
            coarseness: Coarseness::default(),
            events: Vec::new(),
            unsaved: Unsaved::new(false),
            drained: (clock::now(), 0),
            threads,
            ranked: BTreeSet::new(),
            epoch,
            socket: socket.to_owned(),
            processes: tasks.iter().filter_map(|(_, thread)| threads_of::process_of(*thread)).collect(),
            whole_core,
        };
        (evidence, warnings)
    }

    /// Starts or stops recording changes for the journal.
    pub(crate) fn note_changes(&mut self, is_noted: bool) {
        self.unsaved = Unsaved::new(is_noted);
    }

    /// Changes that the journal has not been given.
    pub(crate) fn changes(&self) -> usize {
        self.unsaved.switches.count() + self.unsaved.timers.count() + self.unsaved.events.len()
    }

    /// What has come since the last time, into a growth.
    pub(crate) fn grow(&mut self, growth: &mut Growth) {
        let known_better = std::mem::take(&mut self.unsaved.threads);
        if !known_better.is_empty() {
            let of_these = self.kept.iter().filter(|(_, record)| known_better.contains(&record.tid_to));
            of_these.for_each(|(key, _)| self.unsaved.switches.put(*key));
        }
        let (fresh, dropped) = self.unsaved.switches.take();
        growth.switches = fresh.iter().filter_map(|key| self.switch(*key)).collect();
        growth.switches_dropped = dropped.into_iter().map(|(at, core)| (at - self.epoch, core)).collect();
        let (fresh, dropped) = self.unsaved.timers.take();
        let kept = fresh.into_iter().filter(|timer| self.kept_timers.contains(timer));
        growth.timers = kept.map(|(at, core)| TimerInterrupt { at: at - self.epoch, core }).collect();
        growth.timers_dropped = dropped.into_iter().map(|(at, core)| (at - self.epoch, core)).collect();
        growth.events.append(&mut self.unsaved.events);
    }

    fn happened(&mut self, event: Event) {
        if self.unsaved.is_noted {
            self.unsaved.events.push(event.clone());
        }
        self.events.push(event);
    }

    /// Takes in what the kernel has logged since the last time.
    pub(crate) fn drain(&mut self) {
        self.ranked.clear();
        let mut fresh = Vec::new();
        for log in &mut self.logs {
            log.drain(|record| fresh.push(record));
        }
        self.name_fresh(&fresh);
        insert(&mut self.recent, fresh, |record| (record.time, record.core));
        let mut fresh = Vec::new();
        for log in &mut self.timers {
            let core = log.core();
            log.drain(|at| fresh.push((at, core)));
        }
        insert(&mut self.recent_timers, fresh, |timer| *timer);
        let (epoch, mut faults) = (self.epoch, Vec::new());
        for (task, log) in &mut self.faults {
            log.drain(|fault| {
                if fault.time >= epoch {
                    let kind = EventKind::PageFault { task: *task, address: fault.address };
                    faults.push(Event { at: fault.time - epoch, kind });
                }
            });
        }
        faults.into_iter().for_each(|fault| self.happened(fault));
        self.note_losses();
    }

    /// Where records were dropped, or threads may have ended long before they could be asked for their names, the
    /// verdict must know that it does not see everything, and since when.
    fn note_losses(&mut self) {
        let (now, lost) = (clock::now(), self.lost());
        let (since, before) = std::mem::replace(&mut self.drained, (now, lost));
        if lost > before || now - since > READ_LATE {
            let kind = EventKind::EvidenceLost { since: since - self.epoch, records: lost - before };
            self.happened(Event { at: now - self.epoch, kind });
        }
    }

    /// Names the threads of the latest switches while they live.
    fn name_fresh(&mut self, fresh: &[SwitchRecord]) {
        let mut asked = 0;
        // Waking channels make a thousand switches in a millisecond, between the same few threads.
        let mut latest = [UNKNOWN_THREAD; 4];
        for (thread, process) in fresh.iter().rev().map(|record| (record.tid_to, record.pid_to)) {
            if latest.contains(&thread) {
                continue;
            }
            latest.rotate_right(1);
            latest[0] = thread;
            if asked < NAMES_PER_DRAIN && !self.threads.contains_key(&thread) {
                self.name(thread, process);
                asked += 1;
            }
        }
    }

    /// Keeps the switches between two instants (of the monotonic clock), with a margin, and names the threads. Of `thread` also that with which
    /// it left its core before.
    pub(crate) fn keep(&mut self, thread: u32, from: Nanos, until: Nanos) {
        let (from, until) = (from - MARGIN, until + MARGIN);
        let (last, count) = self.forgotten;
        if from <= last {
            let kind = EventKind::EvidenceLost { since: from - self.epoch, records: count };
            self.happened(Event { at: last - self.epoch, kind });
            self.forgotten.1 = 0;
        }
        let first = self.recent.partition_point(|record| record.time < from);
        // One switch before the window tells who had the core when it opened.
        let mut before: Vec<SwitchRecord> = self.cores_before(first);
        before.extend(self.left_before(thread, first));
        let within = self.recent.range(first..).take_while(|record| record.time <= until).copied();
        let chosen: Vec<SwitchRecord> = before.into_iter().chain(within).collect();
        unranked(&chosen).into_iter().for_each(|thread| self.rank_again(thread));
        for record in chosen {
            self.name(record.tid_to, record.pid_to);
            let key = (record.time, record.core);
            if self.kept.insert(key, record).is_none() {
                self.unsaved.switches.put(key);
                // This one tells with which rank the one before it left.
                let before = self
                    .kept
                    .range(..key)
                    .rev()
                    .take(CORES_LOOKED_BACK)
                    .find(|((_, core), _)| *core == key.1);
                before.into_iter().for_each(|(key, _)| self.unsaved.switches.put(*key));
            }
        }
        let first = self.recent_timers.partition_point(|(at, _)| *at < from);
        for timer in self.recent_timers.range(first..).take_while(|(at, _)| *at <= until) {
            if self.kept_timers.insert(*timer) {
                self.unsaved.timers.put(*timer);
            }
        }
    }

    fn cores_before(&self, first: usize) -> Vec<SwitchRecord> {
        let mut last: BTreeMap<u32, SwitchRecord> = BTreeMap::new();
        for record in self.recent.range(..first).rev().take(CORES_LOOKED_BACK) {
            last.entry(record.core).or_insert(*record);
        }
        last.into_values().collect()
    }

    fn left_before(&self, thread: u32, first: usize) -> Option<SwitchRecord> {
        const FAR: usize = 1 << 13;
        self.recent.range(..first).rev().take(FAR).find(|record| record.tid_from == thread).copied()
    }

    /// Forgets what is too old to matter.
    pub(crate) fn forget(&mut self, now: Nanos) {
        let old = now - MEMORY;
        let switches = forget(&mut self.recent, old, |record| record.time);
        let timers = forget(&mut self.recent_timers, old, |(at, _)| *at);
        let (last, count) = self.forgotten;
        self.forgotten = (last.max(switches.0).max(timers.0), count + switches.1 + timers.1);
    }

    /// Leaves out what lies around no miss when it takes more than `capacity` bytes, and then what lies around every other miss,
    /// again and again.
    pub(crate) fn thin(&mut self, windows: &Windows, capacity: usize) {
        let epoch = self.epoch;
        self.thin_events(windows);
        self.forget_threads();
        while self.kept.len() * SWITCH_BYTES + self.kept_timers.len() * TIMER_BYTES > capacity {
            let coarseness = self.coarseness;
            self.leave_out(|at| coarseness.keeps_log(at - epoch, windows));
            if self.kept.len() * SWITCH_BYTES + self.kept_timers.len() * TIMER_BYTES > capacity / 2
                && !self.coarseness.give_up_half()
            {
                // So much lies around the first misses alone: the earliest of it stays.
                let switch = self.kept.keys().nth(capacity / 4 / SWITCH_BYTES).copied();
                let timer = self.kept_timers.iter().nth(capacity / 4 / TIMER_BYTES).copied();
                let earlier = [switch, timer].into_iter().flatten().map(|(at, _)| at).min();
                self.leave_out(|at| earlier.is_some_and(|earlier| at < earlier));
            }
        }
    }

    /// Keeps the switches and timers of some instants only.
    fn leave_out(&mut self, keeps: impl Fn(Nanos) -> bool) {
        let Unsaved { switches, timers, .. } = &mut self.unsaved;
        self.kept.extract_if(.., |(at, _), _| !keeps(*at)).for_each(|(key, _)| switches.drop(key));
        self.kept_timers.extract_if(.., |(at, _)| !keeps(*at)).for_each(|key| timers.drop(key));
    }

    /// Bounds the events: keeps the page faults around misses, the earliest first, and joins losses of evidence.
    fn thin_events(&mut self, windows: &Windows) {
        if self.events.len() <= FAULTS_MAX {
            return;
        }
        let is_loss = |event: &Event| matches!(event.kind, EventKind::EvidenceLost { .. });
        self.events.retain(|event| is_loss(event) || windows.holds(event.at));
        let mut faults = 0;
        self.events.retain(|event| {
            faults += usize::from(!is_loss(event));
            is_loss(event) || faults <= FAULTS_MAX / 2
        });
        if self.events.len() > FAULTS_MAX {
            self.events = joined(std::mem::take(&mut self.events));
        }
    }

    /// Names are kept of what the record needs.
    fn forget_threads(&mut self) {
        if self.threads.len() <= THREADS_MAX {
            return;
        }
        let kept = self.kept.values().chain(&self.recent);
        let needed: BTreeSet<u32> = kept.flat_map(|record| [record.tid_from, record.tid_to]).collect();
        self.threads
            .retain(|thread, (kind, _)| matches!(kind, ThreadKind::Task(_)) || needed.contains(thread));
    }

    fn name(&mut self, thread: u32, process: u32) {
        if !self.threads.contains_key(&thread) {
            self.threads.insert(thread, about(&self.socket, thread, process));
        }
    }

    /// A foreign thread may have been raised (`chrt`) since it was asked: the highest rank that it was seen to have counts. Asked once
    /// between two looks at the log: each time costs the agent's core tens of microseconds, and many instances may be late at once.
    fn rank_again(&mut self, thread: u32) {
        if !self.ranked.insert(thread) {
            return;
        }
        if let Some((ThreadKind::Foreign { priority }, _)) = self.threads.get_mut(&thread)
            && let Ok(found) = threads_of::about(thread)
        {
            if found.priority > *priority {
                self.unsaved.threads.insert(thread);
            }
            *priority = found.priority.max(*priority);
        }
    }

    /// Records that the kernel dropped because they were not read in time.
    pub(crate) fn lost(&self) -> u64 {
        let switches: u64 = self.logs.iter().map(SwitchLog::lost).sum();
        let timers: u64 = self.timers.iter().map(TimerLog::lost).sum();
        switches + timers + self.faults.iter().map(|(_, log)| log.lost()).sum::<u64>()
    }

    /// A switch that is kept, with what is known of the thread that came.
    fn switch(&self, key: (Nanos, u32)) -> Option<SwitchEvent> {
        let record = self.kept.get(&key)?;
        let known = self.threads.get(&record.tid_to).cloned();
        let (mut to_kind, to_name) = as_it_was(record, known.unwrap_or((ThreadKind::Unknown, String::new())));
        // What a thread had been raised to by the time that it left counts for all of its stay.
        let after = (Bound::Excluded(key), Bound::Unbounded);
        let next = self.kept.range(after).find(|((_, core), _)| *core == record.core);
        if let (ThreadKind::Foreign { priority }, Some((_, left))) = (&mut to_kind, next)
            && left.tid_from == record.tid_to
        {
            *priority = left.from_rank.unwrap_or(0).max(*priority);
        }
        if self.processes.contains(&record.pid_to) {
            to_kind = of_own_process(to_kind);
        }
        Some(SwitchEvent {
            at: record.time - self.epoch,
            core: record.core,
            from: record.tid_from,
            to: record.tid_to,
            left: left(record),
            to_kind,
            to_process: (record.pid_to != UNKNOWN_THREAD && record.pid_to != 0).then_some(record.pid_to),
            to_name,
        })
    }

    /// Everything that was kept, in order of time.
    pub(crate) fn finish(self) -> Found {
        let epoch = self.epoch;
        let switches = self.kept.keys().filter_map(|key| self.switch(*key)).collect();
        let timers = self
            .kept_timers
            .iter()
            .map(|(at, core)| TimerInterrupt { at: *at - epoch, core: *core })
            .collect();
        Found { switches, timers, events: self.events }
    }
}

/// What a thread is, and its name, as it and its process can be asked now.
fn about(socket: &Path, thread: u32, process: u32) -> (ThreadKind, String) {
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

/// Threads that came with a rank that the log does not tell.
fn unranked(records: &[SwitchRecord]) -> BTreeSet<u32> {
    records.iter().filter(|record| record.to_rank.is_none()).map(|record| record.tid_to).collect()
}

/// In what state the one that left did so.
fn left(record: &SwitchRecord) -> Left {
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

/// Two losses of evidence become one that lasts as long as both and what lies between them.
fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut kept: Vec<Event> = Vec::with_capacity(events.len());
    let mut open = false;
    for event in events {
        let (EventKind::EvidenceLost { records, .. }, Some(before)) = (&event.kind, kept.last_mut()) else {
            open = false;
            kept.push(event);
            continue;
        };
        match &mut before.kind {
            EventKind::EvidenceLost { records: sum, .. } if open => {
                *sum = sum.saturating_add(*records);
                before.at = event.at;
                open = false;
            }
            _ => {
                open = true;
                kept.push(event);
            }
        }
    }
    kept
}

/// The kernel's workers come and go; anything else that ended before it could be asked was a process's.
const WORKERS: &str = "kworker/";

/// What is known of the thread that came, with rank and name as they were then where the log has them.
fn as_it_was(record: &SwitchRecord, (kind, name): (ThreadKind, String)) -> (ThreadKind, String) {
    let (Some(priority), Some(was)) = (record.to_rank, record.name()) else { return (kind, name) };
    match kind {
        ThreadKind::Foreign { .. } => {
            (ThreadKind::Foreign { priority }, if name.is_empty() { was } else { name })
        }
        ThreadKind::Own { .. } => (ThreadKind::Own { priority }, name),
        ThreadKind::Unknown if was.starts_with(WORKERS) || was.starts_with(OWN_THREADS) => (kind, was),
        ThreadKind::Unknown => (ThreadKind::Foreign { priority }, was),
        _ => (kind, name),
    }
}

/// A thread of a process of the job, which may have ended before it could be asked whose it is.
fn of_own_process(kind: ThreadKind) -> ThreadKind {
    match kind {
        ThreadKind::Foreign { priority } => ThreadKind::Own { priority },
        ThreadKind::Unknown => ThreadKind::Own { priority: 0 },
        _ => kind,
    }
}

/// Puts what has just come among the rest, in order. The logs of several cores are read one after the other, so only
/// the last of the rest can come after the first of these.
fn insert<T, K: Ord>(rest: &mut VecDeque<T>, mut fresh: Vec<T>, key: impl Fn(&T) -> K) {
    let Some(first) = fresh.iter().map(&key).min() else { return };
    fresh.extend(rest.drain(rest.partition_point(|each| key(each) <= first)..));
    fresh.sort_by_key(key);
    rest.extend(fresh);
}

/// Drops what is old, and what is too much: of the latter the time of the last, and how many.
fn forget<T>(rest: &mut VecDeque<T>, old: Nanos, time: impl Fn(&T) -> Nanos) -> (Nanos, u64) {
    rest.drain(..rest.partition_point(|each| time(each) < old));
    let surplus = rest.len().saturating_sub(RECENT_MOST);
    let last = rest.drain(..surplus).last();
    (last.map_or(Nanos(i64::MIN), |last| time(&last)), surplus as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_rank_and_name_that_it_had_then() {
        let mut name = [0; 16];
        name[..3].copy_from_slice(b"hog");
        let left = leveret_os::perf::Left::Asleep;
        let record = |to_rank: Option<u8>| SwitchRecord {
            time: Nanos(1),
            core: 0,
            tid_from: 0,
            tid_to: 7,
            pid_to: 7,
            preempted: false,
            left,
            from_rank: to_rank,
            to_rank,
            to_name: to_rank.map(|_| name),
        };
        let (gone, asked) = (ThreadKind::Unknown, ThreadKind::Foreign { priority: 0 });
        let hog = |priority| (ThreadKind::Foreign { priority }, "hog".to_owned());
        // A rank in the log needs no look at /proc.
        assert!(unranked(&[record(Some(50)), record(Some(0))]).is_empty());
        assert_eq!(unranked(&[record(Some(50)), record(None), record(None)]), BTreeSet::from([7]));
        assert_eq!(as_it_was(&record(Some(50)), (gone, String::new())), hog(50));
        assert_eq!(as_it_was(&record(Some(50)), (asked, "hog".to_owned())), hog(50));
        assert_eq!(as_it_was(&record(None), (asked, "hog".to_owned())), hog(0));
        assert_eq!(as_it_was(&record(None), (gone, String::new())), (gone, String::new()));
        let own = |priority| (ThreadKind::Own { priority }, "helper".to_owned());
        assert_eq!(as_it_was(&record(Some(5)), own(0)), own(5));
        // One that nobody could ask is the job's by its process.
        let (ended, _) = as_it_was(&record(Some(95)), (gone, String::new()));
        assert_eq!(of_own_process(ended), ThreadKind::Own { priority: 95 });
        assert_eq!(of_own_process(ThreadKind::Task(1)), ThreadKind::Task(1));
        let kernel = (ThreadKind::Kernel, "migration/0".to_owned());
        assert_eq!(as_it_was(&record(Some(99)), kernel.clone()), kernel);
    }

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
    fn records_of_several_cores_come_into_order() {
        let mut rest = VecDeque::from([1, 4, 6]);
        insert(&mut rest, vec![9, 5, 7], |each| *each);
        insert(&mut rest, Vec::new(), |each| *each);
        assert_eq!(rest, [1, 4, 5, 6, 7, 9]);
    }

    #[test]
    fn what_is_old_goes_unsaid_and_what_is_too_much_is_counted() {
        let mut rest: VecDeque<Nanos> = (0..RECENT_MOST as i64 + 10).map(Nanos).collect();
        assert_eq!(forget(&mut rest, Nanos(4), |at| *at), (Nanos(9), 6));
        assert_eq!((rest.len(), rest[0]), (RECENT_MOST, Nanos(10)));
        assert_eq!(forget(&mut rest, Nanos(4), |at| *at), (Nanos(i64::MIN), 0));
    }
}
