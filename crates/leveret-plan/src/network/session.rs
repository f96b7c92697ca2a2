//! A plan that is kept while channels come, change and go.
//!
//! What has a place keeps it. A channel that is new is placed beside the others; where it has no place, those that it disturbs least are
//! moved, as few as the sweep finds, and named. Where that fails too, everything is as it was.

use super::collect::collect;
use super::flows;
use super::model::{ROUND_INSTANCES_MAX, Stream, StreamFault, Traffic, TrafficError};
use super::plan::{NETWORK_PLAN_VERSION, NetworkPlan, Slot};
use super::problem::{Candidate, Item, Problem};
use super::repair::Search;
use super::state::{Place, State};
use super::strategy::Strategy;
use super::watch::Watch;
use leveret_topology::Graph;
use leveret_types::{Nanos, StreamId};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Traffic with its plan, open to changes.
#[derive(Clone, Debug)]
pub struct Session {
    problem: Problem<'static>,
    state: State,
    /// By name: which stream, of those that are still there.
    names: BTreeMap<String, u32>,
    /// Messages and reservations in a round.
    instances: u64,
    /// By stream: its first item; those of a stream follow each other.
    first_item: Vec<u32>,
    steps: u64,
}

/// Why a session does not begin, or a change is not made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SessionError {
    /// What is asked for is wrong in itself.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// A plan that is not one of this traffic, or not by the rules that this planner places by.
    #[error("the plan does not fit the traffic, or keeps less apart than this planner does; plan anew")]
    Foreign,
    /// A period that does not divide the hyperperiod.
    #[error("the period {period} does not divide the hyperperiod of the plan, {hyperperiod}; plan anew")]
    Period {
        /// Of the channel.
        period: Nanos,
        /// Of the plan.
        hyperperiod: Nanos,
    },
    /// No such channel.
    #[error("no channel is called \"{0}\"")]
    Unknown(String),
    /// No place, even when others were moved.
    #[error(
        "channel \"{name}\" found no place, even when others were moved{within}; nothing was changed. `leveret explain` on the whole says why",
        name = .0,
        within = within(.1)
    )]
    NoPlace(String, u64),
}

/// How many steps a change was given up after; nothing where it was given up at once.
fn within(steps: &u64) -> String {
    if *steps > 0 { format!(", within {steps} steps") } else { String::new() }
}

/// What a change did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Moved {
    /// Names of the other channels that were moved.
    pub others: Vec<String>,
}

/// Steps of the repair for one change, unless others are given.
const STEPS_PER_CHANGE: u64 = 2_000_000;

impl Session {
    /// Goes on from a plan that the checker has accepted for this traffic.
    ///
    /// # Errors
    /// When the plan is another traffic's.
    pub fn new(traffic: Traffic, plan: &NetworkPlan) -> Result<Self, SessionError> {
        let hyperperiod = traffic.validate()?.0;
        flows::ways(&traffic, &Graph::new(&traffic.network))?;
        let names = traffic.streams.iter().enumerate();
        let names = names.map(|(index, stream)| (stream.name.clone(), index as u32)).collect();
        let round = plan.hyperperiod.0;
        let is_multiple = round > 0 && round % hyperperiod == 0 && plan.ways.len() == traffic.streams.len();
        let instances = if is_multiple { traffic.instances(plan.hyperperiod) } else { u64::MAX };
        if instances > ROUND_INSTANCES_MAX {
            return Err(SessionError::Foreign);
        }
        let mut problem: Problem<'static> = Problem::new(Cow::Owned(traffic), round)?;
        let mut first_item = Vec::with_capacity(plan.ways.len());
        let mut index = 0;
        for ways in &plan.ways {
            first_item.push(index as u32);
            for way in ways {
                let item = problem.items.get(index).ok_or(SessionError::Foreign)?;
                let candidate = problem.candidate(item.stream, way.tree.clone());
                let item = &mut problem.items[index];
                item.all_ways &= item.ways[0] == candidate;
                item.ways = vec![candidate];
                index += 1;
            }
        }
        let state = State::new(&problem);
        let mut session = Self { problem, state, names, instances, first_item, steps: STEPS_PER_CHANGE };
        session.load(plan)?;
        Ok(session)
    }

