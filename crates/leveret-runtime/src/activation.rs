//! When a time-driven end takes part (design sections 10.4 and 10.5): while it is activated, and once for each transfer
//! that was started there.
//!
//! Both are local calls. What they ask is told to the other end at once, through the segment, and counts from an instance
//! on that nobody can have begun. The sender decides, instance by instance, whether both ends take part, and tells what it
//! decided: the receiver never guesses.

use crate::timing::Arrival;
use leveret_memory::sync::{AtomicI64, AtomicU64, Ordering};
use leveret_memory::{Latest, NOT_ACTIVE, ParticipationWriter};
use leveret_types::{Instance, Nanos};
use std::sync::{Mutex, PoisonError};

/// Periods between a call and the first instance that it can affect: one for the period in progress, one for the
/// peer to read the new index.
pub(crate) const MARGIN: u64 = 2;
const NEVER: u64 = NOT_ACTIVE;
/// A call that comes so long before the epoch affects instance 0; a later one might meet an end that has begun it.
const BEFORE_EPOCH: Nanos = Nanos::from_millis(1);

/// When an end takes part.
///
/// ```text
///  instances  ----[from=======until)---------[resume=========>
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spans {
    from: u64,
    until: u64,
    resume: u64,
}

impl Spans {
    /// From the epoch on.
    pub(crate) const ALWAYS: Self = Self { from: 0, until: NEVER, resume: NEVER };
    /// Not yet.
    pub(crate) const IDLE: Self = Self { from: NEVER, until: NEVER, resume: NEVER };

    pub(crate) fn of([from, until, resume]: [u64; 3]) -> Self {
        Self { from, until, resume }
    }

    fn words(self) -> [u64; 3] {
        [self.from, self.until, self.resume]
    }

    pub(crate) fn covers(self, instance: u64) -> bool {
        (self.from..self.until).contains(&instance) || (instance >= self.resume && self.resume != NEVER)
    }

    /// Whether it covers `instance` or a later one.
    fn covers_from(self, instance: u64) -> bool {
        self.from != NEVER && self.from < self.until && instance < self.until || self.resume != NEVER
    }

    /// Active from `at` on; where it is or will be active before that, nothing changes.
    fn activated(self, at: u64) -> Self {
        if self.until == NEVER {
            return Self { from: self.from.min(at), ..self };
        }
        let resume = self.resume.min(at);
        if resume <= self.until {
            // What never was a span begins where the new one does.
            Self {
                from: if self.from < self.until { self.from } else { resume },
                until: NEVER,
                resume: NEVER,
            }
        } else {
            Self { resume, ..self }
        }
    }

    /// Whether [`Spans::deactivated`] would let an activation that is planned before `at` take place.
    fn can_end_at(self, at: u64, first: u64) -> bool {
        self.resume >= at || self.is_pause_over(first)
    }

    /// Whether the span before the pause is over, and its receiver has taken its last instance.
    fn is_pause_over(self, first: u64) -> bool {
        self.until != NEVER && self.until + MARGIN < first
    }

    /// As it is, but for the first instance alone.
    fn only_first(self) -> Self {
        Self { until: self.until.min(1), resume: NEVER, ..self }
    }

    /// Not active from `at` on; `first` is the first instance that can still be changed.
    fn deactivated(self, at: u64, first: u64) -> Self {
        let past = Self { from: self.resume, until: NEVER, resume: NEVER };
        // The span before the pause may not be over, or its receiver still be to take its last instance.
        let last = if self.resume < at && self.is_pause_over(first) { past } else { self };
        // Then there is no place for the end of another span: the pause goes on.
        Self { until: last.until.min(at).max(last.from.min(at)), resume: NEVER, ..last }
    }
}

