//! Loaded networks that one search does not decide at once: how many of them it does in the end, and several beside each other do.

use super::loaded::loaded;
use super::{PartReport, since};
use crate::report::Target;
use crate::table::{Table, nanoseconds};
use crate::{BenchError, Options};
use leveret::planning::plan_network;
use leveret_plan::checker::check_network;
use leveret_plan::network::{Attempt, Effort, Race, SLICE_STEPS, Traffic, attempt};
use std::num::NonZeroU32;
use std::time::Instant;

const NETWORKS: u64 = 300;
const NETWORKS_SMOKE: u64 = 4;
/// Searches that are tried beside each other.
const SEARCHES: [u32; 4] = [1, 2, 4, 8];
/// Steps of each search: a fifth of what the program gives, so that many networks are tried.
const EFFORT: Effort = Effort { seed: 0, steps: 4_000_000 };
/// How many times as many one search gets, for comparison.
const LONGER: u64 = 4;
/// Threads on which the answer is timed.
const THREADS: [u32; 2] = [1, 2];
const CASE: &str = "portfolio";

/// What one hard network came to.
struct Hard {
    seed: u64,
    /// By search: how it ended, and after which time.
    ended: Vec<(Attempt, u64)>,
    /// Whether one search with [`LONGER`] times the steps decides it.
    longer: bool,
}

#[derive(Default)]
struct Tally {
    soon: u64,
    hard: Vec<Hard>,
    wall_ns: [Vec<u64>; THREADS.len()],
}

/// Plans each network by every search by itself, from which it follows what several come to, and on some threads.
pub fn run(options: &Options, result: &mut PartReport<'_>) -> Result<(), BenchError> {
    let count = if options.smoke() { NETWORKS_SMOKE } else { NETWORKS };
    eprintln!("network-plan: {count} loaded networks");
    let mut tally = Tally::default();
    for seed in 0..count {
        if let Some(traffic) = loaded(seed) {
            tally.add(seed, &traffic)?;
        }
    }
    for (threads, wall_ns) in THREADS.iter().zip(&tally.wall_ns) {
        result.row(CASE, &format!("leveret, {threads} threads"), wall_ns);
    }
    tally.publish(result);
    Ok(())
}

impl Tally {
    fn add(&mut self, seed: u64, traffic: &Traffic) -> Result<(), BenchError> {
        if attempt(traffic, EFFORT, 0, &mut |steps| steps < SLICE_STEPS).is_some() {
            self.soon += 1;
            return Ok(());
        }
        let mut ended = Vec::new();
        for strategy in 0..SEARCHES[SEARCHES.len() - 1] {
            let begun = Instant::now();
            let Some(found) = attempt(traffic, EFFORT, strategy, &mut |_| true) else { continue };
            let took = since(begun);
            if let Ok((plan, _)) = &found.result {
                check_network(plan, traffic).map_err(|violation| wrong(seed, violation.to_string()))?;
            }
            ended.push((found, took));
        }
        let longer = Effort { steps: EFFORT.steps * LONGER, ..EFFORT };
        let longer = is_decided(&ended[0].0)
            || attempt(traffic, longer, 0, &mut |_| true).is_some_and(|found| is_decided(&found));
        for (threads, wall_ns) in THREADS.iter().zip(&mut self.wall_ns) {
            let threads = NonZeroU32::new(*threads).unwrap_or(NonZeroU32::MIN);
            let begun = Instant::now();
            let found = plan_network(traffic, EFFORT, threads);
            wall_ns.push(since(begun));
            let expected = raced(&ended, threads.get()).map(|(found, _)| found.result.map(|(plan, _)| plan));
            if expected != Some(found) {
                return Err(wrong(
                    seed,
                    format!("{threads} threads find something else than as many searches in turn"),
                ));
            }
        }
        self.hard.push(Hard { seed, ended, longer });
        Ok(())
    }

    fn publish(&self, result: &mut PartReport<'_>) {
        let heads = ["searches", "hard networks", "planned", "proven impossible", "not decided"];
        let more = ["median slices to the answer", "time of the search that answers, all"];
        let mut table = Table::new(&[&heads[..], &more].concat());
        let mut decided = Vec::new();
        for searches in SEARCHES {
            let answers: Vec<_> = self.hard.iter().filter_map(|hard| raced(&hard.ended, searches)).collect();
            let planned = answers.iter().filter(|(found, _)| found.result.is_ok()).count();
            let answered: Vec<_> = answers.iter().filter(|(found, _)| is_decided(found)).collect();
            let mut slices: Vec<u64> = answered.iter().map(|(found, _)| found.steps / SLICE_STEPS).collect();
            slices.sort_unstable();
            let took: u64 = answers.iter().map(|(_, took)| took).sum();
            decided.push(answered.len());
            table.push([
                searches.to_string(),
                self.hard.len().to_string(),
                planned.to_string(),
                (answered.len() - planned).to_string(),
                (self.hard.len() - answered.len()).to_string(),
                slices.get(slices.len() / 2).map_or(String::new(), u64::to_string),
                nanoseconds(took),
            ]);
        }
        result.report.targets.push(Target {
            case: CASE.to_owned(),
            measure: "hard networks that 4 searches decide beside each other, and one does not".to_owned(),
            value: (decided[2] - decided[0]).to_string(),
            target: "> 0".to_owned(),
            holds: decided[2] > decided[0],
        });
        let seeds: Vec<String> = self.hard.iter().map(|hard| hard.seed.to_string()).collect();
        result.report.notes.push(format!(
            "{CASE}: {} of the networks are decided within the first {SLICE_STEPS} steps of one search, and not counted. Each search has {} \
             steps; one with {LONGER} times as many decides {}. Hard are the seeds {}",
            self.soon,
            EFFORT.steps,
            self.hard.iter().filter(|hard| hard.longer).count(),
            seeds.join(", ")
        ));
        result.report.add_table(table);
    }
}

fn wrong(seed: u64, reason: String) -> BenchError {
    BenchError::Round { subject: format!("loaded network {seed}"), reason }
}

/// A plan, or a proof that there is none.
fn is_decided(found: &Attempt) -> bool {
    found.result.as_ref().err().is_none_or(leveret_plan::network::NetworkRefusal::is_proven)
}

/// What so many of the searches come to beside each other, and how long the one that answers took; of those without an answer the longest.
fn raced(ended: &[(Attempt, u64)], searches: u32) -> Option<(Attempt, u64)> {
    let mut race = Race::default();
    let first = &ended[..ended.len().min(searches as usize)];
    first.iter().for_each(|(found, _)| race.ended(found.clone()));
    let answer = race.answer()?;
    let took = |found: &&(Attempt, u64)| !is_decided(&answer) || found.0.strategy == answer.strategy;
    let took = first.iter().filter(took).map(|(_, took)| *took).max().unwrap_or(0);
    Some((answer, took))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_find_is_what_searches_find_in_turn() {
        let mut tally = Tally::default();
        for seed in 0..6 {
            let traffic = loaded(seed).expect("its plan is found");
            tally.add(seed, &traffic).unwrap();
        }
        assert_eq!(tally.soon + tally.hard.len() as u64, 6);
    }
}
