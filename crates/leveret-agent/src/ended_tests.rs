//! Thousands of commits, and what is kept of them.

use super::*;
use leveret_report::Report;
use leveret_report::record::{Ending, MachineFacts, RunRecord};
use leveret_report::synthetic::{Ring, ring};

const ROUNDS: u64 = 10;
const MOST: usize = 1 << 20;

fn base() -> Phase {
    ring(&Ring { rounds: ROUNDS, ..Ring::default() }).phases.remove(0)
}

/// The n-th commit of a run: one of two plans in turn, and every thousandth has a miss.
fn commit(base: &Phase, number: u64) -> Phase {
    let mut phase = base.clone();
    phase.label = format!("commit {number}");
    phase.job.tasks[0].budget = phase.job.tasks[0].budget + leveret_types::Nanos((number % 2) as i64);
    phase.epoch_monotonic =
        phase.epoch_monotonic + phase.plan.hyperperiod.saturating_mul((ROUNDS * number) as i64);
    if number % 1000 == 999 {
        let instance = &mut phase.tasks[0].instances[3];
        instance.ended = instance.deadline + leveret_types::Nanos(1);
    }
    phase
}

fn run_of(phases: Vec<Phase>) -> RunRecord {
    RunRecord {
        job: "ring".to_owned(),
        started_unix_s: 0,
        machine: MachineFacts::default(),
        phases,
        ending: Ending::Completed,
    }
}

/// What a run's report counts: instances of all tasks, messages, misses, what fails it besides.
fn counted(phases: &[Phase]) -> [u64; 4] {
    let tasks = || phases.iter().flat_map(|phase| &phase.tasks);
    let channels = || phases.iter().flat_map(|phase| &phase.channels);
    let missed = tasks().map(|task| {
        let kept = task.instances.iter().filter(|instance| instance.is_missed()).count() as u64;
        kept + task.thinned.missed
    });
    [
        tasks().map(|task| task.instances.len() as u64 + task.thinned.count).sum(),
        channels().map(|channel| channel.messages.len() as u64 + channel.thinned.count).sum(),
        missed.sum(),
        phases.iter().map(|phase| phase.rounds).sum(),
    ]
}

#[test]
fn thousands_of_commits_take_the_bytes_of_a_few_and_each_instance_is_counted() {
    const COMMITS: u64 = 6000;
    let mut ended = Ended::default();
    let (mut numbers, mut expected, mut most) = (0..u32::MAX, [0; 4], 0);
    let base = base();
    let one = counted(&[commit(&base, 0)]);
    for number in 0..COMMITS {
        let journalled = numbers.next();
        ended.push(commit(&base, number), journalled);
        expected = std::array::from_fn(|place| expected[place] + one[place]);
        if ended.are_beyond(MOST) {
            let fold = ended.fold(MOST, || numbers.next().expect("one more"));
            assert!(!fold.gone.is_empty() && fold.sums.len() <= 2, "{} sums", fold.sums.len());
        }
        most = ended.bytes().max(most);
        assert!(!ended.are_beyond(MOST), "{} bytes after {number}", ended.bytes());
    }
    expected[2] += COMMITS / 1000;
    assert!(ended.folded() > COMMITS / 2 && ended.count() == COMMITS, "{} folded", ended.folded());
    assert!(most > MOST / 4, "{most}");
    let phases = ended.into_phases();
    assert_eq!(counted(&phases), expected);
    let with_misses = phases.iter().filter(|phase| has_failed(phase) && !phase.tasks[0].instances.is_empty());
    assert_eq!(with_misses.count() as u64, COMMITS / 1000, "commits with a miss keep their details");
    let record = run_of(phases);
    let report = Report::of(&record);
    assert_eq!(report.assessment.misses.len() as u64, COMMITS / 1000);
    assert!(report.assessment.irregularities.is_empty(), "{:?}", report.assessment.irregularities);
}

#[test]
fn where_misses_are_too_many_they_are_counted_and_still_fail_the_run() {
    let (mut ended, base) = (Ended::default(), base());
    for number in 0..1500 {
        ended.push(commit(&base, 999 + 1000 * number), None);
        if ended.are_beyond(MOST) {
            let fold = ended.fold(MOST, || unreachable!("nothing is written"));
            assert!(fold.gone.is_empty() && fold.sums.is_empty());
        }
        assert!(!ended.are_beyond(MOST));
    }
    let phases = ended.into_phases();
    assert_eq!(counted(&phases)[2], 1500);
    assert_eq!(Report::of(&run_of(phases)).assessment.exit_code(), 1);
}

#[test]
fn a_partial_last_round_accuses_nobody_and_a_hole_is_not_forgotten() {
    let base = base();
    let cut = |missing: usize| {
        let mut ended = Ended::default();
        for number in 0..50 {
            let mut phase = commit(&base, 2 * number);
            let keeps = phase.tasks[0].instances.len() - missing;
            phase.tasks[0].instances.truncate(keeps);
            ended.push(phase, None);
        }
        ended.fold(1, || unreachable!("nothing is written"));
        let phases = ended.into_phases();
        assert_eq!((phases.len(), phases[0].label.as_str()), (1, "50 earlier commits"));
        let record = run_of(phases);
        let irregularities = Report::of(&record).assessment.irregularities;
        irregularities.iter().map(|found| found.count).sum::<u64>()
    };
    assert_eq!(cut(0), 0);
    assert_eq!(cut(1), 0, "the last round was partial");
    assert_eq!(cut(3), 50 * 2);
}

#[test]
fn a_commit_is_whole_once_every_instance_of_its_rounds_is_accounted_for() {
    let phase = base();
    let round = phase.plan.hyperperiod;
    let after = |rounds: u64| phase.epoch_monotonic + round.saturating_mul(rounds as i64);
    let now = after(1);
    assert!(is_whole(&phase, after(ROUNDS), now, |_| false));
    assert!(!is_whole(&phase, after(ROUNDS + 1), now, |_| false), "it was to run longer");
    assert!(!is_whole(&phase, Nanos::MAX, Nanos::MAX, |_| false), "it has no end");
    let mut cut = phase.clone();
    cut.tasks[1].instances.pop();
    assert!(!is_whole(&cut, after(ROUNDS), now, |_| false));
    cut.tasks[1].records_lost += 1;
    assert!(is_whole(&cut, after(ROUNDS), now, |_| false), "it has run");
    cut.tasks[1].instances.truncate(1);
    let member = phase.job.members[phase.job.tasks[1].member.index()].name.clone();
    let outstayed = |name: &str| name == member;
    assert!(is_whole(&cut, after(ROUNDS), after(ROUNDS), outstayed), "who did not stop has not cut the run");
    assert!(!is_whole(&cut, after(ROUNDS), now, |_| false));
    let empty = Phase { tasks: Vec::new(), ..phase.clone() };
    assert_eq!([after(0), after(2)].map(|end| is_whole(&empty, end, now, |_| false)), [true, false]);
}
