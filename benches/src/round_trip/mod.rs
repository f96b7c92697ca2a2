//! Round trip of a best-effort channel between two pinned processes, beside the raw limit and the peers.
//!
//! What touches the payload, the same for all in a case:
//!
//! ```text
//!  untouched   the sender writes the first word, the receiver reads it where it lies     (aliased buffers)
//!  copy        the sender fills the whole payload, the receiver ends with its own copy   (separate buffers)
//!  -wake       the receiver sleeps until it is woken; without, it polls
//! ```

pub mod foreign;
pub mod ours;

use crate::harness::{CaseRounds, Interleaving, Missing, Row, Subject, interleave};
use crate::peer::SharedPeer;
use crate::report::{Comparison, Metric, Ratio, Report};
use crate::{BenchError, Options};
use std::time::Duration;

const SIZES: [usize; 9] = [8, 64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
const SIZES_SMOKE: [usize; 3] = [8, 4 << 10, 1 << 20];
const SECONDS_DEFAULT: f64 = 0.8;
const ROUND_MAX: Duration = Duration::from_millis(80);
/// The target over the raw limit at 8 bytes, polling.
const RAW_LIMIT_RATIO: f64 = 1.3;
/// The target for an aliased transfer of any size over one of 64 bytes: equal, but for the noise of two medians.
const SIZE_RATIO: f64 = 1.1;

/// The target of a waking case's 99.99th percentile over the bare futex's.
const WAKING_TAIL_RATIO: f64 = 1.3;
/// Ours in a job that has a task too.
const WATCHED: &str = "leveret watched";
const SIZES_WATCHED: [usize; 3] = [8, 4 << 10, 64 << 10];

/// The order that plays a case of this kind and size, if there is one.
type Plays = fn(&str, usize) -> Option<&'static str>;

/// Somebody who can play ping-pong, and at what.
struct Player {
    name: &'static str,
    peer: SharedPeer,
    plays: Plays,
}

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
    let players = assemble(options, report);
    let mut cases: Vec<CaseRounds> = Vec::new();
    for kind in ["untouched", "copy", "untouched-wake", "copy-wake"] {
        for size in SIZES.into_iter().filter(|size| !options.smoke() || SIZES_SMOKE.contains(size)) {
            let subjects = players.iter().filter_map(|player| {
                let order = (player.plays)(kind, size)?;
                Some(Subject::new(player.name, move || player.peer.borrow_mut().round(order, size, round)))
            });
            let case = format!("{kind} {}", size_text(size));
            if !options.selects(&case) {
                continue;
            }
            cases.push(interleave(&case, subjects.collect(), how));
        }
    }
    report.add_cases(&cases, &comparisons());
    report.ratios.extend(independence_of_size(&report.rows));
    report.notes.push(
        "untouched: the sender writes the first word and the receiver reads it in place; copy: the sender fills the \
         whole payload and the receiver ends with a copy of its own; -wake: the receiver sleeps until woken. raw: the \
         machine alone, one cache line each way (untouched, and 8 bytes) or one fill and one memcpy a way. leveret watched: in a job with \
         a task too, so that the agent logs who has the cores. MPI by persistent requests, and by blocking calls."
            .to_owned(),
    );
    Ok(())
}

fn assemble(options: &Options, report: &mut Report) -> Vec<Player> {
    let (cores, smoke) = (options.cores(), options.smoke());
    let mut players = Vec::new();
    let mut add = |candidate: Result<SharedPeer, BenchError>, plays: &[(&'static str, Plays)]| match candidate
    {
        Ok(peer) => {
            report.notes.push(format!("{}: {}.", plays[0].0, peer.borrow().version));
            players.extend(plays.iter().map(|&(name, plays)| Player { name, peer: peer.clone(), plays }));
        }
        Err(error) => {
            report.missing.push(Missing { subject: plays[0].0.to_owned(), reason: error.to_string() });
        }
    };
    add(foreign::raw(cores), &[("raw", raw_plays)]);
    add(foreign::iceoryx2(cores, smoke), &[("iceoryx2", everything)]);
    add(foreign::aeron(cores, smoke), &[("Aeron", claims)]);
    add(foreign::mpich(cores), &[("MPICH", polling_copies), ("MPICH blocking", blocking_copies)]);
    add(foreign::open_mpi(cores), &[("Open MPI", polling_copies), ("Open MPI blocking", blocking_copies)]);
    // Building a peer may take minutes, and a job ends when a member leaves the others waiting in a commit for that long.
    add(foreign::leveret(cores), &[("leveret", everything), (WATCHED, watched)]);
    players.sort_by_key(|player| !matches!(player.name, "leveret" | WATCHED));
    players
}

fn raw_plays(kind: &str, size: usize) -> Option<&'static str> {
    match (kind, size) {
        ("untouched" | "copy", 8) | ("untouched", _) => Some("line"),
        ("untouched-wake" | "copy-wake", 8) | ("untouched-wake", _) => Some("line-wake"),
        ("copy", _) => Some("copy"),
        ("copy-wake", _) => Some("copy-wake"),
        _ => None,
    }
}

fn everything(kind: &str, _size: usize) -> Option<&'static str> {
    ["untouched", "copy", "untouched-wake", "copy-wake"].into_iter().find(|known| *known == kind)
}

