//! Commit: triggers and receptors become declarations, and a plan of what the data path will work on.

use super::body::{EventKind, Form, HandlerFunction, ReceptorCombination};
use super::committed::CommittedEvents;
use super::served::PlannedEnd;
use super::tally::{HandlerTally, Tell, Trouble};
use crate::declare::Declarations;
use crate::objects::error::Code;
use crate::objects::handle::{Class, Handle};
use crate::objects::keep::Kept;
use crate::objects::movers::unique;
use crate::objects::object::{Body, Object, Qos};
use crate::objects::world::World;
use leveret_protocol::declaration::{GROUP_WORLD, SporadicDeclaration};
use leveret_types::{MemberId, Nanos};
use std::collections::HashMap;
use std::sync::Arc;

/// What one commit binds of events, in the order in which it was declared.
pub(in crate::objects) struct EventPlan {
    pub(super) triggers: Vec<PlannedTrigger>,
    pub(super) receptors: Vec<PlannedReceptor>,
    pub(super) defaults: [Option<PlannedHandler>; EventKind::COUNT],
    /// Channel ends that threads serve.
    pub(super) ends: Vec<PlannedEnd>,
    /// Each handler with what is counted of it.
    pub(super) tallies: Vec<(Handle, Arc<HandlerTally>)>,
}

pub(super) struct PlannedTrigger {
    pub(super) kind: EventKind,
    pub(super) watched: Option<Watched>,
    pub(super) times: Option<(Nanos, Nanos)>,
    /// Its place in the set from which a mode keeps it.
    pub(super) kept: Option<usize>,
}

/// A channel or a task that a trigger watches.
#[derive(Clone)]
pub(super) struct Watched {
    pub(super) source: Handle,
    /// Who is at the channel's other ends.
    pub(super) peers: Vec<MemberId>,
}

pub(super) struct PlannedReceptor {
    pub(super) handle: Handle,
    pub(super) form: PlannedForm,
    pub(super) is_part: bool,
    pub(super) handlers: Vec<PlannedHandler>,
    /// Its place in the set from which a mode keeps it.
    pub(super) kept: Option<usize>,
}

pub(super) enum PlannedForm {
    /// The declared receptor of this number.
    Event(usize),
    /// Of planned receptors.
    Combined(ReceptorCombination, Vec<usize>),
}

#[derive(Clone)]
pub(super) struct PlannedHandler {
    pub(super) function: HandlerFunction,
    /// 0: best effort.
    pub(super) priority: u8,
    /// Its name in the plan; `None`: best effort.
    pub(super) work: Option<String>,
    /// The least time between two runs.
    pub(super) interval: Option<Nanos>,
    /// Processor time of one run at most; 0: as long as it takes.
    pub(super) budget: Nanos,
    /// What is counted of it, by all who run it.
    pub(super) tally: Arc<HandlerTally>,
}

impl EventPlan {
    /// Notes which receptors are parts of others.
    fn mark_parts(&mut self) {
        let parts = self.receptors.iter().flat_map(|receptor| match &receptor.form {
            PlannedForm::Event(_) => Vec::new(),
            PlannedForm::Combined(_, parts) => parts.clone(),
        });
        for part in parts.collect::<Vec<_>>() {
            self.receptors[part].is_part = true;
        }
    }

    /// Whether a thread of its own has to fire some trigger.
    pub(super) fn needs_timer(&self) -> bool {
        self.triggers.iter().any(|trigger| matches!(trigger.kind, EventKind::Time | EventKind::Error))
    }
}

/// Handlers as work beside the time table, which admission counts.
struct Works<'m> {
    member: &'m str,
    tallies: Vec<(Handle, Arc<HandlerTally>)>,
    /// Names of those that were declared, and of work that goes on, which no other may have.
    taken: Vec<String>,
}

