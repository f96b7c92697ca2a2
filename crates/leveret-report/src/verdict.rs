//! Whose miss is it? Every instance that did not keep its window gets a stage, a cause, a party and evidence.
//!
//! Three parties. *The machine*: evidence shows that hardware, hypervisor or the kernel's own work had the core that this
//! thread wanted. *Another process*: evidence shows which one had the core, or kept the thread from
//! running. *The job*: everything else, and everything that is not proven, which is marked so. The delay of an
//! instance is cut into shares (waking, starting, executing), each share is attributed by what ran on the core
//! meanwhile, and the party of the miss follows:
//!
//! 1. late also without the others' shares: the job's;
//! 2. otherwise, late also without the job's shares: the others', and of them the process's if it is late also without
//!    the machine's shares;
//! 3. otherwise both were needed: the larger sum; a tie goes to the job, then to the process.
//!
//! A miss that follows from another (a message whose sender was late, a task that waited for another) takes the
//! party of its root, and names it.

mod episodes;
mod hold;
mod irregular;
mod message;
mod occupancy;
mod party;
mod stall;
mod task;
mod timeline;

pub use irregular::{Irregularity, irregularities};
pub(crate) use irregular::{MEMBER_DIED, RECORDS_LOST, UNACCOUNTED};
pub(crate) use occupancy::CoreLog;
pub use party::{Blame, Counts, Culprit, Party};
pub(crate) use timeline::describe;

use crate::lookup::Index;
use crate::record::{Phase, RunRecord};
use hold::LeftOff;
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};
use stall::Stalls;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

/// The stage that ate the time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// From the end of the planned sleep to the return from it.
    Wake,
    /// From the return to the first instruction of the body.
    Start,
    /// The body.
    Execution,
    /// Putting the message into the channel.
    Insertion,
    /// Between insertion and the receiver.
    Arrival,
    /// Taking it out and giving the buffer back.
    Taking,
}

/// Why the time was lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The timer's interrupt came late, or the core took long to leave its idle state.
    LateTimer,
    /// An interrupt, a kernel thread or a section of the kernel that cannot be interrupted held the core.
    KernelSection,
    /// The core stood still while we were spinning on it.
    StallInSpin,
    /// The core stood still while we were executing on it.
    StallInExecution,
    /// Another thread ran although we were ready.
    RunQueueWait,
    /// The kernel had to find or read a page.
    PageFault,
    /// The body needed more than its budget.
    Overrun,
    /// The instance before had not ended.
    PreviousInstance,
    /// The body slept in a system call or on a lock.
    Blocked,
    /// A budget, a quota or the kernel's limit on real-time work was used up, and the kernel let the thread wait.
    Throttled,
    /// The member was stopped by a signal.
    StoppedMember,
    /// A debugger or tracer held the thread.
    Traced,
    /// The thread's control group was frozen.
    Frozen,
    /// The clock moved without time passing.
    ClockStep,
    /// The other end of the channel was late.
    LatePeer,
    /// The other end of the channel died.
    PeerDied,
    /// The task's own member died in it.
    MemberDied,
    /// The other end's segment held nonsense.
    CorruptSegment,
    /// The message was changed after it was sent.
    CorruptPayload,
    /// The sender's task ran but inserted nothing.
    NotInserted,
    /// The message had more bytes than its channel carries.
    TooLong,
    /// The receiver's program had no buffer for the message.
    NoRoom,
    /// The plan left too little room, or the runtime did not follow it.
    PlanOrRuntime,
    /// Somebody gave the thread another policy, priority or core than the runtime had set.
    SchedulingChanged,
    /// The kernel's log has a hole there: nobody read it in time.
    EvidenceLost,
    /// Nothing recorded explains it.
    Unexplained,
}

/// Lowest-level names, as in JSON.
macro_rules! words {
    ($type:ty { $($variant:ident => $word:literal, $phrase:literal;)* }) => {
        impl $type {
            /// The word in machine formats.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
            /// The phrase that people read.
            pub const fn phrase(self) -> &'static str {
                match self { $(Self::$variant => $phrase,)* }
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.pad(self.phrase())
            }
        }
    };
}

