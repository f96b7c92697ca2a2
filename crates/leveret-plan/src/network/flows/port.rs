//! One class at one port: the longest delay of a frame.
//!
//! ```text
//!   s                    arrival              start    end
//!   |▓ lower ▓|= class and above =|▒ table ▒|== ... ==|=own=|        a busy window begins at s, where nothing of the class
//!   |<--------- x -------->|<---------- delay ------------->|        or above waited before; x runs over all of it
//! ```
//! **Strict priority.** From `s` to the start of a frame that came at `s + x`, each instant is the table's (its guard before each slot included, in which no
//! frame need start), or goes to one frame from below that was under way at `s`, to what is above, or to frames of the class that came no later (FIFO). So the start
//! is no later than the least `w` with `lower + class(x) - own + above(w) + table(w + 1) <= w`: otherwise all of `[s, s + w]` would be accounted for by less than
//! there is of it (busy-window argument; Lehoczky 1990, Tindell 1994; as left-over service of a strict server: Le Boudec and Thiran 2001, 6.2.1).
//!
//! **Shaped.** From `s`, where nothing of the class waited at a credit of 0, to the start of a frame, the credit grows with the idle slope `I` for all the time that is neither
//! frozen nor spent on the class, and falls with `C - I` for what is: `w <= class(x) C / I + frozen(w) + V / I`, with `V` the most credit (Azua and Boyer, RTNS 2014; with a time
//! table, Zhao, Pop and Craciunas, IEEE Access 2018). `V` is what grows while the class could go and does not: for one frame from below, all above and the table.
//! In a window of length `d` a shaped class sends for `(V + (C - I) frame + I d) / C` at most, which protects what is below it.

use super::arrivals::Arrivals;
use super::taken::{PARTS, Taken};
use crate::sporadic::Steps;
use std::rc::Rc;

/// Longer delays are called none.
pub(super) const DELAY_MAX: i64 = 3_600_000_000_000;

/// What does not change while bounds are sought.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub number: u8,
    /// The table, its guards included.
    pub taken: Rc<Taken>,
    /// Of a shaped class, the table alone, while which the credit stands still.
    pub frozen: Option<Rc<Taken>>,
    /// The shortest and the longest frame of the class, as time of the link.
    pub frames: (i64, i64),
    /// Idle slope, where it is shaped.
    pub idle: Option<i64>,
}

/// The link's side of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    pub rate: i64,
    pub preemption: bool,
    /// The longest frame from below.
    pub lower: i64,
}

/// A class whose bounds are known, as those below see it.
#[derive(Clone, Debug)]
pub(super) struct Above {
    pub arrivals: Arrivals,
    pub delay: i64,
    pub credit: Option<Credit>,
}

/// The most that a shaper lets through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    idle: i64,
    rate: i64,
    /// The most credit, as the time in which it grows; then the longest frame.
    most: i64,
    frame: i64,
}

impl Credit {
    /// Time for which the class can send within a window.
    fn within(&self, window: i64) -> i64 {
        let (idle, rate) = (i128::from(self.idle), i128::from(self.rate));
        let grown =
            idle * (i128::from(window) + i128::from(self.most)) + (rate - idle) * i128::from(self.frame);
        i64::try_from((grown + rate - 1) / rate).unwrap_or(i64::MAX)
    }

    fn line(&self) -> (i128, i128) {
        let (idle, rate) = (i128::from(self.idle), i128::from(self.rate));
        (i128::from(self.within(0)) * PARTS, (idle * PARTS + rate - 1) / rate)
    }
}

impl Above {
    /// What is sent of it in a busy window. Shaped, some of it may wait when the window begins: what came while it could still be there counts too.
    fn within(&self, window: i64) -> i64 {
        let before = if self.credit.is_some() { self.delay } else { 0 };
        let came = self.arrivals.within(window.saturating_add(before));
        self.credit.map_or(came, |credit| came.min(credit.within(window.saturating_add(1))))
    }

