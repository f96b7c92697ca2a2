//! The planner of networks: beside the methods of the tsnkit collection, at size, with one stream more, against conflicts that were planted,
//! and against z3.

mod conflicts;
mod exactness;
mod growth;
mod instances;
mod loaded;
mod one_more;
mod optimality;
mod peers;
mod planted;
mod portfolio;
pub mod scale;
mod smt;
mod tsnkit;
mod z3;

use crate::harness::{Missing, Row};
use crate::mode::probe;
use crate::report::Report;
use crate::statistics::Distribution;
use crate::{BenchError, Options};
use clap::ValueEnum;

/// What of it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Instances of the tsnkit collection, beside its methods.
    Tsnkit,
    /// 100 to 45,000 streams.
    Scale,
    /// One stream more on a plan of 10,000.
    OneMore,
    /// Conflicts of 2 to 5 streams among up to 200.
    Planted,
    /// Small networks, against z3.
    Exactness,
    /// Loaded networks, by several searches beside each other.
    Portfolio,
}

/// Measures every part that is asked for. A part whose peer is missing is named.
pub fn run(options: &Options, report: &mut Report) -> Result<(), BenchError> {
    let mode_probe_ns = probe(options.cores());
    report.modes_ns = vec![mode_probe_ns];
    let mut result = PartReport { report, mode_probe_ns };
    let parts = if options.parts.is_empty() { Part::value_variants() } else { &options.parts[..] };
    for part in parts {
        match part {
            Part::Tsnkit => tsnkit::run(options, &mut result)?,
            Part::Scale => scale::run(options, &mut result)?,
            Part::OneMore => one_more::run(options, &mut result)?,
            Part::Planted => planted::run(options, &mut result)?,
            Part::Exactness => exactness::run(options, &mut result)?,
            Part::Portfolio => portfolio::run(options, &mut result)?,
        }
    }
    Ok(())
}

/// The report, with the mode that stands in each of its rows.
pub struct PartReport<'a> {
    report: &'a mut Report,
    mode_probe_ns: f64,
}

impl PartReport<'_> {
    /// A row of times, where there are any.
    fn row(&mut self, case: &str, subject: &str, values_ns: &[u64]) {
        let of_values = |values| Row::of_values(case, subject, self.mode_probe_ns, values);
        self.report.rows.extend(Distribution::of(values_ns).map(of_values));
    }

    /// What is not there, in the words of its error.
    fn missing(&mut self, error: &BenchError) {
        let (subject, reason) = match error {
            BenchError::Missing { subject, reason } => (subject.clone(), reason.clone()),
            other => ("network-plan".to_owned(), other.to_string()),
        };
        self.report.missing.push(Missing { subject, reason });
    }
}

/// The value that a share of all values, in permille, does not exceed; none of no values.
fn percentile(values_ns: &[u64], permille: usize) -> Option<u64> {
    let mut sorted = values_ns.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * permille).div_ceil(1000).max(1);
    sorted.get(rank - 1).copied()
}

/// Nanoseconds since an instant.
fn since(begun: std::time::Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_value_at_its_rank() {
        let values: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(
            [500, 950, 990, 1000].map(|share| percentile(&values, share)),
            [50, 95, 99, 100].map(Some)
        );
        assert_eq!((percentile(&[7], 10), percentile(&[], 500)), (Some(7), None));
    }
}
