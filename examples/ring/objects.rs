//! The three-node ring of the HARE thesis (section 5.3) over MPI/RT objects, as `ring.c` and `ring.cpp`, and with the same
//! output: `leveret run -n 3 --rounds 5000 ring-objects`. What `ring.rs` does with declarations is the same job.

use leveret::objects::{
    BufferDescription, ChannelDescription, Code, Committed, Dataspec, Handle, Library, OwnedStorage, Policy,
    Qos, TaskInstance,
};
use leveret::{CountingAllocator, Nanos};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const MEMBERS: usize = 3;
const MESSAGE_BYTES: usize = 4;
const PERIOD: Nanos = Nanos::from_millis(5);
const BUDGET: Nanos = Nanos::from_micros(50);
/// A message has so long to get across.
const TRANSFER: Nanos = Nanos::from_micros(125);
/// When each member computes, from the period's start: the window of its user task.
const COMPUTES: [[Nanos; 2]; MEMBERS] = [
    [Nanos::ZERO, Nanos::from_micros(75)],
    [Nanos::from_micros(200), Nanos::from_micros(275)],
    [Nanos::from_micros(400), Nanos::from_micros(475)],
];

fn main() -> ExitCode {
    match ring() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("ring: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What a node has and remembers. Its task is the only one that changes it.
struct Node {
    starts_the_round: bool,
    /// To the next member: full buffers go in, empty ones come out.
    full: Handle,
    sent: Handle,
    /// From the one before: empty buffers go in, full ones come out.
    empty: Handle,
    received: Handle,
    expected: AtomicU32,
    taken: AtomicU64,
    out_of_order: AtomicU64,
}

impl Node {
    /// One round: nothing here is a system call.
    fn pass_on(&self, instance: TaskInstance, committed: &Committed) -> Result<(), Code> {
        let mut next = self.starts_the_round.then_some(instance.number as u32);
        if let Ok(buffer) = committed.remove(self.received) {
            let mut number = [0; MESSAGE_BYTES];
            committed.read(buffer, |bytes| number.copy_from_slice(bytes))?;
            committed.insert(self.empty, buffer)?;
            let came = u32::from_ne_bytes(number);
            self.taken.fetch_add(1, Relaxed);
            self.out_of_order.fetch_add(u64::from(came < self.expected.load(Relaxed)), Relaxed);
            self.expected.store(came + 1, Relaxed);
            next = next.or(Some(came));
        }
        if let Some(number) = next
            && let Ok(buffer) = committed.remove(self.sent)
        {
            committed.write(buffer, |bytes| bytes.copy_from_slice(&number.to_ne_bytes()))?;
            committed.insert(self.full, buffer)?;
        }
        Ok(())
    }
}

fn iterator(library: &mut Library, name: &str) -> Result<Handle, Code> {
    library.world.bufiter(name, Policy::Fifo, (MESSAGE_BYTES, Dataspec::Uint32), Handle::default())
}

/// Two buffers, so that one can be filled while the other is on its way.
fn stock(library: &mut Library, iterator: Handle) -> Result<(), Code> {
    for _ in 0..2 {
        let storage = Arc::new(OwnedStorage::new(MESSAGE_BYTES));
        let description = BufferDescription { size: MESSAGE_BYTES, dataspec: Dataspec::Uint32, storage };
        let buffer = library.world.buffer("", description)?;
        library.world.stock(iterator, buffer)?;
    }
    Ok(())
}

/// The channel from one member to the next: what is in time when the sender's window ends is there when the receiver's
/// begins.
fn channel(library: &mut Library, source: usize, [input, output]: [Handle; 2]) -> Result<Handle, Code> {
    let start = COMPUTES[source][1];
    let qos = library.world.qos("", Qos::Time { start, deadline: start + TRANSFER, period: PERIOD })?;
    let target = ((source + 1) % MEMBERS) as u32;
    let (source, group) = (source as u32, Handle::GROUP_WORLD);
    let name = ["AB", "BC", "CA"][source as usize];
    library.world.ptchannel(name, ChannelDescription { input, output, source, target, group, qos })
}

fn ring() -> Result<bool, Box<dyn Error>> {
    let mut library = Library::join()?;
    let rank = library.world.rank().index();
    let size = library.world.group_size(Handle::GROUP_WORLD)?;
    if size != MEMBERS {
        return Err(format!("it has {MEMBERS} members, not {size}; start it with -n {MEMBERS}").into());
    }
    let node = Arc::new(Node {
        starts_the_round: rank == 0,
        full: iterator(&mut library, "full")?,
        sent: iterator(&mut library, "sent")?,
        empty: iterator(&mut library, "empty")?,
        received: iterator(&mut library, "received")?,
        expected: AtomicU32::new(0),
        taken: AtomicU64::new(0),
        out_of_order: AtomicU64::new(0),
    });
    stock(&mut library, node.sent)?;
    stock(&mut library, node.empty)?;
    let to = channel(&mut library, rank, [node.full, node.sent])?;
    let from = channel(&mut library, (rank + MEMBERS - 1) % MEMBERS, [node.empty, node.received])?;
    let name = format!("{}.user", ["A", "B", "C"][rank]);
    let [start, deadline] = COMPUTES[rank];
    let qos = library.world.qos("", Qos::Time { start, deadline, period: PERIOD })?;
    let of_task = node.clone();
    let task = library.world.task(&name, (qos, BUDGET), |_| {
        Arc::new(move |instance, committed| {
            // Only a wrong handle could fail.
            let _ = of_task.pass_on(instance, committed);
        })
    })?;
    library.world.bind_channel(task, from)?;
    library.world.bind_channel(task, to)?;

    library.commit().map_err(|code| format!("{code}\n{}", library.refusal()))?;
    library.run()?;
    let (taken, out_of_order) = (node.taken.load(Relaxed), node.out_of_order.load(Relaxed));
    println!("{name}: took {taken} messages, {out_of_order} out of order");
    Ok(out_of_order == 0)
}
