//! A task's channel ends: what happens to them before, during and after the body of each instance.

use crate::activation::Activation;
use crate::message::{Absence, Input, Message, MessageBody, OutputSlot, SendRefusal};
use crate::timing::{Arrival, Bindings, Cursor};
use crate::watch::Watch;
use leveret_memory::{MessageRecord, NOT_ACTIVE, Receiver, Sender, Taken};
use leveret_plan::{Channel, MissingPolicy, Placement, Qos};
use leveret_types::{ByteSize, Clock, MemberId, Nanos};
use std::sync::Arc;

/// What became of a message, as the numbers in the segment's records say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum FateCode {
    /// Inserted (source) or taken in time (target).
    Done = 0,
    /// Inserted after it was due (target).
    Late = 1,
    /// Not there (target), or not inserted by its task (source).
    Missing = 2,
    /// Not inserted for want of a buffer (source).
    NoBuffer = 3,
    /// The peer's segment held nonsense (target).
    Invalid = 4,
    /// The task's instance was skipped, so nobody took it (target).
    Passed = 5,
    /// The channel was not active at both ends.
    Inactive = 6,
    /// The application reports that the content is wrong (target).
    Corrupt = 7,
    /// The application reports that this is not the message that had to come (target).
    OutOfOrder = 8,
    /// A best-effort message that carried a stamp: `due` is when it was inserted (target).
    Sampled = 9,
    /// A receiving end outside the time table waited for the instance, and nothing was there: nothing was started in it,
    /// or not yet (target).
    Vacant = 10,
}

/// What the present instance finds.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// The message with this instance, inserted then, this long.
    Fresh { instance: u64, inserted: Nanos, length: usize },
    /// Nothing.
    Nothing(Absence),
}

/// The last good message of a channel.
#[derive(Clone, Copy, Debug)]
struct Held {
    instance: u64,
    inserted: Nanos,
    length: usize,
    /// Still in the sender's segment. A buffer held there for long would be in the way of a later instance, so the
    /// first missing message moves it into own memory.
    in_place: bool,
}

/// The receiving end of a time-driven channel in a task.
pub(crate) struct InputPort {
    pub(crate) end: u32,
    source: MemberId,
    receiver: Receiver,
    bindings: Bindings,
    /// The first instance that the sender's plan fills.
    first: u64,
    arrival: Arrival,
    activation: Arc<Activation>,
    policy: MissingPolicy,
    /// Own memory: of a separate end, or for the last good message of an aliased one that holds it.
    copy: Box<[u8]>,
    /// Where a separate end that holds the last good message copies to first: a copy that turns out torn must not
    /// have destroyed what is held. Empty otherwise.
    spare: Box<[u8]>,
    aliased: bool,
    epoch: Nanos,
    found: Found,
    /// The last good message.
    held: Option<Held>,
    /// The channel instance of the present task instance.
    current: Option<u64>,
    seen: Option<u64>,
}

impl InputPort {
    pub(crate) fn new(
        end: u32,
        declared: &Channel,
        mut receiver: Receiver,
        bindings: Bindings,
        first: u64,
        arrival: Arrival,
    ) -> Self {
        let aliased = declared.placement == Placement::Aliased;
        let policy = match declared.qos {
            Qos::TimeDriven { missing, .. } => missing,
            _ => MissingPolicy::Skip,
        };
        let holds = policy == MissingPolicy::HoldLast;
        let memory =
            |needed: bool| vec![0; if needed { declared.size.0 as usize } else { 0 }].into_boxed_slice();
        receiver.set_first_eligible(0);
        Self {
            end,
            source: declared.source,
            receiver,
            bindings,
            first,
            arrival,
            activation: Arc::new(Activation::new(arrival)),
            policy,
            copy: memory(!aliased || holds),
            spare: memory(!aliased && holds),
            aliased,
            epoch: Nanos::ZERO,
            found: Found::Nothing(Absence::BeforeFirst),
            held: None,
            current: None,
            seen: None,
        }
    }

