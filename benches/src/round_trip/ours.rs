//! Our side: two processes, a segment each, a best-effort channel per size and way of waiting.
//!
//! ```text
//!  ping (core 0)                         pong (core 1)
//!    own segment: there 0..17   ------->   maps it read-only
//!    maps it read-only          <-------   own segment: back 0..17
//! ```

use super::SIZES;
use crate::BenchError;
use crate::child::{LAST_WORD, Order, SIZE_BYTES_MAX, fill, first_word, ping_round, serve};
use leveret_memory::{
    OwnSegment, PeerSegment, Receiver, SegmentLayout, SegmentSpec, Sender, SourceSpec, Taken,
};
use leveret_memory::{Region, TargetSpec};
use leveret_os::control::{Connection, Listener};
use leveret_os::futex;
use leveret_os::memory_file::{Mapping, MemoryFile};
use leveret_os::scheduling::pin;
use leveret_types::{ChannelId, Generation, MemberId, Nanos};
use std::fmt::Display;
use std::io::BufRead;
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

const GENERATION: Generation = Generation(1);
const PING: MemberId = MemberId(0);
const PONG: MemberId = MemberId(1);
/// Small channels have many buffers, so that the sender seldom looks how far the receiver is; large ones few, so
/// that they stay in the caches.
const BUFFERED_BYTES: usize = 16 << 10;
const BUFFERS_LEAST: usize = 2;
const BUFFERS_MOST: usize = 64;

/// A channel each way, of one size and way of waiting.
struct Pair {
    sender: Sender,
    receiver: Receiver,
    sent: u64,
    taken: u64,
}

/// One of the two processes.
struct End {
    pairs: Vec<Pair>,
    private: Vec<u8>,
}

/// The channels of one direction: polling ones first, waking ones after.
fn channels(from: MemberId) -> impl Iterator<Item = SourceSpec> {
    let first = u16::from(from == PONG) * 2 * SIZES.len() as u16;
    (0..2 * SIZES.len()).map(move |place| {
        let size = SIZES[place % SIZES.len()];
        let buffers = (BUFFERED_BYTES / size).clamp(BUFFERS_LEAST, BUFFERS_MOST) as u32;
        let channel = ChannelId(first + place as u16);
        SourceSpec { channel, size: size as u32, buffers, waits: place >= SIZES.len() }
    })
}

fn layout(member: MemberId, peer: MemberId) -> Result<SegmentLayout, BenchError> {
    let targets = channels(peer).map(|source| TargetSpec { channel: source.channel, waits: source.waits });
    let (sources, targets) = (channels(member).collect(), targets.collect());
    let spec = SegmentSpec {
        member,
        generation: GENERATION,
        sources,
        targets,
        tasks: Vec::new(),
        message_records: 1,
    };
    SegmentLayout::new(&spec).map_err(broken)
}

fn broken(error: impl Display) -> BenchError {
    BenchError::Round { subject: "leveret".to_owned(), reason: error.to_string() }
}

impl End {
    /// Makes the own segment, exchanges descriptors, and joins the ends.
    fn open(connection: &Connection, member: MemberId, peer: MemberId) -> Result<Self, BenchError> {
        let (own_layout, peer_layout) = (layout(member, peer)?, layout(peer, member)?);
        let (file, mapping) =
            MemoryFile::create("leveret-bench", own_layout.size() as u64).map_err(broken)?;
        let own: Arc<dyn Region> = Arc::new(mapping);
        let mut own = OwnSegment::create(own, &own_layout).map_err(broken)?;
        connection.send(b"segment", &[file.as_fd()]).map_err(broken)?;
        let frame = connection.receive().map_err(broken)?;
        let file = frame.fds.first().ok_or_else(|| broken("the peer sent no segment"))?;
        let mapping = Mapping::read_only(file.as_fd(), peer_layout.size() as u64).map_err(broken)?;
        let peer = PeerSegment::attach(Arc::new(mapping), &peer_layout, peer, GENERATION).map_err(broken)?;
        let join = |(there, back): (SourceSpec, SourceSpec)| {
            let sender = Sender::new(own.take_source(there.channel)?, peer.target(there.channel)?);
            let receiver = Receiver::new(own.take_target(back.channel)?, peer.source(back.channel)?);
            Some(Pair { sender, receiver, sent: 0, taken: 0 })
        };
        let pairs: Option<Vec<Pair>> = channels(member).zip(channels(peer_of(member))).map(join).collect();
        let pairs = pairs.ok_or_else(|| broken("a channel has no end"))?;
        Ok(Self { pairs, private: vec![1; SIZE_BYTES_MAX] })
    }

