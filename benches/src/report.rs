//! What a benchmark gives: ratios first, then what is missing, then every row; printed, and written as JSON.

use crate::BenchError;
use crate::harness::{CaseRounds, Missing, Row};
use crate::machine::Machine;
use crate::mode::Modes;
use crate::statistics::Distribution;
use crate::table::{Table, nanoseconds};
use serde::Serialize;
use std::path::Path;

/// Fewer pairs of rounds than this say nothing about a tail.
const PAIRS_LEAST: usize = 3;

/// A benchmark's result.
#[derive(Serialize)]
pub struct Report {
    /// The benchmark, such as `round-trip`.
    pub name: String,
    /// The command that made it.
    pub command: String,
    /// Where and when.
    pub machine: Machine,
    /// Centres of the modes that were seen, in nanoseconds of the bare probe.
    pub modes_ns: Vec<f64>,
    /// Comparisons within one mode.
    pub ratios: Vec<Ratio>,
    /// What was to be reached, and was or not.
    pub targets: Vec<Target>,
    /// Those that could not be measured.
    pub missing: Vec<Missing>,
    /// Every measurement.
    pub rows: Vec<Row>,
    /// What a reader should know.
    pub notes: Vec<String>,
    #[serde(skip)]
    extra_tables: Vec<Table>,
}

/// Something other than a ratio that was to be reached.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    /// Which case.
    pub case: String,
    /// What was measured, in words.
    pub measure: String,
    /// What it was.
    pub value: String,
    /// What it had to be.
    pub target: String,
    /// Whether it is.
    pub holds: bool,
}

/// A subject's measure over a reference's, of the same case and mode.
#[derive(Clone, Debug, Serialize)]
pub struct Ratio {
    /// Which case.
    pub case: String,
    /// Which measure.
    pub metric: Metric,
    /// Above the line.
    pub subject: String,
    /// Below the line.
    pub reference: String,
    /// The mode of all rounds behind it.
    pub mode_probe_ns: f64,
    /// The subject's measure in nanoseconds.
    pub subject_ns: f64,
    /// The reference's measure in nanoseconds.
    pub reference_ns: f64,
    /// Subject over reference, each merged over its rounds.
    pub ratio: f64,
    /// Median of the ratios of single rounds that ran in one turn, where there are pairs.
    pub paired: Option<f64>,
    /// Turns that hold a round of both in this mode.
    pub pairs: usize,
    /// The target, where there is one.
    pub at_most: Option<f64>,
    /// Whether the target is met; `None` too where too few pairs of rounds bear a tail.
    pub holds: Option<bool>,
}

impl Ratio {
    /// Of two rows of one mode, under the names given.
    pub fn between(
        metric: Metric,
        (subject, subject_name): (&Row, &str),
        (reference, reference_name): (&Row, &str),
        at_most: Option<f64>,
    ) -> Option<Self> {
        let (subject_ns, reference_ns) = (metric.of(subject)?, metric.of(reference)?);
        let ratio = subject_ns / reference_ns.max(1.0);
        let (paired, pairs) = metric.paired(subject, reference);
        let judged = if metric.is_tail() { paired.filter(|_| pairs >= PAIRS_LEAST) } else { Some(ratio) };
        Some(Self {
            case: subject.case.clone(),
            metric,
            subject: subject_name.to_owned(),
            reference: reference_name.to_owned(),
            mode_probe_ns: subject.mode_probe_ns,
            subject_ns,
            reference_ns,
            ratio,
            paired,
            pairs,
            at_most,
            holds: at_most.zip(judged).map(|(limit, judged)| judged <= limit),
        })
    }

    fn verdict(&self) -> &'static str {
        match (self.holds, self.at_most) {
            (Some(true), _) => "yes",
            (Some(false), _) => "NO",
            (None, Some(_)) => "too few",
            (None, None) => "",
        }
    }
}

