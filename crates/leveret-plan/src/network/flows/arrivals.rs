//! How much of one class can come to one port in any window of time.
//!
//! A flow brings `burst + (window + jitter) / interval` messages at most, its first and its last instant included; what it has gained of jitter on its
//! way makes the window longer (Le Boudec and Thiran 2001, section 1.4: the output of a server that delays by between `a` and `b` is bounded by the input's
//! curve, moved by `b - a`). What comes over one link comes no faster than that link sends: after the first frame, each takes its time.

use super::taken::PARTS;

/// One flow at one port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// What one message brings: time of the link, or bytes.
    pub weight: i64,
    pub burst: i64,
    pub interval: i64,
    /// How much its messages may have moved against each other; `i64::MAX` where nothing is known.
    pub jitter: i64,
}

/// The link over which it comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// What may come at once.
    pub first: i64,
    /// What comes in a nanosecond, at most, as a fraction.
    pub gain: (i64, i64),
}

/// What comes over one link, or from the program.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    pub sources: Vec<Source>,
    pub line: Option<Line>,
}

/// All that comes to one class of one port.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    pub inputs: Vec<Input>,
}

impl Source {
    fn within(&self, window: i64) -> i64 {
        if self.jitter == i64::MAX {
            return i64::MAX;
        }
        let messages = self.burst.saturating_add(window.saturating_add(self.jitter) / self.interval);
        messages.saturating_mul(self.weight)
    }

    /// Offset and rate of a line above, for windows that are longer by `more`.
    fn line(&self, more: i64) -> Option<(i128, i128)> {
        if self.jitter == i64::MAX || more == i64::MAX {
            return None;
        }
        let (weight, interval) = (i128::from(self.weight), i128::from(self.interval));
        let rate = (weight * PARTS + interval - 1) / interval;
        let longer = i128::from(self.jitter.saturating_add(more));
        let at_once = i128::from(self.weight.saturating_mul(self.burst)) * PARTS;
        Some((at_once.saturating_add(longer.saturating_mul(rate)), rate))
    }
}

impl Line {
    fn within(&self, window: i64) -> i64 {
        let (num, den) = self.gain;
        let more = i128::from(window) * i128::from(num) / i128::from(den.max(1));
        i64::try_from(more).unwrap_or(i64::MAX).saturating_add(self.first)
    }
}

impl Input {
    fn within(&self, window: i64) -> i64 {
        let most = self.sources.iter().map(|source| source.within(window)).fold(0, i64::saturating_add);
        self.line.map_or(most, |line| most.min(line.within(window)))
    }

    fn line(&self, more: i64) -> Option<(i128, i128)> {
        summed(self.sources.iter().map(|source| source.line(more))).or_else(|| {
            let line = self.line.filter(|_| more != i64::MAX)?;
            let den = i128::from(line.gain.1.max(1));
            let rate = (i128::from(line.gain.0) * PARTS + den - 1) / den;
            let at_once = i128::from(line.first) * PARTS;
            Some((at_once.saturating_add(i128::from(more).saturating_mul(rate)), rate))
        })
    }
}

impl Arrivals {
    /// The most that comes in a window of this length, both its ends included.
    pub(super) fn within(&self, window: i64) -> i64 {
        self.inputs.iter().map(|input| input.within(window)).fold(0, i64::saturating_add)
    }

    /// Offset and rate of a line above, in parts, for windows that are longer by `more`; none where there is none.
    pub(super) fn line(&self, more: i64) -> Option<(i128, i128)> {
        summed(self.inputs.iter().map(|input| input.line(more)))
    }

    /// How many flows there are, and one.
    pub(super) fn count(&self) -> u64 {
        self.inputs.iter().map(|input| input.sources.len() as u64).sum::<u64>() + 1
    }

    /// Whether it grows between its steps, since some link limits it.
    pub(super) fn is_limited(&self) -> bool {
        self.inputs.iter().any(|input| input.line.is_some())
    }
}

/// The sum of lines; none if one of them is none.
fn summed(mut lines: impl Iterator<Item = Option<(i128, i128)>>) -> Option<(i128, i128)> {
    lines.try_fold((0, 0), |(offset, rate), line| {
        line.map(|line| (i128::saturating_add(offset, line.0), i128::saturating_add(rate, line.1)))
    })
}
