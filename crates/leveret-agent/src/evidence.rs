//! What else happened on the job's cores: who ran, what faulted, when a timer expired. Kept only around instants that need explaining.

use crate::changes::Changes;
use crate::other_jobs::{self, OWN_THREADS};
use crate::recent::Recent;
use crate::thin::{Coarseness, Windows};
use leveret_os::perf::{self, FaultLog, SwitchLog, SwitchRecord, TimerLog, UNKNOWN_THREAD};
use leveret_os::{clock, scheduling, threads_of};
use leveret_report::journal::Growth;
use leveret_report::record::{
    AWAKE_THREADS, Event, EventKind, Left, SwitchEvent, ThreadKind, TimerInterrupt,
};
use leveret_types::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};

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
/// Switches that are kept among which the one before on the same core is looked for.
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
    recent: Recent<SwitchRecord>,
    recent_timers: Recent<(Nanos, u32)>,
    /// What was kept since the log was last read: of instances that are late together each tells of nearly the same time.
    kept_span: Option<(Nanos, Nanos)>,
    /// What was last noted as forgotten.
    noted_forgotten: Option<(Nanos, Nanos)>,
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
        let whole: Result<Vec<_>, _> =
            cores.iter().map(|core| SwitchLog::open_core(*core, cores.len())).collect();
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
            recent: Recent::new(),
            recent_timers: Recent::new(),
            kept_span: None,
            noted_forgotten: None,
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

    /// Takes in what the kernel has logged since the last time; while much happens, only where what happened since `wanted` is about to be kept.
    pub(crate) fn drain(&mut self, wanted: Option<Nanos>) {
        self.ranked.clear();
        self.kept_span = None;
        let wanted = wanted.map(|from| from - MARGIN);
        let mut fresh = Vec::new();
        for log in &mut self.logs {
            let left_out = log.read(clock::now(), wanted, |record| fresh.push(record));
            if let (Some(core), Some(until)) = (log.core(), left_out) {
                self.recent.forget_core(core, until);
            }
        }
        self.name_fresh(&fresh);
        self.recent.insert(fresh);
        let mut fresh = Vec::new();
        for log in &mut self.timers {
            let core = log.core();
            log.drain(|at| fresh.push((at, core)));
        }
        self.recent_timers.insert(fresh);
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
        let lost_since = self.logs.iter_mut().filter_map(SwitchLog::lost_since).min();
        if lost > before || now - since > READ_LATE {
            let since = lost_since.map_or(since, |lost_since| lost_since.min(since));
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
        let left = self.recent.last_such(from, |record| record.tid_from == thread);
        let mut chosen = Vec::from_iter(left);
        self.note_forgotten(left.map(|left| left.core), from);
        let rest = match self.kept_span {
            Some((first, last)) if first <= from && from <= last => {
                self.kept_span = Some((first, last.max(until)));
                last
            }
            _ => {
                // One switch before the window tells who had the core when it opened.
                chosen.extend(self.recent.last_before(from));
                self.kept_span = Some((from, until));
                from
            }
        };
        chosen.extend(self.recent.within(rest, until));
        self.keep_timers(rest, until);
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
    }

    fn keep_timers(&mut self, from: Nanos, until: Nanos) {
        for timer in self.recent_timers.within(from, until) {
            if self.kept_timers.insert(*timer) {
                self.unsaved.timers.put(*timer);
            }
        }
    }

    /// Where records of a core, on which a thread waited from `from` on, were more than are remembered, the verdict must know.
    fn note_forgotten(&mut self, core: Option<u32>, from: Nanos) {
        let forgotten =
            [self.recent.forgotten_until(from, core), self.recent_timers.forgotten_until(from, core)];
        let Some(until) = forgotten.into_iter().flatten().max() else { return };
        let is_noted = |(first, last): (Nanos, Nanos)| first <= from && until <= last;
        if !self.noted_forgotten.is_some_and(is_noted) {
            self.noted_forgotten = Some((from, until));
            let kind = EventKind::EvidenceForgotten { since: from - self.epoch };
            self.happened(Event { at: until - self.epoch, kind });
        }
    }

    /// Forgets what is too old, or too much.
    pub(crate) fn forget(&mut self, now: Nanos) {
        self.recent.forget(now);
        self.recent_timers.forget(now);
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
        let is_loss = |event: &Event| {
            matches!(event.kind, EventKind::EvidenceLost { .. } | EventKind::EvidenceForgotten { .. })
        };
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
        let kept = self.kept.values().chain(self.recent.iter());
        let needed: BTreeSet<u32> = kept.flat_map(|record| [record.tid_from, record.tid_to]).collect();
        self.threads
            .retain(|thread, (kind, _)| matches!(kind, ThreadKind::Task(_)) || needed.contains(thread));
    }

    fn name(&mut self, thread: u32, process: u32) {
        if !self.threads.contains_key(&thread) {
            self.threads.insert(thread, about(&self.socket, thread, process));
        }
    }

    /// A foreign thread may have been raised (`chrt`), or have become another program, since it was asked: the highest rank that it was seen to
    /// have counts, and its last name. Asked once between two looks at the log: each time costs the agent's core tens of microseconds, and many instances may be late at once.
    fn rank_again(&mut self, thread: u32) {
        if !self.ranked.insert(thread) {
            return;
        }
        if let Some((ThreadKind::Foreign { priority }, name)) = self.threads.get_mut(&thread)
            && let Ok(found) = threads_of::about(thread)
        {
            let now = (found.priority.max(*priority), other_jobs::renamed(name.clone(), &found.name));
            if now != (*priority, name.clone()) {
                self.unsaved.threads.insert(thread);
            }
            (*priority, *name) = now;
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
        // What a thread had been raised to, or had become, by the time that it left counts for all of its stay.
        let after = (Bound::Excluded(key), Bound::Unbounded);
        let next = self.kept.range(after).find(|((_, core), _)| *core == record.core);
        let left_as = next.map(|(_, next)| next).filter(|next| next.tid_from == record.tid_to);
        let name = left_as.and_then(SwitchRecord::name_from).or_else(|| record.name_to());
        let known = known.unwrap_or((ThreadKind::Unknown, String::new()));
        let (mut to_kind, to_name) = as_it_was((record.to_rank, name), known);
        if let (ThreadKind::Foreign { priority }, Some(left)) = (&mut to_kind, left_as) {
            *priority = left.from_rank.unwrap_or(0).max(*priority);
        }
        if self.processes.contains(&record.pid_to) {
            to_kind = of_own_process(to_kind);
        }
        let to_name = own_name(to_name, record.pid_to, scheduling::process_id());
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

/// A thread's name, by which none but the agent's is taken for one that keeps a core awake.
fn own_name(name: String, process: u32, agent: u32) -> String {
    match name.starts_with(AWAKE_THREADS) && process != agent {
        true => format!("process {process}'s {name}"),
        false => name,
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

/// What is known of a thread, with the rank and the name that it had on its core where the log has them. Whoever looks for it later, or has met
/// it earlier, may find another program.
fn as_it_was(
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
fn of_own_process(kind: ThreadKind) -> ThreadKind {
    match kind {
        ThreadKind::Foreign { priority } => ThreadKind::Own { priority },
        ThreadKind::Unknown => ThreadKind::Own { priority: 0 },
        _ => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_report::synthetic::{A, Plant, Ring, ring};
    use leveret_report::verdict::{Miss, Party, Subject, verdicts};

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
            from_name: None,
            to_name: to_rank.map(|_| name),
        };
        let as_it_was = |record: &SwitchRecord, known| as_it_was((record.to_rank, record.name_to()), known);
        let (gone, asked) = (ThreadKind::Unknown, ThreadKind::Foreign { priority: 0 });
        let hog = |priority| (ThreadKind::Foreign { priority }, "hog".to_owned());
        // A rank in the log needs no look at /proc.
        assert!(unranked(&[record(Some(50)), record(Some(0))]).is_empty());
        assert_eq!(unranked(&[record(Some(50)), record(None), record(None)]), BTreeSet::from([7]));
        assert_eq!(as_it_was(&record(Some(50)), (gone, String::new())), hog(50));
        for known in ["hog", "sh", ""] {
            assert_eq!(as_it_was(&record(Some(50)), (asked, known.to_owned())), hog(50));
        }
        assert_eq!(as_it_was(&record(None), (asked, "hog".to_owned())), hog(0));
        assert_eq!(as_it_was(&record(None), (gone, String::new())), (gone, String::new()));
        let own = |priority, name: &str| (ThreadKind::Own { priority }, name.to_owned());
        assert_eq!(as_it_was(&record(Some(5)), own(0, "helper")), own(5, "hog"));
        // One that nobody could ask is the job's by its process.
        let (ended, _) = as_it_was(&record(Some(95)), (gone, String::new()));
        assert_eq!(of_own_process(ended), ThreadKind::Own { priority: 95 });
        assert_eq!(of_own_process(ThreadKind::Task(1)), ThreadKind::Task(1));
        let kernel = (ThreadKind::Kernel, "migration/0".to_owned());
        assert_eq!(as_it_was(&record(Some(99)), kernel.clone()), kernel);
    }

    #[test]
    fn a_thread_that_became_another_program_is_named_by_what_it_was_when_it_left() {
        let name = |text: &str| {
            let mut name = [0; 16];
            name[..text.len()].copy_from_slice(text.as_bytes());
            Some(name)
        };
        let (mut evidence, _) = Evidence::open(&[], &[], Nanos::ZERO, Path::new("/run/own"));
        evidence.threads.insert(5_000_001, (ThreadKind::Foreign { priority: 0 }, "sh".to_owned()));
        let switch = |at: i64, from: (u32, &str), to: (u32, &str)| SwitchRecord {
            time: Nanos(at),
            core: 0,
            tid_from: from.0,
            tid_to: to.0,
            pid_to: UNKNOWN_THREAD,
            preempted: false,
            left: perf::Left::Asleep,
            from_rank: Some(50),
            to_rank: Some(50),
            from_name: name(from.1),
            to_name: name(to.1),
        };
        let (hog, idle) = (5_000_001, 0);
        let came = switch(1_000, (idle, "swapper/0"), (hog, "sh"));
        let left = switch(2_000, (hog, "hog"), (idle, "swapper/0"));
        evidence.recent.insert(vec![came, left, switch(3_000, (idle, "swapper/0"), (hog, "again"))]);
        evidence.keep(1, Nanos(900), Nanos(4_000));
        let found = evidence.finish().switches;
        let of_hog: Vec<&str> =
            found.iter().filter(|event| event.to == hog).map(|event| event.to_name.as_str()).collect();
        // It has not left again.
        assert_eq!(of_hog, ["hog", "again"]);
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
    fn no_thread_but_the_agent_s_is_taken_for_one_that_keeps_a_core_awake() {
        let named = |process| own_name(format!("{AWAKE_THREADS}0"), process, 7);
        assert_eq!([named(7), named(8)], ["leveret-awake-0", "process 8's leveret-awake-0"]);
        assert!(!named(UNKNOWN_THREAD).starts_with(AWAKE_THREADS));
        assert_eq!(own_name("leveret-alone".to_owned(), 8, 7), "leveret-alone");
    }

    /// A switch of a made-up run as the kernel logs it.
    fn logged(event: &SwitchEvent) -> SwitchRecord {
        let priority = if let ThreadKind::Foreign { priority } = event.to_kind { priority } else { 0 };
        let left = if event.left == Left::Runnable { perf::Left::Runnable } else { perf::Left::Asleep };
        SwitchRecord {
            time: event.at,
            core: event.core,
            tid_from: event.from,
            tid_to: event.to,
            pid_to: UNKNOWN_THREAD,
            preempted: event.left == Left::Runnable,
            left,
            from_rank: None,
            to_rank: Some(priority),
            from_name: None,
            to_name: Some([0; 16]),
        }
    }

    /// While the other core makes five thousand switches a second.
    #[test]
    fn a_hog_of_fifteen_seconds_is_named_once_the_late_thread_tells() {
        const ROUNDS: u64 = 400;
        let period = Nanos::from_millis(50);
        let plants = vec![(20, Plant::Hog { task: A, priority: 95, by: Nanos::from_secs(15) })];
        let mut record = ring(&Ring { rounds: ROUNDS, period, plants, ..Ring::default() });
        let phase = &mut record.phases[0];
        let mut own = phase.tasks[A].clone();
        let (mut evidence, _) = Evidence::open(&[], &[], Nanos::ZERO, Path::new("/run/own"));
        for (task, record) in phase.tasks.iter().enumerate() {
            evidence.threads.insert(record.thread, (ThreadKind::Task(task as u16), String::new()));
        }
        let hog = phase.switches.iter().find(|event| event.to_name == "hog").expect("it comes").clone();
        evidence.threads.insert(hog.to, (ThreadKind::Foreign { priority: 0 }, hog.to_name.clone()));
        let before = own.instances[19].ended + Nanos(200);
        let left =
            SwitchEvent { at: before, from: own.thread, to: 0, to_kind: ThreadKind::Idle, ..hog.clone() };
        phase.switches.insert(0, left);
        let busy = |at| SwitchEvent { at, core: 1, from: 5_000_001, to: 5_000_002, ..hog.clone() };
        for round in 1..=ROUNDS as i64 {
            let (since, now) = (period.saturating_mul(round - 1), period.saturating_mul(round));
            let is_fresh = |at: Nanos| at > since && at <= now;
            let fresh = phase.switches.iter().filter(|event| is_fresh(event.at)).map(logged);
            let others = (1..250).map(|turn| logged(&busy(since + Nanos::from_micros(200 * turn))));
            evidence.kept_span = None;
            evidence.recent.insert(fresh.chain(others).collect());
            for instance in own.instances.extract_if(.., |instance| instance.ended <= now) {
                if instance.ended > instance.deadline || instance.is_skipped() {
                    evidence.keep(own.thread, instance.planned, instance.ended);
                }
            }
            evidence.forget(now);
        }
        let found = evidence.finish();
        assert_eq!(found.events, [], "nothing of its core was forgotten");
        phase.switches = found.switches;
        let misses = verdicts(&record);
        let of_own: Vec<&Miss> = misses.iter().filter(|miss| miss.subject == Subject::Task(A)).collect();
        assert!(of_own.len() > 290, "{}", of_own.len());
        for miss in of_own {
            let culprit = miss.culprit.as_ref().map(|culprit| (culprit.name.as_str(), culprit.rank.as_str()));
            assert_eq!((miss.party, culprit), (Party::Process, Some(("hog", "SCHED_FIFO 95"))), "{miss:#?}");
        }
    }

    #[test]
    fn what_is_forgotten_of_a_late_thread_s_core_is_noted_once() {
        let (mut evidence, _) = Evidence::open(&[], &[], Nanos::ZERO, Path::new("/run/own"));
        let switch = |at: i64| SwitchRecord {
            time: Nanos(at),
            ..logged(&SwitchEvent {
                at: Nanos(at),
                core: 0,
                from: 5_000_001,
                to: 5_000_002,
                left: Left::Asleep,
                to_kind: ThreadKind::Unknown,
                to_process: None,
                to_name: String::new(),
            })
        };
        evidence.recent.insert((0..100_000).map(|turn| switch(turn * 1000)).collect());
        evidence.forget(Nanos(100_000_000));
        for _ in 0..2 {
            evidence.keep(1, Nanos(600_000), Nanos(90_000_000));
        }
        evidence.keep(1, Nanos(99_000_000), Nanos(99_000_000));
        let found = evidence.finish();
        let [event] = &found.events[..] else { panic!("{:?}", found.events) };
        assert_eq!(event.kind, EventKind::EvidenceForgotten { since: Nanos(100_000) });
        assert!(found.switches.iter().all(|switch| switch.at > event.at));
    }
}
