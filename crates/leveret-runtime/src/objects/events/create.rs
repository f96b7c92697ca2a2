//! Creation of triggers, receptors and handlers, before commit.

use super::body::{
    EventKind, Form, HandlerBody, HandlerFunction, ReceptorBody, ReceptorCombination, TriggerBody,
    TriggerDescription,
};
use crate::objects::error::Code;
use crate::objects::handle::{Class, Handle};
use crate::objects::limit::name_or_none;
use crate::objects::object::{Body, Qos};
use crate::objects::world::World;
use leveret_types::Nanos;

/// Combinations are nested no deeper: counting walks through them on the data path.
const DEPTH_MAX: usize = 16;

impl World {
    /// A trigger of an event.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`], [`Code::Name`], [`Code::Argument`], [`Code::NotMember`], [`Code::Limit`] and those of
    /// wrong handles.
    pub fn trigger(&mut self, event: &str, about: TriggerDescription) -> Result<Handle, Code> {
        if self.group_rank(about.group)?.is_none() {
            return Err(Code::NotMember);
        }
        self.priority_of(about.qos)?;
        self.check_source(about.kind, about.source)?;
        let times = (about.kind == EventKind::Time).then_some((Nanos::ZERO, Nanos::ZERO));
        self.insert(event, Body::Trigger(TriggerBody { about, times }))
    }

    /// Channels can be watched for all that happens to them, tasks for misses; calls and times have no source.
    fn check_source(&self, kind: EventKind, source: Handle) -> Result<(), Code> {
        if source.is_null() {
            return match kind {
                EventKind::Call | EventKind::Time => Ok(()),
                _ => Err(Code::UndefForObject),
            };
        }
        match (kind, self.class(source)?) {
            (EventKind::Call | EventKind::Time, _) => Err(Code::UndefForObject),
            (_, class) if class.is_channel() => Ok(()),
            (EventKind::Miss, Class::Task) => Ok(()),
            _ => Err(Code::UndefForObject),
        }
    }

    /// The priority that a quality of service gives to a delivery or to a handler; 0 is best effort.
    pub(super) fn priority_of(&self, qos: Handle) -> Result<u8, Code> {
        if qos.is_null() {
            return Ok(0);
        }
        match self.qos_kind(qos)? {
            Qos::BestEffort => Ok(0),
            Qos::Handler { priority, .. } => Ok(priority),
            _ => Err(Code::UndefForObject),
        }
    }

