//! A task's channel ends: what happens to them before, during and after the body of each instance.

use crate::activation::{Activation, Part, Spans};
use crate::declare::Lead;
use crate::gate::Gate;
use crate::message::{Absence, Input, Message, MessageBody, OutputSlot, SendRefusal};
use crate::succession::{Heir, Line};
use crate::timing::{Arrival, Bindings, Cursor};
use crate::watch::Watch;
use leveret_memory::{
    MessageRecord, ParticipationReader, ParticipationWriter, Receiver, Sender, Taken, Torn,
};
use leveret_plan::{Channel, MissingPolicy, Placement, Qos};
use leveret_protocol::control::Place;
use leveret_types::{ByteSize, ChannelId, Clock, MemberId, Nanos};
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
    /// It was there in time, and the application had no buffer for it (target).
    NoRoom = 11,
    /// The payload does not sum up to the checksum that its sender published with it (target).
    Damaged = 12,
    /// Something in this end's own process had written over its words in its segment; they are as they were again (target).
    Restored = 13,
    /// Refused: longer than the channel's size (source); the record's size is the length that was asked for.
    TooLong = 14,
}

/// What the present instance finds.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// The message with this instance, inserted then, this long.
    Fresh { instance: u64, inserted: Nanos, length: usize, index: Option<u32> },
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
    channel: ChannelId,
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
    /// Whether the present task instance is the first that meets its channel instance.
    is_new: bool,
    peer: ParticipationReader,
    told: ParticipationWriter,
    /// How many of the transfers started here the sender had answered one instance ago.
    answered_before: u64,
    /// Transfers started here that end with the present instance.
    ending: u64,
    /// Of these, answered by messages that came too late to be seen; and instances that nobody took.
    passed: u64,
    /// Messages for which the application had no buffer.
    lacked: u64,
    /// Transfers that were started here and had their instance.
    settled: u64,
    lead: Option<Lead>,
    /// Of an end that may be kept in another mode.
    line: Option<Line<InputPort>>,
}

impl Heir for InputPort {
    fn line(&self) -> Option<&Line<Self>> {
        self.line.as_ref()
    }

    fn line_mut(&mut self) -> &mut Option<Line<Self>> {
        &mut self.line
    }

    fn begin_as(&mut self, fresh: &mut Self) {
        self.end = fresh.end;
        self.receiver.report_as(&mut fresh.receiver);
        let base = self.arrival.instances_between(self.epoch, fresh.epoch);
        std::mem::swap(&mut self.bindings, &mut fresh.bindings);
        self.bindings.begin_at(base);
    }
}

impl InputPort {
    pub(crate) fn new(
        end: u32,
        (channel, declared): (ChannelId, &Channel),
        receiver: Receiver,
        bindings: Bindings,
        first: u64,
        (arrival, initial): (Arrival, Spans),
    ) -> Self {
        let aliased = declared.placement == Placement::Aliased;
        let policy = match declared.qos {
            Qos::TimeDriven { missing, .. } => missing,
            _ => MissingPolicy::Skip,
        };
        let holds = policy == MissingPolicy::HoldLast;
        let memory =
            |needed: bool| vec![0; if needed { declared.size.0 as usize } else { 0 }].into_boxed_slice();
        let (peer, told) = (receiver.peer_participation(), receiver.participation());
        Self {
            end,
            channel,
            source: declared.source,
            receiver,
            bindings,
            first,
            arrival,
            activation: Arc::new(Activation::new(arrival, initial, told.clone())),
            policy,
            copy: memory(!aliased || holds),
            spare: memory(!aliased && holds),
            aliased,
            epoch: Nanos::ZERO,
            found: Found::Nothing(Absence::BeforeFirst),
            held: None,
            current: None,
            seen: None,
            is_new: false,
            peer,
            told,
            answered_before: 0,
            ending: 0,
            passed: 0,
            lacked: 0,
            settled: 0,
            lead: None,
            line: None,
        }
    }

    /// Into the records of the mode, unless the instance is one of before.
    fn record(&mut self, record: &MessageRecord) {
        if let Some(instance) = self.bindings.within_mode(record.instance) {
            self.receiver.record(&MessageRecord { instance, ..*record });
        }
    }

