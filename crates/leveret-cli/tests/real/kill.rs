//! `kill -9` of every member, at random moments, under every policy: the others stay consistent, learn of it, and
//! the run ends with its report and without leftovers.

use crate::harness::{Outcome, Workplace, member, turn};
use crate::job::{Job, core, ring, ring_model};
use leveret_os::process::{PidFd, Signal};
use leveret_report::record::{Ending, EventKind, Phase};
use leveret_types::Nanos;
use std::process::Command;

const ROUNDS: u64 = 30;
const MEMBERS: [&str; 3] = ["A", "B", "C"];
/// The period of the ring.
const PERIOD: Nanos = Nanos::from_millis(20);

/// Random moments from a printed seed (splitmix64).
struct Moments(u64);

impl Moments {
    #[allow(clippy::disallowed_methods, reason = "whoever looks into a failure gives its seed by a variable")]
    fn new() -> Self {
        let given = std::env::var("LEVERET_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let token = leveret_os::host::random_token().expect("random bytes");
            token.bytes().fold(0_u64, |seed, byte| seed.wrapping_mul(257).wrapping_add(u64::from(byte)))
        });
        println!("LEVERET_TEST_SEED={seed}");
        Self(seed)
    }

    fn within(&mut self, range: Nanos) -> Nanos {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Nanos(((mixed ^ (mixed >> 31)) % range.0.unsigned_abs()) as i64)
    }
}

/// When the killer strikes, counted from an event.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// From the start of the member's process: before, in or shortly after the commit.
    AroundCommit(Nanos),
    /// From the commit's admission: while the ring runs.
    Running(Nanos),
}

/// Runs a ring in which the victims are killed.
fn run_and_kill(policy: &str, victims: &[&str], moment: Moment) -> Outcome {
    let place = Workplace::new();
    let pids: Vec<String> = MEMBERS.iter().map(|name| format!("pid={}", place.shown(name))).collect();
    let retry = "on-refusal=retry";
    let extra: [&[&str]; 3] = [&[&pids[0], retry], &[&pids[1], retry], &[&pids[2], retry]];
    let job = ring(ROUNDS, &format!("policy = \"{policy}\""), extra).text();
    let run = place.start(&job);
    let processes: Vec<PidFd> = victims
        .iter()
        .map(|name| {
            run.await_file(name);
            let pid = place.text(name).parse().expect("a process number");
            PidFd::open(pid).expect("the victim lives")
        })
        .collect();
    let wait = match moment {
        Moment::AroundCommit(wait) => wait,
        Moment::Running(wait) => {
            run.await_text("stderr", "running node");
            wait
        }
    };
    leveret_os::clock::sleep_until(leveret_os::clock::now() + wait);
    for process in &processes {
        // On a fast machine the run may be over.
        let _ = process.signal(Signal::KILL);
    }
    run.finish_alone()
}

fn deaths(phase: &Phase) -> Vec<(u16, Nanos)> {
    let died = phase.events.iter().filter_map(|event| match event.kind {
        EventKind::MemberDied { member, .. } => Some((member, event.at)),
        _ => None,
    });
    died.collect()
}

/// What holds under every policy.
fn assert_sane(outcome: &Outcome, context: &str) {
    assert!(outcome.signal.is_none(), "{context}: {}", outcome.said());
    assert!(!outcome.stderr.contains("panicked"), "{context}: {}", outcome.said());
    if outcome.record.is_some() {
        outcome.assert_consistent();
    } else {
        assert_eq!(outcome.code, Some(1), "{context}: {}", outcome.said());
        // Before the others had declared, or after.
        let named = ["has died", "died during commit"].iter().any(|text| outcome.stderr.contains(text));
        assert!(named, "{context}: {}", outcome.said());
    }
}

/// Each member in turn, once around the commit and once while the ring runs.
fn each_member(policy: &str, check: impl Fn(&Outcome, usize, &str)) {
    let _turn = turn();
    let mut moments = Moments::new();
    for (rank, victim) in MEMBERS.into_iter().enumerate() {
        let commit = Moment::AroundCommit(moments.within(Nanos::from_millis(120)));
        let running = Moment::Running(moments.within(Nanos::from_millis(400)));
        for moment in [commit, running] {
            let context = format!("policy {policy}, member {victim} killed at {moment:?}");
            println!("{context}");
            let outcome = run_and_kill(policy, &[victim], moment);
            assert_sane(&outcome, &context);
            if matches!(moment, Moment::Running(_)) {
                assert_eq!(deaths(&outcome.record().phases[0]).len(), 1, "{context}: {}", outcome.said());
            }
            check(&outcome, rank, &context);
        }
    }
}

