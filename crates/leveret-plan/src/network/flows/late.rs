//! Flows that cannot be promised their deadline: where the time goes, and which single change would do, each tried.

use super::{Layout, Search, Table, bounds, flow_bounds};
use crate::network::change::{FlowChange, NetworkChange};
use crate::network::explain::NetworkRefusal;
use crate::network::model::{STREAM_TIME_MAX, Traffic};
use crate::network::plan::NetworkPlan;
use leveret_types::{ByteSize, LinkId, Nanos, NodeId, TRAFFIC_CLASSES};
use std::fmt::Write;

/// Changes of a flow that are tried for one refusal.
const TRIALS_MAX: u64 = 96;
/// Times between which nothing is sought.
const STEP: i64 = 1_000;
/// An interval is made no longer than so many times what is declared.
const INTERVAL_FACTOR_MAX: i64 = 64;
/// Late flows that are told.
const TOLD_MAX: usize = 5;

/// A flow that may arrive after its deadline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LateFlow {
    /// Which, by its place in [`Traffic::flows`].
    pub flow: usize,
    /// The target that it reaches last.
    pub target: NodeId,
    /// When, at the latest; [`Nanos::MAX`] where there is no bound.
    pub bound: Nanos,
    /// Its way there, link by link.
    pub hops: Vec<HopShares>,
    /// Single changes with each of which nothing is late.
    pub fits: Vec<NetworkChange>,
    /// Where there is none: those with which it is in time, and others as late as they were.
    pub helps: Vec<NetworkChange>,
    /// How many other flows are late.
    pub others: usize,
}

/// What a frame waits for at the port of one link, in the worst case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HopShares {
    /// Which link.
    pub link: LinkId,
    /// From ready to sent; [`Nanos::MAX`] where there is no bound. The parts make it up.
    pub delay: Nanos,
    /// Slots and what is kept free before them.
    pub table: Nanos,
    /// More urgent classes.
    pub above: Nanos,
    /// What came before in the same class.
    pub class: Nanos,
    /// One frame from below, or of a shaped class the most that its credit has to regain.
    pub below: Nanos,
    /// The frame itself.
    pub sending: Nanos,
}

/// Why a plan is refused, if a flow is late, with changes of that flow which would do.
pub(in crate::network) fn refusal(traffic: &Traffic, plan: &NetworkPlan) -> Option<NetworkRefusal> {
    let late = late_flows(traffic, plan);
    let told = late_flow(traffic, plan, (&late, *late.first()?), true, |_| None)?;
    Some(NetworkRefusal::Late(Box::new(told)))
}

/// The late flow that is refused, with all that would do. Where no single change does for all that are late, some of the others too. `table` plans the
/// streams of changed traffic.
pub(in crate::network) fn explained(
    traffic: &Traffic,
    plan: &NetworkPlan,
    table: impl Fn(&Traffic) -> Option<NetworkPlan>,
) -> Vec<LateFlow> {
    let late = late_flows(traffic, plan);
    let mut told: Vec<LateFlow> = Vec::new();
    for flow in late.iter().take(TOLD_MAX) {
        // What would do for all is sought with the first: it costs as much again.
        let for_all = told.is_empty();
        told.extend(late_flow(traffic, plan, (&late, *flow), for_all, &table));
        if told.first().is_some_and(|first| !first.fits.is_empty()) {
            break;
        }
    }
    told
}

/// One of those that are late, with what would do for it.
fn late_flow(
    traffic: &Traffic,
    plan: &NetworkPlan,
    (late, flow): (&[usize], usize),
    for_all: bool,
    table: impl Fn(&Traffic) -> Option<NetworkPlan>,
) -> Option<LateFlow> {
    let reached = flow_bounds(traffic, plan, flow);
    let (place, bound) =
        reached.iter().enumerate().max_by_key(|(place, bound)| (**bound, std::cmp::Reverse(*place)))?;
    let target = traffic.flows[flow].targets[place];
    let slots = Table::of(plan);
    let hops = hops(traffic, (plan, &slots), flow, target);
    let others = late.len() - 1;
    let mut trials = Trials { traffic, plan, slots, late, flow, may_stay_late: false, left: TRIALS_MAX };
    let fits = if for_all { trials.all(*bound, &hops, &table) } else { Vec::new() };
    let mut helps = Vec::new();
    if fits.is_empty() && others > 0 {
        (trials.may_stay_late, trials.left) = (true, TRIALS_MAX);
        helps = trials.all(*bound, &hops, &table);
    }
    Some(LateFlow { flow, target, bound: *bound, hops, fits, helps, others })
}