words!(Stage {
    Wake => "wake", "wake";
    Start => "start", "start";
    Execution => "execution", "execution";
    Insertion => "insertion", "insertion";
    Arrival => "arrival", "arrival";
    Taking => "taking", "taking";
});
words!(Cause {
    LateTimer => "late-timer", "late timer";
    KernelSection => "kernel-section", "interrupt or kernel section";
    StallInSpin => "stall-in-spin", "stall of the core while spinning";
    StallInExecution => "stall-in-execution", "stall of the core during execution";
    RunQueueWait => "run-queue-wait", "run-queue wait";
    PageFault => "page-fault", "page fault";
    Overrun => "overrun", "overrun";
    PreviousInstance => "previous-instance", "instance before not ended";
    Blocked => "blocked", "blocked in the body";
    Throttled => "throttled", "throttled by the kernel";
    StoppedMember => "stopped-member", "stopped member";
    Traced => "traced", "held by a debugger";
    Frozen => "frozen", "frozen";
    ClockStep => "clock-step", "clock step";
    LatePeer => "late-peer", "late peer";
    PeerDied => "peer-died", "peer died";
    MemberDied => "member-died", "member died in it";
    CorruptSegment => "corrupt-segment", "corrupt segment";
    CorruptPayload => "corrupt-payload", "message changed after it was sent";
    NotInserted => "not-inserted", "sender inserted nothing";
    TooLong => "too-long", "message longer than its channel carries";
    NoRoom => "no-room", "receiver had no empty buffer";
    PlanOrRuntime => "plan-or-runtime", "plan or runtime error";
    SchedulingChanged => "scheduling-changed", "scheduling was changed from outside";
    EvidenceLost => "evidence-lost", "evidence lost";
    Unexplained => "unexplained", "unexplained";
});

/// What missed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A task, by its index.
    Task(usize),
    /// A channel, by its index.
    Channel(usize),
}

/// The instance from which a miss follows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Root {
    /// The task.
    pub task: usize,
    /// Its name.
    pub name: String,
    /// Its instance.
    pub instance: u64,
    /// What happened to it.
    pub cause: Cause,
    /// Whose that is.
    pub blame: Blame,
}

/// An instant of a timeline.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// When, from the epoch.
    pub at: Nanos,
    /// What.
    pub what: String,
}

/// An instance that did not keep its window.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Miss {
    /// Index of the phase.
    pub phase: usize,
    /// Task or channel.
    pub subject: Subject,
    /// Its name.
    pub name: String,
    /// Which instance.
    pub instance: u64,
    /// When it should have been done.
    pub deadline: Nanos,
    /// How late it was; `None` when it never happened (skipped, missing, invalid).
    pub late_by: Option<Nanos>,
    /// The stage that ate the time.
    pub stage: Stage,
    /// Why.
    pub cause: Cause,
    /// Whose it is.
    pub party: Party,
    /// Nothing proves whose it is, so it counts as the job's.
    pub unproven: bool,
    /// The thread that did it, where one did.
    pub culprit: Option<Culprit>,
    /// The instance from which this miss follows, when it is a consequence.
    pub root: Option<Root>,
    /// Sentences with numbers, the decisive one first.
    pub evidence: Vec<String>,
    /// What happened when.
    pub timeline: Vec<Mark>,
}

/// Everything that is judged of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Assessment {
    /// Every miss, by phase, then by deadline.
    pub misses: Vec<Miss>,
    /// Everything lost, corrupt, out of order, dead or unaccounted for.
    pub irregularities: Vec<Irregularity>,
    /// How many misses are whose.
    pub counts: Counts,
    /// The exit code that a member gave when it aborted the job.
    pub abort_code: Option<u8>,
}