#[test]
fn with_policy_stop_everybody_stops_at_the_next_round() {
    each_member("stop", |outcome, rank, context| {
        assert_eq!(outcome.code, Some(1), "{context}: {}", outcome.said());
        let Some(record) = &outcome.record else { return };
        let name = ["A", "B", "C"][rank];
        let told = matches!(&record.ending, Ending::Stopped(why) if why.contains(&format!("member \"{name}\" died")));
        assert!(told, "{context}: {:?}", record.ending);
        let [phase] = &record.phases[..] else { panic!("{context}: one commit") };
        let (_, died) = deaths(phase)[0];
        for (index, task) in phase.tasks.iter().enumerate().filter(|(index, _)| *index != rank) {
            // All end with the same round, one that had begun when they could have been told.
            let last = task.instances.last().map_or(Nanos::ZERO, |last| last.planned);
            let limit = died.max(Nanos::ZERO) + PERIOD.saturating_mul(3);
            assert!(last <= limit, "{context}: task {index} went on until {last}, the death was at {died}");
        }
        let lengths: Vec<usize> = (phase.tasks.iter().enumerate())
            .filter(|(index, _)| *index != rank)
            .map(|(_, task)| task.instances.len())
            .collect();
        assert_eq!(lengths[0], lengths[1], "{context}: {}", outcome.said());
    });
}

#[test]
fn with_policy_continue_the_others_go_on_and_learn_of_it() {
    each_member("continue", |outcome, rank, context| {
        assert_eq!(outcome.code, Some(1), "{context}: {}", outcome.said());
        let Some(record) = &outcome.record else { return };
        let [phase] = &record.phases[..] else { panic!("{context}: one commit") };
        let (_, died) = deaths(phase)[0];
        for (index, task) in phase.tasks.iter().enumerate().filter(|(index, _)| *index != rank) {
            assert_eq!(task.instances.len() as u64, ROUNDS, "{context}: task {index}: {}", outcome.said());
        }
        // Who reads from the dead member says in which instance it first found that out.
        let reader = (rank + 1) % MEMBERS.len();
        let told = outcome.stderr.lines().find_map(|line| {
            line.strip_prefix(&format!("node {}: peer dead in instance ", MEMBERS[reader]))?
                .parse::<u64>()
                .ok()
        });
        let first_after = |instant: Nanos| {
            let instances = &phase.tasks[reader].instances;
            let mut ran = instances.iter().filter(|instance| !instance.is_skipped());
            ran.find(|instance| instance.planned > instant).map(|instance| instance.instance)
        };
        // The first message of all is read in the second instance.
        if let Some(limit) = first_after(died.max(Nanos::ZERO) + PERIOD) {
            let told = told.unwrap_or_else(|| panic!("{context}: never told: {}", outcome.said()));
            assert!(told <= limit, "{context}: told in instance {told}, the death was at {died}");
        }
    });
}

#[test]
fn with_policy_restart_the_job_commits_again_and_completes() {
    each_member("restart", |outcome, rank, context| {
        let record = outcome.record();
        assert_eq!(record.ending, Ending::Completed, "{context}: {}", outcome.said());
        assert_whole(record.phases.last().expect("a phase"), context);
        if let [first, _] = &record.phases[..] {
            assert_eq!(deaths(first)[0].0, rank as u16, "{context}");
            let again = |kind: &EventKind| *kind == EventKind::MemberRestarted { member: rank as u16 };
            assert!(first.events.iter().any(|event| again(&event.kind)), "{context}: {:?}", first.events);
            assert_eq!(outcome.code, Some(1), "{context}: a death is never silent");
        }
    });
}

/// Every member ran to the end of the horizon.
fn assert_whole(phase: &Phase, context: &str) {
    for task in &phase.tasks {
        assert_eq!(task.instances.len() as u64, ROUNDS, "{context}");
    }
}

