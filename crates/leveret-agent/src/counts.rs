//! How often members' triggers have fired: a count that something has written over is reported, and one that is beyond what the plan allows
//! its handlers.

use leveret_memory::{FiringReader, PeerSegment};
use leveret_plan::Start;
use leveret_protocol::assemble::{Assembled, EventBinding};
use leveret_report::record::EventKind;
use leveret_types::Nanos;

/// Firings at once that a trigger may be ahead of its interval before that is reported: handlers serve each in its turn.
const AT_ONCE_MAX: u64 = 16;

/// A firing takes longer than this, on whatever machine: two exchanges on words that others read.
const FIRING_LEAST: Nanos = Nanos(5);
/// Triggers may fire from their member's commit on, which the others may keep waiting.
const COMMITTED_BEFORE: Nanos = Nanos::from_secs(3600);

/// The counts of all events' firings.
pub(crate) struct Counts {
    since: Nanos,
    /// For how long before that anybody may have fired.
    pub(crate) before: Nanos,
    /// Those that nothing has written over so far.
    sound: Vec<Count>,
}

/// One trigger's.
struct Count {
    member: u16,
    event: String,
    reader: FiringReader,
    /// How far it was at the beginning, and at the last look.
    first: u64,
    last: u64,
    /// The least distance of its firings that the plan of their handlers assumes, if it assumes one.
    interval: Option<Nanos>,
}

impl Counts {
    /// Of a phase that begins; `goes_on`: a mode may keep events that have fired before.
    pub(crate) fn new(
        assembled: &Assembled,
        segments: &[Option<PeerSegment>],
        (now, goes_on): (Nanos, bool),
    ) -> Self {
        let triggers =
            assembled.events.iter().flat_map(|event| event.triggers.iter().map(move |found| (event, found)));
        let sound = triggers.filter_map(|(event, trigger)| {
            let segment = segments.get(trigger.member.index())?.as_ref()?;
            let reader = segment.trigger(trigger.id, now)?;
            let first = reader.fired().filter(|_| goes_on).unwrap_or(0);
            let interval = interval(assembled, event);
            let (member, event) = (trigger.member.0, event.name.clone());
            Some(Count { member, event, reader, first, last: first, interval })
        });
        Self { since: now, before: COMMITTED_BEFORE, sound: sound.collect() }
    }

    /// Which of them something has written over since the last look: they have fallen, or grown by more than anybody can fire until `now`.
    pub(crate) fn look(&mut self, now: Nanos) -> Vec<EventKind> {
        let possible = ((now - self.since).max(Nanos::ZERO) + self.before).0 / FIRING_LEAST.0;
        let damaged = self.sound.extract_if(.., |count| match count.reader.fired() {
            Some(fired) if fired >= count.last && fired - count.first <= possible.unsigned_abs() => {
                count.last = fired;
                false
            }
            _ => true,
        });
        damaged.map(|Count { member, event, .. }| EventKind::CountDamaged { member, event }).collect()
    }

    /// Which of them are beyond what the plan of their handlers assumes until `now`, in words.
    pub(crate) fn beyond(&self, assembled: &Assembled, now: Nanos) -> Vec<String> {
        let words = self.sound.iter().filter_map(|count| {
            let interval = count.interval.filter(|interval| *interval > Nanos::ZERO)?;
            let (elapsed, fired) = ((now - self.since).max(Nanos::ZERO), count.last - count.first);
            let allowed = (elapsed.0 / interval.0).unsigned_abs() + 1;
            let member = &assembled.job.members.get(usize::from(count.member))?.name;
            (fired > allowed + AT_ONCE_MAX).then(|| {
                format!(
                    "member \"{member}\" fired event \"{}\" {fired} times in {elapsed}; the interval {interval} of its handlers allows {allowed}, \
                     and they ran no more often",
                    count.event
                )
            })
        });
        words.collect()
    }
}

/// The least interval of the handlers that the plan has for an event.
fn interval(assembled: &Assembled, event: &EventBinding) -> Option<Nanos> {
    let handlers = assembled.job.sporadics.iter().filter(|work| {
        matches!(&work.start, Start::Event { group, name } if (group, name) == (&event.group, &event.name))
    });
    handlers.filter_map(|work| work.interval).min()
}