/// When one end takes part, shared by the threads that ask and the task that serves it.
pub struct Activation {
    asked: Mutex<Spans>,
    /// What was asked last, for the task: it takes no lock.
    latest: Latest<3>,
    /// Single transfers that were started here.
    started: AtomicU64,
    /// Of these, how many had their instance.
    finished: AtomicU64,
    epoch: AtomicI64,
    arrival: Arrival,
    told: ParticipationWriter,
}

impl Activation {
    pub(crate) fn new(arrival: Arrival, initial: Spans, told: ParticipationWriter) -> Self {
        told.tell_spans(initial.words());
        Self {
            asked: Mutex::new(initial),
            latest: Latest::new(initial.words()),
            started: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            epoch: AtomicI64::new(0),
            arrival,
            told,
        }
    }

    /// Whether its channel has one instance only.
    pub(crate) fn is_once(&self) -> bool {
        self.arrival.is_once()
    }

    pub(crate) fn arm(&self, epoch: Nanos) {
        self.epoch.store(self.arrival.origin(epoch).0, Ordering::Release);
    }

    fn epoch(&self) -> Nanos {
        Nanos(self.epoch.load(Ordering::Acquire))
    }

    /// When `instance` arrives.
    pub(crate) fn due(&self, instance: u64) -> Nanos {
        self.epoch() + self.arrival.of(instance)
    }

    /// The first instance that has not arrived at `now`.
    pub(crate) fn coming(&self, now: Nanos) -> u64 {
        self.arrival.next_after(now - self.epoch())
    }

    /// The first instance that a call made at `now` can affect.
    fn next(&self, now: Nanos) -> u64 {
        if now + BEFORE_EPOCH < self.epoch() { 0 } else { self.coming(now) + MARGIN }
    }

    /// Activates from the first instance that can still be made; returns it. The channel runs from the later of
    /// the two ends' first instances. An end that is active stays so.
    pub fn activate(&self, now: Nanos) -> Instance {
        self.activate_at(Instance(0), now)
    }

    /// Activates from `instance`, or from the first that can still be made if that is later; returns it. An end that
    /// is active before it stays so.
    pub fn activate_at(&self, instance: Instance, now: Nanos) -> Instance {
        // The greatest number stands for an end that is not active.
        let at = instance.0.max(self.next(now)).min(NEVER - 1);
        self.change(|spans| spans.activated(at));
        Instance(at)
    }

    /// Deactivates at the end of the period in progress; returns the first instance that is not made any more.
    pub fn deactivate(&self, now: Nanos) -> Instance {
        self.deactivate_at(Instance(0), now)
    }

    /// Deactivates at `instance`, or at the first that can still be left out if that is later; returns the first one that
    /// is not made any more. During a pause that lies ahead or has just begun, the pause goes on instead.
    pub fn deactivate_at(&self, instance: Instance, now: Nanos) -> Instance {
        let first = self.next(now);
        let at = instance.0.max(first);
        Instance(self.change(|spans| spans.deactivated(at, first)).until)
    }

    /// Whether [`Activation::deactivate_at`] ends there what is planned to be active before it. While a pause lies ahead or has just begun,
    /// there is room for the activation after it alone.
    pub(crate) fn can_end_at(&self, instance: Instance, now: Nanos) -> bool {
        self.spans().can_end_at(instance.0, self.next(now))
    }

    /// Whether a call made at `now` can still affect `instance`.
    pub(crate) fn can_make(&self, instance: Instance, now: Nanos) -> bool {
        instance.0 >= self.next(now)
    }

    fn change(&self, change: impl FnOnce(Spans) -> Spans) -> Spans {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked = change(*asked);
        if self.is_once() {
            *asked = asked.only_first();
        }
        let is_stored = self.latest.store(asked.words());
        assert!(is_stored, "its task and whoever has the end's lock read it: two loads at a time");
        self.told.tell_spans(asked.words());
        *asked
    }

