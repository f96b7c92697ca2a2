//! A member that gets no core when it should stop: it is waited for, and whoever has the core is named.

use crate::harness::{Outcome, Running, Workplace, turn};
use crate::job::{Job, core, cores};
use leveret_os::clock;
use leveret_os::threads_of::{self, Policy, ThreadInfo};
use leveret_types::Nanos;
use std::process::{Child, Command};

/// Ends the hog, whatever becomes of the test.
struct Hog(Child);

impl Hog {
    /// Takes the job's first core.
    fn start(priority: &str) -> Self {
        let hog = Command::new("taskset")
            .args(["-c", &core(0).to_string(), "chrt", "-f", priority, "sh", "-c", "while :; do :; done"])
            .spawn();
        Self(hog.expect("util-linux is there"))
    }

    /// Waits until it has the core; `false` if it may not have it.
    fn is_there(&mut self) -> bool {
        let ranks = |hog: &ThreadInfo| hog.name == "sh" && hog.policy == Policy::Fifo;
        while !threads_of::about(self.0.id()).is_ok_and(|hog| ranks(&hog)) {
            if self.has_ended() {
                return false;
            }
            clock::sleep_until(clock::now() + Nanos::from_millis(2));
        }
        true
    }

    fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("a child can be asked").is_some()
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A job of one member, which has made its first rounds.
fn run_on_the_first_core(place: &Workplace) -> Running<'_> {
    let pid = format!("pid={}", place.shown("V.pid"));
    let job = Job::new(50, "").member("V", core(0), "test-node", &["task=V.user", &pid, "started=2"]);
    let run = place.start(&job.task("V.user", ["2ms", "16ms"], "1ms", "").text());
    run.await_text("V.pid", "started");
    run
}

/// Between `head` and `tail` stands that the hog had the core, for most of the time.
fn assert_held(outcome: &Outcome, head: &str, process: u32, tail: &str) {
    let head = format!("{head}\"sh\" had it for ");
    let tail = format!(" (thread {process} of process {process}, SCHED_FIFO 95){tail}");
    let told = outcome.stderr.split_once(&head).and_then(|(_, rest)| rest.split_once(&tail));
    let times = told.and_then(|(times, _)| times.split_once(" of the last ")).unwrap_or_default();
    let [ran, within] = [times.0, times.1].map(|time| time.parse::<Nanos>().unwrap_or_default());
    assert!(within > Nanos::ZERO && ran >= Nanos(within.0 / 2), "{head}...{tail}: {}", outcome.said());
}

#[test]
fn who_keeps_a_member_from_stopping_is_named_and_the_member_is_not_ended_for_it() {
    let _turn = turn();
    if cores().len() < 2 {
        return eprintln!("SKIPPED: there is one core, and the agent needs another than the hog's");
    }
    let place = Workplace::new();
    let run = run_on_the_first_core(&place);
    let mut hog = Hog::start("95");
    let process = hog.0.id();
    let named = "member \"V\" should have stopped, and gets no time on core";
    run.await_until("the hog's name", || hog.has_ended() || place.text("stderr").contains(named));
    if hog.has_ended() {
        let _outcome = run.finish();
        return eprintln!("SKIPPED: the right to real-time scheduling is missing");
    }
    drop(hog);
    let outcome = run.finish_alone();
    let head = format!("{named} {}: ", core(0));
    assert_held(&outcome, &head, process, "; the member is given more time");
    assert!(!outcome.stderr.contains("did not stop within"), "{}", outcome.said());
    assert_eq!(outcome.record().phases[0].rounds, 50, "{}", outcome.said());
}

/// What the agent itself runs on the job's cores, to watch the machine and to keep them awake, ranks below every task: it must not be waited
/// for at the end.
#[test]
fn a_job_whose_agent_gets_no_time_on_its_cores_ends() {
    let _turn = turn();
    if cores().len() < 2 {
        return eprintln!("SKIPPED: there is one core, and the agent needs another than the hog's");
    }
    let place = Workplace::new();
    let run = run_on_the_first_core(&place);
    // Above the agent's threads, below the tasks.
    let mut hog = Hog::start("8");
    let outcome = run.finish();
    if hog.has_ended() {
        return eprintln!("SKIPPED: the right to real-time scheduling is missing");
    }
    assert_eq!(outcome.record().phases[0].rounds, 50, "{}", outcome.said());
}

/// What is measured before the first plan is measured on each core, one of which somebody keeps.
#[test]
fn who_keeps_a_core_from_being_measured_is_named_and_the_run_goes_on() {
    let _turn = turn();
    if cores().len() < 2 {
        return eprintln!("SKIPPED: there is one core, and the job needs another than the hog's");
    }
    let place = Workplace::new();
    let mut hog = Hog::start("95");
    if !hog.is_there() {
        return eprintln!("SKIPPED: the right to real-time scheduling is missing");
    }
    let job = Job::new(20, "").member("V", core(1), "test-node", &["task=V.user"]);
    let run = place.start(&job.task("V.user", ["2ms", "16ms"], "1ms", "").text());
    let measured = format!("nothing could be measured on core {}", core(0));
    run.await_text("stderr", &measured);
    let process = hog.0.id();
    drop(hog);
    let outcome = run.finish_alone();
    let head = format!("core {} cannot be measured: ", core(0));
    assert_held(&outcome, &head, process, ", and the job's tasks would not get it");
    assert_eq!(outcome.record().phases[0].rounds, 20, "{}", outcome.said());
}
