//! How transfers end, and what is counted of it: plain words that any thread may read while others write.

use crate::task_tally::Durations;
use leveret_memory::Latest;
use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_types::Nanos;

/// How an instance of a channel ended, as one of its ends knows it. The numbers are those of `MPIRTX_Outcome`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Outcome {
    /// None has ended yet.
    #[default]
    None = 0,
    /// Performed.
    Complete = 1,
    /// Not performed: the sender's input iterator had no buffer.
    NoSenderBuffer = 2,
    /// Not performed: the receiver's input iterator had no buffer, or the receiver has given back none of the channel's.
    NoReceiverBuffer = 3,
    /// Not performed: sent after its instant.
    Late = 4,
    /// Not performed: what the sender's memory held was no message.
    Invalid = 5,
    /// Not performed, as asked: the other end took no part.
    Paused = 6,
    /// Not performed: the member at the other end has died.
    PeerLost = 7,
}

impl Outcome {
    const ALL: [Self; 8] = [
        Self::None,
        Self::Complete,
        Self::NoSenderBuffer,
        Self::NoReceiverBuffer,
        Self::Late,
        Self::Invalid,
        Self::Paused,
        Self::PeerLost,
    ];

    pub(super) fn of(number: u8) -> Self {
        Self::ALL[usize::from(number).min(Self::ALL.len() - 1)]
    }

    /// Whether the instance was to be performed, and was not.
    pub fn is_miss(self) -> bool {
        !matches!(self, Self::None | Self::Complete | Self::Paused)
    }
}

/// What was counted of one end since the commit. One thread at a time counts; all may read.
pub(in crate::objects) struct Tally {
    counts: [AtomicU64; Outcome::ALL.len()],
    /// Of the last instance, from the lowest bit on: its outcome (4 bits), that of the last one before it that was performed or missed (4),
    /// its number (48).
    last: AtomicU64,
    /// Instances that ended, performed or missed.
    ended: AtomicU64,
    latency: Latest<{ Durations::WORDS }>,
}

/// What [`Tally`] packs into one word.
#[derive(Clone, Copy)]
struct Last {
    instance: u64,
    outcome: Outcome,
    before: Outcome,
}

impl Last {
    fn of(word: u64) -> Self {
        let outcome = |bits: u64| Outcome::of(bits as u8 & 0xf);
        Self { instance: word >> 8, outcome: outcome(word), before: outcome(word >> 4) }
    }

    fn word(self) -> u64 {
        self.instance << 8 | (self.before as u64) << 4 | self.outcome as u64
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            counts: Default::default(),
            last: AtomicU64::default(),
            ended: AtomicU64::default(),
            latency: Latest::new([0; Durations::WORDS]),
        }
    }
}

impl Tally {
    /// Counts an instance that ended.
    pub(super) fn count(&self, instance: u64, outcome: Outcome, latency: Option<Nanos>) {
        add(&self.counts[outcome as usize], 1);
        let Last { outcome: last, before, .. } = Last::of(self.last.load(Ordering::Relaxed));
        let before = if last == Outcome::Paused { before } else { last };
        self.last.store(Last { instance, outcome, before }.word(), Ordering::Release);
        if outcome != Outcome::Paused {
            self.ended.store(self.ended.load(Ordering::Relaxed) + 1, Ordering::Release);
        }
        let Some(latency) = latency else { return };
        let mut durations = Durations::of_words(self.latency.stored());
        durations.add(latency);
        // Left out only where more threads than such counts have readers stall in the middle of a load.
        self.latency.store(durations.words());
    }

    /// So many complete instances, the last of which is this, turn out to have ended otherwise.
    pub(super) fn correct(&self, instance: u64, outcome: Outcome, count: u64) {
        let complete = &self.counts[Outcome::Complete as usize];
        complete.store(complete.load(Ordering::Relaxed).saturating_sub(count), Ordering::Relaxed);
        add(&self.counts[outcome as usize], count);
        // Only the thread that counts corrects.
        let mut last = Last::of(self.last.load(Ordering::Relaxed));
        if last.instance == instance && last.outcome == Outcome::Complete {
            last.outcome = outcome;
        } else if last.instance == instance + 1 && last.before == Outcome::Complete {
            last.before = outcome;
        }
        self.last.store(last.word(), Ordering::Release);
    }

    pub(super) fn of(&self, outcome: Outcome) -> u64 {
        self.counts[outcome as usize].load(Ordering::Relaxed)
    }

    /// The last instance that ended, and how.
    pub(super) fn last(&self) -> (u64, Outcome) {
        let last = Last::of(self.last.load(Ordering::Acquire));
        (last.instance, last.outcome)
    }

    /// How the last instance that was performed or missed ended; without the last of these, how the one before it did.
    pub(super) fn last_ended(&self, without_last: bool) -> Outcome {
        let last = Last::of(self.last.load(Ordering::Acquire));
        if without_last || last.outcome == Outcome::Paused { last.before } else { last.outcome }
    }

    /// Instances that ended, performed or missed.
    pub(super) fn ended(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    pub(super) fn latency(&self) -> Durations {
        Durations::of_words(self.latency.load())
    }
}

/// One thread at a time adds, so no locked instruction is needed.
fn add(counter: &AtomicU64, count: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
}

/// Of what has ended at an end, what a wait or a test has told of, or came before the activation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Told {
    pub(super) ended: u64,
    pub(super) missed: u64,
}

