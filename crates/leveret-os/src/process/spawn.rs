//! Starting a child.

use super::watch::{PidFd, WatchError};
use crate::Failure;
use crate::user::NOBODY;
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Where a standard stream of the child leads.
#[derive(Debug, Default)]
pub enum Stream {
    /// To where the parent's leads.
    #[default]
    Inherit,
    /// To `/dev/null`.
    Null,
    /// To where the parent's standard error leads.
    ParentsError,
    /// To this file, pipe or socket.
    File(OwnedFd),
}

impl From<Stream> for Stdio {
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::Inherit => Stdio::inherit(),
            Stream::Null => Stdio::null(),
            Stream::ParentsError => io::stderr().into(),
            Stream::File(file) => Stdio::from(file),
        }
    }
}

/// What to start.
#[derive(Debug, Default)]
pub struct Spawn {
    /// The program; without a slash it is looked for in `PATH`.
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub args: Vec<OsString>,
    /// Variables added to the parent's environment.
    pub env: Vec<(OsString, OsString)>,
    /// Start from an empty environment.
    pub env_clear: bool,
    /// Standard input.
    pub stdin: Stream,
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
    /// Where to start it; the parent's directory if `None`.
    pub working_dir: Option<PathBuf>,
    /// The user to run as, which takes root; the parent's if `None`.
    pub uid: Option<u32>,
    /// The group to run as; the parent's if `None`.
    pub gid: Option<u32>,
    /// Begin a session of its own: what a terminal or a shell sends to the parent's process group (Ctrl-C, Ctrl-Z, a
    /// hang-up, `kill -- -GROUP`) reaches the parent alone, who decides what it means. Streams that lead to the terminal
    /// still do; without job control reading from it is not stopped.
    pub own_session: bool,
    /// Descriptors that the child inherits under the same number, closed on exec in every other child.
    pub keep: Vec<OwnedFd>,
}

impl Spawn {
    /// `program` with the parent's streams, environment and user.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    /// Runs as a user without rights or capabilities.
    #[must_use]
    pub fn unprivileged(self) -> Self {
        Self { uid: Some(NOBODY), gid: Some(NOBODY), ..self }
    }
}

/// Why a child could not be started.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program could not be run.
    #[error("starting {}: {failure}; {}", program.display(), remedy(failure))]
    Program {
        /// Which program.
        program: PathBuf,
        /// What failed.
        failure: Failure,
    },
    /// The child runs but cannot be watched; it has been killed.
    #[error("watching the child that runs {}: {error}", program.display())]
    Watch {
        /// Which program.
        program: PathBuf,
        /// What failed.
        error: WatchError,
    },
}

fn remedy(failure: &Failure) -> &'static str {
    use rustix::io::Errno;
    match failure.errno {
        Errno::NOENT => "no such program or directory; give its path from the manifest's directory",
        Errno::ACCESS => "not executable for this user; `chmod +x` it",
        Errno::PERM => "only root can start a child as another user",
        Errno::MFILE | Errno::NFILE => "too many open files; raise `ulimit -n`",
        Errno::AGAIN => "too many processes; raise `ulimit -u`",
        Errno::NOEXEC => "not a program of this machine; a script needs a #! line",
        _ => "see `leveret doctor`",
    }
}

/// A running child. Dropping it neither stops nor reaps it.
#[derive(Debug)]
pub struct Child {
    /// Its process id.
    pub pid: u32,
    /// What to watch and signal it by: unlike the id it never means another process.
    pub pidfd: PidFd,
}

/// Starts a child that dies with the calling thread.
///
/// # Errors
///
/// [`SpawnError`]; a program that could not be executed is reported here, not as a child that ended.
pub fn spawn(what: Spawn) -> Result<Child, SpawnError> {
    let program = what.program.clone();
    let mut child = command(what).spawn().map_err(|error| SpawnError::Program {
        program: program.clone(),
        failure: Failure::of_io("execve", &error),
    })?;
    // The child has not been waited for, so its id is still its own.
    match PidFd::of_child(child.id()) {
        Ok(pidfd) => Ok(Child { pid: child.id(), pidfd }),
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(SpawnError::Watch { program, error })
        }
    }
}

fn command(what: Spawn) -> Command {
    let mut command = Command::new(&what.program);
    command.args(what.args).stdin(what.stdin).stdout(what.stdout).stderr(what.stderr);
    if what.env_clear {
        command.env_clear();
    }
    command.envs(what.env);
    if let Some(directory) = what.working_dir {
        command.current_dir(directory);
    }
    if let Some(gid) = what.gid {
        command.gid(gid);
    }
    if let Some(uid) = what.uid {
        command.uid(uid);
    }
    let parent = rustix::process::getpid();
    let (keep, own_session) = (what.keep, what.own_session);
    // SAFETY: between fork and exec the closure makes system calls only: it neither allocates nor locks. It runs
    // after the change of user, which would clear the death signal.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the line above took effect.
            if rustix::process::getppid() != Some(parent) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            for descriptor in &keep {
                rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())?;
            }
            if own_session {
                rustix::process::setsid()?;
            }
            Ok(())
        });
    }
    command
}
