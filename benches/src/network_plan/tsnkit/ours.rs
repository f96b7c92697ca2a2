//! Ours on one instance: in this process, and as the program that a user calls.

use super::instances::Instance;
use crate::BenchError;
use crate::network_plan::{percentile, since};
use leveret_exchange::tsnkit::read;
use leveret_plan::checker::{check_certificate, check_network};
use leveret_plan::network::{Effort, certificate, plan_network};
use std::fs::read_to_string;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Planned so often; the median counts.
const TURNS: usize = 3;

/// What became of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A plan, which the checker accepts.
    Planned,
    /// None, with a certificate, which the checker accepts.
    Refused,
    /// Neither.
    NotFound,
}

/// What a run gave.
pub struct Run {
    pub outcome: Outcome,
    /// Reading its files, validating, planning and checking.
    pub all_ns: u64,
    /// `leveret plan` as a process, with reading the manifest and writing the plan.
    pub process_ns: Option<u64>,
}

/// Plans an instance.
pub fn run(instance: &Instance, program: Option<&Path>, folder: &Path) -> Result<Run, BenchError> {
    let mut times = Vec::new();
    let mut outcome = Outcome::NotFound;
    for _ in 0..TURNS {
        let begun = Instant::now();
        outcome = decide(instance)?;
        times.push(since(begun));
    }
    let process_ns = program.map(|program| process(instance, program, folder)).transpose()?;
    Ok(Run { outcome, all_ns: percentile(&times, 500).unwrap_or(0), process_ns })
}

fn decide(instance: &Instance) -> Result<Outcome, BenchError> {
    let wrong = |reason: String| BenchError::Round { subject: instance.name(), reason };
    let (links, tasks) = (read_to_string(&instance.topology_file)?, read_to_string(&instance.task_file)?);
    let traffic =
        &read(("topology", &links), ("streams", &tasks)).map_err(|error| wrong(error.to_string()))?;
    match plan_network(traffic, Effort::default()) {
        Ok((plan, _)) => {
            check_network(&plan, traffic).map_err(|violation| wrong(violation.to_string()))?;
            Ok(Outcome::Planned)
        }
        Err(refusal) if refusal.is_proven() => {
            let shown = certificate(traffic, &refusal).ok_or_else(|| wrong("no certificate".to_owned()))?;
            check_certificate(&shown, traffic).map_err(|violation| wrong(violation.to_string()))?;
            Ok(Outcome::Refused)
        }
        Err(_) => Ok(Outcome::NotFound),
    }
}

fn process(instance: &Instance, program: &Path, folder: &Path) -> Result<u64, BenchError> {
    let (manifest, plan) = (folder.join("job.toml"), folder.join("plan.json"));
    let mut import = Command::new(program);
    import.args(["import", "tsnkit"]).args([&instance.topology_file, &instance.task_file]);
    let imported = import.arg("--output").arg(&manifest).stdin(Stdio::null()).output()?;
    if !imported.status.success() {
        let reason = String::from_utf8_lossy(&imported.stderr).trim().to_owned();
        return Err(BenchError::Round { subject: "leveret import".to_owned(), reason });
    }
    let begun = Instant::now();
    Command::new(program)
        .arg("plan")
        .arg(&manifest)
        .arg("--output")
        .arg(&plan)
        .stdin(Stdio::null())
        .output()?;
    Ok(since(begun))
}
