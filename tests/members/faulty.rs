//! A member for the fault matrix: one or two tasks whose bodies do wrong what the arguments plant, and write down when they really did.
//! Arguments are `key=value`:
//!
//! - `task=V.user`, any number of times; `reads=AB` and `writes=AB` belong to the first;
//! - `tell=PATH`, any number of times: a pipe that is given the epoch and this process's number before it;
//! - `log=PATH`: where each fault is written down once the run is over: what, when it began and ended (`CLOCK_MONOTONIC`), process and
//!   thread;
//! - `work=200us`: what the first task computes in every instance; `steps=200us`: the same, in steps of its own program, of which none is done
//!   in the kernel;
//! - `fault=KIND:LENGTH@10,20`, any number of times: what the first task's body does in these instances, and for how long.
//!
//! The kinds: `overrun` computes, `sleep` sleeps, `lock` waits for a lock that another thread of this process holds, `read` waits for a byte
//! that another thread writes, `pages` touches fresh memory, `fork` runs a program, `stop` stops this process, `file-lock` waits for the
//! lock of the file `lock=PATH`, `exit` ends the process, `silent` sends nothing, `second` has another thread of this process take the core.

use leveret::{ByteSize, Input, Member, Nanos, Source, Target, TaskContext};
use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// As every task of the matrix.
const PERIOD: Nanos = Nanos::from_millis(20);
/// When helping threads begin: before the windows.
const FROM: Nanos = Nanos::from_millis(5);
const MESSAGE: usize = 8;
const PAGE_BYTES: usize = 4096;

fn main() -> ExitCode {
    match faulty() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("faulty: {error}");
            ExitCode::FAILURE
        }
    }
}

fn all(key: &str) -> Vec<String> {
    let arguments = std::env::args().skip(1);
    let pair =
        |argument: String| argument.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    arguments.filter_map(pair).filter(|(name, _)| name == key).map(|(_, value)| value).collect()
}

/// Something that a body does wrong.
#[derive(Clone)]
struct Fault {
    kind: String,
    length: Nanos,
    at: Vec<u64>,
}

impl Fault {
    /// `KIND:LENGTH@I,J`.
    fn of(text: &str) -> Option<Self> {
        let (what, at) = text.split_once('@')?;
        let (kind, length) = what.split_once(':')?;
        let at = at.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Self { kind: kind.to_owned(), length: length.parse().ok()?, at })
    }
}

type Log = Arc<Mutex<String>>;

fn note(log: &Log, kind: &str, began: Nanos, ended: Nanos, thread: u32) {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(log, "{kind} {} {} {} {thread} faulty", began.0, ended.0, std::process::id());
}

fn faulty() -> Result<(), Box<dyn std::error::Error>> {
    let read = |text: &String| Fault::of(text).ok_or(format!("{text} is no fault"));
    let faults: Vec<Fault> = all("fault").iter().map(read).collect::<Result<_, _>>()?;
    // Large enough that no body makes it grow.
    let log: Log = Arc::new(Mutex::new(String::with_capacity(1 << 16)));
    let mut member = Member::join()?;
    let mut declarations = member.declare("faulty");
    let of = |key: &str| all(key).into_iter().next();
    let reads = of("reads").map(|name| declarations.target(&name).size(ByteSize(MESSAGE as u64)).declare());
    let writes = of("writes").map(|name| declarations.source(&name).size(ByteSize(MESSAGE as u64)).declare());
    let shared = Arc::new(Mutex::new(()));
    let (near, far) = UnixStream::pair()?;
    let mut body = Body {
        faults: faults.clone(),
        log: Arc::clone(&log),
        work: of("work").map_or(Ok(Nanos::ZERO), |work| work.parse())?,
        steps: of("steps").map_or(Ok(0), |length| length.parse().map(steps_in))?,
        shared: Arc::clone(&shared),
        bytes: near,
        file: of("lock").map(std::fs::File::open).transpose()?,
        reads,
        writes,
    };
    for (place, name) in all("task").iter().enumerate() {
        let mut task = declarations.task(name);
        if place > 0 {
            task.body(|_| {});
            continue;
        }
        if let Some(reads) = reads {
            task = task.reads(reads);
        }
        if let Some(writes) = writes {
            task = task.writes(writes);
        }
        let mut own = body.taken()?;
        task.body(move |context| own.instance(context));
    }
    let session = member.commit(declarations)?;
    let epoch = session.epoch();
    for pipe in all("tell") {
        std::fs::write(pipe, format!("{} {}\n", epoch.0, std::process::id()))?;
    }
    let helpers = helpers(&faults, epoch, (shared, far), &log)?;
    session.run()?;
    for helper in helpers {
        helper.join().map_err(|_| "a helping thread panicked")?;
    }
    if let Some(path) = of("log") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(log.lock().unwrap_or_else(PoisonError::into_inner).as_bytes())?;
    }
    Ok(())
}

