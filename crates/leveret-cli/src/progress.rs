//! The progress line: elapsed rounds and misses, on a terminal one line that renews itself, elsewhere a line a commit.

use crate::output;
use leveret_agent::News;
use leveret_plan::PlannedCore;
use leveret_types::Nanos;
use std::io::{self, IsTerminal, Write};

/// What is left of each core for best effort.
fn left(cores: &[PlannedCore], hyperperiod: Nanos) -> String {
    let share = |core: &PlannedCore| core.left.0 as f64 * 100.0 / hyperperiod.0.max(1) as f64;
    let shares: Vec<String> =
        cores.iter().map(|core| format!("core {} {:.1} %", core.core, share(core))).collect();
    if shares.is_empty() { String::new() } else { format!("; left for best effort: {}", shares.join(", ")) }
}

/// Prints what the agent tells.
pub struct Progress {
    quiet: bool,
    terminal: bool,
    line_shown: bool,
}

impl Progress {
    /// With `quiet`, only notes are printed.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, terminal: io::stderr().is_terminal(), line_shown: false }
    }

    /// Prints one piece of news.
    pub fn tell(&mut self, news: &News<'_>) {
        match news {
            News::Note(text) => {
                self.clear();
                output::note(text);
            }
            News::Started { label, rounds, hyperperiod, cores } if !self.quiet => {
                self.clear();
                let text = match rounds {
                    Some(rounds) => format!("running {label}: {rounds} rounds of {hyperperiod}"),
                    None => {
                        format!("running {label}: rounds of {hyperperiod}, until it ends or is interrupted")
                    }
                };
                output::note(&(text + &left(cores, *hyperperiod)));
            }
            News::Progress { label, rounds, rounds_total, misses } if !self.quiet && self.terminal => {
                let total = rounds_total.map_or(String::new(), |total| format!(" of {total}"));
                self.line_shown = true;
                // A terminal that cannot be written to shows no progress; the run goes on.
                let line = format!("\r\x1b[K  {label}: round {rounds}{total}, misses {misses}");
                let _ = io::stderr().write_all(line.as_bytes());
            }
            News::Started { .. } | News::Progress { .. } => {}
        }
    }

    /// Leaves the line free for what comes next.
    pub fn finish(&mut self) {
        self.clear();
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.line_shown) {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
