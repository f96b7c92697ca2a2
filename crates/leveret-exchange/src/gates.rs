//! From the slots of a link to the gates of the port that sends into it (IEEE 802.1Q-2022, 8.6.8.4: a list of gate states, each for a
//! time, repeated for ever).
//!
//! ```text
//!  slots      |==A==|        |=B=|                |==C==|         queue 0: A, C; queue 1: B
//!  class 1    |open-|h                            |open-|h        opens with the slot, never sooner; h: held while the plan leaves room
//!  class 2                   |ope|h
//!  class 0           |open|g      |open----------|g               everything else; g: a whole largest frame, kept free before a slot
//! ```
//!
//! Class 0 is for whatever the plan does not name. Above it is a class for each priority of channels beside the table ([`crate::beside`]), whose gate is open as class 0's
//! is, but for the guard; and above these one for each queue that slots use. All instants are on the port's own clock:
//!
//! - **A planned gate opens with its slot.** The message is there by then, even where the sender's clock is late and the port's early
//!   (rule 5 of `docs/planning.md`). It opens no sooner: what came early would leave early, and come to the next queue sooner than rule 9 counts
//!   with. So the gate is what keeps the plan's time.
//! - **It is held for up to `2·E` after its slot**, since a clock that is corrected meanwhile, from one end of its error to the other, makes the same
//!   transmission that much longer. The hold ends where another slot begins, a reservation begins, or the next message of the queue may come.
//! - **Only one planned gate is open at a time**, and none together with those of other traffic.
//! - **No entry is shorter than the smallest frame**, where that can be: Linux refuses such a list. Two slots that lie so close are kept apart by the change of
//!   their gates alone, where they differ, or need not be, where the second message cannot come sooner.
//! - **The list begins with a slot**, so that none lies across its end.
//! - **Class 0 closes before a slot** by the longest frame of other traffic, and by `2·E` for the same reason as above; where the link preempts (802.1Qbu), by the
//!   longest rest of a frame that cannot be cut. In a gap in which then not even the smallest frame has room it stays closed.

use crate::beside::{self, Beside};
use crate::classes::Priorities;
use crate::starts::Starts;
use leveret_plan::network::{NetworkPlan, Slot, Traffic};
use leveret_topology::{Forwarding, Link};
use leveret_types::{ByteSize, LinkId, Nanos};

/// The longest frame of other traffic, unless it is said otherwise: 1500 bytes of payload, header, VLAN tag and check (22), preamble (8), gap (12).
pub const LARGEST_FRAME: ByteSize = ByteSize(1542);

/// The smallest: 64 bytes, preamble, gap.
const SMALLEST_FRAME: u64 = 84;

/// What of the smallest frame Linux asks an entry to have room for: it counts no preamble, gap and check.
const SMALLEST_COUNTED: u64 = 60;

/// What a preempting port must send to the end: both parts of a frame that is cut have at least 64 bytes, 4 of them check, so 123 bytes cannot be cut;
/// preamble (8), gap (12). (IEEE 802.3-2022, clause 99.)
const UNCUT_FRAGMENT: u64 = 143;

/// The cycle of a port whose gates never close.
const ALWAYS: Nanos = Nanos(1_000_000);

/// Classes that a port can have, that for other traffic among them.
pub const CLASSES_MAX: usize = 8;

/// The gates of one port, over one cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gates {
    /// The link that it sends into.
    pub link: LinkId,
    /// Priorities of channels beside the table, ascending: the first has class 1.
    pub beside: Vec<Beside>,
    /// Whether there are such channels, and no classes left for them: they share class 0.
    pub is_crowded: bool,
    /// Queues of the plan, ascending: the first has the class after those.
    pub queues: Vec<u8>,
    /// The list repeats after it; the hyperperiod is a multiple of it.
    pub cycle: Nanos,
    /// When the first entry begins, from the start of the hyperperiod.
    pub offset: Nanos,
    /// From there on, for one cycle.
    pub entries: Vec<Entry>,
    /// How long before a slot class 0 closes.
    pub guard: Nanos,
    /// Entries that are shorter than the smallest frame, and must be.
    pub short: usize,
}

/// Gates for a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Bit c: the gate of class c is open.
    pub open: u8,
    /// How long.
    pub length: Nanos,
}

