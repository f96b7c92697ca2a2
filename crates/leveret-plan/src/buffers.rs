//! How many buffers a channel needs so that its writer always finds a free one, and how old its messages get.

use crate::bind::Transfer;
use crate::{Channel, MissingPolicy, PlannedTask, Qos};
use leveret_types::{BUFFERS_MAX, Nanos};

/// What one end of a channel does: when instance `k`, any integer, starts or ends, and which message it has.
struct End<'a> {
    planned: &'a PlannedTask,
    /// Place of the channel in the task's reads or writes.
    place: usize,
    hyperperiod: i64,
    /// Transfers per hyperperiod.
    transfers: i64,
}

impl End<'_> {
    fn split(&self, instance: i64) -> (usize, i64) {
        let count = self.planned.instances.len() as i64;
        (instance.rem_euclid(count) as usize, instance.div_euclid(count))
    }
    fn start(&self, instance: i64) -> i64 {
        let (index, round) = self.split(instance);
        self.planned.instances[index].start().0 + round * self.hyperperiod
    }
    fn end(&self, instance: i64) -> i64 {
        let (index, round) = self.split(instance);
        self.planned.instances[index].end().0 + round * self.hyperperiod
    }
    fn seen(&self, instance: i64) -> i64 {
        let (index, round) = self.split(instance);
        self.planned.instances[index].reads[self.place] + round * self.transfers
    }
    /// End of the last instance that reads `message`, or else of the first that reads a later one.
    fn releases(&self, message: i64) -> i64 {
        let count = self.planned.instances.len() as i64;
        // What is read never goes back, and advances by `transfers` messages in `count` instances: the first
        // instance that reads a later message lies in (low, low + count].
        let mut low = (message - self.seen(0)).div_euclid(self.transfers) * count;
        let mut instance = low + count;
        while instance - low > 1 {
            let middle = low + (instance - low) / 2;
            if self.seen(middle) <= message {
                low = middle;
            } else {
                instance = middle;
            }
        }
        let last = instance - 1;
        if self.seen(last) == message { self.end(last) } else { self.end(instance) }
    }
}

/// Occupation of one time-driven channel under a plan of its tasks.
pub(crate) struct Traffic<'a> {
    transfer: Transfer,
    transfers: i64,
    hyperperiod: i64,
    writer: Option<(End<'a>, i64)>,
    readers: Vec<End<'a>>,
}

impl<'a> Traffic<'a> {
    /// `writer` and `readers` come with the channel's place in their writes and reads.
    pub fn new(
        transfer: Transfer,
        hyperperiod: i64,
        writer: Option<(&'a PlannedTask, usize)>,
        readers: Vec<(&'a PlannedTask, usize)>,
    ) -> Self {
        let transfers = hyperperiod / transfer.period;
        let end = |(planned, place)| End { planned, place, hyperperiod, transfers };
        let writer = writer.map(end).map(|end| {
            // The writer's instance k fills message k + ahead, for every k.
            let ahead = end.planned.instances.first().map_or(0, |first| first.writes[end.place]);
            (end, ahead)
        });
        Self { transfer, transfers, hyperperiod, writer, readers: readers.into_iter().map(end).collect() }
    }

    /// When a message's buffer is taken: its writer may insert from its start on.
    fn taken_at(&self, message: i64) -> i64 {
        match &self.writer {
            Some((writer, ahead)) => writer.start(message - ahead),
            None => message * self.transfer.period + self.transfer.release,
        }
    }

    /// When a message's buffer is free again.
    fn freed_at(&self, message: i64) -> i64 {
        let unread = self.transfer.visible_at(message) + self.transfer.period;
        self.readers.iter().map(|reader| reader.releases(message)).max().unwrap_or(unread)
    }

    /// The oldest message that still holds its buffer when that of message 0 is taken, or 0.
    fn oldest_held(&self) -> i64 {
        let held = |message: i64| self.freed_at(message) > self.taken_at(0);
        if !held(-1) {
            return 0;
        }
        // Buffers are freed in order, so what is not held is found by doubling, and the border by halving.
        let mut before = -2;
        while held(before) {
            before *= 2;
        }
        let mut oldest = -1;
        while oldest - before > 1 {
            let middle = before + (oldest - before) / 2;
            if held(middle) {
                oldest = middle;
            } else {
                before = middle;
            }
        }
        oldest
    }

    /// Most messages that hold a buffer at once.
    fn held_max(&self) -> u64 {
        let (mut held_max, mut oldest) = (0, self.oldest_held());
        for message in 0..self.transfers {
            let now = self.taken_at(message);
            while oldest < message && self.freed_at(oldest) <= now {
                oldest += 1;
            }
            held_max = held_max.max(message - oldest + 1);
        }
        held_max.unsigned_abs()
    }

    /// Longest time from the earliest insertion to the end of a reader.
    pub fn latency_bound(&self) -> Nanos {
        let unread =
            (0..self.transfers).map(|message| self.transfer.visible_at(message) - self.taken_at(message));
        let read = self.readers.iter().flat_map(|reader| {
            (0..reader.planned.instances.len() as i64).map(|k| reader.end(k) - self.taken_at(reader.seen(k)))
        });
        let longest = if self.readers.is_empty() { unread.max() } else { read.max() };
        Nanos(longest.unwrap_or(0))
    }

    /// Buffers that the channel gets: never fewer than it asks for, nor than 2; one more where the reader may go
    /// back to the last good message.
    ///
    /// # Errors
    /// How many it would need, where that is beyond the limit.
    pub fn buffers(&self, channel: &Channel) -> Result<u32, u64> {
        let held_back = match channel.qos {
            Qos::TimeDriven { missing: MissingPolicy::HoldLast, .. } => 1,
            _ => 0,
        };
        let needed = (self.held_max() + held_back).max(u64::from(channel.buffers)).max(2);
        u32::try_from(needed).ok().filter(|count| *count <= BUFFERS_MAX && self.hyperperiod > 0).ok_or(needed)
    }
}
