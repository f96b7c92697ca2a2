//! All that is told of a refusal: each conflict by itself, as small as it was found, and what would resolve it.
//!
//! ```text
//!  refusal ─► fewest streams ─► the others, planned ─┬─► refused: the next conflict ─┐
//!                 ▲                                  ├─► a flow is late: another     │
//!                 └──────────────────────────────────┼───────────────────────────────┘
//!                                                    └─► planned: these are all
//! ```

use super::change::{NetworkChange, StreamChange};
use super::explain::NetworkRefusal;
use super::flows::{self, LateFlow};
use super::least::Least;
use super::minimal::{minimal, without};
use super::model::{StreamFault, Traffic, TrafficError};
use super::plan::NetworkPlan;
use super::remedy::{least_changes, remedies};
use super::trials::{Answer, STEPS_PER_PLAN, Trials, table_of};
use super::{Effort, plan_network};
use leveret_topology::Graph;
use leveret_types::StreamId;

/// Conflicts that are told.
const TOLD_MAX: usize = 5;
/// Conflicts that are looked for, so that what would resolve one can be planned without the others.
const CONFLICTS_MAX: usize = 16;
/// Streams of known conflicts that are looked at each beside the others.
const MEMBERS_MAX: usize = 16;

/// Why there is no plan, and what would fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkExplanation {
    /// What does not go together, the first as it was refused. All must be resolved.
    pub conflicts: Vec<NetworkConflict>,
    /// How many more were found.
    pub more: usize,
    /// Whether without what all of them name the rest was planned.
    pub is_complete: bool,
    /// Whether the first remedies of all of them, made together, were planned: then they fit.
    pub together: bool,
}

/// Something that does not go together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkConflict {
    /// What, and why.
    pub refusal: NetworkRefusal,
    /// Whether without any one of its streams the others were seen to have a table.
    pub is_minimal: bool,
    /// Single changes that resolve it, each planned.
    pub remedies: Vec<NetworkRemedy>,
}

/// A change that resolves a conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkRemedy {
    /// The change.
    pub change: NetworkChange,
    /// Whether one step less (1 us of a time, 1 B of a size, 1 ns of the clock error) provably does not do.
    pub is_least: bool,
    /// Conflicts that remain. It was planned with everything but the streams of those.
    pub remain: usize,
}

/// Says of a refusal with such an effort what conflicts, each conflict for itself, and for each which changes would fit, at most `most`.
pub fn explain_network(
    traffic: &Traffic,
    refusal: NetworkRefusal,
    effort: Effort,
    most: usize,
) -> NetworkExplanation {
    let refusal = match refusal {
        NetworkRefusal::Late(late) => return of_late(traffic, *late, effort, most),
        other if no_second_way(traffic, &other).is_some() => return of_copies(traffic, other, effort, most),
        other => other,
    };
    match traffic.validate() {
        Ok(hyperperiod) if refusal.is_proven() && !refusal.streams().is_empty() => {
            let trials = Trials::new(traffic, hyperperiod);
            let mut explainer = Explainer { traffic, trials, effort, most, conflicts: Vec::new() };
            let is_complete = explainer.find(refusal);
            let conflicts = explainer.resolved();
            let more = explainer.conflicts.len() - conflicts.len();
            let together = more == 0 && explainer.fit_together(&conflicts);
            NetworkExplanation { conflicts, more, is_complete, together }
        }
        _ => {
            let changes = remedies(traffic, &refusal, most);
            let fit = |change| NetworkRemedy { change, is_least: false, remain: 0 };
            let remedies = changes.into_iter().map(fit).collect();
            let conflicts = vec![NetworkConflict { refusal, is_minimal: false, remedies }];
            NetworkExplanation { conflicts, more: 0, is_complete: false, together: false }
        }
    }
}

/// The stream that asks for two ways where there is one.
fn no_second_way(traffic: &Traffic, refusal: &NetworkRefusal) -> Option<StreamId> {
    let NetworkRefusal::Invalid(TrafficError::Stream { name, fault: StreamFault::NoSecondWay { .. } }) =
        refusal
    else {
        return None;
    };
    let which = traffic.streams.iter().position(|stream| stream.name == *name)?;
    Some(StreamId(which as u32))
}