impl Assessment {
    /// What a member gave that aborted the job; else 0: no miss; 1: any of the job's, or anything lost, corrupt or out of order; 3: only the machine's; 4: other
    /// processes', and perhaps the machine's.
    pub fn exit_code(&self) -> u8 {
        if let Some(code) = self.abort_code {
            return code;
        }
        match (self.counts.job, self.counts.process, self.counts.machine) {
            (0, _, _) if !self.irregularities.is_empty() => 1,
            (0, 0, 0) => 0,
            (0, 0, _) => 3,
            (0, _, _) => 4,
            _ => 1,
        }
    }
}

/// The instance from which another's delay follows, or that one itself, and what happened to it; `None` when it kept its plan.
type Decided = Option<Root>;

/// A phase with all that the rules look at.
pub(crate) struct Context<'a> {
    pub index: Index<'a>,
    pub log: CoreLog<'a>,
    pub stalls: Stalls<'a>,
    pub phase_number: usize,
    /// Whether the agent had a thread on each idle core that kept it awake.
    pub keeps_awake: bool,
    /// By member.
    pub left_off: HashMap<u16, LeftOff>,
    record: &'a RunRecord,
    /// How many phases after this one it is asked for.
    ahead: u32,
    decided: RefCell<HashMap<(usize, usize), Decided>>,
    last_before: RefCell<HashMap<usize, Option<LastBefore>>>,
}

/// The last instance that a task had in the phase before.
#[derive(Clone)]
struct LastBefore {
    instance: u64,
    /// In the time of the phase that goes on with the task.
    ended: Nanos,
    decided: Decided,
}

/// How many phases are looked back at for what delayed a task that goes on through them.
const PHASES_BACK: u32 = 8;

impl<'a> Context<'a> {
    pub fn new(record: &'a RunRecord, phase_number: usize, phase: &'a Phase) -> Self {
        Self {
            index: Index::new(phase),
            log: CoreLog::new(phase, record.machine.switch_log_whole_core),
            stalls: Stalls::new(record, phase),
            phase_number,
            keeps_awake: record.machine.kept_awake,
            left_off: (0..phase.job.members.len() as u16)
                .filter_map(|member| Some((member, hold::left_off(phase, member)?)))
                .collect(),
            record,
            ahead: 0,
            decided: RefCell::default(),
            last_before: RefCell::default(),
        }
    }

    /// What was decided of an instance's delay before; the outer `None` when nothing was.
    fn recall(&self, task: usize, place: usize) -> Option<Decided> {
        self.decided.borrow().get(&(task, place)).cloned()
    }

    /// Keeps a decision, so that chains are followed once only.
    fn remember(&self, task: usize, place: usize, decided: Decided) {
        self.decided.borrow_mut().insert((task, place), decided);
    }

    /// The last instance, in the phase before, of a task that goes on from it: no other begins before that one has ended.
    fn last_before(&self, task: usize) -> Option<LastBefore> {
        if let Some(known) = self.last_before.borrow().get(&task) {
            return known.clone();
        }
        let found = self.find_last_before(task);
        self.last_before.borrow_mut().insert(task, found.clone());
        found
    }

    fn find_last_before(&self, task: usize) -> Option<LastBefore> {
        let kept = self.phase().tasks.get(task).filter(|task| task.before > 0)?;
        let number = self.phase_number.checked_sub(1).filter(|_| self.ahead < PHASES_BACK)?;
        let phase = self.record.phases.get(number)?;
        let name = self.index.task_name(task);
        let of_it = phase.job.tasks.iter().position(|task| task.name == name)?;
        let instances = &phase.tasks.get(of_it)?.instances;
        let last = instances.last().filter(|last| last.instance.checked_add(1) == Some(kept.before))?;
        let context = Self { ahead: self.ahead + 1, ..Self::new(self.record, number, phase) };
        let decided = task::decide_instance(&context, of_it, instances.len() - 1, 0);
        // Tasks have other numbers here.
        let here =
            |name: &str| (0..self.phase().tasks.len()).find(|task| self.index.task_name(*task) == name);
        let decided = decided.map(|root| Root { task: here(&root.name).unwrap_or(task), ..root });
        let ended = last.ended + phase.epoch_monotonic - self.phase().epoch_monotonic;
        Some(LastBefore { instance: last.instance, ended, decided })
    }