/// Flows that may be late beside a plan, the most urgent first: what is less urgent may be late because of it.
pub(in crate::network) fn late_flows(traffic: &Traffic, plan: &NetworkPlan) -> Vec<usize> {
    let is_late = |flow: &usize| {
        let deadline = traffic.flows[*flow].deadline;
        deadline
            .is_some_and(|deadline| flow_bounds(traffic, plan, *flow).iter().any(|bound| *bound > deadline))
    };
    let mut late: Vec<_> = (0..traffic.flows.len()).filter(is_late).collect();
    late.sort_by_key(|flow| (std::cmp::Reverse(traffic.flows[*flow].class), *flow));
    late
}

/// The way to one target, with what a frame waits for at each port.
fn hops(
    traffic: &Traffic,
    (plan, table): (&NetworkPlan, &Table<'_>),
    flow: usize,
    target: NodeId,
) -> Vec<HopShares> {
    let layout = Layout::new(traffic, table, &plan.flows);
    let mut search = Search::new(traffic, layout, &plan.flows);
    search.settle();
    let tree = &plan.flows[flow];
    let end = |hop: &leveret_topology::TreeHop| traffic.network.links[hop.link.index()].target;
    let mut at = tree.hops.iter().find(|hop| end(hop) == target);
    let mut hops = Vec::new();
    while let Some(hop) = at {
        let station = &search.layout.stations[hop.link.index()];
        let place = station.classes.iter().position(|class| Some(class.number) == traffic.flows[flow].class);
        if let Some(place) = place {
            let shares = &search.shares[station.link][place];
            hops.push(HopShares {
                link: hop.link,
                delay: Nanos(search.delays[station.link][place]),
                table: Nanos(shares.table),
                above: Nanos(shares.above),
                class: Nanos(shares.class),
                below: Nanos(shares.below),
                sending: Nanos(shares.sending),
            });
        }
        at = hop.parent.map(|parent| &tree.hops[parent as usize]);
    }
    hops.reverse();
    hops
}

/// Changes of one flow, tried beside the same table.
pub(super) struct Trials<'a> {
    pub traffic: &'a Traffic,
    pub plan: &'a NetworkPlan,
    slots: Table<'a>,
    late: &'a [usize],
    flow: usize,
    /// Whether others may stay late that are.
    may_stay_late: bool,
    left: u64,
}