    pub(crate) fn activation(&self) -> Arc<Activation> {
        self.activation.clone()
    }

    pub(crate) fn arm(&mut self, epoch: Nanos) {
        self.epoch = epoch;
        self.activation.arm(epoch);
        // A task that starts periods after the epoch reads none of the messages before: they hold no buffer.
        let first = self.bindings.at(&Cursor::default());
        if let Some(unread) = first.and_then(|first| first.checked_sub(1)) {
            self.receiver.release_through(unread);
        }
    }

    /// Records what the application found wrong with the present message.
    pub(crate) fn report(&mut self, fate: FateCode, at: Nanos) {
        let Some(instance) = self.current else { return };
        let due = self.epoch + self.arrival.of(instance);
        self.receiver.record(&MessageRecord { instance, at, due, size: 0, fate: fate as u8 });
    }

    /// Finds the planned message of this instance, and copies it into own memory unless the end is aliased.
    pub(crate) fn gather(&mut self, cursor: &Cursor, clock: &dyn Clock, watch: &Watch) {
        self.current = self.bindings.at(cursor);
        let Some(instance) = self.current.filter(|instance| *instance >= self.first) else {
            self.current = None;
            self.found = Found::Nothing(Absence::BeforeFirst);
            return;
        };
        if self.seen == Some(instance) {
            return; // Over-sampling: the same message once more, already at hand.
        }
        self.seen = Some(instance);
        self.follow_activation(instance);
        if let Some(before) = instance.checked_sub(1)
            && self.held_in_place().is_none()
        {
            self.receiver.release_through(before);
        }
        let due = self.epoch + self.arrival.of(instance);
        self.found = self.look(instance, due, watch);
        if let Found::Nothing(_) = self.found {
            self.take_home();
        }
        self.account(instance, due, clock.now().latest, watch);
    }

    fn look(&mut self, instance: u64, due: Nanos, watch: &Watch) -> Found {
        if !self.activation.covers(instance) {
            return Found::Nothing(Absence::Inactive);
        }
        let taken = match self.receiver.take(instance) {
            Taken::Message(message) => {
                let (inserted, length) = (message.stamp(), message.length());
                let into = if self.spare.is_empty() { &mut self.copy } else { &mut self.spare };
                if inserted > due {
                    Err(Absence::Late(inserted - due))
                } else if self.aliased || message.copy_to(into).is_ok() {
                    if !self.spare.is_empty() {
                        std::mem::swap(&mut self.copy, &mut self.spare);
                    }
                    Ok(Found::Fresh { instance, inserted, length })
                } else {
                    Err(Absence::Invalid)
                }
            }
            Taken::NotYet => Err(Absence::Missing),
            Taken::Stale | Taken::Invalid(_) => Err(Absence::Invalid),
        };
        match taken {
            Ok(found) => found,
            Err(Absence::Missing) if !self.is_active(instance) => Found::Nothing(Absence::Inactive),
            Err(Absence::Missing) if watch.is_dead(self.source) => Found::Nothing(Absence::PeerDead),
            Err(absence) => Found::Nothing(absence),
        }
    }

    /// Moves the last good message out of the sender's segment.
    fn take_home(&mut self) {
        let Some(held) = self.held.filter(|held| held.in_place) else { return };
        let copied = match self.receiver.take(held.instance) {
            Taken::Message(message) => message.copy_to(&mut self.copy).is_ok(),
            Taken::NotYet | Taken::Stale | Taken::Invalid(_) => false,
        };
        self.held = copied.then_some(Held { in_place: false, ..held });
        self.receiver.release_through(held.instance);
    }

    fn is_active(&self, instance: u64) -> bool {
        self.activation.covers(instance) && instance >= self.receiver.peer_first_eligible()
    }

