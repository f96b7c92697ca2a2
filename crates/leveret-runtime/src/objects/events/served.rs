//! Ends of priority- and event-driven channels: what they declare of events, and what a thread of the dispatch does for one.
//!
//! ```text
//!  source's member                                     target's member
//!   start event --receptor--> thread --sends--> ( channel ) --> thread --> output iterator
//!                               |  `--"sent" rings--------------->  |  `--fires--> completion event
//!                               `<-------------"taken" rings--------'
//! ```
//!
//! "sent" and "taken" are events of the library's own, with one trigger and one receptor: a count that the other end's thread sleeps on.
//! Of a channel of a group each member tells all others of every piece that it has sent or taken: "moved I", with its rank.

use super::body::EventKind;
use super::committed::CommittedEvents;
use super::departures::Succession;
use super::plan::{EventPlan, PlannedForm, PlannedHandler, PlannedReceptor, PlannedTrigger};
use crate::declare::Declarations;
use crate::objects::collectives::{CollectiveBody, CollectiveKind};
use crate::objects::committed::{Committed, Served, ServedEnd};
use crate::objects::error::Code;
use crate::objects::handle::{Class, Handle};
use crate::objects::object::{Body, ChannelBody, Qos, TaskBody, TaskInstance};
use crate::objects::qos::QosBody;
use crate::objects::world::World;
use leveret_memory::sync::{AtomicBool, AtomicU64, Ordering};
use leveret_os::clock;
use leveret_protocol::declaration::{GROUP_WORLD, INTERNAL_EVENT, MOVED_EVENT, SporadicDeclaration};
use leveret_types::{MemberId, Nanos};
use std::cmp::Reverse;
use std::sync::Arc;

/// Firings of a start event that are taken on before something else is looked at.
const FIRINGS_AT_ONCE: u32 = 64;

/// A channel's end at this member that a thread serves.
pub(super) struct PlannedEnd {
    /// Its channel, by its place in the list of all.
    pub(super) channel: usize,
    pub(super) group: String,
    /// Of the channel that the plan has work for here: of a group's any of those that carry it.
    pub(super) name: String,
    pub(super) sends: bool,
    priority: u8,
    /// The receptors of what the other ends tell.
    doorbells: Vec<usize>,
    /// The receptor of the start event.
    start: Option<usize>,
    /// The trigger that tells the other ends.
    tells: Option<usize>,
    /// The trigger of the completion event.
    completion: Option<usize>,
}

impl PlannedEnd {
    /// An end whose events [`EventPlan::end`] adds.
    fn new(
        (channel, name, sends): (usize, String, bool),
        group: String,
        qos: &QosBody,
        doorbells: Vec<usize>,
        tells: Option<usize>,
    ) -> Self {
        let priority = qos.priority();
        Self { channel, group, name, sends, priority, doorbells, start: None, tells, completion: None }
    }
}

/// Whether transfers of a channel of a group begin with a firing of its start event at this member: where it sends, in a barrier
/// everywhere. And whether they end with a firing of its completion event: at the root, or rank 0, so that it is fired once for each.
fn roles(collective: &CollectiveBody, rank: Option<usize>) -> [bool; 2] {
    let leads = rank == Some(collective.base.source as usize);
    let [sends, _] = collective.kind.roles(leads);
    [sends || collective.kind == CollectiveKind::Barrier, leads]
}

impl World {
    /// What is asked of this member's end of a channel of a group, if a thread serves it. `peers` are the others of the group.
    pub(in crate::objects) fn served_collective(
        &self,
        collective: &CollectiveBody,
        peers: &[MemberId],
    ) -> Option<ServedEnd> {
        let qos = self.qos_of(&collective.base);
        let [begins, _] = roles(collective, self.referred_rank(collective.base.group));
        let needs_firing = begins && qos.events[0].is_some();
        qos.is_served().then(|| ServedEnd::new(peers.into(), (qos.priority(), qos.interval), needs_firing))
    }

    /// Declares what this member's end of a channel of a group fires and waits for. `carrier` is a channel that carries it here, and
    /// whether this member sends on that.
    pub(in crate::objects) fn plan_collective_end(
        &self,
        declarations: &mut Declarations,
        plan: &mut EventPlan,
        (index, name, collective, carrier): (usize, &str, &CollectiveBody, Option<(String, bool)>),
    ) -> Result<(), Code> {
        let qos = self.qos_of(&collective.base);
        if !qos.is_served() {
            return Ok(());
        }
        let group = self.declare_group(declarations, collective.base.group)?;
        let own = self.referred_rank(collective.base.group).ok_or(Code::Internal)?;
        let is_loop = matches!(carrier, Some((ref carrier, _)) if carrier == name);
        let members = if is_loop { 1 } else { self.members_behind(collective.base.group).len() };
        let told = |rank: usize| format!("{INTERNAL_EVENT}{MOVED_EVENT}{rank} {name}");
        let tells = (members > 1).then(|| plan.trigger(declarations, &told(own), &group, EventKind::Call));
        let others = (0..members).filter(|rank| members > 1 && *rank != own);
        let doorbells =
            others.map(|rank| plan.receptor(declarations, &told(rank), &group, Vec::new())).collect();
        let (name, sends) = carrier.unwrap_or_default();
        let end = PlannedEnd::new((index, name, sends), group, &qos, doorbells, tells);
        plan.end(declarations, end, &qos.events, roles(collective, Some(own)));
        Ok(())
    }