    /// Something else decides when this end takes part, or it decides for others.
    pub(crate) fn lead(&mut self, lead: &Lead) {
        self.lead = Some(lead.clone());
    }

    pub(crate) fn activation(&self) -> Arc<Activation> {
        self.activation.clone()
    }

    pub(crate) fn arm(&mut self, epoch: Nanos) {
        self.epoch = self.arrival.origin(epoch);
        self.bindings.arm(epoch);
        self.activation.arm(epoch);
        if self.succeeds() {
            return;
        }
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
        self.record(&MessageRecord { instance, at, due, size: 0, fate: fate as u8 });
    }

    /// Finds the planned message of this instance, and copies it into own memory unless the end is aliased.
    pub(crate) fn gather(&mut self, cursor: &Cursor, clock: &dyn Clock, watch: &Watch) {
        self.is_new = false;
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
        self.is_new = true;
        if let Some(before) = instance.checked_sub(1)
            && self.held_in_place().is_none()
        {
            self.receiver.release_through(before);
        }
        let due = self.epoch + self.arrival.of(instance);
        let part = match &self.lead {
            Some(Lead::Follows(gate)) if !gate.is_open(instance) => Part::None,
            _ => self.activation.part(instance),
        };
        self.found = self.look(instance, due, part, watch);
        if let (Found::Fresh { .. }, Some(Lead::Opens(gate))) = (self.found, &self.lead) {
            gate.open(instance);
        }
        self.settle(part);
        if let Found::Nothing(_) = self.found {
            self.take_home();
        }
        self.account(instance, due, clock.now().latest, watch);
    }

    fn look(&mut self, instance: u64, due: Nanos, part: Part, watch: &Watch) -> Found {
        if part == Part::None {
            return Found::Nothing(Absence::Inactive);
        }
        match self.take(instance, due) {
            Ok(found) => found,
            Err(Absence::Missing) => match self.peer.served(instance) {
                // The sender took part: if its message is there by now, it came while we looked.
                Some(true) => Found::Nothing(self.take(instance, due).err().unwrap_or(Absence::Missing)),
                Some(false) => Found::Nothing(Absence::Inactive),
                // A single shot's sender always says what it decided; it is late.
                None if !self.is_once() && (part == Part::Started || !self.sender_is_active(instance)) => {
                    Found::Nothing(Absence::Inactive)
                }
                None if watch.is_dead(self.source) => Found::Nothing(Absence::PeerDead),
                None => Found::Nothing(Absence::Missing),
            },
            Err(absence) => Found::Nothing(absence),
        }
    }

    /// The message of `instance`, brought home unless the end is aliased.
    fn take(&mut self, instance: u64, due: Nanos) -> Result<Found, Absence> {
        match self.receiver.take(instance) {
            Taken::Message(message) => {
                let (inserted, length, index) = (message.stamp(), message.length(), message.index());
                if inserted > due {
                    return Err(Absence::Late(inserted - due));
                }
                let into = if self.spare.is_empty() { &mut self.copy } else { &mut self.spare };
                let taken = match self.aliased {
                    false => message.copy_to(into).map(|_| ()),
                    // The program reads it where it lies; damage up to here is found before it does.
                    true if message.has_checksum() => message.validate(),
                    true => Ok(()),
                };
                match taken {
                    Ok(()) => {
                        if !self.spare.is_empty() {
                            std::mem::swap(&mut self.copy, &mut self.spare);
                        }
                        Ok(Found::Fresh { instance, inserted, length, index })
                    }
                    Err(Torn::Overwritten { .. }) => Err(Absence::Invalid),
                    Err(Torn::Corrupt { .. }) => Err(Absence::Corrupt),
                }
            }
            Taken::NotYet => Err(Absence::Missing),
            Taken::Stale | Taken::Invalid(_) => Err(Absence::Invalid),
        }
    }

