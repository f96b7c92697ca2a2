//! Time-driven ends of collective channels: the steps that movers do for them, each at its instants.
//!
//! One member leads: the root, or rank 0. It alone decides whether an instance takes place, since it sees what every member
//! asks for, and its message tells the others.
//!
//! ```text
//!   start                        deadline
//!     |---- the leader's data ------|        broadcast, scatter, barrier (empty)
//!     |-- calls --|-- data ---------|        gather, reduce, all-to-all: who was called sends
//!                                   |-- reception, as with every channel
//! ```

use super::Collective;
use crate::activation::Activation;
use crate::context::TaskContext;
use crate::declare::{Source, Target};
use crate::message::{Absence, Input, SendRefusal};
use crate::objects::collectives::CollectiveKind;
use crate::objects::committed::outcome::Outcome;
use crate::objects::committed::service::outcome_of;
use crate::objects::committed::transfer::Arrived;
use crate::objects::committed::{Committed, CommittedChannel, IN_TRANSFER};
use crate::objects::error::Code;
use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_types::Nanos;
use std::sync::{Arc, OnceLock};

/// What the steps of one member tell each other. Each word has one writer, and goes from an earlier step of an instance to a
/// later one; where that has overtaken it, the instance is late.
#[derive(Default)]
pub(in crate::objects) struct Seat {
    /// The last instance for which this member was called, or was not, and the outcome of that.
    called: Told,
    /// How the last instance was sent.
    sent: Told,
    /// Transfers that were started here and end with the next reception.
    to_finish: AtomicU64,
    /// Instances that were over before this member could see a call.
    passed: AtomicU64,
    /// Which instance some receiver had no buffer for, plus one.
    lacked: AtomicU64,
    /// What the program asks for at this member.
    activation: OnceLock<Arc<Activation>>,
}

impl Seat {
    /// Before anything was started.
    pub(in crate::objects) fn take(&self, activation: &Arc<Activation>) {
        // A second one would be the same.
        let _ = self.activation.set(activation.clone());
    }

    fn finish(&self) {
        let ended = self.to_finish.swap(0, Ordering::AcqRel);
        if let Some(activation) = self.activation.get() {
            for _ in 0..ended {
                activation.finish_one();
            }
        }
    }
}

/// An instance and its outcome in one word.
#[derive(Default)]
struct Told(AtomicU64);

impl Told {
    fn tell(&self, instance: u64, outcome: Outcome) {
        self.0.store((instance + 1) << 8 | outcome as u64, Ordering::Release);
    }

    /// What was told of an instance; nothing when it was not, and `overtaken` when a later one was.
    fn of(&self, instance: u64, overtaken: Outcome) -> Option<Outcome> {
        let word = self.0.load(Ordering::Acquire);
        match (word >> 8).checked_sub(instance + 1)? {
            0 => Some(Outcome::of(word as u8)),
            _ => Some(overtaken),
        }
    }
}

/// A member looks whether it was called.
pub(in crate::objects) struct Called {
    pub(in crate::objects) channel: usize,
    pub(in crate::objects) target: Target,
}

/// A member sends, or calls.
pub(in crate::objects) struct Send {
    pub(in crate::objects) channel: usize,
    /// By the receiver's rank, with how many messages it had no buffer for.
    pub(in crate::objects) ends: Vec<(u32, Source, u64)>,
    /// The member that leads calls: nothing of the program's goes.
    pub(in crate::objects) is_call: bool,
    pub(in crate::objects) own: u32,
}

/// A member receives, in the order of rank.
pub(in crate::objects) struct Receive {
    pub(in crate::objects) channel: usize,
    pub(in crate::objects) ends: Vec<(u32, Target)>,
    /// Whether a call came before.
    pub(in crate::objects) was_called: bool,
    pub(in crate::objects) scratch: Box<[u8]>,
}

/// What one mover does for collective channels.
#[derive(Default)]
pub(in crate::objects) struct CollectiveSteps {
    pub(in crate::objects) called: Vec<Called>,
    pub(in crate::objects) sends: Vec<Send>,
    pub(in crate::objects) receives: Vec<Receive>,
}

