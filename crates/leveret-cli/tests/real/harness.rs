//! Starting `leveret run` on a job written into a temporary folder, and waiting for its end under a watchdog.

use crate::stalls::{Stall, Watch};
use leveret_os::control::poll;
use leveret_os::process::{PidFd, Signal};
use leveret_report::record::RunRecord;
use leveret_report::verdict::{self, Assessment, Miss};
use leveret_report::{journal, json, storage};
use leveret_types::Nanos;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// Real-time jobs would disturb each other: one at a time.
static TURN: Mutex<()> = Mutex::new(());
/// No job of these tests takes a tenth of it.
const WATCHDOG: Duration = Duration::from_secs(120);
/// Files tell nobody when they change.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// Marks every process of one run, so that a forgotten one is found.
const MARK: &str = "LEVERET_TEST_RUN";

/// The exclusive right to run jobs.
pub fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A job in its folder.
pub struct Workplace {
    folder: TempDir,
    mark: String,
}

impl Workplace {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mark = leveret_os::host::random_token().expect("random bytes");
        Self { folder, mark }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// As an argument.
    pub fn shown(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Starts `leveret run` on this job. What it and its members say lands in `stdout` and `stderr`.
    pub fn start(&self, job: &str) -> Running<'_> {
        self.start_with(job, &[])
    }

    /// As [`Workplace::start`], with further arguments.
    pub fn start_with(&self, job: &str, arguments: &[&str]) -> Running<'_> {
        self.spawn(self.command(job, arguments))
    }

    /// The command that [`Workplace::start_with`] starts.
    pub fn command(&self, job: &str, arguments: &[&str]) -> Command {
        fs::write(self.path("job.toml"), job).expect("the job can be written");
        // Whoever runs the tests may have turned signals off (`nohup`, a shell without job control); leveret would
        // inherit that, and keep to it.
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP,INT,TERM").arg(program());
        command.arg("run").arg(self.path("job.toml"));
        if !arguments.contains(&"--output") {
            command.arg("--output").arg(self.path("out"));
        }
        command.args(arguments);
        command
    }

    /// Starts any command as a run of this workplace.
    pub fn spawn(&self, mut command: Command) -> Running<'_> {
        let file = |name: &str| File::create(self.path(name)).expect("a file for the output");
        command.stdout(file("stdout")).stderr(file("stderr"));
        self.spawn_as_it_is(command)
    }

    /// As [`Workplace::spawn`], with the command's own streams.
    pub fn spawn_as_it_is(&self, mut command: Command) -> Running<'_> {
        let child = command
            .env(MARK, &self.mark)
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("leveret starts");
        let end = PidFd::open(child.id()).expect("a child can be watched");
        Running { place: self, child, end }
    }

    /// Runs a job to its end.
    pub fn run(&self, job: &str) -> Outcome {
        self.start(job).finish()
    }

    /// As [`Workplace::run`], beside a witness that tells when the machine stood still.
    pub fn run_watched(&self, job: &str) -> Outcome {
        let watch = Watch::begin();
        self.start(job).finish().watched(watch)
    }

    /// The process of a member that lives now.
    pub fn member_process(&self, name: &str) -> Option<PidFd> {
        let wanted = format!("LEVERET_MEMBER={name}");
        let is_wanted = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
        };
        self.processes().into_iter().find(|(pid, _)| is_wanted(pid)).map(|(_, process)| process)
    }

    /// Every process of this run that lives now.
    fn processes(&self) -> Vec<(u32, PidFd)> {
        let wanted = format!("{MARK}={}", self.mark);
        let all = fs::read_dir("/proc").expect("/proc");
        all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .filter_map(|pid| {
                // The descriptor first: what is then read belongs to the process that it stands for, or to none.
                let process = PidFd::open(pid).ok()?;
                let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
                let marked = environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes());
                marked.then_some((pid, process))
            })
            .collect()
    }

    /// Waits until no process of this run is left.
    ///
    /// # Panics
    /// When one does not go.
    pub fn await_nobody(&self) {
        for (pid, process) in self.processes() {
            assert!(ends(&process), "process {pid} of this run was left behind");
        }
        assert!(self.processes().is_empty(), "a process of this run was started after its end");
    }

    /// What was written to `name`, so far; of what was printed, without the names of the members that printed it.
    pub fn text(&self, name: &str) -> String {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        if matches!(name, "stdout" | "stderr") { without_names(&text) } else { text }
    }
}

/// Takes the `[NAME] ` from each line that begins so.
fn without_names(text: &str) -> String {
    let nameless = |line| {
        let named = str::strip_prefix(line, "[").and_then(|rest| rest.split_once("] "));
        named.map_or(line, |(_, rest)| rest)
    };
    text.split_inclusive('\n').map(nameless).collect()
}