/// Streams that ask for two ways where there is one, each a conflict by itself; then what conflicts where each of them has one.
fn of_copies(
    traffic: &Traffic,
    mut refusal: NetworkRefusal,
    effort: Effort,
    most: usize,
) -> NetworkExplanation {
    let mut single = traffic.clone();
    let mut found: Vec<(NetworkRefusal, NetworkChange)> = Vec::new();
    let rest = loop {
        let Some(stream) = no_second_way(traffic, &refusal) else { break Some(refusal) };
        if found.len() == CONFLICTS_MAX {
            break Some(refusal);
        }
        let change = NetworkChange::Stream(stream, StreamChange::OneWay);
        change.apply(&mut single);
        found.push((refusal, change));
        match plan_network(&single, effort) {
            Ok(_) => break None,
            Err(next) => refusal = next,
        }
    };
    let fits = rest.is_none();
    let untold =
        |more, is_complete| NetworkExplanation { conflicts: Vec::new(), more, is_complete, together: false };
    let mut rest = match rest {
        None => untold(0, true),
        // There are too many to go on.
        Some(rest) if no_second_way(traffic, &rest).is_some() => untold(1, false),
        Some(rest) => explain_network(&single, rest, effort, most),
    };
    let count = found.len();
    let others = count - 1 + rest.conflicts.len() + rest.more;
    for remedy in rest.conflicts.iter_mut().flat_map(|conflict| &mut conflict.remedies) {
        remedy.remain += count;
    }
    let conflict = |(refusal, change)| {
        // What remains was planned without the conflicts that are told.
        let remedy = NetworkRemedy { change, is_least: false, remain: others };
        let remedies = if rest.is_complete { vec![remedy] } else { Vec::new() };
        NetworkConflict { refusal, is_minimal: false, remedies }
    };
    let mut conflicts: Vec<NetworkConflict> = found.into_iter().map(conflict).collect();
    conflicts.append(&mut rest.conflicts);
    let more = rest.more + conflicts.len().saturating_sub(TOLD_MAX);
    conflicts.truncate(TOLD_MAX);
    let together = fits && more == 0 && conflicts.len() > 1;
    NetworkExplanation { conflicts, more, is_complete: rest.is_complete, together }
}

/// Flows that are late, beside a table that is planned once more.
fn of_late(traffic: &Traffic, late: LateFlow, effort: Effort, most: usize) -> NetworkExplanation {
    let told = late_flows(traffic, effort).filter(|told| !told.is_empty()).unwrap_or_else(|| vec![late]);
    NetworkExplanation {
        conflicts: told.into_iter().map(|late| late_conflict(late, 0, most)).collect(),
        more: 0,
        is_complete: true,
        together: false,
    }
}

/// The flows that are late beside the table that is found with such an effort, with what would do for each.
pub(super) fn late_flows(traffic: &Traffic, effort: Effort) -> Option<Vec<LateFlow>> {
    let all = without(traffic, &[]);
    let (mut plan, _) = table_of(traffic, traffic.validate().ok()?, &all, effort)?.ok()?;
    let ways = flows::ways(traffic, &Graph::new(&traffic.network)).ok()?;
    flows::complete(traffic, &mut plan, ways);
    Some(flows::explained(traffic, &plan, table_with(&all, effort)))
}

/// Plans of some streams of changed traffic.
fn table_with(streams: &[StreamId], effort: Effort) -> impl Fn(&Traffic) -> Option<NetworkPlan> {
    move |changed| Some(table_of(changed, changed.validate().ok()?, streams, effort)?.ok()?.0)
}

/// A late flow, beside so many other conflicts that are not of flows.
fn late_conflict(late: LateFlow, beside: usize, most: usize) -> NetworkConflict {
    let (changes, remain) = if late.fits.is_empty() { (&late.helps, late.others) } else { (&late.fits, 0) };
    let remedy = |change: &NetworkChange| NetworkRemedy {
        change: change.clone(),
        is_least: false,
        remain: remain + beside,
    };
    let remedies = changes.iter().take(most).map(remedy).collect();
    NetworkConflict { refusal: NetworkRefusal::Late(Box::new(late)), is_minimal: false, remedies }
}

