//! One run with one cause planted: its report, the log of what was really done, and the witness.

use crate::case::{Cause, FROM, PERIOD, Plant, Scheduling};
use crate::harness::{Outcome, Workplace, member};
use crate::job::{Job, core};
use crate::witness::{Trace, Witness};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A line of a planter's log.
#[derive(Clone, Default, Debug)]
pub struct Entry {
    pub kind: String,
    pub from: i64,
    pub to: i64,
    pub pid: u64,
    pub thread: u64,
    /// The thread's name.
    pub name: String,
}

impl Entry {
    fn of(line: &str) -> Option<Self> {
        let mut words = line.splitn(6, ' ');
        let kind = words.next()?.to_owned();
        let mut number = || words.next()?.parse::<i64>().ok();
        let (from, to, pid, thread) = (number()?, number()?, number()?, number()?);
        Some(Self { kind, from, to, pid: pid as u64, thread: thread as u64, name: words.next()?.to_owned() })
    }
}

/// What a run left.
pub struct Ran {
    pub outcome: Outcome,
    pub entries: Vec<Entry>,
    pub trace: Option<Trace>,
    /// The process of `leveret run`.
    pub agent: u32,
}

/// Compiles the program that plants from outside.
pub fn planter(place: &Workplace) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/members/plant.c");
    let target = place.path("plant");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-o"])
        .arg(&target)
        .arg(source)
        .arg("-lpthread")
        .status();
    assert!(compiled.expect("a C compiler").success(), "plant.c does not compile");
    target
}

fn periods(cause: &Cause) -> String {
    cause.shape.at.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// The job: the member that is disturbed, and whom the plants need beside it.
fn job(place: &Workplace, program: &Path, cause: &Cause, scheduling: Scheduling) -> String {
    let log = format!("log={}", place.shown("log"));
    let mut own = vec!["task=V.user".to_owned(), log.clone(), format!("core={}", core(0))];
    for (number, plant) in cause.plants.iter().enumerate() {
        match plant {
            Plant::Body(kind, length) => own.push(format!("fault={kind}:{length}@{}", periods(cause))),
            Plant::Debt(length) => own.push(format!("fault=overrun:{length}@{}", periods(cause))),
            Plant::Sender(..) => own.push("reads=AV".to_owned()),
            Plant::Sibling | Plant::WithoutRights | Plant::Wrapped => {}
            Plant::Outside(..) | Plant::Briefly(_) | Plant::Relative(_) => {
                own.push(format!("tell={}", place.shown(&format!("pipe{number}"))))
            }
        }
    }
    if cause.plants.iter().any(|plant| matches!(plant, Plant::Body("file-lock", _))) {
        own.push(format!("lock={}", place.shown("log")));
    }
    // Who competes as an equal, or may run between two stops, is delayed by others only while it has something to do.
    let without_rights = cause.plants.iter().any(|plant| matches!(plant, Plant::WithoutRights));
    if scheduling == Scheduling::Plain || without_rights {
        own.push(format!("work={}ns", cause.shape.budget / 10 * 9));
    } else if cause.plants.iter().any(|plant| plant.is_storm()) {
        own.push(format!("steps={}ns", cause.shape.budget / 10 * 9));
    }
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let mut job = Job::new(cause.shape.rounds, &format!("scheduling = \"{}\"", scheduling.word()));
    let mut reads = "";
    for plant in cause.plants {
        match plant {
            Plant::Sibling => {
                let fault = format!("fault=overrun:9ms@{}", periods(cause));
                job = job.member("S", core(0), "test-faulty", &["task=S.user", &log, &fault]).task(
                    "S.user",
                    ["1ms", "4ms"],
                    "500us",
                    "",
                );
            }
            Plant::Sender(kind, length) => {
                let fault = format!("fault={kind}:{length}@{}", periods(cause));
                reads = "reads = [\"AV\"]";
                job = job
                    .member("A", core(1), "test-faulty", &["task=A.user", "writes=AV", &log, &fault])
                    .task("A.user", ["0ms", "4ms"], "500us", "writes = [\"AV\"]")
                    .channel("AV", ["4ms", "5ms"], "");
            }
            _ => {}
        }
    }
    let nanos = |length: i64| format!("{length}ns");
    let window = [nanos(cause.shape.window.0), nanos(cause.shape.window.1)];
    if without_rights {
        // The last to be ready has the rights that the other lacks.
        let program = member("test-faulty");
        let lacking = ["--bounding-set=-sys_nice", "--inh-caps=-sys_nice", &program];
        let own: Vec<&str> = lacking.into_iter().chain(own).collect();
        job = job.command("V", core(0), "setpriv", &own);
        job = job.member("W", core(1), "test-faulty", &["task=W.user"]);
        job = job.task("W.user", ["1ms", "4ms"], "500us", "");
    } else if let Some(before) = before(place, program, cause) {
        let script = format!("{before} \"$@\"; exit $?");
        let of_shell = ["-c", &script, "sh", &member("test-faulty")];
        job = job.command("V", core(0), "sh", &[&of_shell, own.as_slice()].concat());
    } else {
        job = job.member("V", core(0), "test-faulty", &own);
    }
    job.task("V.user", [&window[0], &window[1]], &nanos(cause.shape.budget), reads).text()
}

/// What a shell runs before the member that it starts; `None` of a member that is started without one.
fn before(place: &Workplace, program: &Path, cause: &Cause) -> Option<String> {
    let mut is_wrapped = false;
    let mut before = String::new();
    for (number, plant) in cause.plants.iter().enumerate() {
        is_wrapped |= matches!(plant, Plant::Wrapped | Plant::Relative(_));
        if let Plant::Relative(kind) = plant {
            make_pipe(&place.path(&format!("pipe{number}")));
            let command = [program.display().to_string(), (*kind).to_owned()];
            let words =
                [&command[..], &arguments(place, cause, number, (FROM, cause.shape.length), 0)].concat();
            before += &format!("{} > /dev/null & ", words.join(" "));
        }
    }
    is_wrapped.then_some(before)
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("coreutils").success());
}

