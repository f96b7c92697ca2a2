//! Time-driven ends: a task moves them, the program's or one of the library's own; what the program says in between,
//! start, activate, deactivate, the task follows.

use super::CommittedChannel;
use super::outcome::{Outcome, Seen, Told};
use crate::activation::{Activation, StartRefusal};
use crate::objects::error::Code;
use crate::watch::{Watch, Watched};
use leveret_types::{Instance, MemberId, Nanos};
use std::sync::Arc;

/// The member at the other end is looked at this often while somebody waits.
const PULSE: Nanos = Nanos::from_millis(20);
/// After an instant at which a transfer is due, its task is looked at this often.
const LOOK_AGAIN: Nanos = Nanos::from_micros(100);

/// A time-driven end as the program's threads see it.
pub(in crate::objects) struct TimedEnd {
    activation: Arc<Activation>,
    is_source: bool,
    peers: Box<[MemberId]>,
    /// From the instant at which the end is served to that of the transfer: that of a collective channel may have two stages.
    delay: Nanos,
    watch: Watched,
    /// Of the instances that ended here, how many a wait or a test has told of, or came before the activation.
    told: u64,
    /// What that was before and after the last success was taken that may be put back.
    told_before: [u64; 2],
    /// Transfers that were started before the activation.
    started_before: u64,
    /// Whether it has been reported that a single shot was paused; at an end that was activated it is reported once.
    is_pause_told: bool,
}

impl TimedEnd {
    pub(in crate::objects) fn new(
        (activation, watch): (Arc<Activation>, Arc<Watch>),
        is_source: bool,
        (peers, delay): (Box<[MemberId]>, Nanos),
    ) -> Self {
        let watch = Watched::new(watch);
        Self {
            activation,
            is_source,
            peers,
            delay,
            watch,
            told: 0,
            told_before: [0; 2],
            started_before: 0,
            is_pause_told: false,
        }
    }

    /// What tells it of the end and of deaths.
    pub(super) fn watch_mut(&mut self) -> &mut Watched {
        &mut self.watch
    }

    fn peer_lives(&self) -> Result<(), Code> {
        let watch = self.watch.now();
        let is_dead = |peer: &MemberId| watch.is_dead(*peer);
        if self.peers.iter().any(is_dead) { Err(Code::PeerLost) } else { Ok(()) }
    }

    fn due(&self, instance: u64) -> Nanos {
        self.activation.due(instance) + self.delay
    }

    /// Whether the last transfer has left this end, and its instant has not come yet.
    fn is_on_its_way(&self, last: Seen, now: Nanos) -> bool {
        self.is_source && last.outcome != Outcome::None && now < self.due(last.instance)
    }

    /// Whether one more transfer can be started now, so that [`TimedEnd::start`] may follow.
    pub(super) fn may_start(&self, channel: &CommittedChannel, now: Nanos) -> Result<(), Code> {
        self.peer_lives()?;
        let on_its_way = u64::from(self.has_started() && self.is_on_its_way(channel.tally.seen(), now));
        let slack = u64::from(channel.slack).saturating_sub(on_its_way);
        self.activation.may_start(slack, now).map_err(|refusal| match refusal {
            StartRefusal::Active => Code::Active,
            StartRefusal::Slack => Code::Slack,
            StartRefusal::Over => Code::TimePast,
        })
    }

    pub(super) fn start(&mut self) {
        self.activation.start();
    }

    /// Nothing that was started or has ended is left to tell of.
    pub(super) fn settle(&mut self, channel: &CommittedChannel) {
        self.started_before = self.activation.started();
        self.told = channel.tally.ended();
        self.is_pause_told = true;
    }

    /// Whether the next transfer that is started is the next that takes place.
    pub(super) fn is_idle(&self, now: Nanos) -> bool {
        self.activation.under_way() == 0 && !self.activation.is_active(now)
    }

    fn has_started(&self) -> bool {
        self.activation.started() > self.started_before
    }

    fn becomes_active(&mut self, channel: &CommittedChannel, now: Nanos) -> Result<(), Code> {
        self.peer_lives()?;
        if self.activation.is_active(now) {
            return Ok(());
        }
        if self.activation.under_way() > 0
            || self.has_started() && self.is_on_its_way(channel.tally.seen(), now)
        {
            return Err(Code::Slack);
        }
        if self.activation.is_once() && !self.activation.can_make(Instance(0), now) {
            return Err(Code::TimePast);
        }
        self.told = channel.tally.ended();
        self.started_before = self.activation.started();
        Ok(())
    }

    pub(super) fn activate(&mut self, channel: &CommittedChannel, now: Nanos) -> Result<(), Code> {
        self.becomes_active(channel, now)?;
        self.activation.activate(now);
        Ok(())
    }

