//! A pipeline in Rust: three stages, driven by events. As `pipeline.c`, which explains it, and with the same output:
//! `leveret run -n 3 pipeline`.

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
const ITEMS: usize = 10;
const BYTES: usize = size_of::<i64>();
const PATIENCE: Nanos = Nanos::from_secs(10);

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

/// What a stage has: where messages come from, where they go, and what it fires when it has sent one.
struct Stage {
    received: Handle,
    full: Handle,
    idle: Handle,
    /// Null at the ends of the pipeline.
    input: Handle,
    output: Handle,
    sent: Handle,
    done: Handle,
    sums: [AtomicI64; ITEMS],
    sum: AtomicI64,
    count: AtomicUsize,
    failed: AtomicBool,
}

impl Stage {
    /// Stage 1: squares the number where it lies, and sends it on.
    fn square(&self, committed: &Committed) -> Result<(), Code> {
        let buffer = committed.remove(self.received)?;
        let number = number_in(committed, buffer)?;
        self.send(committed, buffer, number * number)
    }

    fn send(&self, committed: &Committed, buffer: Handle, number: i64) -> Result<(), Code> {
        committed.write(buffer, |bytes| bytes.copy_from_slice(&number.to_ne_bytes()))?;
        committed.insert(self.full, buffer)?;
        committed.start(self.output)?;
        committed.fire(self.sent)
    }

    /// Stage 2: adds the number up, and says when it was the last.
    fn add(&self, committed: &Committed) -> Result<(), Code> {
        let number = number_in(committed, committed.remove(self.received)?)?;
        let sum = self.sum.fetch_add(number, Relaxed) + number;
        let place = self.count.fetch_add(1, Relaxed);
        self.sums.get(place).ok_or(Code::Full)?.store(sum, Relaxed);
        if place + 1 == ITEMS { committed.fire(self.done) } else { Ok(()) }
    }

    /// The first stage sends when both others have said that they are ready.
    fn feed(&self, committed: &Committed, ready: Handle) -> Result<(), Code> {
        for _ in 1..STAGES {
            committed.receptor_wait(ready, PATIENCE)?;
        }
        for number in 1..=ITEMS as i64 {
            let buffer = committed.remove(self.idle)?;
            self.send(committed, buffer, number)?;
        }
        Ok(())
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
    for _ in 0..ITEMS {
        let storage = Arc::new(OwnedStorage::new(BYTES));
        let description = BufferDescription { size: BYTES, dataspec: Dataspec::Int64, storage };
        let buffer = library.world.buffer("", description)?;
        library.world.stock(iterator, buffer)?;
    }
    Ok(())
}

/// Every item may be on its way at once.
fn channel(library: &mut Library, source: usize, [input, output]: [Handle; 2]) -> Result<Handle, Code> {
    let name = if source == 0 { "numbers" } else { "squares" };
    let (source, target) = (source as u32, source as u32 + 1);
    let (group, qos) = (Handle::GROUP_WORLD, Handle::BEST_EFFORT);
    let description = ChannelDescription { input, output, source, target, group, qos };
    let channel = library.world.ptchannel(name, description)?;
    library.world.set_slack(channel, ITEMS as u32)?;
    Ok(channel)
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

/// Where an event runs a stage's work.
fn run_at(
    library: &mut Library,
    event: &str,
    stage: &Arc<Stage>,
    work: fn(&Stage, &Committed) -> Result<(), Code>,
) -> Result<(), Code> {
    let stage = stage.clone();
    let function = Arc::new(move |_: Handle, _: leveret::objects::Firing, committed: &Arc<Committed>| {
        stage.failed.fetch_or(work(&stage, committed).is_err(), Relaxed);
    });
    let handler = library.world.handler(event, Handle::default(), function)?;
    let handlers = library.world.cset("")?;
    library.world.cset_insert(handlers, handler)?;
    library.world.receptor(event, Handle::GROUP_WORLD, handlers)?;
    Ok(())
}

fn pipeline() -> Result<bool, Box<dyn Error>> {
    let mut library = Library::join()?;
    let rank = library.world.rank().index();
    let size = library.world.group_size(Handle::GROUP_WORLD)?;
    if size != STAGES {
        return Err(format!("it has {STAGES} members, not {size}; start it with -n {STAGES}").into());
    }
    let own = &mut library;
    let (received, full) = (iterator(own, "received")?, iterator(own, "full")?);
    let (idle, empty) = (iterator(own, "idle")?, iterator(own, "empty")?);
    stock(own, if rank == 0 { idle } else { empty })?;
    let null = Handle::default();
    let stage = Arc::new(Stage {
        received,
        full,
        idle,
        input: if rank > 0 { channel(own, rank - 1, [empty, received])? } else { null },
        output: if rank < STAGES - 1 { channel(own, rank, [full, idle])? } else { null },
        sent: trigger(own, if rank == 0 { "number" } else { "square" })?,
        done: trigger(own, "done")?,
        sums: Default::default(),
        sum: AtomicI64::new(0),
        count: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
    });
    let is_ready = trigger(own, "ready")?;
    let done = receptor(own, "done")?;
    let ready = if rank == 0 { receptor(own, "ready")? } else { null };
    match rank {
        1 => run_at(own, "number", &stage, Stage::square)?,
        2 => run_at(own, "square", &stage, Stage::add)?,
        _ => {}
    }
    library.commit().map_err(|code| format!("{code}\n{}", library.refusal()))?;
    let committed = library.committed().ok_or(Code::NotCommitted)?.clone();
    if rank == 0 {
        stage.feed(&committed, ready)?;
    } else {
        for _ in 0..ITEMS {
            committed.start(stage.input)?;
        }
        committed.fire(is_ready)?;
    }
    committed.receptor_wait(done, PATIENCE)?;
    library.uncommit()?;
    for (place, sum) in stage.sums.iter().enumerate().take(stage.count.load(Relaxed)) {
        println!("sink: the squares up to {} are {}", place + 1, sum.load(Relaxed));
    }
    Ok(!stage.failed.load(Relaxed))
}
