//! Ping-pong over Aeron's IPC between two pinned processes, in the protocol of `peers/child.h`.
//!
//! - `untouched`: a claim in the term buffer, its first word written; the receiver reads the first word where it lies
//! - `copy`: the sender fills the whole claim in place; the receiver copies it out into its own buffer
//!
//! A claim is one frame, so payloads end at [`CLAIM_BYTES_MAX`]. The media driver runs in ping's process. It only sets streams up, and its
//! thread and those of the clients sleep as long as they may.
//!
//! usage: leveret-bench-peer-aeron CORE_PING CORE_PONG

#[path = "../../../src/child.rs"]
#[allow(dead_code, reason = "shared with the benchmarks, which use more of it")]
mod child;

use child::{LAST_WORD, Order, SIZE_BYTES_MAX, fill, first_word, ping_round, serve};
use rusteron_client::{
    AERON_IPC_STREAM, Aeron, AeronContext, AeronExclusivePublication, AeronSubscription, Handlers,
    IntoCString,
};
use rusteron_media_driver::{AeronDriver, AeronDriverContext};
use std::error::Error;
use std::hint::spin_loop;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

type Failure = Box<dyn Error>;

const PING_STREAM: i32 = 1;
const PONG_STREAM: i32 = 2;
/// The largest frame of Aeron's, less its header.
const CLAIM_BYTES_MAX: usize = 65_504 - 32;
const MTU_BYTES: usize = 65_504;
const SET_UP_WITHIN: Duration = Duration::from_secs(10);
const DRIVER_SLEEPS: Duration = Duration::from_millis(16);

struct End {
    /// Keeps its streams alive.
    _client: Aeron,
    publication: AeronExclusivePublication,
    subscription: AeronSubscription,
    private: Vec<u8>,
}

impl End {
    fn open(directory: &str, own: i32, peer: i32) -> Result<Self, Failure> {
        let context = AeronContext::new()?;
        context.set_dir(&directory.to_owned().into_c_string())?;
        context.set_pre_touch_mapped_memory(true)?;
        let client = Aeron::new(&context)?;
        client.start()?;
        let publication =
            client.async_add_exclusive_publication(AERON_IPC_STREAM, own)?.poll_blocking(SET_UP_WITHIN)?;
        let subscription = client
            .async_add_subscription(AERON_IPC_STREAM, peer, Handlers::NONE, Handlers::NONE)?
            .poll_blocking(SET_UP_WITHIN)?;
        Ok(Self { _client: client, publication, subscription, private: vec![1; SIZE_BYTES_MAX] })
    }

    fn publish(&self, order: &Order, word: u64) -> Result<(), Failure> {
        let mut claim = loop {
            match self.publication.try_claim_owned(order.size) {
                Ok(claim) => break claim,
                Err(error) if error.is_retryable() => spin_loop(),
                Err(error) => return Err(error.into()),
            }
        };
        let touched = if order.copies { order.size } else { 8 };
        fill(&mut claim.data()[..touched], word);
        claim.commit()?;
        Ok(())
    }

    fn take(&mut self, order: &Order) -> Result<u64, Failure> {
        let (subscription, private) = (&self.subscription, &mut self.private[..order.size]);
        let mut word = None;
        loop {
            let take = |bytes: &[u8], _| {
                if order.copies {
                    private.copy_from_slice(bytes);
                    word = Some(first_word(private));
                } else {
                    word = Some(first_word(bytes));
                }
            };
            if subscription.poll_fn(take, 1)? == 0 {
                spin_loop();
            }
            if let Some(word) = word {
                return Ok(word);
            }
        }
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.as_slice() {
        [_, role, directory, core] if role == "pong" => run_pong(directory, core.parse()?),
        [program, ping, pong] => run_ping(program, ping, pong),
        _ => Err("usage: leveret-bench-peer-aeron CORE_PING CORE_PONG".into()),
    }
}

fn pin(core: usize) -> Result<(), Failure> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// The media driver, with a loop that sleeps. The library's own loop ignores its idle strategy and takes a fifth of a core from the subjects
/// that are measured beside it.
struct Driver {
    dir: String,
    /// Its end stops the thread.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    fn launch() -> Result<Self, Failure> {
        let context = AeronDriverContext::new()?;
        context.set_dir_delete_on_shutdown(true)?;
        context.set_dir_delete_on_start(true)?;
        context.set_dir(&format!("{}-{}", context.get_dir(), std::process::id()).into_c_string())?;
        context.set_ipc_mtu_length(MTU_BYTES)?;
        context.set_term_buffer_sparse_file(false)?;
        let dir = context.get_dir().to_string();
        let ((ready, started), (running, stopped)) = (channel(), channel::<()>());
        let thread = std::thread::spawn(move || {
            let begun = AeronDriver::new(&context).and_then(|driver| driver.start(true).map(|_| driver));
            let driver = match begun {
                Ok(driver) => driver,
                Err(error) => return drop(ready.send(Some(error.to_string()))),
            };
            drop(ready.send(None));
            while stopped.recv_timeout(DRIVER_SLEEPS) == Err(RecvTimeoutError::Timeout) {
                while driver.main_do_work().is_ok_and(|done| done > 0) {}
            }
        });
        match started.recv()? {
            None => Ok(Self { dir, running: Some(running), thread: Some(thread) }),
            Some(error) => Err(error.into()),
        }
    }

    fn dir(&self) -> &str {
        &self.dir
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.running = None;
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn run_ping(program: &str, ping: &str, pong: &str) -> Result<(), Failure> {
    let driver = Driver::launch()?;
    let mut partner = Command::new(program)
        .args(["pong", driver.dir(), pong])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut orders = partner.stdin.take().ok_or("the partner takes no orders")?;
    let mut end = End::open(driver.dir(), PING_STREAM, PONG_STREAM)?;
    let mut ready = String::new();
    BufReader::new(partner.stdout.take().ok_or("the partner does not answer")?).read_line(&mut ready)?;
    pin(ping.parse()?)?;
    serve(&format!("Aeron {}", Aeron::version_full()), |order| {
        if order.size > CLAIM_BYTES_MAX || order.wakes {
            return Err("longer than a claim, or with waking".to_owned());
        }
        order.pass_on(&mut orders).map_err(|error| error.to_string())?;
        let mut failure = None;
        let outcome = ping_round(order.duration, |word| {
            match end.publish(order, word).and_then(|()| end.take(order)) {
                Ok(word) => word,
                Err(error) => {
                    failure = Some(error.to_string());
                    !word
                }
            }
        });
        failure.map_or(outcome, Err)
    })?;
    drop(orders);
    partner.wait()?;
    Ok(())
}

fn run_pong(directory: &str, core: usize) -> Result<(), Failure> {
    let mut end = End::open(directory, PONG_STREAM, PING_STREAM)?;
    pin(core)?;
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let order = Order::parse(&line?).ok_or("this is not an order")?;
        loop {
            let word = end.take(&order)?;
            end.publish(&order, word)?;
            if word == LAST_WORD {
                break;
            }
        }
    }
    Ok(())
}
