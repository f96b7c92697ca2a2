//! What a member's records may say. Each is an allegation until the plan, the clock and the order of its own instants
//! allow it; whatever they do not allow is counted, and kept out of the record.

use leveret_memory::{Alleged, GAP_BUCKETS, MessageRecord, StampRecord};
use leveret_plan::{Plan, Qos};
use leveret_protocol::assemble::Assembled;
use leveret_report::record::{GAP_BOUNDS_NS, Outcome};
use leveret_runtime::{FateCode, OutcomeCode, START_AHEAD_MAX};
use leveret_types::{ChannelId, Nanos};

/// Instants may lie this far before the epoch: what is ready early may send as soon as it is.
const BEFORE_EPOCH: Nanos = Nanos::from_secs(3600);
/// What a task counts before the epoch it counts within this time: its thread is set up, and sleeps.
const SET_UP_MOST: Nanos = Nanos::from_secs(1);
/// A wake-up before its time, and other differences between two readings of one clock.
const CLOCK_SLACK: Nanos = Nanos::from_millis(1);
/// A message of a channel that the clock does not move takes longer.
const MESSAGE_LEAST: Nanos = Nanos(10);
/// The clock is not stepped farther.
const STEP_MAX: Nanos = Nanos::from_secs(86_400);

/// What the plan and the clock say of the records of a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) epoch: Nanos,
    /// When the records are read; [`Nanos::MAX`] for those of virtual time.
    pub(crate) now: Nanos,
}

impl Span {
    fn holds(self, at: Nanos) -> bool {
        self.epoch - BEFORE_EPOCH <= at && at <= self.now + CLOCK_SLACK
    }

    /// Nothing is counted oftener than once a nanosecond. What goes on in a mode counts on, from before the epoch.
    pub(crate) fn count(self, alleged: Alleged<u64>) -> Option<u64> {
        alleged.at_most((self.now - self.epoch + BEFORE_EPOCH).0.unsigned_abs())
    }

    /// The same of a task, whose thread sleeps until the epoch.
    pub(crate) fn count_of_task(self, alleged: Alleged<u64>) -> Option<u64> {
        alleged.at_most(self.longest())
    }

    fn longest(self) -> u64 {
        ((self.now - self.epoch).max(Nanos::ZERO) + SET_UP_MOST).0.unsigned_abs()
    }

    /// Gaps per length: whatever is at least as long as one bound is at least as long as the one before.
    pub(crate) fn gaps(self, alleged: Alleged<[u64; GAP_BUCKETS]>) -> Option<[u64; GAP_BUCKETS]> {
        let longest = self.longest();
        alleged.checked(|gaps| {
            gaps.windows(2).all(|pair| pair[0] >= pair[1]) && gaps[0] <= longest / u64::from(GAP_BOUNDS_NS[0])
        })
    }
}

/// What the plan says of the instances of a task.
pub(crate) struct TaskTable {
    /// Start and end of the window of each instance in the hyperperiod.
    slots: Vec<(Nanos, Nanos)>,
    hyperperiod: Nanos,
    pub(crate) guard: Nanos,
    pub(crate) budget: Nanos,
}

impl TaskTable {
    pub(crate) fn new(assembled: &Assembled, plan: &Plan, task: usize) -> Self {
        let window = |index: usize| {
            let declared = &assembled.job.tasks[task];
            declared.period.saturating_mul(index as i64) + declared.deadline
        };
        let planned = plan.tasks.get(task).map_or(&[][..], |planned| &planned.instances);
        let slots =
            planned.iter().enumerate().map(|(index, instance)| (instance.start(), window(index))).collect();
        let budget = assembled.job.tasks[task].budget;
        Self { slots, hyperperiod: plan.hyperperiod, guard: plan.costs.guard, budget }
    }

    pub(crate) fn period(&self) -> Nanos {
        Nanos(self.hyperperiod.0 / (self.slots.len() as i64).max(1))
    }

    /// Start and end of the window of an instance, from the epoch; `None` of one that no plan can hold.
    pub(crate) fn window(&self, instance: u64) -> Option<(Nanos, Nanos)> {
        let count = (self.slots.len() as u64).max(1);
        let (start, deadline) = *self.slots.get((instance % count) as usize)?;
        let round = i64::try_from(instance / count).ok()?.checked_mul(self.hyperperiod.0)?;
        Some((start + Nanos(round), deadline + Nanos(round)))
    }

    /// The instance whose body began last, and when, as a member says it by the instance's number and one; `None` where there was none yet, or it
    /// cannot be true.
    pub(crate) fn begun_last(&self, [number, at]: [Alleged<u64>; 2], span: Span) -> Option<(u64, Nanos)> {
        let instance = number.checked(|number| *number > 0)? - 1;
        let at = Nanos(i64::try_from(at.any_value()).ok()?);
        let (start, _) = self.window(instance)?;
        (at >= span.epoch + start - CLOCK_SLACK && at <= span.now).then_some((instance, at))
    }

