//! How much comes to a class of a port within a window, from claimed delays. Sums saturate: too much is no bound.

use super::PARTS;

/// One flow at one port.
pub(super) struct Stair {
    /// What one message brings: time of the link, or bytes.
    pub message: i128,
    pub burst: i128,
    pub interval: i128,
    /// How much later one message may be than another; none where an earlier port promises nothing.
    pub jitter: Option<i128>,
}

/// What a link lets through: so much at once, and so much in so much time.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub at_once: i128,
    pub brings: i128,
    pub takes: i128,
}

impl Limit {
    /// The looser of both, in each respect.
    pub(super) fn or(self, other: Self) -> Self {
        let steeper = if self.brings * other.takes < other.brings * self.takes { other } else { self };
        Self { at_once: self.at_once.max(other.at_once), ..steeper }
    }
}

/// Everything that comes to a class of a port, by the link it comes over.
#[derive(Default)]
pub(super) struct Curve {
    pub inputs: Vec<(Vec<Stair>, Option<Limit>)>,
}

impl Curve {
    /// How many flows there are, and one.
    pub(super) fn count(&self) -> u64 {
        self.inputs.iter().map(|(stairs, _)| stairs.len() as u64).sum::<u64>() + 1
    }

    /// The most that comes within a window, its ends included; none if there is no limit.
    pub(super) fn most(&self, window: i128) -> Option<i128> {
        let mut sum: i128 = 0;
        for (stairs, limit) in &self.inputs {
            let counted = stairs.iter().try_fold(0, |sum: i128, stair| {
                let messages = stair.burst + (window + stair.jitter?) / stair.interval;
                Some(sum.saturating_add(messages.saturating_mul(stair.message)))
            });
            let limited = limit
                .map(|limit| limit.at_once.saturating_add(window.saturating_mul(limit.brings) / limit.takes));
            let input = match (counted, limited) {
                (Some(counted), Some(limited)) => counted.min(limited),
                (counted, limited) => counted.or(limited)?,
            };
            sum = sum.saturating_add(input);
        }
        Some(sum)
    }

    /// A line above that for windows longer by `more`: offset and rate, in parts.
    pub(super) fn line(&self, more: i128) -> Option<(i128, i128)> {
        let per = |brings: i128, takes: i128| brings.saturating_mul(PARTS).saturating_add(takes - 1) / takes;
        let (mut offset, mut rate): (i128, i128) = (0, 0);
        for (stairs, limit) in &self.inputs {
            let counted = stairs.iter().try_fold((0, 0), |(offset, rate): (i128, i128), stair| {
                let own = per(stair.message, stair.interval);
                let at_once = stair.message.saturating_mul(stair.burst).saturating_mul(PARTS);
                let moved = (more + stair.jitter?).saturating_mul(own);
                Some((offset.saturating_add(at_once).saturating_add(moved), rate.saturating_add(own)))
            });
            let limited = limit.map(|limit| {
                let own = per(limit.brings, limit.takes);
                (limit.at_once.saturating_mul(PARTS).saturating_add(more.saturating_mul(own)), own)
            });
            let line = counted.or(limited)?;
            (offset, rate) = (offset.saturating_add(line.0), rate.saturating_add(line.1));
        }
        Some((offset, rate))
    }
}
