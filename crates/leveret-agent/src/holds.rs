//! Who keeps a task's thread from running without taking its core: by a signal, a debugger, a control group that is frozen or whose quota is
//! used up.

use crate::families::{Families, Family};
use leveret_os::control_groups::{self, Groups, Hierarchies, Throttled};
use leveret_os::perf::{Hold, HoldLog, HoldRecord};
use leveret_os::{clock, facts, scheduling, threads_of};
use leveret_report::record::{Actor, Event, EventKind};
use leveret_types::Nanos;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

/// Events that are kept of a phase: a debugger that goes step by step makes one in each round of the agent's.
const EVENTS_MAX: usize = 65_536;
/// Wake-ups that are remembered, 1.5 MiB.
const WAKES_MAX: usize = 65_536;
/// Signals that stop a member are remembered so many: some seconds of somebody who does nothing else.
const STOPS_MAX: usize = 65_536;
/// Of an instance's are noted so many at most, evenly over it.
const STOPS_NOTED: i64 = 100;
/// Who did something is known for so long after it was asked, and so many are: threads' numbers are used again.
const KNOWN_FOR: Nanos = Nanos::from_secs(60);
const KNOWN_MAX: usize = 64;
/// Kept before and after a suspicious instant.
const MARGIN: Nanos = Nanos::from_micros(500);

struct Watched {
    task: u16,
    member: u16,
    thread: u32,
    /// Asked for once somebody was stopped.
    process: Option<u32>,
    /// Its group of version 2 at the time of what was last taken from the log.
    group: Option<String>,
    /// What had been taken from its groups when they were looked at last, and when that was.
    looked: Option<(Nanos, Groups, Throttled)>,
    /// The quota of its group for real-time work that was noted last.
    real_time: Option<(String, Nanos, Nanos)>,
}

/// Watches the threads of a phase.
pub(crate) struct HoldWatch {
    log: Option<HoldLog>,
    hierarchies: Hierarchies,
    threads: Vec<Watched>,
    next: usize,
    epoch: Nanos,
    families: Rc<Families>,
    kept: usize,
    /// Groups of version 2 that are frozen, as far as anybody was seen to freeze them, or to put a member into them.
    frozen: BTreeSet<String>,
    /// When a thread was woken, on which core, and by which thread if not by an interrupt.
    wakes: VecDeque<(Nanos, u32, u32, Option<u32>)>,
    /// Up to when wake-ups were noted.
    noted: BTreeMap<u32, Nanos>,
    /// When signals that stop were sent, and to which members by whom.
    stops: VecDeque<(Nanos, Arc<[EventKind]>)>,
    /// When the log was read last, and how much of it had been lost by then.
    looked: (Nanos, u64),
    /// Who did something lately, and when they were asked last.
    known: Vec<(Nanos, Actor)>,
    /// Up to when stops were noted, by member.
    noted_stops: BTreeMap<u16, Nanos>,
}

/// A signal, to which thread, by which; and what it was to members.
type LastStop = Option<((u32, u32, u32), Arc<[EventKind]>)>;

