//! What else happened on the job's cores: who ran, what faulted, when a timer expired. Kept only around instants that need explaining.

mod named;

use crate::changes::Changes;
use crate::families::Families;
use crate::other_jobs;
use crate::recent::Recent;
use crate::thin::{Coarseness, Windows};
use leveret_os::perf::{FaultLog, SwitchLog, SwitchRecord, TimerLog, UNKNOWN_THREAD};
use leveret_os::{clock, scheduling, threads_of};
use leveret_report::journal::Growth;
use leveret_report::record::{Event, EventKind, SwitchEvent, ThreadKind, TimerInterrupt};
use leveret_types::Nanos;
use named::{About, about, as_it_was, left, of_own_process, own_name};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::rc::Rc;

/// Threads named per drain: each costs two small files to read.
const NAMES_PER_DRAIN: usize = 16;
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
    threads: BTreeSet<Identity>,
}

impl Unsaved {
    fn new(is_noted: bool) -> Self {
        let (switches, timers) = (Changes::new(is_noted), Changes::new(is_noted));
        Self { is_noted, switches, timers, events: Vec::new(), threads: BTreeSet::new() }
    }
}

/// A thread's number, and when the thread began that had it: numbers are used again.
type Identity = (u32, Nanos);
/// In place of when it began: another thread has had its number since.
const REUSED: Nanos = Nanos::MAX;

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
    /// By time and core; each with when the thread began that came.
    kept: BTreeMap<(Nanos, u32), (SwitchRecord, Nanos)>,
    kept_timers: BTreeSet<(Nanos, u32)>,
    coarseness: Coarseness,
    events: Vec<Event>,
    /// Since the journal was given its share.
    unsaved: Unsaved,
    /// When the logs were read last, and what they had lost by then.
    drained: (Nanos, u64),
    tasks: BTreeMap<u32, u16>,
    threads: BTreeMap<Identity, About>,
    /// Asked for their rank since the log was last read.
    ranked: BTreeSet<u32>,
    epoch: Nanos,
    families: Rc<Families>,
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
        families: &Rc<Families>,
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
        for log in TimerLog::open_cores(watched) {
            match log {
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
        let processes: BTreeSet<u32> =
            tasks.iter().filter_map(|(_, thread)| threads_of::process_of(*thread)).collect();
        processes.iter().for_each(|process| families.adopt(*process));
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
            tasks: tasks.iter().map(|(task, thread)| (*thread, *task)).collect(),
            threads: BTreeMap::new(),
            ranked: BTreeSet::new(),
            epoch,
            families: families.clone(),
            processes,
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
            let is_of_these = |record: &SwitchRecord, born| known_better.contains(&(record.tid_to, born));
            let of_these = self.kept.iter().filter(|(_, (record, born))| is_of_these(record, *born));
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
        self.families.look();
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
        for record in fresh.iter().rev() {
            if latest.contains(&record.tid_to) {
                continue;
            }
            latest.rotate_right(1);
            latest[0] = record.tid_to;
            asked += usize::from(self.name(record).1);
            if asked == NAMES_PER_DRAIN {
                return;
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
            let ((_, born), _) = self.name(&record);
            let key = (record.time, record.core);
            if self.kept.insert(key, (record, born)).is_none() {
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
        let kept = self.kept.values().map(|(record, _)| record).chain(self.recent.iter());
        let needed: BTreeSet<u32> = kept.map(|record| record.tid_to).collect();
        self.threads.retain(|(thread, _), _| needed.contains(thread));
    }

    /// Asks who came with a switch, unless it is known; also returns whether it had to be asked.
    fn name(&mut self, record: &SwitchRecord) -> (Identity, bool) {
        let born = self.families.born(record.tid_to);
        let identity = (record.tid_to, if born > record.time { REUSED } else { born });
        let is_new = !self.tasks.contains_key(&record.tid_to) && !self.threads.contains_key(&identity);
        if is_new {
            let about = match identity.1 {
                REUSED => About::new(ThreadKind::Unknown, ""),
                _ => about(&self.families, record.tid_to, record.pid_to),
            };
            self.threads.insert(identity, about);
        }
        (identity, is_new)
    }

    /// A foreign thread may have been raised (`chrt`), or have become another program, since it was asked: the highest rank that it was seen to
    /// have counts, and its last name. Asked once between two looks at the log: each time costs the agent's core tens of microseconds, and many instances may be late at once.
    fn rank_again(&mut self, thread: u32) {
        if !self.ranked.insert(thread) {
            return;
        }
        let identity = (thread, self.families.born(thread));
        if let Some(About { kind: ThreadKind::Foreign { priority }, name, .. }) =
            self.threads.get_mut(&identity)
            && let Ok(found) = threads_of::about(thread)
        {
            let now = (found.priority.max(*priority), other_jobs::renamed(name.clone(), &found.name));
            if now != (*priority, name.clone()) {
                self.unsaved.threads.insert(identity);
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
        let (record, born) = self.kept.get(&key)?;
        // What a thread had been raised to, or had become, by the time that it left counts for all of its stay.
        let after = (Bound::Excluded(key), Bound::Unbounded);
        let next = self.kept.range(after).find(|((_, core), _)| *core == record.core);
        let left_as = next.map(|(_, (next, _))| next).filter(|next| next.tid_from == record.tid_to);
        let name = left_as.and_then(SwitchRecord::name_from).or_else(|| record.name_to());
        let known = match self.tasks.get(&record.tid_to) {
            Some(task) => About::new(ThreadKind::Task(*task), ""),
            None => {
                let known = self.threads.get(&(record.tid_to, *born));
                known.cloned().unwrap_or_else(|| About::new(ThreadKind::Unknown, ""))
            }
        };
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

/// Threads that came with a rank that the log does not tell.
fn unranked(records: &[SwitchRecord]) -> BTreeSet<u32> {
    records.iter().filter(|record| record.to_rank.is_none()).map(|record| record.tid_to).collect()
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

#[cfg(test)]
mod tests;
