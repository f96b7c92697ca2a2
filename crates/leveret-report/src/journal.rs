//! The record of a run while it runs: chunks that are appended about every second, so that a crash loses no more than that.
//!
//! ```text
//!  offset  0        8          12
//!          | magic  | version  | chunk | chunk | ...
//!          | 8 B    | u32 LE   |
//!
//!  chunk   | length | CRC-32   | postcard |      the check sum is of the postcard
//!          | u32 LE | u32 LE   | length B |
//! ```
//!
//! The first chunk begins the run, others begin a phase or let one grow. What is read ends with the last whole chunk: a torn end is
//! what a crash leaves, and is said, not refused. At the end of a run the whole record takes the journal's place.

use crate::record::{
    AloneProbe, ChannelRecord, Ending, Event, InstanceRecord, MachineFacts, MessageRecord, Phase, RunRecord,
    SwitchEvent, TaskRecord, TimerInterrupt,
};
use crate::storage::{RECORD_VERSION, StorageError, array, crc32};
use leveret_plan::{Job, Plan};
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};

/// First bytes of a journal.
pub const MAGIC: [u8; 8] = *b"LVRTJRN1";
const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;
/// Longest chunk that is read.
const CHUNK_BYTES_MAX: usize = 1 << 31;

/// What is appended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Chunk {
    /// A run begins.
    Run {
        /// Name of the job.
        job: String,
        /// Wall-clock start, seconds since 1970.
        started_unix_s: i64,
        /// The machine and what it allowed.
        machine: MachineFacts,
    },
    /// A phase begins.
    Phase(Box<PhaseBegun>),
    /// What has come to a phase since the chunk before.
    Growth(Box<Growth>),
}

/// A phase that begins.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhaseBegun {
    /// Which, in the order of the epochs.
    pub number: u32,
    /// The program's label for this commit.
    pub label: String,
    /// The model that was admitted.
    pub job: Job,
    /// The plan.
    pub plan: Plan,
    /// The epoch on `CLOCK_MONOTONIC`.
    pub epoch_monotonic: Nanos,
}

/// What has come to a phase.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Growth {
    /// Which phase.
    pub number: u32,
    /// Until when, from the epoch, everything that was stamped is here.
    pub until: Nanos,
    /// Hyperperiods so far.
    pub rounds: u64,
    /// Per task: counts so far, and instances that are new or have changed.
    pub tasks: Vec<TaskRecord>,
    /// Per channel: counts so far, and messages that are new or have changed.
    pub channels: Vec<ChannelRecord>,
    /// New ones.
    pub events: Vec<Event>,
    /// New ones.
    pub switches: Vec<SwitchEvent>,
    /// New ones.
    pub timers: Vec<TimerInterrupt>,
}

/// How a journal begins.
pub fn header() -> Vec<u8> {
    let mut bytes = Vec::from(MAGIC);
    bytes.extend_from_slice(&RECORD_VERSION.to_le_bytes());
    bytes
}

