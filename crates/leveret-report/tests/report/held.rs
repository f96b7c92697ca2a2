//! Threads that are kept from running without their core being anybody's doing: stopped for a debugger, frozen, out of quota. And those that
//! were not: what the log of wake-ups says of a thread decides whether who had its core held it up.

use leveret_report::record::{
    Actor, Event, EventKind, Left, Outcome, RunRecord, SwitchEvent, ThreadKind, TimerInterrupt,
};
use leveret_report::synthetic::{A, Plant, Ring, ring};
use leveret_report::verdict::{Cause, Miss, Party, Subject, verdicts};
use leveret_types::Nanos;

/// The instance that is late, by 300 us.
const LATE: u64 = 200;

pub(crate) fn micros(value: i64) -> Nanos {
    Nanos(value * 1_000)
}

/// A's instance is woken late, and the log knows how its thread left its core after the one before, and when the thread was put on a queue.
pub(crate) struct Held {
    pub(crate) record: RunRecord,
    pub(crate) thread: u32,
    /// When the wake-up was due, about.
    pub(crate) due: Nanos,
    pub(crate) woken: Nanos,
}

impl Held {
    pub(crate) fn new(plant: Plant, left: Left) -> Self {
        let mut record = ring(&Ring { rounds: 400, plants: vec![(LATE, plant)], ..Ring::default() });
        let phase = &mut record.phases[0];
        let thread = phase.tasks[A].thread;
        let [before, late] = [LATE - 1, LATE].map(|place| phase.tasks[A].instances[place as usize]);
        phase.switches.push(to_idle(before.ended + Nanos(200), thread, left));
        phase.timers.clear();
        let held = Self { record, thread, due: late.planned - micros(50), woken: late.woken };
        // Wake-ups of another time, so that there is a log of them.
        held.with(before.planned - micros(900), EventKind::Woken { task: A as u16, core: 0, by: None })
    }

    pub(crate) fn with(mut self, at: Nanos, kind: EventKind) -> Self {
        self.record.phases[0].events.push(Event { at, kind });
        self.record.phases[0].events.sort_by_key(|event| event.at);
        self
    }

    pub(crate) fn queued(self, at: Nanos) -> Self {
        self.with(at, EventKind::Woken { task: A as u16, core: 0, by: None })
    }

    fn interrupted(mut self, at: Nanos) -> Self {
        self.record.phases[0].timers.push(TimerInterrupt { at, core: 0 });
        self
    }

    fn priority(mut self, priority: u8) -> Self {
        self.record.phases[0].tasks[A].priority = priority;
        self
    }

    pub(crate) fn miss(&self) -> Miss {
        let misses = verdicts(&self.record);
        let wanted = |miss: &&Miss| miss.subject == Subject::Task(A) && miss.instance == LATE;
        misses.iter().find(wanted).unwrap_or_else(|| panic!("no miss: {misses:#?}")).clone()
    }

    #[track_caller]
    pub(crate) fn expect(&self, cause: Cause, party: Party, unproven: bool) -> Miss {
        let miss = self.miss();
        assert_eq!((miss.cause, miss.party, miss.unproven), (cause, party, unproven), "{miss:#?}");
        miss
    }
}

pub(crate) fn hog() -> Plant {
    Plant::Hog { task: A, priority: 0, by: micros(300) }
}

pub(crate) fn idle() -> Plant {
    Plant::LateTimer { task: A, by: micros(300) }
}

fn switch(at: Nanos, [from, to]: [u32; 2], left: Left, to_kind: ThreadKind) -> SwitchEvent {
    SwitchEvent { at, core: 0, from, to, left, to_process: None, to_kind, to_name: String::new() }
}

/// A's thread leaves its core, which is idle from then on.
fn to_idle(at: Nanos, thread: u32, left: Left) -> SwitchEvent {
    switch(at, [thread, 0], left, ThreadKind::Idle)
}

/// A's thread comes to its core, which was idle.
fn to_task(at: Nanos, thread: u32) -> SwitchEvent {
    switch(at, [0, thread], Left::Runnable, ThreadKind::Task(A as u16))
}