impl Works<'_> {
    /// Declares a handler of this event, if it has a priority. What is counted of it is counted for all its events. Where it goes on
    /// from what ran, it has the name that it had there.
    fn declare(
        &mut self,
        declarations: &mut Declarations,
        event: &(String, String),
        (handle, mut handler): (Handle, PlannedHandler),
        before: Option<&PlannedHandler>,
    ) -> PlannedHandler {
        match self.tallies.iter().find(|(known, _)| *known == handle) {
            Some((_, tally)) => handler.tally = tally.clone(),
            None => self.tallies.push((handle, handler.tally.clone())),
        }
        if handler.priority == 0 {
            return handler;
        }
        let name = match before.and_then(|before| before.work.clone()) {
            Some(name) => {
                declarations.keep_work(&name);
                name
            }
            None => self.fresh_name(event),
        };
        declarations.sporadic(SporadicDeclaration {
            name: name.clone(),
            event: Some(event.clone()),
            priority: Some(handler.priority),
            interval: handler.interval,
            deadline: None,
            budget: Some(handler.budget),
            core: None,
        });
        PlannedHandler { work: Some(name), ..handler }
    }

    /// Nobody has named it, so it is told by what starts it.
    fn fresh_name(&mut self, (group, name): &(String, String)) -> String {
        let event = if group == GROUP_WORLD { name.clone() } else { format!("{group}/{name}") };
        let name = unique(&format!("handler of {event} at {}", self.member), &self.taken);
        self.taken.push(name.clone());
        name
    }
}

impl World {
    /// Triggers and receptors, each with its number among its kind; numbers as in [`World::plan_events`].
    pub(in crate::objects) fn event_numbers(&self) -> Vec<(Handle, u32)> {
        let (mut triggers, mut receptors) = (0.., 0..);
        let number = |(handle, object): (Handle, &Object)| match &object.body {
            Body::Trigger(_) => Some((handle, triggers.next()?)),
            Body::Receptor(_) => Some((handle, receptors.next()?)),
            _ => None,
        };
        self.table.all().filter_map(number).collect()
    }

    /// Declares every trigger and receptor, and which of them a mode keeps.
    pub(in crate::objects) fn plan_events(
        &self,
        declarations: &mut Declarations,
        kept: &Kept,
    ) -> Result<EventPlan, Code> {
        let before = kept.before().and_then(|before| before.events.get());
        let numbers: HashMap<Handle, u32> = self.event_numbers().into_iter().collect();
        let mut plan = EventPlan {
            triggers: Vec::new(),
            receptors: Vec::new(),
            defaults: Default::default(),
            tallies: Vec::new(),
            ends: Vec::new(),
        };
        let goes_on = |events: &CommittedEvents| {
            events.tallies.iter().filter(|(handle, _)| kept.contains(*handle)).cloned().collect()
        };
        let mut works = Works {
            member: &self.names()[self.rank().index()],
            tallies: before.map_or_else(Vec::new, goes_on),
            taken: before.map_or_else(Vec::new, |events| events.dispatch.names_of_work()),
        };
        for (handle, object) in self.table.all() {
            match &object.body {
                Body::Trigger(trigger) => {
                    let group = self.declare_group(declarations, trigger.about.group)?;
                    let priority = self.referred_priority(trigger.about.qos);
                    let number = declarations.trigger(&object.name, &group, priority);
                    if kept.contains(handle) {
                        declarations.keep_trigger(number);
                    }
                    let (kind, watched) = (trigger.about.kind, self.watched(trigger.about.source));
                    let (times, kept) = (trigger.times, kept.number(handle, Class::Trigger));
                    plan.triggers.push(PlannedTrigger { kind, watched, times, kept });
                }
                Body::Receptor(receptor) => {
                    let (form, group) =
                        self.declare_form(declarations, &numbers, (handle, object), &receptor.form, kept)?;
                    let handlers = receptor
                        .handlers
                        .iter()
                        .filter_map(|handler| Some((*handler, self.planned(*handler)?)));
                    let event = (group, object.name.clone());
                    let kept = kept.number(handle, Class::Receptor);
                    let old = before.zip(kept).map_or_else(Vec::new, |(events, number)| {
                        events.dispatch.handlers_of(number).collect()
                    });
                    let handlers = handlers.enumerate().map(|(place, handler)| {
                        works.declare(declarations, &event, handler, old.get(place).copied())
                    });
                    let handlers = handlers.collect();
                    plan.receptors.push(PlannedReceptor { handle, form, is_part: false, handlers, kept });
                }
                _ => {}
            }
        }
        plan.mark_parts();
        self.plan_defaults(declarations, &mut plan, &mut works, before);
        plan.tallies = works.tallies;
        for (handle, object) in self.table.all() {
            if let Body::Task(task) = &object.body {
                self.plan_event_task(declarations, &mut plan, (handle, &object.name, task));
            }
        }
        Ok(plan)
    }

