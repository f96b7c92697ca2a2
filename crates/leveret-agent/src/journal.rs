//! The record while it runs, on disk: an ordinary thread appends what the agent hands it, and brings it to the disk. The agent never
//! waits for it; of a disk that does not keep up, or that fails, it learns at its next tick, and the run goes on without a journal.

use crate::ended::{Fold, Sum};
use crate::gaps::Quiet;
use leveret_memory::sync::{AtomicBool, AtomicU64, Ordering};
use leveret_os::{clock, scheduling};
use leveret_plan::Plan;
use leveret_report::journal::{self, CHUNK_HEADER_BYTES, Chunk, Compactor, Dropped, HEADER_BYTES};
use leveret_report::record::MachineFacts;
use leveret_types::Nanos;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Chunks on their way to the thread.
const QUEUE: usize = 4;
/// Chunks that wait for their place in the queue: what ends a phase does not wait for the next half second.
const HELD_MOST: usize = 64;
/// Written by one system call, which is short therefore.
const PIECE_BYTES: usize = 64 << 10;

/// What is handed to the thread.
pub(crate) enum Item {
    Chunk(Chunk),
    Fold(Fold),
}

/// The agent's end of the thread.
pub(crate) struct Journal {
    sender: SyncSender<Item>,
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
    held: VecDeque<Item>,
    /// When each was handed over that is not known to be on the disk.
    handed: VecDeque<Nanos>,
    on_disk: u64,
    has_told_lag: bool,
    phases: u32,
    facts: Option<MachineFacts>,
}

/// What the agent hands over is on the disk within this time, or the user is told: with the half second between two growths a crash
/// loses a second.
const ON_DISK_WITHIN: Nanos = Nanos::from_millis(500);

#[derive(Default)]
pub(crate) struct Shared {
    is_closing: AtomicBool,
    /// Why nothing more is written.
    trouble: Mutex<Option<String>>,
    /// Where the job leaves no core to others: when a system call is least in its way.
    quiet: Mutex<Option<Quiet>>,
    is_beside: AtomicBool,
    /// How many items are on the disk.
    on_disk: AtomicU64,
}

