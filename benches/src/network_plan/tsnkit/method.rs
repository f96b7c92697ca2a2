//! One method of the collection on one instance, in a process of its own; its schedule is played and checked by ours.

use super::instances::Instance;
use crate::BenchError;
use crate::network_plan::since;
use crate::peer::sources;
use leveret_exchange::tsnkit::{Schedule, replay};
use leveret_plan::checker::check_network;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// For reading, model and solution together.
pub const LIMIT_S: u64 = 20;
/// The signal of an alarm: the time was over.
const ALARM: i32 = 14;

/// A method, and the most streams that it is asked for: the slow ones end at their limit above.
pub struct Method {
    pub name: &'static str,
    pub streams_most: usize,
    /// Whether it is asked for one set of periods only.
    pub is_slow: bool,
}

/// Those that need no licence. `jrs_*` and `cp_wa` need one.
pub const METHODS: [Method; 12] = [
    Method { name: "ls", streams_most: 200, is_slow: false },
    Method { name: "ls_tb", streams_most: 200, is_slow: false },
    Method { name: "ls_pl", streams_most: 200, is_slow: false },
    Method { name: "dt", streams_most: 200, is_slow: false },
    Method { name: "cg", streams_most: 200, is_slow: false },
    Method { name: "smt_wa", streams_most: 40, is_slow: true },
    Method { name: "smt_nw", streams_most: 20, is_slow: true },
    Method { name: "smt_fr", streams_most: 10, is_slow: true },
    Method { name: "smt_pr", streams_most: 10, is_slow: true },
    Method { name: "i_ilp", streams_most: 20, is_slow: true },
    Method { name: "i_omt", streams_most: 10, is_slow: true },
    Method { name: "at", streams_most: 10, is_slow: true },
];

/// What became of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A schedule that keeps every rule.
    Valid,
    /// One that breaks this rule.
    Invalid(String),
    /// One that cannot be played.
    NotPlayable(String),
    /// It says that there is none.
    Refused,
    /// Its time was over.
    TooLong,
    /// It broke, or its solver takes no model of this size without a licence.
    Broken,
}

/// What a run gave.
pub struct Run {
    pub outcome: Outcome,
    /// Of its `solve` alone.
    pub solve_ns: u64,
    /// With reading, routes and model.
    pub all_ns: u64,
    /// Of the whole process.
    pub process_ns: u64,
}

/// Runs a method.
pub fn run(python: &Path, method: &Method, instance: &Instance, folder: &Path) -> Result<Run, BenchError> {
    let folder = folder.join("schedule");
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let begun = Instant::now();
    let output = Command::new(python)
        .arg(sources().join("tsnkit_method.py"))
        .arg(method.name)
        .args([&instance.task_file, &instance.topology_file, &folder])
        .arg(LIMIT_S.to_string())
        .stdin(Stdio::null())
        .output()?;
    let process_ns = since(begun);
    if output.status.signal() == Some(ALARM) {
        return Ok(Run { outcome: Outcome::TooLong, solve_ns: 0, all_ns: 0, process_ns });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let result = text.lines().rev().find_map(|line| line.strip_prefix("RESULT "));
    let mut words = result.unwrap_or_default().split(' ');
    let word = words.next().unwrap_or_default();
    let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let (solve_ns, all_ns) = (number(), number());
    let outcome = match word {
        "succ" => judge(instance, &folder),
        "fail" => Outcome::Refused,
        "unknown" => Outcome::TooLong,
        _ => Outcome::Broken,
    };
    Ok(Run { outcome, solve_ns, all_ns, process_ns })
}

/// What its schedule does.
fn judge(instance: &Instance, folder: &Path) -> Outcome {
    let read =
        |name: &str| std::fs::read_to_string(folder.join(format!("plan-{name}.csv"))).unwrap_or_default();
    let schedule = Schedule {
        gates: read("GCL"),
        offsets: read("OFFSET"),
        queues: read("QUEUE"),
        routes: read("ROUTE"),
    };
    match replay(&instance.traffic, &schedule) {
        Err(error) => Outcome::NotPlayable(error.to_string()),
        Ok(plan) => match check_network(&plan, &instance.traffic) {
            Ok(()) => Outcome::Valid,
            Err(violation) => Outcome::Invalid(violation.rule),
        },
    }
}
