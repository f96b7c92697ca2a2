//! What comes over the control socket: who connects, and what members say.

use super::Agent;
use super::words::{self, cut, own_words};
use crate::aside::{MemberConnection, PassedFiles};
use crate::members::{Peer, Seat};
use leveret_memory::LAYOUT_VERSION;
use leveret_os::control::{BODY_BYTES_MAX, Connection, Frame, ReceiveError, SendError};
use leveret_os::{clock, host};
use leveret_protocol::control::{
    CONTROL_VERSION, EndReason, FromMember, Place, RefusalCause, ToMember, Wish, decode_from_member, encode,
};
use leveret_protocol::coordinator::Stage;
use leveret_report::record::{Ending, EventKind};
use leveret_types::{Generation, MemberId};
use std::sync::Arc;
use std::time::Duration;

/// A member that does not read its messages, or reads them slowly, may hold up the others for this long, once.
const DEAF_AFTER: Duration = Duration::from_secs(1);
/// Frames taken from one connection per turn, so that a flooding member cannot starve the others.
const FRAMES_PER_TURN: usize = 64;
/// Messages of one member with descriptors that are being closed: none is where closing them takes no time.
const CLOSING_MAX: u64 = 8;
/// And so many bytes, about: a long message comes in the course of several turns.
const BYTES_PER_TURN: usize = 1 << 20;
/// Warnings that are kept of one member.
const WARNINGS_OF_MEMBER_MAX: u32 = 256;