impl Journal {
    /// Starts the thread, with the scheduling of this one. Nothing is written before the first phase. When the file has
    /// grown beyond `bytes`, what is no longer kept is left out of it.
    pub(crate) fn start(path: &Path, bytes: u64, cores: &[u32]) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let shared = Arc::new(Shared::default());
        let (seen, path, cores) = (shared.clone(), path.to_owned(), cores.to_vec());
        let thread = std::thread::Builder::new().name("leveret-record".to_owned()).spawn(move || {
            let keeps_off = scheduling::keep_off(&cores).unwrap_or(false);
            let _ = clock::set_timer_slack(Nanos(1));
            seen.is_beside.store(!keeps_off, Ordering::Release);
            if let Err(error) = write(&path, bytes, &receiver, &seen) {
                *seen.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(told(&path, &error));
            }
        })?;
        Ok(Self::of(sender, shared, thread))
    }

    fn of(sender: SyncSender<Item>, shared: Arc<Shared>, thread: JoinHandle<()>) -> Self {
        let (held, handed) = (VecDeque::new(), VecDeque::new());
        Self { sender, shared, thread, held, handed, on_disk: 0, has_told_lag: false, phases: 0, facts: None }
    }

    /// Whether another chunk has a place.
    pub(crate) fn is_ready(&mut self) -> bool {
        while let Some(item) = self.held.pop_front() {
            if let Err(TrySendError::Full(item) | TrySendError::Disconnected(item)) =
                self.sender.try_send(item)
            {
                self.held.push_front(item);
                return false;
            }
        }
        true
    }

    /// Hands over a chunk.
    pub(crate) fn put(&mut self, chunk: Chunk) {
        self.hand(Item::Chunk(chunk));
    }

    fn hand(&mut self, item: Item) {
        self.held.push_back(item);
        self.handed.push_back(clock::now());
        self.is_ready();
    }

    /// For how long the oldest of what is not on the disk has been on its way there, the first time that this is too long.
    pub(crate) fn lag(&mut self, now: Nanos) -> Option<Nanos> {
        let on_disk = self.shared.on_disk.load(Ordering::Acquire);
        let fresh = usize::try_from(on_disk - self.on_disk).unwrap_or(usize::MAX).min(self.handed.len());
        self.handed.drain(..fresh);
        self.on_disk = on_disk;
        let lag = now - *self.handed.front()?;
        let is_long = lag > ON_DISK_WITHIN && !self.has_told_lag;
        self.has_told_lag |= is_long;
        is_long.then_some(lag)
    }

    /// Phases have become sums: the file has these in their place when it is made shorter next.
    pub(crate) fn fold(&mut self, fold: Fold) {
        self.hand(Item::Fold(fold));
    }

    /// Numbers a phase that begins. If the job uses all cores, the thread writes in the gaps of this plan.
    pub(crate) fn next_phase(&mut self, plan: &Plan, epoch: Nanos) -> u32 {
        *self.shared.quiet.lock().unwrap_or_else(PoisonError::into_inner) = Quiet::of(plan, epoch);
        self.next_number()
    }

    /// Numbers a phase, or a sum of them.
    pub(crate) fn next_number(&mut self) -> u32 {
        self.phases += 1;
        self.phases - 1
    }

    /// What is known of the run and its machine.
    pub(crate) fn tell_facts(&mut self, job: &str, started_unix_s: i64, facts: &MachineFacts) {
        if self.facts.as_ref() != Some(facts) {
            self.facts = Some(facts.clone());
            self.put(Chunk::Run { job: job.to_owned(), started_unix_s, machine: facts.clone() });
        }
    }

    /// Why nothing more is written, if so.
    pub(crate) fn trouble(&self, falls_behind: bool) -> Option<String> {
        let failed = self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        failed.or_else(|| {
            (falls_behind || self.held.len() > HELD_MOST)
                .then(|| "its disk does not keep up; choose another with --output".to_owned())
        })
    }

    /// Ends the thread, once all is written that it has been handed. The last phase's end may still wait for its place.
    pub(crate) fn finish(self) {
        for item in self.held {
            if self.sender.send(item).is_err() {
                break;
            }
        }
        self.shared.is_closing.store(true, Ordering::Release);
        drop(self.sender);
        // It does not panic; if it has, the record that is written now says as much.
        let _ = self.thread.join();
    }
}

/// What went wrong with the file, and what to do.
fn told(path: &Path, error: &io::Error) -> String {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on its disk",
        io::ErrorKind::NotFound => "leave the directory in its place while the job runs",
        io::ErrorKind::FileTooLarge => "raise the limit on the size of files: `ulimit -f unlimited`",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "make it writable, or choose another with --output"
        }
        _ => "see that its disk is sound, or choose another with --output",
    };
    format!("{}: {error}; {remedy}", path.display())
}

/// Writes what comes until nobody can send any more.
fn write(path: &Path, bytes: u64, receiver: &Receiver<Item>, shared: &Shared) -> io::Result<()> {
    let Ok(first) = receiver.recv() else { return Ok(()) };
    let mut writer = Writer::create(path, bytes, shared)?;
    writer.take(first)?;
    loop {
        writer.take_waiting(receiver)?;
        writer.save()?;
        writer.keep_short(receiver)?;
        let Ok(item) = receiver.recv() else { return Ok(()) };
        writer.take(item)?;
    }
}

/// Phases have numbers for the agent, and in the file those of their order in it.
#[derive(Clone, Default)]
struct Numbers {
    in_file: BTreeMap<u32, u32>,
    /// The agent's, by the file's.
    of_agent: Vec<u32>,
}

