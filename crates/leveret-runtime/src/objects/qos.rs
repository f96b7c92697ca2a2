//! Qualities of service: creation, and attributes one by one.

use super::error::Code;
use super::handle::{Class, Handle};
use super::object::{Body, PRIORITY_MAX, Qos};
use super::world::World;
use leveret_plan::{EVENT_PRIORITY, MissingPolicy};
use leveret_types::{NAME_BYTES_MAX, Nanos};

/// A quality of service with everything that can be set of it.
#[derive(Clone)]
pub(super) struct QosBody {
    pub(super) kind: Qos,
    /// Time-driven: how long after the epoch its periods begin.
    pub(super) phase: Nanos,
    /// Time-driven: what the receiver sees of a miss.
    pub(super) missing: MissingPolicy,
    /// Event-driven: what starts a transfer, and what a completed one fires.
    pub(super) events: [Option<String>; 2],
    /// Event- and priority-driven: what admission is to grant from start to completion.
    pub(super) deadline: Option<Nanos>,
    /// Event- and priority-driven: what admission may count on between two transfers.
    pub(super) interval: Option<Nanos>,
}

impl From<Qos> for QosBody {
    fn from(kind: Qos) -> Self {
        Self {
            kind,
            phase: Nanos::ZERO,
            missing: MissingPolicy::default(),
            events: [None, None],
            deadline: None,
            interval: None,
        }
    }
}

impl QosBody {
    fn is_time_driven(&self) -> bool {
        matches!(self.kind, Qos::Time { .. })
    }

    /// Whether its transfers are served at a priority.
    pub(super) fn is_served(&self) -> bool {
        matches!(self.kind, Qos::Priority { .. } | Qos::Event { .. })
    }

    /// The priority at which something is served; 0: best effort.
    pub(super) fn priority(&self) -> u8 {
        match self.kind {
            Qos::Priority { priority } | Qos::Event { priority } | Qos::Handler { priority, .. } => priority,
            Qos::BestEffort | Qos::Time { .. } => 0,
        }
    }
}

impl World {
    /// A quality of service; an event-driven one is made by [`World::event_qos`].
    ///
    /// # Errors
    /// [`Code::Time`] when times make no window, [`Code::Argument`] with a priority out of range.
    pub fn qos(&mut self, name: &str, qos: Qos) -> Result<Handle, Code> {
        check_priority(qos)?;
        match qos {
            Qos::BestEffort | Qos::Priority { .. } => {}
            Qos::Event { .. } => return Err(Code::Argument),
            Qos::Time { start, deadline, period } => {
                let is_within = period == Nanos::ZERO || deadline <= period;
                if !(Nanos::ZERO <= start && start < deadline && is_within) {
                    return Err(Code::Time);
                }
            }
            Qos::Handler { budget, interval, .. } => {
                if budget <= Nanos::ZERO || interval <= Nanos::ZERO {
                    return Err(Code::Time);
                }
            }
        }
        self.insert(name, Body::Qos(qos.into()))
    }

    /// An event-driven quality of service: `start` starts each transfer, and each completed one fires `completion`. Its priority is
    /// the lowest, unless set.
    ///
    /// # Errors
    /// [`Code::Argument`] without any event, [`Code::Name`] of one that is too long.
    pub fn event_qos(
        &mut self,
        name: &str,
        start: Option<&str>,
        completion: Option<&str>,
    ) -> Result<Handle, Code> {
        let events = [start, completion].map(|event| event.map(str::to_owned));
        if events.iter().flatten().any(|event| event.len() >= NAME_BYTES_MAX) {
            return Err(Code::Name);
        }
        if events.iter().flatten().all(String::is_empty) {
            return Err(Code::Argument);
        }
        let events = events.map(|event| event.filter(|event| !event.is_empty()));
        let kind = Qos::Event { priority: EVENT_PRIORITY };
        self.insert(name, Body::Qos(QosBody { events, ..kind.into() }))
    }

    fn qos_object(&self, qos: Handle) -> Result<&QosBody, Code> {
        match &self.of(qos, Class::Qos)?.body {
            Body::Qos(body) => Ok(body),
            _ => Err(Code::Internal),
        }
    }

    fn change_qos(
        &mut self,
        qos: Handle,
        has: impl FnOnce(&QosBody) -> bool,
        change: impl FnOnce(&mut QosBody) -> Result<(), Code>,
    ) -> Result<(), Code> {
        let Body::Qos(body) = &mut self.change(qos, Class::Qos)?.body else { return Err(Code::Internal) };
        if !has(body) {
            return Err(Code::UndefForObject);
        }
        change(body)
    }

