//! A member for the tests: one periodic task that takes, checks and passes on, and does wrong what its arguments
//! plant. Arguments are `key=value`:
//!
//! - `task=A.user`, `reads=CA`, `writes=AB`, `size=64`: what it declares; `first=yes` starts the round;
//! - `overrun=8ms@10,20`: computes that long in those instances;
//! - `oversize=99@10,20`: sends that many bytes in those instances;
//! - `fault=64@10,20`: touches that many fresh MiB in those instances;
//! - `signal=STOP:PATH@10`: sends the signal to the process whose number stands in the file, in that instance, or the first after it that
//!   is not skipped, as is all that happens once;
//! - `pid=PATH`: writes its own process number there before it joins;
//! - `started=5`: adds a line `started` to that file in that instance;
//! - `panic=5`, `stop=5`, `exit=5`: panics, stops the job or ends the process in that instance;
//! - `aliased=yes`: buffers of system memory with a mapped order;
//! - `again=128`: commits once more after the first run, with this size;
//! - `idle=yes`: joins and then declares nothing;
//! - `oversamples=yes`: may see a message more than once;
//! - `on-refusal=end`: a refused commit is its orderly end, and is told on standard output.

use leveret::{
    Absence, ByteSize, CommitError, CountingAllocator, Declarations, Ended, Input, IteratorPolicy, Member,
    Nanos, SendRefusal, Source, Target, TaskContext,
};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const SIZE_MAX: usize = 4096;
const PAGE_BYTES: usize = 4096;