impl Numbers {
    /// Gives a chunk the number that its phase, whose number the agent gave, has in the file; `None` where it is not there. One that begins
    /// is there from here on.
    fn number(&mut self, mut chunk: Chunk) -> Option<Chunk> {
        match &mut chunk {
            Chunk::Run { .. } => {}
            Chunk::Phase(begun) => {
                let number = self.of_agent.len() as u32;
                self.in_file.insert(begun.number, number);
                self.of_agent.push(begun.number);
                begun.number = number;
            }
            Chunk::Growth(growth) => growth.number = *self.in_file.get(&growth.number)?,
        }
        Some(chunk)
    }

    /// Gives a chunk of the file the agent's number; `None` where it has none.
    fn unnumber(&self, mut chunk: Chunk) -> Option<Chunk> {
        match &mut chunk {
            Chunk::Run { .. } => {}
            Chunk::Phase(begun) => begun.number = *self.of_agent.get(begun.number as usize)?,
            Chunk::Growth(growth) => growth.number = *self.of_agent.get(growth.number as usize)?,
        }
        Some(chunk)
    }
}

/// The number of the phase that a chunk is of.
fn number_of(chunk: &Chunk) -> Option<u32> {
    match chunk {
        Chunk::Run { .. } => None,
        Chunk::Phase(begun) => Some(begun.number),
        Chunk::Growth(growth) => Some(growth.number),
    }
}

impl Shared {
    /// Until a system call is least in the way of the job.
    fn wait(&self) {
        if !self.is_beside.load(Ordering::Acquire) || self.is_closing.load(Ordering::Acquire) {
            return;
        }
        let quiet = self.quiet.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(quiet) = quiet {
            let _ = scheduling::pin(quiet.core);
            let now = clock::now();
            let next = quiet.next(now);
            if next > now {
                clock::sleep_until(next);
            }
        }
    }
}

/// The file.
pub(crate) struct Writer<'s> {
    shared: &'s Shared,
    path: PathBuf,
    file: File,
    pub(crate) length: u64,
    /// Items.
    taken: u64,
    bytes: u64,
    compact_at: u64,
    numbers: Numbers,
    /// Phases that have become sums, and stand in the file nevertheless.
    gone: BTreeSet<u32>,
    sums: Vec<Sum>,
}