    /// On what a trigger fires.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn trigger_kind(&self, trigger: Handle) -> Result<EventKind, Code> {
        match &self.of(trigger, Class::Trigger)?.body {
            Body::Trigger(body) => Ok(body.about.kind),
            _ => Err(Code::Internal),
        }
    }

    /// When a trigger of the kind time fires: the first firing, after the epoch, and the time between firings, 0 for one.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of another kind, and those of wrong handles.
    pub fn trigger_time(&self, trigger: Handle) -> Result<(Nanos, Nanos), Code> {
        match &self.of(trigger, Class::Trigger)?.body {
            Body::Trigger(body) => body.times.ok_or(Code::UndefForObject),
            _ => Err(Code::Internal),
        }
    }

    /// When a trigger of the kind time fires: first so long after the epoch, and from then on in each period, or once when that is 0.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`], [`Code::Time`] and those of wrong handles.
    pub fn trigger_times(&mut self, trigger: Handle, first: Nanos, period: Nanos) -> Result<(), Code> {
        let Body::Trigger(body) = &mut self.change(trigger, Class::Trigger)?.body else {
            return Err(Code::Internal);
        };
        let Some(times) = &mut body.times else { return Err(Code::UndefForObject) };
        if first < Nanos::ZERO || period < Nanos::ZERO {
            return Err(Code::Time);
        }
        *times = (first, period);
        Ok(())
    }

    /// A handler. `function` is told the handler's own handle.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`], [`Code::Name`], [`Code::Limit`] and those of wrong handles.
    pub fn handler(&mut self, name: &str, qos: Handle, function: HandlerFunction) -> Result<Handle, Code> {
        self.priority_of(qos)?;
        self.insert(name, Body::Handler(HandlerBody { qos, function }))
    }

    /// A receptor of the event of this name. The handlers are those that are in the container now, in its order.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`], [`Code::Name`], [`Code::NotMember`], [`Code::Limit`] and those of wrong handles.
    pub fn receptor(&mut self, event: &str, group: Handle, handlers: Handle) -> Result<Handle, Code> {
        if self.group_rank(group)?.is_none() {
            return Err(Code::NotMember);
        }
        let handlers = self.listed(handlers, Class::Handler)?;
        self.insert(event, Body::Receptor(ReceptorBody { form: Form::Event(group), handlers }))
    }

    /// A receptor that occurs when any or all of its parts do.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`], [`Code::Name`], [`Code::Argument`], [`Code::Limit`] and those of wrong handles.
    pub fn combined_receptor(
        &mut self,
        name: &str,
        combination: ReceptorCombination,
        (parts, handlers): (Handle, Handle),
    ) -> Result<Handle, Code> {
        // A container is needed, a container of none is no combination.
        self.count(parts)?;
        let parts = self.listed(parts, Class::Receptor)?;
        let handlers = self.listed(handlers, Class::Handler)?;
        let twice = |part: &Handle| parts.iter().filter(|other| *other == part).count() > 1;
        if parts.is_empty() || parts.iter().any(|part| twice(part) || !self.may_be_part(*part)) {
            return Err(Code::Argument);
        }
        let depth = parts.iter().map(|part| self.depth(*part)).max().unwrap_or(0) + 1;
        let remedy = "combine the parts' parts directly";
        let what = |_: &Self| name_or_none("combinations within the receptor", name);
        self.keep_to((depth, DEPTH_MAX), remedy, what)?;
        self.insert(name, Body::Receptor(ReceptorBody { form: Form::Combined(combination, parts), handlers }))
    }

    /// How deep combinations are nested in a receptor; never deeper than the limit.
    fn depth(&self, receptor: Handle) -> usize {
        match self.table.referred(receptor).map(|object| &object.body) {
            Some(Body::Receptor(ReceptorBody { form: Form::Combined(_, parts), .. })) => {
                1 + parts.iter().map(|part| self.depth(*part)).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Whether a receptor has no handlers, and is no part of another.
    fn may_be_part(&self, receptor: Handle) -> bool {
        let has_handlers =
            |body: &Body| matches!(body, Body::Receptor(receptor) if !receptor.handlers.is_empty());
        let is_part = |body: &Body| matches!(body, Body::Receptor(ReceptorBody { form: Form::Combined(_, parts), .. }) if parts.contains(&receptor));
        self.table.referred(receptor).is_some_and(|object| !has_handlers(&object.body))
            && !self.table.all().any(|(_, object)| is_part(&object.body))
    }

    /// The members of a container, which must be of one class; none for the null handle. Null members of an array are passed over.
    fn listed(&self, container: Handle, class: Class) -> Result<Vec<Handle>, Code> {
        if container.is_null() {
            return Ok(Vec::new());
        }
        let members = match &self.table.get(container)?.body {
            Body::Group(_) => return Err(Code::UndefForObject),
            Body::Cset(_) | Body::Cvector(_) => self.table.get(container)?.body.references(),
            _ => return Err(Code::WrongClass),
        };
        if members.iter().any(|member| member.class() != Some(class)) {
            return Err(Code::UndefForObject);
        }
        Ok(members)
    }

    /// Sets what runs at firings of a kind whose event has no receptor; null: nothing. It lasts as long as the handler.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Argument`] and those of wrong handles.
    pub fn set_default_handler(&mut self, kind: EventKind, handler: Handle) -> Result<(), Code> {
        self.unfrozen()?;
        if !handler.is_null() {
            self.of(handler, Class::Handler)?;
        }
        self.default_handlers[kind as usize] = handler;
        Ok(())
    }
}
