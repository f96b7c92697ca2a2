//! Members as processes: started, watched, stopped.

use crate::aside::{Closing, MemberConnection};
use crate::output::{Carriers, Destination};
use crate::reap;
use leveret_memory::Region;
use leveret_os::control::poll;
use leveret_os::process::{Change, Child, PidFd, Signal, Spawn, Stream, WatchError, spawn};
use leveret_os::{streams, threads_of};
use leveret_runtime::{JOB_VARIABLE, MEMBER_VARIABLE, OUTPUT_VARIABLE, SOCKET_VARIABLE, TOKEN_VARIABLE};
use leveret_types::Nanos;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How one member is started.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    /// The member's name.
    pub member: String,
    /// The program, already found.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables beside the inherited ones.
    pub environment: Vec<(String, String)>,
    /// Whether what it prints goes to standard error, and standard output is left to the report.
    pub stdout_to_stderr: bool,
}

/// A member's segment as the agent holds it.
pub(crate) struct HeldSegment {
    pub(crate) file: OwnedFd,
    pub(crate) region: Arc<dyn Region>,
}

/// The process at the other end of a member's connection.
pub(crate) struct Peer {
    pub(crate) pid: u32,
    pidfd: PidFd,
}

impl Peer {
    pub(crate) fn of(pid: u32) -> Result<Self, WatchError> {
        Ok(Self { pid, pidfd: PidFd::open(pid)? })
    }

    fn lives(&self) -> bool {
        poll(&[self.pidfd.as_fd()], Some(Duration::ZERO)).is_ok_and(|ended| !ended[0].any())
    }
}

/// One member's place.
#[derive(Default)]
pub(crate) struct Seat {
    pub(crate) child: Option<Child>,
    pub(crate) connection: Option<Arc<MemberConnection>>,
    /// The process that joined: not the child itself if the command is a wrapper.
    pub(crate) peer: Option<Peer>,
    /// Whether this process has ever been welcomed.
    pub(crate) joined: bool,
    pub(crate) token: String,
    pub(crate) segment: Option<HeldSegment>,
    pub(crate) threads: Vec<(u16, u32)>,
    pub(crate) restarted: bool,
    pub(crate) failures: u32,
    /// Warnings that it has given, of all its processes.
    pub(crate) warned: u32,
    /// It commits nothing more, and waits until nobody else may.
    pub(crate) leaving: bool,
    /// Since when it stands still, stopped by a signal, as far as is known.
    pub(crate) stopped: Option<Nanos>,
    /// The same of one behind a wrapper, of which the agent is not told and has to look.
    pub(crate) stopped_behind: Option<Nanos>,
    /// Why its process is being ended by the agent.
    pub(crate) expelled: Option<String>,
    /// Of descriptors that it has passed and nobody needs.
    pub(crate) closing: Closing,
    /// It did not stop at the end of what it ran, and was ended for that.
    pub(crate) outstayed: bool,
    /// Which core its threads try next, once it was killed.
    turn: usize,
    /// Why it failed, by its own word; its process is about to end, or is ended.
    pub(crate) gave_up: Option<String>,
    /// It said so once the run had been ended for something else.
    pub(crate) gave_up_after_end: bool,
}

impl Seat {
    /// Starts the member's process with a fresh secret.
    pub(crate) fn launch(
        &mut self,
        launch: &LaunchPlan,
        (job, socket): (&str, &Path),
        carriers: Option<&Carriers>,
    ) -> Result<(), String> {
        self.joined = false;
        self.closing = Closing::default();
        self.peer = None;
        self.leaving = false;
        self.expelled = None;
        self.outstayed = false;
        self.gave_up = None;
        self.gave_up_after_end = false;
        self.token = leveret_os::host::random_token().map_err(|failure| failure.to_string())?;
        let mut what = Spawn::new(&launch.program);
        what.own_session = true;
        let mut carried = None;
        let to = if launch.stdout_to_stderr { Destination::Error } else { Destination::Output };
        if let Some(carriers) = carriers {
            let stream = |to| {
                let made = carriers.stream(&launch.member, to);
                let made = made.and_then(|stream| Ok((streams::inode(&stream)?, Stream::File(stream))));
                made.map_err(|error| format!("a pipe for what it prints: {error}"))
            };
            let ((output, stdout), (error, stderr)) = (stream(to)?, stream(Destination::Error)?);
            (what.stdout, what.stderr) = (stdout, stderr);
            carried = Some(format!("{output},{error}"));
        } else if to == Destination::Error {
            what.stdout = Stream::ParentsError;
        }
        what.args = launch.arguments.iter().map(Into::into).collect();
        what.env = launch.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        what.env.push((OUTPUT_VARIABLE.into(), carried.unwrap_or_default().into()));
        what.env.push((SOCKET_VARIABLE.into(), socket.into()));
        what.env.push((JOB_VARIABLE.into(), job.into()));
        what.env.push((MEMBER_VARIABLE.into(), launch.member.as_str().into()));
        what.env.push((TOKEN_VARIABLE.into(), self.token.as_str().into()));
        self.stopped = None;
        self.stopped_behind = None;
        self.child = Some(spawn(what).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Whether it is there and may still commit something, or will be.
    pub(crate) fn may_commit(&self) -> bool {
        let is_there = self.connection.is_some() || self.child.is_some() && !self.joined;
        is_there && !self.leaving
    }

    /// Since when it stands still, and which process a signal lets go on.
    pub(crate) fn stands_still(&self) -> Option<(Nanos, u32)> {
        let child = || Some((self.stopped?, self.child.as_ref()?.pid));
        child().or_else(|| Some((self.stopped_behind?, self.peer.as_ref()?.pid)))
    }

    /// Looks whether the member's process is stopped, if it is not the one that was started.
    pub(crate) fn look_behind_wrapper(&mut self, now: Nanos) {
        let behind = self.peer.as_ref().filter(|peer| !self.is(peer.pid));
        let is_stopped = behind.is_some_and(|peer| threads_of::is_stopped(peer.pid));
        self.stopped_behind = is_stopped.then(|| self.stopped_behind.unwrap_or(now));
    }

    /// The next change of its process, if any.
    pub(crate) fn change(&self) -> Option<Change> {
        self.child.as_ref()?.pidfd.next_change().ok().flatten()
    }

    /// Whether its process has this id.
    pub(crate) fn is(&self, pid: u32) -> bool {
        self.child.as_ref().is_some_and(|child| child.pid == pid)
    }

    /// The member's own process: the one that joined, or the one that was started.
    pub(crate) fn process(&self) -> Option<u32> {
        self.peer.as_ref().map(|peer| peer.pid).or_else(|| self.child.as_ref().map(|child| child.pid))
    }

    /// Lets a process that was killed, and has not ended yet, try another core.
    pub(crate) fn try_another_core(&mut self) {
        let Some(child) = &self.child else { return };
        // The number of a peer that has ended may be another process's by now; a child keeps its own until it is reaped.
        let peer = self.peer.as_ref().filter(|peer| peer.lives());
        reap::move_killed(peer.map_or(child.pid, |peer| peer.pid), &mut self.turn);
    }

    /// Ends the process at once, and that of a wrapper around it.
    pub(crate) fn kill(&self) {
        if let Some(peer) = &self.peer {
            let _ = peer.pidfd.signal(Signal::KILL);
        }
        if let Some(child) = &self.child {
            // A process that is already gone needs no signal.
            let _ = child.pidfd.signal(Signal::KILL);
        }
    }
}
