//! Why a job could not be run.

/// Why a job could not be run.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The job was refused at commit: declarations do not meet, or are not admitted.
    #[error("{0}")]
    Refused(String),
    /// The operating system refused something.
    #[error("{what}: {cause}")]
    System {
        /// What was needed.
        what: &'static str,
        /// Why not.
        cause: String,
    },
    /// More open files are needed than this user may have.
    #[error("the job needs {needed} open files, and {allowed} are allowed")]
    OpenFiles {
        /// How many, at least.
        needed: u64,
        /// How many this process may have.
        allowed: u64,
    },
    /// A member could not be started.
    #[error("member \"{member}\" cannot be started: {cause}")]
    Launch {
        /// Which.
        member: String,
        /// Why.
        cause: String,
    },
    /// A member ended the job before anything ran.
    #[error("{reason}")]
    Aborted {
        /// What the job ends with.
        code: u8,
        /// Who ended it, and why.
        reason: String,
    },
    /// The job ended before anything ran.
    #[error("the job ended before its first commit: {0}")]
    NothingRan(String),
}

/// Names what was needed of the operating system.
pub(super) fn system(what: &'static str) -> impl Fn(String) -> AgentError {
    move |cause| AgentError::System { what, cause }
}
