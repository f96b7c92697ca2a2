//! From raising an event to whoever waits for it or handles it, there and back, beside `eventfd` and a condition variable.
//!
//! ```text
//!  across members   ping fires "there"  -->  pong waits, or its handler runs, and fires "back"  -->  ping waits
//!  same member      the same between two threads of one process
//!  priority         bursts at eight priorities, raised while a more urgent handler holds the core: `priorities.rs`
//! ```
//!
//! Everybody sleeps until it is told; two pinned processors. For the peers a handler is the thread that waited.

pub mod ours;
pub mod priorities;

use crate::harness::{CaseRounds, Interleaving, Missing, Subject, interleave};
use crate::peer::{Peer, SharedPeer, compile};
use crate::report::{Comparison, Metric, Report};
use crate::{BenchError, Options};
use std::process::Command;
use std::time::Duration;

const SECONDS_DEFAULT: f64 = 2.0;
const ROUND_MAX: Duration = Duration::from_millis(80);
/// An order says how many bytes travel; events have none.
const ORDER_SIZE: usize = 8;
const SUBJECTS: [&str; 3] = ["leveret", "eventfd", "condition variable"];

/// Runs every case and fills the report.
pub fn run(options: &Options, report: &mut Report) -> Result<(), BenchError> {
    let total = options.duration(SECONDS_DEFAULT);
    let round = total.min(ROUND_MAX);
    let rounds = (total.as_secs_f64() / round.as_secs_f64()).ceil() as usize;
    let how = Interleaving {
        cores: options.cores(),
        rounds,
        extra_rounds: if options.smoke() { 0 } else { rounds },
        least: 1,
    };
    let mut cases: Vec<CaseRounds> = Vec::new();
    for place in ["across", "same"] {
        for receiver in ["wait", "handler"] {
            let players = SUBJECTS.map(|name| (name, start(name, place, receiver, options.cores())));
            let mut present: Vec<(&str, SharedPeer)> = Vec::new();
            for (name, player) in players {
                match player {
                    Ok(peer) => present.push((name, peer)),
                    Err(error) => {
                        report.missing.push(Missing { subject: name.to_owned(), reason: error.to_string() })
                    }
                }
            }
            let subjects = present.iter().map(|(name, peer)| {
                Subject::new(name, move || peer.borrow_mut().round(receiver, ORDER_SIZE, round))
            });
            cases.push(interleave(&format!("{place} members, {receiver}"), subjects.collect(), how));
        }
    }
    cases.extend(by_priority(options, report, (round, how)));
    report.add_cases(&cases, &comparisons());
    report.notes.push(
        "priority N: bursts of events at eight priorities, the least urgent first, raised while a more urgent handler holds the core; from the \
         last of them to when a handler of priority N is started. eventfd: a thread of SCHED_FIFO for each. A handler that was started before a more \
         urgent one would be told as an error: every round that counts had 0 inversions."
            .to_owned(),
    );
    report.notes.push(
        "There and back: two events a trip, everybody asleep until told. wait: the other side waits for its receptor; \
         handler: its handler runs on the library's thread. across: two processes; same: two threads of one."
            .to_owned(),
    );
    Ok(())
}

/// Bursts at several priorities, a case for each.
fn by_priority(
    options: &Options,
    report: &mut Report,
    (round, how): (Duration, Interleaving),
) -> Vec<CaseRounds> {
    let cores = options.cores().map(|core| core.to_string());
    let ours = || {
        let mut command = Command::new(std::env::current_exe()?);
        Peer::start("leveret", command.args(["child", "events-priorities"]).args(&cores))
    };
    let theirs = || Peer::start("eventfd", Command::new(compile("cc", "event_priorities.c")?).args(&cores));
    let mut present: Vec<(&str, SharedPeer)> = Vec::new();
    for (name, player) in [("leveret", ours()), ("eventfd", theirs())] {
        match player {
            Ok(peer) => present.push((name, peer)),
            Err(error) => report
                .missing
                .push(Missing { subject: format!("{name}, priorities"), reason: error.to_string() }),
        }
    }
    let case = |priority: &u8| {
        let subjects = present.iter().map(|(name, peer)| {
            Subject::new(name, move || {
                peer.borrow_mut().round(&priorities::case_of(*priority), ORDER_SIZE, round)
            })
        });
        interleave(&format!("priority {priority}"), subjects.collect(), how)
    };
    priorities::MEASURED.iter().map(case).collect()
}

fn start(name: &str, place: &str, receiver: &str, cores: [usize; 2]) -> Result<SharedPeer, BenchError> {
    let cores = cores.map(|core| core.to_string());
    if name == "leveret" {
        let mut command = Command::new(std::env::current_exe()?);
        return Peer::start(name, command.args(["child", "events", place, receiver]).args(cores));
    }
    let mechanism = if name == "eventfd" { "eventfd" } else { "cond" };
    Peer::start(name, Command::new(compile("cc", "events.c")?).args([mechanism, place]).args(cores))
}

fn comparisons() -> Vec<Comparison> {
    let over = |reference: &str| Comparison {
        cases: |_| true,
        subject: "leveret".to_owned(),
        reference: reference.to_owned(),
        metric: Metric::P50,
        at_most: None,
    };
    SUBJECTS[1..].iter().map(|reference| over(reference)).collect()
}
