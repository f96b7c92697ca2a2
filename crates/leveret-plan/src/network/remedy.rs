//! Single changes with which refused traffic would fit, each of them planned before it is named: which are tried.

use super::Effort;
use super::change::{NetworkChange, StreamChange};
use super::explain::NetworkRefusal;
use super::explanation::late_flows;
use super::ladder::Ladder;
use super::least::{Finder, Least};
use super::minimal::without;
use super::model::{Stream, StreamFault, Traffic, TrafficError};
use super::problem::Problem;
use super::trials::{Answer, STEPS_PER_PLAN, Trials};
use leveret_types::{BitRate, ByteSize, LinkId, Nanos, StreamId};

/// Streams of a conflict that are changed, the first ones.
const CHANGED_MAX: usize = 8;
/// Streams without a proof up to which changes are tried.
pub(super) const UNPROVEN_MAX: usize = 300;
/// Cables that are made faster.
const CABLES_MAX: usize = 8;
/// Rates that are tried for one cable.
const RATES_PER_CABLE: usize = 3;
/// Periods that are tried for one stream.
const PERIODS_MAX: usize = 8;
/// Periods are no longer than so many times what is declared.
const PERIOD_FACTOR_MAX: i64 = 8;
/// A window ends no more than so many periods later.
const PERIODS_LATER_MAX: i64 = 4;
/// Instances of a round that are looked at for the next longer period.
const COUNTS_MAX: usize = 1 << 16;
/// Times below which nothing is sought.
const MICRO: i64 = 1_000;
/// Rates that cables have, in bits a second.
pub(crate) const RATES: [u64; 9] = [
    10_000_000,
    100_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    25_000_000_000,
    40_000_000_000,
    100_000_000_000,
];

/// Single changes with each of which the whole would fit, at most `most`: first those of windows, then of what moves, then of the network.
pub fn remedies(traffic: &Traffic, refusal: &NetworkRefusal, most: usize) -> Vec<NetworkChange> {
    if let NetworkRefusal::Invalid(TrafficError::Stream { name, fault: StreamFault::NoSecondWay { .. } }) =
        refusal
    {
        return one_way(traffic, name).into_iter().collect();
    }
    if let NetworkRefusal::Late(late) = refusal {
        let told = late_flows(traffic, Effort { seed: 0, steps: STEPS_PER_PLAN }).unwrap_or_default();
        let fits = told.iter().find(|one| one.flow == late.flow).map_or(&late.fits, |one| &one.fits);
        return fits.iter().take(most).cloned().collect();
    }
    let Ok(hyperperiod) = traffic.validate() else { return Vec::new() };
    let mut trials = Trials::new(traffic, hyperperiod);
    let ground = without(traffic, &[]);
    least_changes(&mut trials, refusal, ground, most).into_iter().map(|least| least.change).collect()
}

/// The least changes of what a refusal names with which the ground fits.
pub(super) fn least_changes(
    trials: &mut Trials<'_>,
    refusal: &NetworkRefusal,
    ground: Vec<StreamId>,
    most: usize,
) -> Vec<Least> {
    let is_proven = refusal.is_proven();
    let is_tried = match refusal {
        NetworkRefusal::NotFound { .. } => trials.traffic.streams.len() <= UNPROVEN_MAX,
        NetworkRefusal::Invalid(_) | NetworkRefusal::Late(_) | NetworkRefusal::Rejected { .. } => false,
        _ => true,
    };
    if !is_tried {
        return Vec::new();
    }
    let ladders = ladders(trials.traffic, refusal);
    let cores = if is_proven { vec![refusal.streams().to_vec()] } else { Vec::new() };
    let mut finder = Finder { trials, ground, cores, is_proven };
    let mut found: Vec<(usize, Least)> = Vec::new();
    for (place, ladder) in ladders {
        if found.len() == most || finder.trials.is_spent() {
            break;
        }
        found.extend(finder.least(&ladder).map(|least| (place, least)));
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, least)| least).collect()
}

