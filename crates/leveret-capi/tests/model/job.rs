//! A job whose members are this program again, each running one of its tests: the agent lives in the test that wants it.

use leveret_agent::{LaunchPlan, News, RunConfig};
use leveret_os::host::environment;
use leveret_os::scheduling::allowed_cores;
use leveret_os::signals::Interrupt;
use leveret_plan::Costs;
use leveret_protocol::control::{Horizon, Scheduling};
use leveret_protocol::coordinator::DeathPolicy;
use leveret_protocol::declaration::{JobDeclaration, MemberDeclaration};
use leveret_runtime::MEMBER_VARIABLE;
use leveret_types::{IdleCores, Nanos};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Environment variable with the folder that the members of one job share.
const FOLDER_VARIABLE: &str = "LEVERET_MODEL_FOLDER";

/// An agent takes this process's signals and orphans for its own.
static TURN: Mutex<()> = Mutex::new(());

/// Runs a job of so many members, each of which runs `test`, to its end.
///
/// # Panics
/// When a member does not pass.
pub fn run(test: &str, members: usize) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names: Vec<String> = (0..members).map(|rank| format!("m{rank}")).collect();
    let program = std::env::current_exe().expect("this program has a path");
    let launch = names.iter().map(|name| LaunchPlan {
        member: name.clone(),
        program: program.clone(),
        arguments: ["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]
            .map(str::to_owned)
            .to_vec(),
        environment: vec![(FOLDER_VARIABLE.to_owned(), folder.path().display().to_string())],
        stdout_to_stderr: false,
    });
    let config = RunConfig {
        declaration: JobDeclaration {
            name: "model".to_owned(),
            cores: allowed_cores().into_iter().take(1).collect(),
            members: names.iter().map(|name| MemberDeclaration { name: name.clone(), core: None }).collect(),
            ..JobDeclaration::default()
        },
        launch: launch.collect(),
        policy: DeathPolicy::Stop,
        horizon: Horizon::Unbounded,
        scheduling: Scheduling::Plain,
        costs: Costs::default(),
        guard_fixed: true,
        off_tick: true,
        idle: IdleCores::Sleep,
        record_limit: leveret_agent::RECORD_LIMIT,
        has_manifest: false,
        journal: None,
        commit_within: Nanos::from_secs(60),
        member_output: leveret_agent::MemberOutput::Raw,
    };
    let mut notes = Vec::new();
    let interrupt = Interrupt::install().expect("one job at a time");
    let ran = leveret_agent::run(&config, &interrupt, &mut |news| {
        if let News::Note(text) = news {
            notes.push(text.to_owned());
        }
    });
    let passed = names.iter().filter(|name| folder.path().join(name).exists()).count();
    assert_eq!(
        passed,
        members,
        "members that passed, of {test}; {}: {notes:?}",
        match &ran {
            Ok(record) => format!("{:?}", record.ending),
            Err(error) => error.to_string(),
        }
    );
}

/// Where the members of this job meet.
pub fn folder() -> PathBuf {
    environment(FOLDER_VARIABLE).expect("only a test that runs a job starts this").into()
}

/// Whether this is the first member.
pub fn is_first() -> bool {
    name() == "m0"
}

fn name() -> String {
    environment(MEMBER_VARIABLE).expect("only an agent starts this")
}

/// Tells the test that started the job that this member has passed.
pub fn passed() {
    std::fs::write(folder().join(name()), "").expect("the folder is there");
}
