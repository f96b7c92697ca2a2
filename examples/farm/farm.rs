//! A farm in Rust: member 0 hands out jobs, the most urgent first, and the others work. As `farm.c`, which explains it, and
//! with the same output: `leveret run -n 3 farm`.

use leveret::Nanos;
use leveret::objects::{
    BufferDescription, ChannelDescription, Code, Committed, Dataspec, Handle, Library, OwnedStorage, Policy,
};
use std::collections::HashSet;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

const JOBS: i64 = 12;
const WORKERS_MAX: usize = 4;
const ANSWER_BUFFERS: usize = 4;
/// Numbers in a message.
const NUMBERS: usize = 2;
const BYTES: usize = NUMBERS * size_of::<i64>();
const PATIENCE: Nanos = Nanos::from_secs(10);

fn main() -> ExitCode {
    match farm() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("farm: {error}");
            ExitCode::FAILURE
        }
    }
}

fn farm() -> Result<(), Box<dyn Error>> {
    let mut library = Library::join()?;
    let size = library.world.group_size(Handle::GROUP_WORLD)?;
    if !(2..=WORKERS_MAX + 1).contains(&size) {
        return Err(format!("it has 2 to {} members, not {size}; start it with -n 3", WORKERS_MAX + 1).into());
    }
    let workers = size - 1;
    match library.world.rank().index() {
        0 => hand_out(&mut library, workers),
        rank => work(&mut library, rank, workers),
    }
}

fn iterator(library: &mut Library, name: &str, policy: Policy) -> Result<Handle, Code> {
    library.world.bufiter(name, policy, (BYTES, Dataspec::Int64), Handle::default())
}

fn buffer(library: &mut Library) -> Result<Handle, Code> {
    let storage = Arc::new(OwnedStorage::new(BYTES));
    library.world.buffer("", BufferDescription { size: BYTES, dataspec: Dataspec::Int64, storage })
}

/// An end of a best-effort channel.
fn end(
    library: &mut Library,
    kind: &str,
    [source, target]: [usize; 2],
    [input, output]: [Handle; 2],
) -> Result<Handle, Code> {
    let name = format!("{kind}-{}", source + target);
    let [source, target] = [source as u32, target as u32];
    let (group, qos) = (Handle::GROUP_WORLD, Handle::BEST_EFFORT);
    library.world.ptchannel(&name, ChannelDescription { input, output, source, target, group, qos })
}

fn commit(library: &mut Library) -> Result<Arc<Committed>, Box<dyn Error>> {
    library.commit().map_err(|code| format!("{code}\n{}", library.refusal()))?;
    Ok(library.committed().ok_or(Code::NotCommitted)?.clone())
}

fn transfer(committed: &Committed, channel: Handle) -> Result<(), Code> {
    committed.start(channel)?;
    committed.wait(channel, PATIENCE)
}

fn numbers(committed: &Committed, buffer: Handle) -> Result<[i64; NUMBERS], Code> {
    let mut numbers = [0; NUMBERS];
    committed.read(buffer, |bytes| {
        for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
            *number = i64::from_ne_bytes(*bytes);
        }
    })?;
    Ok(numbers)
}

fn set_numbers(committed: &Committed, buffer: Handle, numbers: [i64; NUMBERS]) -> Result<(), Code> {
    committed.write(buffer, |bytes| {
        for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
            *bytes = number.to_ne_bytes();
        }
    })
}

fn hand_out(library: &mut Library, workers: usize) -> Result<(), Box<dyn Error>> {
    let jobs = iterator(library, "jobs", Policy::Sorted)?;
    let spent = iterator(library, "spent", Policy::Lifo)?;
    let ready = iterator(library, "ready", Policy::Lifo)?;
    let answered = iterator(library, "answered", Policy::Fifo)?;
    let (mut orders, mut answers) = (Vec::new(), Vec::new());
    for worker in 1..=workers {
        orders.push(end(library, "order", [0, worker], [jobs, spent])?);
        answers.push(end(library, "answer", [worker, 0], [ready, answered])?);
    }
    let job = (0..JOBS).map(|_| buffer(library)).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..ANSWER_BUFFERS {
        let answer = buffer(library)?;
        library.world.stock(ready, answer)?;
    }
    let committed = commit(library)?;
    for (place, job) in (0..).zip(&job) {
        // The last one is the most urgent.
        committed.set_label(*job, JOBS - place)?;
        set_numbers(&committed, *job, [place + 1, 0])?;
        committed.insert(jobs, *job)?;
    }
    let mut used = HashSet::new();
    for _ in 0..JOBS as usize / workers {
        for order in &orders {
            transfer(&committed, *order)?;
        }
        for answer in &answers {
            transfer(&committed, *answer)?;
            let came = committed.remove(answered)?;
            used.insert(came);
            let [number, square] = numbers(&committed, came)?;
            println!("farmer: {number} squared is {square}");
            committed.insert(ready, came)?;
        }
    }
    println!("farmer: {JOBS} answers came into {} of {ANSWER_BUFFERS} buffers", used.len());
    library.uncommit()?;
    Ok(())
}

fn work(library: &mut Library, rank: usize, workers: usize) -> Result<(), Box<dyn Error>> {
    let empty = iterator(library, "empty", Policy::Fifo)?;
    let full = iterator(library, "full", Policy::Fifo)?;
    let orders = end(library, "order", [0, rank], [empty, full])?;
    let answers = end(library, "answer", [rank, 0], [full, empty])?;
    let only = buffer(library)?;
    library.world.stock(empty, only)?;
    let committed = commit(library)?;
    for _ in 0..JOBS as usize / workers {
        transfer(&committed, orders)?;
        let order = committed.remove(full)?;
        let [number, _] = numbers(&committed, order)?;
        set_numbers(&committed, order, [number, number * number])?;
        committed.insert(full, order)?;
        transfer(&committed, answers)?;
    }
    library.uncommit()?;
    Ok(())
}