fn polling_copies(kind: &str, _size: usize) -> Option<&'static str> {
    (kind == "copy").then_some("copy")
}

fn blocking_copies(kind: &str, _size: usize) -> Option<&'static str> {
    (kind == "copy").then_some("copy-blocking")
}

/// Aeron's claims are one frame long, and its receivers only poll.
fn claims(kind: &str, size: usize) -> Option<&'static str> {
    const CLAIM_BYTES_MAX: usize = 65_504 - 32;
    ["untouched", "copy"].into_iter().find(|known| *known == kind && size <= CLAIM_BYTES_MAX)
}

/// Ours, beside a task whose starts the agent judges.
fn watched(kind: &str, size: usize) -> Option<&'static str> {
    let order = match kind {
        "untouched" => "untouched-watched",
        "copy" => "copy-watched",
        "untouched-wake" => "untouched-watched-wake",
        _ => "copy-watched-wake",
    };
    SIZES_WATCHED.contains(&size).then_some(order)
}

fn comparisons() -> Vec<Comparison> {
    let over = |reference: &str, metric, cases, at_most| Comparison {
        cases,
        subject: "leveret".to_owned(),
        reference: reference.to_owned(),
        metric,
        at_most,
    };
    let headline: fn(&str) -> bool = |case| ["untouched 8 B", "copy 8 B"].contains(&case);
    let others: fn(&str) -> bool = |case| !["untouched 8 B", "copy 8 B"].contains(&case);
    let mut all = Vec::new();
    for metric in [Metric::P50, Metric::Plain] {
        all.push(over("raw", metric, headline, Some(RAW_LIMIT_RATIO)));
        all.push(over("raw", metric, others, None));
    }
    for peer in ["iceoryx2", "Aeron", "MPICH", "MPICH blocking", "Open MPI", "Open MPI blocking"] {
        all.push(over(peer, Metric::P50, |_| true, Some(1.0)));
    }
    // Who waits asleep pays for whoever else has the core when it is woken.
    let waking: fn(&str) -> bool = |case| case.contains("-wake");
    for metric in [Metric::P999, Metric::P9999] {
        all.push(over("raw", metric, waking, (metric == Metric::P9999).then_some(WAKING_TAIL_RATIO)));
    }
    for metric in [Metric::P50, Metric::P9999] {
        let over = over("leveret", metric, |_| true, None);
        all.push(Comparison { subject: WATCHED.to_owned(), ..over });
    }
    all
}

/// The time of an aliased transfer at each size over that at 64 bytes. A payload of up to 40 bytes lies in the cache
/// line of its sequence word and saves the second line that every larger one needs; so 8 bytes stand outside.
fn independence_of_size(rows: &[Row]) -> Vec<Ratio> {
    let ours = |kind: &str| {
        let start = format!("{kind} ");
        rows.iter().filter(move |row| row.subject == "leveret" && row.case.starts_with(&start))
    };
    let mut ratios = Vec::new();
    for kind in ["untouched", "untouched-wake"] {
        for small in ours(kind).filter(|row| row.case.ends_with(" 64 B")) {
            let same_mode = ours(kind).filter(|row| row.mode_probe_ns == small.mode_probe_ns);
            for large in same_mode.filter(|row| row.case != small.case && !row.case.ends_with(" 8 B")) {
                let names = ((large, "leveret"), (small, "leveret at 64 B"));
                ratios.extend(Ratio::between(Metric::P50, names.0, names.1, Some(SIZE_RATIO)));
            }
        }
    }
    ratios
}

/// `8 B`, `64 KiB`, `1 MiB`.
fn size_text(size: usize) -> String {
    match size {
        0..1024 => format!("{size} B"),
        1024..1_048_576 => format!("{} KiB", size >> 10),
        _ => format!("{} MiB", size >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        let texts = SIZES.map(size_text);
        assert_eq!(texts[0], "8 B");
        assert_eq!(texts[5], "64 KiB");
        assert_eq!(texts[8], "4 MiB");
    }

    #[test]
    fn the_raw_limit_plays_every_case() {
        for kind in ["untouched", "copy", "untouched-wake", "copy-wake"] {
            assert!(SIZES.iter().all(|size| raw_plays(kind, *size).is_some()));
        }
    }
}
