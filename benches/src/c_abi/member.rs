//! What `peers/mpirt_calls.c` does, over the objects in Rust: the same calls in the same order.

use crate::BenchError;
use crate::child::{Counts, LAST_WORD, Order, done, ping_round, serve};
use leveret::Nanos;
use leveret::objects::{
    BufferDescription, ChannelDescription, Code, Committed, Dataspec, Handle, Library, OwnedStorage, Policy,
};
use leveret_os::scheduling::pin;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

const POOL: usize = 256;
const BYTES: usize = 8;
const STOCK: usize = 2;
const PATIENCE: Nanos = Nanos::from_secs(10);

fn broken(error: impl Display) -> BenchError {
    BenchError::Round { subject: "Rust".to_owned(), reason: error.to_string() }
}

struct End {
    input: Handle,
    output: Handle,
    buffers: Vec<Handle>,
    channel: Handle,
}

struct Member {
    library: Library,
    pool: Handle,
    buffers: Vec<Handle>,
    sends: End,
    receives: End,
    /// Tests until a message has come, instead of waiting for it.
    polls: bool,
}

fn iterator(library: &mut Library) -> Result<Handle, Code> {
    library.world.bufiter("", Policy::Fifo, (BYTES, Dataspec::Uint64), Handle::default())
}

fn buffers(library: &mut Library, count: usize) -> Result<Vec<Handle>, Code> {
    let mut buffer = || {
        let storage = Arc::new(OwnedStorage::new(BYTES));
        library.world.buffer("", BufferDescription { size: BYTES, dataspec: Dataspec::Uint64, storage })
    };
    (0..count).map(|_| buffer()).collect()
}

impl End {
    fn declare(library: &mut Library, name: &str, [source, target]: [u32; 2]) -> Result<Self, Code> {
        let (input, output) = (iterator(library)?, iterator(library)?);
        let buffers = buffers(library, STOCK)?;
        let (group, qos) = (Handle::GROUP_WORLD, Handle::BEST_EFFORT);
        let description = ChannelDescription { input, output, source, target, group, qos };
        let channel = library.world.ptchannel(name, description)?;
        Ok(Self { input, output, buffers, channel })
    }
}

impl Member {
    fn join() -> Result<Self, Code> {
        let mut library = Library::join()?;
        let pool = iterator(&mut library)?;
        let buffers = buffers(&mut library, POOL)?;
        let there = End::declare(&mut library, "there", [0, 1])?;
        let back = End::declare(&mut library, "back", [1, 0])?;
        let (sends, receives) = if library.world.rank().index() == 0 { (there, back) } else { (back, there) };
        Ok(Self { library, pool, buffers, sends, receives, polls: false })
    }

    /// Uncommit has emptied the iterators.
    fn commit(&mut self) -> Result<Arc<Committed>, Code> {
        for place in 0..STOCK {
            self.library.world.stock(self.sends.output, self.sends.buffers[place])?;
            self.library.world.stock(self.receives.input, self.receives.buffers[place])?;
        }
        self.library.commit()?;
        self.library.committed().cloned().ok_or(Code::NotCommitted)
    }

    fn put(&self, committed: &Committed, word: u64) -> Result<(), Code> {
        let full = committed.remove(self.sends.output)?;
        committed.write(full, |bytes| bytes.copy_from_slice(&word.to_ne_bytes()))?;
        committed.insert(self.sends.input, full)?;
        committed.start(self.sends.channel)
    }

    fn take(&self, committed: &Committed) -> Result<u64, Code> {
        while self.polls && !committed.test(self.receives.channel)? {}
        committed.wait(self.receives.channel, PATIENCE)?;
        let full = committed.remove(self.receives.output)?;
        let mut word = [0; BYTES];
        committed.read(full, |bytes| word.copy_from_slice(bytes))?;
        committed.insert(self.receives.input, full)?;
        Ok(u64::from_ne_bytes(word))
    }

    fn trip(&self, committed: &Committed, word: u64) -> Result<u64, Code> {
        committed.start(self.receives.channel)?;
        self.put(committed, word)?;
        self.take(committed)
    }

