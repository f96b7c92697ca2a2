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
const PAIRS: usize = 64;
const PATIENCE: Nanos = Nanos::from_secs(10);

/// What the first word of a round tells the other.
const WAITS: u64 = 0;
const POLLS: u64 = 1;
const RELAYS: u64 = 2;
const STARTS: u64 = 3;

fn broken(error: impl Display) -> BenchError {
    BenchError::Round { subject: "Rust".to_owned(), reason: error.to_string() }
}

struct End {
    input: Handle,
    output: Handle,
    buffers: Vec<Handle>,
    channel: Handle,
}

/// Both channels of a member between three iterators: what arrives, what goes out, and what there is for the next message.
struct Relay {
    arrivals: Handle,
    outgoing: Handle,
    supply: Handle,
    buffers: Vec<Handle>,
    /// Is in no iterator when a round begins.
    spare: Handle,
    channels: [Handle; 2],
}

/// One end of a channel that is started again and again with the buffer that it has.
struct Pair {
    buffers: Handle,
    buffer: Handle,
    channel: Handle,
}

struct Member {
    library: Library,
    pairs: Vec<Pair>,
    pool: Handle,
    buffers: Vec<Handle>,
    sends: End,
    receives: End,
    relay: Relay,
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

impl Pair {
    fn declare(library: &mut Library, number: usize) -> Result<Self, Code> {
        let (iterator, buffer) = (iterator(library)?, buffers(library, 1)?[0]);
        let (input, output, source, target) = (iterator, iterator, 1, 0);
        let (group, qos) = (Handle::GROUP_WORLD, Handle::BEST_EFFORT);
        let description = ChannelDescription { input, output, source, target, group, qos };
        let channel = library.world.ptchannel(&format!("pair-{number}"), description)?;
        Ok(Self { buffers: iterator, buffer, channel })
    }
}

impl Relay {
    fn declare(library: &mut Library) -> Result<Self, Code> {
        let [arrivals, outgoing, supply] = [iterator(library)?, iterator(library)?, iterator(library)?];
        let (buffers, spare) = (buffers(library, STOCK)?, buffers(library, 1)?[0]);
        let rank = library.world.rank().index() as u32;
        let mut channel = |name, source: u32| {
            let is_sender = source == rank;
            let input = if is_sender { outgoing } else { supply };
            let output = if is_sender { supply } else { arrivals };
            let (group, qos) = (Handle::GROUP_WORLD, Handle::BEST_EFFORT);
            let description = ChannelDescription { input, output, source, target: 1 - source, group, qos };
            library.world.ptchannel(name, description)
        };
        let channels = [channel("forth", 0)?, channel("again", 1)?];
        Ok(Self { arrivals, outgoing, supply, buffers, spare, channels })
    }

    fn activate(&self, committed: &Committed) -> Result<(), Code> {
        self.channels.iter().try_for_each(|channel| committed.activate(*channel))
    }

    fn send(&self, committed: &Committed, full: Handle, word: u64) -> Result<(), Code> {
        committed.write(full, |bytes| bytes.copy_from_slice(&word.to_ne_bytes()))?;
        committed.insert(self.outgoing, full)
    }

    /// What arrives, with its buffer.
    fn receive(&self, committed: &Committed) -> Result<(u64, Handle), Code> {
        let full = loop {
            match committed.remove(self.arrivals) {
                Err(Code::Empty) => {}
                found => break found?,
            }
        };
        let mut word = [0; BYTES];
        committed.read(full, |bytes| word.copy_from_slice(bytes))?;
        Ok((u64::from_ne_bytes(word), full))
    }

