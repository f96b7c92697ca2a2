//! Conflicts of a few streams among many: is the refusal proven, and does it name them and nobody else?

use super::conflicts::{Kind, Planted, planted};
use super::{PartReport, percentile, since};
use crate::report::Target;
use crate::table::{Table, nanoseconds};
use crate::{BenchError, Options};
use leveret_plan::checker::{check_certificate, check_network};
use leveret_plan::network::{Effort, NetworkRefusal, Traffic, certificate, plan_network};
use std::collections::BTreeMap;
use std::time::Instant;

const INSTANCES: u64 = 1_000;
const INSTANCES_SMOKE: u64 = 10;
const CASE: &str = "planted";

/// What became of a planted conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Proven, and the refusal names exactly the planted streams.
    Exact,
    /// Proven, of fewer of them.
    Fewer,
    /// Proven, but others are named too.
    Others,
    /// Not proven.
    NotProven,
}

/// The conflicts of one kind and number of streams.
#[derive(Default)]
struct Tally {
    exact: u64,
    fewer: u64,
    others: u64,
    not_proven: u64,
    refuse_ns: Vec<u64>,
    check_ns: Vec<u64>,
}

/// Plants, and looks at what the planner says.
pub fn run(options: &Options, result: &mut PartReport<'_>) -> Result<(), BenchError> {
    let count = if options.smoke() { INSTANCES_SMOKE } else { INSTANCES };
    eprintln!("network-plan: {count} planted conflicts");
    let mut tallies: BTreeMap<(usize, usize), Tally> = BTreeMap::new();
    let mut missed = Vec::new();
    for seed in 0..count {
        let planted = planted(seed);
        without(&planted)?;
        let kind = Kind::ALL.iter().position(|kind| *kind == planted.kind).unwrap_or(0);
        let outcome = tallies.entry((kind, planted.streams.len())).or_default().add(seed, &planted)?;
        if matches!(outcome, Outcome::Others | Outcome::NotProven) {
            let (kind, of) = (planted.kind.name(), planted.streams.len());
            missed
                .push(format!("seed {seed}: {kind}, {of} of {}: {outcome:?}", planted.traffic.streams.len()));
        }
    }
    publish(count, &tallies, &missed, result);
    Ok(())
}

/// What lies around the conflict must have a plan, or another conflict would be as right an answer.
fn without(planted: &Planted) -> Result<(), BenchError> {
    let is_other = |index: &usize| !planted.streams.iter().any(|stream| stream.index() == *index);
    let all = &planted.traffic.streams;
    let others = (0..all.len()).filter(is_other).map(|index| all[index].clone()).collect();
    let traffic = Traffic { streams: others, ..planted.traffic.clone() };
    let broken =
        |reason: String| BenchError::Round { subject: "background of a conflict".to_owned(), reason };
    let (plan, _) =
        plan_network(&traffic, Effort::default()).map_err(|refusal| broken(refusal.reason(&traffic)))?;
    check_network(&plan, &traffic).map_err(|violation| broken(violation.to_string()))
}

impl Tally {
    fn add(&mut self, seed: u64, planted: &Planted) -> Result<Outcome, BenchError> {
        let traffic = &planted.traffic;
        let wrong =
            |reason: String| BenchError::Round { subject: format!("planted conflict {seed}"), reason };
        let begun = Instant::now();
        let refusal = match plan_network(traffic, Effort::default()) {
            Ok(_) => return Err(wrong("it has a plan".to_owned())),
            Err(refusal) => refusal,
        };
        self.refuse_ns.push(since(begun));
        if let NetworkRefusal::Invalid(error) = &refusal {
            return Err(wrong(error.to_string()));
        }
        let outcome = match refusal.streams() {
            _ if !refusal.is_proven() => Outcome::NotProven,
            named if named == planted.streams => Outcome::Exact,
            named if named.iter().all(|stream| planted.streams.contains(stream)) => Outcome::Fewer,
            _ => Outcome::Others,
        };
        if refusal.is_proven() {
            let shown = certificate(traffic, &refusal)
                .ok_or_else(|| wrong(format!("proven without a certificate: {}", refusal.reason(traffic))))?;
            let begun = Instant::now();
            let checked = check_certificate(&shown, traffic);
            self.check_ns.push(since(begun));
            checked.map_err(|violation| wrong(violation.to_string()))?;
        }
        match outcome {
            Outcome::Exact => self.exact += 1,
            Outcome::Fewer => self.fewer += 1,
            Outcome::Others => self.others += 1,
            Outcome::NotProven => self.not_proven += 1,
        }
        Ok(outcome)
    }
}

fn publish(
    count: u64,
    tallies: &BTreeMap<(usize, usize), Tally>,
    missed: &[String],
    result: &mut PartReport<'_>,
) {
    let heads =
        ["planted conflict", "streams", "instances", "exactly named", "fewer named", "others named too"];
    let mut table = Table::new(
        &[&heads[..], &["not proven", "refuse p50", "refuse p99", "check p50", "check p99"]].concat(),
    );
    let time = |values: &[u64], permille| percentile(values, permille).map_or(String::new(), nanoseconds);
    let (mut refuse_ns, mut check_ns) = (Vec::new(), Vec::new());
    for ((kind, streams), tally) in tallies {
        table.push([
            Kind::ALL[*kind].name().to_owned(),
            streams.to_string(),
            tally.refuse_ns.len().to_string(),
            tally.exact.to_string(),
            tally.fewer.to_string(),
            tally.others.to_string(),
            tally.not_proven.to_string(),
            time(&tally.refuse_ns, 500),
            time(&tally.refuse_ns, 990),
            time(&tally.check_ns, 500),
            time(&tally.check_ns, 990),
        ]);
        refuse_ns.extend_from_slice(&tally.refuse_ns);
        check_ns.extend_from_slice(&tally.check_ns);
    }
    result.row(CASE, "leveret refuses", &refuse_ns);
    result.row(CASE, "leveret checks the certificate", &check_ns);
    let named = count - missed.len() as u64;
    result.report.targets.push(Target {
        case: CASE.to_owned(),
        measure: "refusals that are proven and name the planted streams, or fewer of them".to_owned(),
        value: named.to_string(),
        target: count.to_string(),
        holds: missed.is_empty(),
    });
    result.report.notes.extend(missed.iter().map(|one| format!("{CASE}: MISSED, {one}")));
    result.report.notes.push(format!(
        "{CASE}: 2 to 5 streams that have no plan together among 20 to 200 that have one, 8 switches in a line, ring, tree or mesh; \
         each certificate passes the checker."
    ));
    result.report.add_table(table);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without any one of them the planted streams have a plan: the conflict is theirs together.
    #[test]
    fn what_is_planted_has_no_plan_and_each_part_of_it_has() {
        for seed in 0..15 {
            let planted = planted(seed);
            let mut tally = Tally::default();
            tally.add(seed, &planted).unwrap();
            for left_out in &planted.streams {
                let others = planted.streams.iter().filter(|stream| *stream != left_out);
                let streams = others.map(|stream| planted.traffic.streams[stream.index()].clone()).collect();
                let traffic = Traffic { streams, ..planted.traffic.clone() };
                let found = plan_network(&traffic, Effort::default());
                assert!(found.is_ok(), "seed {seed}, {}, without {left_out}", planted.kind.name());
            }
        }
    }
}