/// A measure of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Median.
    P50,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// 99.99th percentile.
    P9999,
    /// Mean without stamps.
    Plain,
}

impl Metric {
    fn of(self, row: &Row) -> Option<f64> {
        match self {
            Self::Plain => row.plain_ns,
            _ => self.of_distribution(&row.distribution),
        }
    }

    fn of_distribution(self, distribution: &Distribution) -> Option<f64> {
        let value = match self {
            Self::P50 => distribution.p50_ns,
            Self::P99 => distribution.p99_ns,
            Self::P999 => distribution.p999_ns,
            Self::P9999 => distribution.p9999_ns,
            Self::Plain => return None,
        };
        Some(value as f64)
    }

    /// Tails are judged by pairs of rounds: one stall of the machine, which hits the rounds of one side or the other,
    /// would decide a merged tail alone.
    fn is_tail(self) -> bool {
        matches!(self, Self::P99 | Self::P999 | Self::P9999)
    }

    /// Median of the ratios of rounds of one turn, and how many turns have both.
    fn paired(self, subject: &Row, reference: &Row) -> (Option<f64>, usize) {
        let ratio = |(turn, ours): &(usize, Distribution)| {
            let (_, theirs) = reference.turns.iter().find(|(other, _)| other == turn)?;
            Some(self.of_distribution(ours)? / self.of_distribution(theirs)?.max(1.0))
        };
        let mut ratios: Vec<f64> = subject.turns.iter().filter_map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        (ratios.get(ratios.len() / 2).copied(), ratios.len())
    }

    fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::P9999 => "p99.99",
            Self::Plain => "mean",
        }
    }
}

/// What to compare with what, in every case that has both.
pub struct Comparison {
    /// Which cases.
    pub cases: fn(&str) -> bool,
    /// Above the line.
    pub subject: String,
    /// Below the line.
    pub reference: String,
    /// Which measure.
    pub metric: Metric,
    /// The target, where there is one.
    pub at_most: Option<f64>,
}

impl Report {
    /// An empty report; the load is read now.
    pub fn new(name: &str, command: &str, machine: Machine) -> Self {
        Self {
            name: name.to_owned(),
            command: command.to_owned(),
            machine,
            modes_ns: Vec::new(),
            ratios: Vec::new(),
            targets: Vec::new(),
            missing: Vec::new(),
            rows: Vec::new(),
            notes: Vec::new(),
            extra_tables: Vec::new(),
        }
    }

    /// Takes the rounds of all cases: finds the modes, merges, compares.
    pub fn add_cases(&mut self, cases: &[CaseRounds], comparisons: &[Comparison]) {
        let readings: Vec<f64> = cases.iter().flat_map(|case| case.readings_ns()).copied().collect();
        let modes = Modes::cluster(&readings);
        for case in cases {
            self.missing.extend(case.missing.iter().cloned());
            let by_mode = case.rows(&modes);
            for rows in &by_mode {
                self.ratios.extend(comparisons.iter().filter_map(|comparison| comparison.apply(rows)));
            }
            self.rows.extend(by_mode.into_iter().flatten());
            self.missing.extend(case.thrown_away(&modes));
        }
        self.modes_ns = modes.centres_ns;
    }

    /// A table of another shape, printed after the rows.
    pub fn add_table(&mut self, table: Table) {
        self.extra_tables.push(table);
    }

    /// Everything as text; the tables are Markdown.
    pub fn text(&self) -> String {
        let mut text = format!("### {}\n\n`{}`\n\n{}\n", self.name, self.command, self.machine);
        if !self.modes_ns.is_empty() {
            let modes: Vec<String> = self.modes_ns.iter().map(|centre| format!("{centre:.0} ns")).collect();
            text.push_str(&format!(
                "Modes of the machine (bare cache-line round trip): {}.\n",
                modes.join(", ")
            ));
        }
        for missing in &self.missing {
            text.push_str(&format!("Missing: {}: {}.\n", missing.subject, missing.reason));
        }
        for note in &self.notes {
            text.push_str(&format!("{note}\n"));
        }
        for table in
            [self.ratio_table(), self.target_table(), self.row_table()].iter().chain(&self.extra_tables)
        {
            if !table.is_empty() {
                text.push_str(&format!("\n{table}"));
            }
        }
        text
    }

