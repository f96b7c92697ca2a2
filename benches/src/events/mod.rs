//! From raising an event to whoever waits for it or handles it, there and back, beside `eventfd` and a condition variable.
//!
//! ```text
//!  across members   ping fires "there"  -->  pong waits, or its handler runs, and fires "back"  -->  ping waits
//!  same member      the same between two threads of one process
//! ```
//!
//! Everybody sleeps until it is told; two pinned processors. For the peers a handler is the thread that waited.

pub mod ours;

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
    report.add_cases(&cases, &comparisons());
    report.notes.push(
        "There and back: two events a trip, everybody asleep until told. wait: the other side waits for its receptor; \
         handler: its handler runs on the library's thread. across: two processes; same: two threads of one."
            .to_owned(),
    );
    Ok(())
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
