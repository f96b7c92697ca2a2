//! A run of a day at 2 kHz in virtual time: what it takes in memory and on disk is counted, flat, and bounded by the configuration.

use super::*;
use crate::journal::{Item, Shared, Writer};
use leveret_report::journal::{self, Chunk, Growth, PhaseBegun};
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

const FAST: Nanos = Nanos::from_micros(500);
/// Instances of half a second.
const STEP: u64 = 1000;
/// The record's limit; a quarter of it is for details in memory, and as much for those on disk.
const LIMIT: usize = 8 << 20;
const STREAMS: usize = 3;
/// What half a second adds to the journal at most.
const CHUNK: u64 = 200_000;
/// What of a distribution one value takes.
const VALUE_BYTES: usize = 2 * size_of::<(u64, u64)>();

/// The writing end of the pair, and the channel, as they are collected, thinned and written.
struct Day<'w> {
    job: InProcessJob,
    task: TaskCollector,
    channel: ChannelCollector,
    windows: Windows,
    writer: Option<Writer<'w>>,
    nobody: Receiver<Item>,
    random: Random,
    missed: u64,
}

impl<'w> Day<'w> {
    fn new(file: Option<(&Path, &'w Shared)>) -> Self {
        let job = pair_of(FAST);
        let mut task = TaskCollector::new(None, 0, TaskTable::new(&job.assembled, &job.plan, 0), (EPOCH, 0));
        let table = ChannelTable::new(&job.assembled, &job.plan, 0);
        let mut channel = ChannelCollector::new(None, None, table, (EPOCH, 0));
        let writer = file.map(|(path, shared)| {
            task.note_changes(true);
            channel.note_changes(true);
            let mut writer = Writer::create(path, LIMIT as u64 / 4, shared).expect("a file");
            let machine = MachineFacts::default();
            let run = Chunk::Run { job: "day".to_owned(), started_unix_s: 0, machine };
            let (model, plan) = (job.assembled.job.clone(), job.plan.clone());
            let label = "day".to_owned();
            let begun = PhaseBegun { number: 0, label, job: model, plan, epoch_monotonic: EPOCH };
            writer.take(Item::Chunk(run)).expect("room");
            writer.take(Item::Chunk(Chunk::Phase(Box::new(begun)))).expect("room");
            writer
        });
        let (_, nobody) = sync_channel(1);
        let windows = Windows::new(FAST.saturating_mul(3));
        Self { job, task, channel, windows, writer, nobody, random: Random(4711), missed: 0 }
    }

    /// Half a second, in which one instance in 20,000 misses.
    fn step(&mut self, first: u64) {
        for instance in first..first + STEP {
            let mut stamp = honest(&self.job, 0, instance);
            stamp.ended = stamp.started + Nanos(2000 + (self.random.next() % 20_000) as i64);
            if self.random.next().is_multiple_of(20_000) {
                stamp.ended = stamp.deadline + Nanos(5);
                self.missed += 1;
            }
            let found = self.task.take(&stamp, Outcome::Ran);
            if let Some(found) = found.filter(|found| found.missed) {
                self.windows.open(found.from - EPOCH, found.until - EPOCH);
            }
            let message = sent(&self.job, instance);
            self.channel.sent(&message, FateCode::Done);
            self.channel.received(&RawMessage { at: message.due + Nanos(700), ..message }, FateCode::Done);
            if instance % 40 == 0 {
                self.task.thin(&self.windows, LIMIT / 4 / STREAMS);
                self.channel.thin(&self.windows, LIMIT / 4 / STREAMS);
            }
        }
        let Some(writer) = &mut self.writer else { return };
        let growth = Growth {
            rounds: first + STEP,
            tasks: self.task.growth(Nanos::MAX).map(|grown| (0, grown)).into_iter().collect(),
            channels: self.channel.growth(Nanos::MAX).map(|grown| (0, grown)).into_iter().collect(),
            ..Growth::default()
        };
        writer.take(Item::Chunk(Chunk::Growth(Box::new(growth)))).expect("room");
        writer.keep_short(&self.nobody).expect("room");
    }

    /// Bytes of details, and of distributions.
    fn bytes(&self) -> usize {
        let (task, channel) = (&self.task.record.thinned, &self.channel.record.thinned);
        let of_task = [&task.wake_lateness, &task.start_lateness, &task.execution, &task.slack];
        let of_channel = [&channel.latency, &channel.insert_to_taken, &channel.available_to_taken];
        let values: usize = of_task.into_iter().chain(of_channel).map(|found| found.counts.len()).sum();
        let instances = self.task.record.instances.capacity() * size_of::<InstanceRecord>();
        instances + self.channel.messages.len() * MESSAGE_BYTES + values * VALUE_BYTES
    }

    fn disk(&self) -> u64 {
        self.writer.as_ref().map_or(0, |writer| writer.length)
    }
}

/// Runs so many half seconds; the most bytes in memory and on disk in each tenth of them.
fn run(day: &mut Day<'_>, steps: u64) -> Vec<(usize, u64)> {
    let mut most = vec![(0, 0); 10];
    for step in 0..steps {
        day.step(step * STEP);
        if [7200, 6 * 7200, 24 * 7200].contains(&(step + 1)) {
            println!("{} h: {} bytes in memory, {} on disk", (step + 1) / 7200, day.bytes(), day.disk());
        }
        let (memory, disk) = &mut most[(step * 10 / steps) as usize];
        (*memory, *disk) = (day.bytes().max(*memory), day.disk().max(*disk));
    }
    most
}

fn phase(day: Day<'_>, rounds: u64) -> RunRecord {
    let ((task, _), channel) = (day.task.finish(0, Nanos::MAX), day.channel.finish(Nanos::MAX));
    assert_eq!(task.instances.len() as u64 + task.thinned.count, rounds, "every instance is counted");
    assert_eq!(channel.messages.len() as u64 + channel.thinned.count, rounds, "every message is counted");
    let kept = task.instances.iter().filter(|instance| instance.is_missed()).count() as u64;
    assert_eq!(kept + task.thinned.missed, day.missed, "every miss is counted");
    let phase = Phase {
        label: "day".to_owned(),
        job: day.job.assembled.job.clone(),
        plan: day.job.plan.clone(),
        epoch_monotonic: EPOCH,
        rounds,
        tasks: vec![task, TaskRecord::default()],
        channels: vec![channel],
        switches: Vec::new(),
        timers: Vec::new(),
        events: Vec::new(),
        alone: AloneProbe::default(),
    };
    RunRecord {
        job: "day".to_owned(),
        started_unix_s: 0,
        machine: MachineFacts::default(),
        phases: vec![phase],
        ending: Ending::Completed,
    }
}

/// A quarter of an hour, with what is written of it: the file gives what the collectors have, in as many bytes at its end as at its beginning.
#[test]
fn what_is_written_of_a_long_run_is_bounded_and_says_what_the_collectors_have() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, shared) = (folder.path().join("record"), Shared::default());
    let mut day = Day::new(Some((&path, &shared)));
    let steps = 1800;
    let most = run(&mut day, steps);
    let bound = LIMIT as u64 / 4 * 2 + CHUNK;
    assert!(most.iter().all(|(memory, disk)| *memory <= LIMIT / 4 && *disk <= bound), "{most:?}");
    let growing =
        most[5..].iter().max().expect("some").1 as f64 / most[..5].iter().max().expect("some").1 as f64;
    assert!(growing < 1.1, "{most:?}");
    let found = journal::decode(&std::fs::read(&path).expect("the file")).expect("a journal");
    let record = phase(day, steps * STEP);
    assert_eq!(found.phases[0].tasks[0], record.phases[0].tasks[0]);
    assert_eq!(found.phases[0].channels, record.phases[0].channels);
    let report = Report::of(&record);
    let trace = trace::within(&report, LIMIT / 4);
    assert!(trace.len() <= LIMIT / 4 + LIMIT / 16, "the trace has {} bytes", trace.len());
}

