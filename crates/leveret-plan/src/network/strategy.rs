//! What one search does otherwise than another.

use super::conflict::mix;
use super::problem::Item;

/// The choices that a search makes in the same way from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Strategy {
    /// Chooses among equals.
    pub seed: u64,
    order: Order,
    /// Units from which places are sought all over their windows: among many, each then meets few that are in its way, while those that
    /// all begin at its start walk past everybody before them.
    pub scattered_from: usize,
    /// Whether all ways are known from the beginning, and not only to those that find no place.
    pub wide: bool,
    /// Failures of a unit before its instances go ways of their own.
    pub failures_before_split: u32,
}

/// Who is placed first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// Those with the least room.
    Room,
    /// Those that take the most in a round.
    Work,
    /// Those with little room, shaken.
    Shaken,
}

impl Strategy {
    /// The one that mostly does best; other seeds than 0 shake its order.
    pub(super) fn first(seed: u64) -> Self {
        let order = match seed {
            0 => Order::Room,
            1 => Order::Work,
            _ => Order::Shaken,
        };
        Self { seed, order, scattered_from: 2_000, wide: false, failures_before_split: 2 }
    }

    /// Of several, for one seed, the one with a number.
    pub(super) fn of(seed: u64, number: u32) -> Self {
        let first = Self::first(seed);
        if number == 0 {
            return first;
        }
        let seed = mix(seed ^ mix(u64::from(number)));
        let shaken = Self { seed, order: Order::Shaken, ..first };
        match number % 4 {
            1 => Self { order: Order::Work, scattered_from: 0, ..shaken },
            2 => Self { wide: true, failures_before_split: 8, ..shaken },
            3 => Self { scattered_from: 0, failures_before_split: 0, ..shaken },
            _ => Self { scattered_from: usize::MAX, ..shaken },
        }
    }

    /// By which units are sorted to begin with.
    pub(super) fn rank(&self, item: &Item, unit: u32) -> (i64, i64, u32) {
        let room =
            item.ways.first().map_or(0, |way| (item.deadline - way.span - item.release).min(item.period));
        let work: i64 = item.ways.first().map_or(0, |way| way.hops.iter().map(|hop| hop.length).sum());
        match self.order {
            Order::Room => (room, -work, unit),
            Order::Work => (-work * i64::from(item.count), room, unit),
            Order::Shaken => {
                let shaken = mix(self.seed ^ u64::from(unit) << 20) % 1_000;
                (room / 2 + room / 2 * shaken.cast_signed() / 1_000, -work, unit)
            }
        }
    }
}
