//! A change of mode in Rust: a second set of objects takes over from the first while it runs. As `mode-change.c`, which explains
//! it, and with the same output: `leveret run -n 2 --rounds 200 mode-change`.

use leveret::objects::{
    BufferDescription, ChannelDescription, Code, Committed, Dataspec, Handle, Library, OwnedStorage, Policy,
    Qos, TaskInstance,
};
use leveret::{CountingAllocator, Nanos};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const MEMBERS: usize = 2;
const BUFFERS: usize = 2;
const BUDGET: Nanos = Nanos::from_micros(100);

struct Mode {
    name: &'static str,
    period: Nanos,
    /// In a message.
    numbers: usize,
}

const SLOW: Mode = Mode { name: "slow", period: Nanos::from_millis(20), numbers: 1 };
const FAST: Mode = Mode { name: "fast", period: Nanos::from_millis(5), numbers: 4 };
const SLOW_FOR: Nanos = Nanos::from_millis(400);

fn main() -> ExitCode {
    match change_modes() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("mode-change: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the task counts. It is the only one that changes it.
#[derive(Default)]
struct Counts {
    expected: AtomicI64,
    taken: AtomicU64,
    wrong: AtomicU64,
}

/// Everything of one commit, so that it can be freed.
struct End {
    objects: Vec<Handle>,
    counts: Arc<Counts>,
}

/// Member 0: every number of the message is the instance's.
fn measure([input, output]: [Handle; 2], instance: TaskInstance, committed: &Committed) -> Result<(), Code> {
    let buffer = committed.remove(output)?;
    let number = (instance.number as i64).to_ne_bytes();
    committed.write(buffer, |bytes| bytes.as_chunks_mut().0.fill(number))?;
    committed.insert(input, buffer)
}

/// Member 1: numbers only grow, and all in a message are the same.
fn control([input, output]: [Handle; 2], counts: &Counts, committed: &Committed) -> Result<(), Code> {
    let buffer = committed.remove(output)?;
    committed.read(buffer, |bytes| {
        let numbers = bytes.as_chunks().0;
        let first = i64::from_ne_bytes(numbers[0]);
        let others = numbers.iter().filter(|number| **number != numbers[0]).count() as u64;
        let is_late = u64::from(first < counts.expected.load(Relaxed));
        counts.wrong.fetch_add(is_late + others, Relaxed);
        counts.expected.store(first + 1, Relaxed);
    })?;
    counts.taken.fetch_add(1, Relaxed);
    committed.insert(input, buffer)
}

fn declare(library: &mut Library, mode: &Mode, is_sensor: bool) -> Result<End, Code> {
    let world = &mut library.world;
    let (size, dataspec) = (mode.numbers * size_of::<i64>(), Dataspec::Int64);
    let input = world.bufiter("in", Policy::Fifo, (size, dataspec), Handle::default())?;
    let output = world.bufiter("out", Policy::Fifo, (size, dataspec), Handle::default())?;
    let mut buffers = Vec::new();
    for _ in 0..BUFFERS {
        let storage = Arc::new(OwnedStorage::new(size));
        let buffer = world.buffer("", BufferDescription { size, dataspec, storage })?;
        world.stock(if is_sensor { output } else { input }, buffer)?;
        buffers.push(buffer);
    }
    let millis = Nanos::from_millis;
    let period = mode.period;
    let channel_qos = world.qos("", Qos::Time { start: millis(1), deadline: millis(2), period })?;
    let (source, target, group) = (0, 1, Handle::GROUP_WORLD);
    let description = ChannelDescription { input, output, source, target, group, qos: channel_qos };
    let channel = world.ptchannel("readings", description)?;
    // The controller runs when the message has come.
    let start = if is_sensor { Nanos::ZERO } else { millis(2) };
    let task_qos = world.qos("", Qos::Time { start, deadline: start + millis(1), period })?;
    let counts = Arc::new(Counts::default());
    let of_task = counts.clone();
    let name = if is_sensor { "sensor" } else { "controller" };
    let task = world.task(name, (task_qos, BUDGET), |_| {
        Arc::new(move |instance, committed| {
            // An instance without a buffer has nothing to do.
            let _ = match is_sensor {
                true => measure([input, output], instance, committed),
                false => control([input, output], &of_task, committed),
            };
        })
    })?;
    world.bind_channel(task, channel)?;
    let mut objects = vec![task, channel, task_qos, channel_qos];
    objects.extend(buffers);
    objects.extend([input, output]);
    Ok(End { objects, counts })
}

/// Gives the number of wrong messages.
fn change_modes() -> Result<u64, Box<dyn Error>> {
    let mut library = Library::join()?;
    let size = library.world.group_size(Handle::GROUP_WORLD)?;
    if size != MEMBERS {
        return Err(format!("it has {MEMBERS} members, not {size}; start it with -n {MEMBERS}").into());
    }
    let is_sensor = library.world.rank().index() == 0;
    let slow = declare(&mut library, &SLOW, is_sensor)?;
    library.commit().map_err(|code| format!("{code}\n{}", library.refusal()))?;
    let earliest = library.epoch()? + SLOW_FOR;
    // What this thread makes from here on belongs to the mode, until it is committed.
    let mode = library.world.open_mode(FAST.name)?;
    let fast = declare(&mut library, &FAST, is_sensor)?;
    library.commit_mode(mode).map_err(|code| format!("{code}\n{}", library.refusal()))?;
    library.switch_mode(mode, Some(earliest)).map_err(|code| format!("{code}\n{}", library.refusal()))?;
    let mut wrong = slow.finish(&mut library, &SLOW, is_sensor)?;
    library.run()?;
    wrong += fast.finish(&mut library, &FAST, is_sensor)?;
    library.world.free(mode)?;
    Ok(wrong)
}

impl End {
    /// Tells what was taken, and frees what is not committed any more; gives the number of wrong messages.
    fn finish(self, library: &mut Library, mode: &Mode, is_sensor: bool) -> Result<u64, Code> {
        for object in self.objects {
            library.world.free(object)?;
        }
        let (taken, wrong) = (self.counts.taken.load(Relaxed), self.counts.wrong.load(Relaxed));
        if !is_sensor {
            println!(
                "controller: {}: took {taken} messages of {} numbers, {wrong} wrong",
                mode.name, mode.numbers
            );
        }
        Ok(wrong)
    }
}