#[test]
fn with_policy_restart_two_deaths_at_once_are_two_restarts() {
    let _turn = turn();
    let mut moments = Moments::new();
    let moment = Moment::Running(moments.within(Nanos::from_millis(400)));
    let outcome = run_and_kill("restart", &["A", "C"], moment);
    assert_sane(&outcome, "two deaths");
    let record = outcome.record();
    assert_eq!(record.ending, Ending::Completed, "{}", outcome.said());
    assert_eq!(deaths(&record.phases[0]).len(), 2);
    assert_whole(record.phases.last().expect("a phase"), &outcome.said());
}

/// The example that the how-to page shows: a death in its second commit makes all begin with the first size again.
#[test]
fn the_ring_of_the_examples_survives_a_death_in_its_second_commit() {
    let _turn = turn();
    let place = Workplace::new();
    let mut job = Job::new(ROUNDS, "policy = \"restart\"");
    for (rank, name) in MEMBERS.into_iter().enumerate() {
        job = job.member(name, core(rank), "ring", &[]);
    }
    let run = place.start(&ring_model(job).text());
    run.await_text("stderr", "running 1 KiB");
    let victim = place.member_process("B").expect("the member lives");
    victim.signal(Signal::KILL).expect("the member lives");
    let outcome = run.finish_alone();
    assert_sane(&outcome, "the ring");
    let record = outcome.record();
    assert_eq!(record.ending, Ending::Completed, "{}", outcome.said());
    let labels: Vec<&str> = record.phases.iter().map(|phase| phase.label.as_str()).collect();
    assert_eq!(labels, ["4 B", "1 KiB", "4 B", "1 KiB"], "{}", outcome.said());
    assert_whole(record.phases.last().expect("a phase"), &outcome.said());
}

/// One child whose parent lives, one in a session of its own, one whose parent ended at once, and one that ends itself.
const FORKS: &str = "sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 &); (sleep 0.1 &); exec \"$@\"";

fn ring_that_forks(place: &Workplace) -> String {
    let own: [&[&str]; 3] = [
        &["task=A.user", "reads=CA", "writes=AB", "first=yes"],
        &["task=B.user", "reads=AB", "writes=BC"],
        &["task=C.user", "reads=BC", "writes=CA"],
    ];
    let node = member("test-node");
    let mut job = Job::new(ROUNDS, "policy = \"stop\"");
    for (rank, name) in MEMBERS.into_iter().enumerate() {
        let pid = format!("pid={}", place.shown(name));
        let arguments: Vec<&str> =
            ["-c", FORKS, "sh", &node, &pid].into_iter().chain(own[rank].iter().copied()).collect();
        job = job.command(name, core(rank), "/bin/sh", &arguments);
    }
    ring_model(job).text()
}

#[test]
fn what_members_started_ends_with_the_job() {
    let _turn = turn();
    let place = Workplace::new();
    let outcome = place.start(&ring_that_forks(&place)).finish_alone();
    assert_sane(&outcome, "forks");
    assert_whole(&outcome.record().phases[0], &outcome.said());
    assert!(outcome.stderr.contains("ended 9 processes that members had started"), "{}", outcome.said());
}

#[test]
fn what_a_killed_member_started_ends_with_the_job() {
    let _turn = turn();
    let place = Workplace::new();
    let run = place.start(&ring_that_forks(&place));
    run.await_text("stderr", "running node");
    // Its children have its environment, but not its number.
    let pid = place.text("B").parse().expect("a process number");
    PidFd::open(pid).expect("it lives").signal(Signal::KILL).expect("it lives");
    assert_sane(&run.finish_alone(), "forks");
}

/// Children that `leveret run` was given by the shell that became it are nobody's orphans.
#[test]
fn what_was_there_before_the_job_stays() {
    let _turn = turn();
    let place = Workplace::new();
    let command = place.command(&ring(ROUNDS, "", [&[], &[], &[]]).text(), &[]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "setsid sleep 1000 & echo $! > before; exec \"$@\"", "sh"]);
    shell.arg(command.get_program()).args(command.get_args()).current_dir(place.path("."));
    let outcome = place.spawn(shell).finish();
    assert_sane(&outcome, "before");
    let pid = place.text("before").trim().parse().expect("a process number");
    let before = PidFd::open(pid).expect("it lives");
    before.signal(Signal::KILL).expect("it lives");
    place.await_nobody();
}
