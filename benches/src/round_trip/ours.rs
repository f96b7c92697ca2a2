//! Our side, as any user's: a job of two members, started by the agent, with a best-effort channel each way.
//!
//! ```text
//!  harness  <-- stdin, stdout -->  ping (core 0)                            pong (core 1)
//!                                   commit  <---------- agent ---------->   commit
//!                                   "orders"  ---------------------------->
//!                                   "there"   ---------------------------->
//!                                             <----------------------------  "back"
//!                                   uncommit  <-------- agent --------->    uncommit
//! ```
//!
//! Every round is a commit of its own. So between our rounds nothing of ours runs, least of all the agent's watching,
//! while the others are measured. The agent lives in the child that the harness starts, ping and pong are its members.

use crate::BenchError;
use crate::child::{LAST_WORD, Order, SIZE_BYTES_MAX, fill, first_word, ping_round, serve};
use crate::job::{self, Role};
use leveret::{
    ByteSize, CommitError, Declarations, Horizon, Member, Nanos, ReceivingEnd, SendingEnd, Session, Source,
    Target, WaitMode,
};
use leveret_os::scheduling::pin;
use std::fmt::Display;

/// Small channels have many buffers, so that the sender seldom looks how far the receiver is; large ones few, so
/// that they stay in the caches.
const BUFFERED_BYTES: usize = 16 << 10;
const BUFFERS_LEAST: usize = 1;
const BUFFERS_MOST: usize = 64;
/// Longer than any order of the harness; the rest is blank.
const ORDER_BYTES: usize = 64;
const WATCHED_PERIOD: Nanos = Nanos::from_millis(20);
const WATCHED_DEADLINE: Nanos = Nanos::from_millis(5);
const WATCHED_BUDGET: Nanos = Nanos::from_micros(20);
/// No trip takes as long; a peer that dies is noticed at once.
const PATIENCE: Nanos = Nanos::from_secs(10);

fn broken(error: impl Display) -> BenchError {
    BenchError::Round { subject: "leveret".to_owned(), reason: error.to_string() }
}

/// The child that the harness starts: `child round-trip CORE_PING CORE_PONG`.
pub fn agent(cores: [&str; 2]) -> Result<(), BenchError> {
    let role = |name, core: &str| {
        let arguments = [format!("round-trip-{name}"), core.to_owned()];
        Ok::<_, BenchError>(Role::new(name, core.parse().map_err(broken)?, arguments))
    };
    let roles = [role("ping", cores[0])?, role("pong", cores[1])?];
    // The job ends when ping has no more orders and leaves; pong's next commit is refused then.
    job::run("round-trip", &roles, Horizon::Unbounded).map(drop)
}

/// The channels of one commit as one member sees them.
struct Declared {
    source: Source,
    target: Target,
}

/// The ends of one commit.
struct Ends {
    sending: SendingEnd,
    receiving: ReceivingEnd,
}

impl Ends {
    fn take(session: &mut Session<'_>, declared: &Declared) -> Result<Self, BenchError> {
        let sending = session.sender(declared.source).ok_or_else(|| broken("no sending end"))?;
        let receiving = session.receiver(declared.target).ok_or_else(|| broken("no receiving end"))?;
        Ok(Self { sending, receiving })
    }

    /// Fills the next buffer where it lies and inserts it.
    #[inline]
    fn publish(&mut self, order: &Order, word: u64) -> Result<(), BenchError> {
        let touched = if order.copies { order.size } else { 8 };
        let slot = self.sending.slot().map_err(broken)?;
        slot.insert_with(|buffer| {
            fill(&mut buffer[..touched], word);
            order.size
        });
        Ok(())
    }

    /// Waits for the next message and reads it: where it lies, or a copy of it.
    #[inline]
    fn take_word(&mut self, order: &Order, private: &mut [u8]) -> Result<u64, BenchError> {
        let message = self.receiving.receive(PATIENCE).map_err(broken)?;
        if order.copies {
            message.copy_to(private).map_err(broken)?;
            return Ok(first_word(private));
        }
        let word = message.bytes().read_u64_le(0).unwrap_or(0);
        message.validate().map_err(broken)?;
        Ok(word)
    }
}

fn join(core: &str) -> Result<Member, BenchError> {
    pin(core.parse().map_err(broken)?).map_err(broken)?;
    Member::join().map_err(broken)
}