    /// Puts everything where the plan has it.
    fn load(&mut self, plan: &NetworkPlan) -> Result<(), SessionError> {
        let mut starts: Vec<Vec<i64>> = Vec::with_capacity(self.problem.items.len());
        for item in &self.problem.items {
            starts.push(vec![i64::MIN; item.ways[0].hops.len() * item.count as usize]);
        }
        for slot in plan.links.iter().flatten() {
            let item = self.first_item.get(slot.stream.index()).ok_or(SessionError::Foreign)?;
            let item = *item as usize + usize::from(slot.copy);
            let known = self.problem.items.get(item).ok_or(SessionError::Foreign)?;
            let place = slot.instance as usize * known.ways[0].hops.len() + usize::from(slot.hop);
            *starts[item].get_mut(place).ok_or(SessionError::Foreign)? = slot.start.0;
        }
        if starts.iter().flatten().any(|start| *start == i64::MIN) {
            return Err(SessionError::Foreign);
        }
        for (index, starts) in starts.iter().enumerate() {
            let (period, hops, count) = {
                let item = &self.problem.items[index];
                (item.period, item.ways[0].hops.len(), item.count as usize)
            };
            let of = |instance: usize| &starts[instance * hops..(instance + 1) * hops];
            let together = (1..count).all(|instance| {
                of(instance).iter().zip(of(0)).all(|(start, first)| start - first == instance as i64 * period)
            });
            let mut units = vec![index as u32];
            if !together {
                // A switch knows streams and not instances, so they stay on one way.
                self.problem.items[index].more_ways = false;
                units.extend(self.state.split(index as u32));
            }
            for unit in units {
                let first = self.state.units[unit as usize].first as usize;
                let place =
                    place_of(&self.problem.items[index].ways[0], of(first)).ok_or(SessionError::Foreign)?;
                self.put(unit, place)?;
            }
        }
        self.keep_queues(plan)
    }

    /// The queues of what waits are those of the plan.
    fn keep_queues(&mut self, plan: &NetworkPlan) -> Result<(), SessionError> {
        for (index, way) in plan.ways.iter().flatten().enumerate() {
            for (link, queue) in way.tree.links().zip(&way.queues) {
                if !self.state.queues.assign(link.0, index as u32, *queue) {
                    return Err(SessionError::Foreign);
                }
            }
        }
        Ok(())
    }

    /// Where nothing else is.
    fn put(&mut self, unit: u32, place: Place) -> Result<(), SessionError> {
        let which = self.state.units[unit as usize];
        let item = &self.problem.items[which.item as usize];
        for (number, hop) in item.ways[place.way as usize].hops.iter().enumerate() {
            for turn in 0..i64::from(which.count) {
                let start =
                    State::start_of(&item.ways[place.way as usize], &place, number) + turn * item.period;
                if self.state.links[hop.link as usize].shift(start - hop.early, hop.length) != Some(0) {
                    return Err(SessionError::Foreign);
                }
            }
        }
        self.state.put(&self.problem, unit, place);
        Ok(())
    }

    /// Each change from now on may take so many steps; some millions are a tenth of a second.
    pub fn limit(&mut self, steps: u64) {
        self.steps = steps;
    }

