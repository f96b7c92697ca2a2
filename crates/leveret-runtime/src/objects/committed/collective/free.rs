//! Ends of collective channels that no instant moves. With best effort whoever starts, tests, waits, inserts or removes moves the
//! transfer as far as it goes, at a priority the library's thread of that priority: one at a time at each member, in the order of
//! starts.
//!
//! ```text
//!   buffers taken ──► pieces sent, in the order of rank ──┐
//!                 └─► pieces received, in that order ─────┴──► buffers handed back ──► complete, once all pieces sent were taken
//! ```
//!
//! The leader of a barrier sends only when it has received from everybody.

use super::Collective;
use crate::free_end::{ReceivingEnd, SendingEnd, WaitError};
use crate::message::Outgoing;
use crate::objects::collectives::CollectiveKind;
use crate::objects::committed::ends::{Asked, code_of};
use crate::objects::committed::outcome::Outcome;
use crate::objects::committed::transfer::Arrived;
use crate::objects::committed::{Committed, CommittedChannel, IN_TRANSFER};
use crate::objects::error::Code;
use crate::watch::Watch;
use leveret_memory::Doze;
use leveret_os::clock;
use leveret_types::Nanos;
use std::sync::Arc;

/// Room for transfers that are performed here and whose messages are not all taken, where no buffers bound them.
const UNTAKEN_LEAST: usize = 256;

/// Ends by the rank at the other side.
pub(in crate::objects) type Ranked<T> = Vec<(u32, T)>;

/// This member's end.
pub(in crate::objects) struct FreeCollective {
    pub(in crate::objects::committed) asked: Asked,
    /// By the receiver's rank.
    sends: Box<[(u32, SendingEnd)]>,
    /// By the sender's rank.
    receives: Box<[(u32, ReceivingEnd)]>,
    scratch: Box<[u8]>,
    watch: Arc<Watch>,
    /// The transfer that is being performed.
    current: Option<Current>,
    /// Transfers that were begun, performed here, and complete.
    begun: u64,
    performed: u64,
    ended: u64,
    /// Those that are performed and not complete, by their number.
    untaken: Box<[Untaken]>,
    /// A full buffer that waits for an empty one beside it.
    ready: Option<usize>,
    /// Pieces sent and received.
    moved: u64,
}

/// A transfer that is performed here, and of which not everything that was sent is known to be taken.
#[derive(Clone, Copy, Default)]
struct Untaken {
    outcome: Outcome,
    latency: Option<Nanos>,
    /// What was sent.
    buffer: Option<usize>,
}

struct Current {
    send: Option<usize>,
    receive: Option<usize>,
    /// Pieces sent and received.
    sent: usize,
    received: usize,
    is_valid: bool,
    /// What was to be sent has not the length that the channel asks for.
    is_void: bool,
    arrived: Arrived,
}

impl FreeCollective {
    pub(in crate::objects) fn new(
        collective: &Collective,
        (sends, receives): (Ranked<SendingEnd>, Ranked<ReceivingEnd>),
        watch: Arc<Watch>,
    ) -> Self {
        let buffers = sends.iter().map(|(_, end)| end.buffers() as usize).max();
        let untaken = buffers.unwrap_or(0).max(UNTAKEN_LEAST);
        Self {
            asked: Asked::default(),
            sends: sends.into_boxed_slice(),
            receives: receives.into_boxed_slice(),
            scratch: collective.scratch(),
            watch,
            current: None,
            begun: 0,
            performed: 0,
            ended: 0,
            untaken: vec![Untaken::default(); untaken].into_boxed_slice(),
            ready: None,
            moved: 0,
        }
    }

    /// Asks for so many transfers, whatever was asked before.
    pub(in crate::objects::committed) fn ask_for(&mut self, count: u64) {
        self.asked.ask_for(count);
    }

    /// Whether one is being performed here.
    pub(in crate::objects::committed) fn is_under_way(&self) -> bool {
        self.current.is_some()
    }

    /// Whether the next transfer that is started is the next that is performed.
    pub(in crate::objects::committed) fn is_idle(&self) -> bool {
        self.current.is_none() && self.ready.is_none() && self.asked.pending == 0
    }

    /// Transfers that have begun here.
    pub(in crate::objects::committed) fn begun(&self) -> u64 {
        self.begun
    }

    /// Pieces sent and received here.
    pub(in crate::objects::committed) fn moved(&self) -> u64 {
        self.moved
    }

    /// Changes with whatever moves here.
    pub(in crate::objects::committed) fn steps(&self) -> u64 {
        self.moved + self.begun + self.performed + self.ended
    }

    pub(in crate::objects::committed) fn under_way(&self) -> u64 {
        self.asked.pending + (self.begun - self.ended)
    }

    /// Whether another member of the group is gone.
    pub(in crate::objects::committed) fn is_anyone_dead(&self, collective: &Collective) -> bool {
        collective.others.iter().any(|member| self.watch.is_dead(*member))
    }