/// Why a port can have no gates.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GatesError {
    /// Eight queues with slots leave none for anything else.
    #[error(
        "slots of the link {link} use {queues} queues, and a port has {CLASSES_MAX}, one of which is for other traffic; \
         give the link `queues = {most}` and plan again", most = CLASSES_MAX - 1
    )]
    Queues {
        /// Which.
        link: String,
        /// How many.
        queues: usize,
    },
}

impl Gates {
    /// The class of a queue of the plan.
    pub fn class(&self, queue: u8) -> usize {
        let place = self.queues.iter().position(|known| *known == queue);
        place.map_or(0, |place| place + 1 + self.beside.len())
    }

    /// The class of a priority of channels beside the table.
    pub fn class_beside(&self, class: u8) -> usize {
        self.beside.iter().position(|known| known.class == class).map_or(0, |place| place + 1)
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        1 + self.beside.len() + self.queues.len()
    }

    /// The class of what comes with each priority (PCP).
    pub fn by_priority(&self, given: &Priorities) -> [usize; 8] {
        let class = |priority: u8| match given.queue(self.link, priority) {
            Some(queue) => self.class(queue),
            None => given.class_beside(priority).map_or(0, |class| self.class_beside(class)),
        };
        [0, 1, 2, 3, 4, 5, 6, 7].map(class)
    }
}

/// The gates of every port that sends planned frames, or frames of channels with a priority beside the table, of a plan that the checker accepted for this traffic.
/// `largest` is the longest frame of other traffic, on the wire.
///
/// # Errors
/// A port with more classes than there can be.
pub fn gates(traffic: &Traffic, plan: &NetworkPlan, largest: ByteSize) -> Result<Vec<Gates>, GatesError> {
    let mut found = Vec::new();
    let starts = Starts::new(traffic, plan);
    let mut beside = beside::by_link(traffic, plan);
    for (index, slots) in plan.links.iter().enumerate() {
        let link = LinkId(index as u32);
        let beside = beside.remove(&link).unwrap_or_default();
        if slots.is_empty() && beside.is_empty() {
            continue;
        }
        let port = Port { traffic, plan, starts: &starts, link: &traffic.network.links[index], slots };
        found.push(port.gates(link, beside, largest)?);
    }
    Ok(found)
}

/// A stretch of the circle with the class whose gate is open.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: i64,
    until: i64,
    class: usize,
}

struct Port<'a> {
    traffic: &'a Traffic,
    plan: &'a NetworkPlan,
    starts: &'a Starts,
    link: &'a Link,
    slots: &'a [Slot],
}

