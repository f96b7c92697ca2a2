//! Single changes with which refused traffic would fit, each of them planned before it is named.
//!
//! The least change is sought with the streams of the conflict alone, which is quick; then the whole traffic is planned with it, and with a
//! little more where the others do not leave that much.

use super::explain::NetworkRefusal;
use super::model::{Stream, StreamFault, Traffic, TrafficError};
use super::{Effort, has_plan};
use crate::scale::Scale;
use leveret_types::{BitRate, ByteSize, LinkId, Nanos, StreamId};
use serde::Serialize;
use std::cell::Cell;

/// A single change of a declaration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkChange {
    /// Of a stream.
    Stream(StreamId, StreamChange),
    /// Another rate of a cable, in both directions.
    Rate(LinkId, BitRate),
    /// Clocks that agree better.
    ClockError(Nanos),
}

/// What may be declared otherwise of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamChange {
    /// When its window begins.
    Release(Nanos),
    /// When its window ends.
    Deadline(Nanos),
    /// Its latency.
    Latency(Nanos),
    /// Its jitter.
    Jitter(Nanos),
    /// Its size.
    Size(ByteSize),
    /// Its period; a deadline that was the period's end stays that.
    Period(Nanos),
    /// No declared way: the planner chooses.
    FreeWays,
    /// One way in place of two.
    OneWay,
}

/// Streams of a conflict that are changed, the first ones.
const CHANGED_MAX: usize = 8;
/// How far each plan is sought that is tried.
const EACH: Effort = Effort { seed: 0, steps: 400_000 };
/// Streams that are planned for all trials of the whole traffic together.
const PLANNED_MAX: usize = 200_000;
/// Steps of all trials together, and messages of the rounds that are planned.
const WORK_MAX: u64 = 64_000_000;
/// Streams without a proof up to which changes are tried.
const UNPROVEN_MAX: usize = 300;
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

/// Changes that would fit, in words, at most `most`.
pub fn advice(traffic: &Traffic, refusal: &NetworkRefusal, most: usize) -> Vec<String> {
    match refusal {
        NetworkRefusal::Late(late) => late.advice(traffic),
        _ => remedies(traffic, refusal, most).iter().map(|change| change.words(traffic)).collect(),
    }
}

/// Changes that would fit, at most `most`: first those of windows, then of what moves, then of the network.
pub fn remedies(traffic: &Traffic, refusal: &NetworkRefusal, most: usize) -> Vec<NetworkChange> {
    if let NetworkRefusal::Invalid(TrafficError::Stream { name, fault: StreamFault::NoSecondWay { .. } }) =
        refusal
    {
        return one_way(traffic, name).into_iter().collect();
    }
    let is_tried = match refusal {
        NetworkRefusal::NotFound { .. } => traffic.streams.len() <= UNPROVEN_MAX,
        // What would fit for a late flow was tried where it was refused.
        NetworkRefusal::Invalid(_) | NetworkRefusal::Late(_) | NetworkRefusal::Rejected { .. } => false,
        _ => true,
    };
    if !is_tried {
        return Vec::new();
    }
    let (streams, link) = (refusal.streams(), refusal.bottleneck(traffic));
    let is_proven = refusal.is_proven();
    let core = if is_proven { Part::of(traffic, streams) } else { Part::whole(traffic) };
    let left = Left::of(traffic);
    let mut found = Vec::new();
    for scale in scales(traffic, &streams[..streams.len().min(CHANGED_MAX)], link) {
        if found.len() == most || !left.reaches(traffic) {
            break;
        }
        // A still faster cable or longer period says nothing new.
        let probe = (scale.make)(scale.most);
        let is_known = found.iter().any(|known: &NetworkChange| match (known, &probe) {
            (NetworkChange::Rate(..), NetworkChange::Rate(..)) => true,
            (
                NetworkChange::Stream(one, StreamChange::Period(_)),
                NetworkChange::Stream(two, StreamChange::Period(_)),
            ) => one == two,
            _ => false,
        });
        if !is_known {
            found.extend(least(traffic, &core, &scale, &left));
        }
    }
    found
}

/// One copy in place of two, for a stream that has one way alone.
fn one_way(traffic: &Traffic, name: &str) -> Option<NetworkChange> {
    let which = traffic.streams.iter().position(|stream| stream.name == name)?;
    let change = NetworkChange::Stream(StreamId(which as u32), StreamChange::OneWay);
    let mut changed = traffic.clone();
    change.apply(&mut changed);
    has_plan(&changed, EACH).0.then_some(change)
}

/// What trials may take yet.
struct Left {
    streams: Cell<usize>,
    work: Cell<u64>,
}

impl Left {
    fn of(traffic: &Traffic) -> Self {
        let streams = PLANNED_MAX.max(traffic.streams.len() * 6);
        Self { streams: Cell::new(streams), work: Cell::new(WORK_MAX) }
    }

