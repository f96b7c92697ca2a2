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

/// A switch is agreed on for no later than this: until then everybody waits for it, and nothing takes it back.
pub const SWITCH_AHEAD_MAX: Nanos = Nanos::from_secs(86_400);

/// Why there can be no switch that is to be no earlier than this.
pub fn unreachable(earliest: Option<Nanos>, now: Nanos) -> Option<String> {
    let earliest = earliest?;
    if earliest < now {
        return Some("the earliest instant of the switch has passed".to_owned());
    }
    let ahead = earliest - now;
    (ahead > SWITCH_AHEAD_MAX).then(|| {
        format!("the earliest instant of the switch is {ahead} ahead, and may be {SWITCH_AHEAD_MAX}; ask for the switch later")
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_neither_in_the_past_nor_without_end_ahead() {
        let now = Nanos::from_secs(1000);
        for earliest in [None, Some(now), Some(now + SWITCH_AHEAD_MAX)] {
            assert_eq!(unreachable(earliest, now), None);
        }
        let says = |earliest: Nanos, what: &str| {
            let why = unreachable(Some(earliest), now).expect("there can be none");
            assert!(why.contains(what), "{why}");
        };
        says(now - Nanos(1), "has passed");
        says(Nanos(i64::MIN), "has passed");
        says(now + SWITCH_AHEAD_MAX + Nanos(1), "ahead");
        says(Nanos::MAX, "ahead");
    }
}