    /// Sends back what arrives.
    fn answer(&self, committed: &Committed) -> Result<(), Code> {
        self.activate(committed)?;
        loop {
            let (word, full) = self.receive(committed)?;
            self.send(committed, full, word)?;
            if word == LAST_WORD {
                return Ok(());
            }
        }
    }
}

impl Member {
    fn join() -> Result<Self, Code> {
        let mut library = Library::join()?;
        let pool = iterator(&mut library)?;
        let buffers = buffers(&mut library, POOL)?;
        let there = End::declare(&mut library, "there", [0, 1])?;
        let back = End::declare(&mut library, "back", [1, 0])?;
        let relay = Relay::declare(&mut library)?;
        let pairs = (0..PAIRS).map(|number| Pair::declare(&mut library, number)).collect::<Result<_, _>>()?;
        let (sends, receives) = if library.world.rank().index() == 0 { (there, back) } else { (back, there) };
        Ok(Self { library, pairs, pool, buffers, sends, receives, relay, polls: false })
    }

    /// Uncommit has emptied the iterators.
    fn commit(&mut self) -> Result<Arc<Committed>, Code> {
        for pair in &self.pairs {
            self.library.world.stock(pair.buffers, pair.buffer)?;
        }
        for place in 0..STOCK {
            self.library.world.stock(self.sends.output, self.sends.buffers[place])?;
            self.library.world.stock(self.receives.input, self.receives.buffers[place])?;
            self.library.world.stock(self.relay.supply, self.relay.buffers[place])?;
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

    fn start_all(&self, committed: &Committed) -> Result<(), Code> {
        self.pairs.iter().try_for_each(|pair| committed.start(pair.channel))
    }

    fn wait_all(&self, committed: &Committed) -> Result<(), Code> {
        self.pairs.iter().try_for_each(|pair| committed.wait(pair.channel, PATIENCE))
    }

    /// When a word comes back, the other has started its end of every pair: a start here completes a transfer, and a wait returns
    /// at once.
    fn start_and_wait(&self, committed: &Committed, order: &Order) -> Result<String, Code> {
        let mut meter = Meter::start(order.duration);
        let mut is_last = false;
        while !is_last {
            is_last = !meter.goes_on();
            let word = if is_last { LAST_WORD } else { 0 };
            if self.trip(committed, word)? != word {
                return Err(Code::Internal);
            }
            let start = Instant::now();
            self.start_all(committed)?;
            let middle = Instant::now();
            self.wait_all(committed)?;
            let end = Instant::now();
            meter.count_of(if order.kind == "start" { middle - start } else { end - middle }, PAIRS);
        }
        Ok(meter.answer())
    }

    /// The other side of it.
    fn satisfy(&self, committed: &Committed) -> Result<(), Code> {
        loop {
            self.start_all(committed)?;
            committed.start(self.receives.channel)?;
            let word = self.take(committed)?;
            self.put(committed, word)?;
            self.wait_all(committed)?;
            if word == LAST_WORD {
                return Ok(());
            }
        }
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
        let first = match order.kind.as_str() {
            "poll" => POLLS,
            "relay" => RELAYS,
            "start" | "wait" => STARTS,
            _ => WAITS,
        };
        self.trip(&committed, first).map_err(broken)?;
        self.polls = [POLLS, STARTS].contains(&first);
        let answer = match order.kind.as_str() {
            "relay" => {
                self.relay.activate(&committed).map_err(broken)?;
                let mut at_hand = self.relay.spare;
                ping_round(order.duration, |word| {
                    let sent = self.relay.send(&committed, at_hand, word);
                    let came = sent.and_then(|()| self.relay.receive(&committed));
                    came.map_or(!word, |(word, full)| {
                        at_hand = full;
                        word
                    })
                })
            }
            "trip" | "poll" => {
                ping_round(order.duration, |word| self.trip(&committed, word).unwrap_or(!word))
            }
            "start" | "wait" => self.start_and_wait(&committed, order).map_err(|code| code.to_string()),
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
                    self.polls = [POLLS, STARTS].contains(&word);
                    if word == STARTS {
                        self.satisfy(&committed).map_err(broken)?;
                        break;
                    }
                    if word == RELAYS {
                        self.relay.answer(&committed).map_err(broken)?;
                        break;
                    }
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
        self.count_of(took, POOL);
    }

    fn count_of(&mut self, took: Duration, batch: usize) {
        self.counts.record(took.as_nanos() as u64 / batch as u64);
        self.total += took;
        self.calls += batch as u128;
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