    /// The phase itself.
    pub fn phase(&self) -> &'a Phase {
        self.index.phase
    }
}

/// Judges a run: misses, irregularities and their counts.
pub fn assess(record: &RunRecord) -> Assessment {
    let misses = verdicts(record);
    let mut counts = Counts::of(&misses);
    let thinned = |phase: &Phase| {
        let tasks = phase.tasks.iter().map(|task| task.thinned.missed);
        let channels = phase.channels.iter().map(|channel| channel.thinned.missed);
        tasks.chain(channels).fold(0, u64::saturating_add)
    };
    // Of these only the number is kept, so that nothing is proven.
    let beyond = record.phases.iter().map(thinned).fold(0, u64::saturating_add);
    counts.job = counts.job.saturating_add(beyond);
    counts.unproven = counts.unproven.saturating_add(beyond);
    counts.job_roots = counts.job_roots.saturating_add(beyond);
    Assessment { misses, irregularities: irregularities(record), counts, abort_code: record.ending.code() }
}

/// Every miss of a run, by phase, then by deadline. Pure: the same record gives the same verdicts.
pub fn verdicts(record: &RunRecord) -> Vec<Miss> {
    let mut all = Vec::new();
    for (number, phase) in record.phases.iter().enumerate() {
        let context = Context::new(record, number, phase);
        let mut misses = task::misses(&context);
        misses.extend(message::misses(&context));
        misses.sort_by_key(|miss| (miss.deadline, miss.subject, miss.instance));
        episodes::join(&context, &mut misses);
        all.append(&mut misses);
    }
    all
}

/// See [`Assessment::exit_code`].
pub fn exit_code(record: &RunRecord) -> u8 {
    assess(record).exit_code()
}

/// What delayed any instance of a task, missed or not: evidence, the largest share first; empty when it kept its plan.
pub fn explain(record: &RunRecord, phase: usize, task: usize, instance: u64) -> Vec<String> {
    let Some(content) = record.phases.get(phase) else { return Vec::new() };
    let context = Context::new(record, phase, content);
    let Some((place, _)) = context.index.instance(task, instance) else { return Vec::new() };
    let shares = task::shares(&context, task, place, 0);
    if shares.is_empty() { Vec::new() } else { task::decide(shares, None).evidence }
}

/// The timeline of any instance, missed or not; empty when it was not recorded.
pub fn timeline(record: &RunRecord, phase: usize, subject: Subject, instance: u64) -> Vec<Mark> {
    let Some(content) = record.phases.get(phase) else { return Vec::new() };
    let context = Context::new(record, phase, content);
    match subject {
        Subject::Task(task) => {
            context.index.instance(task, instance).map(|(place, _)| timeline::of_task(&context, task, place))
        }
        Subject::Channel(channel) => context
            .index
            .message(channel, instance)
            .map(|message| timeline::of_message(&context, channel, message)),
    }
    .unwrap_or_default()
}

/// Whether the machine demonstrably stalled in the body of an instance: its excess is longer than everyday
/// interrupts, the spins on the core saw stalls of that length, and the statistics of [`stall`] allow it. Stricter than
/// a verdict, since a budget must not be learnt too small.
pub(crate) fn stalled_in_body(
    context: &Context<'_>,
    task: usize,
    instance: &crate::record::InstanceRecord,
) -> bool {
    const EVERYDAY: Nanos = Nanos::from_micros(10);
    let body = if instance.cpu > Nanos::ZERO { instance.cpu } else { instance.ended - instance.started };
    if instance.faults != 0 && instance.faults != u32::MAX {
        return false;
    }
    let core = context.index.core(task).unwrap_or(u32::MAX);
    let beyond = context.stalls.beyond(task, body);
    beyond >= EVERYDAY
        && context.stalls.seen(core, beyond)
        && context.stalls.judge(task, core, body, context.index.budget(task)).spins
}