    /// A line above that, for windows that may begin with some of it waiting.
    fn line(&self, by_credit: bool) -> Option<(i128, i128)> {
        match self.credit.filter(|_| by_credit) {
            Some(credit) => Some(credit.line()),
            None => self.arrivals.line(self.delay),
        }
    }
}

/// What a class gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub delay: i64,
    /// What it is made of.
    pub shares: Shares,
}

/// What a frame waits for in the worst case; the parts make up the delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Shares {
    pub table: i64,
    pub above: i64,
    pub class: i64,
    /// One frame from below; of a shaped class, the credit that it may have to regain.
    pub below: i64,
    pub sending: i64,
}

/// The longest delay of a class; none where there is no bound, or the steps are used up.
pub(super) fn longest(
    port: Port,
    class: &Class,
    own: &Arrivals,
    above: &[Above],
    steps: &mut Steps,
) -> (Option<Found>, Option<Credit>) {
    let credit = class.idle.and_then(|idle| {
        let most = most_credit(port, class, idle, above)?;
        Some(Credit { idle, rate: port.rate, most, frame: class.frames.1 })
    });
    if class.idle.is_some() && credit.is_none() {
        return (None, None);
    }
    // One more, for the part of a nanosecond in which the credit comes to 0.
    let window = match credit {
        Some(Credit { idle, most, .. }) => Window {
            port,
            class,
            own,
            above: &[],
            fixed: most + 1,
            scale: (port.rate, idle),
            taken: class.frozen.as_ref().unwrap_or(&class.taken),
            cost: own.count(),
        },
        None => Window {
            port,
            class,
            own,
            above,
            fixed: port.lower,
            scale: (1, 1),
            taken: &class.taken,
            cost: own.count() + above.iter().map(|above| above.arrivals.count()).sum::<u64>(),
        },
    };
    (window.longest(steps), credit)
}

/// The most credit, as the time in which it grows: while the class could go, a frame from below, all above and the table have the link. Beyond where
/// these lines meet it falls again, as long as idle slope, what is above and the table together are no more than the link.
fn most_credit(port: Port, class: &Class, idle: i64, above: &[Above]) -> Option<i64> {
    let (table, table_rate) = class.taken.line();
    let own_rate = (i128::from(idle) * PARTS + i128::from(port.rate) - 1) / i128::from(port.rate);
    let met = |by_credit: bool| {
        let mut sum = (table + i128::from(port.lower) * PARTS, table_rate);
        for line in above.iter().map(|above| above.line(by_credit)) {
            let line = line?;
            sum = (sum.0.saturating_add(line.0), sum.1.saturating_add(line.1));
        }
        (sum.1.saturating_add(own_rate) <= PARTS && sum.1 < PARTS)
            .then(|| sum.0.saturating_add(PARTS) / (PARTS - sum.1))
            .and_then(|time| i64::try_from(time + 1).ok())
            .filter(|time| *time <= DELAY_MAX)
    };
    [true, false].into_iter().filter_map(met).min()
}

struct Window<'a> {
    port: Port,
    class: &'a Class,
    own: &'a Arrivals,
    above: &'a [Above],
    /// What is there whatever comes: a frame from below, or credit.
    fixed: i64,
    /// By how much time of the class's own takes longer than the link needs for it.
    scale: (i64, i64),
    taken: &'a Taken,
    /// Of one step.
    cost: u64,
}

