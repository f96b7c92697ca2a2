//! Channels: instants, buffers, bounds.

use super::{Checker, Instants, shown, wide};
use crate::{Channel, MissingPolicy, PlannedChannel, PlannedTask, Qos, Sporadic, Start};
use leveret_types::Nanos;

impl Checker<'_> {
    /// Whether a channel that the table does not move has what its server's bound and its declaration say.
    fn is_without_table(&self, channel: &Channel, planned: &PlannedChannel) -> bool {
        let served = self.plan.sporadics.iter().zip(&self.job.sporadics);
        let starts = [Start::Message(planned.channel), Start::Request(planned.channel)];
        let server = |own: &Sporadic| starts.contains(&own.start);
        let bounds: Vec<Nanos> =
            served.filter(|(_, own)| server(own)).map(|(server, _)| server.response_bound).collect();
        let bound = if bounds.is_empty() || bounds.contains(&Nanos::MAX) {
            wide(Nanos::MAX)
        } else {
            bounds.iter().map(|bound| wide(*bound)).sum()
        };
        let deadline = channel.qos.service().and_then(|(_, _, deadline)| deadline);
        planned.instances.is_empty()
            && wide(planned.latency_bound) == bound
            && deadline.is_none_or(|deadline| bound <= wide(deadline))
            && planned.buffers == channel.buffers.max(1)
    }

    /// Every transfer at its instants; enough buffers; honest bounds.
    pub(super) fn channels(&mut self) {
        let ends = self.ends();
        for ((channel, planned), (writer, readers)) in
            self.job.channels.iter().zip(&self.plan.channels).zip(&ends)
        {
            let place = || format!("channel `{}`", channel.name);
            let Some(at) = self.instants(channel) else {
                self.require(
                    self.is_without_table(channel, planned),
                    place,
                    "a channel without a table has no transfers, and the bound of what serves it, within its deadline",
                );
                continue;
            };
            let transfers = self.round / at.period;
            self.transfers(channel, planned, &at);
            let reader = |(planned, place)| Reader { planned, place, round: self.round, transfers };
            let readers: Vec<Reader<'_>> = readers.iter().copied().map(reader).collect();
            let taken_at = |message: i128| {
                let Some((planned, place)) = writer else { return message * at.period + at.release };
                let (k, round) = turn(message - i128::from(planned.instances[0].writes[*place]), planned);
                wide(planned.instances[k].start()) + round * self.round
            };
            let last_taken_before = |instant: i128| {
                let Some((planned, place)) = writer else {
                    return (instant - at.release - 1).div_euclid(at.period);
                };
                let started = started_before(planned, self.round, instant);
                started - 1 + i128::from(planned.instances[0].writes[*place])
            };
            let mut held_max = 0;
            let mut latency = i128::MIN;
            for message in (0..transfers).filter(|_| readers.is_empty()) {
                let now = taken_at(message);
                held_max = held_max.max(message - (now - at.period - at.visible_at).div_euclid(at.period));
                latency = latency.max(message * at.period + at.visible_at - now);
            }
            for reader in &readers {
                // Most are held just before an instance ends.
                let held = (0..reader.planned.instances.len() as i128)
                    .map(|k| last_taken_before(reader.end(k)) - reader.done_after(k - 1));
                held_max = held.fold(held_max, i128::max);
            }
            for reader in &readers {
                let ages = (0..reader.planned.instances.len() as i128)
                    .map(|k| reader.end(k) - taken_at(reader.sees(k)));
                latency = ages.fold(latency, i128::max);
            }
            let held_back =
                i128::from(matches!(channel.qos, Qos::TimeDriven { missing: MissingPolicy::HoldLast, .. }));
            let needed = (held_max + held_back).max(2).max(i128::from(channel.buffers));
            self.require_found(
                i128::from(planned.buffers) == needed,
                place,
                "a buffer is always free, and none is wasted",
                || format!("the plan has {}, it needs {needed}", planned.buffers),
            );
            self.require_found(
                wide(planned.latency_bound) == latency,
                place,
                "its latency bound is the oldest message's age",
                || format!("the plan says {}, the oldest is {}", planned.latency_bound, shown(latency)),
            );
        }
    }
}

impl Checker<'_> {
    /// Each transfer of a time-driven channel is planned at the instants that its declaration makes.
    fn transfers(&mut self, channel: &Channel, planned: &PlannedChannel, at: &Instants) {
        let transfers = self.round / at.period;
        let instants_of = |k: i128| (k * at.period + at.insert_by, k * at.period + at.visible_at);
        let wrong =
            planned.instances.iter().zip(0_i128..).find(|(transfer, k)| {
                (wide(transfer.insert_by), wide(transfer.visible_at)) != instants_of(*k)
            });
        let right = planned.instances.len() as i128 == transfers && wrong.is_none();
        let place = || format!("channel `{}`", channel.name);
        let rule = "each transfer has its insertion limit and its visibility";
        self.require_found(right, place, rule, || {
            let Some((transfer, k)) = wrong else {
                return format!("{} are planned, the hyperperiod has {transfers}", planned.instances.len());
            };
            let (insert_by, visible_at) = instants_of(k);
            format!(
                "instance {k}: the plan has insert by {} and visible at {}, the job makes it {} and {}",
                transfer.insert_by,
                transfer.visible_at,
                shown(insert_by),
                shown(visible_at)
            )
        });
    }
}

/// A task, and the channel's place among those that it writes or reads.
type End<'a> = (&'a PlannedTask, usize);

impl<'a> Checker<'a> {
    /// Per channel: who writes it, and who reads it.
    fn ends(&self) -> Vec<(Option<End<'a>>, Vec<End<'a>>)> {
        let mut ends = vec![(None, Vec::new()); self.job.channels.len()];
        for (task, planned) in self.job.tasks.iter().zip(&self.plan.tasks) {
            for (place, id) in task.writes.iter().enumerate() {
                ends[id.index()].0.get_or_insert((planned, place));
            }
            for (place, id) in task.reads.iter().enumerate() {
                ends[id.index()].1.push((planned, place));
            }
        }
        ends
    }
}

/// How many instances of a task, counted from the first of round 0, start before an instant.
fn started_before(planned: &PlannedTask, round: i128, instant: i128) -> i128 {
    let turns = (instant - wide(planned.instances[0].start())).div_euclid(round);
    let within = planned.instances.partition_point(|k| wide(k.start()) + turns * round < instant);
    turns * planned.instances.len() as i128 + within as i128
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
    /// The last message that no instance after the k-th reads.
    fn done_after(&self, k: i128) -> i128 {
        let read = self.sees(k);
        if self.sees(k + 1) == read { read - 1 } else { read }
    }
}