    /// A new channel.
    ///
    /// # Errors
    /// When it is wrong or finds no place; then nothing has changed.
    pub fn add(&mut self, stream: Stream) -> Result<Moved, SessionError> {
        self.may_add(&stream)?;
        let name = stream.name.clone();
        let id = StreamId(self.problem.traffic.streams.len() as u32);
        self.problem.traffic.to_mut().streams.push(stream);
        let items = match self.problem.items_of(id) {
            Ok(items) => items,
            Err(error) => {
                self.problem.traffic.to_mut().streams.pop();
                return Err(error.into());
            }
        };
        self.first_item.push(self.problem.items.len() as u32);
        let units: Vec<u32> = items.into_iter().map(|item| self.enter(item)).collect();
        match self.settle(&units) {
            Ok(moved) => {
                self.names.insert(name, id.0);
                self.instances += self.instances_of(id.0);
                Ok(moved)
            }
            Err(steps) => Err(SessionError::NoPlace(name, steps)),
        }
    }

    /// Messages of a channel in a round.
    fn instances_of(&self, id: u32) -> u64 {
        (self.problem.hyperperiod / self.problem.traffic.streams[id as usize].period.0).cast_unsigned()
    }

    fn enter(&mut self, item: Item) -> u32 {
        let count = item.count;
        self.problem.items.push(item);
        self.state.add_item(self.problem.items.len() as u32 - 1, count)
    }

    fn may_add(&self, stream: &Stream) -> Result<(), SessionError> {
        let fault = |fault| TrafficError::Stream { name: stream.name.clone(), fault };
        self.problem.traffic.validate_stream(&self.problem.graph, stream).map_err(fault)?;
        let is_flow = self.problem.traffic.flows.iter().any(|flow| flow.name == stream.name);
        if is_flow || self.names.contains_key(&stream.name) {
            return Err(fault(StreamFault::DuplicateName).into());
        }
        let hyperperiod = Nanos(self.problem.hyperperiod);
        if hyperperiod.0 % stream.period.0 != 0 {
            return Err(SessionError::Period { period: stream.period, hyperperiod });
        }
        let instances = self.instances + (hyperperiod.0 / stream.period.0).cast_unsigned();
        if instances > ROUND_INSTANCES_MAX {
            return Err(TrafficError::Hyperperiod { hyperperiod, instances }.into());
        }
        Ok(())
    }

    /// Finds places for new units, moving others if need be. `Err` holds the steps that were made in vain; then all is as it was.
    fn settle(&mut self, units: &[u32]) -> Result<Moved, u64> {
        let queues = self.state.queues.clone();
        let state = std::mem::replace(&mut self.state, State::nothing());
        let mut search = Search::resume(&mut self.problem, state, units, Strategy::first(0));
        let ended = search.run(self.steps, &mut Watch::alone());
        let (journal, steps) = (search.take_journal(), search.steps());
        self.state = search.state;
        if ended.is_err() {
            self.undo(&journal);
            // Put back in another order, they might have taken others.
            self.state.queues = queues;
            return Err(steps);
        }
        let mut before: BTreeMap<u32, &Place> = BTreeMap::new();
        for (unit, place) in journal.iter().rev() {
            if let Some(place) = place {
                before.insert(*unit, place);
            }
        }
        let changed =
            |(unit, place): &(&u32, &&Place)| self.state.places[**unit as usize].as_ref() != Some(**place);
        let streams =
            before.iter().filter(changed).filter(|(unit, _)| !units.contains(unit)).map(|(unit, _)| {
                let item = self.state.units[*unit as usize].item as usize;
                self.problem.items[item].stream
            });
        let mut others: Vec<String> = streams.map(|id| self.problem.traffic.name(id).to_owned()).collect();
        others.sort_unstable();
        others.dedup();
        Ok(Moved { others })
    }

    /// Everything back to where it was: what was touched goes, then what had a place first gets it again.
    fn undo(&mut self, journal: &[(u32, Option<Place>)]) {
        let mut before: BTreeMap<u32, &Option<Place>> = BTreeMap::new();
        for (unit, place) in journal.iter().rev() {
            before.insert(*unit, place);
        }
        for unit in before.keys() {
            self.state.take_away(&self.problem, *unit);
        }
        for (unit, place) in before {
            if let Some(place) = place {
                self.state.put(&self.problem, unit, place.clone());
            }
        }
    }