    /// The kind of a quality of service, with what it was made of.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn qos_kind(&self, qos: Handle) -> Result<Qos, Code> {
        Ok(self.qos_object(qos)?.kind)
    }

    /// What a quality of service says; the null handle's is best effort.
    pub(super) fn qos_body(&self, qos: Handle) -> Result<QosBody, Code> {
        if qos.is_null() { Ok(Qos::BestEffort.into()) } else { self.qos_object(qos).cloned() }
    }

    /// What a quality of service says that may have been freed, since something refers to it.
    pub(super) fn referred_qos(&self, qos: Handle) -> QosBody {
        match self.table.referred(qos).map(|object| &object.body) {
            Some(Body::Qos(qos)) => qos.clone(),
            _ => Qos::BestEffort.into(),
        }
    }

    /// Start, deadline and period of a time-driven one.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] and those of wrong handles.
    pub fn qos_time(&self, qos: Handle) -> Result<[Nanos; 3], Code> {
        match self.qos_object(qos)?.kind {
            Qos::Time { start, deadline, period } => Ok([start, deadline, period]),
            _ => Err(Code::UndefForObject),
        }
    }

    /// Start and completion event of an event-driven one; empty: none.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] and those of wrong handles.
    pub fn qos_events(&self, qos: Handle) -> Result<[&str; 2], Code> {
        let body = self.qos_object(qos)?;
        match body.kind {
            Qos::Event { .. } => {
                Ok([&body.events[0], &body.events[1]].map(|event| event.as_deref().unwrap_or("")))
            }
            _ => Err(Code::UndefForObject),
        }
    }

    /// The priority of an event-driven, a priority-driven or a handler's one.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] and those of wrong handles.
    pub fn qos_priority(&self, qos: Handle) -> Result<u8, Code> {
        match self.qos_object(qos)?.priority() {
            0 => Err(Code::UndefForObject),
            priority => Ok(priority),
        }
    }

    /// Sets the priority of an event-driven one, 1 to [`PRIORITY_MAX`].
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`], [`Code::Argument`] and those of wrong handles.
    pub fn set_qos_priority(&mut self, qos: Handle, priority: u8) -> Result<(), Code> {
        self.change_qos(
            qos,
            |body| matches!(body.kind, Qos::Event { .. }),
            |body| {
                let kind = Qos::Event { priority };
                check_priority(kind)?;
                body.kind = kind;
                Ok(())
            },
        )
    }

    /// How long after the epoch the periods of a time-driven one begin.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] and those of wrong handles.
    pub fn phase(&self, qos: Handle) -> Result<Nanos, Code> {
        let body = self.qos_object(qos)?;
        if body.is_time_driven() { Ok(body.phase) } else { Err(Code::UndefForObject) }
    }

    /// Sets how long after the epoch the periods of a time-driven one begin.
    ///
    /// # Errors
    /// [`Code::Time`] when that is negative or not below the period, [`Code::UndefForObject`] of another kind.
    pub fn set_phase(&mut self, qos: Handle, phase: Nanos) -> Result<(), Code> {
        self.change_qos(qos, QosBody::is_time_driven, |body| match body.kind {
            Qos::Time { period, .. } if Nanos::ZERO <= phase && phase < period => {
                body.phase = phase;
                Ok(())
            }
            _ => Err(Code::Time),
        })
    }

    /// What the receiver of a time-driven one sees of a miss.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] and those of wrong handles.
    pub fn miss_policy(&self, qos: Handle) -> Result<MissingPolicy, Code> {
        let body = self.qos_object(qos)?;
        if body.is_time_driven() { Ok(body.missing) } else { Err(Code::UndefForObject) }
    }

    /// Sets what the receiver of a time-driven one sees of a miss.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`], [`Code::Argument`] and those of wrong handles.
    pub fn set_miss_policy(&mut self, qos: Handle, policy: MissingPolicy) -> Result<(), Code> {
        self.change_qos(qos, QosBody::is_time_driven, |body| {
            body.missing = policy;
            Ok(())
        })
    }

    /// The longest time from start to completion that admission grants an event- or priority-driven one; `None`: none.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] and those of wrong handles.
    pub fn qos_deadline(&self, qos: Handle) -> Result<Option<Nanos>, Code> {
        let body = self.qos_object(qos)?;
        if body.is_served() { Ok(body.deadline) } else { Err(Code::UndefForObject) }
    }

    /// Sets the longest time from start to completion that admission has to grant an event- or priority-driven one.
    ///
    /// # Errors
    /// [`Code::Time`] when that is not positive, [`Code::UndefForObject`] of another kind.
    pub fn set_qos_deadline(&mut self, qos: Handle, deadline: Option<Nanos>) -> Result<(), Code> {
        self.change_qos(qos, QosBody::is_served, |body| {
            body.deadline = positive(deadline)?;
            Ok(())
        })
    }

    /// The smallest time between two transfers of an event- or priority-driven one that admission counts on; `None`: none.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] and those of wrong handles.
    pub fn qos_interval(&self, qos: Handle) -> Result<Option<Nanos>, Code> {
        let body = self.qos_object(qos)?;
        if body.is_served() { Ok(body.interval) } else { Err(Code::UndefForObject) }
    }

    /// Sets the smallest time between two transfers of an event- or priority-driven one. What is asked for sooner waits.
    ///
    /// # Errors
    /// [`Code::Time`] when that is not positive, [`Code::UndefForObject`] of another kind.
    pub fn set_qos_interval(&mut self, qos: Handle, interval: Option<Nanos>) -> Result<(), Code> {
        self.change_qos(qos, QosBody::is_served, |body| {
            body.interval = positive(interval)?;
            Ok(())
        })
    }
}

fn positive(time: Option<Nanos>) -> Result<Option<Nanos>, Code> {
    if time.is_some_and(|time| time <= Nanos::ZERO) { Err(Code::Time) } else { Ok(time) }
}

fn check_priority(qos: Qos) -> Result<(), Code> {
    match qos {
        Qos::Priority { priority } | Qos::Event { priority } | Qos::Handler { priority, .. }
            if !(1..=PRIORITY_MAX).contains(&priority) =>
        {
            Err(Code::Argument)
        }
        _ => Ok(()),
    }
}
