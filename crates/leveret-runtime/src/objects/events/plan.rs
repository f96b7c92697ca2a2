//! Commit: triggers and receptors become declarations, and a plan of what the data path will work on.

use super::body::{EventKind, Form, HandlerFunction, ReceptorCombination};
use super::served::PlannedEnd;
use super::tally::HandlerTally;
use crate::declare::Declarations;
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use crate::objects::movers::unique;
use crate::objects::object::{Body, Qos};
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
}

/// A channel or a task that a trigger watches.
#[derive(Clone)]
pub(super) struct Watched {
    pub(super) source: Handle,
    /// Whether this member sends on the channel.
    pub(super) is_sender: bool,
    /// Who is at the channel's other ends.
    pub(super) peers: Vec<MemberId>,
}

pub(super) struct PlannedReceptor {
    pub(super) handle: Handle,
    pub(super) form: PlannedForm,
    pub(super) is_part: bool,
    pub(super) handlers: Vec<PlannedHandler>,
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
    /// Whether a thread of its own has to fire some trigger.
    pub(super) fn needs_timer(&self) -> bool {
        self.triggers.iter().any(|trigger| matches!(trigger.kind, EventKind::Time | EventKind::Error))
    }
}

/// Handlers as work beside the time table, which admission counts.
struct Works<'m> {
    member: &'m str,
    /// The names of those that were declared.
    declared: Vec<String>,
    tallies: Vec<(Handle, Arc<HandlerTally>)>,
}

impl Works<'_> {
    /// Declares a handler of this event, if it has a priority. What is counted of it is counted for all its events.
    fn declare(
        &mut self,
        declarations: &mut Declarations,
        event: &(String, String),
        (handle, mut handler): (Handle, PlannedHandler),
    ) -> PlannedHandler {
        match self.tallies.iter().find(|(known, _)| *known == handle) {
            Some((_, tally)) => handler.tally = tally.clone(),
            None => self.tallies.push((handle, handler.tally.clone())),
        }
        if handler.priority == 0 {
            return handler;
        }
        let event_name = match event.0.as_str() {
            GROUP_WORLD => event.1.clone(),
            group => format!("{group}/{}", event.1),
        };
        // Nobody has named it, so it is told by what starts it.
        let name = unique(&format!("handler of {event_name} at {}", self.member), &self.declared);
        self.declared.push(name.clone());
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
}

impl World {
    /// Triggers and receptors, each with its number among its kind; numbers as in [`World::plan_events`].
    pub(in crate::objects) fn event_numbers(&self) -> Vec<(Handle, u32)> {
        let (mut triggers, mut receptors) = (0.., 0..);
        let number = |(handle, object): (Handle, &crate::objects::object::Object)| match &object.body {
            Body::Trigger(_) => Some((handle, triggers.next()?)),
            Body::Receptor(_) => Some((handle, receptors.next()?)),
            _ => None,
        };
        self.table.all().filter_map(number).collect()
    }

    /// Declares every trigger and receptor.
    pub(in crate::objects) fn plan_events(&self, declarations: &mut Declarations) -> Result<EventPlan, Code> {
        let numbers: HashMap<Handle, u32> = self.event_numbers().into_iter().collect();
        let mut plan = EventPlan {
            triggers: Vec::new(),
            receptors: Vec::new(),
            defaults: Default::default(),
            tallies: Vec::new(),
            ends: Vec::new(),
        };
        let mut works =
            Works { member: &self.names()[self.rank().index()], declared: Vec::new(), tallies: Vec::new() };
        for (handle, object) in self.table.all() {
            match &object.body {
                Body::Trigger(trigger) => {
                    let group = self.declare_group(declarations, trigger.about.group)?;
                    declarations.trigger(&object.name, &group, self.referred_priority(trigger.about.qos));
                    let (kind, watched) = (trigger.about.kind, self.watched(trigger.about.source));
                    plan.triggers.push(PlannedTrigger { kind, watched, times: trigger.times });
                }
                Body::Receptor(receptor) => {
                    let (form, group) = match &receptor.form {
                        Form::Event(group) => {
                            let group = self.declare_group(declarations, *group)?;
                            (PlannedForm::Event(declarations.receptor(&object.name, &group)), group)
                        }
                        Form::Combined(combination, parts) => {
                            let number = |part: &Handle| numbers.get(part).map(|number| *number as usize);
                            let parts: Option<Vec<usize>> = parts.iter().map(number).collect();
                            let form = PlannedForm::Combined(*combination, parts.ok_or(Code::Internal)?);
                            (form, GROUP_WORLD.to_owned())
                        }
                    };
                    let handlers = receptor
                        .handlers
                        .iter()
                        .filter_map(|handler| Some((*handler, self.planned(*handler)?)));
                    let event = (group, object.name.clone());
                    let handlers =
                        handlers.map(|handler| works.declare(declarations, &event, handler)).collect();
                    plan.receptors.push(PlannedReceptor { handle, form, is_part: false, handlers });
                }
                _ => {}
            }
        }
        let parts = plan.receptors.iter().flat_map(|receptor| match &receptor.form {
            PlannedForm::Event(_) => Vec::new(),
            PlannedForm::Combined(_, parts) => parts.clone(),
        });
        for part in parts.collect::<Vec<_>>() {
            plan.receptors[part].is_part = true;
        }
        for kind in EventKind::ALL {
            // One that nothing can call is no load.
            if plan.triggers.iter().any(|trigger| trigger.kind == kind) {
                let event = (GROUP_WORLD.to_owned(), "unheard".to_owned());
                let handle = self.default_handlers[kind as usize];
                let planned = self.planned(handle);
                plan.defaults[kind as usize] =
                    planned.map(|handler| works.declare(declarations, &event, (handle, handler)));
            }
        }
        plan.tallies = works.tallies;
        for (handle, object) in self.table.all() {
            if let Body::Task(task) = &object.body {
                self.plan_event_task(declarations, &mut plan, (handle, &object.name, task));
            }
        }
        Ok(plan)
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
                Some(Watched { source, is_sender, peers: peer.into_iter().collect() })
            }
            Body::Collective(collective) => {
                let Some(Body::Group(members)) = referred(collective.base.group) else { return None };
                let peers = members.iter().copied().filter(|member| *member != self.rank()).collect();
                Some(Watched { source, is_sender: !collective.base.input.is_null(), peers })
            }
            _ => Some(Watched { source, is_sender: false, peers: Vec::new() }),
        }
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
                Some(PlannedHandler {
                    function,
                    priority,
                    work: None,
                    interval,
                    budget,
                    tally: Arc::default(),
                })
            }
            _ => None,
        }
    }

    fn referred_priority(&self, qos: Handle) -> u8 {
        self.referred_qos(qos).priority()
    }
}
