//! Who had a core when, from the log of context switches.
//!
//! The log covers only the neighbourhood of suspicious instants. What ran between two windows of the log is known
//! when the thread that came last in the one is the thread that leaves first in the other, and unknown otherwise.

use super::Culprit;
use crate::record::{EventKind, Left, Phase, SwitchEvent, ThreadKind};
use leveret_types::Nanos;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::discriminant;

/// Switches of a core that are looked through for a thread's nearest one.
const NEAR: usize = 256;

/// The switches of a phase, by core, and what is known of each thread.
pub(crate) struct CoreLog<'a> {
    cores: BTreeMap<u32, Vec<&'a SwitchEvent>>,
    threads: HashMap<u32, Occupant>,
    timers: BTreeMap<u32, Vec<Nanos>>,
    /// When each task's thread came to a core (`None`) and left it, in order.
    own: HashMap<u32, Moves>,
    /// When each task was put on a core's queue.
    woken: HashMap<u16, Vec<Wake>>,
    /// Stretches of time that the log does not cover whole.
    lost: Vec<Lost>,
    /// Whether the log saw every thread of the core, or only ours.
    pub whole_core: bool,
}

/// A task's thread, which had no core, was put on the queue of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wake {
    /// When.
    pub at: Nanos,
    /// Which core.
    pub core: u32,
    /// The thread whose call did it; none if an interrupt did, perhaps for a thread on another core.
    pub by: Option<u32>,
}

/// A stretch of time that the log does not cover whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lost {
    /// First instant.
    pub since: Nanos,
    /// Last instant.
    pub until: Nanos,
    /// How many records were lost because nobody read them in time; `None` of those that were read and not remembered, which nobody counts.
    pub records: Option<u64>,
}

impl Lost {
    fn meets(&self, from: Nanos, to: Nanos) -> bool {
        self.since <= to && self.until >= from
    }
}

/// A thread on a core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Occupant {
    /// Thread id; `None` when unknown.
    pub thread: Option<u32>,
    /// What it is.
    pub kind: ThreadKind,
    /// Its process; `None` when unknown.
    pub process: Option<u32>,
    /// Its name, possibly empty.
    pub name: String,
}

/// A stretch of time on a core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stretch {
    /// First instant.
    pub from: Nanos,
    /// First instant after it.
    pub to: Nanos,
    /// Who had the core.
    pub who: Occupant,
    /// In what state the thread that left at `from` did so; `None` when the stretch began before the log.
    pub left: Option<Left>,
}

/// From a thread's coming to a core until the next one came, or the end of what is looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stay {
    /// When it came.
    pub from: Nanos,
    /// When the next one came.
    pub to: Nanos,
    /// Who had the core.
    pub who: Occupant,
}

impl Stretch {
    /// Its length.
    pub fn length(&self) -> Nanos {
        self.to - self.from
    }
}

/// A static priority as a class and its number; `SCHED_FIFO` stands for `SCHED_RR` too.
pub(crate) fn rank(priority: u8) -> String {
    match priority {
        0 => "ordinary scheduling".to_owned(),
        100.. => "SCHED_DEADLINE".to_owned(),
        priority => format!("SCHED_FIFO {priority}"),
    }
}

impl Occupant {
    /// Who came, as the event has it.
    fn came(event: &SwitchEvent) -> Self {
        let (thread, name) = (Some(event.to), event.to_name.clone());
        Self { thread, kind: event.to_kind, process: event.to_process, name }
    }

    fn unknown() -> Self {
        Self { thread: None, kind: ThreadKind::Unknown, process: None, name: String::new() }
    }

    /// Whether what seems to be the idle task may be a thread that the log's writer could not see; its name says so then.
    pub fn may_be_unseen(&self) -> bool {
        self.kind == ThreadKind::Idle && !["", "idle"].contains(&self.name.as_str())
    }

    /// Its thread, where the log could name it: the greatest number stands for one that it could not.
    pub fn known(&self) -> Option<u32> {
        self.thread.filter(|id| *id != u32::MAX)
    }

    /// Named as the one that made an instance late.
    pub fn culprit(&self, what: &str) -> Culprit {
        let rank = match self.kind {
            ThreadKind::Foreign { priority } | ThreadKind::Own { priority } => rank(priority),
            _ => String::new(),
        };
        Culprit {
            name: self.name.clone(),
            pid: self.process,
            thread: self.known(),
            rank,
            what: what.to_owned(),
        }
    }

