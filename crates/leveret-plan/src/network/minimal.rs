//! Fewer streams of a conflict: one after the other is left out, as long as the others have no plan either (deletion, as in O. Guieu, J. Chinneck, "Analyzing
//! infeasible mixed-integer and integer linear programs", 1999).

use super::explain::NetworkRefusal;
use super::model::{Stream, Traffic};
use super::trials::Trials;
use leveret_types::{Nanos, StreamId};

/// Streams that are planned to make one conflict smaller.
const PLANNED_MAX: usize = 10_000;
/// A search without an answer counts as so many streams.
const UNKNOWN_COST: usize = 500;

/// A proven refusal of as few streams as are found, and whether without any one of them the others were seen to have a table.
pub(super) fn minimal(trials: &mut Trials<'_>, refusal: NetworkRefusal) -> (NetworkRefusal, bool) {
    let mut known = refusal;
    if matches!(known, NetworkRefusal::Conflict { minimal: true, .. }) || known.streams().len() <= 1 {
        return (known, true);
    }
    let mut minimal = true;
    let mut needed: Vec<StreamId> = Vec::new();
    let mut left = PLANNED_MAX;
    let mut index = known.streams().len();
    while index > 0 {
        index -= 1;
        let streams = known.streams();
        let one = streams[index];
        // Whoever leaves out one of two that are alike might as well leave out the other.
        let declared = |stream: &StreamId| &trials.traffic.streams[stream.index()];
        if needed.iter().any(|other| are_alike(declared(other), declared(&one))) {
            continue;
        }
        let fewer: Vec<_> = streams.iter().copied().filter(|stream| *stream != one).collect();
        let Some(rest) = left.checked_sub(fewer.len()) else { return (told(known, false), false) };
        left = rest;
        match trials.table(None, &fewer) {
            Some(Ok(_)) => needed.push(one),
            Some(Err(smaller)) if smaller.is_proven() && !smaller.streams().is_empty() => {
                known = smaller;
                index = known.streams().len().min(index);
                if known.streams().len() == 1 {
                    return (known, true);
                }
            }
            _ => {
                minimal = false;
                left = left.saturating_sub(UNKNOWN_COST);
            }
        }
    }
    (told(known, minimal), minimal)
}

/// A conflict says of itself whether it is minimal.
fn told(mut refusal: NetworkRefusal, is_minimal: bool) -> NetworkRefusal {
    if let NetworkRefusal::Conflict { minimal, .. } = &mut refusal {
        *minimal = is_minimal;
    }
    refusal
}

/// Whether two streams are declared alike but for their names.
fn are_alike(one: &Stream, other: &Stream) -> bool {
    let shape = |stream: &Stream| {
        let times: [Nanos; 3] = [stream.period, stream.release, stream.deadline];
        (stream.source, times, stream.latency, stream.jitter, stream.size, stream.copies)
    };
    shape(one) == shape(other) && one.targets == other.targets && one.ways == other.ways
}

/// The streams of some traffic that are not among others.
pub(super) fn without(traffic: &Traffic, dropped: &[StreamId]) -> Vec<StreamId> {
    let mut is_kept = vec![true; traffic.streams.len()];
    dropped.iter().for_each(|stream| is_kept[stream.index()] = false);
    (0..traffic.streams.len() as u32).map(StreamId).filter(|stream| is_kept[stream.index()]).collect()
}