struct Explainer<'a> {
    traffic: &'a Traffic,
    trials: Trials<'a>,
    effort: Effort,
    most: usize,
    /// With whether each is minimal.
    conflicts: Vec<(NetworkRefusal, bool)>,
}

impl Explainer<'_> {
    /// Finds all conflicts; whether the rest was planned.
    fn find(&mut self, first: NetworkRefusal) -> bool {
        self.add(first);
        loop {
            let dropped = self.dropped(|_| true);
            let rest = without(self.traffic, &dropped);
            match self.trials.table(None, &rest) {
                Some(Ok((plan, _))) => {
                    self.late(plan, &rest);
                    break;
                }
                Some(Err(refusal)) if self.is_new(&refusal) => self.add(refusal),
                _ => return false,
            }
        }
        // Who conflicts with one may conflict with others too.
        for one in self.dropped(|_| true).into_iter().take(MEMBERS_MAX) {
            let mut dropped = self.dropped(|_| true);
            dropped.retain(|stream| *stream != one);
            let rest = without(self.traffic, &dropped);
            match self.trials.table(None, &rest) {
                Some(Err(refusal)) if self.is_new(&refusal) => self.add(refusal),
                _ => {}
            }
        }
        true
    }

    /// Whether it is a conflict that there is room for.
    fn is_new(&self, refusal: &NetworkRefusal) -> bool {
        refusal.is_proven() && !refusal.streams().is_empty() && self.conflicts.len() < CONFLICTS_MAX
    }

    fn add(&mut self, refusal: NetworkRefusal) {
        let (refusal, is_minimal) = minimal(&mut self.trials, refusal);
        let is_known = |(known, _): &(NetworkRefusal, bool)| known.streams() == refusal.streams();
        if !self.conflicts.iter().any(is_known) {
            self.conflicts.push((refusal, is_minimal));
        }
    }

    /// The streams of some conflicts, each once.
    fn dropped(&self, of: impl Fn(usize) -> bool) -> Vec<StreamId> {
        let chosen = self.conflicts.iter().enumerate().filter(|(index, _)| of(*index));
        let mut streams: Vec<_> =
            chosen.flat_map(|(_, (refusal, _))| refusal.streams().iter().copied()).collect();
        streams.sort_unstable();
        streams.dedup();
        streams
    }

    /// Flows that are late beside the others, though nothing of what conflicts is there.
    fn late(&mut self, mut plan: NetworkPlan, rest: &[StreamId]) {
        let traffic = self.traffic;
        let Ok(ways) = flows::ways(traffic, &Graph::new(&traffic.network)) else { return };
        flows::complete(traffic, &mut plan, ways);
        self.trials.late = flows::late_flows(traffic, &plan);
        if self.trials.late.is_empty() {
            return;
        }
        let told = flows::explained(traffic, &plan, table_with(rest, self.effort));
        let room = CONFLICTS_MAX.saturating_sub(self.conflicts.len());
        let told = told.into_iter().take(room);
        self.conflicts.extend(told.map(|late| (NetworkRefusal::Late(Box::new(late)), false)));
    }

    /// Each conflict with what resolves it.
    fn resolved(&mut self) -> Vec<NetworkConflict> {
        let (count, told_count) = (self.conflicts.len(), self.conflicts.len().min(TOLD_MAX));
        let mut told = Vec::with_capacity(told_count);
        for index in 0..told_count {
            let (refusal, is_minimal) = self.conflicts[index].clone();
            if let NetworkRefusal::Late(late) = refusal {
                let late_ones = self.conflicts.iter().filter(|one| is_late(one)).count();
                told.push(late_conflict(*late, count - late_ones, self.most));
                continue;
            }
            let parts = told_count - index;
            let before = self.trials.share(parts);
            let ground = self.ground(index, |other| other != index);
            let least = least_changes(&mut self.trials, &refusal, ground, self.most);
            let remedies = least.into_iter().filter_map(|least| {
                let remain = self.remain(index, &least)?;
                Some(NetworkRemedy { change: least.change, is_least: least.is_least, remain })
            });
            let remedies = remedies.collect();
            self.trials.unshare(before, parts);
            told.push(NetworkConflict { refusal, is_minimal, remedies });
        }
        told
    }

    /// All streams but those of some other conflicts.
    fn ground(&self, index: usize, is_left_out: impl Fn(usize) -> bool) -> Vec<StreamId> {
        let own = self.conflicts[index].0.streams();
        let mut dropped = self.dropped(is_left_out);
        dropped.retain(|stream| !own.contains(stream));
        without(self.traffic, &dropped)
    }

    /// How many conflicts a change leaves, planned with everything but those, as the user would plan it; none if it then has no plan.
    fn remain(&mut self, index: usize, least: &Least) -> Option<usize> {
        let change = &least.change;
        let is_sure = least.is_sure && self.effort.seed == 0 && self.effort.steps >= STEPS_PER_PLAN;
        let late = self.conflicts.iter().filter(|one| is_late(one)).count();
        let others: Vec<usize> = (0..self.conflicts.len())
            .filter(|other| *other != index && !is_late(&self.conflicts[*other]))
            .collect();
        let left: Vec<usize> = others
            .iter()
            .copied()
            .filter(|other| {
                let streams = self.conflicts[*other].0.streams().to_vec();
                self.trials.part(Some(change), &streams) != Answer::Fits
            })
            .collect();
        for left in [left, others.clone()] {
            if is_sure && left.len() == others.len() {
                return Some(left.len());
            }
            let ground = self.ground(index, |other| left.contains(&other));
            let known = std::mem::take(&mut self.trials.late);
            let in_time = self.confirmed(std::slice::from_ref(change), &ground);
            self.trials.late = known;
            if in_time {
                return Some(left.len());
            }
            if late > 0 && self.confirmed(std::slice::from_ref(change), &ground) {
                return Some(left.len() + late);
            }
        }
        None
    }

    /// Whether streams have a plan with changes, sought with the effort of who asked, beside which no flow is late but those that are known.
    fn confirmed(&self, changes: &[NetworkChange], streams: &[StreamId]) -> bool {
        let mut changed = self.traffic.clone();
        changes.iter().for_each(|change| change.apply(&mut changed));
        let Ok(hyperperiod) = changed.validate() else { return false };
        let Some(Ok((mut plan, _))) = table_of(&changed, hyperperiod, streams, self.effort) else {
            return false;
        };
        let Ok(ways) = flows::ways(&changed, &Graph::new(&changed.network)) else { return false };
        flows::complete(&changed, &mut plan, ways);
        flows::late_flows(&changed, &plan).iter().all(|flow| self.trials.late.contains(flow))
    }

    /// Whether the first change of each conflict, all together, are planned.
    fn fit_together(&mut self, conflicts: &[NetworkConflict]) -> bool {
        let first: Option<Vec<NetworkChange>> =
            conflicts.iter().map(|conflict| Some(conflict.remedies.first()?.change.clone())).collect();
        self.trials.late.clear();
        conflicts.len() > 1
            && first.is_some_and(|changes| self.confirmed(&changes, &without(self.traffic, &[])))
    }
}

fn is_late((refusal, _): &(NetworkRefusal, bool)) -> bool {
    matches!(refusal, NetworkRefusal::Late(_))
}

impl NetworkConflict {
    /// The reason, in words, with the names of the traffic.
    pub fn reason(&self, traffic: &Traffic) -> String {
        let reason = self.refusal.reason(traffic);
        let is_sum = matches!(self.refusal, NetworkRefusal::Overload { .. } | NetworkRefusal::Unison { .. });
        if !is_sum || self.refusal.streams().len() == 1 {
            return reason;
        }
        // A conflict that was searched says it of itself.
        let fewer = if self.is_minimal {
            "without any one of them the others have a plan"
        } else {
            "no smaller set was found"
        };
        format!("{reason}; {fewer}")
    }
}

impl NetworkRemedy {
    /// The change as advice, with what is known of it.
    pub fn words(&self, traffic: &Traffic) -> String {
        let least = if self.is_least { " (the least)" } else { "" };
        format!("{}{least}", self.change.words(traffic))
    }
}
