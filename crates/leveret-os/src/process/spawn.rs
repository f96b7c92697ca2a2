//! Starting a child.

use super::watch::{PidFd, WatchError};
use crate::Failure;
use crate::control::poll;
use crate::streams::{self, Pipe};
use crate::user::NOBODY;
use rustix::io::Errno;
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A child that has not come to its program by then is given back as it is: stopped on the way, most likely.
const START_WITHIN: Duration = Duration::from_secs(2);
/// What a shell's child ends with that could not run its program.
const EXIT_NOT_RUN: i32 = 127;

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
    match failure.errno {
        Errno::NOENT => "no such program or directory; give its path from the manifest's directory",
        Errno::ACCESS => "not executable for this user; `chmod +x` it",
        Errno::PERM => "only root can start a child as another user",
        Errno::MFILE | Errno::NFILE => "too many open files; raise `ulimit -n`",
        Errno::AGAIN => "too many processes; raise `ulimit -u`, or `pids.max` of the control group",
        Errno::NOMEM => "not enough memory for another process; free some, or raise `ulimit -v`",
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
    /// While it is on its way to its program.
    start: Option<Start>,
}

/// The kernel closes the other end when the program begins; a child that cannot run it writes the number of the error there.
#[derive(Debug)]
struct Start {
    program: PathBuf,
    report: OwnedFd,
}

impl Child {
    /// A process that became a child of this one when its parent ended.
    ///
    /// # Errors
    ///
    /// [`WatchError`].
    pub fn adopted(pid: u32) -> Result<Self, WatchError> {
        Ok(Self { pid, pidfd: PidFd::of_child(pid)?, start: None })
    }

    /// Why it could not run its program, once it has ended; `None` where it could, or ended on the way.
    pub fn start_failure(&self) -> Option<SpawnError> {
        self.start.as_ref()?.outcome(Duration::ZERO)?.err()
    }
}

impl Start {
    /// Whether the program runs; `None` if that is not decided by then.
    fn outcome(&self, within: Duration) -> Option<Result<(), SpawnError>> {
        let ready = poll(&[self.report.as_fd()], Some(within)).ok()?;
        if !ready[0].any() {
            return None;
        }
        let mut errno = [0; 4];
        let is_failure = streams::read(&self.report, &mut errno).is_ok_and(|count| count == errno.len());
        let failure = || Failure::new("execve", Errno::from_raw_os_error(i32::from_ne_bytes(errno)));
        Some(if is_failure {
            Err(SpawnError::Program { program: self.program.clone(), failure: failure() })
        } else {
            Ok(())
        })
    }
}

/// Starts a child that dies with the calling thread. The standard library would wait until the child has come to its program, and so for
/// ever for one that is stopped on the way.
///
/// # Errors
///
/// [`SpawnError`]; a program that could not be executed is reported here, unless the child takes long to come to it: see
/// [`Child::start_failure`].
pub fn spawn(what: Spawn) -> Result<Child, SpawnError> {
    let program = what.program.clone();
    let failed = |failure| SpawnError::Program { program: program.clone(), failure };
    let Pipe { read, write } = streams::pipe().map_err(|error| failed(Failure::of_io("pipe2", &error)))?;
    let mut command = command(what);
    // SAFETY: the child calls `exec` of the command and `_exit`, and nothing that waits for a lock of another thread's: memory it may
    // take, since the C library's `fork` leaves the allocator usable.
    let pid = match unsafe { libc::fork() } {
        -1 => return Err(failed(Failure::last("fork"))),
        0 => run_program(&mut command, &write),
        pid => pid.cast_unsigned(),
    };
    drop((command, write));
    // The child has not been waited for, so its id is still its own.
    let pidfd = PidFd::of_child(pid).map_err(|error| {
        kill_and_reap(pid);
        SpawnError::Watch { program: program.clone(), error }
    })?;
    let start = Start { program, report: read };
    match start.outcome(START_WITHIN) {
        Some(Ok(())) => Ok(Child { pid, pidfd, start: None }),
        None => Ok(Child { pid, pidfd, start: Some(start) }),
        Some(Err(error)) => {
            let _ = pidfd.wait();
            Err(error)
        }
    }
}

/// In the child: becomes the program, or says why not.
fn run_program(command: &mut Command, report: &OwnedFd) -> ! {
    let error = command.exec();
    let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
    // The parent may be gone.
    let _ = streams::write(report, &errno.to_ne_bytes());
    // SAFETY: ends this process, without what the parent has for its own end.
    unsafe { libc::_exit(EXIT_NOT_RUN) }
}

fn kill_and_reap(pid: u32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid.cast_signed()) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
        let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
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
