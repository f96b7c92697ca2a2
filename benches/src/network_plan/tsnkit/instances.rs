//! Instances of the collection, made by its own generator.

use crate::BenchError;
use crate::peer::sources;
use leveret_exchange::tsnkit::read;
use leveret_plan::network::Traffic;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// In the generator's order.
pub const TOPOLOGIES: [&str; 4] = ["line", "ring", "tree", "mesh"];
const SEED: u64 = 2;
const STREAMS: &str = "10,20,40,100,200";
/// Of its sets of periods 0.5, 1, 2, 4 ms, and 0.25, 0.5, 1.25, 2.5, 4 ms.
const PERIODS: &str = "3,5";
/// Of its sets of deadlines: up to 1.6 ms more than a message takes.
const DEADLINES: &str = "2";
/// The first set of periods, which slow methods are asked for only.
const PERIODS_FIRST: &str = "3";

/// One instance.
pub struct Instance {
    /// Index into [`TOPOLOGIES`].
    pub topology: usize,
    pub streams: usize,
    /// Whether slow methods are asked for it too, if it is small.
    pub for_slow: bool,
    pub topology_file: PathBuf,
    pub task_file: PathBuf,
    pub traffic: Traffic,
}

impl Instance {
    /// As printed.
    pub fn name(&self) -> String {
        let file = self.task_file.file_stem().unwrap_or_default().to_string_lossy();
        format!("{} {file} ({} streams)", TOPOLOGIES[self.topology], self.streams)
    }
}

/// Generates all of them into a folder.
pub fn generate(python: &Path, folder: &Path) -> Result<Vec<Instance>, BenchError> {
    let broken = |reason: String| BenchError::Round { subject: "the generator of tsnkit".to_owned(), reason };
    let output = Command::new(python)
        .arg(sources().join("tsnkit_generate.py"))
        .arg(SEED.to_string())
        .arg(folder)
        .args([STREAMS, PERIODS, DEADLINES])
        .args((0..TOPOLOGIES.len()).map(|topology| topology.to_string()))
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(broken(errors.lines().next_back().unwrap_or("it failed").to_owned()));
    }
    let mut instances = Vec::new();
    for topology in 0..TOPOLOGIES.len() {
        let folder = folder.join(topology.to_string());
        let list = std::fs::read_to_string(folder.join("dataset_logs.csv"))?;
        for line in list.lines().skip(1) {
            // number, size, period, deadline, topology, streams, switches
            let fields: Vec<&str> = line.split(',').collect();
            let [number, _, period, _, _, streams, _] = fields[..] else {
                return Err(broken(format!("dataset_logs.csv has the line {line:?}")));
            };
            let file = |kind: &str| folder.join(format!("{number}_{kind}.csv"));
            let (topology_file, task_file) = (file("topo"), file("task"));
            let (links, tasks) =
                (std::fs::read_to_string(&topology_file)?, std::fs::read_to_string(&task_file)?);
            let traffic =
                read(("topology", &links), ("streams", &tasks)).map_err(|error| broken(error.to_string()))?;
            let streams =
                streams.parse().map_err(|_| broken(format!("dataset_logs.csv has the line {line:?}")))?;
            let for_slow = period == PERIODS_FIRST;
            instances.push(Instance { topology, streams, for_slow, topology_file, task_file, traffic });
        }
    }
    instances.sort_by_key(|instance| (instance.topology, instance.streams));
    Ok(instances)
}
