//! The exhaustive search on one core: every order and every nesting of its instances, each shifted as far left as
//! it goes. Complete: where it ends without a placement, there is none.
//!
//! Why left-shifted schedules suffice, and why the choices below are all there are, is in `docs/planner.md`.

use super::{Outcome, Span};
use crate::bind::div_ceil;
use crate::windows::Problem;
use std::collections::{BTreeMap, BTreeSet};

/// Most instances on one core that the search can represent.
pub(super) const INSTANCES_MAX: usize = 128;

/// States that failed which are looked through in the time of a step, about.
const STATES_OF_A_STEP: u64 = 64;

/// Searches one core that runs exactly `loads`; spends from `budget`, instances looked at.
pub(super) fn place_core(problem: &Problem, loads: &[usize], budget: &mut u64) -> Outcome<Vec<Vec<Span>>> {
    let mut items = Vec::new();
    for (local, load) in loads.iter().enumerate() {
        let load = &problem.loads[*load];
        for (instance, window) in load.windows.iter().enumerate() {
            items.push(Item {
                local,
                instance,
                earliest: window.earliest,
                latest: window.latest,
                charged: load.charged,
                preemptible: load.preemptible,
            });
        }
    }
    if items.len() > INSTANCES_MAX {
        return Outcome::Unknown { steps: 0 };
    }
    let mut spans: Vec<Vec<Span>> =
        loads.iter().map(|load| vec![Span::default(); problem.loads[*load].windows.len()]).collect();
    if items.is_empty() {
        return Outcome::Found(spans);
    }
    items.sort_by_key(|item| (item.latest - item.earliest - item.charged, item.local, item.instance));
    let mut search = Search::new(problem, &items, loads.len(), *budget / items.len() as u64);
    let found = search.run();
    *budget = budget.saturating_sub(search.steps * items.len() as u64);
    match found {
        Some(first_start) => {
            for placed in &search.placed {
                let item = &items[placed.item];
                spans[item.local][item.instance] = Span {
                    start: placed.start.when(first_start) - placed.lift,
                    end: placed.end.when(first_start) - placed.lift,
                };
            }
            Outcome::Found(spans)
        }
        None if search.exhausted => Outcome::Unknown { steps: search.steps },
        None => Outcome::Impossible(loads.to_vec()),
    }
}

struct Item {
    local: usize,
    instance: usize,
    earliest: i64,
    latest: i64,
    charged: i64,
    preemptible: bool,
}

/// An instant as a function of the anchor's start `s`: the later of `at` and `s + lag`. `at` is its value at the
/// anchor's earliest start. In this form the last instance can push the anchor later around the circle.
#[derive(Clone, Copy, Debug)]
struct Time {
    at: i64,
    lag: i64,
}

impl Time {
    fn plus(self, length: i64) -> Self {
        Self { at: self.at + length, lag: self.lag + length }
    }
    fn not_before(self, instant: i64) -> Self {
        Self { at: self.at.max(instant), lag: self.lag }
    }
    fn when(self, first_start: i64) -> i64 {
        self.at.max(first_start.saturating_add(self.lag))
    }
}

/// An instance that has started and not ended.
struct Frame {
    item: usize,
    /// Added to the item's instants on the unrolled time line: a multiple of the hyperperiod.
    lift: i64,
    start: Time,
    /// When it last began to run.
    resumed: Time,
    /// When it ends if nothing more interrupts it.
    end: Time,
    interrupted: bool,
}

struct Placed {
    item: usize,
    lift: i64,
    start: Time,
    end: Time,
}

/// Failed states with the same instances placed and the same relation: (end, anchor's latest start).
type Failures = BTreeMap<(u128, Vec<u128>), Vec<(Time, i64)>>;