pub(crate) fn actor(is_own: Option<bool>) -> Actor {
    Actor { process: 700, thread: 701, name: "holder".to_owned(), is_own }
}

/// Whose it is that this actor did something, and whether that is unproven.
const WHOSE: [(Option<bool>, Party, bool); 3] =
    [(Some(false), Party::Process, false), (Some(true), Party::Job, false), (None, Party::Job, true)];

#[test]
fn who_has_the_core_holds_up_only_a_thread_that_wants_it() {
    let held = Held::new(hog(), Left::Asleep);
    let (due, last) = (held.due + micros(2), held.woken - micros(1));
    held.queued(last).expect(Cause::Unexplained, Party::Job, true);
    let miss = Held::new(hog(), Left::Asleep).queued(due).expect(Cause::RunQueueWait, Party::Process, false);
    assert_eq!(miss.culprit.map(|culprit| culprit.name).as_deref(), Some("hog"));
    // It came to its core, so it was woken: a log without a record of that says nothing.
    Held::new(hog(), Left::Asleep).expect(Cause::RunQueueWait, Party::Process, false);
    // One that was preempted wants a core without being put on its queue again.
    Held::new(hog(), Left::Runnable).expect(Cause::RunQueueWait, Party::Process, false);
}

#[test]
fn who_froze_a_control_group_is_named_while_it_is_frozen() {
    let member = 0;
    for (is_own, party, unproven) in WHOSE {
        let frozen = || EventKind::Frozen { member, group: "/box".to_owned(), by: actor(is_own) };
        for plant in [hog(), idle()] {
            let held = Held::new(plant, Left::Asleep);
            let at = held.due - micros(100);
            let miss = held.with(at, frozen()).expect(Cause::Frozen, party, unproven);
            assert_eq!(miss.culprit.and_then(|culprit| culprit.pid), is_own.map(|_| 700));
        }
        let held = Held::new(hog(), Left::Asleep);
        let (at, thawed) = (held.due - micros(100), EventKind::Thawed { member, group: "/box".to_owned() });
        let queued = held.due + micros(2);
        let held = held.with(at, frozen()).with(at + micros(50), thawed).queued(queued);
        held.expect(Cause::RunQueueWait, Party::Process, false);
    }
}

#[test]
fn who_sleeps_where_no_signal_reaches_it_or_past_its_timer_is_frozen_by_nobody_knows_whom() {
    for plant in [hog(), idle()] {
        Held::new(plant, Left::Uninterruptible).expect(Cause::Frozen, Party::Job, true);
    }
    for plant in [hog(), idle()] {
        let held = Held::new(plant, Left::Asleep);
        let (expired, thawed) = (held.due + micros(1), held.woken - micros(1));
        held.interrupted(expired).queued(thawed).expect(Cause::Unexplained, Party::Job, true);
    }
    // Nor does anybody but an interrupt end a sleep in time; the interrupts need not have been seen.
    let woken_by = |plant, by, after| {
        let held = Held::new(plant, Left::Asleep);
        let at = held.woken - after;
        held.with(at, EventKind::Woken { task: A as u16, core: 0, by })
    };
    let miss = woken_by(idle(), Some(701), micros(1)).expect(Cause::Frozen, Party::Job, true);
    assert!(miss.evidence.iter().any(|why| why.contains("thread 701")), "{miss:#?}");
    woken_by(hog(), Some(701), micros(1)).expect(Cause::Frozen, Party::Job, true);
    woken_by(idle(), None, micros(1)).expect(Cause::Unexplained, Party::Job, true);
    // It was put on its core's queue in time, whoever did it.
    woken_by(hog(), Some(701), micros(348)).expect(Cause::RunQueueWait, Party::Process, false);
    // A timer that was late itself, and woke the thread, froze nobody.
    let held = Held::new(idle(), Left::Asleep);
    let (expired, woken) = (held.woken - micros(3), held.woken - micros(2));
    held.interrupted(expired).queued(woken).expect(Cause::LateTimer, Party::Machine, false);
}

