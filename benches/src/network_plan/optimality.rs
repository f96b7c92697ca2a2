//! Small networks that have no plan: is each conflict as small as it says, does each change resolve it, and is the least change the least? z3 is asked.

use super::z3::{Answer, LIMIT_MS, Z3};
use super::{PartReport, smt};
use crate::BenchError;
use crate::report::Target;
use crate::table::Table;
use leveret_plan::network::{
    ChangeFields, Effort, NetworkChange, NetworkConflict, NetworkExplanation, NetworkRefusal, NetworkRemedy,
    StreamChange, Traffic, explain_network,
};
use leveret_types::{ByteSize, Nanos, StreamId};

const CASE: &str = "optimality";
/// Changes that are asked for of one conflict.
const CHANGES_MAX: usize = 5;
/// The step of a time in a change that is called the least.
const TIME_STEP_NS: i64 = 1_000;

/// What z3 says of one kind of claim.
#[derive(Default)]
struct Claims {
    made: u64,
    confirmed: u64,
    not_answered: u64,
}

/// What the explanations claim, and what of it z3 confirms.
#[derive(Default)]
pub struct Optimality {
    networks: u64,
    conflicts: u64,
    minimal: Claims,
    resolving: Claims,
    least: Claims,
    disagreements: Vec<String>,
}

impl Optimality {
    /// Explains a refusal, and asks z3 of every claim in it.
    pub fn add(
        &mut self,
        seed: u64,
        traffic: &Traffic,
        refusal: NetworkRefusal,
        z3: &mut Z3,
    ) -> Result<(), BenchError> {
        let told = explain_network(traffic, refusal, Effort::default(), CHANGES_MAX);
        self.networks += 1;
        // Where more conflicts were found than are told, it is not known what the rest was planned without.
        if told.more > 0 {
            return Ok(());
        }
        for (index, conflict) in told.conflicts.iter().enumerate() {
            self.conflicts += 1;
            self.smallest(seed, traffic, conflict, z3)?;
            let ground = ground(traffic, &told, index);
            for remedy in &conflict.remedies {
                self.remedy(seed, traffic, (remedy, &ground), z3)?;
            }
        }
        Ok(())
    }

    fn smallest(
        &mut self,
        seed: u64,
        traffic: &Traffic,
        conflict: &NetworkConflict,
        z3: &mut Z3,
    ) -> Result<(), BenchError> {
        let own = conflict.refusal.streams();
        if !conflict.is_minimal || own.is_empty() {
            return Ok(());
        }
        let mut answers = vec![answer(traffic, own, z3)?.negated()];
        for one in own.iter().filter(|_| own.len() > 1) {
            let others: Vec<StreamId> = own.iter().copied().filter(|other| other != one).collect();
            answers.push(answer(traffic, &others, z3)?);
        }
        let words = || format!("the conflict {}", conflict.reason(traffic));
        self.minimal.count(&answers, &mut self.disagreements, seed, words);
        Ok(())
    }

    fn remedy(
        &mut self,
        seed: u64,
        traffic: &Traffic,
        (remedy, ground): (&NetworkRemedy, &[StreamId]),
        z3: &mut Z3,
    ) -> Result<(), BenchError> {
        let mut asked = |change: &NetworkChange| {
            let mut changed = traffic.clone();
            change.apply(&mut changed);
            let all: Vec<StreamId> = (0..traffic.streams.len() as u32).map(StreamId).collect();
            answer(&changed, if remedy.remain == 0 { &all } else { ground }, z3)
        };
        let fits = asked(&remedy.change)?;
        let words = || remedy.words(traffic);
        self.resolving.count(&[fits], &mut self.disagreements, seed, words);
        if let Some(less) = remedy.is_least.then(|| one_less(traffic, &remedy.change)).flatten() {
            let misses = asked(&less)?.negated();
            self.least.count(&[misses], &mut self.disagreements, seed, words);
        }
        Ok(())
    }

    /// Adds the targets and the table.
    pub fn publish(self, result: &mut PartReport<'_>) {
        let claims = [
            ("conflicts that have no plan, and one without any of their streams", &self.minimal),
            ("changes that resolve", &self.resolving),
            ("changes called the least, of which one step less has no plan", &self.least),
        ];
        for (what, claims) in claims {
            let decided = claims.made - claims.not_answered;
            result.report.targets.push(Target {
                case: CASE.to_owned(),
                measure: format!("{what}: confirmed by z3, of {decided} that it decides"),
                value: claims.confirmed.to_string(),
                target: decided.to_string(),
                holds: claims.confirmed == decided,
            });
        }
        let heads = ["refused small networks", "conflicts", "claim", "made", "z3 confirms", "z3 undecided"];
        let mut table = Table::new(&heads);
        for (what, claims) in claims {
            let mut cells = vec![self.networks.to_string(), self.conflicts.to_string(), what.to_owned()];
            cells.extend([claims.made, claims.confirmed, claims.not_answered].map(|count| count.to_string()));
            table.push(cells);
        }
        result.report.add_table(table);
        let wrong = self.disagreements.iter().map(|one| format!("{CASE}: DISAGREEMENT, {one}"));
        result.report.notes.extend(wrong);
    }
}