impl CollectiveSteps {
    pub(in crate::objects) fn targets(&self) -> impl Iterator<Item = Target> + '_ {
        let called = self.called.iter().map(|called| called.target);
        called.chain(self.receives.iter().flat_map(|receive| &receive.ends).map(|(_, target)| *target))
    }

    pub(in crate::objects) fn sources(&self) -> impl Iterator<Item = Source> + '_ {
        self.sends.iter().flat_map(|send| &send.ends).map(|(_, source, _)| *source)
    }

    pub(in crate::objects::committed) fn receive(
        &mut self,
        committed: &Committed,
        context: &mut TaskContext<'_>,
    ) {
        for receive in &mut self.receives {
            let channel = &committed.channels[receive.channel];
            if let Some(collective) = channel.collective.as_deref() {
                receive.run(committed, (channel, collective), context);
            }
        }
    }

    pub(in crate::objects::committed) fn send(
        &mut self,
        committed: &Committed,
        context: &mut TaskContext<'_>,
    ) {
        for called in &self.called {
            let channel = &committed.channels[called.channel];
            if let Some(collective) = channel.collective.as_deref() {
                called.run(committed, (channel, collective), context);
            }
        }
        for send in &mut self.sends {
            let channel = &committed.channels[send.channel];
            if let Some(collective) = channel.collective.as_deref() {
                send.run(committed, (channel, collective), context);
            }
        }
    }
}

type Both<'c> = (&'c CommittedChannel, &'c Collective);

impl Called {
    fn run(&self, committed: &Committed, (channel, collective): Both<'_>, context: &mut TaskContext<'_>) {
        let Some(port) = context.input_port(self.target) else { return };
        let (news, passed, is_active) = (port.news(), port.take_passed(), port.is_active());
        let receives = collective.receives.is_some();
        // A member that receives is through with the transfer only then.
        let ending = if receives { port.defer_ending() } else { 0 };
        let seat = &collective.seat;
        seat.to_finish.fetch_add(ending, Ordering::AcqRel);
        let Some(instance) = news else { return };
        let outcome = match context.input(self.target) {
            Input::Message(_) => Outcome::Complete,
            // A call needs no buffer of the program's.
            Input::Absent(Absence::Missing) | Input::Held(_, Absence::Missing) => Outcome::Late,
            Input::Held(_, absence) | Input::Absent(absence) => outcome_of(absence),
        };
        let outcome = if outcome == Outcome::Paused && !is_active { Outcome::None } else { outcome };
        seat.called.tell(instance, outcome);
        if receives {
            seat.passed.fetch_add(passed, Ordering::AcqRel);
            return;
        }
        committed.passed_by(channel, instance.saturating_sub(1), passed);
        if !matches!(outcome, Outcome::None | Outcome::Complete) {
            committed.ended(channel, instance, outcome, None);
        }
    }
}

impl Send {
    fn run(&mut self, committed: &Committed, (channel, collective): Both<'_>, context: &mut TaskContext<'_>) {
        self.hear_of_lacks(committed, (channel, collective), context);
        let (mut instance, mut is_open) = (None, true);
        for (_, source, _) in &self.ends {
            let Some(port) = context.output_port(*source) else { return };
            instance = port.instance();
            is_open &= port.is_open();
        }
        let Some(instance) = instance else { return };
        if !is_open {
            for (_, source, _) in &self.ends {
                if let Some(port) = context.output_port(*source) {
                    port.abstain();
                }
            }
            return;
        }
        let outcome = self.send_all(committed, collective, context);
        if self.is_call {
            return;
        }
        collective.seat.sent.tell(instance, outcome);
        if collective.sends.is_some() && outcome != Outcome::NoSenderBuffer {
            channel.copies.fetch_add(1, Ordering::Relaxed);
        }
        if collective.sends.is_some() && collective.receives.is_none() {
            committed.ended(channel, instance, outcome, None);
        }
    }