impl<'s> Writer<'s> {
    pub(crate) fn create(path: &Path, bytes: u64, shared: &'s Shared) -> io::Result<Self> {
        let mut file = File::create(path)?;
        let header = journal::header();
        file.write_all(&header)?;
        file.sync_all()?;
        // Without it the name may be lost with the machine; not every file system can do that.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(Self {
            shared,
            path: path.to_owned(),
            file,
            length: header.len() as u64,
            taken: 0,
            bytes,
            compact_at: bytes,
            numbers: Numbers::default(),
            gone: BTreeSet::new(),
            sums: Vec::new(),
        })
    }

    /// Takes what the agent has handed over.
    pub(crate) fn take(&mut self, item: Item) -> io::Result<()> {
        self.taken += 1;
        match item {
            Item::Chunk(chunk) => match self.numbers.number(chunk) {
                Some(chunk) => self.append(&chunk),
                None => Ok(()),
            },
            Item::Fold(fold) => {
                self.gone.extend(fold.gone);
                self.sums = fold.sums;
                // There is something to remove.
                self.compact_at = self.bytes;
                Ok(())
            }
        }
    }

    pub(crate) fn append(&mut self, chunk: &Chunk) -> io::Result<()> {
        let bytes = journal::encode(chunk).map_err(|error| io::Error::other(error.to_string()))?;
        for piece in bytes.chunks(PIECE_BYTES) {
            self.shared.wait();
            self.file.write_all(piece)?;
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Appends what has come already; whether that was anything.
    fn take_waiting(&mut self, receiver: &Receiver<Item>) -> io::Result<bool> {
        let mut any = false;
        // While a shorter file is made this one does not grow without end: who hands over waits, and gives up in the end.
        while self.length < self.bytes.saturating_mul(2) || self.length < self.compact_at {
            match receiver.try_recv() {
                Ok(item) => self.take(item)?,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return Ok(any),
            }
            any = true;
        }
        Ok(any)
    }

    /// Brings to the disk what was appended.
    fn save(&self) -> io::Result<()> {
        self.shared.wait();
        self.file.sync_data()?;
        self.shared.on_disk.store(self.taken, Ordering::Release);
        // A file without a name is written to in vain.
        std::fs::symlink_metadata(&self.path).map(drop)
    }

    /// If it has grown too long, writes a shorter file beside it, to which it gives its name. What comes meanwhile is appended to this
    /// one, and taken over last.
    pub(crate) fn keep_short(&mut self, receiver: &Receiver<Item>) -> io::Result<()> {
        if self.length <= self.compact_at {
            return Ok(());
        }
        let beside = part_of(&self.path);
        let done = self.compact_into(&beside, receiver);
        if !matches!(done, Ok(true)) {
            // The part is worth nothing; that it may stay behind is not worth a second error.
            let _ = std::fs::remove_file(&beside);
        }
        done.map(drop)
    }

    /// Whether it got to the end before the run did.
    fn compact_into(&mut self, beside: &Path, receiver: &Receiver<Item>) -> io::Result<bool> {
        let end = self.length;
        // What is folded meanwhile waits for the next time.
        let (gone, sums) = (self.gone.clone(), self.sums.clone());
        let mut leaves_out = gone.clone();
        leaves_out.extend(sums.iter().map(|sum| sum.begun.number));
        let mut dropped = Dropped::default();
        let mut chunks = Chunks::open(&self.path)?;
        while chunks.at < end {
            dropped.note(&chunks.next()?);
            if self.take_waiting(receiver)? {
                self.save()?;
            }
        }
        let mut shorter = Self::create(beside, self.bytes, self.shared)?;
        let (mut compactor, mut chunks) = (Compactor::new(dropped), Chunks::open(&self.path)?);
        while chunks.at < end {
            for chunk in compactor.take(chunks.next()?) {
                shorter.take_of(&self.numbers, chunk, &leaves_out)?;
            }
            if self.take_waiting(receiver)? {
                self.save()?;
            }
            if self.shared.is_closing.load(Ordering::Acquire) {
                return Ok(false);
            }
        }
        if let Some(chunk) = compactor.finish() {
            shorter.take_of(&self.numbers, chunk, &leaves_out)?;
        }
        for Sum { begun, growth } in sums {
            shorter.take(Item::Chunk(Chunk::Phase(Box::new(begun))))?;
            shorter.take(Item::Chunk(Chunk::Growth(Box::new(growth))))?;
        }
        while chunks.at < self.length {
            shorter.take_of(&self.numbers, chunks.next()?, &leaves_out)?;
        }
        shorter.file.sync_all()?;
        std::fs::rename(beside, &self.path)?;
        (self.file, self.length, self.numbers) = (shorter.file, shorter.length, shorter.numbers);
        self.gone.retain(|number| !gone.contains(number));
        // If little could be removed, wait before trying again.
        self.compact_at = self.bytes.max(self.length.saturating_mul(2));
        Ok(true)
    }
}

impl Writer<'_> {
    /// Takes a chunk over from a file with these numbers, unless it is of a phase to be left out.
    fn take_of(&mut self, numbers: &Numbers, chunk: Chunk, leaves_out: &BTreeSet<u32>) -> io::Result<()> {
        match numbers.unnumber(chunk) {
            Some(chunk) if number_of(&chunk).is_none_or(|number| !leaves_out.contains(&number)) => {
                self.take(Item::Chunk(chunk))
            }
            _ => Ok(()),
        }
    }
}

/// The name of a record that is made shorter, until it takes the place of the one at `path`.
pub fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// The chunks of a file, one after the other.
struct Chunks {
    file: BufReader<File>,
    /// Where the next begins.
    at: u64,
}