impl Agent<'_> {
    pub(super) fn on_connection(&mut self) {
        match self.listener.accept() {
            Ok(connection) => self.strangers.admit(connection, clock::now()),
            Err(error) => {
                self.strangers.turn_away();
                self.warn([error.to_string()]);
            }
        }
    }

    /// A connection that has not said who it is.
    pub(super) fn on_stranger(&mut self, index: usize) {
        let Some((connection, Frame { bytes, fds })) = self.strangers.hear(index) else { return };
        // A Hello needs none.
        drop(PassedFiles::new(fds, &self.strangers_files));
        match self.welcome(&connection, &bytes) {
            Ok(rank) => self.take_seat(rank, connection),
            Err(reason) => {
                let cause = RefusalCause::Over;
                let refused = ToMember::Refused { reason, cause, mismatches: Vec::new(), may_retry: false };
                // It may be gone already; then there is nobody to tell.
                let _ = connection.send(&encode(&refused), &[]);
            }
        }
    }

    /// Checks who connects: same user, the secret of that member's process, and not there already. Gives the rank of who is welcome.
    fn welcome(&self, connection: &Connection, hello: &[u8]) -> Result<usize, String> {
        let hello = decode_from_member(hello).map_err(|error| cut(&error.to_string()))?;
        let FromMember::Hello { version, layout, token, member } = hello else {
            return Err("the first message must be Hello".to_owned());
        };
        if (version, layout) != (CONTROL_VERSION, LAYOUT_VERSION) {
            return Err(format!(
                "member \"{}\" was built with another version of the library than this agent's (control protocol {version} and memory layout \
                 {layout}, not {CONTROL_VERSION} and {LAYOUT_VERSION}); build it again with the library that belongs to `leveret`",
                cut(&member)
            ));
        }
        let peer = connection.peer_credentials().map_err(|error| error.to_string())?;
        if !host::is_same_user(peer.uid) {
            return Err(format!("process {} of user {} may not join this user's job", peer.pid, peer.uid));
        }
        let names = || self.config.declaration.members.iter().map(|member| member.name.clone());
        let rank = names()
            .position(|name| name == member)
            .ok_or_else(|| format!("there is no member \"{}\"", cut(&member)))?;
        let seat = &self.seats[rank];
        if seat.token.is_empty() || seat.token != token {
            return Err(format!("the secret of member \"{member}\" does not fit"));
        }
        if seat.connection.is_some() {
            return Err(format!("member \"{member}\" has joined already"));
        }
        let welcome = ToMember::Welcome {
            job: self.config.declaration.name.clone(),
            rank: MemberId(rank as u16),
            members: names().collect(),
            scheduling: self.config.scheduling,
            restarted: seat.restarted,
            attempt: self.coordinator.attempt(),
        };
        connection.set_send_timeout(Some(DEAF_AFTER));
        connection.send(&encode(&welcome), &[]).map_err(|error| error.to_string())?;
        Ok(rank)
    }

    /// Makes the connection that was welcomed a member's.
    fn take_seat(&mut self, rank: usize, connection: MemberConnection) {
        connection.set_receive_limit(BODY_BYTES_MAX);
        let pid = connection.peer_credentials().map_or(0, |peer| peer.pid);
        let seat = &mut self.seats[rank];
        seat.connection = Some(Arc::new(connection));
        seat.joined = true;
        seat.peer = if pid == 0 { None } else { Peer::of(pid).ok() };
        self.patience.joined(rank);
        if pid != 0 {
            // Another service of the host may have started it for the job.
            self.families.look();
            self.families.adopt(pid);
        }
    }

    pub(super) fn on_frames(&mut self, rank: usize) {
        let Some(connection) = self.seats[rank].connection.clone() else { return };
        let mut bytes_left = BYTES_PER_TURN;
        for _ in 0..FRAMES_PER_TURN {
            match connection.receive_some(&mut bytes_left) {
                Ok(Some(Frame { bytes, fds })) => {
                    let files = PassedFiles::new(fds, &self.seats[rank].closing);
                    self.on_frame(rank, &bytes, files);
                    // Frames after a protocol violation are ignored.
                    if self.seats[rank].expelled.is_some() {
                        return;
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    self.seats[rank].connection = None;
                    if matches!(error, ReceiveError::Closed) {
                        self.patience.leaving(rank, clock::now());
                    } else {
                        self.expel(rank, &error.to_string());
                    }
                    return self.let_go();
                }
            }
        }
    }

    /// Whether a message may carry so many descriptors, and its member has not passed too many that are slow to close.
    fn allows(&self, rank: usize, message: &FromMember, files: &PassedFiles) -> Result<(), String> {
        let carries = usize::from(matches!(message, FromMember::Segment { .. }));
        if files.count() > carries {
            let count = files.count();
            return Err(match carries {
                0 => format!("it sent {count} descriptors with a message that carries none"),
                _ => "a segment message carries one descriptor".to_owned(),
            });
        }
        match self.seats[rank].closing.count() > CLOSING_MAX {
            true => Err("it has passed descriptors that take too long to close".to_owned()),
            false => Ok(()),
        }
    }

    fn on_frame(&mut self, rank: usize, bytes: &[u8], files: PassedFiles) {
        let member = MemberId(rank as u16);
        let mut message = match decode_from_member(bytes) {
            Ok(message) => message,
            Err(error) => return self.expel(rank, &cut(&error.to_string())),
        };
        if let Err(reason) = self.allows(rank, &message, &files) {
            return self.expel(rank, &reason);
        }
        if self.seats[rank].gave_up.is_some() {
            return;
        }
        if self.take_word(rank, &message) {
            return;
        }
        words::bound(&mut message);
        let message = self.worded(rank, message);
        let Some((message, files)) = self.take_group_message(rank, message, files) else {
            return self.let_go();
        };
        match &message {
            FromMember::Segment { generation, size } => {
                let taken = if self.is_beside(*generation) {
                    self.take_mode_segment(rank, (*generation, *size), files)
                } else {
                    self.take_segment(rank, *size, files)
                };
                if let Err(reason) = taken {
                    return self.expel(rank, &reason);
                }
            }
            FromMember::Ready { generation, threads, scheduling, warnings } => {
                let taken = if self.is_beside(*generation) {
                    self.take_mode_ready(rank, *generation, threads)
                } else {
                    self.take_ready(rank, threads)
                };
                if let Err(reason) = taken {
                    return self.expel(rank, &reason);
                }
                self.take_scheduling(rank, scheduling);
                self.warn_of(rank, warnings);
            }
            FromMember::Leave if self.coordinator.stage() == Stage::Gathering => {
                self.seats[rank].leaving = true;
                self.lost_to_groups(rank, (true, false), "left");
                return self.let_go();
            }
            _ => {}
        }
        let actions = self.coordinator.message(member, message);
        self.act(actions);
        self.let_go();
    }

    /// What a member says of itself, whatever it has committed. Says whether it is that.
    fn take_word(&mut self, rank: usize, message: &FromMember) -> bool {
        match message {
            FromMember::GiveUp(wish) => self.on_giving_up(rank, wish),
            FromMember::Abort { code, message } => self.on_abort(rank, code.get(), message),
            FromMember::RunsFailed { what, times } => {
                let (member, what, times) = (rank as u16, own_words(what), *times);
                self.event_of_member(rank, clock::now(), EventKind::RunsFailed { member, what, times });
            }
            FromMember::RunOverran { what } => {
                let name = &self.config.launch[rank].member;
                let warning = format!(
                    "{} of member \"{name}\" has used more than its budget; what is less urgent beside it may be later than the plan says. The \
                     program counts how often: MPIRTX_Handler_get_metrics, MPIRTX_Task_get_metrics",
                    own_words(what)
                );
                self.warn_of(rank, &[warning]);
            }
            _ => return false,
        }
        true
    }

    /// Passes on warnings from a member or about it, up to a number of different texts that no honest member reaches.
    pub(super) fn warn_of(&mut self, rank: usize, warnings: &[String]) {
        // Further warnings in one message are not even compared with the known ones.
        for warning in warnings.iter().take(2 * WARNINGS_OF_MEMBER_MAX as usize) {
            let warned = &mut self.seats[rank].warned;
            if *warned > WARNINGS_OF_MEMBER_MAX {
                return;
            }
            let warning = own_words(warning);
            // Each commit may repeat what an earlier one warned of.
            if self.facts.warnings.contains(&warning) {
                continue;
            }
            *warned += 1;
            let warning = if *warned > WARNINGS_OF_MEMBER_MAX {
                let name = &self.config.launch[rank].member;
                format!(
                    "member \"{name}\" has given {WARNINGS_OF_MEMBER_MAX} warnings; its further ones are left out"
                )
            } else {
                warning
            };
            self.warn([warning]);
        }
    }

    /// What a member has obtained for its tasks goes into the record, beside what the others have.
    pub(super) fn take_scheduling(&mut self, rank: usize, alleged: &str) {
        self.obtained.take(rank, alleged);
        let launch = &self.config.launch;
        self.facts.scheduling = self.obtained.told(|rank| launch[rank].member.as_str());
    }

    /// A member has failed and is about to end: it has its time to say why. Its death is what the others and the policy learn of.
    fn on_giving_up(&mut self, rank: usize, wish: &Wish) {
        let now = clock::now();
        let (since, why) = (wish.at.min(now), self.words_of(rank, wish));
        let is_after_end = self.has_been_ended(rank, now);
        // One that fails since the run is being ended is recorded as ended for that.
        if !is_after_end {
            let kind = EventKind::GaveUp { member: rank as u16, since, why: why.clone() };
            self.event_of_member(rank, now, kind);
        }
        self.seats[rank].gave_up = Some(why);
        self.seats[rank].gave_up_after_end = is_after_end;
        self.patience.leaving(rank, now);
    }

    /// Notes in the record that a member asks for the end of the run, and adds the name of the task or channel for which it does, which it does not know.
    fn worded(&mut self, rank: usize, mut message: FromMember) -> FromMember {
        if let FromMember::Finished { stop: Some(wish), .. } = &mut message {
            let now = clock::now();
            wish.why = self.words_of(rank, wish);
            let (since, why) = (wish.at.min(now), wish.why.clone());
            self.event_of_member(rank, now, EventKind::StopAsked { member: rank as u16, since, why });
        }
        message
    }

    /// Why a member wants the end, and for which of its instances.
    fn words_of(&mut self, rank: usize, wish: &Wish) -> String {
        let why = own_words(&wish.why);
        let (member, now) = (MemberId(rank as u16), clock::now());
        match self.monitor_of(rank).and_then(|monitor| monitor.name_of(member, wish.place, now)) {
            Some(place) => format!("{why}: {place}"),
            None => why,
        }
    }

    /// A member ends the whole job, whatever a death would have meant: the others stop, and nobody is started again. The first cause of
    /// an end stands.
    fn on_abort(&mut self, rank: usize, code: u8, message: &str) {
        let member = self.config.launch[rank].member.clone();
        let why = format!("it aborted the job with code {code}");
        self.on_giving_up(rank, &Wish { at: clock::now(), why, place: Place::Nowhere });
        let abort = Ending::Aborted { member, code, message: own_words(message) };
        let why = abort.reason().unwrap_or_default();
        self.note(&why);
        // Whoever asks for the end while the job is being interrupted still says with which code.
        if matches!(self.ending, Ending::Completed | Ending::Interrupted) {
            self.ending = abort;
        }
        let stop = EndReason::Stopped(why);
        self.stop_groups(&stop);
        let actions = self.coordinator.stop(stop);
        self.act(actions);
    }

    /// Lets those go that commit nothing more, once nobody else may; whoever wants a commit is told that they are gone.
    pub(super) fn let_go(&mut self) {
        if !self.seats.iter().any(|seat| seat.leaving) || self.coordinator.stage() != Stage::Gathering {
            return;
        }
        if !self.coordinator.awaited().is_empty() {
            for rank in (0..self.seats.len()).filter(|rank| self.seats[*rank].leaving).collect::<Vec<_>>() {
                let actions = self.coordinator.left(MemberId(rank as u16));
                self.act(actions);
            }
        }
        if self.seats.iter().any(Seat::may_commit) {
            return;
        }
        let now = clock::now();
        for rank in 0..self.seats.len() {
            if self.seats[rank].leaving && self.seats[rank].connection.take().is_some() {
                self.patience.leaving(rank, now);
            }
        }
    }

    /// Whether a message is of a mode, or of one that was refused, beside what runs.
    fn is_beside(&self, generation: Generation) -> bool {
        let runs = matches!(self.coordinator.stage(), Stage::Running | Stage::Finishing);
        runs && generation != self.coordinator.generation()
    }

    pub(super) fn broadcast(&mut self, message: &ToMember) {
        self.send_to(0..self.seats.len(), &encode(message));
    }

    /// To members of these ranks. Whoever cannot be told, for whatever reason, is expelled: it would wait without end, and the others for it.
    pub(super) fn send_to(&mut self, ranks: impl IntoIterator<Item = usize>, message: &[u8]) {
        let mut untold = Vec::new();
        for rank in ranks {
            // Whoever did not read before would hold up the others again.
            if self.seats[rank].expelled.is_some() {
                continue;
            }
            let sent = self.seats[rank].connection.as_ref().map(|connection| connection.send(message, &[]));
            // A member that is gone shows as dead by its process descriptor.
            if let Some(Err(error)) = sent
                && error != SendError::Closed
            {
                untold.push((rank, error.to_string()));
            }
        }
        for (rank, error) in untold {
            self.expel(rank, &error);
        }
    }
}
