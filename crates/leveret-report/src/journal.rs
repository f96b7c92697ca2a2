//! The record of a run while it runs: chunks that are appended every half second, so that a crash of the agent or of the machine
//! loses a second at most.
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
//! what a crash leaves, and is reported, not refused. At the end of a run the whole record takes the journal's place.
//!
//! What a long run thins (`thinned.rs`) is dropped by its number. [`Dropped`] and [`Compactor`] make a shorter journal of one that has
//! grown too long: what was dropped is left out, and growth of one phase is joined.

mod compact;

pub use compact::{Compactor, Dropped};

use crate::record::{
    AloneProbe, ChannelRecord, Ending, Event, InstanceRecord, MachineFacts, MessageRecord, Phase, RunRecord,
    SwitchEvent, TaskRecord, TimerInterrupt,
};
use crate::storage::{RECORD_VERSION, StorageError, array, crc32};
use crate::thinned::{ThinnedInstances, ThinnedMessages};
use leveret_plan::{Job, Plan};
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};

/// First bytes of a journal.
pub const MAGIC: [u8; 8] = *b"LVRTJRN1";
/// Bytes before the first chunk.
pub const HEADER_BYTES: usize = 12;
/// Bytes of a chunk before its content.
pub const CHUNK_HEADER_BYTES: usize = 8;
/// Longest chunk that is read.
const CHUNK_BYTES_MAX: usize = 1 << 31;

/// What is appended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Chunk {
    /// A run begins, or more is known of its machine.
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
    /// Which, in the order in which they were begun.
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
    /// Of tasks to which something has come, by their index.
    pub tasks: Vec<(u16, TaskGrowth)>,
    /// Of channels to which something has come, by their index.
    pub channels: Vec<(u16, ChannelGrowth)>,
    /// New ones.
    pub events: Vec<Event>,
    /// New ones, and those of which more is known.
    pub switches: Vec<SwitchEvent>,
    /// New ones.
    pub timers: Vec<TimerInterrupt>,
    /// Instants and cores of switches that are no longer kept.
    pub switches_dropped: Vec<(Nanos, u32)>,
    /// Instants and cores of timer interrupts that are no longer kept.
    pub timers_dropped: Vec<(Nanos, u32)>,
    /// Of a phase that has ended.
    pub ended: Option<AloneProbe>,
}

/// What has come to a task: its counts so far, and instances that are new or have changed.
pub type TaskGrowth = Grown<TaskRecord, ThinnedInstances>;
/// What has come to a channel: its counts so far, and messages that are new or have changed.
pub type ChannelGrowth = Grown<ChannelRecord, ThinnedMessages>;

/// What has come to a task or channel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Grown<R, T> {
    /// Counts so far, with the details that are new or have changed; of those thinned nothing.
    pub record: R,
    /// Numbers of details that are no longer kept. One may come again in the record beside it.
    pub dropped: Vec<u64>,
    /// What is known of those without details, where that has changed.
    pub thinned: Option<T>,
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

/// How many bytes follow a chunk's header; `None` where that is none.
pub fn content_bytes(header: [u8; CHUNK_HEADER_BYTES]) -> Option<usize> {
    let length = u32::from_le_bytes(array(&header[..4])) as usize;
    (length <= CHUNK_BYTES_MAX).then_some(length)
}

/// The chunk of a header and what follows it, if that is whole.
pub fn decode_chunk(header: [u8; CHUNK_HEADER_BYTES], content: &[u8]) -> Option<Chunk> {
    if crc32(content) != u32::from_le_bytes(array(&header[4..])) {
        return None;
    }
    let (chunk, rest) = postcard::take_from_bytes(content).ok()?;
    rest.is_empty().then_some(chunk)
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
    let header = array(bytes.get(..CHUNK_HEADER_BYTES)?);
    let end = CHUNK_HEADER_BYTES.checked_add(content_bytes(header)?)?;
    let chunk = decode_chunk(header, bytes.get(CHUNK_HEADER_BYTES..end)?)?;
    Some((chunk, &bytes[end..]))
}

#[derive(Default)]
struct Reader {
    record: Option<RunRecord>,
    /// Of phases that have not ended: until when each is known.
    open: Vec<Option<Nanos>>,
}

