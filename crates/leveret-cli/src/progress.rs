//! The progress line: elapsed rounds and misses, on a terminal one line that renews itself, elsewhere a line a commit.

use crate::output;
use leveret_agent::News;
use std::io::{self, IsTerminal, Write};

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
            News::Started { label, rounds, hyperperiod } if !self.quiet => {
                self.clear();
                let text = match rounds {
                    Some(rounds) => format!("running {label}: {rounds} rounds of {hyperperiod}"),
                    None => {
                        format!("running {label}: rounds of {hyperperiod}, until it ends or is interrupted")
                    }
                };
                output::note(&text);
            }
            News::Progress { label, rounds, rounds_total, misses } if !self.quiet && self.terminal => {
                let total = rounds_total.map_or(String::new(), |total| format!(" of {total}"));
                self.line_shown = true;
                // A terminal that cannot be written to shows no progress; the run goes on.
                let _ = write!(io::stderr(), "\r\x1b[K  {label}: round {rounds}{total}, misses {misses}");
                let _ = io::stderr().flush();
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
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