    /// Whether every member of the group lives and the job goes on.
    pub(in crate::objects::committed) fn look(&self, collective: &Collective) -> Result<(), Code> {
        if self.is_anyone_dead(collective) {
            Err(code_of(WaitError::PeerDead))
        } else if clock::now() >= self.watch.stop_at() {
            Err(code_of(WaitError::Stopping))
        } else {
            Ok(())
        }
    }

    fn is_there(&self, place: usize) -> bool {
        self.receives.get(place).is_some_and(|(_, end)| end.test())
    }

    /// Whether a piece can be sent or received, or was taken, that could not a moment ago.
    pub(in crate::objects::committed) fn has_news(&self, collective: &Collective) -> bool {
        let begins = || {
            let has_work = self.current.is_none() && self.asked.has_work();
            has_work && collective.sends.is_none() && self.is_there(0)
        };
        self.goes_on(collective) || begins()
    }

    /// The same of the transfers that have begun.
    pub(in crate::objects::committed) fn goes_on(&self, collective: &Collective) -> bool {
        let moves = self.current.as_ref().is_some_and(|current| {
            let has_room = || self.sends.get(current.sent).is_some_and(|(_, end)| end.has_room());
            self.is_there(current.received) || (may_send(collective, self, current) && has_room())
        });
        moves || self.ended < self.performed && self.is_taken(collective, self.ended)
    }

    /// What tells of deaths and of the end of the commit.
    pub(in crate::objects::committed) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Before sleeping until something can be sent or received, or was taken: says so to all other members.
    pub(in crate::objects::committed) fn begin_doze(&self, each: impl FnMut(Doze)) {
        let receives = self.receives.iter().map(|(_, end)| end.begin_doze());
        receives.chain(self.sends.iter().map(|(_, end)| end.begin_doze())).for_each(each);
    }

    /// After the sleep, or instead of it.
    pub(in crate::objects::committed) fn end_doze(&self) {
        self.receives.iter().for_each(|(_, end)| end.end_doze());
        self.sends.iter().for_each(|(_, end)| end.end_doze());
    }

    /// Whether everything that was sent in a transfer was taken. Nobody waits for that in a barrier: who got the word knows all.
    fn is_taken(&self, collective: &Collective, transfer: u64) -> bool {
        collective.kind == CollectiveKind::Barrier
            || self.sends.iter().all(|(_, end)| end.delivered() > transfer)
    }

    fn place_of(&self, transfer: u64) -> usize {
        (transfer % self.untaken.len() as u64) as usize
    }

    fn is_performed(&self, current: &Current) -> bool {
        current.sent == self.sends.len() && current.received == self.receives.len()
    }

    /// The transfers of a barrier's leader and of the other members are ordered by who receives first.
    fn rounds(&self) -> u64 {
        let sends = self.sends.iter().map(|(_, end)| end.buffers());
        let receives = self.receives.iter().map(|(_, end)| end.buffers());
        sends.chain(receives).max().unwrap_or(1)
    }
}

/// The leader of a barrier has more than one to send to; it lets nobody go before all have come.
fn may_send(collective: &Collective, end: &FreeCollective, current: &Current) -> bool {
    let leads = collective.kind == CollectiveKind::Barrier && end.leads();
    !leads || current.received == end.receives.len()
}

impl FreeCollective {
    /// Whether this member has rank 0: rank 0 never sends itself anything in a barrier, and the others send to rank 0 alone.
    fn leads(&self) -> bool {
        self.sends.iter().all(|(rank, _)| *rank != 0)
    }
}

impl Committed {
    /// Moves what was asked for as far as it goes.
    pub(in crate::objects::committed) fn move_collective(
        &self,
        channel: &CommittedChannel,
        end: &mut FreeCollective,
    ) -> Result<(), Code> {
        let Some(collective) = channel.collective.as_deref() else { return Err(Code::Internal) };
        self.end_taken(channel, collective, end);
        // Peers may go on as fast as this member does; a call ends all the same.
        for _ in 0..end.rounds() {
            if end.current.is_none() && !self.begin_collective(collective, end) {
                break;
            }
            self.send_pieces(collective, end)?;
            self.receive_pieces(channel, collective, end);
            if !end.current.as_ref().is_some_and(|current| end.is_performed(current)) {
                break;
            }
            self.perform(channel, collective, end);
        }
        self.end_taken(channel, collective, end);
        Ok(())
    }

    /// Ends what everybody has taken, and hands its buffers back.
    fn end_taken(&self, channel: &CommittedChannel, collective: &Collective, end: &mut FreeCollective) {
        while end.ended < end.performed && end.is_taken(collective, end.ended) {
            let place = end.place_of(end.ended);
            let Untaken { outcome, latency, buffer } = std::mem::take(&mut end.untaken[place]);
            if let Some(buffer) = buffer {
                self.end_sending(collective, buffer);
            }
            self.ended(channel, end.ended, outcome, latency);
            end.ended += 1;
        }
    }