    /// Whether one more transfer can be started: not while the end is activated or `slack` transfers are under way.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn may_start(&self, slack: u64, now: Nanos) -> Result<(), StartRefusal> {
        if self.spans().covers_from(self.coming(now)) {
            return Err(StartRefusal::Active);
        }
        if self.is_once() && !self.can_make(Instance(0), now) {
            return Err(StartRefusal::Over);
        }
        if self.under_way() >= slack { Err(StartRefusal::Slack) } else { Ok(()) }
    }

    /// Starts one transfer. Whoever has the end's lock calls it, after [`Activation::may_start`].
    pub(crate) fn start(&self) {
        let started = self.started.load(Ordering::Relaxed) + 1;
        self.started.store(started, Ordering::Release);
        self.told.tell_started(started);
    }

    /// Transfers that were started and have not had their instance.
    pub(crate) fn under_way(&self) -> u64 {
        let finished = self.finished.load(Ordering::Acquire);
        self.started.load(Ordering::Acquire).saturating_sub(finished)
    }

    /// Transfers that were ever started.
    pub(crate) fn started(&self) -> u64 {
        self.started.load(Ordering::Acquire)
    }

    /// Whether this end is or will be active at `now` or later.
    pub(crate) fn is_active(&self, now: Nanos) -> bool {
        self.spans().covers_from(self.coming(now))
    }

    /// The last instance of a span that is over at `now`, while it is over by less than a period: the task may still be at it.
    pub(crate) fn just_over(&self, now: Nanos) -> Option<u64> {
        let spans = self.spans();
        let last = spans.until.checked_sub(1).filter(|last| spans.until != NEVER && spans.from <= *last)?;
        (self.due(last) <= now && now < self.due(last + 1)).then_some(last)
    }

    /// A started transfer had its instance. Called by the task alone.
    pub(crate) fn finish_one(&self) {
        self.finished.store(self.finished.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Started transfers that had their instance.
    #[cfg(test)]
    pub(crate) fn finished(&self) -> u64 {
        self.finished.load(Ordering::Acquire)
    }

    #[inline]
    fn spans(&self) -> Spans {
        Spans::of(self.latest.load())
    }

    /// Whether this end is active in `instance`.
    #[inline]
    pub(crate) fn covers(&self, instance: u64) -> bool {
        self.spans().covers(instance)
    }

    /// How this end takes part in `instance`.
    #[inline]
    pub(crate) fn part(&self, instance: u64) -> Part {
        if self.covers(instance) {
            Part::Active
        } else if self.under_way() > 0 {
            Part::Started
        } else {
            Part::None
        }
    }
}

/// How an end takes part in an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Not at all.
    None,
    /// A transfer was started here and waits for its instance.
    Started,
    /// Activated.
    Active,
}

