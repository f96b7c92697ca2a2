//! The search: windows, then each part within them; more room where a part fails; at the end, windows as tight as the plan is.

use super::chain::{TooLong, Walked, least, walk};
use super::choose::{self, Shares};
use super::explain::{ChainLimit, SystemRefusal, refuse_chain};
use super::model::{Crossing, Port, Step, System, Window};
use super::needs::Needs;
use super::plan::{SYSTEM_PLAN_VERSION, SystemPlan};
use super::project::{Parts, open_ports, parts, relaxed, source_window};
use super::stages::{self, Stretch};
use crate::admission::{Lean, plan_leaning, plan_scope, plan_with};
use crate::explain::{Own, Scope};
use crate::network::{Effort, NetworkPlan, NetworkRefusal, TooLongFor, Traffic, plan_network, summarise};
use crate::search::Effort as HostEffort;
use crate::{ExplainBudget, Job, Kept, Plan, Refusal, Task};
use leveret_types::{Nanos, StreamId};

/// How often windows are chosen anew.
const ROUNDS_MAX: usize = 16;
/// Where that finds nothing: windows by stages, with so many 64ths of what messages and tasks need.
const BY_STAGES: [(i64, i64); 9] =
    [(66, 64), (68, 64), (72, 64), (80, 64), (80, 80), (96, 80), (96, 96), (128, 128), (192, 192)];
/// Where that finds nothing either: windows at the ends of periods, so long in eighths of them.
const AT_ENDS: [i64; 4] = [0, 1, 3, 5];
/// How often windows are tightened to what a plan uses.
const TIGHTENED_MAX: usize = 4;

/// Plans tasks and network together.
///
/// Deterministic: the same system gives the same plan, byte for byte.
///
/// # Errors
/// Why there is no plan, or none was found.
pub fn plan_system(system: &System, effort: Effort) -> Result<SystemPlan, SystemRefusal> {
    plan_system_within(system, effort, ExplainBudget::default())
}

/// The same with this many steps for the explanation of a host's refusal.
///
/// # Errors
/// As [`plan_system`].
pub fn plan_system_within(
    system: &System,
    effort: Effort,
    budget: ExplainBudget,
) -> Result<SystemPlan, SystemRefusal> {
    plan_system_by(system, &|traffic| plan_network(traffic, effort).map(|(plan, _)| plan), budget)
}

/// How the network of a system is planned.
pub type NetworkPlanner<'a> = dyn Fn(&Traffic) -> Result<NetworkPlan, NetworkRefusal> + 'a;

/// The same by another planner of the network: one that uses several cores, for instance. It is asked again for other windows.
///
/// # Errors
/// As [`plan_system`].
pub fn plan_system_by(
    system: &System,
    network: &NetworkPlanner<'_>,
    budget: ExplainBudget,
) -> Result<SystemPlan, SystemRefusal> {
    system.validate().map_err(SystemRefusal::Invalid)?;
    let needs = Needs::of(system)?;
    let mut search = Search::new(system, &needs, network);
    search.impossible_chain()?;
    match search.run() {
        Ok(found) => Ok(search.plan(found)),
        Err(failed) => Err(search.explain(failed, budget)),
    }
}

/// Whether a plan is found with light searches of the hosts and no more than `most` steps, and how many that took.
pub(super) fn has_plan(system: &System, effort: Effort, most: u64) -> (bool, u64) {
    if system.validate().is_err() {
        return (false, STEPS_LEAST);
    }
    let Ok(needs) = Needs::of(system) else { return (false, STEPS_LEAST) };
    let network = |traffic: &Traffic| plan_network(traffic, effort).map(|(plan, _)| plan);
    let mut search = Search { is_light: true, most, ..Search::new(system, &needs, &network) };
    let found = search.impossible_chain().is_ok() && search.run().is_ok();
    (found, search.spent.max(STEPS_LEAST))
}

/// Even what is refused at once costs so many steps.
const STEPS_LEAST: u64 = 64;

struct Search<'a> {
    system: &'a System,
    needs: &'a Needs,
    network: &'a NetworkPlanner<'a>,
    /// Whether hosts are searched with less effort than for an answer.
    is_light: bool,
    /// Steps after which no further windows are tried.
    most: u64,
    /// Steps so far.
    spent: u64,
}