impl Reader {
    /// Whether the chunk fits what came before.
    fn take(&mut self, chunk: Chunk) -> bool {
        match (chunk, &mut self.record) {
            (Chunk::Run { job, started_unix_s, machine }, None) => {
                let ending = Ending::default();
                self.record = Some(RunRecord { job, started_unix_s, machine, phases: Vec::new(), ending });
                true
            }
            (Chunk::Run { machine, .. }, Some(record)) => {
                record.machine = machine;
                true
            }
            (Chunk::Phase(begun), Some(record)) if begun.number as usize == record.phases.len() => {
                self.open.push(Some(Nanos::ZERO));
                record.phases.push(begun.phase());
                true
            }
            (Chunk::Growth(growth), Some(record)) => {
                let place = growth.number as usize;
                let (Some(phase), Some(open)) = (record.phases.get_mut(place), self.open.get_mut(place))
                else {
                    return false;
                };
                *open = growth.ended.is_none().then_some(growth.until);
                grow(phase, *growth)
            }
            _ => false,
        }
    }

    fn finish(self, torn: usize) -> Option<RunRecord> {
        let mut record = self.record?;
        for phase in &mut record.phases {
            phase.switches.sort_by_key(|switch| (switch.at, switch.core));
            phase.timers.sort_by_key(|timer| (timer.at, timer.core));
            phase.events.sort_by_key(|event| event.at);
        }
        let torn = if torn == 0 {
            String::new()
        } else {
            format!("; {torn} bytes at the end of the file are no whole chunk")
        };
        let open = self.open.iter().zip(&record.phases).filter_map(|(until, phase)| {
            until.map(|until| format!("what came later than {until} after the epoch of \"{}\"", phase.label))
        });
        let missing: Vec<String> = open.chain(["whatever was committed after that".to_owned()]).collect();
        record.ending = Ending::Stopped(format!(
            "the record was not finished, because the agent or the machine ended first, or the run still goes on. Missing: {}{torn}",
            missing.join(", ")
        ));
        Some(record)
    }
}

impl PhaseBegun {
    /// The phase, to which nothing has come yet.
    fn phase(self) -> Phase {
        let Self { label, job, plan, epoch_monotonic, .. } = self;
        Phase {
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
        }
    }
}

/// Whether the growth is of this phase.
fn grow(phase: &mut Phase, growth: Growth) -> bool {
    let is_task = |(index, _): &(u16, TaskGrowth)| usize::from(*index) < phase.tasks.len();
    let is_channel = |(index, _): &(u16, ChannelGrowth)| usize::from(*index) < phase.channels.len();
    if !growth.tasks.iter().all(is_task) || !growth.channels.iter().all(is_channel) {
        return false;
    }
    phase.rounds = growth.rounds;
    for (index, grown) in growth.tasks {
        let task = &mut phase.tasks[usize::from(index)];
        let (mut instances, thinned) =
            (std::mem::take(&mut task.instances), std::mem::take(&mut task.thinned));
        update(&mut instances, &grown.record.instances, &grown.dropped, number_of_instance);
        let thinned = grown.thinned.unwrap_or(thinned);
        *task = TaskRecord { instances, thinned, ..grown.record };
    }
    for (index, grown) in growth.channels {
        let channel = &mut phase.channels[usize::from(index)];
        let (mut messages, thinned) =
            (std::mem::take(&mut channel.messages), std::mem::take(&mut channel.thinned));
        update(&mut messages, &grown.record.messages, &grown.dropped, number_of_message);
        let thinned = grown.thinned.unwrap_or(thinned);
        *channel = ChannelRecord { messages, thinned, ..grown.record };
    }
    phase.events.extend(growth.events);
    update(&mut phase.switches, &growth.switches, &growth.switches_dropped, |switch| {
        (switch.at, switch.core)
    });
    update(&mut phase.timers, &growth.timers, &growth.timers_dropped, |timer| (timer.at, timer.core));
    phase.alone = growth.ended.unwrap_or_default();
    true
}

fn number_of_instance(instance: &InstanceRecord) -> u64 {
    instance.instance
}

fn number_of_message(message: &MessageRecord) -> u64 {
    message.instance
}

