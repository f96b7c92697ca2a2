//! Jobs whose members are this program in other roles, run by the agent in this process as `leveret run` does it.

use crate::BenchError;
use leveret_agent::{LaunchPlan, News, RunConfig};
use leveret_os::signals::Interrupt;
use leveret_plan::Costs;
use leveret_protocol::control::{Horizon, Scheduling};
use leveret_protocol::coordinator::DeathPolicy;
use leveret_protocol::declaration::{JobDeclaration, MemberDeclaration};
use leveret_report::record::{Ending, RunRecord};
use leveret_types::{IdleCores, Nanos};
use std::path::PathBuf;

/// No member keeps the others waiting longer.
const COMMIT_WITHIN: Nanos = Nanos::from_secs(60);

/// A member: its name, its core, and what follows `leveret-benches child`.
pub struct Role {
    /// The member's name.
    pub name: &'static str,
    /// Where its tasks run; its main thread is its own affair.
    pub core: u32,
    /// The child's name and its arguments.
    pub arguments: Vec<String>,
    /// Another program than this one, which gets the arguments alone.
    pub program: Option<PathBuf>,
    /// What it prints is not this program's answer.
    tells_errors_only: bool,
}

impl Role {
    /// A role from its parts.
    pub fn new(name: &'static str, core: usize, arguments: impl IntoIterator<Item = String>) -> Self {
        Self {
            name,
            core: core as u32,
            arguments: arguments.into_iter().collect(),
            program: None,
            tells_errors_only: false,
        }
    }

    /// A role of another program.
    pub fn of_program(
        name: &'static str,
        core: usize,
        program: PathBuf,
        arguments: impl IntoIterator<Item = String>,
    ) -> Self {
        Self { program: Some(program), ..Self::new(name, core, arguments) }
    }

    /// The role with what it prints on standard error.
    pub fn telling_errors_only(self) -> Self {
        Self { tells_errors_only: true, ..self }
    }
}

/// Runs a job with the defaults of a manifest: real-time scheduling where it is allowed, the guard measured, the
/// agent watching. Channels and tasks are what the members declare.
pub fn run(name: &str, roles: &[Role], horizon: Horizon) -> Result<RunRecord, BenchError> {
    run_on(name, roles, horizon, IdleCores::default())
}

/// [`run`], with the epoch as early as it can be, wherever the kernel's tick falls.
pub fn run_anywhere(name: &str, roles: &[Role], horizon: Horizon) -> Result<RunRecord, BenchError> {
    run_with(name, roles, horizon, (IdleCores::default(), false))
}

/// [`run`], on cores that do this while nothing runs.
pub fn run_on(
    name: &str,
    roles: &[Role],
    horizon: Horizon,
    idle: IdleCores,
) -> Result<RunRecord, BenchError> {
    run_with(name, roles, horizon, (idle, true))
}

fn run_with(
    name: &str,
    roles: &[Role],
    horizon: Horizon,
    (idle, off_tick): (IdleCores, bool),
) -> Result<RunRecord, BenchError> {
    let broken = |reason: String| BenchError::Round { subject: "leveret".to_owned(), reason };
    let program = std::env::current_exe()?;
    let mut cores: Vec<u32> = roles.iter().map(|role| role.core).collect();
    cores.sort_unstable();
    cores.dedup();
    let member = |role: &Role| MemberDeclaration { name: role.name.to_owned(), core: Some(role.core) };
    let launch = |role: &Role| LaunchPlan {
        member: role.name.to_owned(),
        program: role.program.clone().unwrap_or_else(|| program.clone()),
        arguments: match role.program {
            Some(_) => role.arguments.clone(),
            None => std::iter::once("child".to_owned()).chain(role.arguments.iter().cloned()).collect(),
        },
        environment: Vec::new(),
        stdout_to_stderr: role.tells_errors_only,
    };
    let config = RunConfig {
        declaration: JobDeclaration {
            name: name.to_owned(),
            cores,
            members: roles.iter().map(member).collect(),
            ..JobDeclaration::default()
        },
        launch: roles.iter().map(launch).collect(),
        policy: DeathPolicy::Stop,
        horizon,
        scheduling: Scheduling::Fifo,
        costs: Costs::default(),
        guard_fixed: false,
        off_tick,
        idle,
        record_limit: leveret_agent::RECORD_LIMIT,
        has_manifest: false,
        journal: None,
        commit_within: COMMIT_WITHIN,
        member_output: leveret_agent::MemberOutput::Raw,
    };
    let mut last_warning = None;
    let mut tell = |news: News<'_>| {
        if let News::Note(note) = news
            && note.starts_with("warning")
        {
            last_warning = Some(note.to_owned());
        }
    };
    let interrupt = Interrupt::install().map_err(|error| broken(error.to_string()))?;
    let outcome = leveret_agent::run(&config, &interrupt, &mut tell);
    outcome.map_err(|error| match last_warning {
        Some(warning) => broken(format!("{error} ({warning})")),
        None => broken(error.to_string()),
    })
}

/// An error unless the job ran to its horizon.
pub fn completed(record: &RunRecord) -> Result<(), BenchError> {
    if record.ending == Ending::Completed {
        return Ok(());
    }
    let reason = record.ending.reason().unwrap_or_else(|| "the job was interrupted".to_owned());
    Err(BenchError::Round { subject: "leveret".to_owned(), reason })
}