    /// Takes the buffers of the next transfer that was asked for, when they are there: a member that only receives waits for
    /// the first piece before it takes one.
    fn begin_collective(&self, collective: &Collective, end: &mut FreeCollective) -> bool {
        if !end.asked.has_work() || end.performed - end.ended >= end.untaken.len() as u64 {
            return false;
        }
        if let (Some([input, _]), None) = (collective.sends, end.ready) {
            end.ready = self.take_to_send(collective, input);
            if end.ready.is_none() {
                return false;
            }
        }
        let mut receive = None;
        if let Some([input, _]) = collective.receives {
            let is_there = || end.receives.first().is_some_and(|(_, first)| first.test());
            if collective.sends.is_none() && !is_there() {
                return false;
            }
            receive = self.take(input as usize, IN_TRANSFER);
            if receive.is_none() {
                return false;
            }
        }
        let send = end.ready.take();
        let is_void = send.is_some_and(|buffer| !self.is_full_enough(collective, buffer));
        let arrived = Arrived { length: 0, instance: end.begun, inserted: Nanos::ZERO };
        end.current =
            Some(Current { send, receive, sent: 0, received: 0, is_valid: !is_void, is_void, arrived });
        end.asked.take_one();
        end.begun += 1;
        true
    }

    fn send_pieces(&self, collective: &Collective, end: &mut FreeCollective) -> Result<(), Code> {
        let Some(mut current) = end.current.take() else { return Ok(()) };
        let mut sent = Ok(());
        if may_send(collective, end, &current) {
            // A buffer that is too short has no pieces: an empty message says so, and each member counts the transfer.
            while let Some((rank, to)) = end.sends.get_mut(current.sent).filter(|(_, to)| to.has_room()) {
                let mut send = |bytes: &[u8]| {
                    let outgoing = Outgoing { bytes, length: bytes.len(), index: None, is_stamped: true };
                    sent = to.start_outgoing(&outgoing).map(drop).map_err(|_| Code::Internal);
                };
                match current.send {
                    Some(buffer) if !current.is_void => {
                        self.show(buffer, |bytes| send(collective.piece_for(*rank, bytes)));
                    }
                    _ => send(&[]),
                }
                if sent.is_err() {
                    break;
                }
                current.sent += 1;
                end.moved += 1;
            }
        }
        end.current = Some(current);
        sent
    }

    fn receive_pieces(&self, channel: &CommittedChannel, collective: &Collective, end: &mut FreeCollective) {
        let FreeCollective { receives, scratch, current, moved, .. } = end;
        let Some(current) = current else { return };
        while let Some((rank, from)) = receives.get_mut(current.received) {
            let before = from.received();
            let who = (*rank, current.received == 0);
            let mut is_taken = Err(Code::Missed);
            if let Some(message) = from.try_receive() {
                let (length, stamp) = (message.length(), message.stamp());
                let mut take_in = |bytes: &mut [u8]| {
                    let copy = |place: &mut [u8]| message.copy_to(place);
                    is_taken = collective.take_in(bytes, who, length, scratch, copy);
                };
                match current.receive {
                    Some(buffer) => self.buffers[buffer].storage.write(&mut take_in),
                    None => take_in(&mut []),
                }
                let inserted = &mut current.arrived.inserted;
                if *inserted == Nanos::ZERO || stamp < *inserted {
                    *inserted = stamp;
                }
                current.arrived.length = length;
            } else if from.received() == before {
                break;
            }
            // What is nonsense counts too: the members must agree on the number of transfers.
            current.is_valid &= is_taken.is_ok();
            current.received += 1;
            *moved += 1;
        }
        if current.received == receives.len()
            && let Some(buffer) = current.receive.take()
        {
            if collective.kind.is_fixed() {
                current.arrived.length = self.buffers[buffer].size;
            }
            channel.count_copy();
            let arrived = current.is_valid.then_some(current.arrived);
            self.end_reception(collective, buffer, arrived);
        }
    }

    /// Everything was sent and received.
    fn perform(&self, channel: &CommittedChannel, collective: &Collective, end: &mut FreeCollective) {
        let Some(current) = end.current.take() else { return };
        if current.send.is_some() {
            channel.count_copy();
        }
        let outcome = if current.is_valid { Outcome::Complete } else { Outcome::Invalid };
        let inserted = current.arrived.inserted;
        let is_received = collective.receives.is_some() && inserted != Nanos::ZERO && current.is_valid;
        let latency = is_received.then(|| clock::now() - inserted);
        let place = end.place_of(end.performed);
        end.untaken[place] = Untaken { outcome, latency, buffer: current.send };
        end.performed += 1;
    }
}