    /// Publishes a change of activation that another thread of this member asked for. The sender has begun the present
    /// instance, so what is told here is for the next.
    fn follow_activation(&mut self, instance: u64) {
        if let Some(from) = self.activation.follow(instance + 1) {
            self.receiver.set_first_eligible(from);
        }
    }

    fn account(&mut self, instance: u64, due: Nanos, now: Nanos, watch: &Watch) {
        let (fate, size) = match self.found {
            Found::Fresh { inserted, length, .. } => {
                let in_place = self.aliased && self.policy == MissingPolicy::HoldLast;
                self.held = Some(Held { instance, inserted, length, in_place });
                (FateCode::Done, length)
            }
            Found::Nothing(Absence::Late(_)) => {
                self.receiver.count_late();
                (FateCode::Late, 0)
            }
            Found::Nothing(Absence::Invalid) => (FateCode::Invalid, 0),
            Found::Nothing(Absence::Inactive | Absence::BeforeFirst | Absence::NotThisTask) => {
                (FateCode::Inactive, 0)
            }
            Found::Nothing(Absence::Missing | Absence::PeerDead) => {
                self.receiver.count_missing();
                (FateCode::Missing, 0)
            }
        };
        if self.policy == MissingPolicy::Stop
            && matches!(fate, FateCode::Late | FateCode::Missing | FateCode::Invalid)
        {
            watch.request_stop(
                "a message of a channel with the policy `missing = \"stop\"` did not arrive in time",
            );
        }
        self.receiver.record(&MessageRecord { instance, at: now, due, size: size as u32, fate: fate as u8 });
    }

    /// The message of the present instance, for the body.
    pub(crate) fn message(&mut self) -> Input<'_> {
        match self.found {
            Found::Fresh { instance, inserted, .. } if self.aliased => match self.receiver.take(instance) {
                Taken::Message(message) => {
                    Input::Message(Message { instance, inserted, body: MessageBody::Shared(message) })
                }
                Taken::NotYet | Taken::Stale | Taken::Invalid(_) => Input::Absent(Absence::Invalid),
            },
            Found::Fresh { instance, inserted, length } => {
                let body = MessageBody::Own(&self.copy[..length]);
                Input::Message(Message { instance, inserted, body })
            }
            Found::Nothing(absence) => match (self.policy, self.held) {
                (MissingPolicy::HoldLast, Some(Held { instance, inserted, length, .. })) => {
                    let body = MessageBody::Own(&self.copy[..length]);
                    Input::Held(Message { instance, inserted, body }, absence)
                }
                _ => Input::Absent(absence),
            },
        }
    }

    /// The instance that must stay in the sender's segment because it is the last good one.
    fn held_in_place(&self) -> Option<u64> {
        self.held.filter(|held| held.in_place).map(|held| held.instance)
    }

    /// After the body: gives the buffer back. A message that the next instance sees again, or that is held in
    /// place, stays.
    pub(crate) fn finish(&mut self, next: &Cursor) {
        let Some(instance) = self.current else { return };
        if self.aliased && self.bindings.at(next) == Some(instance) {
            return;
        }
        match self.held_in_place() {
            None => self.receiver.release_through(instance),
            Some(held) => {
                if let Some(before) = held.checked_sub(1) {
                    self.receiver.release_through(before);
                }
            }
        }
    }

    /// The instance was skipped: nobody takes its message.
    pub(crate) fn pass(&mut self, cursor: &Cursor, next: &Cursor) {
        self.current = self.bindings.at(cursor);
        let Some(instance) = self.current else { return };
        self.follow_activation(instance);
        if self.seen != Some(instance) && self.bindings.at(next) != Some(instance) {
            self.seen = Some(instance);
            let due = self.epoch + self.arrival.of(instance);
            let fate = if self.is_active(instance) { FateCode::Passed } else { FateCode::Inactive };
            let record = MessageRecord { instance, at: Nanos::ZERO, due, size: 0, fate: fate as u8 };
            self.receiver.record(&record);
            self.found = Found::Nothing(Absence::Missing);
        }
        self.finish(next);
    }
}