    /// What is asked of a channel's end at this member, if a thread serves it.
    pub(in crate::objects) fn served_end(&self, channel: &ChannelBody, is_source: bool) -> Option<ServedEnd> {
        let qos = self.referred_qos(channel.qos);
        let Some(Body::Group(members)) = self.table.referred(channel.group).map(|object| &object.body) else {
            return None;
        };
        let peer = members.get(if is_source { channel.target } else { channel.source } as usize).copied()?;
        let needs_firing = is_source && qos.events[0].is_some();
        qos.is_served()
            .then(|| ServedEnd::new(Box::new([peer]), (qos.priority(), qos.interval), needs_firing))
    }

    /// Declares what the ends of this channel fire and wait for.
    pub(in crate::objects) fn plan_end(
        &self,
        declarations: &mut Declarations,
        plan: &mut EventPlan,
        (index, name, channel, sends): (usize, &str, &ChannelBody, bool),
    ) -> Result<(), Code> {
        let qos = self.referred_qos(channel.qos);
        if !qos.is_served() {
            return Ok(());
        }
        let group = self.declare_group(declarations, channel.group)?;
        let [sent, taken] = ["sent", "taken"].map(|what| format!("{INTERNAL_EVENT}{what} {name}"));
        let (told, heard) = if sends { (sent, taken) } else { (taken, sent) };
        let tells = Some(plan.trigger(declarations, &told, &group, EventKind::Call));
        let doorbells = vec![plan.receptor(declarations, &heard, &group, Vec::new())];
        let end = PlannedEnd::new((index, name.to_owned(), sends), group, &qos, doorbells, tells);
        plan.end(declarations, end, &qos.events, [sends, !sends]);
        Ok(())
    }

    /// Declares a task that runs once for each firing of an event of the world.
    pub(in crate::objects) fn plan_event_task(
        &self,
        declarations: &mut Declarations,
        plan: &mut EventPlan,
        (handle, name, task): (Handle, &str, &TaskBody),
    ) {
        let qos = self.referred_qos(task.qos);
        let (Qos::Event { priority }, [Some(start), completion]) = (qos.kind, &qos.events) else { return };
        let QosBody { interval, deadline, .. } = qos;
        declarations.sporadic(SporadicDeclaration {
            name: name.to_owned(),
            event: Some((GROUP_WORLD.to_owned(), start.clone())),
            priority: Some(priority),
            interval,
            deadline,
            budget: Some(task.budget),
            core: None,
        });
        let completion = completion.as_ref();
        let completion =
            completion.map(|event| plan.trigger(declarations, event, GROUP_WORLD, EventKind::Completion));
        let (function, instances) = (task.function.clone(), AtomicU64::new(0));
        let tally = self.tally_of("task", handle);
        plan.tallies.push((handle, tally.clone()));
        let counts = tally.clone();
        let body = move |_: Handle, firing: super::Firing, committed: &Arc<Committed>| {
            let began = clock::now();
            let start = firing.time.unwrap_or(began);
            counts.count_start(began - start);
            let deadline = deadline.map_or(Nanos::MAX, |deadline| start.saturating_add(deadline));
            let number = instances.fetch_add(1, Ordering::Relaxed);
            function(TaskInstance { number, start, deadline }, committed);
            let now = clock::now();
            if now > deadline {
                counts.count_miss();
            }
            committed.tell_missed(handle, 0, || now > deadline);
            if let Some(trigger) = completion {
                committed.fire_own(trigger, now);
            }
        };
        let (function, work, budget) = (Arc::new(body), Some(name.to_owned()), task.budget);
        let handler = PlannedHandler { function, priority, work, interval, budget, tally };
        plan.receptor(declarations, start, GROUP_WORLD, vec![handler]);
    }
}

impl EventPlan {
    /// An end, which waits for its start event where transfers begin with one, and fires its completion event where they end with
    /// one.
    fn end(
        &mut self,
        declarations: &mut Declarations,
        mut end: PlannedEnd,
        [start, completion]: &[Option<String>; 2],
        [begins, ends]: [bool; 2],
    ) {
        let start = start.as_ref().filter(|_| begins);
        end.start = start.map(|event| self.receptor(declarations, event, &end.group, Vec::new()));
        let completion = completion.as_ref().filter(|_| ends);
        end.completion =
            completion.map(|event| self.trigger(declarations, event, &end.group, EventKind::Completion));
        self.ends.push(end);
    }

