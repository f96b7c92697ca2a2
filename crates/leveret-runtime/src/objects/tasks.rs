//! Tasks before commit.

use super::error::Code;
use super::handle::{Class, Handle};
use super::limit::name_or_none;
use super::object::{Body, Object, Qos, TaskBody, TaskFunction};
use super::world::World;
use leveret_os::facts::has_core;
use leveret_plan::OverrunPolicy;
use leveret_types::Nanos;
use std::sync::Arc;

impl World {
    /// A task that runs once in each window of a time-driven quality of service, or once for each firing of the start event of an
    /// event-driven one. `function` is told the task's own handle.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] with a QoS of another kind, [`Code::Time`] with a budget that is not positive or beyond the window, and those
    /// of wrong handles.
    pub fn task(
        &mut self,
        name: &str,
        (qos, budget): (Handle, Nanos),
        function: impl FnOnce(Handle) -> TaskFunction,
    ) -> Result<Handle, Code> {
        let given = self.qos_body(qos)?;
        let called = || name_or_none("the task", name);
        let window = match given.kind {
            Qos::Time { period: Nanos::ZERO, .. } => {
                let why = format!("{} has a QoS without a period; give it one with a period", called());
                return Err(self.wrong(Code::Time, why));
            }
            Qos::Time { start, deadline, .. } => deadline - start,
            Qos::Event { .. } if given.events[0].is_none() => {
                let why = format!("{} has a QoS without a start event; give it one that has", called());
                return Err(self.wrong(Code::Time, why));
            }
            Qos::Event { .. } => given.deadline.unwrap_or(Nanos::MAX),
            _ => return Err(Code::UndefForObject),
        };
        if !(Nanos::ZERO < budget && budget <= window) {
            let most = if window == Nanos::MAX {
                String::new()
            } else {
                format!(", and no more than its window of {window}")
            };
            let why = format!("{} has a budget of {budget}; give it one above 0{most}", called());
            return Err(self.wrong(Code::Time, why));
        }
        let idle: TaskFunction = Arc::new(|_, _| {});
        let (core, overrun, channels) = (None, None, Vec::new());
        let body = TaskBody { qos, budget, function: idle, core, overrun, channels };
        let task = self.insert(name, Body::Task(body))?;
        if let Body::Task(body) = &mut self.table.get_mut(task)?.body {
            body.function = function(task);
        }
        Ok(task)
    }

    fn task_body(&self, task: Handle) -> Result<&TaskBody, Code> {
        match &self.of(task, Class::Task)?.body {
            Body::Task(task) => Ok(task),
            _ => Err(Code::Internal),
        }
    }

    /// The processor time of one run of a task at most.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn task_budget(&self, task: Handle) -> Result<Nanos, Code> {
        Ok(self.task_body(task)?.budget)
    }

    /// The core that a task is pinned to; `None`: any that the plan finds.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn task_core(&self, task: Handle) -> Result<Option<u32>, Code> {
        Ok(self.task_body(task)?.core)
    }

    /// What follows when a task needs more than its budget; `None` until it is set: the manifest says, or an instance that no longer fits is
    /// skipped.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn task_overrun(&self, task: Handle) -> Result<Option<OverrunPolicy>, Code> {
        Ok(self.task_body(task)?.overrun)
    }

    /// The quality of service that says when a task runs.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn task_qos(&self, task: Handle) -> Result<Handle, Code> {
        Ok(self.task_body(task)?.qos)
    }

    fn change_task(&mut self, task: Handle) -> Result<&mut TaskBody, Code> {
        match &mut self.change(task, Class::Task)?.body {
            Body::Task(task) => Ok(task),
            _ => Err(Code::Internal),
        }
    }

    /// Lets a task serve the ends that this member has of a point-to-point channel.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a collective channel, whose transfers have steps at several instants; [`Code::Argument`] when a
    /// task serves it already; and those of wrong handles.
    pub fn bind_channel(&mut self, task: Handle, channel: Handle) -> Result<(), Code> {
        self.of(task, Class::Task)?;
        if let Body::Collective(_) = self.any_channel(channel)? {
            return Err(Code::UndefForObject);
        }
        let is_bound =
            |object: &Object| matches!(&object.body, Body::Task(other) if other.channels.contains(&channel));
        if self.table.all().any(|(_, object)| is_bound(object)) {
            return Err(Code::Argument);
        }
        let mut body = self.change_task(task)?.clone();
        body.channels.push(channel);
        self.table.replace(task, Body::Task(body))
    }

    /// Pins a task to a core; `None`: any that the plan finds.
    ///
    /// # Errors
    /// [`Code::Argument`] when the machine has no such core, and those of wrong handles.
    pub fn set_task_core(&mut self, task: Handle, core: Option<u32>) -> Result<(), Code> {
        self.of(task, Class::Task)?;
        if core.is_some_and(|core| !has_core(core)) {
            return Err(Code::Argument);
        }
        self.change_task(task)?.core = core;
        Ok(())
    }

    /// Says what follows when a task needs more than its budget.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn set_task_overrun(&mut self, task: Handle, policy: OverrunPolicy) -> Result<(), Code> {
        self.change_task(task)?.overrun = Some(policy);
        Ok(())
    }
}
