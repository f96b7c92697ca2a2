//! What is declared, in the words of the manifest and of refusals.

use crate::{MissingPolicy, OverrunPolicy, Placement, Qos};
use leveret_types::Nanos;
use std::fmt;

/// What follows when a message is missing.
impl fmt::Display for MissingPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Skip => "a missing message is skipped",
            Self::HoldLast => "the last message stands for a missing one",
            Self::Stop => "a missing message ends the job",
        })
    }
}

impl fmt::Display for OverrunPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Skip => "skip",
            Self::Late => "late",
            Self::Stop => "stop",
        })
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Separate => "separate buffers at the two ends",
            Self::Aliased => "one buffer for both ends",
        })
    }
}

impl fmt::Display for Qos {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeDriven { period: Nanos::ZERO, release, deadline, missing } => {
                write!(out, "time-driven, once in the window [{release}, {deadline}], {missing}")
            }
            Self::TimeDriven { period, release, deadline, missing } => {
                write!(out, "time-driven, period {period}, window [{release}, {deadline}], {missing}")
            }
            Self::BestEffort => out.write_str("best effort"),
            Self::PriorityDriven { priority, interval, deadline } => {
                write!(out, "priority-driven, {}", service(*priority, *interval, *deadline))
            }
            Self::EventDriven { start, completion, priority, interval, deadline } => {
                let event = |event: &Option<String>| {
                    event.as_ref().map_or("none".to_owned(), |name| format!("\"{name}\""))
                };
                write!(
                    out,
                    "event-driven, start event {}, completion event {}, {}",
                    event(start),
                    event(completion),
                    service(*priority, *interval, *deadline)
                )
            }
        }
    }
}

fn service(priority: u8, interval: Option<Nanos>, deadline: Option<Nanos>) -> String {
    format!("priority {priority}, interval {}, deadline {}", or_none(interval), or_none(deadline))
}

/// A time that may not be declared.
pub(crate) fn or_none(time: Option<Nanos>) -> String {
    time.map_or("none".to_owned(), |time| time.to_string())
}

/// Processors, such as `core 1` or `cores 0, 1`.
pub(crate) fn cores(numbers: &[u32]) -> String {
    let listed: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let noun = if listed.len() == 1 { "core" } else { "cores" };
    format!("{noun} {}", listed.join(", "))
}