/// The threads that hold the lock, write the byte or take the core.
fn helpers(
    faults: &[Fault],
    epoch: Nanos,
    (shared, far): (Arc<Mutex<()>>, UnixStream),
    log: &Log,
) -> std::io::Result<Vec<thread::JoinHandle<()>>> {
    let far = Arc::new(far);
    let helping = faults.iter().filter(|fault| matches!(fault.kind.as_str(), "lock" | "read" | "second"));
    let helping = helping.map(|fault| {
        let (fault, shared, far, log) =
            (fault.clone(), Arc::clone(&shared), Arc::clone(&far), Arc::clone(log));
        let core = all("core").first().and_then(|core| core.parse().ok());
        thread::Builder::new().name("helper".to_owned()).spawn(move || {
            if let Some(core) = core.filter(|_| fault.kind == "second") {
                let _ = scheduling::pin(core).map_err(|error| eprintln!("faulty: {error}"));
            }
            let _ =
                scheduling::apply(Class::Fifo { priority: 95 }).map_err(|error| eprintln!("faulty: {error}"));
            for at in &fault.at {
                let start = epoch + PERIOD.saturating_mul(*at as i64) + FROM;
                clock::sleep_until(start);
                let held =
                    (fault.kind == "lock").then(|| shared.lock().unwrap_or_else(PoisonError::into_inner));
                let began = clock::now();
                if fault.kind == "second" {
                    while clock::now() < start + fault.length {}
                    note(&log, "second", began, clock::now(), scheduling::thread_id());
                } else {
                    clock::sleep_until(start + fault.length);
                }
                drop(held);
                if fault.kind == "read" {
                    let _ = (&*far).write_all(&[*at as u8]);
                }
            }
        })
    });
    helping.collect()
}

/// What the first task does.
struct Body {
    faults: Vec<Fault>,
    log: Log,
    work: Nanos,
    steps: u64,
    shared: Arc<Mutex<()>>,
    bytes: UnixStream,
    file: Option<std::fs::File>,
    reads: Option<Target>,
    writes: Option<Source>,
}

impl Body {
    /// The same for a thread of its own.
    fn taken(&mut self) -> std::io::Result<Self> {
        Ok(Self {
            faults: std::mem::take(&mut self.faults),
            log: Arc::clone(&self.log),
            shared: Arc::clone(&self.shared),
            bytes: self.bytes.try_clone()?,
            file: self.file.take(),
            ..*self
        })
    }

    fn instance(&mut self, context: &mut TaskContext<'_>) {
        let number = context.instance().0;
        if let Some(reads) = self.reads {
            let mut bytes = [0; MESSAGE];
            if let Input::Message(message) = context.input(reads) {
                let _ = message.copy_to(&mut bytes);
            }
        }
        work(self.work);
        go(self.steps);
        let mut silent = false;
        for place in 0..self.faults.len() {
            if self.faults[place].at.contains(&number) {
                let began = clock::now();
                silent |= self.faults[place].kind == "silent";
                self.misbehave(place, number);
                note(&self.log, &self.faults[place].kind, began, clock::now(), scheduling::thread_id());
            }
        }
        if let Some(writes) = self.writes.filter(|_| !silent) {
            // One that is refused is a miss of the channel.
            let _ = context.send(writes, &number.to_le_bytes());
        }
    }

    #[allow(clippy::disallowed_methods, reason = "a member that ends in its body is what is tested")]
    fn misbehave(&mut self, place: usize, number: u64) {
        let fault = &self.faults[place];
        match fault.kind.as_str() {
            "overrun" => compute(fault.length),
            "endless" => compute(Nanos::MAX - clock::now()),
            "sleep" => clock::sleep_until(clock::now() + fault.length),
            "lock" => drop(self.shared.lock()),
            "read" => {
                // One that came too late for an instance is not the next one's; the helper may have been late itself.
                let mut byte = [0];
                let _ = self.bytes.set_read_timeout(Some(std::time::Duration::from_millis(20)));
                while self.bytes.read(&mut byte).is_ok_and(|count| count == 1) && byte[0] != number as u8 {}
            }
            "pages" => touch_fresh_pages(fault.length),
            "fork" => {
                let seconds = format!("{}", fault.length.0 as f64 / 1e9);
                let _ = std::process::Command::new("sleep").arg(seconds).status();
            }
            "stop" => {
                let _ =
                    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
            }
            "file-lock" => {
                if let Some(file) = &self.file {
                    let _ = file.lock();
                    let _ = file.unlock();
                }
            }
            "exit" => std::process::exit(7),
            _ => {}
        }
    }
}

/// So much of a processor, however long that takes.
fn work(length: Nanos) {
    use rustix::time::{ClockId, clock_gettime};
    let used = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
    };
    let end = used() + length;
    while length > Nanos::ZERO && used() < end {}
}

/// What of its own the program does: time in the kernel, for signals above all, brings it no further.
fn go(steps: u64) {
    for step in 0..steps {
        std::hint::black_box(step);
    }
}

/// How many steps take so long where nothing disturbs.
fn steps_in(length: Nanos) -> u64 {
    const TRIED: u64 = 100_000;
    let took = |_| {
        let began = clock::now();
        go(TRIED);
        (clock::now() - began).0.max(1)
    };
    let least = (0..20).map(took).min().unwrap_or(1);
    TRIED * length.0.unsigned_abs() / least.unsigned_abs()
}

fn compute(length: Nanos) {
    let end = clock::now() + length;
    while clock::now() < end {}
}

/// Faults once for every page. Locked memory would be filled at once and never fault, so the lock goes first.
fn touch_fresh_pages(length: Nanos) {
    // More than the allocator ever keeps: it comes straight from the kernel, untouched, and goes back there.
    const BYTES: usize = 64 << 20;
    if let Err(error) = rustix::mm::munlockall() {
        eprintln!("faulty: munlockall: {error}");
    }
    let end = clock::now() + length;
    while clock::now() < end {
        let mut fresh = vec![0_u8; BYTES];
        for page in fresh.chunks_mut(PAGE_BYTES).take_while(|_| clock::now() < end) {
            page[0] = std::hint::black_box(1);
        }
        std::hint::black_box(&fresh);
    }
}