/// Leaves out what is no longer kept, and puts what is new or has changed into its place. `kept` is in order.
fn update<T: Clone, K: Ord>(kept: &mut Vec<T>, fresh: &[T], dropped: &[K], key: impl Fn(&T) -> K) {
    if !dropped.is_empty() {
        let mut dropped: Vec<&K> = dropped.iter().collect();
        dropped.sort_unstable();
        kept.retain(|item| dropped.binary_search(&&key(item)).is_err());
    }
    for item in fresh {
        let wanted = key(item);
        // Nearly all come at the end.
        if kept.last().is_none_or(|last| key(last) < wanted) {
            kept.push(item.clone());
            continue;
        }
        match kept.binary_search_by(|other| key(other).cmp(&wanted)) {
            Ok(place) => kept[place] = item.clone(),
            Err(place) => kept.insert(place, item.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use crate::synthetic::{Ring, ring};
    use proptest::prelude::*;

    const ROUNDS: u64 = 12;

    fn begun(phase: &Phase) -> PhaseBegun {
        PhaseBegun {
            number: 0,
            label: phase.label.clone(),
            job: phase.job.clone(),
            plan: phase.plan.clone(),
            epoch_monotonic: phase.epoch_monotonic,
        }
    }

    /// What came to the phase in these instances.
    fn grown(phase: &Phase, numbers: std::ops::Range<u64>) -> Growth {
        let task = |(index, task): (usize, &TaskRecord)| {
            let instances = task.instances.iter().filter(|instance| numbers.contains(&instance.instance));
            let record = TaskRecord { instances: instances.copied().collect(), ..task.clone() };
            (index as u16, Grown { record, ..Grown::default() })
        };
        let channel = |(index, channel): (usize, &ChannelRecord)| {
            let messages = channel.messages.iter().filter(|message| numbers.contains(&message.instance));
            let record = ChannelRecord { messages: messages.copied().collect(), ..channel.clone() };
            (index as u16, Grown { record, ..Grown::default() })
        };
        Growth {
            number: 0,
            until: phase.plan.hyperperiod.saturating_mul(numbers.end as i64),
            rounds: numbers.end,
            tasks: phase.tasks.iter().enumerate().map(task).collect(),
            channels: phase.channels.iter().enumerate().map(channel).collect(),
            ..Growth::default()
        }
    }

    /// A run of 12 rounds as it would be written in four chunks, and as it was.
    fn written() -> (Vec<Vec<u8>>, RunRecord) {
        let record = ring(&Ring { rounds: ROUNDS, ..Ring::default() });
        let phase = &record.phases[0];
        let run = Chunk::Run {
            job: record.job.clone(),
            started_unix_s: record.started_unix_s,
            machine: record.machine.clone(),
        };
        let mut chunks =
            vec![header(), encode(&run).unwrap(), encode(&Chunk::Phase(Box::new(begun(phase)))).unwrap()];
        for quarter in 0..4_u64 {
            let growth = grown(phase, quarter * 3..quarter * 3 + 3);
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
        assert_eq!((found.phases[0].rounds, &found.job), (ROUNDS, &record.job));
        let Ending::Stopped(why) = &found.ending else { panic!("{:?}", found.ending) };
        assert!(why.contains("after the epoch of") && !why.contains("no whole chunk"), "{why}");
        assert_eq!(Report::of(&found).assessment.exit_code(), 1);
    }

    #[test]
    fn cut_anywhere_it_gives_what_whole_chunks_say() {
        let (chunks, _) = written();
        let whole = chunks.concat();
        let ends: Vec<usize> = chunks
            .iter()
            .scan(0, |end, chunk| {
                *end += chunk.len();
                Some(*end)
            })
            .collect();
        for length in 0..=whole.len() {
            let complete = ends.iter().filter(|end| **end <= length).count();
            match decode(&whole[..length]) {
                Ok(found) => {
                    assert!(complete >= 2, "{length}");
                    let rounds = found.phases.first().map_or(0, |phase| phase.rounds);
                    assert_eq!(rounds, 3 * complete.saturating_sub(3) as u64, "{length}");
                    let Ending::Stopped(why) = &found.ending else { panic!("an end that was none") };
                    assert_eq!(why.contains("no whole chunk"), !ends.contains(&length), "{length}: {why}");
                    if length % 97 == 0 {
                        let _report = Report::of(&found);
                    }
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
        assert_eq!(found.phases[0].rounds, 6, "chunks after the damaged one stand on it");
    }

    #[test]
    fn a_phase_that_has_ended_lacks_nothing() {
        let (mut chunks, record) = written();
        let mut last = grown(&record.phases[0], 0..0);
        last.ended = Some(record.phases[0].alone.clone());
        chunks.push(encode(&Chunk::Growth(Box::new(last))).unwrap());
        let found = decode(&chunks.concat()).unwrap();
        assert_eq!(found.phases[0].alone, record.phases[0].alone);
        let Ending::Stopped(why) = &found.ending else { panic!("{:?}", found.ending) };
        assert!(!why.contains("after the epoch of"), "{why}");
    }

    /// A history of details that come, change, are dropped and come again, with the state that it leads to.
    fn history(steps: &[(u8, u64, bool)]) -> (Vec<Chunk>, Vec<u64>) {
        let record = ring(&Ring { rounds: ROUNDS, ..Ring::default() });
        let phase = &record.phases[0];
        let run = Chunk::Run { job: String::new(), started_unix_s: 0, machine: MachineFacts::default() };
        let mut chunks = vec![run, Chunk::Phase(Box::new(begun(phase)))];
        let mut kept = std::collections::BTreeSet::new();
        for (which, number, comes) in steps {
            let (index, number) = (u16::from(*which % 2), number % 9);
            let mut grown = TaskGrowth::default();
            if *comes {
                grown.record.instances.push(InstanceRecord { instance: number, ..InstanceRecord::default() });
            } else {
                grown.dropped.push(number);
                let count = chunks.len() as u64;
                grown.thinned = Some(ThinnedInstances { count, ..ThinnedInstances::default() });
            }
            if index == 0 && *comes {
                kept.insert(number);
            } else if index == 0 {
                kept.remove(&number);
            }
            let at = Nanos(number as i64);
            let switch = SwitchEvent {
                at,
                core: 0,
                from: 0,
                to: 0,
                left: crate::record::Left::Asleep,
                to_kind: crate::record::ThreadKind::Idle,
                to_process: None,
                to_name: String::new(),
            };
            let (switches, switches_dropped) =
                if *comes { (vec![switch], Vec::new()) } else { (Vec::new(), vec![(at, 0)]) };
            let tasks = vec![(index, grown)];
            let growth = Growth { tasks, switches, switches_dropped, ..Growth::default() };
            chunks.push(Chunk::Growth(Box::new(growth)));
        }
        (chunks, kept.into_iter().collect())
    }

    fn as_bytes<'c>(chunks: impl IntoIterator<Item = &'c Chunk>) -> Vec<u8> {
        header().into_iter().chain(chunks.into_iter().flat_map(|chunk| encode(chunk).unwrap())).collect()
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

        #[test]
        fn a_compacted_journal_says_the_same_in_fewer_bytes(
            steps in proptest::collection::vec((any::<u8>(), any::<u64>(), any::<bool>()), 0..60),
            at in 0..60_usize,
        ) {
            let (chunks, kept) = history(&steps);
            let whole = decode(&as_bytes(&chunks)).unwrap();
            let numbers: Vec<u64> = whole.phases[0].tasks[0].instances.iter().map(number_of_instance).collect();
            prop_assert_eq!(numbers, kept);
            // What comes meanwhile is appended as it is.
            let (before, meanwhile) = chunks.split_at(at.min(chunks.len()));
            let mut dropped = Dropped::default();
            before.iter().for_each(|chunk| dropped.note(chunk));
            let mut compactor = Compactor::new(dropped);
            let mut shorter: Vec<Chunk> =
                before.iter().flat_map(|chunk| compactor.take(chunk.clone())).collect();
            shorter.extend(compactor.finish());
            prop_assert!(shorter.len() <= 3.min(before.len()), "growth of one phase is joined");
            let again = decode(&as_bytes(shorter.iter().chain(meanwhile))).unwrap();
            prop_assert_eq!(again, whole);
        }
    }
}
