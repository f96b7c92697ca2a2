//! Control messages between a member and its agent, and their bytes.
//!
//! ```text
//!  member                                   agent
//!    | Hello {token, name}                    |
//!    |--------------------------------------->|  peer credentials checked
//!    |                               Welcome  |
//!    |<---------------------------------------|
//!    | Declare                                |   from every member
//!    |--------------------------------------->|   ends matched, planned, checked
//!    |                      Planned | Refused |
//!    |<---------------------------------------|
//!    | Segment + descriptor                   |   sealed memory file of this member
//!    |--------------------------------------->|
//!    |                    Peers + descriptors |   only those that the plan names
//!    |<---------------------------------------|
//!    | Ready (or, before it, Withdraw)        |
//!    |--------------------------------------->|
//!    |                   Go {epoch} | Refused |   the epoch lies ahead, or no more before a single shot
//!    |<---------------------------------------|
//!    :            the run: nothing            :
//!    | Uncommit (or the horizon is reached)   |
//!    |--------------------------------------->|   from every member
//!    |                        StopAt {instant}|   a common boundary that all can still make
//!    |<---------------------------------------|
//!    | Finished                               |
//!    |--------------------------------------->|
//!    |                            Uncommitted |   when all have finished
//!    |<---------------------------------------|
//!    | Leave                                  |   from every member that finalizes; the connection closes when all have
//!    |--------------------------------------->|
//! ```
//! Instead of `Declare` a member may send `DeclareGroup`: then only the members of that group take part in what follows, up to
//! `Uncommitted`, and a refusal is [`ToMember::GroupRefused`]. A member that fails while it is committed sends `GiveUp`, and one that ends the whole job `Abort`;
//! nothing follows either.

use crate::assemble::{Assembled, Mismatch};
use crate::declaration::{MemberDeclarations, Unfit};
use crate::mode::{ModeAnswer, ModeRequest};
use leveret_plan::Plan;
use leveret_types::{Generation, MemberId, Nanos};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU8;

/// Version of the control protocol; both sides must agree.
pub const CONTROL_VERSION: u32 = 10;

/// From a member to its agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum FromMember {
    /// First message of a connection.
    Hello {
        /// [`CONTROL_VERSION`].
        version: u32,
        /// Version of the layout of the member's segments; before control version 8 none was told.
        #[serde(default)]
        layout: u32,
        /// The secret that the agent gave to the process it started.
        token: String,
        /// The member's name.
        member: String,
    },
    /// Everything this member declares for the next commit.
    Declare {
        /// Which attempt to commit this is: [`ToMember::Welcome::attempt`] and one more for every
        /// [`ToMember::Refused`] since. A refusal on its way to the member answers the attempt that it has not seen.
        attempt: u32,
        /// The declarations.
        declarations: MemberDeclarations,
    },
    /// The same for a commit of these members alone. Each gets one answer: [`ToMember::Planned`] or [`ToMember::GroupRefused`].
    DeclareGroup {
        /// Who takes part, this member among them, in the order of rank.
        members: Vec<MemberId>,
        /// The declarations.
        declarations: MemberDeclarations,
    },
    /// The member's segment exists; its descriptor travels with this message.
    Segment {
        /// The commit it belongs to.
        generation: Generation,
        /// Its size in bytes.
        size: u64,
    },
    /// Peers are mapped, threads wait for the epoch.
    Ready {
        /// The commit.
        generation: Generation,
        /// Kernel thread ids of the member's tasks: (task index, thread id).
        threads: Vec<(u16, u32)>,
        /// The scheduling that was obtained, such as `SCHED_FIFO`; `SCHED_FIFO and SCHED_OTHER` where tasks differ, `none` without tasks.
        scheduling: String,
        /// What was missing, each a sentence with its loss.
        warnings: Vec<String>,
    },
    /// This member cannot go on with the admitted commit. The answer is [`ToMember::Refused`], to every member.
    Withdraw {
        /// The commit.
        generation: Generation,
        /// What was refused to it.
        unfit: Unfit,
    },
    /// This member wants the commit to end. Its tasks run on until all members want it and the agent has named the
    /// instant by [`ToMember::StopAt`].
    Uncommit {
        /// The commit.
        generation: Generation,
    },
    /// All tasks of this member have ended. What it counted stands in its segment.
    Finished {
        /// The commit.
        generation: Generation,
        /// If the member wants the job to stop.
        stop: Option<Wish>,
    },
    /// Of a second set of objects, beside the one that runs.
    Mode(ModeRequest),
    /// This member has failed in the middle of a commit: its tasks have ended, and its process is about to. It sends nothing more; its
    /// death counts as a failure whatever the exit status.
    GiveUp(Wish),
    /// This member ends the whole job, whatever the death policy is, and its own process with it. It sends nothing more.
    Abort {
        /// What the job ends with.
        code: NonZeroU8,
        /// Why, for people.
        message: String,
    },
    /// Runs of a handler, or of a task that an event starts, have failed: they panicked, threw or said so. Said when they are 1, 2, 4, 8 and so on.
    RunsFailed {
        /// What failed, such as `handler "brake"`.
        what: String,
        /// So many so far.
        times: u64,
    },
    /// A run of such a one has used more than its budget, for the first time.
    RunOverran {
        /// What did.
        what: String,
    },
    /// This member commits nothing more. Once nobody else may, the agent closes the connections of all that have said so.
    Leave,
}

/// That a member wants the end: its tasks begin nothing more from then on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wish {
    /// Since when, on `CLOCK_MONOTONIC`.
    pub at: Nanos,
    /// Why, for people.
    pub why: String,
    /// What gave rise to it.
    pub place: Place,
}