struct Search<'a> {
    problem: &'a Problem,
    items: &'a [Item],
    steps: u64,
    steps_max: u64,
    exhausted: bool,
    anchor: usize,
    /// The least start of the anchor that this pass looks at.
    anchor_earliest: i64,
    /// Least starts of the anchor at which an interruption that this pass had to leave out becomes one.
    later_starts: BTreeSet<i64>,
    used: u128,
    stack: Vec<Frame>,
    placed: Vec<Placed>,
    /// How many interruptions the core's capacity still admits.
    interruptions_left: i64,
    /// `above[p]`: the loads that load `p` interrupts.
    above: Vec<u128>,
    failures: Failures,
    first_start: i64,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, items: &'a [Item], loads: usize, steps_max: u64) -> Self {
        let demand: i64 = items.iter().map(|item| item.charged + problem.guard).sum();
        let spare = problem.capacity - demand;
        let interruptions =
            if problem.preemption > 0 { spare.div_euclid(problem.preemption) } else { i64::MAX };
        Self {
            problem,
            items,
            steps: 0,
            steps_max,
            exhausted: false,
            anchor: 0,
            anchor_earliest: 0,
            later_starts: BTreeSet::new(),
            used: 0,
            stack: Vec::new(),
            placed: Vec::new(),
            interruptions_left: if spare < 0 { -1 } else { interruptions },
            above: vec![0; loads],
            failures: BTreeMap::new(),
            first_start: 0,
        }
    }

    /// The anchor's start in a placement that was found.
    fn run(&mut self) -> Option<i64> {
        if self.interruptions_left < 0 {
            return None;
        }
        // The circle is cut at an instance that nothing encloses. Without preemption any will do, so the tightest
        // is taken; with preemption each is tried, those before it being enclosed by others.
        let anchors = if self.items.iter().any(|item| item.preemptible) { self.items.len() } else { 1 };
        for anchor in 0..anchors {
            let item = &self.items[anchor];
            self.anchor = anchor;
            self.later_starts = BTreeSet::from([item.earliest]);
            while let Some(earliest) = self.later_starts.pop_first() {
                self.anchor_earliest = earliest;
                self.failures.clear();
                if self.begin(anchor, 0, Time { at: earliest, lag: 0 }, item.latest - item.charged) {
                    return Some(self.first_start);
                }
                if self.exhausted {
                    return None;
                }
            }
        }
        None
    }

    /// Counts a step; no more may be taken when it says `false`.
    fn spend(&mut self) -> bool {
        self.steps += 1;
        self.exhausted |= self.steps > self.steps_max;
        !self.exhausted
    }

    fn step(&mut self, now: Time, first_start_max: i64) -> bool {
        if !self.spend() {
            return false;
        }
        if self.stack.is_empty() {
            self.step_outside(now, first_start_max)
        } else {
            self.step_inside(first_start_max)
        }
    }

    /// Nothing is open: choose what comes next.
    fn step_outside(&mut self, now: Time, first_start_max: i64) -> bool {
        let round = self.problem.hyperperiod;
        let first_start_min = self.anchor_earliest.max(now.at + self.problem.guard - round);
        if first_start_min > first_start_max {
            return false;
        }
        if self.used.count_ones() as usize == self.items.len() {
            self.first_start = first_start_min;
            return true;
        }
        if self.hopeless(now, first_start_max) || self.failed_before(now, first_start_max) {
            return false;
        }
        let free = now.plus(self.problem.guard);
        let mut choices: Vec<(i64, usize, i64)> = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            if self.used & (1 << index) == 0 && index > self.anchor {
                let lift = self.lift_min(item, free.at);
                choices.push((item.latest + lift - item.charged, index, lift));
            }
        }
        choices.sort_unstable();
        for (_, index, lift_min) in choices {
            let item = &self.items[index];
            let mut lift = lift_min;
            // A later turn of the same window helps only where the earlier one would hold back the anchor.
            while item.earliest + lift + item.charged + self.problem.guard
                <= first_start_max.saturating_add(round)
            {
                let start = free.not_before(item.earliest + lift);
                // Each turn is a step: a long budget beside a short hyperperiod has more of them than can be tried.
                if !self.spend() {
                    return false;
                }
                if self.begin(index, lift, start, first_start_max) {
                    return true;
                }
                if item.latest + lift - item.charged - start.lag >= first_start_max {
                    break;
                }
                lift += round;
            }
        }
        if !self.exhausted {
            self.failures.entry((self.used, self.above.clone())).or_default().push((now, first_start_max));
        }
        false
    }

    /// The least turn of an item's window in which it can still end in time.
    fn lift_min(&self, item: &Item, start: i64) -> i64 {
        div_ceil(start + item.charged - item.latest, self.problem.hyperperiod) * self.problem.hyperperiod
    }

    /// Some instance has no place left before the anchor comes around again.
    fn hopeless(&self, now: Time, first_start_max: i64) -> bool {
        let free = now.at + self.problem.guard;
        let end = first_start_max.saturating_add(self.problem.hyperperiod) - self.problem.guard;
        self.items.iter().enumerate().filter(|(index, _)| self.used & (1 << index) == 0).any(|(_, item)| {
            let lift = self.lift_min(item, free);
            free.max(item.earliest + lift) + item.charged > end
        })
    }

    /// A state with the same instances placed failed although it was no later. To look through many of them takes as long as a step: a window
    /// that has millions of turns leaves as many.
    fn failed_before(&mut self, now: Time, first_start_max: i64) -> bool {
        let Some(states) = self.failures.get(&(self.used, self.above.clone())) else { return false };
        let is_no_later =
            |(end, most): &(Time, i64)| end.at <= now.at && end.lag <= now.lag && *most >= first_start_max;
        let found = states.iter().position(is_no_later);
        self.steps += found.unwrap_or(states.len()) as u64 / STATES_OF_A_STEP;
        self.exhausted |= self.steps > self.steps_max;
        found.is_some()
    }

    /// An instance is open: let it end, or let another interrupt it.
    fn step_inside(&mut self, first_start_max: i64) -> bool {
        let Some(frame) = self.stack.pop() else { return false };
        let now = frame.end;
        self.placed.push(Placed { item: frame.item, lift: frame.lift, start: frame.start, end: now });
        let before = self.stack.last_mut().map(|outer| {
            let before = (outer.resumed, outer.interrupted);
            (outer.resumed, outer.interrupted) = (now, true);
            before
        });
        if self.step(now, first_start_max) {
            return true;
        }
        if let (Some(outer), Some(before)) = (self.stack.last_mut(), before) {
            (outer.resumed, outer.interrupted) = before;
        }
        self.placed.pop();
        let preemptible = self.items[frame.item].preemptible && self.interruptions_left > 0;
        self.stack.push(frame);
        preemptible && !self.exhausted && self.interrupt(first_start_max)
    }

    /// Tries every instance that can interrupt the innermost open one.
    fn interrupt(&mut self, first_start_max: i64) -> bool {
        let (guard, round) = (self.problem.guard, self.problem.hyperperiod);
        let Some(top) = self.stack.last() else { return false };
        let victim = self.items[top.item].local;
        let (started, end) = (top.start.at, top.end);
        // The victim has run, if only for a nanosecond.
        let from = if top.interrupted { top.resumed } else { top.start.plus(1) };
        let first = !top.interrupted;
        for index in 0..self.items.len() {
            let item = &self.items[index];
            if self.used & (1 << index) != 0 || !self.may_interrupt(item.local, victim) {
                continue;
            }
            let mut lift = self.lift_min(item, from.at + guard);
            while item.earliest + lift - guard < end.when(first_start_max) && from.at < end.at {
                if !self.spend() {
                    return false;
                }
                let wakes = item.earliest + lift - guard;
                if wakes >= end.at {
                    // By then the victim has ended, unless the last instance pushes the anchor, and the victim with it, so
                    // far that it has not: a pass that begins there looks at it.
                    self.later_starts.insert(wakes + 1 - end.lag);
                    lift += round;
                    continue;
                }
                // Had it been ready when the victim started, it could as well have gone first.
                if !(first && item.earliest + lift <= started) {
                    let start = from.plus(guard).not_before(item.earliest + lift);
                    if self.begin_inside(index, lift, start, victim, first_start_max) {
                        return true;
                    }
                }
                lift += round;
            }
        }
        false
    }

    /// Whether the relation stays free of cycles: nothing that `other` interrupts, directly or not, interrupts it.
    fn may_interrupt(&self, other: usize, victim: usize) -> bool {
        let (mut reached, mut frontier) = (1_u128 << victim, 1_u128 << victim);
        while frontier != 0 {
            let load = frontier.trailing_zeros() as usize;
            frontier &= frontier - 1;
            let new = self.above[load] & !reached;
            reached |= new;
            frontier |= new;
        }
        reached & (1 << other) == 0
    }

    fn begin_inside(
        &mut self,
        index: usize,
        lift: i64,
        start: Time,
        victim: usize,
        first_start_max: i64,
    ) -> bool {
        let item = &self.items[index];
        let (local, longer) = (item.local, self.problem.guard + item.charged + self.problem.preemption);
        let before = self.above[local];
        self.above[local] |= 1 << victim;
        self.interruptions_left -= 1;
        let mut most = first_start_max;
        let mut fits = true;
        for frame in &mut self.stack {
            frame.end = frame.end.plus(longer);
            let latest = self.items[frame.item].latest + frame.lift;
            most = most.min(latest - frame.end.lag);
            fits &= frame.end.at <= latest;
        }
        if fits && most >= self.anchor_earliest && self.begin(index, lift, start, most) {
            return true;
        }
        for frame in &mut self.stack {
            frame.end = frame.end.plus(-longer);
        }
        self.interruptions_left += 1;
        self.above[local] = before;
        false
    }

    fn begin(&mut self, index: usize, lift: i64, start: Time, first_start_max: i64) -> bool {
        let item = &self.items[index];
        let end = start.plus(item.charged);
        let most = first_start_max.min(item.latest + lift - end.lag);
        if self.exhausted || end.at > item.latest + lift || most < self.anchor_earliest {
            return false;
        }
        self.used |= 1 << index;
        self.stack.push(Frame { item: index, lift, start, resumed: start, end, interrupted: false });
        if self.step(start, most) {
            return true;
        }
        self.stack.pop();
        self.used &= !(1 << index);
        false
    }
}