/// One copy in place of two, for a stream that has one way alone.
fn one_way(traffic: &Traffic, name: &str) -> Option<NetworkChange> {
    let which = traffic.streams.iter().position(|stream| stream.name == name)?;
    let change = NetworkChange::Stream(StreamId(which as u32), StreamChange::OneWay);
    let mut changed = traffic.clone();
    change.apply(&mut changed);
    let hyperperiod = changed.validate().ok()?;
    let all = without(&changed, &[]);
    (Trials::new(&changed, hyperperiod).whole(None, &all) == Answer::Fits).then_some(change)
}

/// What may be changed, with its place among what is told: windows, what moves, the network. Those come first that are the first of their kind, so that
/// where few are asked for they are of many kinds.
fn ladders(traffic: &Traffic, refusal: &NetworkRefusal) -> Vec<(usize, Ladder)> {
    let streams = refusal.streams();
    let changed = &streams[..streams.len().min(CHANGED_MAX)];
    let declared = |id: &StreamId| &traffic.streams[id.index()];
    let mut kinds: Vec<Vec<Ladder>> = vec![
        changed.iter().filter_map(|id| deadline(*id, declared(id))).collect(),
        changed.iter().filter_map(|id| release(*id, declared(id))).collect(),
        changed.iter().filter_map(|id| latency(*id, declared(id))).collect(),
        changed.iter().filter_map(|id| jitter(*id, declared(id))).collect(),
        changed.iter().flat_map(|id| ways(*id, declared(id))).collect(),
        changed.iter().filter_map(|id| size(*id, declared(id))).collect(),
        changed.iter().filter_map(|id| period(*id, traffic)).collect(),
        cables(traffic, refusal).into_iter().map(|link| rates(link, traffic)).collect(),
    ];
    if traffic.clock_error > Nanos::ZERO {
        let make = |value| NetworkChange::ClockError(Nanos(value));
        kinds.push(vec![Ladder::steps(make, (traffic.clock_error.0, 0, 1))]);
    }
    let mut ranked: Vec<(usize, usize, Ladder)> = Vec::new();
    for kind in kinds {
        for (rank, ladder) in kind.into_iter().enumerate() {
            ranked.push((rank, ranked.len(), ladder));
        }
    }
    ranked.sort_by_key(|(rank, place, _)| (*rank, *place));
    ranked
        .into_iter()
        .map(|(_, place, ladder)| (place, ladder))
        .filter(|(_, ladder)| ladder.count() > 0)
        .collect()
}

fn deadline(id: StreamId, stream: &Stream) -> Option<Ladder> {
    let later = stream.period.0.saturating_mul(PERIODS_LATER_MAX);
    let most = stream.deadline.0.saturating_add(later).min(super::STREAM_TIME_MAX.0);
    let make = move |value| NetworkChange::Stream(id, StreamChange::Deadline(Nanos(value)));
    (most > stream.deadline.0).then(|| Ladder::steps(make, (stream.deadline.0, most, MICRO)))
}

fn release(id: StreamId, stream: &Stream) -> Option<Ladder> {
    let make = move |value| NetworkChange::Stream(id, StreamChange::Release(Nanos(value)));
    (stream.release > Nanos::ZERO).then(|| Ladder::steps(make, (stream.release.0, 0, MICRO)))
}

fn latency(id: StreamId, stream: &Stream) -> Option<Ladder> {
    let window = stream.deadline.0 - stream.release.0;
    let now = stream.latency.filter(|latency| latency.0 < window)?;
    let make = move |value| NetworkChange::Stream(id, StreamChange::Latency(Nanos(value)));
    Some(Ladder::steps(make, (now.0, window, MICRO)))
}

fn jitter(id: StreamId, stream: &Stream) -> Option<Ladder> {
    let window = stream.deadline.0 - stream.release.0;
    let now = stream.jitter.filter(|jitter| jitter.0 < window)?;
    let make = move |value| NetworkChange::Stream(id, StreamChange::Jitter(Nanos(value)));
    Some(Ladder::steps(make, (now.0, window, MICRO)))
}

