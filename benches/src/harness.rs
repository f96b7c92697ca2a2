//! Interleaves short rounds of ours, the peers and the machine alone, and compares only rounds of one mode.
//!
//! ```text
//!  probe | A | probe | B | probe | C | probe | A | probe | B | ...
//!   81 ns      81 ns      80 ns     375 ns      -> A and B count as mode 81, this C counts as nothing
//! ```

use crate::BenchError;
use crate::mode::{Modes, probe};
use crate::statistics::Distribution;
use serde::Serialize;

/// What one round of one subject gave.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Values in nanoseconds with their counts, ascending.
    pub values: Vec<(u64, u64)>,
    /// Mean of a batch without stamps inside, in nanoseconds.
    pub plain_ns: Option<f64>,
    /// Share of one processor that was spent spinning, 0 to 1, where that is of interest.
    pub spin_share: Option<f64>,
}

impl Measured {
    /// Values alone.
    pub fn of(values: Vec<(u64, u64)>) -> Self {
        Self { values, ..Self::default() }
    }

    /// From the line `done PLAIN_PICOSECONDS VALUE:COUNT ...`.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("done ")?.split_whitespace();
        let plain_ps: u64 = words.next()?.parse().ok()?;
        let pair = |word: &str| {
            let (value, count) = word.split_once(':')?;
            Some((value.parse().ok()?, count.parse().ok()?))
        };
        let values = words.map(pair).collect::<Option<Vec<_>>>()?;
        let plain_ns = (plain_ps > 0).then_some(plain_ps as f64 / 1000.0);
        (!values.is_empty()).then_some(Self { values, plain_ns, spin_share: None })
    }
}

/// One of those that are compared.
pub struct Subject<'a> {
    /// As printed.
    pub name: String,
    /// Runs one round.
    pub round: Box<dyn FnMut() -> Result<Measured, BenchError> + 'a>,
}

impl<'a> Subject<'a> {
    /// A subject from its parts.
    pub fn new(name: &str, round: impl FnMut() -> Result<Measured, BenchError> + 'a) -> Self {
        Self { name: name.to_owned(), round: Box::new(round) }
    }
}

/// A subject that is not there, and why.
#[derive(Clone, Debug, Serialize)]
pub struct Missing {
    /// Who.
    pub subject: String,
    /// Why.
    pub reason: String,
}

/// The rounds of one case, in the order in which they ran.
pub struct CaseRounds {
    case: String,
    subjects: Vec<String>,
    rounds: Vec<Round>,
    readings_ns: Vec<f64>,
    /// Subjects that failed in this case.
    pub missing: Vec<Missing>,
}

struct Round {
    turn: usize,
    subject: usize,
    before_ns: f64,
    after_ns: f64,
    measured: Measured,
}

/// One line of a result: a subject in a case in a mode.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which case.
    pub case: String,
    /// Who.
    pub subject: String,
    /// Centre of the mode's probe readings.
    pub mode_probe_ns: f64,
    /// Rounds that are merged here.
    pub rounds: usize,
    /// Merged over the rounds.
    #[serde(flatten)]
    pub distribution: Distribution,
    /// Each round alone, with the turn in which it ran.
    #[serde(skip)]
    pub turns: Vec<(usize, Distribution)>,
    /// Smallest p50 of a single round.
    pub p50_ns_lowest: u64,
    /// Largest p50 of a single round.
    pub p50_ns_highest: u64,
    /// Smallest of the rounds' means without stamps: a mean holds every stall of the machine, the smallest the fewest.
    pub plain_ns: Option<f64>,
    /// Mean share of a processor spent spinning.
    pub spin_share: Option<f64>,
}

impl Row {
    /// Of values that were not measured in rounds.
    pub fn of_values(case: &str, subject: &str, mode_probe_ns: f64, distribution: Distribution) -> Self {
        Self {
            case: case.to_owned(),
            subject: subject.to_owned(),
            mode_probe_ns,
            rounds: 1,
            distribution,
            turns: Vec::new(),
            p50_ns_lowest: distribution.p50_ns,
            p50_ns_highest: distribution.p50_ns,
            plain_ns: None,
            spin_share: None,
        }
    }
}

