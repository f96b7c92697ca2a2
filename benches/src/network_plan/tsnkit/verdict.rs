//! What the comparison with the collection's methods comes to.

use super::Entry;
use super::instances::TOPOLOGIES;
use super::method::{Method, Outcome};
use super::ours;
use crate::network_plan::PartReport;
use crate::report::Target;
use crate::table::{Table, nanoseconds};

/// The fastest method of at least our success over ours.
const RATIO_LEAST: f64 = 50.0;

/// A method against ours, on what the method was asked for.
struct Standing {
    method: &'static str,
    /// Whether it was asked for all instances, and not for the small ones alone.
    is_whole: bool,
    asked: usize,
    valid: usize,
    ours: usize,
    /// Median over the instances that both have planned of its time over ours: from the files to the plan.
    ratio: Option<f64>,
    /// The same of its `solve()` alone over all of ours.
    solve_ratio: Option<f64>,
    /// The same of whole processes.
    process_ratio: Option<f64>,
}

/// Adds the targets, and lists what one side planned and the other did not.
pub fn judge(all: &[(&Method, Vec<Entry<'_>>)], result: &mut PartReport<'_>) {
    let heads = [
        "topology",
        "method",
        "asked for",
        "valid",
        "ours of these",
        "all over ours",
        "process over ours",
        "its solve over all of ours",
    ];
    let mut table = Table::new(&heads);
    for (topology, name) in TOPOLOGIES.iter().enumerate() {
        let standings: Vec<Standing> =
            all.iter().filter_map(|(method, entries)| standing(method, entries, topology)).collect();
        speed(name, &standings, result);
        success(name, &standings, result);
        for standing in standings {
            let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!("{ratio:.1}"));
            let mut cells = vec![(*name).to_owned(), standing.method.to_owned()];
            cells.extend([standing.asked, standing.valid, standing.ours].map(|count| count.to_string()));
            cells.extend([standing.ratio, standing.process_ratio, standing.solve_ratio].map(ratio));
            table.push(cells);
        }
    }
    result.report.add_table(table);
    for (method, entries) in all {
        differences(method, entries, result);
    }
}

fn standing(method: &Method, entries: &[Entry<'_>], topology: usize) -> Option<Standing> {
    let own: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.instance.topology == topology).collect();
    let both = || own.iter().filter(|entry| is_valid(entry) && is_planned(entry));
    let over_ours = |time_ns: u64, entry: &Entry<'_>| time_ns as f64 / entry.ours.all_ns.max(1) as f64;
    let process_ratio =
        |entry: &&Entry<'_>| Some(entry.run.process_ns as f64 / entry.ours.process_ns?.max(1) as f64);
    (!own.is_empty()).then(|| Standing {
        method: method.name,
        is_whole: !method.is_slow,
        asked: own.len(),
        valid: own.iter().filter(|entry| is_valid(entry)).count(),
        ours: own.iter().filter(|entry| is_planned(entry)).count(),
        ratio: median(both().map(|entry| over_ours(entry.run.all_ns, entry)).collect()),
        solve_ratio: median(both().map(|entry| over_ours(entry.run.solve_ns, entry)).collect()),
        process_ratio: median(both().filter_map(process_ratio).collect()),
    })
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn is_valid(entry: &Entry<'_>) -> bool {
    entry.run.outcome == Outcome::Valid
}

fn is_planned(entry: &Entry<'_>) -> bool {
    entry.ours.outcome == ours::Outcome::Planned
}

fn speed(topology: &str, standings: &[Standing], result: &mut PartReport<'_>) {
    let equal = standings.iter().filter(|standing| standing.is_whole && standing.valid >= standing.ours);
    let with_ratio = equal.filter_map(|standing| Some((standing.ratio?, standing.method)));
    let fastest = with_ratio.min_by(|one, other| one.0.total_cmp(&other.0));
    let (value, holds) = match fastest {
        Some((ratio, method)) => (format!("{ratio:.1} ({method})"), ratio >= RATIO_LEAST),
        None => ("no method has our success".to_owned(), true),
    };
    result.report.targets.push(Target {
        case: format!("tsnkit {topology}"),
        measure: "the fastest method of at least our success over ours, from the files to the plan"
            .to_owned(),
        value,
        target: format!(">= {RATIO_LEAST}"),
        holds,
    });
}

fn success(topology: &str, standings: &[Standing], result: &mut PartReport<'_>) {
    let more = standings.iter().filter(|standing| standing.valid > standing.ours);
    let ahead: Vec<String> = more
        .map(|standing| format!("{}: {} over {}", standing.method, standing.valid, standing.ours))
        .collect();
    let best = standings.iter().max_by_key(|standing| standing.valid);
    let best =
        best.map_or(String::new(), |best| format!("{} of {} ({})", best.valid, best.ours, best.method));
    result.report.targets.push(Target {
        case: format!("tsnkit {topology}"),
        measure: "instances planned by the best method, of ours on the same".to_owned(),
        value: if ahead.is_empty() { best } else { ahead.join(", ") },
        target: "<= ours".to_owned(),
        holds: ahead.is_empty(),
    });
}

fn differences(method: &Method, entries: &[Entry<'_>], result: &mut PartReport<'_>) {
    let name = method.name;
    let notes = &mut result.report.notes;
    let mut ours_only = 0;
    for entry in entries {
        let instance = entry.instance.name();
        match (&entry.run.outcome, entry.ours.outcome) {
            (Outcome::Valid, ours::Outcome::Refused) => {
                notes.push(format!("tsnkit: WRONG: {name} has a valid schedule of {instance}, which leveret calls impossible."));
            }
            (Outcome::Valid, ours::Outcome::NotFound) => {
                let took = nanoseconds(entry.run.solve_ns);
                notes.push(format!("tsnkit: {name} plans {instance} in {took}, and leveret does not."));
            }
            (Outcome::Invalid(rule), _) => {
                notes.push(format!("tsnkit: the schedule of {name} for {instance} breaks the rule: {rule}."));
            }
            (Outcome::NotPlayable(reason), _) => {
                notes.push(format!(
                    "tsnkit: the schedule of {name} for {instance} cannot be played: {reason}."
                ));
            }
            (Outcome::Refused | Outcome::TooLong | Outcome::Broken, ours::Outcome::Planned) => ours_only += 1,
            _ => {}
        }
    }
    if ours_only > 0 {
        notes.push(format!(
            "tsnkit: leveret plans {ours_only} of the {} instances of {name} that it does not.",
            entries.len()
        ));
    }
}