    /// A channel goes.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn remove(&mut self, name: &str) -> Result<(), SessionError> {
        let id = self.names.remove(name).ok_or_else(|| SessionError::Unknown(name.to_owned()))?;
        self.instances -= self.instances_of(id);
        self.lift(id);
        Ok(())
    }

    /// Takes all of a stream away. Where it was.
    fn lift(&mut self, id: u32) -> Vec<(u32, Place)> {
        let first = self.first_item[id as usize];
        let copies = u32::from(self.problem.traffic.streams[id as usize].copies);
        let units: Vec<u32> =
            (first..first + copies).flat_map(|item| self.state.numbers_of(item).to_vec()).collect();
        let lifted = units.into_iter().map(|unit| (unit, self.state.take_away(&self.problem, unit)));
        lifted.filter_map(|(unit, place)| place.map(|place| (unit, place))).collect()
    }

    /// A channel changes: what was declared of it is replaced.
    ///
    /// # Errors
    /// When the new declaration is wrong or finds no place; then nothing has changed.
    pub fn alter(&mut self, name: &str, stream: Stream) -> Result<Moved, SessionError> {
        let id = self.names.remove(name).ok_or_else(|| SessionError::Unknown(name.to_owned()))?;
        let queues = self.state.queues.clone();
        let lifted = self.lift(id);
        self.instances -= self.instances_of(id);
        let changed = self.add(stream);
        if changed.is_err() {
            self.instances += self.instances_of(id);
            for (unit, place) in lifted {
                self.state.put(&self.problem, unit, place);
            }
            self.state.queues = queues;
            self.names.insert(name.to_owned(), id);
        }
        changed
    }

    /// Channels that are there.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no channel.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// What is declared now, and its plan, for the checker and for keeping. Flows are those with which the session began; what is promised them beside the streams
    /// of now may be later than their deadlines ([`super::admit_flows`] tells).
    pub fn plan(&self) -> (Traffic, NetworkPlan) {
        let mut live: Vec<u32> = self.names.values().copied().collect();
        live.sort_unstable();
        let whole = collect(&self.problem, &self.state);
        let place = |id: StreamId| live.binary_search(&id.0).ok().map(|place| StreamId(place as u32));
        let renumbered = |slot: &Slot| place(slot.stream).map(|stream| Slot { stream, ..*slot });
        let all = &*self.problem.traffic;
        let traffic = Traffic {
            network: all.network.clone(),
            streams: live.iter().map(|id| all.streams[*id as usize].clone()).collect(),
            flows: all.flows.clone(),
            clock_error: all.clock_error,
            whole_cycles: all.whole_cycles,
        };
        let mut plan = NetworkPlan {
            version: NETWORK_PLAN_VERSION,
            hyperperiod: whole.hyperperiod,
            ways: live.iter().map(|id| whole.ways[*id as usize].clone()).collect(),
            links: whole.links.iter().map(|slots| slots.iter().filter_map(renumbered).collect()).collect(),
            flows: Vec::new(),
            classes: vec![Vec::new(); whole.links.len()],
        };
        // The session began with ways for all flows.
        if let Ok(ways) = flows::ways(&traffic, &self.problem.graph) {
            flows::complete(&traffic, &mut plan, ways);
        }
        (traffic, plan)
    }
}

/// The place of a unit whose first instance starts at these instants, by hop.
fn place_of(way: &Candidate, starts: &[i64]) -> Option<Place> {
    let root = way.hops.iter().zip(starts).filter(|(hop, _)| hop.parent == super::problem::Hop::NO_PARENT);
    let start = root.map(|(_, start)| *start).min()?;
    let waits: Vec<i64> = way.hops.iter().zip(starts).map(|(hop, own)| own - start - hop.offset).collect();
    if waits.iter().any(|wait| *wait < 0) {
        return None;
    }
    let waits = if waits.iter().all(|wait| *wait == 0) { Vec::new() } else { waits };
    Some(Place { way: 0, start, waits })
}