/// How the rounds are run.
#[derive(Clone, Copy, Debug)]
pub struct Interleaving {
    /// The two processors in use.
    pub cores: [usize; 2],
    /// Rounds per subject.
    pub rounds: usize,
    /// At most so many more, while no mode has as many rounds of every subject as are wanted at least.
    pub extra_rounds: usize,
    /// So many are wanted.
    pub least: usize,
}

/// Runs a case: every subject once, then every subject again, a probe between any two.
pub fn interleave(case: &str, mut subjects: Vec<Subject<'_>>, how: Interleaving) -> CaseRounds {
    eprintln!("{case}");
    let mut all = CaseRounds {
        case: case.to_owned(),
        subjects: subjects.iter().map(|subject| subject.name.clone()).collect(),
        rounds: Vec::new(),
        readings_ns: vec![probe(how.cores)],
        missing: Vec::new(),
    };
    let mut failed = vec![false; subjects.len()];
    for turn in 0..how.rounds + how.extra_rounds {
        if turn >= how.rounds && all.has_common_mode(&failed, how.least) {
            break;
        }
        for (place, subject) in subjects.iter_mut().enumerate().filter(|(place, _)| !failed[*place]) {
            let outcome = (subject.round)();
            let before_ns = all.readings_ns[all.readings_ns.len() - 1];
            let after_ns = probe(how.cores);
            all.readings_ns.push(after_ns);
            match outcome {
                Ok(measured) => {
                    all.rounds.push(Round { turn, subject: place, before_ns, after_ns, measured })
                }
                Err(error) => {
                    all.missing.push(Missing { subject: subject.name.clone(), reason: error.to_string() });
                }
            }
        }
        for missing in &all.missing {
            failed
                .iter_mut()
                .zip(&all.subjects)
                .for_each(|(failed, name)| *failed |= *name == missing.subject);
        }
    }
    all
}

impl CaseRounds {
    /// The probe readings of this case.
    pub fn readings_ns(&self) -> &[f64] {
        &self.readings_ns
    }

    fn has_common_mode(&self, failed: &[bool], least: usize) -> bool {
        let modes = Modes::cluster(&self.readings_ns);
        (0..modes.centres_ns.len()).any(|mode| {
            (0..failed.len()).filter(|place| !failed[*place]).all(|place| {
                let rounds = self.rounds.iter().filter(|round| round.subject == place);
                let is_of = |round: &&Round| modes.of_round(round.before_ns, round.after_ns) == Some(mode);
                rounds.filter(is_of).count() >= least
            })
        })
    }

    /// Subjects of whose rounds none was within one mode.
    pub fn thrown_away(&self, modes: &Modes) -> Vec<Missing> {
        let of_subject = |(place, name): (usize, &String)| {
            let mut rounds = self.rounds.iter().filter(|round| round.subject == place).peekable();
            rounds.peek()?;
            let all = rounds.all(|round| modes.of_round(round.before_ns, round.after_ns).is_none());
            all.then(|| Missing {
                subject: name.clone(),
                reason: format!("{}: the machine changed its speed in every round", self.case),
            })
        };
        self.subjects.iter().enumerate().filter_map(of_subject).collect()
    }

    /// One row per subject and mode, the modes with most subjects (then most rounds) first.
    pub fn rows(&self, modes: &Modes) -> Vec<Vec<Row>> {
        let mut by_mode: Vec<Vec<Row>> = (0..modes.centres_ns.len())
            .map(|mode| {
                (0..self.subjects.len()).filter_map(|subject| self.row(modes, mode, subject)).collect()
            })
            .filter(|rows: &Vec<Row>| !rows.is_empty())
            .collect();
        let weight = |rows: &[Row]| (rows.len(), rows.iter().map(|row| row.rounds).sum::<usize>());
        by_mode.sort_by_key(|rows| std::cmp::Reverse(weight(rows)));
        by_mode
    }

