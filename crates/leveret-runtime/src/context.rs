//! What a task's body sees of one instance.

use crate::declare::{Source, Target};
use crate::free_end::{ReceivingEnd, SendingEnd};
use crate::message::{Absence, Input, Outgoing, OutputSlot, SendRefusal};
use crate::port::{FateCode, InputPort, OutputPort};
use crate::watch::Watch;
use leveret_protocol::control::Place;
use leveret_types::{Clock, Instance, Nanos, TaskId};

/// One instance of a task, while it runs. Nothing taken from it outlives it.
pub struct TaskContext<'a> {
    pub(crate) task: TaskId,
    pub(crate) instance: u64,
    pub(crate) epoch: Nanos,
    pub(crate) planned: Nanos,
    pub(crate) deadline: Nanos,
    pub(crate) inputs: &'a mut [InputPort],
    pub(crate) outputs: &'a mut [OutputPort],
    pub(crate) sources: &'a mut [(u32, SendingEnd)],
    pub(crate) targets: &'a mut [(u32, ReceivingEnd)],
    pub(crate) clock: &'a dyn Clock,
    pub(crate) watch: &'a Watch,
}

impl TaskContext<'_> {
    /// Which instance this is, counted from the epoch.
    pub fn instance(&self) -> Instance {
        Instance(self.instance)
    }
    /// Its planned start on the job's clock.
    pub fn planned_start(&self) -> Nanos {
        self.epoch + self.planned
    }
    /// The end of its window on the job's clock.
    pub fn deadline(&self) -> Nanos {
        self.epoch + self.deadline
    }
    /// The instant at which period 0 of everything started.
    pub fn epoch(&self) -> Nanos {
        self.epoch
    }
    /// The present time.
    pub fn now(&self) -> Nanos {
        self.clock.now().latest
    }

    /// The message that this instance is planned to see, or why there is none.
    pub fn input(&mut self, target: Target) -> Input<'_> {
        input(self.inputs, target)
    }

    /// The buffer to fill for this instance's message.
    pub fn output(&mut self, source: Source) -> Result<OutputSlot<'_>, SendRefusal> {
        output(self.outputs, source, self.clock)
    }

    /// Inserts a copy of `bytes` (application memory).
    pub fn send(&mut self, source: Source, bytes: &[u8]) -> Result<(), SendRefusal> {
        self.output(source)?.insert_copy(bytes)
    }

    /// Inserts what a transfer takes along, and says as which instance of the channel.
    pub(crate) fn send_outgoing(
        &mut self,
        source: Source,
        outgoing: &Outgoing<'_>,
    ) -> Result<u64, SendRefusal> {
        self.output(source)?.insert_outgoing(outgoing)
    }

    /// A best-effort sending end that the task uses; `None` if it did not declare that.
    pub fn sender(&mut self, source: Source) -> Option<&mut SendingEnd> {
        self.sources.iter_mut().find(|(end, _)| *end == source.end).map(|(_, sender)| sender)
    }

    /// A best-effort receiving end that the task uses; `None` if it did not declare that.
    pub fn receiver(&mut self, target: Target) -> Option<&mut ReceivingEnd> {
        self.targets.iter_mut().find(|(end, _)| *end == target.end).map(|(_, receiver)| receiver)
    }

    /// Inputs and outputs apart, to read a message while filling another.
    pub fn split(&mut self) -> (Inputs<'_>, Outputs<'_>) {
        (Inputs { ports: self.inputs }, Outputs { ports: self.outputs, clock: self.clock })
    }

    /// Reports that a message's content is wrong. It is counted, and fails the run.
    pub fn report_corrupt(&mut self, target: Target) {
        let now = self.now();
        if let Some(port) = find(self.inputs, target) {
            port.report(FateCode::Corrupt, now);
        }
    }

    /// Reports that a message is not the one that had to come. It is counted, and fails the run.
    pub fn report_out_of_order(&mut self, target: Target) {
        let now = self.now();
        if let Some(port) = find(self.inputs, target) {
            port.report(FateCode::OutOfOrder, now);
        }
    }

    /// The port of an input that this task serves.
    pub(crate) fn input_port(&mut self, target: Target) -> Option<&mut InputPort> {
        find(self.inputs, target)
    }

    /// The port of an output that this task serves.
    pub(crate) fn output_port(&mut self, source: Source) -> Option<&mut OutputPort> {
        self.outputs.iter_mut().find(|port| port.end == source.end)
    }

    /// Ends the job at the next period, for this reason.
    pub fn stop_job(&self, reason: &'static str) {
        self.watch.request_stop(reason, Place::Task(self.task.0, self.instance));
    }
}

/// The inputs of one instance.
pub struct Inputs<'a> {
    ports: &'a mut [InputPort],
}

impl Inputs<'_> {
    /// As [`TaskContext::input`].
    pub fn get(&mut self, target: Target) -> Input<'_> {
        input(self.ports, target)
    }
}

/// The outputs of one instance.
pub struct Outputs<'a> {
    ports: &'a mut [OutputPort],
    clock: &'a dyn Clock,
}

impl Outputs<'_> {
    /// As [`TaskContext::output`].
    pub fn get(&mut self, source: Source) -> Result<OutputSlot<'_>, SendRefusal> {
        output(self.ports, source, self.clock)
    }
}

fn find(ports: &mut [InputPort], target: Target) -> Option<&mut InputPort> {
    ports.iter_mut().find(|port| port.end == target.end)
}

fn input(ports: &mut [InputPort], target: Target) -> Input<'_> {
    match find(ports, target) {
        Some(port) => port.message(),
        None => Input::Absent(Absence::NotThisTask),
    }
}

fn output<'p>(
    ports: &'p mut [OutputPort],
    source: Source,
    clock: &'p dyn Clock,
) -> Result<OutputSlot<'p>, SendRefusal> {
    match ports.iter_mut().find(|port| port.end == source.end) {
        Some(port) => port.slot(clock),
        None => Err(SendRefusal::NotThisTask),
    }
}