impl Trials<'_> {
    /// One change of each kind, where one does; then what is in its way.
    fn all(
        &mut self,
        bound: Nanos,
        hops: &[HopShares],
        table: &impl Fn(&Traffic) -> Option<NetworkPlan>,
    ) -> Vec<NetworkChange> {
        let own = [self.class(), self.burst(), self.interval(), self.size(), self.deadline(bound)];
        let mut found: Vec<_> =
            own.into_iter().flatten().map(|change| NetworkChange::Flow(self.flow, change)).collect();
        found.extend(self.relief(hops, table));
        found
    }

    /// Whether everything is in time after a change; or the flow, and no other is late that was not.
    fn fits(&mut self, change: FlowChange) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let mut traffic = self.traffic.clone();
        change.apply(&mut traffic.flows[self.flow]);
        let classes = bounds(&traffic, &self.slots, &self.plan.flows);
        self.helps(&traffic, &NetworkPlan { classes, ..self.plan.clone() })
    }

    /// Whether with this plan nothing is late, but what may be.
    pub(super) fn helps(&self, traffic: &Traffic, plan: &NetworkPlan) -> bool {
        let late = late_flows(traffic, plan);
        let is_left = |flow: &usize| self.may_stay_late && *flow != self.flow && self.late.contains(flow);
        late.iter().all(is_left)
    }

    /// The nearest class.
    fn class(&mut self) -> Option<FlowChange> {
        let own = self.traffic.flows[self.flow].class?;
        let mut others: Vec<u8> = (0..TRAFFIC_CLASSES).filter(|class| *class != own).collect();
        others.sort_by_key(|class| (class.abs_diff(own), *class));
        others.into_iter().map(FlowChange::Class).find(|change| self.fits(*change))
    }

    fn burst(&mut self) -> Option<FlowChange> {
        let own = self.traffic.flows[self.flow].burst;
        let least = self.least(1, i64::from(own), |saved| FlowChange::Burst(own - saved as u32))?;
        Some(FlowChange::Burst(own - least as u32))
    }

    fn interval(&mut self) -> Option<FlowChange> {
        let own = self.traffic.flows[self.flow].interval?;
        let step = STEP.min(own.0.max(1));
        let longer =
            move |steps: i64| Nanos((own.0 / step * step).saturating_add(step.saturating_mul(steps)));
        let most = (STREAM_TIME_MAX.0 - own.0).min(own.0.saturating_mul(INTERVAL_FACTOR_MAX)) / step;
        let least = self.least(1, most, |steps| FlowChange::Interval(longer(steps)))?;
        Some(FlowChange::Interval(longer(least)))
    }

    fn size(&mut self) -> Option<FlowChange> {
        let own = self.traffic.flows[self.flow].size.0;
        let smaller = move |saved: i64| ByteSize(own.saturating_sub(saved.cast_unsigned()).max(1));
        let least = self.least(1, i64::try_from(own).ok()?, |saved| FlowChange::Size(smaller(saved)))?;
        Some(FlowChange::Size(smaller(least)))
    }

    fn deadline(&mut self, bound: Nanos) -> Option<FlowChange> {
        let whole = Nanos(bound.0.checked_add(999)? / 1000 * 1000);
        let change = FlowChange::Deadline(whole);
        (whole <= STREAM_TIME_MAX && self.fits(change)).then_some(change)
    }

    /// The least number of steps that does, below `most`: doubled until one does, then halved.
    fn least(&mut self, first: i64, most: i64, change: impl Fn(i64) -> FlowChange) -> Option<i64> {
        let (mut short, mut steps) = (0, first);
        while steps < most && !self.fits(change(steps)) {
            (short, steps) = (steps, steps * 2);
        }
        if steps >= most {
            steps = most - 1;
            if steps <= short || !self.fits(change(steps)) {
                return None;
            }
        }
        while steps - short > 1 {
            let middle = short + (steps - short) / 2;
            if self.fits(change(middle)) { steps = middle } else { short = middle }
        }
        Some(steps)
    }
}

impl LateFlow {
    /// The reason, in words.
    pub(in crate::network) fn reason(&self, traffic: &Traffic) -> String {
        let flow = &traffic.flows[self.flow];
        let target = &traffic.network.nodes[self.target.index()].name;
        let deadline = flow.deadline.unwrap_or(Nanos::MAX);
        let mut text = format!("channel \"{}\" ", flow.name);
        // Writing to a text does not fail: results of `write!` are dropped throughout.
        if self.bound == Nanos::MAX {
            let _ =
                write!(text, "has no bound on its arrival at \"{target}\", and its deadline is {deadline}");
        } else {
            let _ = write!(
                text,
                "may arrive at \"{target}\" after {}, and its deadline is {deadline}",
                self.bound
            );
        }
        if self.others > 0 {
            let _ =
                write!(text, " (so may {} other{})", self.others, if self.others == 1 { "" } else { "s" });
        }
        for hop in &self.hops {
            let _ = write!(
                text,
                "\n    {}: {}",
                traffic.network.link_name(hop.link),
                hop.words(traffic, flow.class)
            );
        }
        text
    }
}

impl HopShares {
    fn words(&self, traffic: &Traffic, class: Option<u8>) -> String {
        if self.delay == Nanos::MAX {
            return "no bound: more comes in the long run than the link, its slots and its shapers leave"
                .to_owned();
        }
        let shaping = &traffic.network.links[self.link.index()].shaping;
        let is_shaped = shaping.iter().any(|shaper| Some(shaper.class) == class);
        let parts = [
            (self.table, "for slots"),
            (self.above, "for higher priorities"),
            (self.class, "for its own"),
            (self.below, if is_shaped { "for credit" } else { "for what is below" }),
            (self.sending, "to be sent"),
        ];
        let parts: Vec<_> = parts
            .iter()
            .filter(|(time, _)| *time > Nanos::ZERO)
            .map(|(time, what)| format!("{time} {what}"))
            .collect();
        format!("{} ({})", self.delay, parts.join(", "))
    }
}