impl Port<'_> {
    fn gates(&self, link: LinkId, mut beside: Vec<Beside>, largest: ByteSize) -> Result<Gates, GatesError> {
        let round = self.plan.hyperperiod.0;
        let mut queues: Vec<u8> = self.slots.iter().map(|slot| self.queue(slot)).collect();
        queues.sort_unstable();
        queues.dedup();
        if queues.len() >= CLASSES_MAX {
            return Err(GatesError::Queues {
                link: self.traffic.network.link_name(link),
                queues: queues.len(),
            });
        }
        let is_crowded = queues.len() + 1 + beside.len() > CLASSES_MAX;
        let mut most = largest;
        if is_crowded {
            let all = beside.drain(..).map(|one| one.largest);
            most = all.fold(most, ByteSize::max);
        }
        for one in &mut beside {
            one.guard = self.guard(one.kept_free);
        }
        let guard = self.guard(most);
        let windows = self.windows(&queues, 1 + beside.len());
        let begin = windows.first().map_or(0, |first| first.from);
        let guards: Vec<_> = std::iter::once(guard.0).chain(beside.iter().map(|one| one.guard.0)).collect();
        let (cycle, entries) = if windows.is_empty() {
            let open = (0..guards.len()).fold(0, |open, class| open | 1 << class);
            (ALWAYS.0, vec![Entry { open, length: ALWAYS }])
        } else {
            shortest(self.around(&windows, &guards), round, self.own_cycle())
        };
        let entries = bounded(entries);
        let short = entries.iter().filter(|entry| entry.length.0 < self.smallest()).count();
        let (cycle, offset) = (Nanos(cycle), Nanos(begin % cycle));
        Ok(Gates { link, beside, is_crowded, queues, cycle, offset, entries, guard, short })
    }

    /// How long before a slot a class closes whose longest frame has these bytes.
    fn guard(&self, largest: ByteSize) -> Nanos {
        let bytes = if self.link.preemption { UNCUT_FRAGMENT.min(largest.0) } else { largest.0 };
        self.link.rate.transmission(bytes) + self.twice_the_error()
    }

    fn queue(&self, slot: &Slot) -> u8 {
        self.plan.ways[slot.stream.index()][usize::from(slot.copy)].queues[usize::from(slot.hop)]
    }

    fn length(&self, slot: &Slot) -> i64 {
        let size = self.traffic.streams[slot.stream.index()].size;
        self.traffic.network.frames.occupation(size, self.link.rate).0
    }

    fn twice_the_error(&self) -> Nanos {
        self.traffic.clock_error + self.traffic.clock_error
    }

    /// The least that an entry should last.
    fn smallest(&self) -> i64 {
        self.link.rate.transmission(SMALLEST_COUNTED).0
    }

    /// How long before its slot a message may come to the port.
    fn early(&self, slot: &Slot) -> i64 {
        let stream = &self.traffic.streams[slot.stream.index()];
        let way = &self.plan.ways[slot.stream.index()][usize::from(slot.copy)];
        // At its source it waits in its program, and not in a queue.
        let Some(parent) = way.tree.hops[usize::from(slot.hop)].parent else { return 0 };
        let before = way.tree.hops[parent as usize].link;
        let network = &self.traffic.network;
        let forwarding = network.forwarding(self.link.source).unwrap_or(Forwarding::StoreAndForward);
        let under_way = network.frames.first_ready(stream.size, &network.links[before.index()], forwarding);
        (slot.start - self.starts.of(slot, parent) - under_way + self.twice_the_error()).0
    }

    /// When the gates of planned classes, `first` and up, are open, by start.
    fn windows(&self, queues: &[u8], first: usize) -> Vec<Window> {
        let round = self.plan.hyperperiod.0;
        let start = |slot: &Slot| slot.start.0.rem_euclid(round);
        let mut windows = Vec::with_capacity(self.slots.len());
        // Backwards, once around before it counts: what is sent next, and when the next message of each queue may come.
        let (mut next, mut next_queue) = (0, 0);
        let mut comes = [0; 8];
        for turn in [round, 0] {
            for slot in self.slots.iter().rev() {
                let from = start(slot) + turn;
                let queue = self.queue(slot);
                if turn == 0 {
                    let until = from + self.length(slot);
                    let coming = comes[usize::from(queue)];
                    let free = next.min(self.reserved_from(until));
                    let held = (until + self.twice_the_error().0).min(free).min(coming).max(until);
                    let harmless = free == next && (queue != next_queue || coming >= next);
                    let place = queues.iter().position(|known| *known == queue);
                    let class = place.map_or(0, |place| place + first);
                    windows.push(Window { from, until: self.parted(until, held, next, harmless), class });
                }
                comes[usize::from(queue)] = from - self.early(slot);
                (next, next_queue) = (from, queue);
            }
        }
        windows.reverse();
        windows
    }

    /// The end of a hold, so that between it and the next slot there is nothing or enough for an entry. It may reach the slot where that is harmless.
    fn parted(&self, until: i64, held: i64, next: i64, harmless: bool) -> i64 {
        let least = self.smallest();
        match next - held {
            gap if gap >= least => held,
            _ if harmless => next,
            _ if next - until >= least => next - least,
            _ => held,
        }
    }

    /// The first instant from `at` on that is reserved.
    fn reserved_from(&self, at: i64) -> i64 {
        let next = self.link.reserved.iter().map(|one| {
            let (start, period) = (one.start.0, one.period.0);
            let turn = (at - start).div_euclid(period);
            if start + turn * period + one.length.0 > at { at } else { start + (turn + 1) * period }
        });
        next.min().unwrap_or(i64::MAX)
    }

    /// A common multiple of the periods of all that this port does.
    fn own_cycle(&self) -> i64 {
        let streams = self.slots.iter().map(|slot| self.traffic.streams[slot.stream.index()].period.0);
        let reserved = self.link.reserved.iter().map(|one| one.period.0);
        let round = self.plan.hyperperiod.0;
        streams.chain(reserved).fold(1, |cycle, period| {
            let shared = cycle / greatest_common_divisor(cycle, period);
            shared.checked_mul(period).filter(|cycle| *cycle <= round).unwrap_or(round)
        })
    }

    /// Entries over a whole round, from the first slot on, with other traffic in between. `guards` are those of class 0, and of channels beside the table.
    fn around(&self, windows: &[Window], guards: &[i64]) -> Vec<Entry> {
        let round = self.plan.hyperperiod.0;
        let mut circle = Vec::with_capacity(windows.len() * 3);
        let starts = windows.iter().skip(1).map(|window| window.from);
        let around = windows.first().map(|first| first.from + round);
        for (window, next) in windows.iter().zip(starts.chain(around)) {
            let mut push = |open, length| circle.push(Entry { open, length: Nanos(length) });
            push(1 << window.class, window.until - window.from);
            let closings = self.closings(window.until, next, guards);
            let mut edges: Vec<i64> = closings.clone();
            edges.sort_unstable();
            let mut at = window.until;
            for edge in edges {
                let open = closings.iter().enumerate().filter(|(_, closes)| **closes > at);
                push(open.fold(0, |open, (class, _)| open | 1 << class), edge - at);
                at = edge;
            }
            push(0, next - at);
        }
        merged(circle)
    }

    /// When class 0 and those of channels beside the table, open since `from`, close before the slot that begins at `next`. Of the latter each instant is counted
    /// with that is left before its guard; class 0 is promised nothing, and stays closed where not even the smallest frame has room.
    fn closings(&self, from: i64, next: i64, guards: &[i64]) -> Vec<i64> {
        let mut closings: Vec<i64> = guards.iter().map(|guard| (next - guard).max(from)).collect();
        let Some((other, beside)) = closings.split_first_mut() else { return closings };
        // So that no entry need be shorter than the smallest frame.
        let soon = beside.iter().filter(|closes| **closes > *other && **closes - *other < self.smallest());
        *other = soon.min().map_or(*other, |closes| closes - self.smallest()).max(from);
        let is_reserved = self.reserved_from(from) < *other;
        let least = if is_reserved { self.smallest() } else { self.link.rate.transmission(SMALLEST_FRAME).0 };
        if *other - from < least {
            *other = from;
        }
        closings
    }
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Without empty ones, and equal neighbours as one.
fn merged(entries: impl IntoIterator<Item = Entry>) -> Vec<Entry> {
    let mut list: Vec<Entry> = Vec::new();
    for entry in entries.into_iter().filter(|entry| entry.length > Nanos::ZERO) {
        match list.last_mut() {
            Some(last) if last.open == entry.open => last.length = last.length + entry.length,
            _ => list.push(entry),
        }
    }
    list
}

