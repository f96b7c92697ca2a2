//! Commit: triggers and receptors become declarations, and a plan of what the data path will work on.

use super::body::{EventKind, Form, HandlerFunction, ReceptorCombination};
use crate::declare::Declarations;
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use crate::objects::object::{Body, Qos};
use crate::objects::world::World;
use leveret_types::{MemberId, Nanos};
use std::collections::HashMap;

/// What one commit binds of events, in the order in which it was declared.
pub(in crate::objects) struct EventPlan {
    pub(super) triggers: Vec<PlannedTrigger>,
    pub(super) receptors: Vec<PlannedReceptor>,
    pub(super) defaults: [Option<PlannedHandler>; EventKind::COUNT],
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
}

impl EventPlan {
    /// Whether a thread of its own has to fire some trigger.
    pub(super) fn needs_timer(&self) -> bool {
        self.triggers.iter().any(|trigger| matches!(trigger.kind, EventKind::Time | EventKind::Error))
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
        let mut plan =
            EventPlan { triggers: Vec::new(), receptors: Vec::new(), defaults: Default::default() };
        for (handle, object) in self.table.all() {
            match &object.body {
                Body::Trigger(trigger) => {
                    let group = self.declare_group(declarations, trigger.about.group)?;
                    declarations.trigger(&object.name, &group, self.referred_priority(trigger.about.qos));
                    let (kind, watched) = (trigger.about.kind, self.watched(trigger.about.source));
                    plan.triggers.push(PlannedTrigger { kind, watched, times: trigger.times });
                }
                Body::Receptor(receptor) => {
                    let form = match &receptor.form {
                        Form::Event(group) => {
                            let group = self.declare_group(declarations, *group)?;
                            PlannedForm::Event(declarations.receptor(&object.name, &group))
                        }
                        Form::Combined(combination, parts) => {
                            let number = |part: &Handle| numbers.get(part).map(|number| *number as usize);
                            let parts: Option<Vec<usize>> = parts.iter().map(number).collect();
                            PlannedForm::Combined(*combination, parts.ok_or(Code::Internal)?)
                        }
                    };
                    let handlers =
                        receptor.handlers.iter().filter_map(|handler| self.planned(*handler)).collect();
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
        plan.defaults = self.default_handlers.map(|handler| self.planned(handler));
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
            Body::Handler(body) => Some(PlannedHandler {
                function: body.function.clone(),
                priority: self.referred_priority(body.qos),
            }),
            _ => None,
        }
    }

    fn referred_priority(&self, qos: Handle) -> u8 {
        match self.table.referred(qos).map(|object| &object.body) {
            Some(Body::Qos(Qos::Handler { priority, .. })) => *priority,
            _ => 0,
        }
    }
}
