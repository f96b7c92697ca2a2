//! What a task does for its time-driven ends: messages come in before its function runs, and go out after it.

use super::loans::Loans;
use super::outcome::Outcome;
use super::transfer::Arrived;
use super::{CollectiveSteps, Committed, CommittedChannel};
use crate::context::TaskContext;
use crate::declare::{Lines, Source, Target};
use crate::message::{Absence, Input, Message, SendRefusal};
use crate::objects::error::Code;
use leveret_types::Nanos;
use std::sync::Arc;

/// The ends that a task serves.
pub(in crate::objects) struct Service {
    pub(in crate::objects) committed: Arc<Committed>,
    /// Receiving ends, each with its channel's index.
    pub(in crate::objects) reads: Vec<(usize, Target)>,
    /// Sending ends, each with its channel's index.
    pub(in crate::objects) writes: Vec<(usize, Source)>,
    /// Steps of collective channels.
    pub(in crate::objects) collectives: CollectiveSteps,
}

impl Service {
    pub(in crate::objects) fn new(committed: Arc<Committed>) -> Self {
        Self { committed, reads: Vec::new(), writes: Vec::new(), collectives: CollectiveSteps::default() }
    }

    /// The lines in which its point-to-point ends may be kept.
    pub(in crate::objects) fn lines(&self) -> Lines {
        let of = |channel: usize| &self.committed.channels[channel];
        let inputs = self.reads.iter().map(|(channel, end)| (end.end, of(*channel).input_line.clone()));
        let outputs = self.writes.iter().map(|(channel, end)| (end.end, of(*channel).output_line.clone()));
        Lines { task: None, inputs: inputs.collect(), outputs: outputs.collect() }
    }

    /// Takes the messages of this instance.
    pub(in crate::objects) fn receive(&mut self, context: &mut TaskContext<'_>) {
        self.collectives.receive(&self.committed, context);
        for (channel, target) in &self.reads {
            let channel = &self.committed.channels[*channel];
            let Some(port) = context.input_port(*target) else { continue };
            let (instance, passed, is_awaited) = (port.news(), port.take_passed(), port.is_awaited());
            let sender_took_part = port.sender_took_part();
            self.committed.passed_by(channel, instance.unwrap_or_default().saturating_sub(1), passed);
            let Some(instance) = instance else { continue };
            let now = context.now();
            let (outcome, latency) = match context.input(*target) {
                Input::Message(message) => self.take_in(channel, &message, now),
                Input::Held(message, absence) if outcome_of(absence).is_miss() => {
                    // The program gets the last good message once more; the instance was missed all the same.
                    let _ = self.take_in(channel, &message, now);
                    (outcome_of(absence), None)
                }
                Input::Absent(Absence::Missing) if !sender_took_part => (Outcome::Late, None),
                Input::Held(_, absence) | Input::Absent(absence) => (outcome_of(absence), None),
            };
            if outcome == Outcome::NoReceiverBuffer {
                self.tell_lacking(context, *target);
            }
            match outcome {
                Outcome::None => {}
                Outcome::Paused if !is_awaited => {}
                outcome => self.committed.ended(channel, instance, outcome, latency),
            }
        }
    }

    /// Copies a message into a buffer of the program's.
    fn take_in(
        &self,
        channel: &CommittedChannel,
        message: &Message<'_>,
        now: Nanos,
    ) -> (Outcome, Option<Nanos>) {
        if channel.is_mapped() {
            return match self.committed.receive_mapped(channel, message) {
                Ok(true) => (Outcome::Complete, Some(now - message.inserted())),
                Ok(false) => (Outcome::NoReceiverBuffer, None),
                Err(_) => (Outcome::Invalid, None),
            };
        }
        let Some(buffer) = self.committed.take_for(channel) else {
            return (Outcome::NoReceiverBuffer, None);
        };
        let mut unused = None;
        let filled = self.committed.fill(channel, (buffer, &mut unused), |bytes| {
            let length = message.copy_to(bytes).map_err(|_| Code::Missed)?;
            Ok(Arrived { length, instance: message.instance().0, inserted: message.inserted() })
        });
        if let Some(buffer) = unused {
            self.committed.return_unused(channel, buffer);
        }
        match filled {
            Ok(()) => (Outcome::Complete, Some(now - message.inserted())),
            Err(_) => (Outcome::Invalid, None),
        }
    }

    fn tell_lacking(&self, context: &mut TaskContext<'_>, target: Target) {
        let now = context.now();
        let Some(port) = context.input_port(target) else { return };
        port.lack(now);
        if port.stops() {
            context.stop_job(
                "a message of a channel with the miss policy `stop` found no buffer in the receiver's input iterator",
            );
        }
    }

    /// Sends the messages of this instance.
    pub(in crate::objects) fn send(&mut self, context: &mut TaskContext<'_>) {
        let Self { committed, writes, collectives, .. } = self;
        collectives.send(committed, context);
        for (channel, source) in writes {
            let channel = &committed.channels[*channel];
            committed.take_back_loans(channel);
            let Some(port) = context.output_port(*source) else { continue };
            let (passed, is_open, is_awaited) = (port.take_passed(), port.is_open(), port.is_awaited());
            let Some(instance) = port.instance() else { continue };
            if let Some((news, last)) = port.take_lacked() {
                committed.ended_otherwise(channel, last, Outcome::NoReceiverBuffer, news);
            }
            committed.passed_by(channel, instance.saturating_sub(1), passed);
            if !is_open {
                if is_awaited {
                    committed.ended(channel, instance, Outcome::Paused, None);
                }
                continue;
            }
            let outcome = send_one(committed, channel, context, *source);
            committed.ended(channel, instance, outcome, None);
        }
    }
}

fn send_one(
    committed: &Committed,
    channel: &CommittedChannel,
    context: &mut TaskContext<'_>,
    source: Source,
) -> Outcome {
    match context.output(source) {
        Ok(_) => {}
        // The receiver has given back none. The program's message was for this instance: were it kept for the next, each one after it
        // would be a period old.
        Err(SendRefusal::NoBuffer) if committed.pass_over(channel) => return Outcome::NoReceiverBuffer,
        Err(SendRefusal::NoBuffer) => return Outcome::NoSenderBuffer,
        Err(SendRefusal::Inactive | SendRefusal::NotThisTask) => return Outcome::None,
        Err(SendRefusal::AlreadySent | SendRefusal::TooLong { .. }) => return Outcome::Invalid,
    }
    let Some(buffer) = committed.take_for(channel) else {
        // The program had no buffer to fill, as the receiver has them all: the record says so, for the report.
        if channel.loans().is_some_and(Loans::has_all)
            && let Some(port) = context.output_port(source)
        {
            port.lack();
        }
        return Outcome::NoSenderBuffer;
    };
    let sent = committed.send_out(channel, buffer, |outgoing| {
        context.send_outgoing(source, outgoing).map_err(|_| Code::Missed)
    });
    match sent {
        Ok(()) if context.output_port(source).is_some_and(|port| port.is_late()) => Outcome::Late,
        Ok(()) => Outcome::Complete,
        Err(_) => Outcome::Invalid,
    }
}

pub(super) fn outcome_of(absence: Absence) -> Outcome {
    match absence {
        Absence::BeforeFirst | Absence::NotThisTask => Outcome::None,
        Absence::Inactive => Outcome::Paused,
        Absence::Missing => Outcome::NoSenderBuffer,
        Absence::Late(_) => Outcome::Late,
        Absence::Invalid | Absence::Corrupt => Outcome::Invalid,
        Absence::PeerDead => Outcome::PeerLost,
    }
}