    /// A trigger of the library's own.
    fn trigger(
        &mut self,
        declarations: &mut Declarations,
        event: &str,
        group: &str,
        kind: EventKind,
    ) -> usize {
        declarations.trigger(event, group, 0);
        self.triggers.push(PlannedTrigger { kind, watched: None, times: None, kept: None });
        self.triggers.len() - 1
    }

    /// A receptor of the library's own.
    fn receptor(
        &mut self,
        declarations: &mut Declarations,
        event: &str,
        group: &str,
        handlers: Vec<PlannedHandler>,
    ) -> usize {
        let form = PlannedForm::Event(declarations.receptor(event, group));
        let handle = Handle::null(Class::Receptor);
        self.receptors.push(PlannedReceptor { handle, form, is_part: false, handlers, kept: None });
        self.receptors.len() - 1
    }
}

/// An end as its thread serves it.
pub(super) struct ServedWork {
    pub(super) thread: usize,
    end: PlannedEnd,
    /// Whom it goes on for, of a channel that a mode keeps.
    pub(super) succession: Option<Succession>,
    /// Whether it has begun to.
    has_succeeded: AtomicBool,
}

/// Whether something can run.
pub(super) enum Look {
    /// Not before something changes.
    Idle,
    /// Not before this instant.
    At(Nanos),
    /// Now; the smaller goes first.
    Ready(Urgency),
}

/// Priority, then arrival.
pub(super) type Urgency = (Reverse<u8>, Nanos);

impl ServedWork {
    pub(super) fn new(end: PlannedEnd, thread: usize, succession: Option<Succession>) -> Self {
        Self { thread, end, succession, has_succeeded: AtomicBool::new(false) }
    }

    /// Its channel, by its place in the list of all.
    pub(super) fn channel(&self) -> usize {
        self.end.channel
    }

    /// The receptors that it sleeps on.
    pub(super) fn receptors(&self) -> impl Iterator<Item = usize> {
        self.end.doorbells.iter().copied().chain(self.end.start)
    }

    /// Takes on what has come, and says whether a transfer can be tried.
    pub(super) fn look(&self, events: &CommittedEvents, committed: &Committed, now: Nanos) -> Look {
        let channel = &committed.channels[self.end.channel];
        let Some(served) = &channel.served else { return Look::Idle };
        if let Some(succession) = &self.succession {
            if !succession.may_begin() {
                return Look::Idle;
            }
            if !self.has_succeeded.swap(true, Ordering::Relaxed) {
                self.succeed(committed, now);
            }
        }
        for doorbell in &self.end.doorbells {
            if let Some(at) = events.receptors[*doorbell].drain(now) {
                served.note(at);
            }
        }
        let mut is_behind = false;
        if let Some(start) = self.end.start {
            is_behind = true;
            for _ in 0..FIRINGS_AT_ONCE {
                let Some(firing) = events.receptors[start].take() else {
                    is_behind = false;
                    break;
                };
                served.fire(firing.time.unwrap_or(now).min(now));
            }
        }
        match served.ready_since() {
            Some(_) if served.pace.next() > now && !committed.goes_on(self.end.channel) => {
                Look::At(served.pace.next())
            }
            Some(since) => Look::Ready((Reverse(self.end.priority), since.min(now))),
            None if is_behind => Look::At(now),
            None => {
                served.pace.rests(now);
                Look::Idle
            }
        }
    }

    /// Goes on with what the thread of the set before has left. What that told the other end at its end may have found nobody.
    fn succeed(&self, committed: &Committed, now: Nanos) {
        let channel = &committed.channels[self.end.channel];
        channel.begin_as_declared();
        if let Some(served) = &channel.served {
            served.note(now);
        }
        if let Some(tells) = self.end.tells {
            committed.fire_own(tells, now);
        }
    }

    /// One transfer, or a part of one that is under way.
    pub(super) fn run(&self, (_, since): Urgency, committed: &Committed) {
        let Some(served) = &committed.channels[self.end.channel].served else { return };
        let may_begin = served.pace.next() <= clock::now();
        let Served { moved, has_begun, completed } = committed.serve_end(self.end.channel, may_begin);
        if has_begun {
            served.pace.ran(since);
        }
        let now = clock::now();
        if let Some(tells) = self.end.tells.filter(|_| moved) {
            committed.fire_own(tells, now);
        }
        if let Some(completion) = self.end.completion {
            (0..completed).for_each(|_| committed.fire_own(completion, now));
        }
    }
}
