//! Single changes of declarations, in words, in numbers, and made.

use super::flow::Flow;
use super::model::{Stream, Traffic};
use leveret_types::{BitRate, ByteSize, LinkId, Nanos, StreamId};
use serde::Serialize;

/// A single change of a declaration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkChange {
    /// Of a stream.
    Stream(StreamId, StreamChange),
    /// Of what moves beside the table, by its place in [`Traffic::flows`].
    Flow(usize, FlowChange),
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

/// What may be declared otherwise of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowChange {
    /// Another priority.
    Class(u8),
    /// Fewer messages at once.
    Burst(u32),
    /// Messages further apart.
    Interval(Nanos),
    /// Smaller messages.
    Size(ByteSize),
    /// A later deadline.
    Deadline(Nanos),
}

/// A change for programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChangeFields {
    /// What changes: `window-begin`, `window-end`, `latency`, `jitter`, `size`, `period`, `ways` or `copies` of a channel in the table;
    /// `priority`, `burst`, `interval`, `size` or `deadline` of one beside it; `rate` of a link; `clock-error`.
    pub kind: &'static str,
    /// Of which channel.
    pub channel: Option<String>,
    /// Of which link, and of the one that leads back.
    pub link: Option<String>,
    /// What is declared; none where it is no number, or not declared.
    pub from: Option<i64>,
    /// What would fit.
    pub to: Option<i64>,
    /// Of both: `ns`, `B` or `bit/s`; none of what is only counted.
    pub unit: Option<&'static str>,
}

impl NetworkChange {
    /// Makes the change.
    pub fn apply(&self, traffic: &mut Traffic) {
        match self {
            Self::Stream(stream, change) => change.apply(&mut traffic.streams[stream.index()]),
            Self::Flow(flow, change) => change.apply(&mut traffic.flows[*flow]),
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
            Self::Flow(flow, change) => change.words(&traffic.flows[*flow]),
            Self::Rate(link, to) => {
                let rate = |rate: BitRate| rate.to_string().replace(' ', "");
                let now = rate(traffic.network.links[link.index()].rate);
                let name = traffic.network.link_name(*link);
                format!("link {name}: rate = \"{}\" in place of {now}", rate(*to))
            }
            Self::ClockError(to) => format!("clock-error = \"{to}\" in place of {}", traffic.clock_error),
        }
    }

    /// The change in numbers.
    pub fn fields(&self, traffic: &Traffic) -> ChangeFields {
        match self {
            Self::Stream(stream, change) => change.fields(&traffic.streams[stream.index()]),
            Self::Flow(flow, change) => change.fields(&traffic.flows[*flow]),
            Self::Rate(link, to) => {
                let now = traffic.network.links[link.index()].rate;
                ChangeFields {
                    kind: "rate",
                    channel: None,
                    link: Some(traffic.network.link_name(*link)),
                    from: i64::try_from(now.0).ok(),
                    to: i64::try_from(to.0).ok(),
                    unit: Some("bit/s"),
                }
            }
            Self::ClockError(to) => ChangeFields {
                kind: "clock-error",
                channel: None,
                link: None,
                from: Some(traffic.clock_error.0),
                to: Some(to.0),
                unit: Some("ns"),
            },
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

    /// In numbers, of a stream that is declared so.
    pub(crate) fn fields(&self, now: &Stream) -> ChangeFields {
        let time =
            |kind, from: Option<Nanos>, to: Nanos| (kind, from.map(|from| from.0), Some(to.0), Some("ns"));
        let (kind, from, to, unit) = match self {
            Self::Release(to) => time("window-begin", Some(now.release), *to),
            Self::Deadline(to) => time("window-end", Some(now.deadline), *to),
            Self::Latency(to) => time("latency", now.latency, *to),
            Self::Jitter(to) => time("jitter", now.jitter, *to),
            Self::Size(to) => ("size", i64::try_from(now.size.0).ok(), i64::try_from(to.0).ok(), Some("B")),
            Self::Period(to) => time("period", Some(now.period), *to),
            Self::FreeWays => ("ways", None, None, None),
            Self::OneWay => ("copies", Some(i64::from(now.copies)), Some(1), None),
        };
        ChangeFields { kind, channel: Some(now.name.clone()), link: None, from, to, unit }
    }
}

impl FlowChange {
    /// Makes the change of a flow.
    pub(crate) fn apply(self, flow: &mut Flow) {
        match self {
            Self::Class(class) => flow.class = Some(class),
            Self::Burst(burst) => flow.burst = burst,
            Self::Interval(interval) => flow.interval = Some(interval),
            Self::Size(size) => flow.size = size,
            Self::Deadline(deadline) => flow.deadline = Some(deadline),
        }
    }

    /// The change as advice, as the manifest has it, of a flow that is declared so.
    pub(crate) fn words(self, now: &Flow) -> String {
        let changed = match self {
            Self::Class(class) => format!("priority = {class} in place of {}", now.class.unwrap_or_default()),
            Self::Burst(burst) => format!("burst = {burst} in place of {}", now.burst),
            Self::Interval(to) => {
                format!("interval = \"{to}\" in place of {}", now.interval.unwrap_or_default())
            }
            Self::Size(to) => format!("size = \"{}B\" in place of {}", to.0, now.size),
            Self::Deadline(to) => {
                format!("deadline = \"{to}\" in place of {}", now.deadline.unwrap_or_default())
            }
        };
        format!("channel \"{}\": {changed}", now.name)
    }

    /// In numbers, of a flow that is declared so.
    pub(crate) fn fields(self, now: &Flow) -> ChangeFields {
        let (kind, from, to, unit) = match self {
            Self::Class(to) => ("priority", now.class.map(i64::from), i64::from(to), None),
            Self::Burst(to) => ("burst", Some(i64::from(now.burst)), i64::from(to), None),
            Self::Interval(to) => ("interval", now.interval.map(|now| now.0), to.0, Some("ns")),
            Self::Size(to) => ("size", i64::try_from(now.size.0).ok(), to.0.cast_signed(), Some("B")),
            Self::Deadline(to) => ("deadline", now.deadline.map(|now| now.0), to.0, Some("ns")),
        };
        ChangeFields { kind, channel: Some(now.name.clone()), link: None, from, to: Some(to), unit }
    }
}

/// By how much an instant moves.
fn moved(from: Nanos, to: Nanos) -> String {
    if to < from { format!("{} earlier", from - to) } else { format!("{} later", to - from) }
}