    /// Whether the whole may be tried once more.
    fn reaches(&self, traffic: &Traffic) -> bool {
        self.streams.get() >= traffic.streams.len() && self.work.get() > 0
    }

    /// Whether traffic has a plan; where nothing is left, that is not sought.
    fn fits(&self, traffic: &Traffic) -> bool {
        if self.work.get() == 0 {
            return false;
        }
        let (fits, work) = has_plan(traffic, EACH);
        self.work.set(self.work.get().saturating_sub(work));
        fits
    }
}

/// Some streams of traffic.
struct Part {
    traffic: Traffic,
    /// Where each stream of the whole is.
    place: Vec<(StreamId, StreamId)>,
}

impl Part {
    fn of(whole: &Traffic, streams: &[StreamId]) -> Self {
        let place = streams.iter().enumerate().map(|(index, id)| (*id, StreamId(index as u32))).collect();
        let streams = streams.iter().map(|id| whole.streams[id.index()].clone()).collect();
        let traffic = Traffic {
            network: whole.network.clone(),
            streams,
            flows: Vec::new(),
            clock_error: whole.clock_error,
            whole_cycles: whole.whole_cycles,
        };
        Self { traffic, place }
    }

    fn whole(whole: &Traffic) -> Self {
        let all: Vec<_> = (0..whole.streams.len() as u32).map(StreamId).collect();
        Self::of(whole, &all)
    }

    /// Whether the part has a plan with a change.
    fn fits(&self, change: &NetworkChange, left: &Left) -> bool {
        let mut changed = self.traffic.clone();
        let inside = |stream: StreamId| {
            self.place.iter().find(|(outside, _)| *outside == stream).map_or(stream, |(_, inside)| *inside)
        };
        change.renamed(inside).apply(&mut changed);
        left.fits(&changed)
    }
}

/// What may be changed.
fn scales(traffic: &Traffic, streams: &[StreamId], link: Option<LinkId>) -> Vec<Scale<NetworkChange>> {
    let mut found: Vec<Scale<NetworkChange>> = Vec::new();
    let windows = streams.iter().flat_map(|id| windows_of(*id, &traffic.streams[id.index()]));
    found.extend(windows);
    let loads = streams.iter().flat_map(|id| loads_of(*id, &traffic.streams[id.index()]));
    found.extend(loads);
    if let Some(link) = link {
        let now = traffic.network.links[link.index()].rate.0;
        let faster = RATES.iter().copied().filter(|rate| *rate > now).take(3);
        found.extend(faster.map(|rate| Scale::fixed(NetworkChange::Rate(link, BitRate(rate)))));
    }
    if traffic.clock_error > Nanos::ZERO {
        found.push(Scale {
            make: Box::new(|value| NetworkChange::ClockError(Nanos(value))),
            now: traffic.clock_error.0,
            most: 0,
            step: 1,
        });
    }
    found
}

fn windows_of(id: StreamId, stream: &Stream) -> Vec<Scale<NetworkChange>> {
    const MICRO: i64 = 1_000;
    let later = stream.deadline.0.saturating_add(stream.period.0);
    let mut found = vec![Scale {
        make: Box::new(move |value| NetworkChange::Stream(id, StreamChange::Deadline(Nanos(value)))),
        now: stream.deadline.0,
        most: later.min(super::STREAM_TIME_MAX.0),
        step: MICRO,
    }];
    if stream.release > Nanos::ZERO {
        found.push(Scale {
            make: Box::new(move |value| NetworkChange::Stream(id, StreamChange::Release(Nanos(value)))),
            now: stream.release.0,
            most: 0,
            step: MICRO,
        });
    }
    let window = stream.deadline.0 - stream.release.0;
    if let Some(latency) = stream.latency.filter(|latency| latency.0 < window) {
        let make = Box::new(move |value| NetworkChange::Stream(id, StreamChange::Latency(Nanos(value))));
        found.push(Scale { make, now: latency.0, most: window, step: MICRO });
    }
    if let Some(jitter) = stream.jitter.filter(|jitter| jitter.0 < window) {
        let make = Box::new(move |value| NetworkChange::Stream(id, StreamChange::Jitter(Nanos(value))));
        found.push(Scale { make, now: jitter.0, most: window, step: MICRO });
    }
    found
}