impl Claims {
    /// A claim, of which each answer must be yes.
    fn count(
        &mut self,
        answers: &[Answer],
        disagreements: &mut Vec<String>,
        seed: u64,
        words: impl Fn() -> String,
    ) {
        self.made += 1;
        if answers.contains(&Answer::Unsatisfiable) {
            disagreements.push(format!("seed {seed}: {}", words()));
        } else if answers.contains(&Answer::Unknown) {
            self.not_answered += 1;
        } else {
            self.confirmed += 1;
        }
    }
}

/// All streams but those of other conflicts.
fn ground(traffic: &Traffic, told: &NetworkExplanation, index: usize) -> Vec<StreamId> {
    let own = told.conflicts[index].refusal.streams();
    let others = told.conflicts.iter().enumerate().filter(|(other, _)| *other != index);
    let dropped: Vec<StreamId> =
        others.flat_map(|(_, other)| other.refusal.streams().iter().copied()).collect();
    let all = (0..traffic.streams.len() as u32).map(StreamId);
    all.filter(|stream| own.contains(stream) || !dropped.contains(stream)).collect()
}

/// Whether some of the streams have a plan with the round of all.
fn answer(traffic: &Traffic, streams: &[StreamId], z3: &mut Z3) -> Result<Answer, BenchError> {
    let wrong = |reason: String| BenchError::Round { subject: "changed traffic".to_owned(), reason };
    let round = traffic.validate().map_err(|error| wrong(error.to_string()))?;
    let mut part = traffic.clone();
    part.streams = streams.iter().map(|stream| traffic.streams[stream.index()].clone()).collect();
    z3.ask(&smt::question(&part, round.0), LIMIT_MS)
}

/// The change one step nearer to what is declared; none where that is what is declared, which was refused.
fn one_less(traffic: &Traffic, change: &NetworkChange) -> Option<NetworkChange> {
    let ChangeFields { from: Some(from), to: Some(to), unit, .. } = change.fields(traffic) else {
        return None;
    };
    let step = if unit == Some("ns") { TIME_STEP_NS } else { 1 };
    let less = if to > from { (to - 1).div_euclid(step) * step } else { (to + step).div_euclid(step) * step };
    let is_between = (less - from).signum() == (to - from).signum();
    let NetworkChange::Stream(stream, change) = change else { return None };
    let change = match change {
        StreamChange::Release(_) => StreamChange::Release(Nanos(less)),
        StreamChange::Deadline(_) => StreamChange::Deadline(Nanos(less)),
        StreamChange::Latency(_) => StreamChange::Latency(Nanos(less)),
        StreamChange::Jitter(_) => StreamChange::Jitter(Nanos(less)),
        StreamChange::Size(_) => StreamChange::Size(ByteSize(less.cast_unsigned())),
        StreamChange::Period(_) | StreamChange::FreeWays | StreamChange::OneWay => return None,
    };
    is_between.then_some(NetworkChange::Stream(*stream, change))
}

#[cfg(test)]
mod tests {
    use super::super::instances::small;
    use super::*;
    use leveret_plan::network::plan_network;

    #[test]
    fn a_claim_is_confirmed_where_every_answer_is_yes() {
        let (mut claims, mut wrong) = (Claims::default(), Vec::new());
        let yes = Answer::Satisfiable;
        for answers in [[yes, yes], [yes, Answer::Unknown], [yes.negated(), Answer::Unknown]] {
            claims.count(&answers, &mut wrong, 7, || "this".to_owned());
        }
        assert_eq!((claims.made, claims.confirmed, claims.not_answered), (3, 1, 1));
        assert_eq!(wrong, ["seed 7: this"]);
    }

    #[test]
    fn one_step_less_is_still_a_change() {
        let (mut seen, mut refused) = (0, 0);
        for seed in 0..60 {
            let traffic = small(seed);
            let Err(refusal) = plan_network(&traffic, Effort::default()) else { continue };
            refused += 1;
            let told = explain_network(&traffic, refusal, Effort::default(), CHANGES_MAX);
            for remedy in told.conflicts.iter().flat_map(|conflict| &conflict.remedies) {
                let Some(less) = one_less(&traffic, &remedy.change) else { continue };
                let (far, near) = (remedy.change.fields(&traffic), less.fields(&traffic));
                let distance = |fields: &ChangeFields| Some((fields.to? - fields.from?).abs());
                assert!(distance(&near) < distance(&far), "{less:?} for {remedy:?}");
                assert_ne!(near.to, near.from);
                seen += 1;
            }
        }
        assert!(refused > 10 && seen > refused, "{seen} of {refused}");
    }
}