fn ends(process: &PidFd) -> bool {
    let ready = poll(&[process.as_fd()], Some(WATCHDOG)).expect("a process can be polled");
    ready[0].any()
}

/// A run in progress.
pub struct Running<'w> {
    place: &'w Workplace,
    child: Child,
    end: PidFd,
}

impl Running<'_> {
    pub fn signal(&self, signal: Signal) {
        self.end.signal(signal).expect("leveret still runs");
    }

    /// The number of the agent's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What Ctrl-C in a terminal or `kill -- -GROUP` does: every process of the run's group gets the signal.
    pub fn signal_group(&self, signal: Signal) {
        let group = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process_group(group, signal).expect("the group lives");
    }

    /// Waits for a text in one of the files of the workplace.
    pub fn await_text(&self, file: &str, text: &str) {
        self.await_that(file, |content| content.contains(text));
    }

    /// Waits until a file of the workplace has content.
    pub fn await_file(&self, file: &str) {
        self.await_that(file, |content| !content.is_empty());
    }

    fn await_that(&self, file: &str, wanted: impl Fn(&str) -> bool) {
        let limit = leveret_os::clock::now() + Nanos(WATCHDOG.as_nanos() as i64);
        while !wanted(&self.place.text(file)) {
            let over = poll(&[self.end.as_fd()], Some(LOOK_AGAIN)).expect("polling")[0].any();
            assert!(
                !over || wanted(&self.place.text(file)),
                "leveret ended before {file} was as expected:\n{}",
                self.place.text("stderr")
            );
            assert!(leveret_os::clock::now() < limit, "{file} never was as expected");
        }
    }

    /// Waits for something outside.
    pub fn await_until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let limit = leveret_os::clock::now() + Nanos(WATCHDOG.as_nanos() as i64);
        while !is_so() {
            let over = poll(&[self.end.as_fd()], Some(LOOK_AGAIN)).expect("polling")[0].any();
            assert!(!over, "leveret ended before there was {what}:\n{}", self.place.text("stderr"));
            assert!(leveret_os::clock::now() < limit, "there never was {what}");
        }
    }

    /// Kills the agent, and waits for its end.
    pub fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().expect("leveret can be waited for");
    }

    /// Waits for the end, and reads what was left behind: files, never processes.
    pub fn finish(mut self) -> Outcome {
        if !ends(&self.end) {
            let living = self.place.processes();
            for (_, process) in &living {
                // It may end by itself at this moment.
                let _ = process.signal(Signal::KILL);
            }
            panic!(
                "the run hangs with {} processes; it said:\n{}\n{}",
                living.len(),
                self.place.text("stdout"),
                self.place.text("stderr")
            );
        }
        let status = self.child.wait().expect("leveret can be waited for");
        Outcome::read(self.place, status)
    }

    /// As [`Running::finish`] where no record can be expected: exit code, standard output, standard error.
    pub fn finish_without_record(mut self) -> (Option<i32>, String, String) {
        assert!(ends(&self.end), "the run hangs: {}", self.place.text("stderr"));
        let status = self.child.wait().expect("leveret can be waited for");
        (status.code(), self.place.text("stdout"), self.place.text("stderr"))
    }

    /// As [`Running::finish`], and nobody may be left at that very moment.
    pub fn finish_alone(self) -> Outcome {
        let place = self.place;
        let outcome = self.finish();
        assert_eq!(place.processes().len(), 0, "processes were left behind");
        outcome
    }
}

impl Drop for Running<'_> {
    /// A test that failed leaves no run behind, which would go on beside the tests after it.
    fn drop(&mut self) {
        if std::thread::panicking() {
            for (_, process) in self.place.processes() {
                // It may end by itself at this moment.
                let _ = process.signal(Signal::KILL);
            }
        }
    }
}

/// How a run ended and what it left.
pub struct Outcome {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub record: Option<RunRecord>,
    /// When the machine stood still, if that was watched.
    pub stalls: Vec<Stall>,
}

impl Outcome {
    fn read(place: &Workplace, status: ExitStatus) -> Self {
        let record = fs::read(place.path("out/record.leveret")).ok();
        // A run that did not come to its end leaves what was written while it ran.
        let whole = |bytes: &Vec<u8>| !bytes.starts_with(&journal::MAGIC);
        let decoded = record.filter(whole).map(|bytes| storage::decode(&bytes));
        let record: Option<RunRecord> = decoded.map(|record| record.expect("a whole record"));
        Self {
            code: status.code(),
            signal: status.signal(),
            stdout: place.text("stdout"),
            stderr: place.text("stderr"),
            record,
            stalls: Vec::new(),
        }
    }

