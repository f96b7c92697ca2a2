//! A pipeline in Rust: three stages, driven by events. As `pipeline.c`, which explains it, and with the same output:
//! `leveret run -n 3 pipeline`, or `leveret run -n 3 pipeline -- 1000`.

use leveret::Nanos;
use leveret::objects::{
    BufferDescription, ChannelDescription, Code, Committed, Dataspec, EventKind, Handle, Library,
    OwnedStorage, Policy, TriggerDescription,
};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::Relaxed};

const STAGES: usize = 3;
const DEPTH: usize = 4;
const ITEMS: usize = 10;
const ITEMS_MAX: usize = 1_000_000;
const BYTES: usize = size_of::<i64>();
const PATIENCE: Nanos = Nanos::from_secs(10);
const BUDGET: Nanos = Nanos::from_micros(100);

fn main() -> ExitCode {
    match pipeline() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("pipeline: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What a stage has: where messages come from, and where they go.
struct Stage {
    received: Handle,
    full: Handle,
    idle: Handle,
    /// Null at the ends of the pipeline.
    input: Handle,
    output: Handle,
    done: Handle,
    /// As many as there are items.
    sums: Vec<AtomicI64>,
    sum: AtomicI64,
    count: AtomicUsize,
    failed: AtomicBool,
}

impl Stage {
    /// Stage 1: squares the number where it lies. That it has run sends it on.
    fn square(&self, committed: &Committed) -> Result<(), Code> {
        let buffer = committed.remove(self.received)?;
        let number = number_in(committed, buffer)?;
        self.fill(committed, buffer, number * number)
    }

    fn fill(&self, committed: &Committed, buffer: Handle, number: i64) -> Result<(), Code> {
        committed.write(buffer, |bytes| bytes.copy_from_slice(&number.to_ne_bytes()))?;
        committed.insert(self.full, buffer)
    }

    /// Stage 2: adds the number up, and says when it was the last.
    fn add(&self, committed: &Committed) -> Result<(), Code> {
        let buffer = committed.remove(self.received)?;
        let number = number_in(committed, buffer)?;
        let sum = self.sum.fetch_add(number, Relaxed) + number;
        let place = self.count.fetch_add(1, Relaxed);
        self.sums.get(place).ok_or(Code::Full)?.store(sum, Relaxed);
        committed.insert(self.idle, buffer)?;
        if place + 1 == self.sums.len() { committed.fire(self.done) } else { Ok(()) }
    }

    /// A buffer to fill; when all are on their way, the next that comes back.
    fn next(&self, committed: &Committed) -> Result<Handle, Code> {
        loop {
            match committed.remove(self.idle) {
                Err(Code::Empty) => committed.wait(self.output, PATIENCE)?,
                found => return found,
            }
        }
    }

    /// The first stage sends when both others have said that they are ready, and waits until the last number is added.
    fn feed(&self, committed: &Committed, [fed, ready, done]: [Handle; 3]) -> Result<(), Code> {
        for _ in 1..STAGES {
            committed.receptor_wait(ready, PATIENCE)?;
        }
        for number in 1..=self.sums.len() as i64 {
            let buffer = self.next(committed)?;
            self.fill(committed, buffer, number)?;
            committed.fire(fed)?;
        }
        committed.receptor_wait(done, PATIENCE).map(|_| ())
    }
}

fn number_in(committed: &Committed, buffer: Handle) -> Result<i64, Code> {
    let mut number = [0; BYTES];
    committed.read(buffer, |bytes| number.copy_from_slice(bytes))?;
    Ok(i64::from_ne_bytes(number))
}

fn iterator(library: &mut Library, name: &str) -> Result<Handle, Code> {
    library.world.bufiter(name, Policy::Fifo, (BYTES, Dataspec::Int64), Handle::default())
}

fn stock(library: &mut Library, iterator: Handle) -> Result<(), Code> {
    for _ in 0..DEPTH {
        let storage = Arc::new(OwnedStorage::new(BYTES));
        let description = BufferDescription { size: BYTES, dataspec: Dataspec::Int64, storage };
        let buffer = library.world.buffer("", description)?;
        library.world.stock(iterator, buffer)?;
    }
    Ok(())
}

fn channel(library: &mut Library, source: usize, [input, output]: [Handle; 2]) -> Result<Handle, Code> {
    let (name, start, completion) =
        if source == 0 { ("numbers", "fed", "came") } else { ("squares", "squared", "arrived") };
    let qos = library.world.event_qos("", Some(start), Some(completion))?;
    let (source, target) = (source as u32, source as u32 + 1);
    let group = Handle::GROUP_WORLD;
    let description = ChannelDescription { input, output, source, target, group, qos };
    library.world.ptchannel(name, description)
}

fn trigger(library: &mut Library, event: &str) -> Result<Handle, Code> {
    let null = Handle::default();
    let about =
        TriggerDescription { kind: EventKind::Call, source: null, group: Handle::GROUP_WORLD, qos: null };
    library.world.trigger(event, about)
}

/// Where an event is waited for.
fn receptor(library: &mut Library, event: &str) -> Result<Handle, Code> {
    library.world.receptor(event, Handle::GROUP_WORLD, Handle::default())
}

/// What a stage does for each message.
type Work = fn(&Stage, &Committed) -> Result<(), Code>;

/// Lets an event run a stage's work, which fires `completion`.
fn run_at(
    library: &mut Library,
    (start, completion): (&str, Option<&str>),
    stage: &Arc<Stage>,
    (name, work): (&str, Work),
) -> Result<(), Code> {
    let qos = library.world.event_qos("", Some(start), completion)?;
    let stage = stage.clone();
    library.world.task(name, (qos, BUDGET), |_| {
        Arc::new(move |_, committed| {
            stage.failed.fetch_or(work(&stage, committed).is_err(), Relaxed);
        })
    })?;
    Ok(())
}

/// What this member has of the pipeline. Each end of a channel takes buffers from its first iterator, and puts them into its second.
fn make(own: &mut Library, rank: usize, items: usize) -> Result<Arc<Stage>, Code> {
    let [received, full, idle] = [iterator(own, "received")?, iterator(own, "full")?, iterator(own, "idle")?];
    stock(own, idle)?;
    let null = Handle::default();
    let stage = Arc::new(Stage {
        received,
        full,
        idle,
        input: if rank > 0 { channel(own, rank - 1, [idle, received])? } else { null },
        output: if rank < STAGES - 1 { channel(own, rank, [full, idle])? } else { null },
        done: trigger(own, "done")?,
        sums: (0..items).map(|_| AtomicI64::new(0)).collect(),
        sum: AtomicI64::new(0),
        count: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
    });
    match rank {
        1 => run_at(own, ("came", Some("squared")), &stage, ("square", Stage::square))?,
        2 => run_at(own, ("arrived", None), &stage, ("add", Stage::add))?,
        _ => {}
    }
    Ok(stage)
}

/// How many numbers: the program's argument.
fn items() -> Result<usize, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let items = match &arguments[..] {
        [] => Some(ITEMS),
        [items] => items.parse().ok().filter(|items| (1..=ITEMS_MAX).contains(items)),
        _ => None,
    };
    items.ok_or_else(|| format!("its argument is how many numbers go through it, 1 to {ITEMS_MAX}"))
}

fn pipeline() -> Result<bool, Box<dyn Error>> {
    let mut library = Library::join()?;
    let rank = library.world.rank().index();
    let size = library.world.group_size(Handle::GROUP_WORLD)?;
    if size != STAGES {
        return Err(format!("it has {STAGES} members, not {size}; start it with -n {STAGES}").into());
    }
    let stage = make(&mut library, rank, items()?)?;
    let [fed, is_ready] = [trigger(&mut library, "fed")?, trigger(&mut library, "ready")?];
    let null = Handle::default();
    let ready = if rank == 0 { receptor(&mut library, "ready")? } else { null };
    let done = if rank == 0 { receptor(&mut library, "done")? } else { null };
    library.commit().map_err(|code| format!("{code}\n{}", library.refusal()))?;
    let committed = library.committed().ok_or(Code::NotCommitted)?.clone();
    if rank > 0 {
        committed.activate(stage.input)?;
    }
    if rank < STAGES - 1 {
        committed.activate(stage.output)?;
    }
    // What an event starts counts from here on. The others only wait until the first stage has had enough.
    if rank == 0 {
        stage.feed(&committed, [fed, ready, done])?;
    } else {
        committed.fire(is_ready)?;
    }
    library.uncommit()?;
    for (place, sum) in stage.sums.iter().enumerate().take(stage.count.load(Relaxed)) {
        println!("sink: the squares up to {} are {}", place + 1, sum.load(Relaxed));
    }
    let failed = stage.failed.load(Relaxed);
    if failed {
        eprintln!("pipeline: the task of stage {rank} could not do its work");
    }
    Ok(!failed)
}