impl HoldWatch {
    /// Of these threads, each as task, member and thread; the kernel's log only where whole cores may be watched. Also returns why it cannot be
    /// had.
    pub(crate) fn start(
        threads: impl IntoIterator<Item = (u16, u16, u32)>,
        epoch: Nanos,
        families: &Rc<Families>,
        whole_core: bool,
    ) -> (Self, Option<String>) {
        let watched = |(task, member, thread)| Watched {
            task,
            member,
            thread,
            process: None,
            group: Groups::of(thread).unified,
            looked: None,
            real_time: None,
        };
        let threads: Vec<Watched> = threads.into_iter().map(watched).collect();
        let numbers: Vec<u32> = threads.iter().map(|each| each.thread).collect();
        let (log, warning) = match whole_core.then(|| HoldLog::open(&facts::online_cores(), &numbers)) {
            Some(Ok(log)) => (Some(log), None),
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, None),
        };
        let watch = Self {
            log,
            hierarchies: Hierarchies::read(),
            threads,
            next: 0,
            epoch,
            families: families.clone(),
            kept: 0,
            frozen: BTreeSet::new(),
            wakes: VecDeque::new(),
            noted: BTreeMap::new(),
            stops: VecDeque::new(),
            looked: (clock::now(), 0),
            known: Vec::new(),
            noted_stops: BTreeMap::new(),
        };
        (watch, warning)
    }

    /// What has happened since the last call; quotas are looked at for the tasks in `missed` and for one more.
    pub(crate) fn look(&mut self, missed: &[u16]) -> Vec<Event> {
        let mut events = Vec::new();
        let holds = self.log.as_mut().map(HoldLog::drain).unwrap_or_default();
        // Whoever did it had begun by then.
        self.families.look();
        let mut before: Option<EventKind> = None;
        let mut last_stop: LastStop = None;
        for hold in holds {
            if let Hold::Wake { thread, core, in_interrupt } = hold.what {
                let by = (!in_interrupt).then_some(hold.thread);
                self.wakes.push_back((hold.time, thread, core, by));
                continue;
            }
            let kinds = match hold.what {
                Hold::Stop { signal, thread } => self.stop(&hold, (signal, thread), &mut last_stop),
                _ => self.kinds(&hold).into(),
            };
            for kind in kinds.iter() {
                // Of a debugger's steps, and of a storm of signals, the first says all, but about an instance that misses its window.
                if before.as_ref() != Some(kind) {
                    before = Some(kind.clone());
                    events.push(Event { at: hold.time - self.epoch, kind: kind.clone() });
                }
            }
        }
        events.extend(self.lost());
        let surplus = self.stops.len().saturating_sub(STOPS_MAX);
        self.stops.drain(..surplus);
        let surplus = self.wakes.len().saturating_sub(WAKES_MAX);
        self.wakes.drain(..surplus);
        let count = self.threads.len().max(1);
        self.next = (self.next + 1) % count;
        for place in 0..self.threads.len() {
            let is_missed = missed.contains(&self.threads[place].task);
            if place == self.next || is_missed {
                self.quotas(place, &mut events);
                self.tracer(place, &mut events);
            }
        }
        events.truncate(EVENTS_MAX.saturating_sub(self.kept));
        self.kept += events.len();
        events
    }

    /// What was lost of the log since it was read before.
    fn lost(&mut self) -> Option<Event> {
        let (now, lost) = (clock::now(), self.log.as_ref().map_or(0, HoldLog::lost));
        let (before, known) = std::mem::replace(&mut self.looked, (now, lost));
        let kind = EventKind::EvidenceLost { since: before - self.epoch, records: lost - known };
        (lost > known).then_some(Event { at: now - self.epoch, kind })
    }

    /// Who called a task's thread between two instants (of the monotonic clock), with a margin: its wake-ups, and the signals that stopped its
    /// member, each once.
    pub(crate) fn calls(&mut self, task: u16, thread: u32, from: Nanos, until: Nanos) -> Vec<Event> {
        let (from, until, epoch) = (from - MARGIN, until + MARGIN, self.epoch);
        let noted = self.noted.entry(thread).or_insert(Nanos(i64::MIN));
        let first = self.wakes.partition_point(|(at, ..)| *at < from);
        let within = self.wakes.range(first..).take_while(|(at, ..)| *at <= until);
        let fresh = within.filter(|(at, of, ..)| *of == thread && *at > *noted);
        let woken = |&(at, _, core, by): &(Nanos, u32, u32, Option<u32>)| Event {
            at,
            kind: EventKind::Woken { task, core, by },
        };
        let mut events: Vec<Event> = fresh.map(woken).collect();
        *noted = events.last().map_or(*noted, |event| event.at);
        self.add_stops(task, from, until, &mut events);
        events.iter_mut().for_each(|event| event.at = event.at - epoch);
        events
    }

    /// The signals that stopped the member of a task within an interval, as many as tell whether it was one or a storm.
    fn add_stops(&mut self, task: u16, from: Nanos, until: Nanos, events: &mut Vec<Event>) {
        let Some(member) = self.threads.iter().find(|each| each.task == task).map(|each| each.member) else {
            return;
        };
        let noted = self.noted_stops.entry(member).or_insert(Nanos(i64::MIN));
        let apart = Nanos((until - from).0 / STOPS_NOTED);
        let first = self.stops.partition_point(|(at, _)| *at < from);
        for (at, kinds) in self.stops.range(first..).take_while(|(at, _)| *at <= until) {
            let of_it =
                |kind: &&EventKind| matches!(kind, EventKind::StopSent { member: of, .. } if *of == member);
            if let Some(kind) = kinds.iter().find(of_it).filter(|_| *at > noted.saturating_add(apart)) {
                *noted = *at;
                events.push(Event { at: *at, kind: kind.clone() });
            }
        }
    }

    /// What a signal that stops is to members: whom it is to, and by whom, is asked once of many that follow each other.
    fn stop(
        &mut self,
        hold: &HoldRecord,
        (signal, thread): (u32, u32),
        last: &mut LastStop,
    ) -> Arc<[EventKind]> {
        let which = (signal, thread, hold.thread);
        let kinds: Arc<[EventKind]> = match last {
            Some((known, kinds)) if *known == which => kinds.clone(),
            _ => self.kinds(hold).into(),
        };
        *last = Some((which, kinds.clone()));
        self.stops.push_back((hold.time, kinds.clone()));
        kinds
    }

    fn kinds(&mut self, hold: &HoldRecord) -> Vec<EventKind> {
        match &hold.what {
            Hold::Wake { .. } => Vec::new(),
            Hold::Trap { tracer, may_be_parent } => {
                let stopped = self.threads.iter().find(|each| each.thread == hold.thread);
                let task = stopped.map(|each| each.task);
                let by = self.actor(*tracer, threads_of::process_of(*tracer).unwrap_or(*tracer));
                // The agent starts the members, so it hears of every stop, and so does a shell that started one.
                let is_parent = *may_be_parent
                    && threads_of::parent_of(hold.thread).is_none_or(|parent| parent == by.process)
                    && threads_of::tracer_of(hold.thread) != Some(by.process);
                let is_agent = by.process == scheduling::process_id();
                let task = task.filter(|_| !is_agent && !is_parent);
                task.map(|task| EventKind::Trapped { task, by }).into_iter().collect()
            }
            Hold::Stop { signal, thread } => {
                let Some(process) = threads_of::process_of(*thread) else { return Vec::new() };
                let signal = u8::try_from(*signal).unwrap_or(u8::MAX);
                let by = self.actor(hold.thread, hold.process);
                let kind = |member| EventKind::StopSent { member, signal, by: by.clone() };
                self.members_of(process).into_iter().map(kind).collect()
            }
            Hold::Freeze(group) => {
                self.frozen.insert(group.clone());
                let by = self.actor(hold.thread, hold.process);
                let kind = |member| EventKind::Frozen { member, group: group.clone(), by: by.clone() };
                self.members_within(group).into_iter().map(kind).collect()
            }
            Hold::Thaw(group) => {
                self.frozen.remove(group);
                let kind = |member| EventKind::Thawed { member, group: group.clone() };
                self.members_within(group).into_iter().map(kind).collect()
            }
            Hold::Move { thread, group } => {
                let by = self.actor(hold.thread, hold.process);
                self.moved(*thread, group, &by)
            }
        }
    }

    /// A process, or a thread alone, is in another group now: out of frozen ones, into frozen ones, or neither.
    fn moved(&mut self, thread: u32, group: &str, by: &Actor) -> Vec<EventKind> {
        let members = self.members_of(thread);
        let is_it = |each: &Watched| {
            each.thread == thread || members.contains(&each.member) && each.process == Some(thread)
        };
        if !self.threads.iter().any(is_it) {
            return Vec::new();
        }
        // One that was frozen before anybody looked is asked.
        self.frozen.extend(self.hierarchies.frozen(group));
        let mut kinds = Vec::new();
        for each in self.threads.iter_mut().filter(|each| is_it(each)) {
            let (before, member) = (each.group.replace(group.to_owned()), each.member);
            let was_in =
                |frozen: &String| before.as_ref().is_some_and(|own| control_groups::is_within(own, frozen));
            for frozen in &self.frozen {
                let (was, is) = (was_in(frozen), control_groups::is_within(group, frozen));
                let (group, by) = (frozen.clone(), by.clone());
                kinds.extend(match (was, is) {
                    (true, false) => Some(EventKind::Thawed { member, group }),
                    (false, true) => Some(EventKind::PutIntoFrozen { member, group, by }),
                    _ => None,
                });
            }
        }
        kinds.dedup();
        kinds
    }

    /// Who that is; one that has ended since is known if it was asked before.
    fn actor(&mut self, thread: u32, process: u32) -> Actor {
        let found = threads_of::about(thread);
        let now = clock::now();
        self.known.retain(|(seen, _)| *seen + KNOWN_FOR > now);
        let family = match found {
            Ok(_) => self.families.of_living(thread, process),
            Err(_) => self.families.of_thread(thread, process),
        };
        if found.is_err() && family == Family::Unknown {
            let same = |(_, actor): &&(Nanos, Actor)| (actor.process, actor.thread) == (process, thread);
            if let Some((_, actor)) = self.known.iter().rfind(same) {
                return actor.clone();
            }
        }
        let is_own = match family {
            Family::Own => Some(true),
            Family::Foreign => Some(false),
            // The kernel itself stops and freezes nothing of its own accord.
            Family::Kernel | Family::Unknown => None,
        };
        let name = found.map_or_else(
            |_| self.families.name_of(thread).unwrap_or_default(),
            |found| self.families.named(thread, found.name),
        );
        let actor = Actor { process, thread, name, is_own };
        if is_own.is_some() {
            self.known.retain(|(_, known)| (known.process, known.thread) != (process, thread));
            self.known.push((now, actor.clone()));
            let surplus = self.known.len().saturating_sub(KNOWN_MAX);
            self.known.drain(..surplus);
        }
        actor
    }

    /// The members of which this process is.
    fn members_of(&mut self, process: u32) -> Vec<u16> {
        for each in self.threads.iter_mut().filter(|each| each.process.is_none()) {
            each.process = threads_of::process_of(each.thread);
        }
        let of_it = self.threads.iter().filter(|each| each.process == Some(process));
        once(of_it.map(|each| each.member))
    }

    /// The members of which a thread was in this group at the time of what was last taken from the log.
    fn members_within(&self, group: &str) -> Vec<u16> {
        let is_within =
            |each: &&Watched| each.group.as_deref().is_some_and(|own| control_groups::is_within(own, group));
        once(self.threads.iter().filter(is_within).map(|each| each.member))
    }

    /// Without the kernel's log of what holds a thread it is asked whether a debugger does now.
    fn tracer(&mut self, place: usize, events: &mut Vec<Event>) {
        let Watched { task, thread, .. } = self.threads[place];
        if self.log.is_some() {
            return;
        }
        let at = clock::now();
        if let Some(tracer) = threads_of::held_by(thread) {
            let by = self.actor(tracer, tracer);
            events.push(Event { at: at - self.epoch, kind: EventKind::Trapped { task, by } });
        }
    }

    fn quotas(&mut self, place: usize, events: &mut Vec<Event>) {
        let (now, watched) = (clock::now(), &mut self.threads[place]);
        let (task, groups) = (watched.task, Groups::of(watched.thread));
        let throttled = self.hierarchies.throttled(&groups);
        let mut note = |kind| events.push(Event { at: now - self.epoch, kind });
        if let Some(found) = self.hierarchies.real_time_quota(&groups)
            && watched.real_time.as_ref() != Some(&found)
        {
            let (group, quota, period) = found.clone();
            watched.real_time = Some(found);
            note(EventKind::RealTimeQuota { task, group, quota, period });
        }
        let group = throttled.group.clone();
        let before = watched.looked.replace((now, groups.clone(), throttled.clone()));
        if let Some((since, were, before)) = before
            && were == groups
            && throttled.time > before.time
        {
            let length = throttled.time - before.time;
            // The kernel counts a throttling at its end; it may have begun before the last look.
            let since = since - self.epoch - length;
            note(EventKind::QuotaUsedUp { task, group, since, length });
        }
    }
}

