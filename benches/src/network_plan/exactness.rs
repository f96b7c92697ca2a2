//! Small networks: does the planner say that there is a plan exactly where z3 does?

use super::instances::small;
use super::optimality::Optimality;
use super::z3::{Answer, LIMIT_MS, Z3};
use super::{PartReport, percentile, since, smt};
use crate::report::Target;
use crate::table::{Table, nanoseconds};
use crate::{BenchError, Options};
use leveret_plan::checker::{check_certificate, check_network};
use leveret_plan::network::{Effort, NetworkRefusal, Traffic, certificate, plan_network};
use std::time::Instant;

const INSTANCES: u64 = 1_000;
const INSTANCES_SMOKE: u64 = 10;
/// Refused ones whose explanations z3 examines.
const EXPLAINED: usize = 300;
const CASE: &str = "exactness";

/// What the planner says, shown by a plan or a certificate that the checker accepts.
#[derive(Debug)]
enum Verdict {
    Plan,
    NoPlan(NetworkRefusal),
    Undecided,
}

#[derive(Default)]
struct Tally {
    planned: u64,
    impossible: u64,
    undecided: u64,
    agreed: u64,
    not_answered: u64,
    refused: Vec<(u64, NetworkRefusal)>,
    disagreements: Vec<String>,
    ours_ns: Vec<u64>,
    theirs_ns: Vec<u64>,
}

/// Asks both.
pub fn run(options: &Options, result: &mut PartReport<'_>) -> Result<(), BenchError> {
    let mut z3 = match Z3::start() {
        Ok(z3) => Some(z3),
        Err(error) => {
            result.missing(&error);
            None
        }
    };
    let count = if options.smoke() { INSTANCES_SMOKE } else { INSTANCES };
    eprintln!("network-plan: {count} small networks");
    let mut tally = Tally::default();
    for seed in 0..count {
        tally.add(seed, z3.as_mut())?;
    }
    result.row(CASE, "leveret decides", &tally.ours_ns);
    result.row(CASE, "z3 decides", &tally.theirs_ns);
    if let Some(z3) = &z3 {
        tally.compare(count, &z3.version, result);
    }
    let undecided = tally.undecided;
    result.report.targets.push(Target {
        case: CASE.to_owned(),
        measure: "small networks that the planner does not decide".to_owned(),
        value: undecided.to_string(),
        target: "0".to_owned(),
        holds: undecided == 0,
    });
    result.report.add_table(tally.table(count));
    z3.map_or(Ok(()), |mut z3| explain(tally.refused, &mut z3, result))
}

/// What is said of those that were refused, as z3 sees it.
fn explain(
    refused: Vec<(u64, NetworkRefusal)>,
    z3: &mut Z3,
    result: &mut PartReport<'_>,
) -> Result<(), BenchError> {
    eprintln!("network-plan: {} explanations", refused.len().min(EXPLAINED));
    let mut optimality = Optimality::default();
    for (seed, refusal) in refused.into_iter().take(EXPLAINED) {
        optimality.add(seed, &small(seed), refusal, z3)?;
    }
    optimality.publish(result);
    Ok(())
}

impl Tally {
    fn add(&mut self, seed: u64, z3: Option<&mut Z3>) -> Result<(), BenchError> {
        let traffic = small(seed);
        let wrong = |reason: String| BenchError::Round { subject: format!("small network {seed}"), reason };
        let hyperperiod = traffic.validate().map_err(|error| wrong(error.to_string()))?;
        let begun = Instant::now();
        let verdict = decide(&traffic).map_err(wrong)?;
        self.ours_ns.push(since(begun));
        match verdict {
            Verdict::Plan => self.planned += 1,
            Verdict::NoPlan(_) => self.impossible += 1,
            Verdict::Undecided => self.undecided += 1,
        }
        let Some(z3) = z3 else { return Ok(()) };
        let question = smt::question(&traffic, hyperperiod.0);
        let begun = Instant::now();
        let answer = z3.ask(&question, LIMIT_MS)?;
        self.theirs_ns.push(since(begun));
        match (verdict, answer) {
            (_, Answer::Unknown) => self.not_answered += 1,
            (Verdict::Plan, Answer::Satisfiable) => self.agreed += 1,
            (Verdict::NoPlan(refusal), Answer::Unsatisfiable) => {
                self.agreed += 1;
                self.refused.push((seed, refusal));
            }
            (Verdict::Undecided, _) => {}
            (verdict, answer) => {
                let traffic = serde_json::to_string(&traffic).map_err(std::io::Error::from)?;
                self.disagreements
                    .push(format!("seed {seed}: leveret {verdict:?}, z3 {answer:?}: {traffic}"));
            }
        }
        Ok(())
    }

    fn compare(&self, count: u64, version: &str, result: &mut PartReport<'_>) {
        let report = &mut result.report;
        report.notes.push(format!(
            "{CASE}: {version}, one process, one question after the other, at most {} s each; the question is written from the rules of \
             docs/planning.md (benches/src/network_plan/smt.rs). Ours: the plan or the certificate, checked.",
            LIMIT_MS / 1000
        ));
        let not_answered = self.not_answered;
        let decided = count - not_answered;
        report.targets.push(Target {
            case: CASE.to_owned(),
            measure: format!("small networks on which leveret and z3 agree, of {decided} that z3 decides"),
            value: self.agreed.to_string(),
            target: format!("{decided}"),
            holds: self.agreed == decided,
        });
        let disagreements = self.disagreements.iter();
        report.notes.extend(disagreements.map(|one| format!("{CASE}: DISAGREEMENT, {one}")));
    }

    fn table(&self, count: u64) -> Table {
        let heads = [
            "small networks",
            "planned",
            "proven impossible",
            "undecided",
            "z3 agrees",
            "z3 disagrees",
            "z3 undecided",
        ];
        let heads = [&heads[..], &["ours p50", "ours p99", "z3 p50", "z3 p99"]].concat();
        let mut table = Table::new(&heads);
        let time = |values: &[u64], permille| percentile(values, permille).map_or(String::new(), nanoseconds);
        table.push([
            count.to_string(),
            self.planned.to_string(),
            self.impossible.to_string(),
            self.undecided.to_string(),
            self.agreed.to_string(),
            self.disagreements.len().to_string(),
            self.not_answered.to_string(),
            time(&self.ours_ns, 500),
            time(&self.ours_ns, 990),
            time(&self.theirs_ns, 500),
            time(&self.theirs_ns, 990),
        ]);
        table
    }
}

/// What the planner says; wrong is what the checker does not accept.
fn decide(traffic: &Traffic) -> Result<Verdict, String> {
    match plan_network(traffic, Effort::default()) {
        Ok((plan, _)) => {
            check_network(&plan, traffic).map_err(|violation| violation.to_string())?;
            Ok(Verdict::Plan)
        }
        Err(refusal) if refusal.is_proven() => {
            let shown =
                certificate(traffic, &refusal).ok_or("a refusal that is proven has no certificate")?;
            check_certificate(&shown, traffic).map_err(|violation| violation.to_string())?;
            Ok(Verdict::NoPlan(refusal))
        }
        Err(_) => Ok(Verdict::Undecided),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_networks_are_decided_and_of_both_kinds() {
        let mut tally = Tally::default();
        for seed in 0..40 {
            tally.add(seed, None).unwrap();
        }
        assert_eq!(tally.undecided, 0);
        assert!(tally.planned > 5 && tally.impossible > 5, "{} and {}", tally.planned, tally.impossible);
    }
}
