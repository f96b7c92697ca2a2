//! Members as processes: started, watched, stopped.

use leveret_memory::Region;
use leveret_os::control::Connection;
use leveret_os::process::{Change, Child, Signal, Spawn, Stream, spawn};
use leveret_runtime::{JOB_VARIABLE, MEMBER_VARIABLE, SOCKET_VARIABLE, TOKEN_VARIABLE};
use leveret_types::Nanos;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// One member's place.
#[derive(Default)]
pub(crate) struct Seat {
    pub(crate) child: Option<Child>,
    pub(crate) connection: Option<Arc<Connection>>,
    /// Whether this process has ever been welcomed.
    pub(crate) joined: bool,
    pub(crate) token: String,
    pub(crate) segment: Option<HeldSegment>,
    pub(crate) threads: Vec<(u16, u32)>,
    pub(crate) restarted: bool,
    pub(crate) failures: u32,
    /// It commits nothing more, and waits until nobody else may.
    pub(crate) leaving: bool,
    /// Since when it stands still, stopped by a signal, as far as is known.
    pub(crate) stopped: Option<Nanos>,
    /// Why its process is being ended by the agent.
    pub(crate) expelled: Option<String>,
    /// Why it failed, by its own word; its process is about to end, or is ended.
    pub(crate) gave_up: Option<String>,
}

impl Seat {
    /// Starts the member's process with a fresh secret.
    pub(crate) fn launch(&mut self, launch: &LaunchPlan, job: &str, socket: &Path) -> Result<(), String> {
        self.joined = false;
        self.leaving = false;
        self.expelled = None;
        self.gave_up = None;
        self.token = leveret_os::host::random_token().map_err(|failure| failure.to_string())?;
        let mut what = Spawn::new(&launch.program);
        what.own_session = true;
        if launch.stdout_to_stderr {
            what.stdout = Stream::ParentsError;
        }
        what.args = launch.arguments.iter().map(Into::into).collect();
        what.env = launch.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        what.env.push((SOCKET_VARIABLE.into(), socket.into()));
        what.env.push((JOB_VARIABLE.into(), job.into()));
        what.env.push((MEMBER_VARIABLE.into(), launch.member.as_str().into()));
        what.env.push((TOKEN_VARIABLE.into(), self.token.as_str().into()));
        self.stopped = None;
        self.child = Some(spawn(what).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Whether it is there and may still commit something, or will be.
    pub(crate) fn may_commit(&self) -> bool {
        let is_there = self.connection.is_some() || self.child.is_some() && !self.joined;
        is_there && !self.leaving
    }

    /// The next change of its process, if any.
    pub(crate) fn change(&self) -> Option<Change> {
        self.child.as_ref()?.pidfd.next_change().ok().flatten()
    }

    /// Whether its process has this id.
    pub(crate) fn is(&self, pid: u32) -> bool {
        self.child.as_ref().is_some_and(|child| child.pid == pid)
    }

    /// Ends the process at once.
    pub(crate) fn kill(&self) {
        if let Some(child) = &self.child {
            // A process that is already gone needs no signal.
            let _ = child.pidfd.signal(Signal::KILL);
        }
    }
}
