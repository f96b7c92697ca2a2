//! Whether a class of a port keeps to its claimed delay, whenever a frame comes.

use super::curves::Curve;
use super::table::Free;
use super::{PARTS, TIME_MAX};
use std::cell::Cell;

/// A class that is above, with its claims.
pub(super) struct Higher {
    pub curve: Curve,
    pub delay: Option<i128>,
    pub is_shaped: bool,
    /// Of a shaped one: its bucket, if it has a limit.
    pub bucket: Option<Bucket>,
}

/// What a shaper lets through: `(idle * (window + most) + (rate - idle) * frame) / rate`.
#[derive(Clone, Copy)]
pub(super) struct Bucket {
    pub idle: i128,
    pub rate: i128,
    pub most: i128,
    pub frame: i128,
}

impl Bucket {
    fn sends(&self, window: i128) -> i128 {
        let credit = self.idle * (window + self.most) + (self.rate - self.idle) * self.frame;
        (credit + self.rate - 1) / self.rate
    }
}

/// The port of a class.
pub(super) struct Turn<'a> {
    pub curve: &'a Curve,
    pub higher: &'a [Higher],
    pub rate: i128,
    pub preemption: bool,
    /// The longest frame of anybody.
    pub lower: i128,
    /// Shortest and longest frame of the class.
    pub frames: (i128, i128),
    pub idle: Option<i128>,
    /// Beside the table with its guards.
    pub beside: Free,
    /// Beside the table alone.
    pub open: Free,
}

impl Turn<'_> {
    /// The most credit that a shaped class can have, as time; none if it has no limit.
    pub(super) fn bucket(&self) -> Option<Bucket> {
        let idle = self.idle?;
        let own = (idle * PARTS + self.rate - 1) / self.rate;
        let by = |shaped: bool| {
            let (mut offset, mut rate) = self.beside.line(PARTS);
            offset = offset.saturating_add(self.lower * PARTS);
            for higher in self.higher {
                let line = match higher.bucket.filter(|_| shaped) {
                    Some(bucket) => {
                        (bucket.sends(0) * PARTS, (bucket.idle * PARTS + bucket.rate - 1) / bucket.rate)
                    }
                    None => higher.curve.line(higher.delay?)?,
                };
                (offset, rate) = (offset.saturating_add(line.0), rate.saturating_add(line.1));
            }
            let left = PARTS - rate;
            (left >= own && left > 0).then(|| offset.saturating_add(left - 1) / left)
        };
        let most = [by(false), by(true)].into_iter().flatten().min().filter(|most| *most < TIME_MAX)?;
        Some(Bucket { idle, rate: self.rate, most, frame: self.frames.1 })
    }

    /// The first instant of a busy window at which a frame may come that is sent later than claimed; `Err` where this cannot be told.
    pub(super) fn late(
        &self,
        bucket: Option<Bucket>,
        delay: i128,
        looks: &Cell<u64>,
    ) -> Result<Option<i128>, ()> {
        if self.idle.is_some() && bucket.is_none() {
            return Err(());
        }
        let walk = Walk { turn: self, bucket, looks };
        let length = walk.busy().ok_or(())?;
        let mut from = 0;
        let mut stride = length;
        while from < length {
            // As far as what has come until then is sent in time for what came first; the next time twice as far.
            stride = stride.saturating_mul(2).min(length - from);
            while walk.sent(from + stride - 1).ok_or(())? > from + delay {
                if stride == 1 {
                    return Ok(Some(from));
                }
                stride = (stride / 4).max(1);
            }
            from += stride;
        }
        Ok(None)
    }
}

struct Walk<'a> {
    turn: &'a Turn<'a>,
    bucket: Option<Bucket>,
    /// What may still be looked at.
    looks: &'a Cell<u64>,
}

impl Walk<'_> {
    fn look(&self) -> Option<()> {
        let of_higher = self.turn.higher.iter().map(|higher| higher.curve.count()).sum::<u64>();
        self.looks.set(self.looks.get().checked_sub(self.turn.curve.count() + of_higher)?);
        Some(())
    }

    /// What is in the way whatever comes, and what `own` of the class takes.
    fn base(&self, own: i128) -> i128 {
        match self.bucket {
            Some(bucket) => (own.saturating_mul(bucket.rate).saturating_add(bucket.idle - 1) / bucket.idle)
                .saturating_add(bucket.most + 1),
            None => own.saturating_add(self.turn.lower),
        }
    }

    fn free(&self) -> &Free {
        if self.bucket.is_some() { &self.turn.open } else { &self.turn.beside }
    }

    /// What those above send until an instant; for a shaped class its credit has it already.
    fn above(&self, until: i128) -> Option<i128> {
        if self.bucket.is_some() {
            return Some(0);
        }
        let mut sum: i128 = 0;
        for higher in self.turn.higher {
            let sent = match higher.bucket {
                None if higher.is_shaped => return None,
                None => higher.curve.most(until)?,
                Some(bucket) => {
                    let came = higher.delay.and_then(|delay| higher.curve.most(until + delay));
                    came.unwrap_or(i128::MAX).min(bucket.sends(until + 1))
                }
            };
            sum = sum.saturating_add(sent);
        }
        Some(sum)
    }

    /// The end of the longest busy window: all that has come before is sent.
    fn busy(&self) -> Option<i128> {
        let mut length = 1;
        loop {
            self.look()?;
            let own = self.base(self.turn.curve.most(length - 1)?);
            let all = own.saturating_add(self.above(length - 1)?);
            let end = self.free().latest(all)? + 1;
            if end <= length {
                return Some(length);
            }
            length = Some(end).filter(|end| *end < TIME_MAX)?;
        }
    }

    /// When a frame is sent that comes at `at`, after all that came until then.
    fn sent(&self, at: i128) -> Option<i128> {
        let own = self.turn.frames.0;
        let ahead = self.base(self.turn.curve.most(at)? - own);
        let mut start = 0;
        loop {
            self.look()?;
            let all = ahead.saturating_add(self.above(start)?);
            let next = self.free().latest(all)?;
            if next <= start {
                break;
            }
            start = Some(next).filter(|next| *next < TIME_MAX)?;
        }
        if !self.turn.preemption {
            return Some(start + own);
        }
        let all = ahead.saturating_add(own).saturating_add(self.above(start)?);
        Some(self.free().latest(all - 1)?.saturating_add(1).max(start + own))
    }
}