    fn insert_and_remove(&mut self, committed: &Committed, order: &Order) -> Result<String, Code> {
        let mut meter = Meter::start(order.duration);
        while meter.goes_on() {
            let start = Instant::now();
            for buffer in &self.buffers {
                committed.insert(self.pool, *buffer)?;
            }
            let middle = Instant::now();
            for buffer in &mut self.buffers {
                *buffer = committed.remove(self.pool)?;
            }
            let end = Instant::now();
            meter.count(if order.kind == "insert" { middle - start } else { end - middle });
        }
        Ok(meter.answer())
    }

    fn test(&self, committed: &Committed, order: &Order) -> Result<String, Code> {
        committed.start(self.receives.channel)?;
        let mut meter = Meter::start(order.duration);
        let mut came = false;
        while meter.goes_on() {
            let start = Instant::now();
            for _ in 0..POOL {
                came |= committed.test(self.receives.channel)?;
            }
            meter.count(start.elapsed());
        }
        self.put(committed, LAST_WORD)?;
        if came || self.take(committed)? != LAST_WORD { Err(Code::Internal) } else { Ok(meter.answer()) }
    }

    fn round(&mut self, order: &Order) -> Result<String, BenchError> {
        self.polls = false;
        let committed = self.commit().map_err(broken)?;
        let polls = order.kind == "poll";
        // The first word tells the other how to wait.
        self.trip(&committed, u64::from(polls)).map_err(broken)?;
        self.polls = polls;
        let answer = match order.kind.as_str() {
            "trip" | "poll" => {
                ping_round(order.duration, |word| self.trip(&committed, word).unwrap_or(!word))
            }
            "test" => self.test(&committed, order).map_err(|code| code.to_string()),
            _ => {
                let answer = self.insert_and_remove(&committed, order);
                answer
                    .and_then(|answer| self.trip(&committed, LAST_WORD).map(|_| answer))
                    .map_err(|code| code.to_string())
            }
        };
        self.library.uncommit().map_err(broken)?;
        answer.map_err(broken)
    }

    /// Its next commit is refused when the other has no more orders and leaves.
    fn answer(&mut self) -> Result<(), BenchError> {
        while let Ok(committed) = self.commit() {
            let mut is_first = true;
            loop {
                committed.start(self.receives.channel).map_err(broken)?;
                let word = self.take(&committed).map_err(broken)?;
                self.put(&committed, word).map_err(broken)?;
                if std::mem::take(&mut is_first) {
                    self.polls = word == 1;
                }
                if word == LAST_WORD {
                    break;
                }
            }
            committed.wait(self.sends.channel, PATIENCE).map_err(broken)?;
            self.library.uncommit().map_err(broken)?;
            self.polls = false;
        }
        Ok(())
    }
}

/// Batches of calls until the round is over.
struct Meter {
    end: Instant,
    counts: Counts,
    total: Duration,
    calls: u128,
}

impl Meter {
    fn start(duration: Duration) -> Self {
        let end = Instant::now() + duration;
        Self { end, counts: Counts::default(), total: Duration::ZERO, calls: 0 }
    }

    /// At least one batch is made.
    fn goes_on(&self) -> bool {
        self.calls == 0 || Instant::now() < self.end
    }

    fn count(&mut self, took: Duration) {
        self.counts.record(took.as_nanos() as u64 / POOL as u64);
        self.total += took;
        self.calls += POOL as u128;
    }

    fn answer(&self) -> String {
        done((self.total.as_nanos() * 1000 / self.calls.max(1)) as u64, &self.counts)
    }
}

/// `child c-abi-member CORE`: rank 0 takes the harness's orders, rank 1 answers.
pub fn member(core: &str) -> Result<(), BenchError> {
    pin(core.parse().map_err(broken)?).map_err(broken)?;
    let mut member = Member::join().map_err(broken)?;
    if member.library.world.rank().index() == 0 {
        serve("leveret::objects", |order| member.round(order).map_err(|error| error.to_string()))?;
        Ok(())
    } else {
        member.answer()
    }
}