    /// What a receptor occurs on, declared, with the group of its event.
    fn declare_form(
        &self,
        declarations: &mut Declarations,
        numbers: &HashMap<Handle, u32>,
        (handle, object): (Handle, &Object),
        form: &Form,
        kept: &Kept,
    ) -> Result<(PlannedForm, String), Code> {
        Ok(match form {
            Form::Event(group) => {
                let group = self.declare_group(declarations, *group)?;
                let number = declarations.receptor(&object.name, &group);
                if kept.contains(handle) {
                    declarations.keep_receptor(number);
                }
                (PlannedForm::Event(number), group)
            }
            Form::Combined(combination, parts) => {
                let number = |part: &Handle| numbers.get(part).map(|number| *number as usize);
                let parts: Option<Vec<usize>> = parts.iter().map(number).collect();
                let form = PlannedForm::Combined(*combination, parts.ok_or(Code::Internal)?);
                (form, GROUP_WORLD.to_owned())
            }
        })
    }

    /// Declares the default handlers; one that has firings of a kept trigger goes on.
    fn plan_defaults(
        &self,
        declarations: &mut Declarations,
        plan: &mut EventPlan,
        works: &mut Works<'_>,
        before: Option<&CommittedEvents>,
    ) {
        for kind in EventKind::ALL {
            let mut of_kind = plan.triggers.iter().filter(|trigger| trigger.kind == kind).peekable();
            // One that nothing can call is no load.
            if of_kind.peek().is_none() {
                continue;
            }
            let event = (GROUP_WORLD.to_owned(), "unheard".to_owned());
            let handle = self.default_handlers[kind as usize];
            let unheard =
                before.and_then(|events| of_kind.find_map(|trigger| events.triggers[trigger.kept?].unheard));
            let old =
                before.zip(unheard).and_then(|(events, number)| events.dispatch.handlers_of(number).next());
            let declare = |handler| works.declare(declarations, &event, (handle, handler), old);
            plan.defaults[kind as usize] = self.planned(handle).map(declare);
        }
    }

    /// A channel or a task, which may have been freed, since a trigger refers to it.
    fn watched(&self, source: Handle) -> Option<Watched> {
        let referred = |handle: Handle| self.table.referred(handle).map(|object| &object.body);
        match referred(source)? {
            Body::Ptchannel(channel) => {
                let Some(Body::Group(members)) = referred(channel.group) else { return None };
                let member = |rank: u32| members.get(rank as usize).copied();
                let is_sender = member(channel.source) == Some(self.rank());
                let peer = member(if is_sender { channel.target } else { channel.source });
                Some(Watched { source, peers: peer.into_iter().collect() })
            }
            Body::Collective(collective) => {
                let Some(Body::Group(members)) = referred(collective.base.group) else { return None };
                let peers = members.iter().copied().filter(|member| *member != self.rank()).collect();
                Some(Watched { source, peers })
            }
            _ => Some(Watched { source, peers: Vec::new() }),
        }
    }

    /// Counts of a handler, or of a task that an event starts, whose failures and first overrun the agent is told.
    pub(super) fn tally_of(&self, class: &str, handle: Handle) -> Arc<HandlerTally> {
        let tell = self.teller.clone().map(|teller| {
            let what = self.called(class, handle);
            Box::new(move |trouble| match trouble {
                Trouble::Failed(times) => teller.runs_failed(&what, times),
                Trouble::Overran => teller.run_overran(&what),
            }) as Tell
        });
        Arc::new(HandlerTally::telling(tell))
    }

    /// A handler that may have been freed, since a receptor refers to it.
    fn planned(&self, handler: Handle) -> Option<PlannedHandler> {
        match &self.table.referred(handler)?.body {
            Body::Handler(body) => {
                let qos = self.referred_qos(body.qos);
                let (budget, interval) = match qos.kind {
                    Qos::Handler { budget, interval, .. } => (budget, Some(interval)),
                    _ => (Nanos::ZERO, None),
                };
                let (function, priority) = (body.function.clone(), qos.priority());
                let tally = self.tally_of("handler", handler);
                Some(PlannedHandler { function, priority, work: None, interval, budget, tally })
            }
            _ => None,
        }
    }

    fn referred_priority(&self, qos: Handle) -> u8 {
        self.referred_qos(qos).priority()
    }
}
