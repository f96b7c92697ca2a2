//! A writer and a reader in virtual time, the record of their run, and words to look into it.

use leveret_agent::record_in_process;
use leveret_plan::{CoreChoice, Costs, MissingPolicy, OverrunPolicy, plan};
use leveret_protocol::declaration::{JobDeclaration, MemberDeclaration};
use leveret_report::record::{Ending, InstanceRecord, MachineFacts, MessageRecord, RunRecord};
use leveret_report::verdict::{Assessment, Miss, Subject};
use leveret_runtime::{Declarations, InProcessJob, Input, VirtualClock};
use leveret_types::{ByteSize, Nanos, TaskId};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

pub const PERIOD: Nanos = Nanos::from_millis(10);
pub const BUDGET: Nanos = Nanos::from_micros(500);
/// The writer's window ends here, and the channel's begins.
const WRITER_DEADLINE: Nanos = Nanos::from_millis(2);
const DUE: Nanos = Nanos::from_millis(4);
/// What a body computes.
pub const USUAL: Nanos = Nanos::from_micros(20);
pub const ROUNDS: u64 = 300;
/// The round in which causes are planted.
pub const AT: u64 = 120;
pub const WRITER: TaskId = TaskId(0);
pub const READER: TaskId = TaskId(1);

pub fn us(value: i64) -> Nanos {
    Nanos::from_micros(value)
}

/// What the writer does.
#[derive(Clone, Default)]
pub struct Script {
    /// How long the body computes, by instance, where that is not [`USUAL`].
    pub work: BTreeMap<u64, Nanos>,
    /// Instances in which it sends nothing.
    pub silent: Vec<u64>,
    pub policy: OverrunPolicy,
}

impl Script {
    pub fn works(number: u64, work: Nanos) -> Self {
        Self { work: BTreeMap::from([(number, work)]), ..Self::default() }
    }
}

/// The clock of a task, which exists only after commit.
type LateClock = Arc<OnceLock<Arc<VirtualClock>>>;

fn writer(script: &Script, clock: LateClock) -> Declarations {
    let mut writer = Declarations::new("pair");
    let window = [WRITER_DEADLINE, DUE];
    let source =
        writer.source("data").size(ByteSize(8)).time_driven(PERIOD, window, MissingPolicy::Skip).declare();
    let script = script.clone();
    writer
        .task("writer")
        .period(PERIOD)
        .window(us(0), WRITER_DEADLINE)
        .budget(BUDGET)
        .overrun(script.policy)
        .core(CoreChoice::Pinned(0))
        .writes(source)
        .body(move |instance| {
            let number = instance.instance().0;
            clock
                .get()
                .expect("set after commit")
                .advance(script.work.get(&number).copied().unwrap_or(USUAL));
            if !script.silent.contains(&number) {
                instance.send(source, &number.to_le_bytes()).expect("a planned buffer is free");
            }
        });
    writer
}

fn reader(clock: LateClock) -> Declarations {
    let mut reader = Declarations::new("pair");
    let target = reader.target("data").size(ByteSize(8)).declare();
    reader
        .task("reader")
        .period(PERIOD)
        .window(us(5_000), us(9_000))
        .budget(BUDGET)
        .core(CoreChoice::Pinned(1))
        .reads(target)
        .body(move |instance| {
            clock.get().expect("set after commit").advance(USUAL);
            if let Input::Message(message) = instance.input(target) {
                let mut bytes = [0; 8];
                message.copy_to(&mut bytes).expect("nobody overwrites a taken message");
                assert_eq!(u64::from_le_bytes(bytes), instance.instance().0);
            }
        });
    reader
}

/// The record of a run in which `plant` is called before each instance with its task and number.
pub fn run(script: &Script, mut plant: impl FnMut(TaskId, u64, &VirtualClock)) -> RunRecord {
    let member = |name: &str, core| MemberDeclaration { name: name.to_owned(), core: Some(core) };
    let manifest = JobDeclaration {
        name: "in-process".to_owned(),
        cores: vec![0, 1],
        members: vec![member("W", 0), member("R", 1)],
        ..JobDeclaration::default()
    };
    let clocks: [LateClock; 2] = Default::default();
    let declared = vec![writer(script, clocks[0].clone()), reader(clocks[1].clone())];
    let job = InProcessJob::commit(&manifest, declared, Costs::default(), |job| {
        plan(job).map_err(|refusal| refusal.to_string())
    });
    let mut job = job.unwrap_or_else(|error| panic!("{error}"));
    for (task, clock) in clocks.iter().enumerate() {
        clock.set(job.clock(TaskId(task as u16)).expect("the task")).expect("set once");
    }
    job.run_virtual(ROUNDS, |task, planned, clock| plant(task, (planned.0 / PERIOD.0) as u64, clock));
    let phase = record_in_process(&job, "pair", ROUNDS).expect("our own segments");
    RunRecord {
        job: "in-process".to_owned(),
        started_unix_s: 0,
        machine: MachineFacts {
            scheduling: "SCHED_FIFO".to_owned(),
            switch_log_whole_core: true,
            ..MachineFacts::default()
        },
        phases: vec![phase],
        ending: Ending::Completed,
    }
}

/// A run in which something befalls the writer's instance [`AT`].
pub fn run_planted(script: &Script, plant: impl Fn(&VirtualClock)) -> RunRecord {
    run(script, |task, number, clock| {
        if (task, number) == (WRITER, AT) {
            plant(clock);
        }
    })
}

pub fn instance(record: &RunRecord, task: TaskId, number: u64) -> InstanceRecord {
    let instances = &record.phases[0].tasks[task.index()].instances;
    *instances.iter().find(|instance| instance.instance == number).expect("recorded")
}

pub fn message(record: &RunRecord, number: u64) -> MessageRecord {
    let messages = &record.phases[0].channels[0].messages;
    *messages.iter().find(|message| message.instance == number).expect("recorded")
}

pub fn all(assessment: &Assessment) -> String {
    assessment.misses.iter().map(|miss| format!("{miss:#?}\n")).collect()
}

#[track_caller]
pub fn of_task(assessment: &Assessment, task: TaskId, number: u64) -> &Miss {
    find(assessment, Subject::Task(task.index()), number)
}

#[track_caller]
pub fn of_channel(assessment: &Assessment, number: u64) -> &Miss {
    find(assessment, Subject::Channel(0), number)
}

#[track_caller]
fn find(assessment: &Assessment, subject: Subject, number: u64) -> &Miss {
    let found = assessment.misses.iter().find(|miss| miss.subject == subject && miss.instance == number);
    found.unwrap_or_else(|| panic!("{subject:?} {number} has no miss in:\n{}", all(assessment)))
}

/// Everything is ours: nothing was planted that the machine could do.
#[track_caller]
pub fn never_the_machine(assessment: &Assessment) {
    assert_eq!(assessment.counts.machine, 0, "{}", all(assessment));
    assert_eq!(assessment.exit_code(), u8::from(!assessment.misses.is_empty()));
}
