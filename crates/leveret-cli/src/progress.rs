//! The progress line: elapsed rounds and misses, on a terminal one line that renews itself, elsewhere a line a commit.

use crate::output;
use leveret_agent::News;
use leveret_os::said;
use leveret_plan::PlannedCore;
use leveret_types::Nanos;
use leveret_types::printable;
use std::io::{self, IsTerminal};

/// What is left of each core for best effort.
fn left(cores: &[PlannedCore], hyperperiod: Nanos) -> String {
    let told = |core: &PlannedCore| match core.left {
        Nanos::ZERO if core.sporadic > Nanos::ZERO => {
            format!("core {} what work at priorities leaves", core.core)
        }
        left => format!("core {} {:.1} %", core.core, left.0 as f64 * 100.0 / hyperperiod.0.max(1) as f64),
    };
    let shares: Vec<String> = cores.iter().map(told).collect();
    if shares.is_empty() { String::new() } else { format!("; left for best effort: {}", shares.join(", ")) }
}

/// What begins, and when it ends. Without a time table rounds are nothing but a measure of time.
fn begun((label, rounds): (&str, Option<u64>), hyperperiod: Nanos, has_table: bool) -> String {
    match (rounds, has_table) {
        (Some(rounds), true) => format!("running {label}: {rounds} rounds of {hyperperiod}"),
        (None, true) => format!("running {label}: rounds of {hyperperiod}, until it ends or is interrupted"),
        (Some(rounds), false) => {
            let span = hyperperiod.saturating_mul(i64::try_from(rounds).unwrap_or(i64::MAX));
            format!("running {label}: no time table, for {span} at most")
        }
        (None, false) => format!("running {label}: no time table, until it ends or is interrupted"),
    }
}

/// Prints what the agent tells.
pub struct Progress {
    quiet: bool,
    terminal: bool,
    /// What was started last has rounds that can be counted.
    has_table: bool,
}

impl Progress {
    /// With `quiet`, only notes are printed.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, terminal: io::stderr().is_terminal(), has_table: false }
    }

    /// Prints one piece of news.
    pub fn tell(&mut self, news: &News<'_>) {
        match news {
            News::Note(text) => {
                // Names and reasons in it may be a member's words.
                said::clear_status();
                output::note(&printable(text));
            }
            News::Started { label, rounds, hyperperiod, has_table, cores } if !self.quiet => {
                said::clear_status();
                self.has_table = *has_table;
                let text = begun((label, *rounds), *hyperperiod, *has_table);
                output::note(&printable(&(text + &left(cores, *hyperperiod))));
            }
            News::Progress { .. } if !self.has_table => {}
            News::Progress { label, rounds, rounds_total, misses } if !self.quiet && self.terminal => {
                let total = rounds_total.map_or(String::new(), |total| format!(" of {total}"));
                said::show_status(&printable(&format!("  {label}: round {rounds}{total}, misses {misses}")));
            }
            News::Started { .. } | News::Progress { .. } => {}
        }
    }

    /// Leaves the line free for what comes next.
    pub fn finish(&mut self) {
        said::clear_status();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_time_table_no_rounds_are_told() {
        let second = Nanos::from_secs(1);
        assert_eq!(begun(("commit", Some(3)), second, true), "running commit: 3 rounds of 1s");
        assert_eq!(
            begun(("commit", Some(3)), second, false),
            "running commit: no time table, for 3s at most"
        );
        let open = begun(("commit", None), second, false);
        assert_eq!(open, "running commit: no time table, until it ends or is interrupted");
    }

    // spec: QOS-ADMIT-02
    #[test]
    fn what_may_all_be_taken_is_not_left() {
        let core = |left: i64, sporadic: i64| PlannedCore {
            core: 1,
            used: Nanos(100 - left - sporadic),
            sporadic: Nanos(sporadic),
            left: Nanos(left),
            longest_gap: Nanos(left),
        };
        assert_eq!(left(&[core(25, 0)], Nanos(100)), "; left for best effort: core 1 25.0 %");
        assert_eq!(left(&[core(0, 0)], Nanos(100)), "; left for best effort: core 1 0.0 %");
        let all = left(&[core(0, 90)], Nanos(100));
        assert_eq!(all, "; left for best effort: core 1 what work at priorities leaves");
    }
}