impl Window<'_> {
    fn longest(&self, steps: &mut Steps) -> Option<Found> {
        let length = self.busy(steps)?;
        // Where arrivals grow all the time, they are looked at in steps of a part of a frame; what comes within a step counts from its start.
        let grain = if self.own.is_limited() { (self.class.frames.0 / 16).max(1) } else { 1 };
        let mut found = Found { delay: 0, shares: Shares::default() };
        let mut came = (0, 0);
        let mut parts = vec![(0, length)];
        while let Some((from, to)) = parts.pop() {
            let end = self.end(to - 1, steps)?;
            if end - from <= found.delay {
                continue;
            }
            if to - from <= grain || self.own.within(from) == self.own.within(to - 1) {
                found.delay = end - from;
                came = (from, to - 1);
                continue;
            }
            let middle = from + (to - from) / 2;
            parts.push((middle, to));
            parts.push((from, middle));
        }
        found.shares = self.shares(came, found.delay, steps)?;
        Some(found)
    }

    /// What the frames that come from one instant to another, as if at the first, wait for.
    fn shares(&self, (from, to): (i64, i64), delay: i64, steps: &mut Steps) -> Option<Shares> {
        let sending = self.class.frames.0;
        let end = self.end(to, steps)?;
        let table = self.taken.within(end);
        let above = self.above(end - sending).min(delay);
        // What had been sent before it came is nobody's share of its delay: the class's first, then from below.
        let mut shares = Shares { table, above, class: 0, below: self.fixed, sending };
        let class = delay - sending - table - above - self.fixed;
        shares.class = class.max(0);
        let mut over = (-class).max(0);
        for share in [&mut shares.below, &mut shares.table, &mut shares.above] {
            let off = over.min(*share);
            *share -= off;
            over -= off;
        }
        debug_assert!(from <= to && over == 0, "the parts make up the delay");
        Some(shares)
    }

    /// The longest busy window.
    fn busy(&self, steps: &mut Steps) -> Option<i64> {
        self.is_bounded()?;
        self.least(1, steps, |length| {
            let own = self.scaled(self.own.within(length - 1));
            let asked = own.saturating_add(self.above(length - 1)).saturating_add(self.taken.within(length));
            asked.saturating_add(self.fixed + 1)
        })
    }

    /// Whether less comes than can go, in the long run.
    fn is_bounded(&self) -> Option<()> {
        let (_, own) = self.own.line(0)?;
        let (num, den) = self.scale;
        let mut rate = own.saturating_mul(i128::from(num)) / i128::from(den) + self.taken.line().1;
        for above in self.above {
            let line =
                [above.line(false), above.line(true)].into_iter().flatten().map(|line| line.1).min()?;
            rate = rate.saturating_add(line);
        }
        (rate < PARTS).then_some(())
    }

    /// The end of a frame that came at `x`, from the start of the window.
    fn end(&self, x: i64, steps: &mut Steps) -> Option<i64> {
        let own = self.class.frames.0;
        let ahead = self.scaled(self.own.within(x) - own).saturating_add(self.fixed);
        let start = self.least(ahead, steps, |start| {
            ahead.saturating_add(self.above(start)).saturating_add(self.taken.within(start + 1))
        })?;
        if !self.port.preemption {
            return Some(start + own);
        }
        let before = ahead.saturating_add(own).saturating_add(self.above(start));
        self.least(start + own, steps, |end| before.saturating_add(self.taken.within(end)))
    }

    /// The least value, from `from` on, that is no less than what it asks for.
    fn least(&self, from: i64, steps: &mut Steps, asked: impl Fn(i64) -> i64) -> Option<i64> {
        let mut value = from;
        loop {
            if value > DELAY_MAX || steps.0 < self.cost {
                return None;
            }
            steps.0 -= self.cost;
            let needed = asked(value);
            if needed <= value {
                return Some(value);
            }
            value = needed;
        }
    }

    fn scaled(&self, own: i64) -> i64 {
        let (num, den) = (i128::from(self.scale.0), i128::from(self.scale.1));
        i64::try_from((i128::from(own) * num + den - 1) / den).unwrap_or(i64::MAX)
    }

    fn above(&self, window: i64) -> i64 {
        self.above.iter().map(|above| above.within(window)).fold(0, i64::saturating_add)
    }
}