    /// What other members had no buffer for cost them the instance, and this member is told.
    fn hear_of_lacks(
        &mut self,
        committed: &Committed,
        (channel, collective): Both<'_>,
        context: &mut TaskContext<'_>,
    ) {
        let mut last = None;
        for (rank, source, known) in &mut self.ends {
            let Some(port) = context.output_port(*source) else { continue };
            let Some((lacked, at)) = port.peer_lacked() else { continue };
            if lacked > *known && *rank != self.own {
                last = last.max(Some(at));
            }
            *known = lacked;
        }
        let Some(instance) = last.filter(|_| !self.is_call) else { return };
        if collective.receives.is_some() {
            collective.seat.lacked.store(instance.saturating_add(1), Ordering::Release);
        } else {
            committed.ended_otherwise(channel, instance, Outcome::NoReceiverBuffer, 1);
        }
    }

    fn send_all(
        &self,
        committed: &Committed,
        collective: &Collective,
        context: &mut TaskContext<'_>,
    ) -> Outcome {
        if self.is_call || collective.kind == CollectiveKind::Barrier {
            let worst = self.ends.iter().map(|(_, source, _)| send_piece(context, *source, &[]));
            return worst.fold(Outcome::Complete, worse);
        }
        let taken = collective.sends.and_then(|[input, _]| committed.take_to_send(collective, input));
        let Some(buffer) = taken else { return Outcome::NoSenderBuffer };
        let is_void = !committed.is_full_enough(collective, buffer);
        let mut outcome = if is_void { Outcome::Invalid } else { Outcome::Complete };
        for (rank, source, _) in &self.ends {
            committed.show(buffer, |bytes| {
                let piece = if is_void { &[] } else { collective.piece_for(*rank, bytes) };
                outcome = worse(outcome, send_piece(context, *source, piece));
            });
        }
        committed.end_sending(collective, buffer);
        outcome
    }
}

fn send_piece(context: &mut TaskContext<'_>, source: Source, piece: &[u8]) -> Outcome {
    match context.send(source, piece) {
        Ok(()) if context.output_port(source).is_some_and(|port| port.is_late()) => Outcome::Late,
        Ok(()) => Outcome::Complete,
        Err(SendRefusal::NoBuffer) => Outcome::NoReceiverBuffer,
        Err(
            SendRefusal::Inactive
            | SendRefusal::NotThisTask
            | SendRefusal::AlreadySent
            | SendRefusal::TooLong { .. },
        ) => Outcome::Invalid,
    }
}

/// The first that is not complete.
fn worse(one: Outcome, other: Outcome) -> Outcome {
    if one == Outcome::Complete { other } else { one }
}

impl Receive {
    fn run(&mut self, committed: &Committed, (channel, collective): Both<'_>, context: &mut TaskContext<'_>) {
        let seat = &collective.seat;
        let (mut instance, mut passed, mut is_active) = (None, seat.passed.swap(0, Ordering::AcqRel), false);
        for (_, target) in &self.ends {
            let Some(port) = context.input_port(*target) else { return };
            instance = port.news();
            let unseen = port.take_passed();
            if !self.was_called {
                passed = passed.saturating_add(unseen);
            }
            is_active |= port.is_active();
        }
        if let Some(lacked) = seat.lacked.swap(0, Ordering::AcqRel).checked_sub(1) {
            committed.ended_otherwise(channel, lacked, Outcome::NoReceiverBuffer, 1);
        }
        let Some(instance) = instance else { return };
        committed.passed_by(channel, instance.saturating_sub(1), passed);
        let called = if self.was_called {
            seat.called.of(instance, Outcome::Late).unwrap_or_default()
        } else {
            Outcome::Complete
        };
        let (mut outcome, mut latency) = (called, None);
        if called == Outcome::Complete {
            (outcome, latency) = self.receive_all(committed, (channel, collective), context);
        }
        let sent = seat.sent.of(instance, Outcome::Complete).unwrap_or(Outcome::Complete);
        let lacks_here = match outcome {
            // Of all pieces that did not come, its own may be one.
            Outcome::NoSenderBuffer => sent == Outcome::NoSenderBuffer,
            outcome => outcome == Outcome::NoReceiverBuffer,
        };
        if outcome == Outcome::Complete {
            // Others may not have got what this member has got of itself.
            outcome = sent;
        }
        match outcome {
            Outcome::None => {}
            Outcome::Paused if !is_active && !self.was_called => {}
            outcome => committed.ended_lacking(channel, instance, (outcome, lacks_here), latency),
        }
        if self.was_called {
            seat.finish();
        }
    }