fn ways(id: StreamId, stream: &Stream) -> Vec<Ladder> {
    let free = stream.ways.is_some().then_some(StreamChange::FreeWays);
    let one = (stream.copies == 2).then_some(StreamChange::OneWay);
    let changes = free.into_iter().chain(one);
    changes.map(|change| Ladder::fixed(NetworkChange::Stream(id, change))).collect()
}

pub(super) fn size(id: StreamId, stream: &Stream) -> Option<Ladder> {
    let make =
        move |value: i64| NetworkChange::Stream(id, StreamChange::Size(ByteSize(value.cast_unsigned())));
    let now = i64::try_from(stream.size.0).unwrap_or(i64::MAX);
    (now > 1).then(|| Ladder::steps(make, (now, 1, 1)))
}

/// Longer periods with which the round stays as it is, and the double and fourfold one.
pub(super) fn period(id: StreamId, traffic: &Traffic) -> Option<Ladder> {
    let now = traffic.streams[id.index()].period.0;
    let round = traffic.hyperperiod().map_or(now, |round| round.0);
    let most = now.saturating_mul(PERIOD_FACTOR_MAX).min(super::STREAM_TIME_MAX.0);
    let counts = (1..=round / now).rev().take(COUNTS_MAX);
    let mut values: Vec<i64> = counts.filter(|count| round % count == 0).map(|count| round / count).collect();
    values.extend([2, 4].map(|factor| now.saturating_mul(factor)));
    values.retain(|value| *value > now && *value <= most);
    values.sort_unstable();
    values.dedup();
    values.truncate(PERIODS_MAX);
    let make = move |value| NetworkChange::Stream(id, StreamChange::Period(Nanos(value)));
    (!values.is_empty()).then(|| Ladder::each(make, values))
}

/// The next faster rates of a cable.
pub(super) fn rates(link: LinkId, traffic: &Traffic) -> Ladder {
    let now = traffic.network.links[link.index()].rate.0;
    let faster = RATES.iter().copied().filter(|rate| *rate > now).take(RATES_PER_CABLE);
    let make = move |value: i64| NetworkChange::Rate(link, BitRate(value.cast_unsigned()));
    Ladder::each(make, faster.map(u64::cast_signed).collect())
}

/// Cables that may be short of time: the one that is the bottleneck, then all that the streams may take, those that most of them take first.
fn cables(traffic: &Traffic, refusal: &NetworkRefusal) -> Vec<LinkId> {
    let mut taken: Vec<(usize, LinkId)> = Vec::new();
    let streams = refusal.streams();
    let streams = &streams[..streams.len().min(CHANGED_MAX)];
    let round = traffic.hyperperiod().unwrap_or(Nanos::ZERO);
    if let Ok(mut problem) = Problem::part(traffic, round.0, streams) {
        problem.widen_all(streams);
        for item in &problem.items {
            for link in item.ways.iter().flat_map(|way| &way.hops).map(|hop| LinkId(hop.link)) {
                match taken.iter_mut().find(|(_, other)| is_one_cable(traffic, link, *other)) {
                    Some((count, _)) => *count += 1,
                    None => taken.push((1, link)),
                }
            }
        }
    }
    taken.sort_by_key(|(count, link)| (std::cmp::Reverse(*count), *link));
    let mut found: Vec<LinkId> = refusal.bottleneck(traffic).into_iter().collect();
    for (_, link) in taken {
        if !found.iter().any(|other| is_one_cable(traffic, link, *other)) {
            found.push(link);
        }
    }
    found.truncate(CABLES_MAX);
    found
}

/// Whether two links are the directions of one cable, or beside each other between the same nodes: they get one rate.
fn is_one_cable(traffic: &Traffic, one: LinkId, two: LinkId) -> bool {
    let ends = |link: LinkId| {
        let link = &traffic.network.links[link.index()];
        (link.source.min(link.target), link.source.max(link.target))
    };
    ends(one) == ends(two)
}
