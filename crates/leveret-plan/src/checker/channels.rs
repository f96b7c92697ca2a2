//! Channels: instants, buffers, bounds.

use super::{Checker, wide};
use crate::{MissingPolicy, PlannedTask, Qos};
use leveret_types::{ChannelId, Nanos};

impl Checker<'_> {
    /// Every transfer at its instants; enough buffers; honest bounds.
    pub(super) fn channels(&mut self) {
        for (index, (channel, planned)) in self.job.channels.iter().zip(&self.plan.channels).enumerate() {
            let place = || format!("channel `{}`", channel.name);
            let Some(at) = self.instants(channel) else {
                let plain = planned.instances.is_empty() && planned.latency_bound == Nanos::MAX;
                let buffers = planned.buffers == channel.buffers.max(2);
                self.require(plain && buffers, place, "a best-effort channel has no transfers and no bound");
                continue;
            };
            let transfers = self.round / at.period;
            let right = planned.instances.len() as i128 == transfers
                && planned.instances.iter().zip(0_i128..).all(|(transfer, k)| {
                    wide(transfer.insert_by) == k * at.period + at.insert_by
                        && wide(transfer.visible_at) == k * at.period + at.visible_at
                });
            self.require(right, place, "each transfer has its insertion limit and its visibility");
            let place_in = |ends: &[ChannelId]| ends.iter().position(|id| id.index() == index);
            let both = || self.job.tasks.iter().zip(&self.plan.tasks);
            let writer = both().find_map(|(task, planned)| Some((planned, place_in(&task.writes)?)));
            let readers: Vec<Reader<'_>> = both()
                .filter_map(|(task, planned)| {
                    Some(Reader { planned, place: place_in(&task.reads)?, round: self.round, transfers })
                })
                .collect();
            let taken_at = |message: i128| {
                let Some((planned, place)) = writer else { return message * at.period + at.release };
                let (k, round) = turn(message - i128::from(planned.instances[0].writes[place]), planned);
                wide(planned.instances[k].start()) + round * self.round
            };
            let mut held_max = 0;
            let mut latency = i128::MIN;
            for message in 0..transfers {
                let now = taken_at(message);
                let unread = (now - at.period - at.visible_at).div_euclid(at.period);
                held_max =
                    held_max.max(message - readers.iter().map(|r| r.done_with(now)).min().unwrap_or(unread));
                if readers.is_empty() {
                    latency = latency.max(message * at.period + at.visible_at - now);
                }
            }
            for reader in &readers {
                let ages = (0..reader.planned.instances.len() as i128)
                    .map(|k| reader.end(k) - taken_at(reader.sees(k)));
                latency = ages.fold(latency, i128::max);
            }
            let held_back =
                i128::from(matches!(channel.qos, Qos::TimeDriven { missing: MissingPolicy::HoldLast, .. }));
            let needed = (held_max + held_back).max(2).max(i128::from(channel.buffers));
            self.require(
                i128::from(planned.buffers) == needed,
                place,
                "a buffer is always free, and none is wasted",
            );
            self.require(
                wide(planned.latency_bound) == latency,
                place,
                "its latency bound is the oldest message's age",
            );
        }
    }
}

/// Instance within the hyperperiod, and hyperperiod, of any instance of a task.
fn turn(k: i128, planned: &PlannedTask) -> (usize, i128) {
    let count = planned.instances.len() as i128;
    (k.rem_euclid(count) as usize, k.div_euclid(count))
}

struct Reader<'a> {
    planned: &'a PlannedTask,
    place: usize,
    round: i128,
    transfers: i128,
}

impl Reader<'_> {
    fn end(&self, k: i128) -> i128 {
        let (k, round) = turn(k, self.planned);
        wide(self.planned.instances[k].end()) + round * self.round
    }
    fn sees(&self, k: i128) -> i128 {
        let (k, round) = turn(k, self.planned);
        i128::from(self.planned.instances[k].reads[self.place]) + round * self.transfers
    }
    /// The last message that no instance ending after `now` reads, of those that an earlier end let go.
    fn done_with(&self, now: i128) -> i128 {
        let round = (now - self.end(0)).div_euclid(self.round);
        let ended =
            self.planned.instances.partition_point(|k| wide(k.end()) + round * self.round <= now) as i128;
        let last = round * self.planned.instances.len() as i128 + ended - 1;
        let read = self.sees(last);
        if self.sees(last + 1) == read { read - 1 } else { read }
    }
}