/// A day with its journal where `LEVERET_DAY` is set, which takes minutes; else an hour of what is held in memory.
#[test]
#[allow(clippy::disallowed_methods, reason = "the whole day takes minutes, so LEVERET_DAY asks for it")]
fn a_day_at_2_khz_takes_as_many_bytes_as_an_hour() {
    let is_whole = std::env::var_os("LEVERET_DAY").is_some();
    let hours = if is_whole { 24 } else { 1 };
    let folder = tempfile::tempdir().expect("a folder");
    let (path, shared) = (folder.path().join("record"), Shared::default());
    let mut day = Day::new(is_whole.then_some((path.as_path(), &shared)));
    let most = run(&mut day, hours * 7200);
    println!("{hours} h: most bytes in memory and on disk in each tenth: {most:?}");
    let bound = LIMIT as u64 / 4 * 2 + CHUNK;
    assert!(most.iter().all(|(_, disk)| *disk <= bound), "{most:?}");
    assert!(most.iter().all(|(memory, _)| *memory <= LIMIT / 4), "{most:?}");
    let of = |tenths: &[(usize, u64)]| tenths.iter().map(|(memory, _)| *memory).max().unwrap_or(0);
    assert!(of(&most[5..]) <= of(&most[..5]) / 10 * 11, "{most:?}");
    let record = phase(day, hours * 7200 * STEP);
    let report = Report::of(&record);
    assert!(json::text(&report).len() + html::page(&report).len() <= LIMIT / 2);
}
