//! What has a place, and where.

use super::model::gcd;
use super::problem::{Candidate, Hop, Item, Problem};
use super::queues::Queues;
use super::timeline::{Owner, Timeline};

/// What is placed as one: all instances of an item at the same place in their periods, or one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unit {
    pub item: u32,
    /// First instance.
    pub first: u32,
    /// How many, one period apart.
    pub count: u32,
}

/// Where a unit is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Which of the item's ways.
    pub way: u32,
    /// Start of the first transmission of the first instance.
    pub start: i64,
    /// How long the message waits before each hop, beyond what nobody can save; empty: nowhere.
    pub waits: Vec<i64>,
}

/// A partial plan.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub links: Vec<Timeline>,
    pub units: Vec<Unit>,
    pub places: Vec<Option<Place>>,
    pub queues: Queues,
    /// The units of each item.
    of_item: Vec<Vec<u32>>,
}

impl Place {
    /// Whether the message waits anywhere.
    pub(super) fn may_wait(&self) -> bool {
        !self.waits.is_empty()
    }
}

impl Unit {
    /// Where the first transmission of the first instance may start on a way: from, to.
    pub(super) fn window(self, item: &Item, way: &Candidate) -> Option<(i64, i64)> {
        let shift = i64::from(self.first) * item.period;
        // Later than a period after the release, instances could overtake each other.
        let to = (item.deadline - way.span).min(item.release + item.period - 1);
        let fits = way.span <= item.latency
            && item.release <= to
            && way.hops.iter().all(|hop| hop.length <= item.period);
        fits.then_some((shift + item.release, shift + to))
    }
}

impl State {
    /// Nothing placed; what is reserved is taken.
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let links = problem.free.clone();
        let unit = |(index, item): (usize, &Item)| Unit { item: index as u32, first: 0, count: item.count };
        let units: Vec<_> = problem.items.iter().enumerate().map(unit).collect();
        let places = vec![None; units.len()];
        let of_item = (0..units.len() as u32).map(|unit| vec![unit]).collect();
        Self { links, units, places, queues: Queues::default(), of_item }
    }

    /// Of no network.
    pub(super) fn nothing() -> Self {
        Self {
            links: Vec::new(),
            units: Vec::new(),
            places: Vec::new(),
            queues: Queues::default(),
            of_item: Vec::new(),
        }
    }

    /// Start of a hop of the first instance.
    pub(super) fn start_of(way: &Candidate, place: &Place, hop: usize) -> i64 {
        place.start + way.hops[hop].offset + place.waits.get(hop).copied().unwrap_or(0)
    }

    /// Puts a unit where it fits.
    pub(super) fn put(&mut self, problem: &Problem<'_>, unit: u32, place: Place) {
        let Unit { item, count, .. } = self.units[unit as usize];
        let item = &problem.items[item as usize];
        let way = &item.ways[place.way as usize];
        for (index, hop) in way.hops.iter().enumerate() {
            let start = Self::start_of(way, &place, index) - hop.early;
            self.links[hop.link as usize].take_each(start, (item.period, count), hop.length, Owner(unit));
        }
        if place.may_wait() {
            let mut queues = std::mem::take(&mut self.queues);
            queues.put(problem, self, self.units[unit as usize], way, &place);
            self.queues = queues;
        }
        self.places[unit as usize] = Some(place);
    }

    /// The units of an item that have a place.
    pub(super) fn units_of(&self, item: u32) -> impl Iterator<Item = (Unit, &Place)> {
        let placed = |unit: &u32| {
            self.places[*unit as usize].as_ref().map(|place| (self.units[*unit as usize], place))
        };
        self.of_item[item as usize].iter().filter_map(placed)
    }

    /// The units of an item that wait somewhere.
    pub(super) fn waiting_units_of(&self, item: u32) -> Vec<u32> {
        let waits = |unit: &u32| self.places[*unit as usize].as_ref().is_some_and(Place::may_wait);
        self.of_item[item as usize].iter().copied().filter(waits).collect()
    }

    /// Takes a unit away from where it is.
    pub(super) fn take_away(&mut self, problem: &Problem<'_>, unit: u32) -> Option<Place> {
        let place = self.places[unit as usize].take()?;
        let Unit { item, count, .. } = self.units[unit as usize];
        let item = &problem.items[item as usize];
        let way = &item.ways[place.way as usize];
        for (index, hop) in way.hops.iter().enumerate() {
            let start = Self::start_of(way, &place, index) - hop.early;
            self.links[hop.link as usize].give_each(start, (item.period, count), hop.length, Owner(unit));
        }
        if place.may_wait() {
            self.queues.take_away(self.units[unit as usize], way, &place);
        }
        Some(place)
    }

    /// Whether all instances of a unit may lie at one place in their periods, by what else has such places: two whose periods have the greatest common
    /// divisor `g` come at every distance modulo `g`, so on a link of both their slots must fit into `g` (see [`super::unison`]). Looks at all
    /// units; a search for the place would look at all instances.
    pub(super) fn may_lie_alike(&self, problem: &Problem<'_>, unit: Unit) -> bool {
        let item = &problem.items[unit.item as usize];
        let mut free: Vec<bool> = vec![true; item.ways.len()];
        let mut meet = |link: u32, period: i64, length: i64| {
            let circle = gcd(item.period, period);
            for (way, free) in item.ways.iter().zip(&mut free) {
                let is_met = |hop: &Hop| hop.link == link && hop.length + length > circle;
                *free &= !way.hops.iter().any(is_met);
            }
        };
        for (link, declared) in problem.traffic.network.links.iter().enumerate() {
            declared.reserved.iter().for_each(|one| meet(link as u32, one.period.0, one.length.0));
        }
        for (other, place) in self.units.iter().zip(&self.places) {
            let Some(place) = place.as_ref().filter(|_| other.count > 1 && other.item != unit.item) else {
                continue;
            };
            let other = &problem.items[other.item as usize];
            for hop in &other.ways[place.way as usize].hops {
                meet(hop.link, other.period, hop.length);
            }
        }
        free.contains(&true)
    }

    /// Units for an item that is new, all of whose instances go together. Returns the unit.
    pub(super) fn add_item(&mut self, item: u32, count: u32) -> u32 {
        let unit = self.units.len() as u32;
        self.units.push(Unit { item, first: 0, count });
        self.places.push(None);
        self.of_item.push(vec![unit]);
        unit
    }

    /// The numbers of an item's units.
    pub(super) fn numbers_of(&self, item: u32) -> &[u32] {
        &self.of_item[item as usize]
    }

    /// Makes of a unit of several instances as many of one. The unit keeps the first. Returns the others.
    pub(super) fn split(&mut self, unit: u32) -> std::ops::Range<u32> {
        let Unit { item, first, count } = self.units[unit as usize];
        let begin = self.units.len() as u32;
        self.units[unit as usize].count = 1;
        self.units.extend((1..count).map(|turn| Unit { item, first: first + turn, count: 1 }));
        self.places.resize(self.units.len(), None);
        self.of_item[item as usize].extend(begin..self.units.len() as u32);
        begin..self.units.len() as u32
    }
}