/// Why a transfer cannot be started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StartRefusal {
    /// The end is activated.
    Active,
    /// As many as the slack allows are under way.
    Slack,
    /// The only instance can no longer be made.
    Over,
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_memory::Sender;

    const PERIOD: Nanos = Nanos(10);

    /// Armed at 100; instance k arrives at 110 + 10 k, so a call within period k affects k + 2.
    fn armed() -> Activation {
        armed_with(Spans::ALWAYS).0
    }

    fn armed_with(initial: Spans) -> (Activation, Sender) {
        let (sender, receiver) = crate::port::tests::ends();
        let arrival = Arrival { period: PERIOD, first: PERIOD, once: None };
        let activation = Activation::new(arrival, initial, receiver.participation());
        activation.arm(Nanos(100));
        (activation, sender)
    }

    fn start(activation: &Activation, slack: u64, now: Nanos) -> Result<(), StartRefusal> {
        activation.may_start(slack, now).map(|()| activation.start())
    }

    fn within(period: i64) -> Nanos {
        Nanos(101 + period * 10)
    }

    fn active(activation: &Activation, instances: std::ops::Range<u64>) -> Vec<u64> {
        instances.filter(|instance| activation.covers(*instance)).collect()
    }

    // spec: SIDED-ACTIVATE-04
    #[test]
    fn a_pause_has_the_named_ends() {
        let activation = armed();
        assert_eq!(activation.deactivate(within(3)), Instance(5));
        assert_eq!(activation.activate_at(Instance(9), within(3)), Instance(9));
        assert_eq!(active(&activation, 0..12), [0, 1, 2, 3, 4, 9, 10, 11]);
    }

    // spec: SIDED-ACTIVATE-04
    #[test]
    fn an_end_that_is_to_be_active_from_the_last_instance_on_is_active() {
        let activation = armed();
        activation.deactivate(within(3));
        assert_eq!(activation.activate_at(Instance(u64::MAX), within(3)), Instance(u64::MAX - 1));
        assert_eq!(active(&activation, 0..12), [0, 1, 2, 3, 4]);
        assert!(activation.is_active(within(30)));
        assert_eq!(activation.activate(within(30)), Instance(32));
    }

    // spec: SIDED-ACTIVATE-06
    #[test]
    fn activating_what_is_active_leaves_no_gap() {
        let activation = armed();
        assert_eq!(activation.activate(within(3)), Instance(5));
        assert_eq!(active(&activation, 0..8), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    // spec: SIDED-ACTIVATE-08
    #[test]
    fn a_deactivation_can_be_taken_back_before_it_takes_effect() {
        let activation = armed();
        assert_eq!(activation.deactivate(within(3)), Instance(5));
        assert_eq!(activation.activate(within(3)), Instance(5));
        assert_eq!(active(&activation, 3..9), [3, 4, 5, 6, 7, 8]);
    }

    // spec: SIDED-ACTIVATE-03
    #[test]
    fn a_second_pause_begins_where_it_says() {
        let activation = armed();
        activation.deactivate(within(3));
        activation.activate_at(Instance(9), within(4));
        assert_eq!(activation.deactivate(within(20)), Instance(22));
        assert_eq!(active(&activation, 18..30), [18, 19, 20, 21]);
        assert_eq!(activation.activate(within(22)), Instance(24));
        assert_eq!(active(&activation, 19..27), [19, 20, 21, 24, 25, 26]);
    }

    // spec: SIDED-ACTIVATE-08
    #[test]
    fn a_planned_activation_that_is_taken_back_does_not_come() {
        let activation = armed();
        activation.deactivate(within(3));
        activation.activate_at(Instance(50), within(8));
        assert_eq!(activation.deactivate(within(10)), Instance(5));
        assert_eq!(active(&activation, 8..60), [0; 0]);
    }

    #[test]
    fn a_deactivation_far_ahead_leaves_alone_what_is_still_to_be_taken() {
        let activation = armed();
        assert_eq!(activation.deactivate(within(5)), Instance(7));
        assert_eq!(activation.activate(within(6)), Instance(8));
        assert!(activation.can_end_at(Instance(8), within(6)), "what is planned is taken back");
        assert!(!activation.can_end_at(Instance(9), within(6)), "8 would not be made");
        assert_eq!(activation.deactivate_at(Instance(11), within(6)), Instance(7));
        assert_eq!(active(&activation, 5..14), [5, 6]);
        assert_eq!(activation.activate_at(Instance(14), within(9)), Instance(14));
        assert!(activation.can_end_at(Instance(16), within(11)));
        assert_eq!(activation.deactivate_at(Instance(16), within(11)), Instance(16));
        assert_eq!(active(&activation, 11..19), [14, 15]);
    }

    #[test]
    fn the_last_instance_of_a_span_is_just_over_for_a_period() {
        let (activation, _peer) = armed_with(Spans::IDLE);
        activation.activate_at(Instance(7), within(3));
        assert_eq!(activation.just_over(within(8)), None);
        assert_eq!(activation.deactivate_at(Instance(9), within(3)), Instance(9));
        let last = activation.due(8);
        assert!(activation.is_active(last - Nanos(1)) && !activation.is_active(last + Nanos(1)));
        assert_eq!(activation.just_over(last - Nanos(1)), None);
        assert_eq!(activation.just_over(last + Nanos(1)), Some(8));
        assert_eq!(activation.just_over(last + PERIOD), None);
    }

    #[test]
    fn a_deactivated_end_is_not_deactivated_later_once_more() {
        let activation = armed();
        assert_eq!(activation.deactivate(within(3)), Instance(5));
        assert_eq!(activation.deactivate(within(9)), Instance(5));
        assert_eq!(active(&activation, 0..20), [0, 1, 2, 3, 4]);
    }

    // spec: SIDED-ACTIVATE-01
    #[test]
    fn what_is_asked_is_told_to_the_other_end_at_once() {
        let (activation, peer) = armed_with(Spans::IDLE);
        let told = || Spans::of(peer.peer_participation().spans().unwrap());
        assert_eq!(told(), Spans::IDLE);
        assert_eq!(activation.activate(within(3)), Instance(5));
        assert_eq!(active(&activation, 0..8), [5, 6, 7]);
        assert_eq!(told(), activation.spans());
        activation.deactivate_at(Instance(7), within(3));
        assert_eq!(active(&activation, 0..9), [5, 6]);
        assert_eq!(told(), activation.spans());
    }

    #[test]
    fn an_end_that_never_was_active_begins_where_it_is_asked_to() {
        let (activation, _peer) = armed_with(Spans::IDLE);
        activation.deactivate(within(3));
        assert_eq!(activation.activate(within(3)), Instance(5));
        assert_eq!(active(&activation, 0..8), [5, 6, 7]);
        activation.deactivate(within(3));
        assert_eq!(active(&activation, 0..8), [0; 0]);
        assert!(!activation.is_active(within(5)));
        assert_eq!(activation.activate(within(20)), Instance(22));
        assert_eq!(active(&activation, 0..25), [22, 23, 24]);
        assert!(activation.is_active(within(5)));
    }

    // spec: SIDED-SLACK-02
    #[test]
    fn starts_are_counted_up_to_the_slack_and_are_none_of_an_active_end() {
        let (activation, peer) = armed_with(Spans::IDLE);
        assert_eq!(activation.part(7), Part::None);
        assert_eq!(start(&activation, 2, within(3)), Ok(()));
        assert_eq!(start(&activation, 2, within(3)), Ok(()));
        assert_eq!(start(&activation, 2, within(3)), Err(StartRefusal::Slack));
        assert_eq!((activation.under_way(), peer.peer_participation().started()), (2, Some(2)));
        assert_eq!(activation.part(7), Part::Started);
        activation.finish_one();
        assert_eq!((activation.under_way(), activation.finished()), (1, 1));
        activation.activate(within(3));
        assert_eq!(start(&activation, 2, within(3)), Err(StartRefusal::Active));
        assert_eq!(activation.part(5), Part::Active);
    }

    #[test]
    fn a_single_shot_is_asked_for_before_its_window_and_never_after() {
        let (_sender, receiver) = crate::port::tests::ends();
        let window = Nanos::from_millis(50);
        let arrival = Arrival { period: Nanos(1 << 53), first: PERIOD, once: Some(window) };
        let activation = Activation::new(arrival, Spans::IDLE, receiver.participation());
        activation.arm(Nanos(100));
        let early = window - BEFORE_EPOCH - Nanos(1);
        assert_eq!(activation.due(0), window + PERIOD);
        activation.activate(early);
        assert_eq!(active(&activation, 0..9), [0]);
        assert!(activation.is_active(early) && !activation.is_active(window + PERIOD));
        activation.deactivate(early);
        assert!(active(&activation, 0..9).is_empty());
        assert_eq!(start(&activation, 1, early), Ok(()));
        assert_eq!(start(&activation, 2, window - BEFORE_EPOCH), Err(StartRefusal::Over));
        activation.activate(window);
        assert!(active(&activation, 0..9).is_empty(), "no later instance is made up");
    }
}