/// A supervisor (seccomp) held the call in which it was to sleep: when that goes on, the timer expires at once.
#[test]
fn a_timer_that_expires_while_the_thread_has_its_core_was_not_late() {
    let held = |came: i64| {
        let mut held = Held::new(idle(), Left::Asleep);
        let (came, expired) = (held.woken - micros(came), held.woken - micros(20));
        held.record.phases[0].switches.retain(|event| event.to != held.thread || event.at < held.due);
        held.record.phases[0].switches.push(to_task(came, held.thread));
        held.record.phases[0].switches.sort_by_key(|event| event.at);
        held.interrupted(expired).queued(expired + micros(1))
    };
    let miss = held(30).expect(Cause::Unexplained, Party::Job, true);
    assert!(miss.evidence.iter().any(|why| why.contains("something held it before it slept")), "{miss:#?}");
    held(15).expect(Cause::LateTimer, Party::Machine, false);
}

#[test]
fn a_debugger_is_named_whoever_has_the_core_meanwhile() {
    for (is_own, party, unproven) in WHOSE {
        for plant in [hog(), idle()] {
            let held = Held::new(plant, Left::Traced);
            let at = held.due - micros(100);
            let miss = held.with(at, EventKind::Trapped { task: A as u16, by: actor(is_own) });
            let miss = miss.expect(Cause::Traced, party, unproven);
            assert_eq!(miss.culprit.and_then(|culprit| culprit.pid), is_own.map(|_| 700));
        }
    }
}

/// The log of the job's own threads alone does not say why they leave their cores.
#[test]
fn a_debugger_that_was_found_is_named_without_the_kernel_s_word() {
    let of = |late: i64, found: &[i64]| {
        let plants = vec![(LATE, Plant::LateTimer { task: A, by: micros(late) })];
        let mut record = ring(&Ring { rounds: 400, whole_core_log: false, plants, ..Ring::default() });
        let late = &record.phases[0].tasks[A].instances[LATE as usize];
        let planned = late.planned;
        for at in found {
            let kind = EventKind::Trapped { task: A as u16, by: actor(Some(false)) };
            record.phases[0].events.push(Event { at: planned + micros(*at), kind });
        }
        let misses = verdicts(&record);
        let is_it = |miss: &&Miss| miss.subject == Subject::Task(A) && miss.instance == LATE;
        let miss = misses.iter().find(is_it).expect("it is late");
        (miss.cause, miss.party, miss.unproven)
    };
    let (traced, unproven) = ((Cause::Traced, Party::Process, false), (Cause::Unexplained, Party::Job, true));
    assert_eq!(of(900, &[400]), traced);
    assert_eq!(of(900, &[-600]), unproven, "it held it long before");
    // Of a long wait that it held it for a moment says little.
    assert_eq!(of(100_000, &[50_000]), unproven);
    assert_eq!(of(100_000, &[10_000, 30_000, 50_000]), traced);
}

#[test]
fn a_debugger_that_goes_step_by_step_uses_up_the_runtime_of_a_deadline_thread() {
    for plant in [hog(), idle()] {
        let held = Held::new(plant, Left::Traced).priority(100);
        let (at, queued) = (held.due - micros(100), held.due + micros(2));
        let held = held.with(at, EventKind::Trapped { task: A as u16, by: actor(Some(false)) });
        held.queued(queued).expect(Cause::Traced, Party::Process, false);
    }
}

#[test]
fn a_body_led_step_by_step_left_its_core_whatever_the_kernel_counted() {
    let mut record = ring(&Ring { rounds: 400, ..Ring::default() });
    let phase = &mut record.phases[0];
    let (thread, budget) = (phase.tasks[A].thread, phase.job.tasks[A].budget);
    let late = &mut phase.tasks[A].instances[LATE as usize];
    late.ended = late.deadline + budget;
    late.switches = 0;
    let mut at = late.started + micros(5);
    while at + micros(10) < late.ended {
        phase.switches.push(to_idle(at, thread, Left::Traced));
        phase.switches.push(to_task(at + micros(5), thread));
        at = at + micros(20);
    }
    let began = late.started;
    let by = actor(Some(false));
    phase.events.push(Event { at: began, kind: EventKind::Trapped { task: A as u16, by } });
    let held = Held { record, thread, due: began, woken: began };
    held.expect(Cause::Traced, Party::Process, false);
}

