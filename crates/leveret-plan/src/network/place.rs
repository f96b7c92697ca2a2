//! The first place that is free, when no message waits on its way.
//!
//! All transmissions of a unit keep their distances, so its place is one number. Every transmission that is in somebody's way says by how
//! much the whole must move to the right at least; when all are content in a row, the place is free, and nothing to the left of it was.

use super::problem::{Hop, Item, Problem};
use super::state::{Place, State, Unit};

/// How often links are looked at for one place, beside twice for each transmission; a second's part.
const LOOKS_MAX: u64 = 1 << 22;

/// Looks in vain that are no steps: what few instances need, and the place that disturbs least takes as long.
const LOOKS_SPARED: u64 = 1 << 14;

/// How often links may be looked at yet.
pub(super) struct Looks {
    most: u64,
    left: u64,
}

impl Looks {
    /// For one unit of an item on all its ways.
    pub(super) fn of(item: &Item, unit: Unit) -> Self {
        let hops: usize = item.ways.iter().map(|way| way.hops.len()).sum();
        let most = LOOKS_MAX + 2 * hops as u64 * u64::from(unit.count);
        Self { most, left: most }
    }

    /// One more; none where that are too many.
    pub(super) fn look(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// How many there were.
    pub(super) fn made(&self) -> u64 {
        self.most - self.left
    }
}

/// The first place of a unit on the first of its ways that has one; `hint` says where in the window the search begins. `steps` grows by what was
/// looked at in vain, where that was much.
pub(super) fn first_free(
    problem: &Problem<'_>,
    state: &State,
    unit: Unit,
    hint: u64,
    steps: &mut u64,
) -> Option<Place> {
    let item = &problem.items[unit.item as usize];
    let mut order: Vec<u32> = (0..item.ways.len() as u32).collect();
    if order.len() > 1 {
        // By the fullest link, in sixteenths, so that a short way is not left for a little less load.
        order.sort_by_key(|way| (fullest(state, &item.ways[*way as usize].hops, problem.hyperperiod), *way));
    }
    let mut looks = Looks::of(item, unit);
    let place = order.into_iter().find_map(|way| {
        let candidate = &item.ways[way as usize];
        let (from, to) = unit.window(item, candidate)?;
        let hinted = from + (hint % ((to - from).cast_unsigned() + 1)).cast_signed();
        let mut search =
            |from, to| earliest(state, &candidate.hops, unit.count, item.period, (from, to), &mut looks);
        let start = search(hinted, to).or_else(|| search(from, hinted - 1))?;
        Some(Place { way, start, waits: Vec::new() })
    });
    if place.is_none() {
        *steps += looks.made().saturating_sub(LOOKS_SPARED);
    }
    place
}

fn fullest(state: &State, hops: &[Hop], hyperperiod: i64) -> i64 {
    let sixteenths =
        |hop: &Hop| i128::from(state.links[hop.link as usize].used()) * 16 / i128::from(hyperperiod);
    hops.iter().map(sixteenths).max().unwrap_or(0) as i64
}

/// The least start in `from..=to` at which every transmission is free. None also where that is not found in time: with many instances each
/// may be in the way by a little, again and again.
fn earliest(
    state: &State,
    hops: &[Hop],
    count: u32,
    period: i64,
    (from, to): (i64, i64),
    looks: &mut Looks,
) -> Option<i64> {
    let mut start = from;
    let turns = i64::from(count);
    let (mut hop, mut turn) = (0, 0);
    let mut content = 0;
    let all = hops.len() * count as usize;
    let mut left = looks.left;
    while content < all && start <= to {
        let Some(rest) = left.checked_sub(1) else {
            looks.left = 0;
            return None;
        };
        left = rest;
        let Hop { link, offset, length, early, .. } = hops[hop];
        let shift = state.links[link as usize].shift(start + offset - early + turn * period, length)?;
        if shift > 0 {
            start += shift;
            content = 0;
        }
        content += 1;
        turn += 1;
        if turn == turns {
            turn = 0;
            hop = (hop + 1) % hops.len();
        }
    }
    looks.left = left;
    (start <= to).then_some(start)
}
