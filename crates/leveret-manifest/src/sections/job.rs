//! `[job]`.

use crate::model::RECORD_LIMITS;
use crate::section::Section;
use crate::source::Problems;
use leveret_protocol::control::Scheduling;
use leveret_protocol::coordinator::DeathPolicy;
use leveret_types::{ByteSize, Nanos};

/// Most rounds of one commit.
const ROUNDS_MAX: u64 = 1_000_000_000_000;
/// Longest run of one commit.
const RUN_DURATION_MAX: Nanos = Nanos::from_secs(366 * 24 * 3600);

pub(crate) struct JobSection {
    pub(crate) name: String,
    pub(crate) policy: DeathPolicy,
    pub(crate) rounds: Option<u64>,
    pub(crate) duration: Option<Nanos>,
    pub(crate) scheduling: Scheduling,
    pub(crate) record_limit: Option<ByteSize>,
}

pub(crate) fn read(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> JobSection {
    section.require("name", "\"my-job\"", problems);
    let name = section.name("name", problems);
    let policies =
        [("stop", DeathPolicy::Stop), ("continue", DeathPolicy::Continue), ("restart", DeathPolicy::Restart)];
    let classes =
        [("fifo", Scheduling::Fifo), ("deadline", Scheduling::Deadline), ("plain", Scheduling::Plain)];
    if let (Some(rounds), Some(duration)) = (section.value("rounds"), section.value("duration")) {
        let (first, second) = if rounds.span().start < duration.span().start {
            (rounds.span(), duration.span())
        } else {
            (duration.span(), rounds.span())
        };
        problems.add_related(
            second,
            "both `rounds` and `duration` say when the run ends",
            "keep one of them; without either the job runs until it is interrupted",
            (&first, "the other is here"),
        );
    }
    JobSection {
        name: name.map(|name| name.value).unwrap_or_default(),
        policy: section.choice("policy", &policies, problems).unwrap_or_default(),
        rounds: section.integer("rounds", &(1..=ROUNDS_MAX), problems),
        duration: section.duration("duration", &(Nanos(1)..=RUN_DURATION_MAX), problems),
        scheduling: section.choice("scheduling", &classes, problems).unwrap_or_default(),
        record_limit: section.size("record-limit", &RECORD_LIMITS, problems),
    }
}
