//! Instances of the tsnkit collection, line, ring, tree and mesh with 10 to 200 streams: its methods and ours.

mod instances;
mod method;
mod ours;
mod verdict;

use super::{PartReport, peers, percentile};
use crate::table::{Table, nanoseconds};
use crate::{BenchError, Options};
use instances::{Instance, TOPOLOGIES, generate};
use method::{LIMIT_S, METHODS, Method, Outcome};
use std::path::Path;

/// Ours and a method's run on one instance.
struct Entry<'a> {
    instance: &'a Instance,
    ours: &'a ours::Run,
    run: method::Run,
}

/// Runs ours and every method on every instance.
pub fn run(options: &Options, result: &mut PartReport<'_>) -> Result<(), BenchError> {
    let python = match peers::python() {
        Ok((python, version)) => {
            result.report.notes.push(format!("tsnkit: {version}."));
            python
        }
        Err(error) => {
            result.missing(&error);
            return Ok(());
        }
    };
    if options.smoke() {
        // Its instances take minutes; a smoke run shows only that they are looked for.
        let reason = "a run without --smoke measures it".to_owned();
        result.missing(&BenchError::Missing { subject: "tsnkit".to_owned(), reason });
        return Ok(());
    }
    let program = peers::leveret().inspect_err(|error| result.missing(error)).ok();
    let folder = options.output().join("tsnkit");
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    eprintln!("network-plan: instances of tsnkit");
    let instances = generate(&python, &folder)?;
    let mut planned = Vec::new();
    for instance in &instances {
        planned.push(ours::run(instance, program.as_deref(), &folder)?);
    }
    let mut table = table();
    publish_ours(&instances, &planned, &mut table, result);
    let mut all = Vec::new();
    for method in &METHODS {
        eprintln!("network-plan: {}", method.name);
        let entries = entries(&python, method, &instances, &planned, &folder)?;
        publish(method, &entries, &mut table, result);
        all.push((method, entries));
    }
    result.report.add_table(table);
    verdict::judge(&all, result);
    result.report.notes.push(format!(
        "tsnkit: {} instances of its generator (8 switches, 8 hosts, 10 to 200 streams, 2 sets of periods). Each method has {LIMIT_S} s for an \
         instance; slow ones get one set of periods and few streams only (column up to). solve: its solve() alone; all: with reading, routes and model, \
         from the files to the schedule; process: the whole. Ours: all is reading, validating, planning and checking; process is `leveret plan`. Times are of what was planned.",
        instances.len()
    ));
    Ok(())
}

fn entries<'a>(
    python: &Path,
    method: &Method,
    instances: &'a [Instance],
    planned: &'a [ours::Run],
    folder: &Path,
) -> Result<Vec<Entry<'a>>, BenchError> {
    let mut entries = Vec::new();
    for (instance, ours) in instances.iter().zip(planned) {
        if instance.streams <= method.streams_most && (instance.for_slow || !method.is_slow) {
            let run = method::run(python, method, instance, folder)?;
            entries.push(Entry { instance, ours, run });
        }
    }
    Ok(entries)
}

fn table() -> Table {
    let heads = [
        "topology",
        "method",
        "up to",
        "instances",
        "valid",
        "invalid",
        "not playable",
        "refused",
        "no answer",
    ];
    let times = ["solve p50", "solve p95", "all p50", "all p95", "process p50", "process p95"];
    Table::new(&[&heads[..], &times].concat())
}

fn times(values: &[&[u64]]) -> Vec<String> {
    let time = |values: &[u64], share| percentile(values, share).map_or(String::new(), nanoseconds);
    values.iter().flat_map(|values| [time(values, 500), time(values, 950)]).collect()
}

fn publish_ours(
    instances: &[Instance],
    planned: &[ours::Run],
    table: &mut Table,
    result: &mut PartReport<'_>,
) {
    for (topology, name) in TOPOLOGIES.iter().enumerate() {
        let of_topology = |(instance, _): &(&Instance, &ours::Run)| instance.topology == topology;
        let runs: Vec<&ours::Run> =
            instances.iter().zip(planned).filter(of_topology).map(|(_, run)| run).collect();
        let count = |outcome| runs.iter().filter(|run| run.outcome == outcome).count().to_string();
        let mut cells = vec![(*name).to_owned(), "leveret".to_owned(), String::new(), runs.len().to_string()];
        cells.extend([count(ours::Outcome::Planned), "0".to_owned(), "0".to_owned()]);
        cells.extend([count(ours::Outcome::Refused), count(ours::Outcome::NotFound)]);
        let good = || runs.iter().filter(|run| run.outcome == ours::Outcome::Planned);
        let all: Vec<u64> = good().map(|run| run.all_ns).collect();
        let process: Vec<u64> = good().filter_map(|run| run.process_ns).collect();
        cells.extend(times(&[&[], &all, &process]));
        table.push(cells);
        let case = format!("tsnkit {name}");
        result.row(&case, "leveret, read, planned and checked", &all);
        result.row(&case, "leveret plan, process", &process);
    }
}

fn publish(method: &Method, entries: &[Entry<'_>], table: &mut Table, result: &mut PartReport<'_>) {
    for (topology, name) in TOPOLOGIES.iter().enumerate() {
        let runs: Vec<&method::Run> = entries
            .iter()
            .filter(|entry| entry.instance.topology == topology)
            .map(|entry| &entry.run)
            .collect();
        let count = |is: fn(&Outcome) -> bool| runs.iter().filter(|run| is(&run.outcome)).count().to_string();
        let mut cells = vec![(*name).to_owned(), method.name.to_owned()];
        cells.extend([method.streams_most.to_string(), runs.len().to_string()]);
        cells.push(count(|outcome| *outcome == Outcome::Valid));
        cells.push(count(|outcome| matches!(outcome, Outcome::Invalid(_))));
        cells.push(count(|outcome| matches!(outcome, Outcome::NotPlayable(_))));
        cells.push(count(|outcome| *outcome == Outcome::Refused));
        cells.push(count(|outcome| matches!(outcome, Outcome::TooLong | Outcome::Broken)));
        let good = || runs.iter().filter(|run| run.outcome == Outcome::Valid);
        let solve: Vec<u64> = good().map(|run| run.solve_ns).collect();
        let all: Vec<u64> = good().map(|run| run.all_ns).collect();
        let process: Vec<u64> = good().map(|run| run.process_ns).collect();
        cells.extend(times(&[&solve, &all, &process]));
        table.push(cells);
        result.row(&format!("tsnkit {name}"), &format!("{}, all", method.name), &all);
    }
}