    /// As in a sentence: `hog (thread 812, SCHED_FIFO 90)`.
    pub fn describe(&self) -> String {
        let name = if self.name.is_empty() { "a thread" } else { &self.name };
        let known = self.known();
        let thread = known.map_or_else(|| "thread unknown".to_owned(), |id| format!("thread {id}"));
        match self.kind {
            ThreadKind::Idle if self.may_be_unseen() => self.name.clone(),
            ThreadKind::Idle => "the idle task".to_owned(),
            ThreadKind::Kernel => format!("the kernel's {name} ({thread})"),
            ThreadKind::Task(_) => format!("the job's own {name} ({thread})"),
            ThreadKind::Foreign { priority: 0 } => format!("{name} ({thread}, ordinary scheduling)"),
            ThreadKind::Foreign { priority: 100.. } => format!("{name} ({thread}, SCHED_DEADLINE)"),
            ThreadKind::Foreign { priority } => format!("{name} ({thread}, real-time priority {priority})"),
            ThreadKind::Unknown if known.is_none() => format!("{name} that could not be identified"),
            ThreadKind::Unknown if self.name.is_empty() => {
                format!("{name} that could not be identified ({thread})")
            }
            ThreadKind::Unknown => format!("{name} ({thread}, not identified)"),
            ThreadKind::Own { priority } => {
                format!("this job's own {name} ({thread}, {}, no task)", rank(priority))
            }
        }
    }
}

/// When a thread came to a core (`None`) and when it left one, and how, in order.
pub(super) type Moves = Vec<(Nanos, Option<Left>)>;

/// Whether any of a thread's moves within `[from, to]` is from a core.
pub(super) fn leaves_within(moves: &Moves, from: Nanos, to: Nanos) -> bool {
    let within = &moves[moves.partition_point(|(at, _)| *at < from)..];
    within.iter().take_while(|(at, _)| *at <= to).any(|(_, how)| how.is_some())
}

/// When the tasks' threads came and left, on whatever core. The log covers some neighbourhoods only; what a thread stamped itself proves
/// that it had a core by then, seen to come or not.
pub(super) fn own_moves(phase: &Phase) -> HashMap<u32, Moves> {
    let mut moves: HashMap<u32, Moves> = HashMap::new();
    for task in phase.tasks.iter().filter(|task| task.thread != 0) {
        let stamps = task.instances.iter().flat_map(|instance| [instance.woken, instance.started]);
        moves.entry(task.thread).or_default().extend(stamps.map(|at| (at, None)));
    }
    for event in &phase.switches {
        if let Some(moves) = moves.get_mut(&event.from) {
            moves.push((event.at, Some(event.left)));
        }
        if let Some(moves) = moves.get_mut(&event.to) {
            moves.push((event.at, None));
        }
    }
    for moves in moves.values_mut() {
        moves.sort_by_key(|(at, _)| *at);
    }
    moves
}

impl<'a> CoreLog<'a> {
    pub fn new(phase: &'a Phase, whole_core: bool) -> Self {
        let mut cores: BTreeMap<u32, Vec<&SwitchEvent>> = BTreeMap::new();
        let mut threads: HashMap<u32, Occupant> = HashMap::new();
        let mut reused: HashSet<u32> = HashSet::new();
        for event in &phase.switches {
            cores.entry(event.core).or_default().push(event);
            if event.to_kind != ThreadKind::Unknown {
                let came = Occupant::came(event);
                // Numbers are used again: of two threads each is what its own switches say.
                let is_another = |known: &Occupant| discriminant(&known.kind) != discriminant(&came.kind);
                if threads.get(&event.to).is_some_and(is_another) {
                    reused.insert(event.to);
                }
                threads.insert(event.to, came);
            }
        }
        threads.retain(|thread, _| !reused.contains(thread));
        for events in cores.values_mut() {
            events.sort_by_key(|event| event.at);
        }
        for (task, record) in phase.tasks.iter().enumerate().filter(|(_, record)| record.thread != 0) {
            let name = phase.job.tasks.get(task).map_or_else(String::new, |model| model.name.clone());
            let kind = ThreadKind::Task(u16::try_from(task).unwrap_or(u16::MAX));
            let process = threads.get(&record.thread).and_then(|came: &Occupant| came.process);
            threads.insert(record.thread, Occupant { thread: Some(record.thread), kind, process, name });
        }
        let idle = Occupant { thread: Some(0), kind: ThreadKind::Idle, ..Occupant::unknown() };
        threads.entry(0).or_insert(idle);
        let mut timers: BTreeMap<u32, Vec<Nanos>> = BTreeMap::new();
        for timer in &phase.timers {
            timers.entry(timer.core).or_default().push(timer.at);
        }
        for instants in timers.values_mut() {
            instants.sort_unstable();
        }
        let own = own_moves(phase);
        let mut woken: HashMap<u16, Vec<Wake>> = HashMap::new();
        for event in &phase.events {
            if let EventKind::Woken { task, core, by } = event.kind {
                woken.entry(task).or_default().push(Wake { at: event.at, core, by });
            }
        }
        let lost = phase.events.iter().filter_map(|event| match event.kind {
            EventKind::EvidenceLost { since, records } => {
                Some(Lost { since, until: event.at, records: Some(records) })
            }
            EventKind::EvidenceForgotten { since } => Some(Lost { since, until: event.at, records: None }),
            _ => None,
        });
        let lost = lost.collect();
        Self { cores, threads, timers, own, woken, lost, whole_core }
    }