    fn ratio_table(&self) -> Table {
        let heads = ["case", "mode", "measure", "subject", "over", "ratio", "paired", "target", "holds"];
        let mut table = Table::new(&heads);
        // What is lost comes first.
        let (lost, kept): (Vec<_>, Vec<_>) = self.ratios.iter().partition(|ratio| ratio.holds == Some(false));
        for ratio in lost.into_iter().chain(kept) {
            table.push([
                ratio.case.clone(),
                format!("{:.0}", ratio.mode_probe_ns),
                ratio.metric.name().to_owned(),
                ratio.subject.clone(),
                ratio.reference.clone(),
                format!("{:.3}", ratio.ratio),
                ratio.paired.map_or(String::new(), |paired| format!("{paired:.3} ({})", ratio.pairs)),
                ratio.at_most.map_or(String::new(), |limit| format!("<= {limit}")),
                ratio.verdict().to_owned(),
            ]);
        }
        table
    }

    fn target_table(&self) -> Table {
        let mut table = Table::new(&["case", "measure", "value", "target", "holds"]);
        for target in &self.targets {
            let holds = if target.holds { "yes" } else { "NO" };
            let Target { case, measure, value, target, .. } = target.clone();
            table.push([case, measure, value, target, holds.to_owned()]);
        }
        table
    }

    fn row_table(&self) -> Table {
        let spins = self.rows.iter().any(|row| row.spin_share.is_some());
        let plain = self.rows.iter().any(|row| row.plain_ns.is_some());
        let mut heads = vec!["case", "mode", "subject", "rounds", "count", "p50", "p50 of rounds"];
        heads.extend(plain.then_some("mean"));
        heads.extend(["p99", "p99.9", "p99.99", "max"]);
        heads.extend(spins.then_some("spinning"));
        let mut table = Table::new(&heads);
        for row in &self.rows {
            let all = &row.distribution;
            let spread = format!("{}..{}", nanoseconds(row.p50_ns_lowest), nanoseconds(row.p50_ns_highest));
            let mut cells = vec![row.case.clone(), format!("{:.0}", row.mode_probe_ns), row.subject.clone()];
            cells.extend([row.rounds.to_string(), all.count.to_string(), nanoseconds(all.p50_ns), spread]);
            let mean = || row.plain_ns.map_or(String::new(), |mean| nanoseconds(mean.round() as u64));
            cells.extend(plain.then(mean));
            cells.extend([all.p99_ns, all.p999_ns, all.p9999_ns, all.max_ns].map(nanoseconds));
            let share = || row.spin_share.map_or(String::new(), |share| format!("{:.1} %", share * 100.0));
            cells.extend(spins.then(share));
            table.push(cells);
        }
        table
    }

    /// Prints, and writes `NAME.json` and `NAME.md` into the folder.
    pub fn publish(&self, folder: &Path) -> Result<(), BenchError> {
        let text = self.text();
        println!("{text}");
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join(format!("{}.md", self.name)), text)?;
        let json = serde_json::to_string_pretty(self).map_err(std::io::Error::from)?;
        Ok(std::fs::write(folder.join(format!("{}.json", self.name)), json)?)
    }
}

impl Comparison {
    fn apply(&self, rows: &[Row]) -> Option<Ratio> {
        let find = |name: &str| rows.iter().find(|row| row.subject == name);
        let (subject, reference) = (find(&self.subject)?, find(&self.reference)?);
        if !(self.cases)(&subject.case) {
            return None;
        }
        Ratio::between(self.metric, (subject, &self.subject), (reference, &self.reference), self.at_most)
    }
}