    /// The instance takes place when every piece is there.
    fn receive_all(
        &mut self,
        committed: &Committed,
        (channel, collective): Both<'_>,
        context: &mut TaskContext<'_>,
    ) -> (Outcome, Option<Nanos>) {
        let mut outcome = Outcome::Complete;
        for (_, target) in &self.ends {
            outcome = worse(outcome, self.look(context, *target));
        }
        if outcome != Outcome::Complete {
            return (outcome, None);
        }
        let mut buffer = None;
        if let Some([input, _]) = collective.receives {
            buffer = committed.take(input as usize, IN_TRANSFER);
            if buffer.is_none() {
                self.tell_lacking(context);
                return (Outcome::NoReceiverBuffer, None);
            }
        }
        let arrived = self.take_in(committed, (collective, buffer), context);
        let latency = arrived.as_ref().ok().map(|arrived| context.now() - arrived.inserted);
        if let Some(buffer) = buffer {
            committed.end_reception(collective, buffer, arrived.as_ref().ok().copied());
            channel.copies.fetch_add(1, Ordering::Relaxed);
        }
        (if arrived.is_ok() { Outcome::Complete } else { Outcome::Invalid }, latency)
    }

    fn look(&self, context: &mut TaskContext<'_>, target: Target) -> Outcome {
        let took_part = context.input_port(target).is_some_and(|port| port.sender_took_part());
        match context.input(target) {
            Input::Message(_) => Outcome::Complete,
            Input::Absent(Absence::Missing) | Input::Held(_, Absence::Missing) if !took_part => Outcome::Late,
            // This member was called, and that one has missed its call.
            Input::Absent(Absence::Inactive) if self.was_called => Outcome::Late,
            Input::Held(_, absence) | Input::Absent(absence) => outcome_of(absence),
        }
    }

    fn take_in(
        &mut self,
        committed: &Committed,
        (collective, buffer): (&Collective, Option<usize>),
        context: &mut TaskContext<'_>,
    ) -> Result<Arrived, Code> {
        let Self { ends, scratch, .. } = self;
        let mut all = Ok(());
        let mut arrived = Arrived { length: 0, instance: 0, inserted: Nanos::MAX };
        for (place, (rank, target)) in ends.iter().enumerate() {
            let Input::Message(message) = context.input(*target) else { return Err(Code::Missed) };
            arrived.length = message.length();
            arrived.instance = message.instance().0;
            arrived.inserted = arrived.inserted.min(message.inserted());
            let mut take_in = |bytes: &mut [u8]| {
                let copy = |into: &mut [u8]| message.copy_to(into);
                all = collective.take_in(bytes, (*rank, place == 0), message.length(), scratch, copy);
            };
            match buffer {
                Some(buffer) => committed.buffers[buffer].storage.write(&mut take_in),
                None => take_in(&mut []),
            }
            all?;
        }
        if let Some(buffer) = buffer.filter(|_| collective.kind.is_fixed()) {
            arrived.length = committed.buffers[buffer].size;
        }
        Ok(arrived)
    }

    fn tell_lacking(&self, context: &mut TaskContext<'_>) {
        let now = context.now();
        for (_, target) in &self.ends {
            let Some(port) = context.input_port(*target) else { continue };
            port.lack(now);
            if port.stops() {
                context.stop_job(
                    "a message of a channel with the miss policy `stop` found no buffer in the receiver's input iterator",
                );
                return;
            }
        }
    }
}