/// An instance of a task or of a channel in the plan, by the plan's index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Place {
    /// None.
    #[default]
    Nowhere,
    /// Of a task.
    Task(u16, u64),
    /// Of a channel.
    Channel(u16, u64),
}

/// From the agent to a member.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ToMember {
    /// Answer to `Hello`.
    Welcome {
        /// The job's name.
        job: String,
        /// This member's rank.
        rank: MemberId,
        /// All members' names in rank order.
        members: Vec<String>,
        /// How tasks are to be scheduled.
        scheduling: Scheduling,
        /// Whether this member was started again after a death.
        restarted: bool,
        /// The attempt to commit that the member's first declarations are for.
        attempt: u32,
    },
    /// The connection or the commit is refused. The member is as if it had not tried.
    Refused {
        /// One sentence a line.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
        /// Set when declarations did not meet.
        mismatches: Vec<Mismatch>,
        /// Whether another commit may be tried on this connection.
        may_retry: bool,
    },
    /// The group's commit is refused, to each of its members that has declared for it. Another may be tried.
    GroupRefused {
        /// One sentence a line.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
        /// Set when declarations did not meet.
        mismatches: Vec<Mismatch>,
    },
    /// The commit is admitted: make the segment.
    Planned {
        /// Number of this commit.
        generation: Generation,
        /// The declarations as they met.
        assembled: Box<Assembled>,
        /// The admitted and checked plan.
        plan: Box<Plan>,
        /// How long to run.
        horizon: Horizon,
    },
    /// Descriptors of peers' segments, in this order.
    Peers {
        /// The commit.
        generation: Generation,
        /// Whose descriptors travel with this message.
        members: Vec<MemberId>,
    },
    /// Period 0 of everything starts at the epoch.
    Go {
        /// The commit.
        generation: Generation,
        /// On `CLOCK_MONOTONIC`.
        epoch: Nanos,
    },
    /// No instance whose planned start is at or after this instant may start.
    StopAt {
        /// The commit.
        generation: Generation,
        /// On `CLOCK_MONOTONIC`.
        instant: Nanos,
        /// Why.
        reason: EndReason,
    },
    /// A peer died; the policy is to continue. Its messages will be missing.
    PeerDied {
        /// Who.
        member: MemberId,
        /// How.
        how: String,
    },
    /// Everybody has finished; declarations may change and be committed again.
    Uncommitted {
        /// The commit that ended.
        generation: Generation,
        /// Why it ended.
        reason: EndReason,
    },
    /// Of a second set of objects, beside the one that runs.
    Mode(ModeAnswer),
}

/// What kind of reason a refusal has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalCause {
    /// The declarations do not meet or are not admitted, or a member cannot carry them out.
    #[default]
    Unfit,
    /// A member has died or left.
    PeerLost,
    /// A member has not committed within the job's limit.
    TimedOut,
    /// An instant has passed or can no longer be met, or what runs ends before it.
    TooLate,
    /// The job is over, or the connection was not wanted.
    Over,
    /// A member has found by itself that it cannot go on: the number of the error in the members' interface.
    Declined(i32),
}

/// How long a commit runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Horizon {
    /// This many hyperperiods.
    Rounds(u64),
    /// This long, from the epoch.
    Duration(Nanos),
    /// Until stopped.
    Unbounded,
}

impl Horizon {
    /// Instances that start before this time after the epoch run.
    pub fn span(self, hyperperiod: Nanos) -> Nanos {
        match self {
            Self::Rounds(rounds) => hyperperiod.saturating_mul(i64::try_from(rounds).unwrap_or(i64::MAX)),
            Self::Duration(duration) => duration,
            Self::Unbounded => Nanos::MAX,
        }
    }
}

/// How tasks are scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduling {
    /// `SCHED_FIFO`, pinned, in the plan's order.
    #[default]
    Fifo,
    /// `SCHED_DEADLINE` with runtime, deadline and period from the plan.
    Deadline,
    /// Ordinary scheduling.
    Plain,
}

/// Why a commit ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum EndReason {
    /// The horizon was reached.
    Completed,
    /// Ctrl-C or SIGTERM.
    Interrupted,
    /// A policy ended the job.
    Stopped(String),
    /// A member died and is started again: commit again.
    PeerRestarted(MemberId),
}

impl std::fmt::Display for EndReason {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Completed => out.write_str("the job has completed"),
            Self::Interrupted => out.write_str("the job was interrupted"),
            Self::Stopped(reason) => write!(out, "the job was stopped: {reason}"),
            Self::PeerRestarted(member) => write!(out, "{member} is started again"),
        }
    }
}

/// Why bytes are not a control message.
#[derive(Debug, thiserror::Error)]
#[error("control message not understood: {0}; the peer is of another version or not Leveret")]
pub struct DecodeError(#[from] serde_json::Error);

/// A message's bytes.
pub fn encode<M: Serialize>(message: &M) -> Vec<u8> {
    serde_json::to_vec(message).expect("control messages have no map keys or values that JSON cannot hold")
}

/// Bytes from the agent.
pub fn decode_to_member(bytes: &[u8]) -> Result<ToMember, DecodeError> {
    Ok(serde_json::from_slice(bytes)?)
}

/// Bytes from a member: an allegation; indices inside are checked by whoever uses them.
pub fn decode_from_member(bytes: &[u8]) -> Result<FromMember, DecodeError> {
    Ok(serde_json::from_slice(bytes)?)
}
