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
    /// its number (48), and the end of the number of those that have ended with it (8).
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
    ended: u8,
}

impl Last {
    fn of(word: u64) -> Self {
        let outcome = |bits: u64| Outcome::of(bits as u8 & 0xf);
        let instance = word << 8 >> 16;
        Self { instance, outcome: outcome(word), before: outcome(word >> 4), ended: (word >> 56) as u8 }
    }

    fn word(self) -> u64 {
        let rest = (self.before as u64) << 4 | self.outcome as u64;
        u64::from(self.ended) << 56 | self.instance << 16 >> 8 | rest
    }

    /// How many instances had ended with it, where so many had when that was read afterwards: it is stored before their number.
    fn ended_with_it(self, afterwards: u64) -> u64 {
        let since = (afterwards as u8).wrapping_sub(self.ended).wrapping_add(1);
        (afterwards + 1).saturating_sub(u64::from(since))
    }
}

/// What had ended at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    /// Instances that were performed or missed.
    pub(super) ended: u64,
    /// The last instance, be it paused, and how it ended.
    pub(super) instance: u64,
    pub(super) outcome: Outcome,
    /// How the last one before it ended that was performed or missed.
    before: Outcome,
}

impl Seen {
    /// How the last instance that was performed or missed ended; without the last of these, how the one before it did.
    pub(super) fn last_ended(self, without_last: bool) -> Outcome {
        if without_last || self.outcome == Outcome::Paused { self.before } else { self.outcome }
    }
}

