//! Messages of a change of mode: a second set of objects is committed while the first runs, and takes over at one instant.
//!
//! ```text
//!  member                                   agent
//!    | Mode(Declare)                          |
//!    |--------------------------------------->|   from every member; planned beside the run
//!    |                Planned | Mode(Refused) |
//!    |<---------------------------------------|
//!    :  Segment, Peers, Ready as in a commit, under the mode's generation
//!    |                          Mode(Stands)  |
//!    |<---------------------------------------|
//!    | Mode(Switch)                           |
//!    |--------------------------------------->|   from every member
//!    |    Mode(SwitchAt) | Mode(SwitchRefused)|   the first set stops at that instant, the mode's epoch
//!    |<---------------------------------------|
//!    | Mode(Switched)                         |
//!    |--------------------------------------->|   the first set's threads have ended
//! ```

use crate::assemble::Mismatch;
use crate::control::RefusalCause;
use crate::declaration::MemberDeclarations;
use leveret_types::{Generation, Nanos};
use serde::{Deserialize, Serialize};

/// From a member to its agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ModeRequest {
    /// Everything this member declares for the mode.
    Declare {
        /// The commit beside which it is made.
        beside: Generation,
        /// How many modes were refused beside it.
        attempt: u32,
        /// The mode's name, equal on all members.
        name: String,
        /// The declarations.
        declarations: Box<MemberDeclarations>,
    },
    /// This member wants the mode to take over.
    Switch {
        /// The mode's commit.
        generation: Generation,
        /// How many switches to it were refused.
        attempt: u32,
        /// Not before this instant on `CLOCK_MONOTONIC`.
        earliest: Option<Nanos>,
    },
    /// The threads of the set before have ended here. What they counted stands in the member's segment of that commit.
    Switched {
        /// The mode's commit.
        generation: Generation,
    },
}

/// From the agent to a member.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ModeAnswer {
    /// The mode is refused, to every member. What runs has not changed.
    Refused {
        /// One sentence a line.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
        /// Set when declarations did not meet.
        mismatches: Vec<Mismatch>,
    },
    /// The mode is committed on every member, and waits for its switch.
    Stands {
        /// The mode's commit.
        generation: Generation,
    },
    /// No instance of what runs may start at or after this instant; it is the mode's epoch.
    SwitchAt {
        /// The mode's commit.
        generation: Generation,
        /// On `CLOCK_MONOTONIC`.
        instant: Nanos,
    },
    /// There is no switch. The mode stays committed.
    SwitchRefused {
        /// The mode's commit.
        generation: Generation,
        /// One sentence.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
    },
}
