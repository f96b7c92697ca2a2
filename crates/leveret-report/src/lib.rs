//! From the record of a run to verdicts, statistics, the HTML page, JSON and the trace. Pure: no clock, no files.
//!
//! | module | from a [`record::RunRecord`] to |
//! |---|---|
//! | [`storage`] | bytes and back |
//! | [`thinned`] | (part of it) counts and distributions of what a long run keeps no details of |
//! | [`journal`] | chunks that are appended while it runs, and back |
//! | [`verdict`] | every miss with its stage, cause, party and evidence; the exit code |
//! | [`statistics`] | counts and percentiles per task and channel |
//! | [`works`] | what is known of work beside the time table |
//! | [`json`] | `report.json`, described by `docs/report.schema.json` |
//! | [`text`] | the table at the end of a run |
//! | [`why`] | the timeline and the verdict of one instance |
//! | [`trace`] | a trace that Perfetto's and Chromium's viewers open |
//! | [`html`] | one self-contained page |
//! | [`picture`] | (not from a record) one page that draws a plan |
//! | [`learn`] | budgets that the measured execution times suggest |
//! | [`synthetic`] | (the other way) believable records from a seed, for tests and pictures |
//!
//! ```
//! use leveret_report::{Report, synthetic};
//! let record = synthetic::ring(&synthetic::Ring::default());
//! let report = Report::of(&record);
//! assert_eq!(report.assessment.exit_code(), 0);
//! println!("{}", leveret_report::text::table(&report));
//! ```
#![forbid(unsafe_code)]

mod format;
pub mod html;
pub mod journal;
pub mod json;
pub mod learn;
mod lookup;
pub mod picture;
pub mod record;
pub mod statistics;
pub mod storage;
pub mod synthetic;
pub mod text;
pub mod thinned;
pub mod trace;
pub mod verdict;
pub mod why;
pub mod works;
mod worst;

use record::RunRecord;
use statistics::RunStatistics;
use verdict::Assessment;

/// A run with everything computed from it, so that every output tells the same.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// What was recorded.
    pub record: &'a RunRecord,
    /// Misses and irregularities.
    pub assessment: Assessment,
    /// Counts and percentiles.
    pub statistics: RunStatistics,
}

/// Rounds are those of the time table.
pub(crate) fn rounds_told(rounds: u64, has_windows: bool) -> String {
    if rounds == 0 && !has_windows {
        "no time table".to_owned()
    } else {
        format::plural(rounds, "round", "rounds")
    }
}

impl<'a> Report<'a> {
    /// Computes the report of a run.
    pub fn of(record: &'a RunRecord) -> Self {
        let assessment = verdict::assess(record);
        let statistics = statistics::statistics(record, &assessment.misses);
        Self { record, assessment, statistics }
    }

    /// Whether anything was planned that could be missed: a task, or a channel that the clock moves. A job of
    /// best-effort channels has nothing of the sort.
    pub fn has_windows(&self) -> bool {
        self.statistics.phases.iter().any(statistics::PhaseStatistics::has_windows)
    }

    /// How many rounds ran, or that there is nothing to count.
    pub(crate) fn rounds_told(&self) -> String {
        rounds_told(self.statistics.rounds, self.has_windows())
    }

    /// Instances that were planned and of which nothing is recorded, so that each may have been a miss.
    pub(crate) fn unknown_instances(&self) -> u64 {
        let found = self.assessment.irregularities.iter();
        let unknown =
            found.filter(|found| found.kind == verdict::UNACCOUNTED || found.kind == verdict::RECORDS_LOST);
        unknown.fold(0, |sum, found| sum.saturating_add(found.count))
    }

    /// Messages without a window that were inserted, and that no receiver had taken when their phase ended.
    pub fn untaken(&self) -> u64 {
        let channels = self.statistics.phases.iter().flat_map(|phase| &phase.channels);
        channels.filter(|channel| !channel.time_driven).map(|channel| channel.untaken).sum()
    }

    /// Attempts to send a message without a window that found no free buffer.
    pub fn refused(&self) -> u64 {
        let channels = self.statistics.phases.iter().flat_map(|phase| &phase.channels);
        channels.map(|channel| channel.refused).fold(0, u64::saturating_add)
    }

    /// The conclusion in one sentence.
    pub fn conclusion(&self) -> String {
        let counts = &self.assessment.counts;
        let wrong = self.assessment.irregularities.len();
        let irregular = match wrong {
            0 => match self.untaken() {
                0 => "nothing lost, corrupt or out of order".to_owned(),
                1 => "1 message was inserted and not taken when its phase ended; nothing corrupt or out of order".to_owned(),
                untaken => format!(
                    "{untaken} messages were inserted and not taken when their phase ended; nothing corrupt or out of order"
                ),
            },
            1 => self.assessment.irregularities[0].told(),
            _ => {
                // A death is what others follow from.
                let all = &self.assessment.irregularities;
                let first = all.iter().find(|found| found.kind == verdict::MEMBER_DIED).unwrap_or(&all[0]);
                format!("{wrong} irregularities, among them {}", first.told())
            }
        };
        let irregular = match self.refused() {
            0 => irregular,
            1 => format!("{irregular}; 1 attempt to send found no free buffer"),
            refused => format!("{irregular}; {refused} attempts to send found no free buffer"),
        };
        match counts.all() {
            0 if !self.has_windows() => {
                let works = self.statistics.phases.iter().flat_map(|phase| &phase.works);
                match works::beyond_deadlines(works) {
                    Some((0, of)) => format!(
                        "nothing here has a window; of {of} recorded transfers at priorities none took longer than its deadline; \
                         {irregular}"
                    ),
                    Some((beyond, of)) => format!(
                        "nothing here has a window; {beyond} of {of} recorded transfers at priorities took longer than their deadline; \
                         {irregular}"
                    ),
                    None => format!("nothing here has a window, so none could be missed; {irregular}"),
                }
            }
            0 => match self.unknown_instances() {
                0 => format!("no miss; {irregular}"),
                1 => format!("no miss is known, and of one instance nothing is; {irregular}"),
                unknown => format!("no miss is known, and of {unknown} instances nothing is; {irregular}"),
            },
            _ => format!("{counts}; {irregular}"),
        }
    }
}