    pub(super) fn activate_at(
        &mut self,
        channel: &CommittedChannel,
        period: u64,
        now: Nanos,
    ) -> Result<(), Code> {
        self.has_periods()?;
        if !self.activation.can_make(Instance(period), now) {
            return Err(Code::TimePast);
        }
        self.becomes_active(channel, now)?;
        self.activation.activate_at(Instance(period), now);
        Ok(())
    }

    pub(super) fn deactivate(&self, now: Nanos) -> Result<(), Code> {
        if !self.activation.is_active(now) {
            return Err(Code::NotStarted);
        }
        self.activation.deactivate(now);
        Ok(())
    }

    /// A single shot has none.
    fn has_periods(&self) -> Result<(), Code> {
        if self.activation.is_once() { Err(Code::UndefForObject) } else { Ok(()) }
    }

    pub(super) fn deactivate_at(&self, period: u64, now: Nanos) -> Result<(), Code> {
        self.has_periods()?;
        if !self.activation.is_active(now) {
            return Err(Code::NotStarted);
        }
        if !self.activation.can_make(Instance(period), now) {
            return Err(Code::TimePast);
        }
        if !self.activation.can_end_at(Instance(period), now) {
            return Err(Code::Limit);
        }
        self.activation.deactivate_at(Instance(period), now);
        Ok(())
    }

    /// What a wait or a test has told of, for a look that tells nobody: all that has ended is told at once, and a pause of a single shot
    /// counts as a miss.
    pub(super) fn told(&self) -> Told {
        Told { complete: self.told, missed: u64::from(self.is_pause_told) }
    }

    pub(super) fn tell(&mut self, told: Told) {
        self.told = told.complete;
        self.is_pause_told = told.missed > 0;
    }

    /// After a look that found a success and told nobody: tells of it, unless another thread was told of it meanwhile or a miss came after
    /// it; says whether.
    pub(super) fn take_complete(&mut self, channel: &CommittedChannel, now: Nanos) -> bool {
        let before = self.told();
        let looked = self.look(channel, now);
        let is_complete = matches!(looked, Ok(Some(outcome)) if !outcome.is_miss());
        if is_complete {
            self.told_before = [before.complete, self.told];
        } else {
            self.tell(before);
        }
        is_complete
    }

    /// What was taken so is told of once more.
    pub(super) fn put_back_complete(&mut self) {
        let [before, after] = self.told_before;
        if self.told == after {
            self.told = before;
        }
    }

    /// Whether a wait would end now, and how.
    pub(super) fn look(&mut self, channel: &CommittedChannel, now: Nanos) -> Result<Option<Outcome>, Code> {
        let (is_active, under_way) = (self.is_active(now), self.activation.under_way());
        // Read together: what ends meanwhile is told the next time.
        let seen = channel.tally.seen();
        let outcome = seen.outcome;
        let on_its_way = self.is_on_its_way(seen, now);
        if self.activation.is_once() && outcome == Outcome::Paused && under_way == 0 && !on_its_way {
            // The other end took no part in the only instance there is.
            if self.is_pause_told {
                return Err(Code::NotStarted);
            }
            // What was started is told of as often as anybody asks.
            self.is_pause_told = !self.has_started();
            return Err(Code::Missed);
        }
        // The last one may not be due yet; then only those before it have ended.
        let without_last = on_its_way && outcome != Outcome::Paused;
        if !is_active && self.has_started() {
            if under_way == 0 && !on_its_way {
                return Ok(Some(seen.last_ended(false)));
            }
        } else {
            let over = seen.ended.saturating_sub(u64::from(without_last));
            if over > self.told {
                self.told = over;
                return Ok(Some(seen.last_ended(without_last)));
            }
            let is_told = |last| outcome != Outcome::None && seen.instance >= last;
            if !is_active && self.activation.just_over(now - self.delay).is_none_or(is_told) {
                return Err(Code::NotStarted);
            }
        }
        self.peer_lives()?;
        if now >= self.watch.now().stop_at() { Err(Code::Uncommitted) } else { Ok(None) }
    }

    /// When to look again, while nothing has ended.
    pub(super) fn look_again_at(&self, now: Nanos) -> Nanos {
        let coming = self.activation.coming(now - self.delay);
        let due = self.due(coming);
        let past = coming.checked_sub(1).map(|past| self.due(past));
        // For some time after an instant its task may still be at it.
        let is_served = past.is_none_or(|past| (now - past).saturating_mul(2) > due - past);
        if is_served { due.min(now + PULSE) } else { now + LOOK_AGAIN }
    }

    pub(super) fn is_active(&self, now: Nanos) -> bool {
        self.activation.is_active(now - self.delay)
    }

    pub(super) fn under_way(&self, channel: &CommittedChannel, now: Nanos) -> u64 {
        let on_its_way = self.has_started() && self.is_on_its_way(channel.tally.seen(), now);
        self.activation.under_way() + u64::from(on_its_way)
    }
}

#[cfg(test)]
#[path = "timed_tests.rs"]
mod tests;