/// A chunk as bytes.
///
/// # Errors
/// [`StorageError::Malformed`] if the encoder fails, [`StorageError::TooLarge`] for a chunk of gigabytes.
pub fn encode(chunk: &Chunk) -> Result<Vec<u8>, StorageError> {
    let mut bytes = postcard::to_extend(chunk, vec![0; CHUNK_HEADER_BYTES])
        .map_err(|error| StorageError::Malformed { reason: error.to_string() })?;
    let length = bytes.len() - CHUNK_HEADER_BYTES;
    if length > CHUNK_BYTES_MAX {
        return Err(StorageError::TooLarge { found: length as u64, limit: CHUNK_BYTES_MAX as u64 });
    }
    let checksum = crc32(&bytes[CHUNK_HEADER_BYTES..]);
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    bytes[4..CHUNK_HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// The run as far as a journal has it. Its ending says that it was cut off, and what is missing.
///
/// # Errors
/// When not even the beginning of a run is there; none panics, whatever the input.
pub fn decode(bytes: &[u8]) -> Result<RunRecord, StorageError> {
    if bytes.len() < HEADER_BYTES {
        return Err(StorageError::TooShort { expected: HEADER_BYTES, found: bytes.len() });
    }
    if !bytes.starts_with(&MAGIC) {
        return Err(StorageError::NotARun);
    }
    let version = u32::from_le_bytes(array(&bytes[8..HEADER_BYTES]));
    if version != RECORD_VERSION {
        return Err(StorageError::Version { found: version, known: RECORD_VERSION });
    }
    let (mut rest, mut reader) = (&bytes[HEADER_BYTES..], Reader::default());
    while let Some((chunk, after)) = next(rest) {
        if !reader.take(chunk) {
            break;
        }
        rest = after;
    }
    reader.finish(rest.len()).ok_or_else(|| StorageError::Malformed {
        reason: "no whole chunk begins a run; it was cut off at once".to_owned(),
    })
}

/// The first chunk of `bytes`, if it is whole, and what follows.
fn next(bytes: &[u8]) -> Option<(Chunk, &[u8])> {
    let header = bytes.get(..CHUNK_HEADER_BYTES)?;
    let length = u32::from_le_bytes(array(&header[..4])) as usize;
    let end = CHUNK_HEADER_BYTES.checked_add(length).filter(|_| length <= CHUNK_BYTES_MAX)?;
    let payload = bytes.get(CHUNK_HEADER_BYTES..end)?;
    if crc32(payload) != u32::from_le_bytes(array(&header[4..])) {
        return None;
    }
    let (chunk, rest) = postcard::take_from_bytes(payload).ok()?;
    rest.is_empty().then_some((chunk, &bytes[end..]))
}

#[derive(Default)]
struct Reader {
    record: Option<RunRecord>,
    until: Nanos,
}

impl Reader {
    /// Whether the chunk fits what came before.
    fn take(&mut self, chunk: Chunk) -> bool {
        match (chunk, &mut self.record) {
            (Chunk::Run { job, started_unix_s, machine }, record @ None) => {
                let ending = Ending::default();
                *record = Some(RunRecord { job, started_unix_s, machine, phases: Vec::new(), ending });
                true
            }
            (Chunk::Phase(begun), Some(record)) if begun.number as usize == record.phases.len() => {
                let PhaseBegun { label, job, plan, epoch_monotonic, .. } = *begun;
                self.until = Nanos::ZERO;
                record.phases.push(Phase {
                    tasks: vec![TaskRecord::default(); job.tasks.len()],
                    channels: vec![ChannelRecord::default(); job.channels.len()],
                    label,
                    job,
                    plan,
                    epoch_monotonic,
                    rounds: 0,
                    switches: Vec::new(),
                    timers: Vec::new(),
                    events: Vec::new(),
                    alone: AloneProbe::default(),
                });
                true
            }
            (Chunk::Growth(growth), Some(record)) => match record.phases.get_mut(growth.number as usize) {
                Some(phase) => {
                    self.until = growth.until;
                    grow(phase, *growth)
                }
                None => false,
            },
            _ => false,
        }
    }

    fn finish(self, torn: usize) -> Option<RunRecord> {
        let mut record = self.record?;
        for phase in &mut record.phases {
            phase.switches.sort_by_key(|switch| switch.at);
            phase.timers.sort_by_key(|timer| timer.at);
            phase.events.sort_by_key(|event| event.at);
        }
        let (phase, until) = (record.phases.len(), self.until);
        let torn = if torn == 0 {
            String::new()
        } else {
            format!(", and {torn} bytes of a chunk that is not whole")
        };
        record.ending = Ending::Stopped(format!(
            "the agent or the machine ended without finishing the record: what came later than {until} after the epoch of commit \
             {phase} is missing, with the counters of the data path and the bare timer{torn}"
        ));
        Some(record)
    }
}

/// Whether the growth is of this phase.
fn grow(phase: &mut Phase, growth: Growth) -> bool {
    if (growth.tasks.len(), growth.channels.len()) != (phase.tasks.len(), phase.channels.len()) {
        return false;
    }
    phase.rounds = growth.rounds;
    for (task, fresh) in phase.tasks.iter_mut().zip(growth.tasks) {
        let mut instances = std::mem::take(&mut task.instances);
        merge(&mut instances, &fresh.instances, |instance: &InstanceRecord| instance.instance);
        *task = TaskRecord { instances, ..fresh };
    }
    for (channel, fresh) in phase.channels.iter_mut().zip(growth.channels) {
        let mut messages = std::mem::take(&mut channel.messages);
        merge(&mut messages, &fresh.messages, |message: &MessageRecord| message.instance);
        *channel = ChannelRecord { messages, ..fresh };
    }
    phase.events.extend(growth.events);
    phase.switches.extend(growth.switches);
    phase.timers.extend(growth.timers);
    true
}

/// Puts what is new or has changed into its place.
fn merge<T: Copy>(into: &mut Vec<T>, fresh: &[T], number: impl Fn(&T) -> u64) {
    for item in fresh {
        match into.binary_search_by_key(&number(item), &number) {
            Ok(place) => into[place] = *item,
            Err(place) => into.insert(place, *item),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use crate::synthetic::{Ring, ring};
    use proptest::prelude::*;

    /// A run of 40 rounds as it would be written in four chunks, and as it was.
    fn written() -> (Vec<Vec<u8>>, RunRecord) {
        let record = ring(&Ring { rounds: 40, ..Ring::default() });
        let phase = &record.phases[0];
        let begun = PhaseBegun {
            number: 0,
            label: phase.label.clone(),
            job: phase.job.clone(),
            plan: phase.plan.clone(),
            epoch_monotonic: phase.epoch_monotonic,
        };
        let run = Chunk::Run {
            job: record.job.clone(),
            started_unix_s: record.started_unix_s,
            machine: record.machine.clone(),
        };
        let mut chunks =
            vec![header(), encode(&run).unwrap(), encode(&Chunk::Phase(Box::new(begun))).unwrap()];
        for quarter in 0..4_u64 {
            let of = |number: u64| (quarter * 10..quarter * 10 + 10).contains(&number);
            let task = |task: &TaskRecord| TaskRecord {
                instances: task.instances.iter().filter(|instance| of(instance.instance)).copied().collect(),
                ..task.clone()
            };
            let channel = |channel: &ChannelRecord| ChannelRecord {
                messages: channel.messages.iter().filter(|message| of(message.instance)).copied().collect(),
                ..channel.clone()
            };
            let growth = Growth {
                number: 0,
                until: phase.plan.hyperperiod.saturating_mul(quarter as i64 * 10 + 10),
                rounds: quarter * 10 + 10,
                tasks: phase.tasks.iter().map(task).collect(),
                channels: phase.channels.iter().map(channel).collect(),
                ..Growth::default()
            };
            chunks.push(encode(&Chunk::Growth(Box::new(growth))).unwrap());
        }
        (chunks, record)
    }

    #[test]
    fn all_chunks_give_the_run_and_say_that_it_did_not_end() {
        let (chunks, record) = written();
        let found = decode(&chunks.concat()).unwrap();
        assert_eq!(found.phases[0].tasks, record.phases[0].tasks);
        assert_eq!(found.phases[0].channels, record.phases[0].channels);
        assert_eq!((found.phases[0].rounds, &found.job), (40, &record.job));
        let Ending::Stopped(why) = &found.ending else { panic!("{:?}", found.ending) };
        assert!(why.contains("after the epoch of commit 1 is missing"), "{why}");
        assert_eq!(Report::of(&found).assessment.exit_code(), 1);
    }

    #[test]
    fn a_torn_end_costs_the_last_chunk_and_no_more() {
        let (chunks, _) = written();
        let whole = chunks.concat();
        let ends: Vec<usize> = chunks
            .iter()
            .scan(0, |end, chunk| {
                *end += chunk.len();
                Some(*end)
            })
            .collect();
        for length in (0..whole.len()).step_by(7).chain(ends.iter().copied()) {
            let complete = ends.iter().filter(|end| **end <= length).count();
            match decode(&whole[..length]) {
                Ok(found) => {
                    assert!(complete >= 2, "{length}");
                    let rounds = found.phases.first().map_or(0, |phase| phase.rounds);
                    assert_eq!(rounds, 10 * complete.saturating_sub(3) as u64, "{length}");
                    let Ending::Stopped(why) = &found.ending else { panic!("an end that was none") };
                    assert_eq!(why.contains("not whole"), !ends.contains(&length), "{length}: {why}");
                    let _report = Report::of(&found);
                }
                Err(error) => assert!(complete < 2, "{length}: {error}"),
            }
        }
    }

    #[test]
    fn a_changed_byte_ends_what_is_read_before_it() {
        let (chunks, _) = written();
        let mut bytes = chunks.concat();
        let third = bytes.len() - chunks[5].len() - chunks[6].len() + 20;
        bytes[third] ^= 0x40;
        let found = decode(&bytes).unwrap();
        assert_eq!(found.phases[0].rounds, 20, "chunks after the damaged one stand on it");
    }

    proptest! {
        #[test]
        fn arbitrary_chunks_never_panic(payload in proptest::collection::vec(any::<u8>(), 0..300)) {
            let (chunks, _) = written();
            let mut bytes = chunks[..3].concat();
            bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&crc32(&payload).to_le_bytes());
            bytes.extend_from_slice(&payload);
            prop_assert!(decode(&bytes).is_ok());
            prop_assert!(decode(&payload).is_err());
        }
    }
}