    /// Which transfers that were started here end with the present instance: the one that it performs or misses, and those
    /// whose message came after their instance. What the sender had answered one instance ago was for this one at most.
    fn settle(&mut self, part: Part) {
        let is_over =
            self.is_once() || !matches!(self.found, Found::Nothing(Absence::Inactive | Absence::BeforeFirst));
        let ending = u64::from(part == Part::Started && is_over);
        let settled = self.settled.saturating_add(ending);
        let lost = self.answered_before.saturating_sub(settled);
        let lost = lost.min(self.activation.started().saturating_sub(settled));
        self.ending = ending + lost;
        self.settled = settled.saturating_add(lost);
        self.passed = self.passed.saturating_add(lost);
        self.answered_before = self.peer.answered().unwrap_or(self.answered_before);
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

    /// Whether the sender says that it is active in `instance`; what something has written over does not excuse it.
    fn sender_is_active(&self, instance: u64) -> bool {
        self.peer.spans().is_none_or(|spans| Spans::of(spans).covers(instance))
    }

    /// The channel instance that the present task instance is the first to meet.
    pub(crate) fn news(&self) -> Option<u64> {
        self.current.filter(|_| self.is_new)
    }

    /// Whether this end is active in the present instance.
    pub(crate) fn is_active(&self) -> bool {
        self.current.is_some_and(|instance| self.activation.covers(instance))
    }

    /// Whether there is one instance only, which is not made up for by a later one.
    fn is_once(&self) -> bool {
        self.arrival.is_once()
    }

    /// Whether the program hears of the present instance even if the other end took no part in it.
    pub(crate) fn is_awaited(&self) -> bool {
        self.is_active() || self.is_once() && self.ending > 0
    }

    /// Whether the sender says that both ends took part in the present instance.
    pub(crate) fn sender_took_part(&self) -> bool {
        self.current.is_some_and(|instance| self.peer.served(instance) == Some(true))
    }

    /// Whether a miss ends the job.
    pub(crate) fn stops(&self) -> bool {
        self.policy == MissingPolicy::Stop
    }

    /// Instances that were missed without being seen, since the last call.
    pub(crate) fn take_passed(&mut self) -> u64 {
        std::mem::take(&mut self.passed)
    }

    /// How many transfers that were started here end with the present instance. The caller ends them, later than this task.
    pub(crate) fn defer_ending(&mut self) -> u64 {
        std::mem::take(&mut self.ending)
    }

    /// The application has no buffer for the present message: the sender and the watcher are told.
    pub(crate) fn lack(&mut self, at: Nanos) {
        let Some(instance) = self.current else { return };
        self.report(FateCode::NoRoom, at);
        self.lacked += 1;
        self.told.tell_lacked(self.lacked, instance);
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
            Found::Nothing(Absence::Corrupt) => {
                self.receiver.count_invalid();
                (FateCode::Damaged, 0)
            }
            Found::Nothing(Absence::Inactive | Absence::BeforeFirst | Absence::NotThisTask) => {
                (FateCode::Inactive, 0)
            }
            Found::Nothing(Absence::Missing | Absence::PeerDead) => {
                self.receiver.count_missing();
                (FateCode::Missing, 0)
            }
        };
        if self.policy == MissingPolicy::Stop
            && matches!(fate, FateCode::Late | FateCode::Missing | FateCode::Invalid | FateCode::Damaged)
        {
            watch.request_stop(
                "a message of a channel with the policy `missing = \"stop\"` did not arrive in time",
                Place::Channel(self.channel.0, instance),
            );
        }
        self.record(&MessageRecord { instance, at: now, due, size: size as u32, fate: fate as u8 });
    }