#[test]
fn a_body_led_step_by_step_puts_no_deadline_task_in_debt_by_itself() {
    let judged = |steps: i64| {
        let mut held = Held::new(idle(), Left::Asleep).priority(100);
        let (due, thread) = (held.due, held.thread);
        let phase = &mut held.record.phases[0];
        let budget = phase.job.tasks[A].budget;
        let led = &mut phase.tasks[A].instances[LATE as usize - 1];
        led.ended = led.started + budget + micros(20);
        let (began, ended) = (led.started, led.ended);
        let last = phase.switches.iter_mut().find(|event| event.from == thread && event.at < due);
        last.expect("it left after the instance before").at = ended + Nanos(200);
        for step in 0..steps {
            let at = began + micros(2 + 3 * step);
            phase.switches.push(to_idle(at, thread, Left::Traced));
            phase.switches.push(to_task(at + Nanos(500), thread));
        }
        phase.switches.sort_by_key(|event| event.at);
        let by = actor(Some(false));
        phase.events.push(Event { at: began, kind: EventKind::Trapped { task: A as u16, by } });
        phase.events.sort_by_key(|event| event.at);
        let miss = held.queued(due + micros(2)).miss();
        (miss.cause, miss.party, miss.unproven)
    };
    assert_eq!(judged(5), (Cause::Traced, Party::Process, false));
    // Held once, a body that exceeds its budget has exceeded it.
    assert_eq!(judged(1), (Cause::Throttled, Party::Job, false));
}

#[test]
fn an_ordinary_thread_does_not_preempt_a_deadline_thread() {
    let held = Held::new(hog(), Left::Asleep).priority(100);
    let due = held.due;
    held.queued(due + micros(2)).expect(Cause::Throttled, Party::Job, true);
}

#[test]
fn a_throttled_instance_is_not_the_one_that_exceeded_the_budget() {
    let mut held = Held::new(idle(), Left::Asleep).priority(100);
    let (due, thread) = (held.due, held.thread);
    let phase = &mut held.record.phases[0];
    let budget = phase.job.tasks[A].budget;
    // The debtor is two instances back. The one before this one was off its core for nearly all of its long time.
    let at = LATE as usize - 2;
    phase.tasks[A].instances[at].ended = phase.tasks[A].instances[at].started + budget + micros(20);
    let throttled = &mut phase.tasks[A].instances[at + 1];
    throttled.ended = throttled.started + budget + micros(100);
    let (left, back) = (throttled.started + micros(1), throttled.ended - micros(1));
    let last = phase.switches.iter_mut().find(|event| event.from == thread && event.at < due);
    last.expect("it left after the instance before").at = throttled.ended + Nanos(200);
    phase.switches.push(to_idle(left, thread, Left::Runnable));
    phase.switches.push(to_task(back, thread));
    let miss = held.queued(due + micros(2)).expect(Cause::Throttled, Party::Job, false);
    let named = format!("the body of instance {} took longer", LATE - 2);
    assert!(miss.evidence.iter().any(|sentence| sentence.contains(&named)), "{miss:#?}");
}

#[test]
fn a_body_ran_though_the_log_did_not_see_its_thread_come() {
    let mut held = Held::new(idle(), Left::Asleep).priority(100);
    let (due, thread) = (held.due, held.thread);
    let phase = &mut held.record.phases[0];
    let budget = phase.job.tasks[A].budget;
    let debtor = LATE as usize - 1;
    phase.tasks[A].instances[debtor].ended = phase.tasks[A].instances[debtor].started + budget + micros(20);
    // The log holds neighbourhoods of suspicious instants: it saw the thread leave two instances before, and not come again.
    let earlier = phase.tasks[A].instances[debtor - 1].ended;
    let last = phase.switches.iter_mut().find(|event| event.from == thread && event.at < due);
    last.expect("it left after the instance before").at = earlier + Nanos(200);
    phase.switches.retain(|event| event.to != thread || event.at > due || event.at < earlier);
    let miss = held.queued(due + micros(2)).expect(Cause::Throttled, Party::Job, false);
    let named = format!("the body of instance {debtor} took longer");
    assert!(miss.evidence.iter().any(|sentence| sentence.contains(&named)), "{miss:#?}");
}

