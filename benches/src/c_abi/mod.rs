//! What the calls of `mpirt.h` cost over those in Rust that they lead to, and beside MPI's persistent requests.
//!
//! ```text
//!  insert, remove   a buffer into, and out of, an iterator that no channel uses: batches of 256
//!  test             a transfer that was started and whose message has not come: batches of 256
//!  start, wait      a start of a transfer whose other end has started and sent, and a wait for it, which is complete: batches of 64
//!  trip             start and wait on best-effort channels of 8 bytes, there and back: wait sleeps until it is woken
//!  poll             the same with test until it says yes, beside MPI_Start and MPI_Wait, which polls
//!  relay            remove until something has arrived, and insert it to be sent, on ends that are active; beside the same of MPI
//! ```

pub mod member;

use crate::harness::{Interleaving, Missing, Subject, interleave};
use crate::job::{self, Role};
use crate::peer::{Peer, SharedPeer, compile_mpirt};
use crate::report::{Comparison, Metric, Report};
use crate::round_trip::foreign;
use crate::{BenchError, Options};
use leveret::Horizon;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const SECONDS_DEFAULT: f64 = 2.0;
const ROUND_MAX: Duration = Duration::from_millis(80);
const CALLS: [&str; 8] = ["insert", "remove", "test", "start", "wait", "trip", "poll", "relay"];
const BYTES: usize = 8;
/// How much longer a call may take in C, in nanoseconds.
const MORE_NS: f64 = 10.0;

/// How many calls one measured piece has, one after the other, where that is always the same: a trip there and back has nine at each
/// member. Who polls calls as often as it takes.
fn calls_of(case: &str) -> Option<f64> {
    match case {
        "insert" | "remove" | "test" | "start" | "wait" => Some(1.0),
        "trip" => Some(18.0),
        _ => None,
    }
}

/// Runs every case and fills the report.
pub fn run(options: &Options, report: &mut Report) -> Result<(), BenchError> {
    let total = options.duration(SECONDS_DEFAULT);
    let round = total.min(ROUND_MAX);
    let rounds = (total.as_secs_f64() / round.as_secs_f64()).ceil() as usize;
    let extra_rounds = if options.smoke() { 0 } else { rounds };
    let how = Interleaving { cores: options.cores(), rounds, extra_rounds, least: 1 };
    let players = assemble(options, report);
    let mut cases = Vec::new();
    for call in CALLS {
        let subjects = players.iter().filter_map(|(name, peer)| {
            let order = match *name {
                "C" | "Rust" => call,
                // MPI knows a trip only; its peer fills and copies, which at 8 bytes is nothing.
                _ if ["poll", "relay"].contains(&call) => "copy",
                _ => return None,
            };
            Some(Subject::new(name, move || peer.borrow_mut().round(order, BYTES, round)))
        });
        cases.push(interleave(call, subjects.collect(), how));
    }
    report.add_cases(&cases, &comparisons());
    report.notes.push(
        "insert, remove, test: the time of one call, of batches of 256, at two members of one job. start, wait: of one call, of batches of 64, at \
         the receiving ends of as many best-effort channels whose senders have started and sent 8 bytes; the start completes the transfer, and the \
         wait returns at once. trip: remove, insert and \
         start, then wait, remove and insert, there and back over best-effort channels of 8 bytes; wait sleeps until it is \
         woken. poll: the same, with test until it says yes; MPI: its persistent start and wait, which polls. relay: ends that are active, so that \
         what is inserted is sent: a member removes until something has arrived, and inserts it in its buffer. C and Rust make the same calls in the same order, and both run under the agent."
            .to_owned(),
    );
    report.notes.extend(differences(report));
    Ok(())
}

fn assemble(options: &Options, report: &mut Report) -> Vec<(&'static str, SharedPeer)> {
    let cores = options.cores();
    let candidates = [
        ("C", ours("c", cores)),
        ("Rust", ours("rust", cores)),
        ("MPICH", foreign::mpich(cores)),
        ("Open MPI", foreign::open_mpi(cores)),
    ];
    let mut players = Vec::new();
    for (name, candidate) in candidates {
        match candidate {
            Ok(peer) => {
                report.notes.push(format!("{name}: {}.", peer.borrow().version));
                players.push((name, peer));
            }
            Err(error) => {
                report.missing.push(Missing { subject: name.to_owned(), reason: error.to_string() })
            }
        }
    }
    players
}

/// This program as the agent of a job in one of the two languages.
fn ours(language: &str, cores: [usize; 2]) -> Result<SharedPeer, BenchError> {
    if language == "c" {
        compile_mpirt("cc", "mpirt_calls.c")?;
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["child", "c-abi", language]).args(cores.map(|core| core.to_string()));
    Peer::start(language, &mut command)
}

/// The child that the harness starts: `child c-abi LANGUAGE CORE_PING CORE_PONG`.
pub fn agent([language, ping, pong]: [&str; 3]) -> Result<(), BenchError> {
    let program: Option<PathBuf> =
        if language == "c" { Some(compile_mpirt("cc", "mpirt_calls.c")?) } else { None };
    let role = |name, core: &str| {
        let number = core.parse().map_err(|error| BenchError::Missing {
            subject: format!("core {core}"),
            reason: format!("{error}"),
        })?;
        Ok::<_, BenchError>(match &program {
            Some(program) => Role::of_program(name, number, program.clone(), [core.to_owned()]),
            None => Role::new(name, number, ["c-abi-member".to_owned(), core.to_owned()]),
        })
    };
    let roles = [role("ping", ping)?, role("pong", pong)?];
    job::run("c-abi", &roles, Horizon::Unbounded).map(drop)
}

fn comparisons() -> Vec<Comparison> {
    let over = |subject: &str, reference: &str, metric, cases: fn(&str) -> bool, at_most| Comparison {
        cases,
        subject: subject.to_owned(),
        reference: reference.to_owned(),
        metric,
        at_most,
    };
    let polls: fn(&str) -> bool = |case| ["poll", "relay"].contains(&case);
    vec![
        over("C", "Rust", Metric::P50, |_| true, None),
        over("C", "MPICH", Metric::P50, polls, Some(1.0)),
        over("C", "Open MPI", Metric::P50, polls, Some(1.0)),
    ]
}

/// What a call takes more in C, against the target.
fn differences(report: &Report) -> Vec<String> {
    let between = report.ratios.iter().filter(|ratio| ratio.subject == "C" && ratio.reference == "Rust");
    let lines = between.filter_map(|ratio| {
        let more_ns = (ratio.subject_ns - ratio.reference_ns) / calls_of(&ratio.case)?;
        let verdict = if more_ns <= MORE_NS { "yes" } else { "NO" };
        Some(format!(
            "{}: at the median a call takes {more_ns:.1} ns more in C than in Rust; at most {MORE_NS:.0} ns: {verdict} (mode {:.0} ns).",
            ratio.case, ratio.mode_probe_ns
        ))
    });
    lines.collect()
}
