//! The planner: time and success against generated jobs of 10 to 10,000 task instances, and against brute force
//! where it ends.

mod brute_force;
mod generator;

use crate::harness::Row;
use crate::mode::probe;
use crate::report::Report;
use crate::statistics::Distribution;
use crate::table::{Table, nanoseconds};
use crate::{BenchError, Options};
use brute_force::{Verdict, feasible};
pub use generator::Random;
use generator::{Shape, generate};
use leveret_plan::{Job, Plan, Refusal, RefusalKind, checker, plan};
use std::hint::black_box;
use std::time::{Duration, Instant};

const SIZES: [usize; 7] = [10, 30, 100, 300, 1_000, 3_000, 10_000];
const UTILISATIONS_PERCENT: [u32; 3] = [50, 70, 90];
const CORES: usize = 2;
/// Nearly every larger job of 90 % is refused, and to explain one such refusal takes minutes.
const REFUSED_INSTANCES: usize = 30;
const JOBS: u64 = 20;
const JOBS_SMOKE: u64 = 2;
/// After so long no further job of a shape is planned; the table says how many were.
const SHAPE_SECONDS_DEFAULT: f64 = 15.0;
/// The target: 1,000 tasks on 8 cores, in under a second.
const LARGE: Shape = Shape { instances: 0, tasks: 1_000, cores: 8, utilisation_percent: 50, costs: true };
const LARGE_NS: f64 = 1e9;
/// Brute force is asked for jobs of so many instances.
const BRUTE_FORCE_INSTANCES: [usize; 3] = [6, 8, 10];
const BRUTE_FORCE_JOBS: u64 = 200;
const BRUTE_FORCE_JOBS_SMOKE: u64 = 10;

/// What became of the jobs of one shape.
#[derive(Default)]
struct Tally {
    jobs: u64,
    instances: usize,
    admitted: u64,
    refused: u64,
    gave_up: u64,
    feasible: u64,
    missed: u64,
    brute_force_gave_up: u64,
    plan_ns: Vec<u64>,
    refuse_ns: Vec<u64>,
    check_ns: Vec<u64>,
    brute_force_ns: Vec<u64>,
}

/// Plans everything and fills the report.
pub fn run(options: &Options, report: &mut Report) -> Result<(), BenchError> {
    let mode_probe_ns = probe(options.cores());
    report.modes_ns = vec![mode_probe_ns];
    let heads = ["case", "jobs", "instances", "admitted", "refused", "gave up", "brute force", "missed"];
    let mut table = Table::new(&[&heads[..], &["plan p50", "plan max", "refuse max", "check p50"]].concat());
    let jobs = if options.smoke() { JOBS_SMOKE } else { JOBS };
    let limit = options.duration(SHAPE_SECONDS_DEFAULT);
    for instances in SIZES.into_iter().filter(|size| !options.smoke() || *size <= 30) {
        for utilisation_percent in
            UTILISATIONS_PERCENT.into_iter().filter(|percent| !options.smoke() || *percent <= 50)
        {
            if instances > REFUSED_INSTANCES && utilisation_percent > 70 {
                continue;
            }
            let shape = Shape { instances, tasks: 0, cores: CORES, utilisation_percent, costs: true };
            let case = format!("{instances} instances, {CORES} cores, U {utilisation_percent} %");
            eprintln!("planner: {case}");
            tally(&shape, (jobs, limit), false)?.publish(&case, mode_probe_ns, report, &mut table);
        }
    }
    if !options.smoke() {
        let case = format!("{} tasks, {} cores, U {} %", LARGE.tasks, LARGE.cores, LARGE.utilisation_percent);
        let large = tally(&LARGE, (jobs, limit), false)?;
        let slowest = large.plan_ns.iter().chain(&large.refuse_ns).max().copied().unwrap_or(0);
        let holds = if (slowest as f64) < LARGE_NS { "holds" } else { "DOES NOT HOLD" };
        report.notes.push(format!("{case}: slowest {} (target: under 1 s, {holds}).", nanoseconds(slowest)));
        large.publish(&case, mode_probe_ns, report, &mut table);
    }
    let jobs = if options.smoke() { BRUTE_FORCE_JOBS_SMOKE } else { BRUTE_FORCE_JOBS };
    for instances in BRUTE_FORCE_INSTANCES {
        for (cores, utilisation_percent) in [(1, 70), (1, 90), (2, 80)] {
            let shape = Shape { instances, tasks: 0, cores, utilisation_percent, costs: false };
            let case = format!("{instances} instances, {cores} cores, U {utilisation_percent} %, no costs");
            tally(&shape, (jobs, limit), true)?.publish(&case, mode_probe_ns, report, &mut table);
        }
    }
    report.add_table(table);
    report.notes.push(
        "Jobs: UUniFast utilisations, seeded; a job's numbers follow from its seed. Refuse: with the minimal conflict \
         and the changes that would fit. Missed: feasible by brute force, yet not admitted. Jobs of \
         more than 30 instances at 90 % are left out: to explain one refusal there takes minutes."
            .to_owned(),
    );
    Ok(())
}