/// What a planter is told after its kind.
fn arguments(
    place: &Workplace,
    cause: &Cause,
    number: usize,
    (from, length): (i64, i64),
    argument: i32,
) -> Vec<String> {
    vec![
        place.shown(&format!("pipe{number}")),
        place.shown("log"),
        core(0).to_string(),
        PERIOD.to_string(),
        from.to_string(),
        length.to_string(),
        periods(cause),
        argument.to_string(),
    ]
}

/// Starts those who plant from outside; each waits for the epoch.
fn planters(place: &Workplace, program: &Path, cause: &Cause) -> Vec<Child> {
    let outside = cause.plants.iter().enumerate().filter_map(|(number, plant)| {
        let span = if matches!(plant, Plant::Briefly(_)) {
            (7_000_000, 1_000_000)
        } else {
            (FROM, cause.shape.length)
        };
        plant.outside().map(|(kind, argument)| (kind, arguments(place, cause, number, span, argument)))
    });
    outside
        .map(|(kind, arguments)| {
            make_pipe(Path::new(&arguments[0]));
            let mut child = Command::new(program)
                .arg(kind)
                .args(arguments)
                .stdout(Stdio::piped())
                .spawn()
                .expect("it was compiled");
            let mut line = String::new();
            BufReader::new(child.stdout.as_mut().expect("a pipe"))
                .read_line(&mut line)
                .expect("it says that it is ready");
            assert_eq!(line, "ready\n", "{kind}");
            child
        })
        .collect()
}

/// Runs the job while it is disturbed.
pub fn run(program: &Path, cause: &Cause, scheduling: Scheduling) -> Ran {
    let place = Workplace::new();
    std::fs::write(place.path("log"), "").expect("a file");
    let witness = Witness::begin();
    let planters = planters(&place, program, cause);
    let running = place.start(&job(&place, program, cause, scheduling));
    let agent = running.pid();
    let outcome = running.finish();
    for mut planter in planters {
        let ended = planter.wait().expect("a child can be waited for");
        assert!(
            ended.success(),
            "{} under {scheduling:?}: the planter failed: {}",
            cause.name,
            outcome.said()
        );
    }
    let trace = witness.and_then(Witness::end);
    let entries = place.text("log").lines().map(|line| Entry::of(line).expect("a line of the log")).collect();
    Ran { outcome, entries, trace, agent }
}