    fn pair(&mut self, order: &Order) -> Result<(&mut Pair, &mut [u8]), BenchError> {
        let place = SIZES.iter().position(|size| *size == order.size);
        let place = place.ok_or_else(|| broken(format!("no channel of {} bytes", order.size)))?;
        let place = place + if order.wakes { SIZES.len() } else { 0 };
        Ok((&mut self.pairs[place], &mut self.private[..order.size]))
    }
}

fn peer_of(member: MemberId) -> MemberId {
    if member == PING { PONG } else { PING }
}

impl Pair {
    /// Fills the next buffer in place and publishes it.
    #[inline]
    fn publish(&mut self, order: &Order, word: u64) -> Result<(), BenchError> {
        let mut slot = self.sender.reserve(self.sent).map_err(broken)?;
        let touched = if order.copies { order.size } else { 8 };
        fill(&mut slot.bytes_mut()[..touched], word);
        slot.publish(order.size as u32, Nanos::ZERO);
        self.sent += 1;
        if self.sender.must_wake() {
            futex::wake_at(self.sender.futex_word_address(), 1).map_err(broken)?;
        }
        Ok(())
    }

    /// Waits for the peer's message of the same instance and reads it.
    #[inline]
    fn take(&mut self, order: &Order, private: &mut [u8]) -> Result<u64, BenchError> {
        loop {
            match self.receiver.take(self.taken) {
                Taken::Message(message) => {
                    let word = if order.copies {
                        message.copy_to(private).map_err(broken)?;
                        first_word(private)
                    } else {
                        let word = message.bytes().read_u64_le(0).unwrap_or(0);
                        message.validate().map_err(broken)?;
                        word
                    };
                    message.release();
                    self.taken += 1;
                    return Ok(word);
                }
                Taken::NotYet if order.wakes => self.sleep()?,
                Taken::NotYet => std::hint::spin_loop(),
                Taken::Stale => return Err(broken(format!("instance {} is gone", self.taken))),
                Taken::Invalid(reason) => return Err(broken(reason)),
            }
        }
    }

    /// Sleeps until the peer publishes, unless it just did.
    fn sleep(&mut self) -> Result<(), BenchError> {
        let seen = self.receiver.prepare_wait();
        if !self.receiver.is_there(self.taken) {
            futex::wait_at(self.receiver.futex_word_address(), seen, None).map_err(broken)?;
        }
        self.receiver.cancel_wait();
        Ok(())
    }
}

/// The child that takes orders: `child round-trip CORE_PING CORE_PONG`.
pub fn ping(cores: [&str; 2]) -> Result<(), BenchError> {
    let folder = std::env::temp_dir().join(format!("leveret-bench-{}", std::process::id()));
    std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let listener = Listener::bind(&folder).map_err(broken)?;
    let mut partner = Command::new(std::env::current_exe()?)
        .args(["child", "round-trip-pong", cores[1]])
        .arg(listener.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let connection = listener.accept().map_err(broken)?;
    drop(listener);
    _ = std::fs::remove_dir(&folder);
    pin(cores[0].parse().map_err(broken)?).map_err(broken)?;
    let mut end = End::open(&connection, PING, PONG)?;
    let mut orders = partner.stdin.take().ok_or_else(|| broken("pong takes no orders"))?;
    serve(env!("CARGO_PKG_VERSION"), |order| {
        order.pass_on(&mut orders).map_err(|error| error.to_string())?;
        let (pair, private) = end.pair(order).map_err(|error| error.to_string())?;
        let mut failure = None;
        let outcome = ping_round(order.duration, |word| {
            let returned = pair.publish(order, word).and_then(|()| pair.take(order, private));
            returned.unwrap_or_else(|error| {
                failure = Some(error.to_string());
                !word
            })
        });
        failure.map_or(outcome, Err)
    })?;
    drop(orders);
    partner.wait()?;
    Ok(())
}

/// The other child: `child round-trip-pong CORE SOCKET`.
pub fn pong(core: &str, socket: &Path) -> Result<(), BenchError> {
    pin(core.parse().map_err(broken)?).map_err(broken)?;
    let connection = Connection::connect(socket).map_err(broken)?;
    let mut end = End::open(&connection, PONG, PING)?;
    for line in std::io::stdin().lock().lines() {
        let order = Order::parse(&line?).ok_or_else(|| broken("this is not an order"))?;
        let (pair, private) = end.pair(&order)?;
        loop {
            let word = pair.take(&order, private)?;
            pair.publish(&order, word)?;
            if word == LAST_WORD {
                break;
            }
        }
    }
    Ok(())
}