/// Plans jobs of a shape: so many, or until the time is over.
fn tally(shape: &Shape, (jobs, limit): (u64, Duration), with_brute_force: bool) -> Result<Tally, BenchError> {
    let mut tally = Tally::default();
    let begun = Instant::now();
    for seed in (0..jobs).take_while(|seed| *seed == 0 || begun.elapsed() < limit) {
        tally.jobs += 1;
        let job = generate(shape, seed);
        tally.instances += generator::instances(&job);
        let start = Instant::now();
        let outcome = plan(black_box(&job));
        let took = start.elapsed();
        tally.count(&job, &outcome, took)?;
        if with_brute_force {
            let start = Instant::now();
            let verdict = feasible(&job);
            tally.brute_force_ns.push(start.elapsed().as_nanos() as u64);
            match verdict {
                Verdict::Feasible => {
                    tally.feasible += 1;
                    tally.missed += u64::from(outcome.is_err());
                }
                Verdict::Infeasible if outcome.is_ok() => {
                    return Err(wrong(&job, "brute force finds no plan, yet one was admitted"));
                }
                Verdict::Infeasible => {}
                Verdict::GaveUp => tally.brute_force_gave_up += 1,
            }
        }
    }
    Ok(tally)
}

fn wrong(job: &Job, reason: &str) -> BenchError {
    BenchError::Round { subject: format!("job {}", job.name), reason: reason.to_owned() }
}

impl Tally {
    fn count(
        &mut self,
        job: &Job,
        outcome: &Result<Plan, Refusal>,
        took: Duration,
    ) -> Result<(), BenchError> {
        let took_ns = took.as_nanos() as u64;
        match outcome {
            Ok(plan) => {
                self.admitted += 1;
                self.plan_ns.push(took_ns);
                let start = Instant::now();
                let checked = checker::check(black_box(plan), job);
                self.check_ns.push(start.elapsed().as_nanos() as u64);
                checked.map_err(|violations| {
                    wrong(job, &format!("the checker refuses its plan: {violations:?}"))
                })?;
            }
            Err(Refusal { kind: RefusalKind::BadDeclaration { errors }, .. }) => {
                return Err(wrong(job, &format!("the generator made a bad job: {errors:?}")));
            }
            Err(refusal) => {
                self.refused += 1;
                self.gave_up += u64::from(matches!(refusal.kind, RefusalKind::NotFound { .. }));
                self.refuse_ns.push(took_ns);
            }
        }
        Ok(())
    }

    fn publish(self, case: &str, mode_probe_ns: f64, report: &mut Report, table: &mut Table) {
        let time = |values: &[u64], pick: fn(&Distribution) -> u64| {
            Distribution::of(values).map_or(String::new(), |all| nanoseconds(pick(&all)))
        };
        let brute = match (self.feasible, self.brute_force_ns.is_empty()) {
            (_, true) => String::new(),
            (feasible, false) if self.brute_force_gave_up > 0 => {
                format!("{feasible} feasible, {} did not end", self.brute_force_gave_up)
            }
            (feasible, false) => format!("{feasible} feasible"),
        };
        table.push([
            case.to_owned(),
            self.jobs.to_string(),
            (self.instances as u64 / self.jobs.max(1)).to_string(),
            self.admitted.to_string(),
            self.refused.to_string(),
            self.gave_up.to_string(),
            brute,
            if self.brute_force_ns.is_empty() { String::new() } else { self.missed.to_string() },
            time(&self.plan_ns, |all| all.p50_ns),
            time(&self.plan_ns, |all| all.max_ns),
            time(&self.refuse_ns, |all| all.max_ns),
            time(&self.check_ns, |all| all.p50_ns),
        ]);
        let subjects = [
            ("leveret plan", &self.plan_ns),
            ("leveret refuse", &self.refuse_ns),
            ("leveret check", &self.check_ns),
            ("brute force", &self.brute_force_ns),
        ];
        report.rows.extend(subjects.into_iter().filter_map(|(subject, values)| {
            Some(Row::of_values(case, subject, mode_probe_ns, Distribution::of(values)?))
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_planner_agrees_with_brute_force_on_tiny_jobs() {
        let shape = Shape { instances: 6, tasks: 0, cores: 1, utilisation_percent: 80, costs: false };
        let tally = tally(&shape, (20, Duration::MAX), true).unwrap();
        assert_eq!((tally.missed, tally.brute_force_gave_up), (0, 0));
        assert_eq!(tally.admitted, tally.feasible);
    }
}