    /// Whether an instance can have begun, or be the next: a thread that has ended is missed by that.
    pub(crate) fn has_begun(&self, instance: u64, span: Span) -> bool {
        let latest = span.now.max(span.epoch) + self.hyperperiod + self.guard + CLOCK_SLACK;
        self.window(instance).is_some_and(|(start, _)| span.epoch + start <= latest)
    }

    /// Instances that were to start by `span.now`.
    fn begun(&self, span: Span) -> u64 {
        let rounds = (span.now - span.epoch).0.max(0) / self.hyperperiod.0.max(1);
        rounds.unsigned_abs().saturating_add(1).saturating_mul(self.slots.len() as u64)
    }

    /// Records that were overwritten before they were read: there is one for each instance, and `read` of them have been.
    pub(crate) fn lost(&self, alleged: Alleged<u64>, read: u64, span: Span) -> Option<u64> {
        alleged.at_most(self.begun(span).saturating_sub(read))
    }

    /// A stamp that can be true, with what became of the instance.
    pub(crate) fn stamp(&self, alleged: Alleged<StampRecord>, span: Span) -> Option<(StampRecord, Outcome)> {
        let stamp = alleged.checked(|stamp| self.allows(stamp, span))?;
        Some((stamp, outcome(stamp.outcome)?))
    }

    fn allows(&self, stamp: &StampRecord, span: Span) -> bool {
        let Some((start, deadline)) = self.window(stamp.instance) else { return false };
        if (stamp.planned, stamp.deadline) != (span.epoch + start, span.epoch + deadline) {
            return false;
        }
        // A clock step puts two readings out of order by its length.
        let slack = CLOCK_SLACK + Nanos(stamp.clock_step.0.saturating_abs());
        let in_order = |first: Nanos, second: Nanos| first <= second + slack;
        slack <= STEP_MAX
            && in_order(stamp.planned - self.guard, stamp.woken)
            && in_order(stamp.planned, stamp.started)
            && in_order(stamp.woken, stamp.started)
            && in_order(stamp.started, stamp.ended)
            && in_order(stamp.ended, span.now)
            && Nanos::ZERO <= stamp.gap
            && in_order(stamp.gap, (stamp.started - stamp.woken).max(Nanos::ZERO))
            && in_order(stamp.woken, stamp.gap_at)
            && in_order(stamp.gap_at, stamp.started)
            && Nanos::ZERO <= stamp.cpu
            && in_order(stamp.cpu, stamp.ended - stamp.woken)
    }
}

fn outcome(code: u8) -> Option<Outcome> {
    Some(match code {
        code if code == OutcomeCode::Ran as u8 => Outcome::Ran,
        code if code == OutcomeCode::SkippedCritical as u8 => Outcome::SkippedCritical,
        code if code == OutcomeCode::SkippedOverrun as u8 => Outcome::SkippedOverrun,
        code if code == OutcomeCode::RanLate as u8 => Outcome::RanLate,
        _ => return None,
    })
}

/// What the plan says of the messages of a channel.
pub(crate) struct ChannelTable {
    size_max: u64,
    hyperperiod: Nanos,
    /// Of a channel that the clock moves.
    timing: Option<Arrivals>,
}

/// When messages arrive.
struct Arrivals {
    /// Of the first one, from the epoch; of a single shot on the job's clock.
    first: Nanos,
    period: Nanos,
    /// There is one only, in whatever round of the table that is.
    is_once: bool,
}

impl ChannelTable {
    pub(crate) fn new(assembled: &Assembled, plan: &Plan, channel: usize) -> Self {
        let declared = &assembled.job.channels[channel];
        let visible = plan.channels.get(channel).and_then(|planned| planned.instances.first());
        let timing = match (&declared.qos, visible) {
            (Qos::TimeDriven { period, release, .. }, Some(first)) => {
                Some(match assembled.shot(ChannelId(channel as u16)) {
                    Some(shot) => Arrivals {
                        first: shot.at + first.visible_at - *release,
                        period: *period,
                        is_once: true,
                    },
                    None => Arrivals { first: first.visible_at, period: *period, is_once: false },
                })
            }
            _ => None,
        };
        Self { size_max: declared.size.0, hyperperiod: plan.hyperperiod, timing }
    }

    /// Records that an end can have written until `span.now`. It writes a handful for an instance, and of what the clock does not move one of 64.
    pub(crate) fn records(&self, span: Span) -> u64 {
        let elapsed = (span.now - span.epoch).max(Nanos::ZERO);
        let instances = |period: Nanos| (elapsed.0 / period.0.max(1)).unsigned_abs();
        // What moves once has a place in each round.
        let (begun, ahead) = match &self.timing {
            Some(Arrivals { is_once: true, .. }) => (instances(self.hyperperiod), 1),
            Some(Arrivals { period, .. }) => {
                let rounds_ahead = (2 * (self.hyperperiod.0 / period.0.max(1))).unsigned_abs();
                (instances(*period), START_AHEAD_MAX + rounds_ahead)
            }
            None => return (elapsed + BEFORE_EPOCH).0.unsigned_abs() / SAMPLED_OF,
        };
        begun.saturating_add(ahead + 1).saturating_mul(RECORDS_OF_INSTANCE)
    }