impl Told {
    /// Everything so far.
    pub(super) fn all(tally: &Tally) -> Self {
        Self { ended: tally.ended(), missed: missed(tally) }
    }

    /// The next that has ended and was not told of. What was missed comes first, so that each success is a message that was moved.
    pub(super) fn next(&mut self, tally: &Tally) -> Option<Outcome> {
        // What ends meanwhile is told the next time; a miss is counted before its end.
        let ended = tally.ended();
        if ended <= self.ended {
            return None;
        }
        self.ended += 1;
        if missed(tally) <= self.missed {
            return Some(Outcome::Complete);
        }
        self.missed += 1;
        let (_, last) = tally.last();
        Some(if last.is_miss() { last } else { Outcome::Invalid })
    }
}

fn missed(tally: &Tally) -> u64 {
    Outcome::ALL.into_iter().filter(|outcome| outcome.is_miss()).map(|outcome| tally.of(outcome)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_is_counted_and_the_last_one_is_told() {
        let tally = Tally::default();
        assert_eq!((tally.last(), tally.ended()), ((0, Outcome::None), 0));
        for (instance, outcome) in Outcome::ALL.into_iter().enumerate().skip(1) {
            tally.count(instance as u64, outcome, None);
            assert_eq!((tally.last(), tally.of(outcome)), ((instance as u64, outcome), 1));
        }
        assert_eq!(tally.ended(), 6, "a pause ends nothing");
    }

    // spec: CHANNEL-WAIT-02
    #[test]
    fn what_was_missed_is_told_first_and_everything_once() {
        let (tally, mut told) = (Tally::default(), Told::default());
        for (instance, outcome) in
            [Outcome::Complete, Outcome::Invalid, Outcome::Complete].into_iter().enumerate()
        {
            tally.count(instance as u64, outcome, None);
        }
        let next: Vec<_> = (0..4).map(|_| told.next(&tally)).collect();
        let complete = Some(Outcome::Complete);
        assert_eq!(next, [Some(Outcome::Invalid), complete, complete, None]);
    }

    // spec: TASK-METRIC-RUN-02
    #[test]
    fn latencies_that_are_read_while_they_are_counted_belong_together() {
        const MESSAGES: u64 = if cfg!(miri) { 50 } else { 50_000 };
        let tally = Tally::default();
        let counts = || {
            (1..=MESSAGES).for_each(|number| {
                tally.count(number, Outcome::Complete, Some(Nanos(number.cast_signed())));
            })
        };
        std::thread::scope(|scope| {
            scope.spawn(counts);
            let mut seen = 0;
            while seen < MESSAGES {
                let found = tally.latency();
                assert!(found.count >= seen, "counts never go back");
                seen = found.count;
                let sum = Nanos((seen * (seen + 1) / 2).cast_signed());
                assert_eq!(found.sum, sum);
                assert!(seen == 0 || [found.last, found.least] == [Nanos(seen.cast_signed()), Nanos(1)]);
            }
        });
    }

    #[test]
    fn what_was_complete_can_turn_out_to_have_failed() {
        let tally = Tally::default();
        tally.count(4, Outcome::Complete, None);
        tally.count(5, Outcome::Complete, None);
        tally.correct(5, Outcome::NoReceiverBuffer, 1);
        assert_eq!(tally.last(), (5, Outcome::NoReceiverBuffer));
        assert_eq!((tally.of(Outcome::Complete), tally.of(Outcome::NoReceiverBuffer)), (1, 1));
        tally.count(6, Outcome::Complete, None);
        tally.correct(4, Outcome::NoReceiverBuffer, 1);
        assert_eq!(tally.last(), (6, Outcome::Complete), "the last one is another");
        assert_eq!(tally.last_ended(true), Outcome::NoReceiverBuffer);
        tally.count(7, Outcome::Complete, None);
        assert_eq!(tally.last_ended(true), Outcome::Complete);
        tally.correct(6, Outcome::NoReceiverBuffer, 1);
        assert_eq!((tally.last_ended(true), tally.last().1), (Outcome::NoReceiverBuffer, Outcome::Complete));
    }

    #[test]
    fn pauses_hide_neither_the_last_that_ended_nor_the_one_before_it() {
        let tally = Tally::default();
        tally.count(1, Outcome::Late, None);
        tally.count(2, Outcome::Complete, None);
        tally.count(3, Outcome::Paused, None);
        tally.count(4, Outcome::Paused, None);
        assert_eq!((tally.last(), tally.last_ended(false)), ((4, Outcome::Paused), Outcome::Complete));
        tally.count(5, Outcome::NoSenderBuffer, None);
        assert_eq!(
            [true, false].map(|without| tally.last_ended(without)),
            [Outcome::Complete, Outcome::NoSenderBuffer]
        );
    }

    #[test]
    fn durations_have_least_greatest_and_sum() {
        let tally = Tally::default();
        for latency in [5, 3, 8] {
            tally.count(0, Outcome::Complete, Some(Nanos(latency)));
        }
        let expected =
            Durations { count: 3, last: Nanos(8), least: Nanos(3), greatest: Nanos(8), sum: Nanos(16) };
        assert_eq!(tally.latency(), expected);
    }
}
