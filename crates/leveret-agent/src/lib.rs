//! The agent of one host: it starts the members, carries the control socket, coordinates commit, and watches every
//! cycle without disturbing anybody. On one host it lives inside `leveret run`.
#![forbid(unsafe_code)]

mod agent;
mod alone;
mod aside;
mod awake;
mod changes;
mod collect;
mod counts;
mod ended;
mod evidence;
mod failed_runs;
mod families;
mod gaps;
mod guard;
mod holds;
mod in_process;
mod journal;
mod lateness;
mod lines;
mod members;
mod monitor;
mod obtained;
mod other_jobs;
mod output;
mod patience;
mod plausible;
mod reap;
mod recent;
mod rescheduled;
mod thin;
mod tick;

pub use agent::{AgentError, run};
pub use in_process::record_in_process;
pub use journal::part_of;
pub use members::LaunchPlan;
pub use output::MemberOutput;

use leveret_plan::{Costs, PlannedCore};
use leveret_protocol::control::{Horizon, Scheduling};
use leveret_protocol::coordinator::DeathPolicy;
use leveret_protocol::declaration::JobDeclaration;
use leveret_types::{IdleCores, Nanos};
use std::path::PathBuf;

/// A job to run.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// What the manifest declares of the model.
    pub declaration: JobDeclaration,
    /// How each member is started, in rank order.
    pub launch: Vec<LaunchPlan>,
    /// What happens when a member dies.
    pub policy: DeathPolicy,
    /// How long each commit runs.
    pub horizon: Horizon,
    /// How tasks are scheduled.
    pub scheduling: Scheduling,
    /// Costs to plan with; its guard counts only if `guard_fixed`.
    pub costs: Costs,
    /// Whether the guard is stated rather than measured.
    pub guard_fixed: bool,
    /// Whether the epoch is placed where the kernel's tick meets the fewest starts; else it is as early as it can be.
    pub off_tick: bool,
    /// What the job's cores do while nothing of it runs.
    pub idle: IdleCores,
    /// How long the members that have committed wait for one that does not.
    pub commit_within: Nanos,
    /// How what members print is passed on.
    pub member_output: MemberOutput,
    /// Bytes that what is kept of the run may take, in memory and on disk together.
    pub record_limit: u64,
    /// Whether there is a manifest in which settings can stand; without one what is said of them names options alone.
    pub has_manifest: bool,
    /// Where the record is written while it runs; nowhere, if not given.
    pub journal: Option<PathBuf>,
}

impl RunConfig {
    /// How a user changes a setting: by what stands in the manifest, if there is one, or by the option.
    pub(crate) fn setting(&self, in_manifest: &str, option: &str) -> String {
        setting(self.has_manifest, in_manifest, option)
    }

    /// The same of the record's limit.
    pub(crate) fn limit_setting(&self) -> String {
        self.setting("`record-limit` in [job]", "--record-limit")
    }
}

/// [`RunConfig::record_limit`] where nothing is said.
pub const RECORD_LIMIT: u64 = 200 << 20;

/// What the agent tells while it runs.
#[derive(Clone, Debug)]
pub enum News<'a> {
    /// A sentence for the user.
    Note(&'a str),
    /// A commit was admitted and its epoch is set.
    Started {
        /// Its label.
        label: &'a str,
        /// Rounds that it will run; `None` when it has no horizon.
        rounds: Option<u64>,
        /// Length of a round.
        hyperperiod: Nanos,
        /// Whether the rounds are those of a time table: of a job that has none they only count time.
        has_table: bool,
        /// What the plan makes of each core.
        cores: &'a [PlannedCore],
    },
    /// Now and then while a commit runs.
    Progress {
        /// Its label.
        label: &'a str,
        /// Rounds elapsed.
        rounds: u64,
        /// Rounds that it will run.
        rounds_total: Option<u64>,
        /// Instances so far that did not keep their window.
        misses: u64,
    },
}

fn setting(has_manifest: bool, in_manifest: &str, option: &str) -> String {
    if has_manifest { format!("{in_manifest}, or {option}") } else { option.to_owned() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn without_a_manifest_only_the_option_is_named() {
        let said = [true, false].map(|has| super::setting(has, "`idle` in [host]", "--idle sleep"));
        assert_eq!(said, ["`idle` in [host], or --idle sleep", "--idle sleep"]);
    }
}