/// The list over `cycle` alone, if each of its turns in the round is the same; else as it is.
fn shortest(entries: Vec<Entry>, round: i64, cycle: i64) -> (i64, Vec<Entry>) {
    if cycle <= 0 || cycle >= round || round % cycle != 0 {
        return (round, entries);
    }
    let mut turns: Vec<Vec<Entry>> = vec![Vec::new(); (round / cycle) as usize];
    let mut at = 0;
    for entry in &entries {
        let mut left = entry.length.0;
        while left > 0 {
            let part = left.min(cycle - at % cycle);
            turns[(at / cycle) as usize].push(Entry { open: entry.open, length: Nanos(part) });
            at += part;
            left -= part;
        }
    }
    match turns.split_first() {
        Some((first, others)) if others.iter().all(|turn| turn == first) => (cycle, merged(first.clone())),
        _ => (round, entries),
    }
}

/// An interval has 32 bits (802.1Q, 8.6.8.4): what is longer is several.
fn bounded(entries: Vec<Entry>) -> Vec<Entry> {
    let most = i64::from(u32::MAX);
    let pieces = |entry: Entry| {
        let count = (entry.length.0 + most - 1) / most;
        (0..count).map(move |piece| Entry {
            open: entry.open,
            length: Nanos((entry.length.0 - piece * most).min(most)),
        })
    };
    entries.into_iter().flat_map(pieces).collect()
}