/// Tries to read what belongs together. Should each be overtaken by an end, the last one is right unless hundreds of ends overtake it.
const TRIES: u32 = 4;

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
        self.count_all(instance, outcome, 1);
        let Some(latency) = latency else { return };
        let mut durations = Durations::of_words(self.latency.stored());
        durations.add(latency);
        // Left out only where more threads than such counts have readers stall in the middle of a load.
        self.latency.store(durations.words());
    }

    /// Counts so many instances that ended alike, the last of which is this.
    pub(super) fn count_all(&self, instance: u64, outcome: Outcome, count: u64) {
        add(&self.counts[outcome as usize], count);
        let Last { outcome: last, before, .. } = Last::of(self.last.load(Ordering::Relaxed));
        let before = match last {
            _ if count > 1 && outcome != Outcome::Paused => outcome,
            Outcome::Paused => before,
            last => last,
        };
        let more = if outcome == Outcome::Paused { 0 } else { count };
        let ended = self.ended.load(Ordering::Relaxed) + more;
        let last = Last { instance, outcome, before, ended: ended as u8 };
        self.last.store(last.word(), Ordering::Release);
        if more > 0 {
            self.ended.store(ended, Ordering::Release);
        }
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

    /// How many instances have ended, and which was the last: read together.
    pub(super) fn seen(&self) -> Seen {
        let look = || {
            let word = self.last.load(Ordering::Acquire);
            (word, Last::of(word).ended_with_it(self.ended.load(Ordering::Acquire)))
        };
        let mut seen = look();
        for _ in 1..TRIES {
            if self.last.load(Ordering::Acquire) == seen.0 {
                break;
            }
            seen = look();
        }
        let (word, ended) = seen;
        let Last { instance, outcome, before, .. } = Last::of(word);
        Seen { ended, instance, outcome, before }
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
    pub(super) complete: u64,
    pub(super) missed: u64,
}

impl Told {
    /// Everything so far.
    pub(super) fn all(tally: &Tally) -> Self {
        let ended = tally.ended();
        let missed = missed(tally);
        Self { complete: ended.saturating_sub(missed), missed }
    }

    /// What is to be told of next. What was missed comes first, so that each success is a message that was moved.
    pub(super) fn untold(self, tally: &Tally) -> Option<Outcome> {
        // What ends meanwhile is told the next time; a miss is counted before its end.
        if tally.ended() <= self.complete + self.missed {
            return None;
        }
        if missed(tally) <= self.missed {
            return Some(Outcome::Complete);
        }
        let (_, last) = tally.last();
        Some(if last.is_miss() { last } else { Outcome::Invalid })
    }

    /// The next that has ended and was not told of.
    pub(super) fn next(&mut self, tally: &Tally) -> Option<Outcome> {
        let next = self.untold(tally)?;
        *(if next.is_miss() { &mut self.missed } else { &mut self.complete }) += 1;
        Some(next)
    }

    /// Tells of one that was performed, whatever was missed besides; whether there was one that was not told of.
    pub(super) fn take_complete(&mut self, tally: &Tally) -> bool {
        let is_there = self.has_complete(tally);
        self.complete += u64::from(is_there);
        is_there
    }

    /// Whether one was performed that was not told of.
    pub(super) fn has_complete(self, tally: &Tally) -> bool {
        // Read in this order, a miss is never taken for one that was performed.
        let ended = tally.ended();
        ended.saturating_sub(missed(tally)) > self.complete
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

    #[test]
    fn one_that_was_performed_is_taken_whatever_was_missed_besides() {
        let (tally, mut told) = (Tally::default(), Told::default());
        assert!(!told.take_complete(&tally));
        tally.count(0, Outcome::Complete, None);
        tally.count(1, Outcome::Late, None);
        assert!(told.take_complete(&tally) && !told.take_complete(&tally));
        assert_eq!([told.next(&tally), told.next(&tally)], [Some(Outcome::Late), None]);
    }

    #[test]
    fn instances_that_end_alike_are_counted_at_once() {
        let tally = Tally::default();
        tally.count(1, Outcome::Complete, None);
        tally.count_all(301, Outcome::Late, 300);
        let seen = tally.seen();
        assert_eq!((seen.ended, seen.instance, seen.outcome), (301, 301, Outcome::Late));
        assert_eq!((seen.last_ended(true), tally.of(Outcome::Late)), (Outcome::Late, 300));
        tally.count_all(303, Outcome::Paused, 2);
        assert_eq!((tally.ended(), tally.of(Outcome::Paused)), (301, 2));
        assert_eq!(tally.seen().last_ended(false), Outcome::Late);
    }

    /// Each instance has the outcome of its number, so that what does not belong together is seen.
    #[test]
    fn what_is_read_while_instances_end_belongs_together() {
        const INSTANCES: u64 = if cfg!(miri) { 50 } else { 200_000 };
        let outcome = |instance: u64| {
            [Outcome::Complete, Outcome::Late, Outcome::NoSenderBuffer][instance as usize % 3]
        };
        let tally = Tally::default();
        std::thread::scope(|scope| {
            scope.spawn(|| (1..=INSTANCES).for_each(|number| tally.count(number, outcome(number), None)));
            let mut seen = tally.seen();
            while seen.ended < INSTANCES {
                let last = seen.instance;
                assert_eq!(seen.ended, last, "{seen:?}");
                assert!(last < 1 || seen.last_ended(false) == outcome(last), "{seen:?}");
                assert!(last < 2 || seen.last_ended(true) == outcome(last - 1), "{seen:?}");
                seen = tally.seen();
            }
        });
    }

    /// A reader is stopped between the two words.
    #[test]
    fn the_number_of_what_ended_is_that_of_the_instance_whenever_it_is_read() {
        for ended in [0_u64, 1, 255, 256, 1000] {
            let last =
                Last { instance: 7, outcome: Outcome::Late, before: Outcome::None, ended: ended as u8 };
            assert_eq!(Last::of(last.word()).instance, 7);
            for afterwards in [ended.saturating_sub(1), ended, ended + 1, ended + 200] {
                assert_eq!(Last::of(last.word()).ended_with_it(afterwards), ended, "{afterwards}");
            }
        }
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
        assert_eq!(tally.seen().last_ended(true), Outcome::NoReceiverBuffer);
        tally.count(7, Outcome::Complete, None);
        assert_eq!(tally.seen().last_ended(true), Outcome::Complete);
        tally.correct(6, Outcome::NoReceiverBuffer, 1);
        assert_eq!(
            (tally.seen().last_ended(true), tally.last().1),
            (Outcome::NoReceiverBuffer, Outcome::Complete)
        );
    }

    #[test]
    fn pauses_hide_neither_the_last_that_ended_nor_the_one_before_it() {
        let tally = Tally::default();
        tally.count(1, Outcome::Late, None);
        tally.count(2, Outcome::Complete, None);
        tally.count(3, Outcome::Paused, None);
        tally.count(4, Outcome::Paused, None);
        assert_eq!((tally.last(), tally.seen().last_ended(false)), ((4, Outcome::Paused), Outcome::Complete));
        tally.count(5, Outcome::NoSenderBuffer, None);
        assert_eq!(
            [true, false].map(|without| tally.seen().last_ended(without)),
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