impl Chunks {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = BufReader::new(File::open(path)?);
        let at = file.seek(SeekFrom::Start(HEADER_BYTES as u64))?;
        Ok(Self { file, at })
    }

    fn next(&mut self) -> io::Result<Chunk> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "what was written to it reads otherwise");
        let mut header = [0; CHUNK_HEADER_BYTES];
        self.file.read_exact(&mut header)?;
        let mut content = vec![0; journal::content_bytes(header).ok_or_else(damaged)?];
        self.file.read_exact(&mut content)?;
        self.at += (CHUNK_HEADER_BYTES + content.len()) as u64;
        journal::decode_chunk(header, &content).ok_or_else(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_report::journal::{Growth, PhaseBegun, TaskGrowth};
    use leveret_report::record::InstanceRecord;
    use leveret_report::synthetic::{Ring, ring};

    /// A run begins with a phase of one ring.
    fn beginning(journal: &mut Journal) {
        journal.tell_facts("ring", 1, &MachineFacts::default());
        let phase = ring(&Ring { rounds: 1, ..Ring::default() }).phases.remove(0);
        let number = journal.next_phase(&phase.plan, phase.epoch_monotonic);
        let (job, plan, epoch_monotonic) = (phase.job, phase.plan, phase.epoch_monotonic);
        journal.put(Chunk::Phase(Box::new(PhaseBegun {
            number,
            label: phase.label,
            job,
            plan,
            epoch_monotonic,
        })));
    }

    /// An instance that is no longer kept when the next has come.
    fn growth(instance: u64) -> Chunk {
        let mut grown = TaskGrowth::default();
        grown.record.instances.push(InstanceRecord { instance, ..InstanceRecord::default() });
        grown.dropped.extend(instance.checked_sub(1));
        Chunk::Growth(Box::new(Growth { rounds: instance + 1, tasks: vec![(0, grown)], ..Growth::default() }))
    }

    fn started(path: &Path, bytes: u64) -> Journal {
        let mut journal = Journal::start(path, bytes, &[]).expect("a thread");
        beginning(&mut journal);
        journal
    }

    /// A thread that takes nothing stands for a disk that does not.
    #[test]
    fn what_is_long_on_its_way_to_the_disk_is_told_once() {
        let (sender, receiver) = sync_channel(QUEUE);
        let shared = Arc::new(Shared::default());
        let thread = std::thread::spawn(|| {});
        let mut journal = Journal::of(sender, shared.clone(), thread);
        for instance in 0..QUEUE as u64 + 2 {
            journal.put(growth(instance));
        }
        let (first, soon) = (journal.handed[0], Nanos::from_millis(1));
        assert_eq!(journal.lag(first + ON_DISK_WITHIN), None);
        // All but the last are on the disk.
        shared.on_disk.store(QUEUE as u64 + 1, Ordering::Release);
        let last = journal.handed[QUEUE + 1];
        assert_eq!(journal.lag(last + ON_DISK_WITHIN), None);
        assert_eq!(journal.lag(last + ON_DISK_WITHIN + soon), Some(ON_DISK_WITHIN + soon));
        assert_eq!(journal.lag(last + ON_DISK_WITHIN + soon), None, "once");
        shared.on_disk.store(QUEUE as u64 + 2, Ordering::Release);
        assert_eq!((journal.lag(Nanos::MAX), journal.handed.len()), (None, 0));
        drop(receiver);
        journal.finish();
    }

    #[test]
    fn what_is_on_the_disk_is_known_to_be_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record");
        let mut journal = started(&path, u64::MAX);
        let shared = journal.shared.clone();
        journal.put(growth(0));
        let put = journal.handed.len() as u64;
        journal.finish();
        assert_eq!((put, shared.on_disk.load(Ordering::Acquire)), (3, 3));
    }

    #[test]
    fn a_file_that_grows_is_made_shorter_and_loses_nothing_that_is_kept() {
        const BYTES: u64 = 20_000;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record");
        let mut journal = started(&path, BYTES);
        for instance in 0..5000 {
            journal.put(growth(instance));
        }
        assert_eq!(journal.trouble(false).filter(|_| journal.held.len() <= HELD_MOST), None);
        journal.finish();
        let bytes = std::fs::read(&path).expect("a file");
        // Chunks still queued when the thread ends are appended without a limit.
        let written = journal::encode(&growth(5000)).expect("a chunk").len() * 5000;
        assert!(bytes.len() < written, "{} of {written} bytes", bytes.len());
        let record = journal::decode(&bytes).expect("a journal");
        assert_eq!(record.phases[0].rounds, 5000);
        let kept: Vec<u64> =
            record.phases[0].tasks[0].instances.iter().map(|instance| instance.instance).collect();
        assert_eq!(kept, [4999]);
        assert!(!part_of(&path).exists());
    }

    #[test]
    fn what_cannot_be_written_is_named_with_a_remedy_and_ends_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("missing/record");
        let journal = started(&missing, 1 << 20);
        let shared = journal.shared.clone();
        journal.finish();
        let told = shared.trouble.lock().expect("no panic").clone().expect("there is no such folder");
        assert!(
            told.starts_with(&missing.display().to_string()) && told.contains("; leave the directory"),
            "{told}"
        );
    }

    /// A phase with this number, of which all that is known is how many rounds it had.
    fn phase(number: u32, rounds: u64) -> Sum {
        let phase = ring(&Ring { rounds: 1, ..Ring::default() }).phases.remove(0);
        let (label, job, plan) = (format!("phase {number}"), phase.job, phase.plan);
        let begun = PhaseBegun { number, label, job, plan, epoch_monotonic: phase.epoch_monotonic };
        Sum { begun, growth: Growth { number, rounds, ..Growth::default() } }
    }

    #[test]
    fn sums_take_the_place_of_phases_and_what_runs_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, shared) = (folder.path().join("record"), Shared::default());
        let (_, nobody) = sync_channel(1);
        let mut writer = Writer::create(&path, 1000, &shared).expect("a file");
        let takes = |writer: &mut Writer<'_>, chunks: Vec<Chunk>| {
            chunks.into_iter().for_each(|chunk| writer.take(Item::Chunk(chunk)).expect("room"));
        };
        let of = |Sum { begun, growth }| vec![Chunk::Phase(Box::new(begun)), Chunk::Growth(Box::new(growth))];
        let machine = MachineFacts::default();
        takes(&mut writer, vec![Chunk::Run { job: "ring".to_owned(), started_unix_s: 1, machine }]);
        let mut lengths = Vec::new();
        // Number 0 runs on. Each time two have ended, they become part of the sum, whose number is 1.
        takes(&mut writer, of(phase(0, 0)));
        for pair in 1..=20 {
            let [first, second] = [2 * pair, 2 * pair + 1];
            takes(&mut writer, [of(phase(first, 3)), of(phase(second, 4))].concat());
            let sum = phase(1, u64::from(7 * pair));
            writer.take(Item::Fold(Fold { gone: vec![first, second], sums: vec![sum] })).expect("room");
            writer.keep_short(&nobody).expect("room");
            let growth = Growth { number: 0, rounds: u64::from(pair), ..Growth::default() };
            takes(&mut writer, vec![Chunk::Growth(Box::new(growth))]);
            lengths.push(writer.length);
            let found = journal::decode(&std::fs::read(&path).expect("the file")).expect("a journal");
            let rounds: Vec<_> = found.phases.iter().map(|phase| (&phase.label[..], phase.rounds)).collect();
            assert_eq!(rounds, [("phase 0", u64::from(pair)), ("phase 1", u64::from(7 * pair))]);
        }
        assert!(lengths.iter().all(|length| *length <= lengths[0] + 100), "{lengths:?}");
    }

    #[test]
    fn a_file_that_was_removed_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record");
        let shared = Shared::default();
        let mut writer = Writer::create(&path, 1 << 20, &shared).expect("a file");
        writer.append(&growth(0)).expect("room");
        writer.save().expect("it is there");
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(writer.save().map_err(|error| error.kind()), Err(io::ErrorKind::NotFound));
    }

    #[test]
    fn a_full_disk_is_named() {
        let Ok(mut full) = File::options().write(true).open("/dev/full") else { return };
        let error = full.write_all(b"record").expect_err("it is full");
        assert!(told(Path::new("out/record.leveret"), &error).ends_with("; make room on its disk"));
    }
}
