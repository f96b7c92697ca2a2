//! Ping-pong over iceoryx2 between two pinned processes, in the protocol of `peers/child.h`.
//!
//! - `untouched`: a sample is loaned, its first word written, sent; the receiver reads the first word where it lies
//! - `copy`: the sender fills the whole sample in place; the receiver copies it out into its own buffer
//! - `-wake`: the same with an event service; the receiver sleeps in its listener
//!
//! usage: leveret-bench-peer-iceoryx2 CORE_PING CORE_PONG

#[path = "../../../src/child.rs"]
#[allow(dead_code, reason = "shared with the benchmarks, which use more of it")]
mod child;

use child::{LAST_WORD, Order, fill, ping_round, serve};
use iceoryx2::port::{listener::Listener, notifier::Notifier, publisher::Publisher, subscriber::Subscriber};
use iceoryx2::prelude::*;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

type Failure = Box<dyn Error>;

/// One direction: payload and wake-up.
struct Sending {
    publisher: Publisher<ipc::Service, [u64], ()>,
    notifier: Notifier<ipc::Service>,
}

struct Receiving {
    subscriber: Subscriber<ipc::Service, [u64], ()>,
    listener: Listener<ipc::Service>,
}

struct End {
    sending: Sending,
    receiving: Receiving,
    private: Vec<u64>,
}

impl End {
    fn open(node: &Node<ipc::Service>, job: &str, own: &str, peer: &str) -> Result<Self, Failure> {
        let words = child::SIZE_BYTES_MAX / 8;
        let payload = |end: &str| -> Result<_, Failure> {
            let name = format!("leveret/bench/{job}/{end}").as_str().try_into()?;
            // As iceoryx2's own benchmark sets it.
            let service = node.service_builder(&name).publish_subscribe::<[u64]>();
            let service =
                service.max_publishers(1).max_subscribers(1).history_size(0).subscriber_max_buffer_size(1);
            Ok(service.enable_safe_overflow(true).open_or_create()?)
        };
        let event = |end: &str| -> Result<_, Failure> {
            let name = format!("leveret/bench/{job}/{end}/event").as_str().try_into()?;
            Ok(node.service_builder(&name).event().open_or_create()?)
        };
        let publisher = payload(own)?.publisher_builder().initial_max_slice_len(words).create()?;
        let sending = Sending { publisher, notifier: event(own)?.notifier_builder().create()? };
        let subscriber = payload(peer)?.subscriber_builder().create()?;
        let receiving = Receiving { subscriber, listener: event(peer)?.listener_builder().create()? };
        Ok(Self { sending, receiving, private: vec![1; words] })
    }

    fn publish(&self, order: &Order, word: u64) -> Result<(), Failure> {
        let sample = self.sending.publisher.loan_slice_uninit(order.size / 8)?;
        // SAFETY: the payload is plain words in shared memory that was mapped zeroed; any content is valid. iceoryx2's own
        // benchmark does the same.
        let mut sample = unsafe { sample.assume_init() };
        let words = sample.payload_mut();
        let touched = if order.copies { size_of_val(words) } else { 8 };
        // SAFETY: the bytes of words are bytes; the slice borrows the sample, and there is one at a time.
        let bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), touched) };
        fill(bytes, word);
        sample.send()?;
        if order.wakes {
            self.sending.notifier.notify()?;
        }
        Ok(())
    }

    fn take(&mut self, order: &Order) -> Result<u64, Failure> {
        let sample = loop {
            match self.receiving.subscriber.receive()? {
                Some(sample) => break sample,
                None if order.wakes => _ = self.receiving.listener.blocking_wait(|_| ())?,
                None => (),
            }
        };
        if !order.copies {
            return Ok(sample.payload()[0]);
        }
        self.private[..order.size / 8].copy_from_slice(sample.payload());
        Ok(self.private[0])
    }
}

fn main() -> Result<(), Failure> {
    set_log_level(LogLevel::Fatal);
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.as_slice() {
        [program, ping, pong] => run_ping(program, ping, pong),
        [_, role, job, core] if role == "pong" => run_pong(job, core.parse()?),
        _ => Err("usage: leveret-bench-peer-iceoryx2 CORE_PING CORE_PONG".into()),
    }
}

fn pin(core: usize) -> Result<(), Failure> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

fn run_ping(program: &str, ping: &str, pong: &str) -> Result<(), Failure> {
    let job = std::process::id().to_string();
    let mut partner = Command::new(program)
        .args(["pong", &job, pong])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut orders = partner.stdin.take().ok_or("the partner takes no orders")?;
    let mut ready = String::new();
    BufReader::new(partner.stdout.take().ok_or("the partner does not answer")?).read_line(&mut ready)?;
    pin(ping.parse()?)?;
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let mut end = End::open(&node, &job, "ping", "pong")?;
    let text = |failure: Failure| failure.to_string();
    serve("iceoryx2 0.10.0", |order| {
        order.pass_on(&mut orders).map_err(|error| error.to_string())?;
        let mut failure = None;
        let outcome = ping_round(order.duration, |word| {
            match end.publish(order, word).and_then(|()| end.take(order)) {
                Ok(word) => word,
                Err(error) => {
                    failure = Some(text(error));
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

fn run_pong(job: &str, core: usize) -> Result<(), Failure> {
    pin(core)?;
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let mut end = End::open(&node, job, "pong", "ping")?;
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