    /// Whether the receiver can have looked for an instance.
    pub(crate) fn has_begun(&self, instance: u64, span: Span) -> bool {
        match &self.timing {
            Some(arrivals) => arrivals
                .due(instance, span.epoch)
                .is_some_and(|due| due <= span.now.max(span.epoch) + self.hyperperiod + CLOCK_SLACK),
            None => instance <= (span.now.0 / MESSAGE_LEAST.0).max(0).unsigned_abs(),
        }
    }

    /// A record that can be true, with what became of the message, as its sender (`is_source`) or its receiver saw it.
    pub(crate) fn message(
        &self,
        alleged: Alleged<MessageRecord>,
        is_source: bool,
        span: Span,
    ) -> Option<(MessageRecord, FateCode)> {
        let code = |record: &MessageRecord| FATES.into_iter().find(|fate| *fate as u8 == record.fate);
        let record = alleged.checked(|record| {
            code(record).is_some_and(|fate| {
                let fits = u64::from(record.size) <= self.size_max;
                fits == (fate != FateCode::TooLong) && self.is_timely((record, fate), is_source, span)
            })
        })?;
        Some((record, code(&record)?))
    }

    fn is_timely(&self, (record, fate): (&MessageRecord, FateCode), is_source: bool, span: Span) -> bool {
        let Some(arrivals) = &self.timing else {
            return is_timely_at_any_time(record, fate, is_source, span);
        };
        let (acted, ahead) = if is_source {
            // It fills the window that follows its task's at the latest, or that of an instance for which a receiver joins in.
            let joined = arrivals.period.saturating_mul(START_AHEAD_MAX as i64);
            (fate == FateCode::Done, self.hyperperiod.saturating_mul(2) + joined)
        } else {
            let acted = matches!(
                fate,
                FateCode::Done
                    | FateCode::Late
                    | FateCode::Corrupt
                    | FateCode::OutOfOrder
                    | FateCode::NoRoom
                    | FateCode::Damaged
            );
            (acted, self.hyperperiod)
        };
        let may_say = match fate {
            FateCode::Done | FateCode::Missing | FateCode::Inactive => true,
            FateCode::NoBuffer | FateCode::TooLong => is_source,
            FateCode::Sampled | FateCode::Restored => false,
            _ => !is_source,
        };
        may_say
            && (!acted || span.holds(record.at))
            && arrivals.due(record.instance, span.epoch) == Some(record.due)
            && record.due <= span.now.max(span.epoch) + ahead + CLOCK_SLACK
    }
}

/// Of what the clock does not move only the receiver writes records: of a message that was stamped, and of what came damaged. Such a
/// channel counts on in a mode that keeps it, so its messages are counted from the start of the machine.
fn is_timely_at_any_time(record: &MessageRecord, fate: FateCode, is_source: bool, span: Span) -> bool {
    let is_said = match fate {
        FateCode::Sampled => record.instance.is_multiple_of(SAMPLED_OF),
        FateCode::Damaged | FateCode::Invalid | FateCode::Restored => true,
        _ => false,
    };
    let most = (span.now.0 / MESSAGE_LEAST.0).max(0).unsigned_abs();
    is_said
        && !is_source
        && record.instance <= most
        && span.holds(record.at)
        && span.holds(record.due)
        && record.due <= record.at
}

impl Arrivals {
    /// When an instance is due; `None` of one that cannot be.
    fn due(&self, instance: u64, epoch: Nanos) -> Option<Nanos> {
        let after = i64::try_from(instance).ok()?.checked_mul(self.period.0)?;
        if self.is_once {
            return (Nanos(after) <= (self.first - epoch).max(Nanos::ZERO)).then_some(self.first);
        }
        epoch.0.checked_add(self.first.0)?.checked_add(after).map(Nanos)
    }
}

impl ChannelTable {
    /// Whether the clock moves the channel.
    pub(crate) fn is_time_driven(&self) -> bool {
        self.timing.is_some()
    }
}

/// Records that an end writes of one instance at most.
const RECORDS_OF_INSTANCE: u64 = 8;
/// Channels that are not time-driven record one message in this many.
pub(crate) const SAMPLED_OF: u64 = 64;

const FATES: [FateCode; 15] = [
    FateCode::Done,
    FateCode::Late,
    FateCode::Missing,
    FateCode::NoBuffer,
    FateCode::Invalid,
    FateCode::Passed,
    FateCode::Inactive,
    FateCode::Corrupt,
    FateCode::OutOfOrder,
    FateCode::Sampled,
    FateCode::Vacant,
    FateCode::NoRoom,
    FateCode::Damaged,
    FateCode::Restored,
    FateCode::TooLong,
];
