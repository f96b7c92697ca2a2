//! Changed traffic, planned for trial: all of it, or some of its streams.

use super::change::NetworkChange;
use super::explain::NetworkRefusal;
use super::model::Traffic;
use super::plan::NetworkPlan;
use super::problem::Problem;
use super::strategy::Strategy;
use super::watch::Watch;
use super::{Effort, flows, search_problem};
use leveret_topology::Graph;
use leveret_types::{Nanos, StreamId};

/// Steps of each plan that is tried, as long as few have ended without an answer; then of each further one.
pub(super) const STEPS_PER_PLAN: u64 = 400_000;
const STEPS_AFTER: u64 = 30_000;
/// Plans that may end without an answer.
const UNKNOWN_MAX: usize = 6;
/// Streams that are planned for all trials of one explanation together.
const PLANNED_MAX: usize = 200_000;
/// A search that ends without an answer counts as so many streams.
const UNKNOWN_COST: usize = 2_000;

/// What a trial says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// There is a plan.
    Fits,
    /// There is none, because of these.
    Proven(Vec<StreamId>),
    /// Neither is known, or a flow is late.
    Unknown,
}

/// Plans of traffic with single changes, as many as may be made.
pub(super) struct Trials<'a> {
    pub traffic: &'a Traffic,
    /// The same but for the time of a trial.
    changed: Traffic,
    hyperperiod: Nanos,
    /// Flows that are late whatever is done here.
    pub late: Vec<usize>,
    left: usize,
    /// Plans that may yet end without an answer.
    unknown: usize,
    /// What was planned last with nothing late, and would be by any longer search: the change, and the streams.
    planned: Option<(NetworkChange, Vec<StreamId>)>,
}

impl<'a> Trials<'a> {
    /// Of valid traffic.
    pub(super) fn new(traffic: &'a Traffic, hyperperiod: Nanos) -> Self {
        let left = PLANNED_MAX.max(traffic.streams.len() * 6);
        Self {
            traffic,
            changed: traffic.clone(),
            hyperperiod,
            late: Vec::new(),
            left,
            unknown: UNKNOWN_MAX,
            planned: None,
        }
    }

    /// Whether no more can be planned.
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Leaves a part of what may be planned to others; what there was before.
    pub(super) fn share(&mut self, parts: usize) -> usize {
        let before = self.left;
        self.left = before / parts.max(1);
        before
    }

    /// Gives back what others were left, less what was used meanwhile.
    pub(super) fn unshare(&mut self, before: usize, parts: usize) {
        self.left += before - before / parts.max(1);
    }

    /// Whether some streams have a table by themselves, after a change.
    pub(super) fn part(&mut self, change: Option<&NetworkChange>, streams: &[StreamId]) -> Answer {
        match self.table(change, streams) {
            Some(Ok(_)) => Answer::Fits,
            Some(Err(refusal)) => self.refused(&refusal),
            None => Answer::Unknown,
        }
    }

    /// Whether this is what was planned last, with nothing late, as any longer search from the same seed would plan it.
    pub(super) fn is_planned(&self, change: &NetworkChange, streams: &[StreamId]) -> bool {
        self.planned.as_ref().is_some_and(|(of, all)| of == change && all == streams)
    }

    /// Whether some streams have a plan after a change, beside which no flow is late but those of which that is known.
    pub(super) fn whole(&mut self, change: Option<&NetworkChange>, streams: &[StreamId]) -> Answer {
        let (mut plan, is_early) = match self.table(change, streams) {
            Some(Ok(found)) => found,
            Some(Err(refusal)) => return self.refused(&refusal),
            None => return Answer::Unknown,
        };
        let late = self.with(change, |traffic, _| {
            let ways = flows::ways(traffic, &Graph::new(&traffic.network)).ok()?;
            flows::complete(traffic, &mut plan, ways);
            Some(flows::late_flows(traffic, &plan))
        });
        let Some(late) = late else { return Answer::Unknown };
        if let Some(change) = change.filter(|_| is_early && late.is_empty()) {
            self.planned = Some((change.clone(), streams.to_vec()));
        }
        let is_known = |flow: &usize| self.late.contains(flow);
        if late.iter().all(is_known) { Answer::Fits } else { Answer::Unknown }
    }

    /// A table of some streams, and whether any longer search would find it; or why there is none. None where no more can be planned.
    pub(super) fn table(
        &mut self,
        change: Option<&NetworkChange>,
        streams: &[StreamId],
    ) -> Option<Result<(NetworkPlan, bool), NetworkRefusal>> {
        let cost = streams.len().max(1);
        if self.left < cost {
            self.left = 0;
            return None;
        }
        self.left -= cost;
        let steps = if self.unknown > 0 { STEPS_PER_PLAN } else { STEPS_AFTER };
        self.with(change, |traffic, hyperperiod| {
            table_of(traffic, hyperperiod?, streams, Effort { seed: 0, steps })
        })
    }

    /// Something of the changed traffic. Its hyperperiod is none where it is not valid.
    fn with<R>(
        &mut self,
        change: Option<&NetworkChange>,
        look: impl FnOnce(&Traffic, Option<Nanos>) -> R,
    ) -> R {
        let Some(change) = change else { return look(&self.changed, Some(self.hyperperiod)) };
        change.apply(&mut self.changed);
        // Only a period makes another round.
        let hyperperiod = match change.fields(self.traffic).kind {
            "period" => self.changed.validate().ok(),
            _ => Some(self.hyperperiod),
        };
        let found = look(&self.changed, hyperperiod);
        match change {
            NetworkChange::Stream(stream, _) => {
                let index = stream.index();
                self.changed.streams[index].clone_from(&self.traffic.streams[index]);
            }
            NetworkChange::Flow(flow, _) => self.changed.flows[*flow].clone_from(&self.traffic.flows[*flow]),
            NetworkChange::Rate(..) => self.changed.network.clone_from(&self.traffic.network),
            NetworkChange::ClockError(_) => self.changed.clock_error = self.traffic.clock_error,
        }
        found
    }

    fn refused(&mut self, refusal: &NetworkRefusal) -> Answer {
        if refusal.is_proven() && !refusal.streams().is_empty() {
            Answer::Proven(refusal.streams().to_vec())
        } else {
            self.left = self.left.saturating_sub(UNKNOWN_COST);
            self.unknown = self.unknown.saturating_sub(1);
            Answer::Unknown
        }
    }
}

/// A table of some streams alone, over the round of all: an argument about a shorter round would say nothing of the whole. With whether any longer search
/// from the same seed would find it too.
pub(super) fn table_of(
    traffic: &Traffic,
    hyperperiod: Nanos,
    streams: &[StreamId],
    effort: Effort,
) -> Option<Result<(NetworkPlan, bool), NetworkRefusal>> {
    let problem = Problem::part(traffic, hyperperiod.0, streams).ok()?;
    let how = (Strategy::first(effort.seed), effort.steps);
    Some(search_problem(problem, how, &mut Watch::alone()).map(|(plan, report)| (plan, report.looks == 0)))
}