fn once(members: impl Iterator<Item = u16>) -> Vec<u16> {
    let mut all: Vec<u16> = members.collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: u32 = 4_000_001;

    fn families() -> Rc<Families> {
        Rc::new(Families::blind(std::path::Path::new("/run/own")))
    }

    /// Of a member whose process, and whose task's thread, have the number PROCESS, in the group `/start`.
    fn watch() -> HoldWatch {
        let (mut watch, _) = HoldWatch::start([(0, 0, PROCESS)], Nanos::ZERO, &families(), false);
        (watch.threads[0].group, watch.threads[0].process) = (Some("/start".to_owned()), Some(PROCESS));
        watch.hierarchies = Hierarchies::default();
        watch
    }

    #[test]
    fn who_was_asked_before_is_known_once_it_has_ended() {
        let mut watch = watch();
        let mut other = std::process::Command::new("sleep").arg("60").spawn().expect("it is there");
        let number = other.id();
        let before = watch.actor(number, number);
        other.kill().and_then(|()| other.wait()).expect("it ends");
        assert_eq!((before.name.as_str(), before.is_own), ("sleep", Some(true)));
        assert_eq!(watch.actor(number, number), before);
        // Whoever was not asked is nobody.
        assert_eq!(super::tests::watch().actor(number, number).is_own, None);
    }

    fn told(watch: &mut HoldWatch, what: Hold) -> Vec<String> {
        let hold = HoldRecord { time: Nanos(1), process: 4_000_002, thread: 4_000_002, what };
        let word = |kind: EventKind| match kind {
            EventKind::Frozen { group, .. } => format!("frozen {group}"),
            EventKind::PutIntoFrozen { group, by, .. } => format!("put into {group} by {}", by.process),
            EventKind::Thawed { group, .. } => format!("let go {group}"),
            other => format!("{other:?}"),
        };
        watch.kinds(&hold).into_iter().map(word).collect()
    }

    fn moved(group: &str) -> Hold {
        Hold::Move { thread: PROCESS, group: group.to_owned() }
    }

    #[test]
    fn a_member_is_frozen_with_the_group_that_it_was_in_then() {
        let mut watch = watch();
        let (freeze, thaw) =
            (|group: &str| Hold::Freeze(group.to_owned()), |group: &str| Hold::Thaw(group.to_owned()));
        assert_eq!(told(&mut watch, moved("/box/inner")), [""; 0]);
        assert_eq!(told(&mut watch, freeze("/start")), [""; 0], "it was moved out of that one");
        assert_eq!(told(&mut watch, freeze("/box")), ["frozen /box"]);
        // Who takes it out of a frozen group lets it go on; nobody lets that group go.
        assert_eq!(told(&mut watch, moved("/other")), ["let go /box"]);
        assert_eq!(told(&mut watch, thaw("/box")), [""; 0]);
        assert_eq!(told(&mut watch, moved("/start/below")), ["put into /start by 4000002"]);
        assert_eq!(told(&mut watch, thaw("/start")), ["let go /start"]);
        let stranger = Hold::Move { thread: 4_000_003, group: "/box".to_owned() };
        assert_eq!(told(&mut watch, stranger), [""; 0]);
    }

    /// Without the kernel's log.
    #[test]
    fn a_debugger_that_holds_a_thread_is_found_by_asking() {
        // SEIZE and INTERRUPT; it lets go when its input ends.
        const TRACER: &str = "import ctypes, sys\nptrace = ctypes.CDLL(None).ptrace\nthread = int(sys.argv[1])\n\
            failed = ptrace(0x4206, thread, 0, 0) or ptrace(0x4207, thread, 0, 0)\n\
            print('failed' if failed else 'held', flush=True)\nsys.stdin.read()\n";
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("it is there");
        let mut watch = watch();
        watch.threads[0].thread = child.id();
        let found = |watch: &mut HoldWatch| {
            let events = watch.look(&[0]).into_iter();
            let tracers = events.filter_map(|event| match event.kind {
                EventKind::Trapped { task: 0, by } => Some((by.process, by.is_own)),
                _ => None,
            });
            tracers.collect::<Vec<_>>()
        };
        assert_eq!(found(&mut watch), [], "nobody holds it");
        let tracer = std::process::Command::new("python3")
            .args(["-c", TRACER, &child.id().to_string()])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn();
        match tracer {
            Ok(mut tracer) => {
                let mut line = String::new();
                let out = tracer.stdout.take().expect("a pipe");
                std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line)
                    .expect("it says so");
                if line.trim() == "held" {
                    let begun = clock::now();
                    while threads_of::held_by(child.id()).is_none()
                        && clock::now() - begun < Nanos::from_secs(60)
                    {
                        std::thread::yield_now();
                    }
                    assert_eq!(
                        found(&mut watch),
                        [(tracer.id(), Some(true))],
                        "a child of this process, as of an agent"
                    );
                } else {
                    eprintln!("SKIPPED: nobody may trace here");
                }
                drop(tracer.stdin.take());
                tracer.wait().expect("it ends");
            }
            Err(error) => eprintln!("SKIPPED: python3: {error}"),
        }
        child.kill().and_then(|()| child.wait()).expect("it ends");
    }

    /// A child of this process stands for a member that a shell started.
    #[test]
    fn a_parent_that_hears_of_a_stop_is_no_debugger() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("it is there");
        let (number, ours) = (child.id(), scheduling::thread_id());
        let mut watch = watch();
        watch.threads[0].thread = number;
        let mut told = |tracer, may_be_parent| {
            let what = Hold::Trap { tracer, may_be_parent };
            let hold = HoldRecord { time: Nanos(1), process: number, thread: number, what };
            watch.kinds(&hold).len()
        };
        // The agent's own process is left out by its number; a thread of another one that is not its parent traces it.
        assert_eq!([told(ours, true), told(1, true), told(1, false)], [0, 1, 1]);
        child.kill().and_then(|()| child.wait()).expect("it ends");
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "sleep 60 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it is there");
        let mut line = String::new();
        let out = std::io::BufReader::new(shell.stdout.take().expect("a pipe"));
        std::io::BufRead::read_line(&mut { out }, &mut line).expect("it says its child");
        let member: u32 = line.trim().parse().expect("a number");
        watch.threads[0].thread = member;
        let mut told = |may_be_parent| {
            let what = Hold::Trap { tracer: shell.id(), may_be_parent };
            let hold = HoldRecord { time: Nanos(1), process: member, thread: member, what };
            watch.kinds(&hold).len()
        };
        assert_eq!([told(true), told(false)], [0, 1]);
        std::process::Command::new("kill").arg(member.to_string()).status().expect("it is there");
        shell.wait().expect("it ends");
    }

    #[test]
    fn a_group_that_was_frozen_before_anybody_looked_is_asked() {
        let mut watch = watch();
        watch.frozen.insert("/long".to_owned());
        assert_eq!(told(&mut watch, moved("/longer")), [""; 0]);
        assert_eq!(told(&mut watch, moved("/long/er")), ["put into /long by 4000002"]);
    }

    /// Of thousands of signals within an instance so many are noted that they are seen to be thousands, none twice, and none of another's.
    #[test]
    fn a_storm_of_signals_is_noted_where_an_instance_missed_its_window() {
        let mut watch = watch();
        let by = Actor { process: 7, thread: 7, name: "sender".to_owned(), is_own: Some(false) };
        let stop = |member| -> Arc<[EventKind]> {
            Arc::new([EventKind::StopSent { member, signal: 19, by: by.clone() }])
        };
        let every = |place: i64| Nanos(place * 1_000);
        watch.stops.extend((0..10_000).flat_map(|place| [(every(place), stop(0)), (every(place), stop(1))]));
        let noted = |watch: &mut HoldWatch, from, until| {
            let events = watch.calls(0, PROCESS, Nanos::from_millis(from), Nanos::from_millis(until));
            let of_it = |event: &Event| matches!(event.kind, EventKind::StopSent { member: 0, .. });
            assert!(events.iter().all(of_it), "{events:?}");
            events.len() as i64
        };
        let first = noted(&mut watch, 2, 6);
        assert!((STOPS_NOTED / 2..=STOPS_NOTED).contains(&first), "{first}");
        assert_eq!(noted(&mut watch, 2, 6), 0);
        assert!(noted(&mut watch, 6, 8) > STOPS_NOTED / 4);
        assert_eq!(noted(&mut watch, 60, 80), 0);
    }
}