/// The member that takes the harness's orders: `child round-trip-ping CORE`.
pub fn ping(core: &str) -> Result<(), BenchError> {
    let mut member = join(core)?;
    let mut private = vec![1; SIZE_BYTES_MAX];
    serve(env!("CARGO_PKG_VERSION"), |order| {
        round(&mut member, order, &mut private[..order.size]).map_err(|error| error.to_string())
    })?;
    Ok(())
}

/// Declares the order's channels, commits, passes the order on, plays, uncommits.
fn round(member: &mut Member, order: &Order, private: &mut [u8]) -> Result<String, BenchError> {
    let size = ByteSize(order.size as u64);
    let buffers = (BUFFERED_BYTES / order.size).clamp(BUFFERS_LEAST, BUFFERS_MOST) as u32;
    let wait = if order.wakes { WaitMode::Wake } else { WaitMode::Poll };
    let mut declarations = member.declare(&order.kind);
    let orders =
        declarations.source("orders").size(ByteSize(ORDER_BYTES as u64)).best_effort().wait(WaitMode::Wake);
    let orders = orders.declare();
    let source = declarations.source("there").size(size).buffers(buffers).best_effort().wait(wait).declare();
    let target = declarations.target("back").size(size).buffers(buffers).best_effort().wait(wait).declare();
    if order.kind.contains("-watched") {
        watch(&mut declarations);
    }
    let mut session = member.commit(declarations).map_err(broken)?;
    let mut orders = session.sender(orders).ok_or_else(|| broken("no end for orders"))?;
    let mut ends = Ends::take(&mut session, &Declared { source, target })?;
    let mut line = Vec::with_capacity(ORDER_BYTES);
    order.pass_on(&mut line)?;
    orders.send(&line).map_err(broken)?;
    let mut failure = None;
    let outcome = ping_round(order.duration, |word| {
        let returned = ends.publish(order, word).and_then(|()| ends.take_word(order, private));
        returned.unwrap_or_else(|error| {
            failure = Some(error);
            !word
        })
    });
    session.uncommit().map_err(broken)?;
    match failure {
        Some(error) => Err(error),
        None => outcome.map_err(broken),
    }
}

/// A task that does nothing, seldom. For its sake the agent logs who has which core, as in every job that has tasks.
fn watch(declarations: &mut Declarations) {
    let task = declarations.task("watched").period(WATCHED_PERIOD).window(Nanos::ZERO, WATCHED_DEADLINE);
    task.budget(WATCHED_BUDGET).body(|_| ());
}

/// The member that answers: `child round-trip-pong CORE`. What it leaves open in its declarations is ping's to say.
pub fn pong(core: &str) -> Result<(), BenchError> {
    let mut member = join(core)?;
    let mut private = vec![1; SIZE_BYTES_MAX];
    loop {
        let mut declarations = member.declare("");
        let orders = declarations.target("orders").declare();
        let target = declarations.target("there").declare();
        let source = declarations.source("back").declare();
        let mut session = match member.commit(declarations) {
            Ok(session) => session,
            Err(CommitError::Over { .. }) => return Ok(()),
            Err(error) => return Err(broken(error)),
        };
        let mut orders = session.receiver(orders).ok_or_else(|| broken("no end for orders"))?;
        let mut ends = Ends::take(&mut session, &Declared { source, target })?;
        let order = await_order(&mut orders)?;
        answer(&mut ends, &order, &mut private[..order.size])?;
        session.uncommit().map_err(broken)?;
    }
}

fn await_order(orders: &mut ReceivingEnd) -> Result<Order, BenchError> {
    let mut bytes = [0; ORDER_BYTES];
    let length = orders.receive(PATIENCE).map_err(broken)?.copy_to(&mut bytes).map_err(broken)?;
    let line = std::str::from_utf8(&bytes[..length]).ok();
    line.and_then(Order::parse).ok_or_else(|| broken("this is not an order"))
}

fn answer(ends: &mut Ends, order: &Order, private: &mut [u8]) -> Result<(), BenchError> {
    loop {
        let word = ends.take_word(order, private)?;
        ends.publish(order, word)?;
        if word == LAST_WORD {
            return Ok(());
        }
    }
}