    fn row(&self, modes: &Modes, mode: usize, subject: usize) -> Option<Row> {
        let chosen: Vec<&Round> = self
            .rounds
            .iter()
            .filter(|round| round.subject == subject)
            .filter(|round| modes.of_round(round.before_ns, round.after_ns) == Some(mode))
            .collect();
        let measured = || chosen.iter().map(|round| &round.measured);
        let alone =
            |round: &&Round| Some((round.turn, Distribution::merge([round.measured.values.as_slice()])?));
        let turns: Vec<(usize, Distribution)> = chosen.iter().filter_map(alone).collect();
        let medians = || turns.iter().map(|(_, one)| one.p50_ns);
        let shares: Vec<f64> = measured().filter_map(|round| round.spin_share).collect();
        Some(Row {
            case: self.case.clone(),
            subject: self.subjects[subject].clone(),
            mode_probe_ns: modes.centres_ns[mode],
            rounds: chosen.len(),
            distribution: Distribution::merge(measured().map(|round| round.values.as_slice()))?,
            p50_ns_lowest: medians().min()?,
            p50_ns_highest: medians().max()?,
            plain_ns: measured().filter_map(|round| round.plain_ns).min_by(f64::total_cmp),
            spin_share: (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64),
            turns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(value: u64) -> Result<Measured, BenchError> {
        Ok(Measured { values: vec![(value, 10)], plain_ns: Some(value as f64), spin_share: None })
    }

    fn rounds(readings_ns: Vec<f64>, subjects: &[usize]) -> CaseRounds {
        let pairs = readings_ns.windows(2).zip(subjects).enumerate();
        let rounds = pairs.map(|(turn, (pair, subject))| Round {
            turn: turn / 2,
            subject: *subject,
            before_ns: pair[0],
            after_ns: pair[1],
            measured: fixed(turn as u64 + 1).unwrap(),
        });
        let rounds = rounds.collect();
        let subjects = vec!["a".to_owned(), "b".to_owned()];
        CaseRounds { case: "case".to_owned(), subjects, rounds, readings_ns, missing: Vec::new() }
    }

    #[test]
    fn only_rounds_of_one_mode_are_merged() {
        let all = rounds(vec![80.0, 81.0, 80.0, 370.0, 371.0, 82.0, 81.0], &[0, 1, 0, 1, 0, 1]);
        let rows = all.rows(&Modes::cluster(&all.readings_ns));
        let near: Vec<_> = rows[0].iter().map(|row| (row.subject.as_str(), row.rounds)).collect();
        assert_eq!(near, [("a", 1), ("b", 2)]);
        assert_eq!(rows[1].len(), 1);
        assert_eq!((rows[1][0].subject.as_str(), rows[1][0].distribution.p50_ns), ("b", 4));
        assert!(all.has_common_mode(&[false, false], 1) && !all.has_common_mode(&[false, false], 1_000));
    }

    #[test]
    fn a_subject_without_a_round_in_one_mode_is_named() {
        let all = rounds(vec![80.0, 81.0, 370.0, 371.0, 81.0], &[0, 1, 0, 1]);
        let missing = all.thrown_away(&Modes::cluster(&all.readings_ns));
        let named: Vec<&str> = missing.iter().map(|missing| missing.subject.as_str()).collect();
        assert_eq!(named, ["b"]);
    }

    #[test]
    fn a_failing_subject_is_missing_and_the_others_go_on() {
        let broken = || Err(BenchError::Round { subject: "b".to_owned(), reason: "broke".to_owned() });
        let subjects = vec![Subject::new("a", || fixed(7)), Subject::new("b", broken)];
        let all = interleave(
            "case",
            subjects,
            Interleaving { cores: [0, 1], rounds: 3, extra_rounds: 0, least: 1 },
        );
        assert_eq!(all.rounds.len(), 3);
        assert_eq!(all.missing.len(), 1);
        assert!(all.missing[0].reason.contains("broke"));
    }

    #[test]
    fn a_line_of_a_child_is_read() {
        let measured = Measured::parse("done 93047 100:3 131:5").unwrap();
        assert_eq!(measured.values, [(100, 3), (131, 5)]);
        assert_eq!(measured.plain_ns, Some(93.047));
        assert!(Measured::parse("error nothing").is_none());
        assert!(Measured::parse("done 5 7:x").is_none());
    }
}