/// A plan of all parts within some windows.
struct Found {
    windows: Vec<Window>,
    parts: Parts,
    hosts: Vec<Plan>,
    network: NetworkPlan,
    chains: Vec<Walked>,
}

/// Which part has no plan within some windows.
enum Failed {
    Host {
        windows: Vec<Window>,
        host: usize,
        refusal: Box<Refusal>,
    },
    Network {
        windows: Vec<Window>,
        refusal: Box<NetworkRefusal>,
    },
    /// `least`: what no plan within these windows, all of them declared, goes below; where that is too long.
    Chain {
        chain: usize,
        limit: ChainLimit,
        found: Box<Walked>,
        least: Option<Box<Walked>>,
    },
    TooLong {
        chain: usize,
    },
}

impl<'a> Search<'a> {
    fn new(system: &'a System, needs: &'a Needs, network: &'a NetworkPlanner<'a>) -> Self {
        Self { system, needs, network, is_light: false, most: u64::MAX, spent: 0 }
    }

    /// A chain whose limit no plan can meet.
    fn impossible_chain(&self) -> Result<(), SystemRefusal> {
        for chain in &self.system.chains {
            let least = [
                (ChainLimit::Reaction, self.needs.reaction(self.system, chain)),
                (ChainLimit::Age, self.needs.age(self.system, chain)),
            ];
            for (limit, parts) in least {
                if let Some(refusal) = refuse_chain(chain, limit, parts, true) {
                    return Err(refusal);
                }
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<Found, Failed> {
        let mut shares = Shares::even(self.system);
        let mut tried: Vec<(Vec<Window>, Vec<u32>)> = Vec::new();
        let mut nearest: Option<Failed> = None;
        for _ in 0..ROUNDS_MAX {
            if nearest.is_some() && self.spent > self.most {
                break;
            }
            let windows = choose::windows(self.system, self.needs, &shares);
            let now = (windows, shares.halvings.clone());
            // Once the answer is the same again, it stays so.
            if tried.contains(&now) {
                break;
            }
            tried.push(now.clone());
            let (windows, halvings) = now;
            let failed = match self.within(windows, &halvings) {
                Ok(found) => return Ok(found),
                Err(failed) => failed,
            };
            let hopeless = !self.depends_on_windows(&failed);
            self.make_room(&mut shares, &failed);
            if hopeless {
                return Err(failed);
            }
            if nearest.as_ref().is_none_or(|before| self.is_nearer(&failed, before)) {
                nearest = Some(failed);
            }
        }
        let by_stages = BY_STAGES.iter().map(|(messages, tasks)| {
            let stretch = Stretch { messages: *messages, tasks: *tasks };
            stages::windows(self.system, self.needs, stretch)
        });
        let at_ends = AT_ENDS.iter().map(|eighths| choose::at_ends(self.system, self.needs, *eighths));
        for windows in by_stages.chain(at_ends) {
            if self.spent > self.most {
                break;
            }
            match self.within(windows, &shares.halvings) {
                Ok(found) => return Ok(found),
                Err(failed) if nearest.as_ref().is_none_or(|before| self.is_nearer(&failed, before)) => {
                    nearest = Some(failed);
                }
                Err(_) => {}
            }
        }
        Err(nearest.unwrap_or_else(|| unreachable!("the first windows were tried")))
    }

    /// A plan within these windows, tightened, that meets the limits of all chains.
    fn within(&mut self, windows: Vec<Window>, halvings: &[u32]) -> Result<Found, Failed> {
        let found = self.attempt(windows, halvings)?;
        let found = self.tightened(found, halvings);
        self.met(found)
    }

    /// Whether what failed says as much as what failed before: a plan that misses the limit of a chain says more than a part without a
    /// plan, and the less it misses the limit by the more.
    fn is_nearer(&self, failed: &Failed, before: &Failed) -> bool {
        let over = |failed: &Failed| match failed {
            Failed::Chain { chain, limit, found, .. } => {
                Some(limit.over(&self.system.chains[*chain], found.planned))
            }
            _ => None,
        };
        match (over(failed), over(before)) {
            (Some(over), Some(before)) => over < before,
            (failed, before) => failed.is_some() || before.is_none(),
        }
    }

    fn host_effort(&self) -> HostEffort {
        if self.is_light { HostEffort::light() } else { HostEffort::full() }
    }

    /// Plans the job of a host without explaining why not.
    fn plan_host(&mut self, job: &Job, leaning: &[(usize, Lean, u32)]) -> Result<Plan, Refusal> {
        if !leaning.is_empty() {
            let mut effort = self.host_effort();
            let leaning = plan_leaning(job, leaning, &mut effort);
            self.spent = self.spent.saturating_add(effort.spent);
            if let Some(plan) = leaning {
                return Ok(plan);
            }
        }
        let mut effort = self.host_effort();
        let own = Own::but(job, &Kept::default());
        let planned = plan_with(job, Scope { own: &own, budget: ExplainBudget::NONE }, &mut effort);
        self.spent = self.spent.saturating_add(effort.spent);
        planned
    }

    /// Plans the network.
    fn plan_links(&mut self, traffic: &Traffic) -> Result<NetworkPlan, NetworkRefusal> {
        let planned = (self.network)(traffic);
        self.spent = self.spent.saturating_add(match &planned {
            Err(NetworkRefusal::NotFound { steps, .. }) => *steps,
            _ => 8 * traffic.streams.len() as u64,
        });
        planned
    }

    /// All parts within these windows.
    fn attempt(&mut self, windows: Vec<Window>, halvings: &[u32]) -> Result<Found, Failed> {
        let parts = parts(self.system, &windows);
        let mut hosts = Vec::with_capacity(parts.jobs.len());
        for (host, job) in parts.jobs.iter().enumerate() {
            match self.plan_host(job, &self.leaning(host, halvings)) {
                Ok(plan) => hosts.push(plan),
                Err(refusal) => return Err(Failed::Host { windows, host, refusal: Box::new(refusal) }),
            }
        }
        let network = match self.plan_links(&parts.traffic) {
            Ok(network) => network,
            Err(refusal) => return Err(Failed::Network { windows, refusal: Box::new(refusal) }),
        };
        let mut chains = Vec::with_capacity(self.system.chains.len());
        for (index, chain) in self.system.chains.iter().enumerate() {
            match walk(self.system, &windows, &hosts, chain) {
                Ok(walked) => chains.push(walked),
                Err(TooLong) => return Err(Failed::TooLong { chain: index }),
            }
        }
        Ok(Found { windows, parts, hosts, network, chains })
    }

    /// First and last tasks of chains that took too long, on one host.
    fn leaning(&self, host: usize, halvings: &[u32]) -> Vec<(usize, Lean, u32)> {
        let mut leaning = Vec::new();
        for (chain, count) in self.system.chains.iter().zip(halvings).filter(|(_, count)| **count > 0) {
            let ends = [(chain.path.first(), Lean::Late), (chain.path.last(), Lean::Early)];
            for (step, lean) in ends {
                if let Some(Step::Task { host: own, task }) = step
                    && usize::from(*own) == host
                    && chain.path.len() > 1
                {
                    leaning.push((task.index(), lean, *count));
                }
            }
        }
        leaning
    }

    /// The same with chosen windows as tight as the plan is, as long as that is a plan too, and no chain takes longer.
    fn tightened(&mut self, mut found: Found, halvings: &[u32]) -> Found {
        for _ in 0..TIGHTENED_MAX {
            let windows = self.tight_windows(&found);
            if windows == found.windows {
                break;
            }
            let Ok(tighter) = self.attempt(windows, halvings) else { break };
            let sooner = |(new, old): (&Walked, &Walked)| {
                new.planned.reaction <= old.planned.reaction && new.planned.age <= old.planned.age
            };
            if !tighter.chains.iter().zip(&found.chains).all(sooner) {
                break;
            }
            found = tighter;
        }
        found
    }

    /// Chosen windows, from the writers' planned ends to the planned arrivals.
    fn tight_windows(&self, found: &Found) -> Vec<Window> {
        let summary = summarise(&found.parts.traffic, &found.network);
        let streams = &summary.streams[self.system.traffic.streams.len()..];
        let mut windows = found.windows.clone();
        for ((crossing, window), stream) in self.system.crossings.iter().zip(&mut windows).zip(streams) {
            if crossing.window.is_some() {
                continue;
            }
            let port = crossing.source;
            let costs = &self.system.hosts[usize::from(port.host)].job.costs;
            let shift = source_window(*window, crossing.period, costs).shift;
            let release = self.writer_ends(found, port, shift, crossing.period);
            let deadline = window.deadline - stream.slack;
            let release = release.map_or(window.release, |end| end + costs.publish + costs.clock_error);
            let late = Nanos(release.0 - release.0.rem_euclid(crossing.period.0));
            *window = Window { release: release - late, deadline: deadline - late };
        }
        windows
    }

    /// The latest end of a crossing's writer, from the start of its message's period.
    fn writer_ends(&self, found: &Found, port: Port, shift: i64, period: Nanos) -> Option<Nanos> {
        let tasks = &self.system.hosts[usize::from(port.host)].job.tasks;
        let place = |task: &Task| task.writes.iter().position(|id| *id == port.channel);
        let (index, place) =
            tasks.iter().enumerate().find_map(|(index, task)| Some((index, place(task)?)))?;
        let planned = &found.hosts[usize::from(port.host)].tasks[index];
        let end = |instance: &crate::PlannedInstance| {
            instance.end() - period.saturating_mul(instance.writes[place] + shift)
        };
        planned.instances.iter().map(end).max()
    }

    /// Whether every chain keeps its limits.
    fn met(&self, found: Found) -> Result<Found, Failed> {
        for (index, (chain, walked)) in self.system.chains.iter().zip(&found.chains).enumerate() {
            let planned = walked.planned;
            let over = |limit: Option<Nanos>, takes: Nanos| limit.is_some_and(|limit| takes > limit);
            let limit = if over(chain.reaction, planned.reaction) {
                ChainLimit::Reaction
            } else if over(chain.age, planned.age) {
                ChainLimit::Age
            } else {
                continue;
            };
            // What another window could change of a task's own is no proof.
            let is_fixed = |step: &Step| match *step {
                Step::Task { host, task } => !self.is_open(usize::from(host), self.system.task(host, task)),
                _ => true,
            };
            let least = chain
                .path
                .iter()
                .all(is_fixed)
                .then(|| least(self.system, &found.windows, &found.hosts, chain))
                .flatten();
            let least = least.filter(|least| limit.over(chain, least.planned) > Nanos::ZERO).map(Box::new);
            return Err(Failed::Chain { chain: index, limit, found: Box::new(walked.clone()), least });
        }
        Ok(found)
    }

    /// Whether a task is at an end of a crossing whose window is chosen.
    fn is_open(&self, host: usize, task: &Task) -> bool {
        let open = open_ports(self.system, host);
        task.reads.iter().chain(&task.writes).any(|id| open.contains(id))
    }

    /// The ports of a host.
    fn ports(&self, host: usize) -> impl Iterator<Item = Port> + '_ {
        let ports = self.system.crossings.iter().flat_map(Crossing::ports);
        ports.filter(move |port| usize::from(port.host) == host)
    }

    /// Whether other windows could change anything; where not, the refusal stands as if there were none to choose.
    fn depends_on_windows(&mut self, failed: &Failed) -> bool {
        let system = self.system;
        let first = system.traffic.streams.len();
        match failed {
            Failed::Host { windows, host, .. } => {
                let tasks = &system.hosts[*host].job.tasks;
                tasks.iter().any(|task| self.is_open(*host, task))
                    && self.plan_host(&relaxed(self.system, *host, windows), &[]).is_ok()
            }
            Failed::Network { windows, refusal } => {
                let is_open = |stream: &StreamId| {
                    let index = stream.index().checked_sub(first);
                    index.is_some_and(|index| self.system.crossings[index].window.is_none())
                };
                // More for a link than a whole round has is too much at any time.
                let always = match &**refusal {
                    NetworkRefusal::Overload { from, to, .. } => {
                        parts(self.system, windows).traffic.validate() == Ok(*to - *from)
                    }
                    NetworkRefusal::Unending { .. }
                    | NetworkRefusal::Invalid(_)
                    | NetworkRefusal::TooLong { limit: TooLongFor::Latency, .. } => true,
                    _ => false,
                };
                let has_open = system.crossings.iter().any(|crossing| crossing.window.is_none());
                let is_touched = refusal.streams().iter().any(is_open);
                !always && (is_touched || (!refusal.is_proven() && has_open))
            }
            Failed::Chain { least, .. } => least.is_none(),
            Failed::TooLong { .. } => false,
        }
    }

    /// More for what failed; the others have that much less, as long as they have slack.
    fn make_room(&self, shares: &mut Shares, failed: &Failed) {
        match failed {
            Failed::Host { host, refusal, .. } => {
                let tasks = &self.system.hosts[*host].job.tasks;
                let collides = |name: &str| refusal.conflict.iter().any(|one| one.object.name == name);
                let named = tasks.iter().any(|task| collides(&task.name));
                for (task, factor) in tasks.iter().zip(&mut shares.tasks[*host]) {
                    if !named || collides(&task.name) {
                        Shares::more(factor);
                    }
                }
            }
            Failed::Network { refusal, .. } => {
                let first = self.system.traffic.streams.len();
                let unplaced = refusal.streams();
                let named = unplaced.iter().any(|stream| stream.index() >= first);
                for (index, factor) in shares.crossings.iter_mut().enumerate() {
                    if !named || unplaced.iter().any(|stream| stream.index() == first + index) {
                        Shares::more(factor);
                    }
                }
            }
            Failed::Chain { chain, limit, found, .. } => {
                let declared = &self.system.chains[*chain];
                let over = limit.over(declared, found.planned).0;
                shares.halvings[*chain] += 1;
                let aim = &mut shares.chains[*chain];
                *aim = aim.saturating_sub(over.max(*aim / 16)).max(0);
            }
            Failed::TooLong { .. } => {}
        }
    }

    fn explain(&mut self, failed: Failed, budget: ExplainBudget) -> SystemRefusal {
        let depends = self.depends_on_windows(&failed);
        let chosen = |windows: &[Window]| {
            let windows = if depends { windows } else { &[] };
            let open = self.system.crossings.iter().zip(windows).filter(|(one, _)| one.window.is_none());
            open.map(|(crossing, window)| (crossing.name.clone(), *window)).collect()
        };
        match failed {
            Failed::Host { windows, host, refusal } => {
                let job = if depends {
                    parts(self.system, &windows).jobs.swap_remove(host)
                } else {
                    relaxed(self.system, host, &windows)
                };
                // Windows and periods of channels between hosts are not this host's alone.
                let channels = self.ports(host).map(|port| port.channel).collect();
                let own = Own::but(&job, &Kept { channels, ..Kept::default() });
                let told = plan_scope(&job, Scope { own: &own, budget }).err().map(Box::new);
                let name = self.system.host_name(host as u16).to_owned();
                SystemRefusal::Host { host: name, refusal: told.unwrap_or(refusal), chosen: chosen(&windows) }
            }
            Failed::Network { windows, refusal } => {
                let traffic = Box::new(parts(self.system, &windows).traffic);
                SystemRefusal::Network { refusal, traffic, chosen: chosen(&windows) }
            }
            Failed::Chain { chain, limit, found, least } => {
                let chain = &self.system.chains[chain];
                let is_least = least.is_some();
                let found = least.unwrap_or(found);
                let parts = if limit == ChainLimit::Age { found.age } else { found.reaction };
                let takes = limit.takes(found.planned);
                SystemRefusal::Chain {
                    chain: chain.name.clone(),
                    limit,
                    most: limit.of(chain).unwrap_or_default(),
                    takes,
                    least: is_least,
                    parts,
                }
            }
            Failed::TooLong { chain } => {
                SystemRefusal::Unfollowed { chain: self.system.chains[chain].name.clone() }
            }
        }
    }

    fn plan(&self, found: Found) -> SystemPlan {
        SystemPlan {
            version: SYSTEM_PLAN_VERSION,
            system: self.system.name.clone(),
            windows: found.windows,
            hosts: found.hosts,
            network: found.network,
            chains: found.chains.iter().map(|walked| walked.planned).collect(),
        }
    }
}