#[test]
fn a_quota_that_is_used_up_is_nobody_s_that_can_be_named() {
    for (priority, plant) in [(0, hog()), (0, idle())] {
        let held = Held::new(plant, Left::Asleep).priority(priority);
        let (since, at) = (held.due - micros(200), held.woken + micros(200));
        let quota =
            |length| EventKind::QuotaUsedUp { task: A as u16, group: "/box".to_owned(), since, length };
        let queued = held.due + micros(2);
        held.with(at, quota(micros(400))).queued(queued).expect(Cause::Throttled, Party::Job, true);
    }
    // One that was used up for a moment only explains no longer wait behind somebody.
    let held = Held::new(hog(), Left::Asleep).priority(0);
    let (since, at, queued) = (held.due - micros(200), held.woken + micros(200), held.due + micros(2));
    let kind = EventKind::QuotaUsedUp { task: A as u16, group: "/box".to_owned(), since, length: micros(3) };
    held.with(at, kind).queued(queued).expect(Cause::RunQueueWait, Party::Process, false);
}

#[test]
fn a_real_time_quota_lets_what_ranks_below_go_first() {
    let quota = || EventKind::RealTimeQuota {
        task: A as u16,
        group: "/box".to_owned(),
        quota: micros(100),
        period: micros(1000),
    };
    let judged = |priority: u8| {
        let held = Held::new(Plant::Hog { task: A, priority, by: micros(300) }, Left::Asleep);
        let (at, queued) = (held.due - micros(500), held.due + micros(2));
        let miss = held.with(at, quota()).queued(queued).miss();
        (miss.cause, miss.party, miss.unproven)
    };
    assert_eq!(judged(0), (Cause::Throttled, Party::Job, true));
    assert_eq!(judged(90), (Cause::RunQueueWait, Party::Process, false));
}

/// A's body slept from its start until `woken` after it; a hog came 20 us after the start, and had the core for 80 us.
fn slept_beside_a_hog(woken: i64) -> Miss {
    let mut record = ring(&Ring { rounds: 400, ..Ring::default() });
    let phase = &mut record.phases[0];
    let thread = phase.tasks[A].thread;
    let late = &mut phase.tasks[A].instances[LATE as usize];
    (late.deadline, late.ended, late.outcome) =
        (late.started + micros(60), late.started + micros(101), Outcome::RanLate);
    (late.switches, late.cpu) = (1, micros(1));
    let start = late.started;
    let (from, to) = (start, late.ended + micros(100));
    phase.switches.retain(|event| event.core != 0 || event.at < from || event.at > to);
    let hog = ThreadKind::Foreign { priority: 99 };
    phase.switches.extend([
        to_idle(start + Nanos(500), thread, Left::Asleep),
        switch(start + micros(20), [0, 700], Left::Runnable, hog),
        switch(start + micros(100), [700, thread], Left::Asleep, ThreadKind::Task(A as u16)),
        to_idle(start + micros(150), thread, Left::Asleep),
    ]);
    phase.switches.sort_by_key(|event| event.at);
    let held = Held { record, thread, due: start, woken: start };
    let held = held.with(start - micros(900), EventKind::Woken { task: A as u16, core: 0, by: None });
    held.queued(start + micros(woken)).miss()
}

/// It would have been late without the hog, or in time: who has the core of a thread that sleeps holds it up from its wake-up on.
#[test]
fn a_hog_beside_a_body_that_sleeps_has_what_is_left_after_the_wake_up() {
    let miss = slept_beside_a_hog(75);
    assert_eq!((miss.cause, miss.party, miss.unproven), (Cause::Blocked, Party::Job, false), "{miss:#?}");
    let miss = slept_beside_a_hog(45);
    assert_eq!((miss.cause, miss.party), (Cause::RunQueueWait, Party::Process), "{miss:#?}");
}