    /// What is known of a thread.
    pub fn occupant(&self, thread: u32) -> Occupant {
        self.threads
            .get(&thread)
            .cloned()
            .unwrap_or_else(|| Occupant { thread: Some(thread), ..Occupant::unknown() })
    }

    /// The arrival described by `event`: what the event itself knows goes first. A rank, or a thread of this number, may have been another at
    /// another time.
    fn arrival(&self, event: &SwitchEvent) -> Occupant {
        let known = self.occupant(event.to);
        match known.kind {
            ThreadKind::Task(_) | ThreadKind::Idle => known,
            // A log that could name nobody.
            _ if event.to_kind == ThreadKind::Unknown && event.to_name.is_empty() => known,
            _ => Occupant::came(event),
        }
    }

    /// The events of a core; when only our threads were watched, those of `thread`.
    fn events(&self, core: u32, thread: u32) -> Cow<'_, [&'a SwitchEvent]> {
        match self.cores.get(&core) {
            Some(events) => Cow::Borrowed(events),
            None => {
                let watched = self.cores.get(&u32::MAX).into_iter().flatten();
                watched.filter(|event| event.from == thread || event.to == thread).copied().collect()
            }
        }
    }

    /// Who came to a core within `[from, to]`, for timelines; before them who had it at `from`, if the log has seen that one come.
    pub fn stays(&self, core: u32, from: Nanos, to: Nanos) -> Vec<Stay> {
        let Some(events) = self.cores.get(&core) else { return Vec::new() };
        let first = events.partition_point(|event| event.at < from);
        let (before, rest) = events.split_at(first);
        let until = |next: Option<&&SwitchEvent>| next.map_or(to, |event| event.at.min(to));
        let has_it = |last: &&&SwitchEvent| rest.first().is_none_or(|next| next.from == last.to);
        let stay =
            |event: &SwitchEvent, next| Stay { from: event.at, to: until(next), who: self.arrival(event) };
        let mut stays: Vec<Stay> =
            before.last().filter(has_it).map(|last| stay(last, rest.first())).into_iter().collect();
        for (place, event) in rest.iter().enumerate().take_while(|(_, event)| event.at <= to) {
            stays.push(stay(event, rest.get(place + 1)));
        }
        stays
    }

    /// The core that a thread had at `at`, or came from or to nearest to that, as far as the log says.
    pub fn core_of(&self, thread: u32, at: Nanos) -> Option<u32> {
        let came = |(core, events): (&u32, &Vec<&SwitchEvent>)| {
            let first = events.partition_point(|event| event.at <= at);
            let came = events[..first].iter().rev().take(NEAR).find(|event| event.to == thread);
            came.map(|event| (event.at, *core))
        };
        let left = |(core, events): (&u32, &Vec<&SwitchEvent>)| {
            let first = events.partition_point(|event| event.at <= at);
            let left = events[first..].iter().take(NEAR).find(|event| event.from == thread);
            left.map(|event| (event.at, *core))
        };
        // The core that it left next is the one it had; the one it came to last it may have left unseen.
        let left = self.cores.iter().filter_map(left).min();
        left.or_else(|| self.cores.iter().filter_map(came).max()).map(|(_, core)| core)
    }

    /// Whether a thread had any core at `at`, as far as the log says.
    pub fn has_a_core(&self, thread: u32, at: Nanos) -> bool {
        self.cores.values().any(|events| {
            let first = events.partition_point(|event| event.at <= at);
            events[..first].last().is_some_and(|event| event.to == thread)
        })
    }

    /// Since when a task's thread has had no core at `at`, and in what state it left; `None` where it had one or the log does not say.
    pub fn absence(&self, thread: u32, at: Nanos) -> Option<(Nanos, Left)> {
        let moves = self.own.get(&thread)?;
        let (left, how) = moves[..moves.partition_point(|(each, _)| *each <= at)].last()?;
        how.map(|how| (*left, how))
    }

    /// Whether a task's thread came to a core within `[from, to]` and still had it at the end.
    pub fn has_come(&self, thread: u32, from: Nanos, to: Nanos) -> bool {
        let moves = self.own.get(&thread).map_or(&[][..], Vec::as_slice);
        let last = moves[..moves.partition_point(|(each, _)| *each <= to)].last();
        last.is_some_and(|(at, how)| how.is_none() && *at >= from)
    }

    /// How a task's thread left its core last, if it did not come back; whoever is killed comes back for that alone.
    pub fn left_last(&self, thread: u32) -> Option<Left> {
        const DYING: Nanos = Nanos::from_millis(10);
        let (mut at, mut left) = self.absence(thread, Nanos::MAX)?;
        while left == Left::Ended {
            let moves = self.own.get(&thread)?;
            let mut before = moves[..moves.partition_point(|(each, _)| *each < at)].iter().rev();
            let (came, _) = *before.find(|(_, how)| how.is_none())?;
            let (since, how) = *before.find(|(_, how)| how.is_some()).filter(|_| at - came < DYING)?;
            (at, left) = (since, how?);
        }
        Some(left)
    }

    /// For how long a task's thread had no core within `[from, to]`, as far as the log says.
    pub fn time_off(&self, thread: u32, from: Nanos, to: Nanos) -> Nanos {
        let Some(moves) = self.own.get(&thread) else { return Nanos::ZERO };
        let first = moves.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        let ends = moves[first..].iter().skip(1).map(|(at, _)| *at).chain([to]);
        let absences = moves[first..].iter().zip(ends).filter(|((_, how), _)| how.is_some());
        let within = absences.map(|((since, _), until)| until.min(to) - (*since).max(from));
        within.fold(Nanos::ZERO, |sum, part| sum + part.max(Nanos::ZERO))
    }

    /// Whether a task's thread, which has no core at `at`, wants one; `None` where the log does not say.
    pub fn is_waiting(&self, task: usize, thread: u32, at: Nanos) -> Option<bool> {
        self.woken.get(&u16::try_from(task).ok()?)?;
        if self.absence(thread, at)?.1 == Left::Runnable {
            return Some(true);
        }
        let first = self.woken_from(task, thread, at);
        // Nobody comes to a core without having been woken: a record is missing.
        if first.is_none() && self.came_after(thread, at).is_some() {
            return None;
        }
        Some(first.is_some_and(|first| first.at <= at))
    }

    /// Whether the log has a wake-up of a task within `[from, to]`: where it lacks the end of a sleep it may lack whatever came after, and
    /// nothing follows from that.
    pub fn has_wake(&self, task: usize, from: Nanos, to: Nanos) -> bool {
        let woken = u16::try_from(task).ok().and_then(|task| self.woken.get(&task));
        woken.is_some_and(|woken| woken.iter().any(|wake| from <= wake.at && wake.at <= to))
    }

    /// When a task's thread, which has no core at `at`, next has one.
    pub fn came_after(&self, thread: u32, at: Nanos) -> Option<Nanos> {
        let moves = self.own.get(&thread)?;
        let after = &moves[moves.partition_point(|(each, _)| *each <= at)..];
        after.iter().find(|(_, how)| how.is_none()).map(|(came, _)| *came)
    }

    /// The wake-up that ends the absence of a task's thread at `at`.
    pub fn woken_from(&self, task: usize, thread: u32, at: Nanos) -> Option<Wake> {
        let woken = self.woken.get(&u16::try_from(task).ok()?)?;
        let (since, _) = self.absence(thread, at)?;
        let came = self.came_after(thread, at);
        let first = woken.iter().filter(|wake| wake.at > since).min_by_key(|wake| wake.at);
        first.filter(|first| came.is_none_or(|came| first.at <= came)).copied()
    }

    /// The core on whose queue a task was put last within `[from, to]`.
    pub fn queued_on(&self, task: usize, from: Nanos, to: Nanos) -> Option<u32> {
        let woken = self.woken.get(&u16::try_from(task).ok()?)?;
        woken.iter().rev().find(|wake| wake.at >= from && wake.at <= to).map(|wake| wake.core)
    }

    /// Whether the log shows that a task's thread left a core within `[from, to]`.
    pub fn left_within(&self, thread: u32, from: Nanos, to: Nanos) -> bool {
        self.own.get(&thread).is_some_and(|moves| leaves_within(moves, from, to))
    }

    /// Whether the log shows a task's thread stopped by a signal at any time within `[from, to]`.
    pub fn was_stopped(&self, thread: u32, from: Nanos, to: Nanos) -> bool {
        let Some(moves) = self.own.get(&thread) else { return false };
        let first = moves.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        moves[first..].iter().any(|(at, how)| *at <= to && *how == Some(Left::Stopped))
    }

    /// When, within `[from, to]`, a task's thread first left its core for its debugger, and how often it did.
    pub fn left_for_debugger(&self, thread: u32, from: Nanos, to: Nanos) -> Option<(Nanos, i64)> {
        let moves = self.own.get(&thread)?;
        let within = moves.iter().filter(|(at, how)| *at >= from && *at <= to && *how == Some(Left::Traced));
        let first = within.clone().map(|(at, _)| *at).next()?;
        Some((first, within.count() as i64))
    }

    /// The absence that begins next after `at`, at which a task's thread has a core, and that before it: when each began, and in what state the
    /// thread left.
    pub fn absences_about(&self, thread: u32, at: Nanos) -> Option<[(Nanos, Left); 2]> {
        let moves = self.own.get(&thread)?;
        let (before, after) = moves.split_at(moves.partition_point(|(each, _)| *each <= at));
        let left = |(at, how): &(Nanos, Option<Left>)| how.map(|how| (*at, how));
        Some([before.iter().rev().find_map(left)?, after.iter().find_map(left)?])
    }

    /// The timer interrupts of a core within `[from, to]`.
    pub fn timers(&self, core: u32, from: Nanos, to: Nanos) -> &[Nanos] {
        let instants = self.timers.get(&core).map_or(&[][..], Vec::as_slice);
        let first = instants.partition_point(|at| *at < from);
        let length = instants[first..].partition_point(|at| *at <= to);
        &instants[first..first + length]
    }

    /// Whether any timer interrupt of a core was logged: where none was, their absence says nothing.
    pub fn watches_timers(&self, core: u32) -> bool {
        self.timers.get(&core).is_some_and(|instants| !instants.is_empty())
    }

    /// The first timer interrupt of a core from `at` on; of an unpinned thread, which may be woken from any core, that of
    /// any core.
    pub fn first_timer(&self, core: u32, anywhere: bool, at: Nanos) -> Option<Nanos> {
        let first =
            |instants: &Vec<Nanos>| instants.get(instants.partition_point(|each| *each < at)).copied();
        match anywhere {
            true => self.timers.values().filter_map(first).min(),
            false => self.timers.get(&core).and_then(first),
        }
    }

    /// The first loss of records that may concern `[from, to]`.
    pub fn lost(&self, from: Nanos, to: Nanos) -> Option<Lost> {
        self.lost.iter().find(|lost| lost.meets(from, to)).copied()
    }

    /// Whether records of `[from, to]` are missing: what is first in the log may not be what was first.
    pub fn lacks_records(&self, from: Nanos, to: Nanos) -> bool {
        self.lost.iter().any(|lost| lost.records != Some(0) && lost.meets(from, to))
    }

    /// Cuts `[from, to]` on `core` into stretches; `thread` is the one whose wait is examined.
    pub fn stretches(&self, core: u32, thread: u32, from: Nanos, to: Nanos) -> Vec<Stretch> {
        if to <= from {
            return Vec::new();
        }
        let events = self.events(core, thread);
        let first = events.partition_point(|event| event.at <= from);
        let (before, rest) = events.split_at(first);
        let who = match (before.last(), rest.first()) {
            (Some(last), Some(next)) if last.to == next.from => self.arrival(last),
            (_, Some(next)) if next.at <= to => self.occupant(next.from),
            (Some(last), None) => self.arrival(last),
            _ => Occupant::unknown(),
        };
        let mut stretches = vec![Stretch { from, to, who, left: before.last().map(|last| last.left) }];
        for event in rest.iter().take_while(|event| event.at < to) {
            if let Some(open) = stretches.last_mut() {
                open.to = event.at;
            }
            let left = Some(event.left);
            stretches.push(Stretch { from: event.at, to, who: self.arrival(event), left });
        }
        stretches.retain(|stretch| stretch.to > stretch.from);
        stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: i64, from: u32, to: u32, to_kind: ThreadKind) -> SwitchEvent {
        SwitchEvent {
            at: Nanos(at),
            core: 0,
            from,
            to,
            left: Left::Runnable,
            to_kind,
            to_process: None,
            to_name: format!("t{to}"),
        }
    }

    fn log(events: Vec<SwitchEvent>) -> Vec<(i64, i64, Option<u32>)> {
        let mut record = crate::synthetic::ring(&crate::synthetic::Ring { rounds: 1, ..Default::default() });
        record.phases[0].switches = events;
        let log = CoreLog::new(&record.phases[0], true);
        log.stretches(0, 0, Nanos(100), Nanos(200)).iter().map(|s| (s.from.0, s.to.0, s.who.thread)).collect()
    }

    #[test]
    fn an_interval_is_cut_at_each_switch() {
        let hog = ThreadKind::Foreign { priority: 90 };
        let cut = log(vec![event(50, 0, 7, hog), event(120, 7, 8, hog), event(170, 8, 0, ThreadKind::Idle)]);
        assert_eq!(cut, [(100, 120, Some(7)), (120, 170, Some(8)), (170, 200, Some(0))]);
    }

    /// One that ended was the job's, and one that has its number later is the kernel's.
    #[test]
    fn two_threads_of_one_number_are_each_what_they_were() {
        let (own, kernel) = (ThreadKind::Own { priority: 9 }, ThreadKind::Kernel);
        let mut record = crate::synthetic::ring(&crate::synthetic::Ring { rounds: 1, ..Default::default() });
        let unknown = event(170, 8, 7, ThreadKind::Unknown);
        record.phases[0].switches = vec![
            event(50, 0, 7, own),
            event(120, 7, 8, own),
            unknown,
            event(190, 7, 0, ThreadKind::Idle),
            event(300, 0, 7, kernel),
        ];
        let log = CoreLog::new(&record.phases[0], true);
        let kinds = |from, to| -> Vec<ThreadKind> {
            log.stretches(0, 0, Nanos(from), Nanos(to)).iter().map(|stretch| stretch.who.kind).collect()
        };
        assert_eq!(kinds(100, 200), [own, own, ThreadKind::Unknown, ThreadKind::Idle]);
        assert_eq!(kinds(310, 400), [kernel]);
    }

    #[test]
    fn a_thread_that_may_run_anywhere_is_found() {
        let mut record = crate::synthetic::ring(&crate::synthetic::Ring { rounds: 1, ..Default::default() });
        let on = |core, event| SwitchEvent { core, ..event };
        let own = ThreadKind::Task(0);
        record.phases[0].switches = vec![
            on(0, event(100, 0, 7, own)),
            on(0, event(200, 7, 0, ThreadKind::Idle)),
            on(1, event(300, 0, 7, own)),
        ];
        let log = CoreLog::new(&record.phases[0], true);
        let found = [50, 150, 250, 350].map(|at| log.core_of(7, Nanos(at)));
        assert_eq!(found, [Some(0), Some(0), Some(0), Some(1)]);
        assert_eq!(log.core_of(9, Nanos(150)), None);
        assert_eq!([150, 250, 350].map(|at| log.has_a_core(7, Nanos(at))), [true, false, true]);
    }

    #[test]
    fn a_hole_in_the_log_is_unknown() {
        let hog = ThreadKind::Foreign { priority: 90 };
        assert_eq!(log(vec![event(50, 0, 7, hog), event(300, 8, 0, ThreadKind::Idle)]), [(100, 200, None)]);
        assert_eq!(
            log(vec![event(50, 0, 7, hog), event(300, 7, 0, ThreadKind::Idle)]),
            [(100, 200, Some(7))]
        );
        assert_eq!(log(Vec::new()), [(100, 200, None)]);
    }
    #[test]
    fn what_a_container_hides_is_not_called_idle() {
        let of = |name: &str| Occupant {
            thread: Some(0),
            kind: ThreadKind::Idle,
            process: None,
            name: name.to_owned(),
        };
        assert_eq!(
            (of("").describe(), of("idle").describe()),
            (of("").describe(), "the idle task".to_owned())
        );
        let unseen = of("the idle task or a thread outside");
        assert!(unseen.may_be_unseen() && unseen.describe() == "the idle task or a thread outside");
    }
}