    /// With what the witness of this run saw.
    pub fn watched(self, watch: Watch) -> Self {
        Self { stalls: watch.end(), ..self }
    }

    /// Everything that was said, for messages.
    pub fn said(&self) -> String {
        format!("exit {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }

    pub fn record(&self) -> &RunRecord {
        self.record.as_ref().unwrap_or_else(|| panic!("no record: {}", self.said()))
    }

    pub fn assessment(&self) -> Assessment {
        let assessment = verdict::assess(self.record());
        let expected = Some(i32::from(assessment.exit_code()));
        assert_eq!(self.code, expected, "exit code and record disagree: {}", self.said());
        assessment
    }

    /// `report.json` as it would be written of this record.
    pub fn report(&self) -> serde_json::Value {
        json::value(&leveret_report::Report::of(self.record()))
    }

    /// The verdict on one instance of a task or channel.
    pub fn miss(&self, name: &str, instance: u64) -> Miss {
        let misses = self.assessment().misses;
        let found = misses.iter().find(|miss| miss.name == name && miss.instance == instance);
        found.cloned().unwrap_or_else(|| panic!("{name} {instance} kept its window: {}", self.said()))
    }

    /// Those of the instances in which a member says that it did what it was asked to. A machine that stood still at that moment may have
    /// kept it from doing so; one at least it must have done, unless a witness saw it stand still in all of them.
    pub fn done(&self, said: &str, instances: &[u64]) -> Vec<u64> {
        let is_said = |instance: &&u64| {
            self.stderr.lines().any(|line| line.ends_with(&format!("{said} in instance {instance}")))
        };
        let done: Vec<u64> = instances.iter().filter(is_said).copied().collect();
        let none_could = instances.iter().all(|round| self.stood_still_in_round(*round));
        assert!(!done.is_empty() || none_could, "nothing was planted: {}", self.said());
        done
    }

    /// Whether the machine stood still at some time between two instants of the job's clock.
    pub fn stood_still(&self, (from, until): (Nanos, Nanos)) -> bool {
        let epoch = self.record().phases[0].epoch_monotonic;
        self.stalls.iter().any(|(began, ended)| *began < epoch + until && epoch + from < *ended)
    }

    /// Whether it did in a round: more may then have happened to an instance of it than was planted.
    pub fn stood_still_in_round(&self, round: u64) -> bool {
        let length = self.record().phases[0].plan.hyperperiod;
        let begin = length.saturating_mul(round as i64);
        self.stood_still((begin, begin + length))
    }

    /// Those of some rounds in which the machine did not stand still.
    pub fn undisturbed(&self, rounds: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let (disturbed, judged): (Vec<u64>, _) =
            rounds.into_iter().partition(|round| self.stood_still_in_round(*round));
        if !disturbed.is_empty() {
            println!("not judged: the machine stood still in rounds {disturbed:?}");
        }
        judged
    }

    /// No miss is proven to be the job's: what delayed an instance was not of the job.
    pub fn assert_no_miss_of_the_job(&self) {
        let own = self
            .assessment()
            .misses
            .into_iter()
            .find(|miss| miss.party == verdict::Party::Job && !miss.unproven);
        assert!(own.is_none(), "{own:?}: {}", self.said());
    }

    /// It ran as it should, and no miss is proven to be the job's; by the exit code what nothing proves is the job's too.
    pub fn assert_ran(&self) {
        self.assert_no_miss_of_the_job();
        let is_unproven = self.assessment().misses.iter().any(|miss| miss.unproven);
        let is_good = matches!(self.code, Some(0 | 3 | 4)) || self.code == Some(1) && is_unproven;
        assert!(is_good, "{}", self.said());
    }

    /// Nothing was lost, wrong or out of order in what was taken.
    pub fn assert_consistent(&self) {
        for irregularity in self.assessment().irregularities {
            let kind = irregularity.kind.as_str();
            assert!(
                !matches!(kind, "corrupt" | "out-of-order" | "records-lost" | "unaccounted"),
                "{}: {}: {}",
                irregularity.name,
                irregularity.sentence,
                self.said()
            );
        }
        for miss in self.assessment().misses {
            assert!(
                miss.cause != verdict::Cause::CorruptSegment,
                "{} {}: {}",
                miss.name,
                miss.instance,
                self.said()
            );
        }
    }
}

/// The program under test.
pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_leveret"))
}

/// A member program of the tests.
///
/// # Panics
/// When it was not built.
pub fn member(name: &str) -> String {
    let folder = program().parent().expect("a program lies in a folder").join("examples");
    let path = folder.join(name);
    assert!(path.is_file(), "{} is missing; build it: cargo build -p leveret --examples", path.display());
    path.display().to_string()
}