fn main() -> ExitCode {
    match node() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("node: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The arguments.
#[derive(Clone)]
struct Wishes(Vec<(String, String)>);

impl Wishes {
    fn of_this_process() -> Self {
        let pair = |argument: String| {
            let (key, value) = argument.split_once('=').unwrap_or((&argument, ""));
            (key.to_owned(), value.to_owned())
        };
        Self(std::env::args().skip(1).map(pair).collect())
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// `WHAT@I,J,K`: what, and in which instances.
    fn planted(&self, key: &str) -> Option<(String, Vec<u64>)> {
        let (what, instances) = self.get(key)?.rsplit_once('@')?;
        Some((what.to_owned(), numbers(instances)))
    }
}

fn numbers(text: &str) -> Vec<u64> {
    text.split(',').filter_map(|number| number.parse().ok()).collect()
}

fn node() -> Result<(), Box<dyn std::error::Error>> {
    let wishes = Wishes::of_this_process();
    if let Some(path) = wishes.get("pid") {
        std::fs::write(path, std::process::id().to_string())?;
    }
    let mut member = Member::join()?;
    if wishes.get("idle").is_some() {
        loop {
            std::thread::park();
        }
    }
    let name = member.name().to_owned();
    let mut size = wishes.get("size").map_or(Ok(64), str::parse)?;
    let mut again = wishes.get("again").map(str::parse).transpose()?;
    loop {
        let declarations = declare(&member, &wishes, size)?;
        let session = match member.commit(declarations) {
            Ok(session) => session,
            Err(CommitError::Refused { reason, cause, mismatches }) => {
                // In one piece: others print to the same place.
                println!("refused {name}: {} mismatches: {}", mismatches.len(), reason.replace('\n', " / "));
                if wishes.get("on-refusal") == Some("end") {
                    return Ok(());
                }
                // A peer that died during commit is started again: another commit.
                if wishes.get("on-refusal") == Some("retry") {
                    continue;
                }
                return Err(CommitError::Refused { reason, cause, mismatches }.into());
            }
            Err(error) => return Err(error.into()),
        };
        match session.run()? {
            Ended::Completed => match again.take() {
                Some(next) => size = next,
                None => return Ok(()),
            },
            Ended::Stopped(_) => return Ok(()),
            Ended::PeerRestarted => {}
        }
    }
}

fn declare(member: &Member, wishes: &Wishes, size: u64) -> Result<Declarations, Box<dyn std::error::Error>> {
    let policy =
        if wishes.get("aliased").is_some() { IteratorPolicy::FifoMapped } else { IteratorPolicy::Fifo };
    let mut declarations = member.declare("node");
    let reads = wishes
        .get("reads")
        .map(|channel| declarations.target(channel).size(ByteSize(size)).policy(policy).declare());
    let writes = wishes
        .get("writes")
        .map(|channel| declarations.source(channel).size(ByteSize(size)).policy(policy).declare());
    let Some(name) = wishes.get("task") else { return Ok(declarations) };
    let mut node = Node::new(member.name(), wishes, size as usize, reads, writes)?;
    let mut task = declarations.task(name);
    if let Some(reads) = reads {
        task = task.reads(reads);
    }
    if let Some(writes) = writes {
        task = task.writes(writes);
    }
    task.body(move |instance| node.instance(instance));
    Ok(declarations)
}

/// What a node remembers from instance to instance.
struct Node {
    name: String,
    told: bool,
    oversamples: bool,
    first: bool,
    reads: Option<Target>,
    writes: Option<Source>,
    size: usize,
    expected: u64,
    bytes: [u8; SIZE_MAX],
    overrun: (Nanos, Vec<u64>),
    oversize: (usize, Vec<u64>),
    fault: (usize, Vec<u64>),
    signals: Vec<(i32, String, u64)>,
    started: Option<(u64, String)>,
    panic: Option<u64>,
    stop: Option<u64>,
    exit: Option<u64>,
}

impl Node {
    fn new(
        name: &str,
        wishes: &Wishes,
        size: usize,
        reads: Option<Target>,
        writes: Option<Source>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let overrun = match wishes.planted("overrun") {
            Some((length, instances)) => (length.parse::<Nanos>()?, instances),
            None => (Nanos::ZERO, Vec::new()),
        };
        let fault = match wishes.planted("fault") {
            Some((mebibytes, instances)) => (mebibytes.parse::<usize>()? << 20, instances),
            None => (0, Vec::new()),
        };
        let oversize = match wishes.planted("oversize") {
            Some((length, instances)) => (length.parse::<usize>()?, instances),
            None => (0, Vec::new()),
        };
        let at = |key: &str| wishes.get(key).and_then(|instance| instance.parse().ok());
        Ok(Self {
            name: name.to_owned(),
            told: false,
            oversamples: wishes.get("oversamples").is_some(),
            first: wishes.get("first").is_some(),
            reads,
            writes,
            size,
            expected: 0,
            bytes: [0; SIZE_MAX],
            overrun,
            oversize,
            fault,
            signals: signals(wishes),
            started: at("started").zip(wishes.get("pid").map(str::to_owned)),
            panic: at("panic"),
            stop: at("stop"),
            exit: at("exit"),
        })
    }

    fn instance(&mut self, instance: &mut TaskContext<'_>) {
        let number = instance.instance().0;
        self.misbehave(instance, number);
        let came = self.reads.is_some_and(|reads| self.take(instance, reads));
        let Some(writes) = self.writes else { return };
        if self.first || !came {
            fill(&mut self.bytes[..self.size], number);
        }
        // One that is refused is a miss of the channel, and fails the run.
        let sent = match self.oversize.1.contains(&number) {
            true => instance.send(writes, &self.bytes[..self.oversize.0]),
            false => instance.send(writes, &self.bytes[..self.size]),
        };
        if let Err(SendRefusal::TooLong { .. }) = sent {
            eprintln!("node {}: too long in instance {number}", self.name);
        }
    }

    /// Everything that is planted in this instance.
    #[allow(
        clippy::disallowed_methods,
        reason = "a member that ends in the middle of a run is what is tested"
    )]
    fn misbehave(&mut self, instance: &TaskContext<'_>, number: u64) {
        if self.overrun.1.contains(&number) {
            eprintln!("node {}: overrun in instance {number}", self.name);
            let end = instance.now() + self.overrun.0;
            while instance.now() < end {}
        }
        if self.fault.1.contains(&number) {
            touch_fresh_pages(self.fault.0);
            eprintln!("node {}: faulted in instance {number}", self.name);
        }
        // Nothing is freed in here: that would count as a use of the allocator.
        let is_due = |at: &mut u64| *at <= number && std::mem::replace(at, u64::MAX) != u64::MAX;
        for (signal, path, at) in &mut self.signals {
            if is_due(at) {
                send_signal(*signal, path);
                eprintln!("node {}: signalled in instance {number}", self.name);
            }
        }
        if let Some((at, path)) = &mut self.started
            && is_due(at)
        {
            append(path, "\nstarted");
        }
        if self.panic.as_mut().is_some_and(is_due) {
            panic!("planted in instance {number}");
        }
        if self.stop.as_mut().is_some_and(is_due) {
            instance.stop_job("a test wants it so");
        }
        if self.exit.as_mut().is_some_and(is_due) {
            std::process::exit(7);
        }
    }

    /// Takes the message of this instance and checks its number and content; whether there was one.
    fn take(&mut self, instance: &mut TaskContext<'_>, reads: Target) -> bool {
        let at = instance.instance().0;
        let taken = match instance.input(reads) {
            Input::Message(message) => {
                Some((message.instance().0, message.copy_to(&mut self.bytes).map_err(|_| ())))
            }
            Input::Absent(Absence::PeerDead) => {
                if !self.told {
                    self.told = true;
                    eprintln!("node {}: peer dead in instance {at}", self.name);
                }
                None
            }
            Input::Held(message, _) => {
                eprintln!("node {}: holds {} in instance {at}", self.name, message.instance().0);
                None
            }
            Input::Absent(_) => None,
        };
        let Some((number, length)) = taken else { return false };
        let seen_again = self.oversamples && number + 1 == self.expected;
        if number < self.expected && !seen_again {
            instance.report_out_of_order(reads);
        }
        self.expected = number + 1;
        if length != Ok(self.size) || !is_filled(&self.bytes[..self.size]) {
            instance.report_corrupt(reads);
        }
        true
    }
}

/// The number in the first eight bytes, and a pattern that depends on it in the rest.
fn fill(bytes: &mut [u8], number: u64) {
    let (head, rest) = bytes.split_at_mut(8);
    head.copy_from_slice(&number.to_le_bytes());
    for (place, byte) in rest.iter_mut().enumerate() {
        *byte = pattern(number, place);
    }
}

fn is_filled(bytes: &[u8]) -> bool {
    let (head, rest) = bytes.split_at(8);
    let number = head.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    rest.iter().enumerate().all(|(place, byte)| *byte == pattern(number, place))
}

fn pattern(number: u64, place: usize) -> u8 {
    (number as u8).wrapping_mul(7).wrapping_add(place as u8)
}

/// Faults once for every page. Locked memory would be filled at once and never fault, so the lock goes first.
fn touch_fresh_pages(bytes: usize) {
    if let Err(error) = rustix::mm::munlockall() {
        eprintln!("node: munlockall: {error}");
    }
    // Zeroed memory of this size comes straight from the kernel, untouched.
    let mut fresh = vec![0_u8; bytes];
    for page in fresh.chunks_mut(PAGE_BYTES) {
        page[0] = std::hint::black_box(1);
    }
    std::hint::black_box(&fresh);
}

fn append(path: &str, text: &str) {
    use std::io::Write;
    let file = std::fs::OpenOptions::new().append(true).open(path);
    if let Err(error) = file.and_then(|mut file| file.write_all(text.as_bytes())) {
        eprintln!("node: {path}: {error}");
    }
}

/// `signal=STOP:PATH@10`, any number of times.
fn signals(wishes: &Wishes) -> Vec<(i32, String, u64)> {
    let all = wishes.0.iter().filter(|(key, _)| key == "signal");
    all.filter_map(|(_, value)| {
        let (what, instance) = value.rsplit_once('@')?;
        let (name, path) = what.split_once(':')?;
        let signal = match name {
            "STOP" => rustix::process::Signal::STOP,
            "CONT" => rustix::process::Signal::CONT,
            _ => rustix::process::Signal::KILL,
        };
        Some((signal.as_raw(), path.to_owned(), instance.parse().ok()?))
    })
    .collect()
}

/// Signals the process whose number stands in the file.
fn send_signal(signal: i32, path: &str) {
    let pid = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
    let pid = pid.and_then(rustix::process::Pid::from_raw);
    let signal = rustix::process::Signal::from_named_raw(signal);
    let (Some(pid), Some(signal)) = (pid, signal) else {
        eprintln!("node: no process number in {path}");
        return;
    };
    if let Err(error) = rustix::process::kill_process(pid, signal) {
        eprintln!("node: signalling {path}: {error}");
    }
}
