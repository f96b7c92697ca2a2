//! Manifests for the tests. Periods and windows are wide, so that a loaded machine keeps them.

use crate::harness::member;
use std::fmt::Write;

/// Period of every task and channel here.
pub const PERIOD: &str = "20ms";

/// A manifest in the making.
pub struct Job {
    text: String,
}

impl Job {
    /// The head; `options` are further lines of `[job]`.
    pub fn new(rounds: u64, options: &str) -> Self {
        let cores: Vec<String> = cores().iter().map(u32::to_string).collect();
        let text = format!(
            "[job]\nname = \"test\"\nrounds = {rounds}\n{options}\n\n[host]\ncores = [{}]\nguard = \"100us\"\n",
            cores.join(", ")
        );
        Self { text }
    }

    /// A member that runs a program of the tests.
    pub fn member(self, name: &str, core: u32, program: &str, arguments: &[&str]) -> Self {
        let program = member(program);
        self.command(name, core, &program, arguments)
    }

    /// A member that runs any program.
    pub fn command(mut self, name: &str, core: u32, program: &str, arguments: &[&str]) -> Self {
        let words: Vec<String> =
            std::iter::once(&program).chain(arguments).map(|word| format!("{word:?}")).collect();
        let _ = write!(
            self.text,
            "\n[[member]]\nname = \"{name}\"\ncore = {core}\ncommand = [{}]\n",
            words.join(", ")
        );
        self
    }

    /// A task; `ends` are its `reads` and `writes` lines, and whatever else.
    pub fn task(self, name: &str, window: [&str; 2], budget: &str, ends: &str) -> Self {
        self.task_every(PERIOD, name, window, budget, ends)
    }

    /// A task with a period of its own.
    pub fn task_every(
        mut self,
        period: &str,
        name: &str,
        window: [&str; 2],
        budget: &str,
        ends: &str,
    ) -> Self {
        let member = name.split('.').next().unwrap_or(name);
        let _ = write!(
            self.text,
            "\n[[task]]\nname = \"{name}\"\nmember = \"{member}\"\nperiod = \"{period}\"\nwindow = [\"{}\", \"{}\"]\n\
             budget = \"{budget}\"\n{ends}\n",
            window[0], window[1]
        );
        self
    }

    /// A time-driven channel; the first and the second letter of its name are its ends.
    pub fn channel(mut self, name: &str, window: [&str; 2], options: &str) -> Self {
        let (source, target) = name.split_at(1);
        let _ = write!(
            self.text,
            "\n[[channel]]\nname = \"{name}\"\nsource = \"{source}\"\ntarget = \"{target}\"\nperiod = \"{PERIOD}\"\n\
             window = [\"{}\", \"{}\"]\nsize = \"4KiB\"\n{options}\n",
            window[0], window[1]
        );
        self
    }

    pub fn text(self) -> String {
        self.text
    }
}

/// Two cores that this process may use; on a machine with one, that one.
pub fn cores() -> Vec<u32> {
    let mut cores = leveret_os::scheduling::allowed_cores();
    cores.truncate(2);
    cores
}

/// A core for the rank.
pub fn core(rank: usize) -> u32 {
    let cores = cores();
    cores[rank % cores.len()]
}

/// A ring of three: A starts each round, B and C pass it on. `extra` gives each further arguments.
pub fn ring(rounds: u64, options: &str, extra: [&[&str]; 3]) -> Job {
    let own: [&[&str]; 3] = [
        &["task=A.user", "reads=CA", "writes=AB", "first=yes"],
        &["task=B.user", "reads=AB", "writes=BC"],
        &["task=C.user", "reads=BC", "writes=CA"],
    ];
    let mut job = Job::new(rounds, options);
    for (rank, name) in ["A", "B", "C"].into_iter().enumerate() {
        let arguments: Vec<&str> = own[rank].iter().chain(extra[rank]).copied().collect();
        job = job.member(name, core(rank), "test-node", &arguments);
    }
    ring_model(job)
}

/// Tasks and channels of the ring.
pub fn ring_model(job: Job) -> Job {
    job.task("A.user", ["0ms", "5ms"], "1ms", "reads = [\"CA\"]\nwrites = [\"AB\"]")
        .task("B.user", ["7ms", "11ms"], "1ms", "reads = [\"AB\"]\nwrites = [\"BC\"]")
        .task("C.user", ["13ms", "17ms"], "1ms", "reads = [\"BC\"]\nwrites = [\"CA\"]")
        .channel("AB", ["5ms", "7ms"], "")
        .channel("BC", ["11ms", "13ms"], "")
        .channel("CA", ["17ms", "19ms"], "")
}