/// The sending end of a time-driven channel in a task.
pub(crate) struct OutputPort {
    pub(crate) end: u32,
    pub(crate) size: usize,
    sender: Sender,
    bindings: Bindings,
    arrival: Arrival,
    activation: Arc<Activation>,
    epoch: Nanos,
    current: Option<u64>,
    outcome: FateCode,
    inserted: Nanos,
    length: usize,
}

impl OutputPort {
    pub(crate) fn new(
        end: u32,
        size: ByteSize,
        mut sender: Sender,
        bindings: Bindings,
        arrival: Arrival,
    ) -> Self {
        sender.set_first_eligible(0);
        Self {
            end,
            size: size.0 as usize,
            sender,
            bindings,
            arrival,
            activation: Arc::new(Activation::new(arrival)),
            epoch: Nanos::ZERO,
            current: None,
            outcome: FateCode::Missing,
            inserted: Nanos::ZERO,
            length: 0,
        }
    }

    pub(crate) fn activation(&self) -> Arc<Activation> {
        self.activation.clone()
    }

    pub(crate) fn arm(&mut self, epoch: Nanos) {
        self.epoch = epoch;
        self.activation.arm(epoch);
    }

    /// Before the body.
    pub(crate) fn begin(&mut self, cursor: &Cursor) {
        self.current = self.bindings.at(cursor);
        self.outcome = FateCode::Missing;
        self.length = 0;
        if let Some(instance) = self.current {
            if let Some(from) = self.activation.follow(instance) {
                self.sender.set_first_eligible(from);
            }
            let active = self.activation.covers(instance)
                && self.sender.peer_first_eligible() != NOT_ACTIVE
                && instance >= self.sender.peer_first_eligible();
            if !active {
                self.outcome = FateCode::Inactive;
            }
        }
    }

    /// The buffer of this instance, for the body.
    pub(crate) fn slot<'p>(&'p mut self, clock: &'p dyn Clock) -> Result<OutputSlot<'p>, SendRefusal> {
        let Some(instance) = self.current else { return Err(SendRefusal::Inactive) };
        match self.outcome {
            FateCode::Done => return Err(SendRefusal::AlreadySent),
            FateCode::Inactive => return Err(SendRefusal::Inactive),
            _ => {}
        }
        match self.sender.reserve(instance) {
            Ok(slot) => Ok(OutputSlot {
                slot,
                sent: Sent {
                    outcome: &mut self.outcome,
                    inserted: &mut self.inserted,
                    length: &mut self.length,
                },
                most: self.size,
                clock,
            }),
            Err(_) => {
                self.outcome = FateCode::NoBuffer;
                Err(SendRefusal::NoBuffer)
            }
        }
    }

    /// After the body: one record, whatever happened.
    pub(crate) fn finish(&mut self) {
        let Some(instance) = self.current else { return };
        let due = self.epoch + self.arrival.of(instance);
        self.sender.record(&MessageRecord {
            instance,
            at: self.inserted,
            due,
            size: self.length as u32,
            fate: self.outcome as u8,
        });
    }

    /// The instance was skipped: it inserts nothing.
    pub(crate) fn pass(&mut self, cursor: &Cursor) {
        self.begin(cursor);
        self.inserted = Nanos::ZERO;
        self.finish();
    }
}

/// Where an insertion is noted.
pub(crate) struct Sent<'p> {
    outcome: &'p mut FateCode,
    inserted: &'p mut Nanos,
    length: &'p mut usize,
}

impl Sent<'_> {
    pub(crate) fn note(self, inserted: Nanos, length: usize) {
        *self.outcome = FateCode::Done;
        *self.inserted = inserted;
        *self.length = length;
    }
}

#[cfg(test)]
#[path = "port_tests.rs"]
mod tests;