fn loads_of(id: StreamId, stream: &Stream) -> Vec<Scale<NetworkChange>> {
    let mut found = Vec::new();
    if stream.ways.is_some() {
        found.push(Scale::fixed(NetworkChange::Stream(id, StreamChange::FreeWays)));
    }
    if stream.copies == 2 {
        found.push(Scale::fixed(NetworkChange::Stream(id, StreamChange::OneWay)));
    }
    if stream.size.0 > 1 {
        let make = Box::new(move |value: i64| {
            NetworkChange::Stream(id, StreamChange::Size(ByteSize(value.cast_unsigned())))
        });
        found.push(Scale { make, now: i64::try_from(stream.size.0).unwrap_or(i64::MAX), most: 1, step: 1 });
    }
    for factor in [2, 4] {
        let to = Nanos(stream.period.0.saturating_mul(factor));
        if to <= super::STREAM_TIME_MAX {
            found.push(Scale::fixed(NetworkChange::Stream(id, StreamChange::Period(to))));
        }
    }
    found
}

/// The least change of a property with which the whole traffic fits.
fn least(traffic: &Traffic, core: &Part, scale: &Scale<NetworkChange>, left: &Left) -> Option<NetworkChange> {
    let whole = |change: &NetworkChange| {
        let Some(rest) = left.streams.get().checked_sub(traffic.streams.len()) else { return false };
        left.streams.set(rest);
        let mut changed = traffic.clone();
        change.apply(&mut changed);
        left.fits(&changed)
    };
    scale.least(|change| core.fits(change, left), whole)
}

impl NetworkChange {
    /// The same of another stream.
    fn renamed(&self, to: impl Fn(StreamId) -> StreamId) -> Self {
        match self {
            Self::Stream(stream, change) => Self::Stream(to(*stream), change.clone()),
            other => other.clone(),
        }
    }

    /// Makes the change.
    pub fn apply(&self, traffic: &mut Traffic) {
        match self {
            Self::Stream(stream, change) => change.apply(&mut traffic.streams[stream.index()]),
            Self::Rate(link, to) => {
                let link = &traffic.network.links[link.index()];
                let (source, target) = (link.source, link.target);
                for other in &mut traffic.network.links {
                    let ends = (other.source, other.target);
                    if ends == (source, target) || ends == (target, source) {
                        other.rate = *to;
                    }
                }
            }
            Self::ClockError(to) => traffic.clock_error = *to,
        }
    }

    /// The change as advice, as the manifest has it, with the names of the traffic before it.
    pub fn words(&self, traffic: &Traffic) -> String {
        match self {
            Self::Stream(stream, change) => {
                let words = change.words(&traffic.streams[stream.index()]);
                format!("channel \"{}\": {words}", traffic.name(*stream))
            }
            Self::Rate(link, to) => {
                let rate = |rate: BitRate| rate.to_string().replace(' ', "");
                let now = rate(traffic.network.links[link.index()].rate);
                let name = traffic.network.link_name(*link);
                format!("link {name}: rate = \"{}\" in place of {now}", rate(*to))
            }
            Self::ClockError(to) => format!("clock-error = \"{to}\" in place of {}", traffic.clock_error),
        }
    }
}

impl StreamChange {
    /// Makes the change of a stream.
    pub(crate) fn apply(&self, stream: &mut Stream) {
        match *self {
            Self::Release(to) => stream.release = to,
            Self::Deadline(to) => stream.deadline = to,
            Self::Latency(to) => stream.latency = Some(to),
            Self::Jitter(to) => stream.jitter = Some(to),
            Self::Size(to) => stream.size = to,
            Self::Period(to) => {
                if stream.deadline == stream.period {
                    stream.deadline = to;
                }
                stream.period = to;
            }
            Self::FreeWays => stream.ways = None,
            Self::OneWay => {
                stream.copies = 1;
                if let Some(ways) = &mut stream.ways {
                    ways.truncate(1);
                }
            }
        }
    }

    /// In the manifest's words, of a stream that is declared so.
    pub(crate) fn words(&self, now: &Stream) -> String {
        let (release, deadline) = (now.release, now.deadline);
        match self {
            Self::Release(to) => format!("window = [\"{to}\", \"{deadline}\"], {}", moved(release, *to)),
            Self::Deadline(to) => format!("window = [\"{release}\", \"{to}\"], {}", moved(deadline, *to)),
            Self::Latency(to) => {
                format!("latency = \"{to}\" in place of {}", now.latency.unwrap_or_default())
            }
            Self::Jitter(to) => format!("jitter = \"{to}\" in place of {}", now.jitter.unwrap_or_default()),
            Self::Size(to) => format!("size = \"{}B\" in place of {}", to.0, now.size),
            Self::Period(to) => format!("period = \"{to}\" in place of {}", now.period),
            Self::FreeWays => "no `way`; the planner finds one that fits".to_owned(),
            Self::OneWay => "copies = 1 in place of 2".to_owned(),
        }
    }
}

/// By how much an instant moves.
fn moved(from: Nanos, to: Nanos) -> String {
    if to < from { format!("{} earlier", from - to) } else { format!("{} later", to - from) }
}