    /// The message of the present instance, for the body.
    pub(crate) fn message(&mut self) -> Input<'_> {
        match self.found {
            Found::Fresh { instance, inserted, index, .. } if self.aliased => match self
                .receiver
                .take(instance)
            {
                Taken::Message(message) => {
                    Input::Message(Message { instance, inserted, index, body: MessageBody::Shared(message) })
                }
                Taken::NotYet | Taken::Stale | Taken::Invalid(_) => Input::Absent(Absence::Invalid),
            },
            Found::Fresh { instance, inserted, length, index } => {
                let body = MessageBody::Own(&self.copy[..length]);
                Input::Message(Message { instance, inserted, index, body })
            }
            Found::Nothing(absence) => match (self.policy, self.held) {
                (MissingPolicy::HoldLast, Some(Held { instance, inserted, length, .. })) => {
                    let body = MessageBody::Own(&self.copy[..length]);
                    Input::Held(Message { instance, inserted, index: None, body }, absence)
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
        for _ in 0..std::mem::take(&mut self.ending) {
            self.activation.finish_one();
        }
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
        if self.seen != Some(instance) {
            if self.bindings.at(next) == Some(instance) {
                return; // Nobody has brought it home yet: it stays where it lies for the next.
            }
            self.seen = Some(instance);
            let due = self.epoch + self.arrival.of(instance);
            let part = self.activation.part(instance);
            let is_sent = self.receiver.is_there(instance) || self.peer.served(instance) == Some(true);
            let is_missed = match part {
                Part::None => false,
                Part::Started => is_sent,
                Part::Active => is_sent || self.sender_is_active(instance),
            };
            self.found = Found::Nothing(if is_missed { Absence::Missing } else { Absence::Inactive });
            self.settle(part);
            self.passed += u64::from(is_missed);
            let fate = if is_missed { FateCode::Passed } else { FateCode::Inactive };
            let record = MessageRecord { instance, at: Nanos::ZERO, due, size: 0, fate: fate as u8 };
            self.record(&record);
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
    peer: ParticipationReader,
    told: ParticipationWriter,
    part: Part,
    peer_part: Part,
    /// When the receiver takes part, as it last said legibly.
    peer_spans: Spans,
    /// Transfers started by the receiver that had their instance.
    answered: u64,
    /// Whether both ends took part in the last instances, the latest in the lowest bit.
    history: u8,
    /// Instances in which both ends took part and nothing ran here.
    passed: u64,
    /// Of the messages that found no buffer at the receiver, how many were told.
    lacked: u64,
    gate: Option<Arc<Gate>>,
    /// Of an end that may be kept in another mode.
    line: Option<Line<OutputPort>>,
}

impl Heir for OutputPort {
    fn line(&self) -> Option<&Line<Self>> {
        self.line.as_ref()
    }

    fn line_mut(&mut self) -> &mut Option<Line<Self>> {
        &mut self.line
    }

    fn begin_as(&mut self, fresh: &mut Self) {
        self.end = fresh.end;
        self.sender.report_as(&mut fresh.sender);
        let base = self.arrival.instances_between(self.epoch, fresh.epoch);
        std::mem::swap(&mut self.bindings, &mut fresh.bindings);
        self.bindings.begin_at(base);
    }
}

impl OutputPort {
    pub(crate) fn new(
        end: u32,
        size: ByteSize,
        sender: Sender,
        bindings: Bindings,
        (arrival, initial): (Arrival, Spans),
    ) -> Self {
        let (peer, told) = (sender.peer_participation(), sender.participation());
        Self {
            end,
            size: size.0 as usize,
            sender,
            bindings,
            arrival,
            activation: Arc::new(Activation::new(arrival, initial, told.clone())),
            epoch: Nanos::ZERO,
            current: None,
            outcome: FateCode::Missing,
            inserted: Nanos::ZERO,
            length: 0,
            peer,
            told,
            part: Part::None,
            peer_part: Part::None,
            peer_spans: Spans::IDLE,
            answered: 0,
            history: 0,
            passed: 0,
            lacked: 0,
            gate: None,
            line: None,
        }
    }

    /// Something else decides when this end takes part.
    pub(crate) fn lead(&mut self, lead: &Lead) {
        if let Lead::Follows(gate) = lead {
            self.gate = Some(gate.clone());
        }
    }

    pub(crate) fn activation(&self) -> Arc<Activation> {
        self.activation.clone()
    }

    pub(crate) fn arm(&mut self, epoch: Nanos) {
        self.epoch = self.arrival.origin(epoch);
        self.bindings.arm(epoch);
        self.activation.arm(epoch);
    }

    /// Before the body.
    pub(crate) fn begin(&mut self, cursor: &Cursor) {
        self.current = self.bindings.at(cursor);
        self.outcome = FateCode::Missing;
        self.length = 0;
        (self.part, self.peer_part) = (Part::None, Part::None);
        if let Some(instance) = self.current {
            if self.gate.as_ref().is_none_or(|gate| gate.is_open(instance)) {
                self.part = self.activation.part(instance);
            }
            self.peer_part = self.part_of_peer(instance);
        }
        if !self.is_open() {
            self.outcome = FateCode::Inactive;
        }
    }

    /// This end takes no part in the present instance after all, and nothing was sent in it.
    pub(crate) fn abstain(&mut self) {
        self.part = Part::None;
        self.outcome = FateCode::Inactive;
    }

    /// The receiver has every buffer in which a message of the present instance could be.
    pub(crate) fn lack(&mut self) {
        if self.outcome == FateCode::Missing {
            self.outcome = FateCode::NoBuffer;
        }
    }

    /// Whether both ends take part in the present instance.
    pub(crate) fn is_open(&self) -> bool {
        self.part != Part::None && self.peer_part != Part::None
    }

    /// Whether this end is active in the present instance.
    pub(crate) fn is_active(&self) -> bool {
        self.part == Part::Active
    }

    /// Whether the program hears of the present instance even if the other end takes no part in it.
    pub(crate) fn is_awaited(&self) -> bool {
        self.is_active() || self.arrival.is_once() && self.part == Part::Started
    }

    /// The channel instance of the present task instance.
    pub(crate) fn instance(&self) -> Option<u64> {
        self.current
    }

    /// Whether what was inserted was inserted too late.
    pub(crate) fn is_late(&self) -> bool {
        let due = self.current.map(|instance| self.epoch + self.arrival.of(instance));
        self.outcome == FateCode::Done && due.is_some_and(|due| self.inserted > due)
    }

    /// Instances that were missed while nothing ran here, since the last call.
    pub(crate) fn take_passed(&mut self) -> u64 {
        std::mem::take(&mut self.passed)
    }

    /// How many messages found no buffer at the receiver, and which was the last, if it can be read.
    pub(crate) fn peer_lacked(&self) -> Option<(u64, u64)> {
        self.peer.lacked()
    }

    /// How many more messages found no buffer at the receiver since the last call, and which was the last.
    pub(crate) fn take_lacked(&mut self) -> Option<(u64, u64)> {
        let (lacked, last) = self.peer_lacked()?;
        let news = lacked.checked_sub(self.lacked).filter(|news| *news > 0)?;
        self.lacked = lacked;
        Some((news, last))
    }

    fn part_of_peer(&mut self, instance: u64) -> Part {
        self.peer_spans = self.peer.spans().map_or(self.peer_spans, Spans::of);
        if self.peer_spans.covers(instance) {
            Part::Active
        } else if self.peer.started().is_some_and(|started| started > self.answered) {
            Part::Started
        } else {
            Part::None
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
        // None from before the mode is sent in it.
        if let Some(instance) = self.bindings.within_mode(instance) {
            self.sender.record(&MessageRecord {
                instance,
                at: self.inserted,
                due,
                size: u32::try_from(self.length).unwrap_or(u32::MAX),
                fate: self.outcome as u8,
            });
        }
        self.tell(instance);
    }

    /// Tells the receiver what was decided on `instance`, and ends the transfers that were started for it.
    fn tell(&mut self, instance: u64) {
        // What was started for a single shot has no other instance to wait for.
        if self.part == Part::Started && (self.is_open() || self.arrival.is_once()) {
            self.activation.finish_one();
        }
        if self.is_open() && self.peer_part == Part::Started {
            self.answered += 1;
            self.told.tell_answered(self.answered);
        }
        self.history = self.history << 1 | u8::from(self.is_open());
        self.told.tell_served(instance, self.history);
    }

    /// The instance was skipped: it inserts nothing.
    pub(crate) fn pass(&mut self, cursor: &Cursor) {
        self.begin(cursor);
        self.inserted = Nanos::ZERO;
        self.passed += u64::from(self.is_open());
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
    /// A message of this length was refused. Another may follow in the same instance.
    pub(crate) fn refuse(&mut self, length: usize) {
        *self.outcome = FateCode::TooLong;
        *self.length = length;
    }

    pub(crate) fn note(self, inserted: Nanos, length: usize) {
        *self.outcome = FateCode::Done;
        *self.inserted = inserted;
        *self.length = length;
    }
}

#[cfg(test)]
#[path = "port_tests.rs"]
pub(crate) mod tests;
