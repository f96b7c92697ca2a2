//! The record of a run: what was planned, what was stamped, and what else happened on the machine meanwhile.
//!
//! The agent fills it; everything that people see is computed from it alone. All instants are nanoseconds of
//! `CLOCK_MONOTONIC` since the phase's epoch unless said otherwise.

use crate::thinned::{ThinnedInstances, ThinnedMessages};
use leveret_plan::{Job, Plan};
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};

/// Threads of the agent that spin on a core so that it does not sleep are named so, with the core's number. They make no system call.
pub const AWAKE_THREADS: &str = "leveret-awake-";

/// One run of a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the job.
    pub job: String,
    /// Wall-clock start, seconds since 1970.
    pub started_unix_s: i64,
    /// The machine and what it allowed.
    pub machine: MachineFacts,
    /// One per commit, in order.
    pub phases: Vec<Phase>,
    /// How the run ended.
    pub ending: Ending,
}

/// The machine and what it allowed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct MachineFacts {
    /// `uname -r` and `-v`.
    pub kernel: String,
    /// Processor model.
    pub processor: String,
    /// Processors on line.
    pub cores_online: u32,
    /// Scheduling that was obtained: `SCHED_FIFO`, `SCHED_DEADLINE` or `SCHED_OTHER`; `SCHED_FIFO; SCHED_OTHER: V` where member V has another
    /// than most.
    pub scheduling: String,
    /// What was missing, each a sentence with its loss.
    pub warnings: Vec<String>,
    /// Whether `/dev/cpu_dma_latency` was held at 0.
    pub idle_states_held: bool,
    /// Whether idle cores spun instead of sleeping.
    pub kept_awake: bool,
    /// Whether the log of context switches saw the whole core (`true`) or only our threads.
    pub switch_log_whole_core: bool,
}

/// Lateness of a bare `clock_nanosleep` thread, measured beside a phase in a gap of its plan.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AloneProbe {
    /// The core it ran on.
    pub core: u32,
    /// Its period.
    pub period: Nanos,
    /// Its scheduling, such as `SCHED_FIFO 1`.
    pub scheduling: String,
    /// Every lateness, in order, in nanoseconds (saturating at `u32::MAX`).
    pub lateness_ns: Vec<u32>,
}

/// What one commit ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Phase {
    /// The program's label for this commit, such as `4 B`.
    pub label: String,
    /// The model that was admitted.
    pub job: Job,
    /// The plan that was run.
    pub plan: Plan,
    /// The epoch on `CLOCK_MONOTONIC`.
    pub epoch_monotonic: Nanos,
    /// Hyperperiods that were run in full or in part.
    pub rounds: u64,
    /// Per task, in the model's order.
    pub tasks: Vec<TaskRecord>,
    /// Per channel, in the model's order.
    pub channels: Vec<ChannelRecord>,
    /// Context switches on the job's cores around suspicious instants, in order of time.
    pub switches: Vec<SwitchEvent>,
    /// Timer interrupts on the job's cores around suspicious instants, in order of time; empty where they could not be
    /// watched.
    pub timers: Vec<TimerInterrupt>,
    /// Faults, stops, deaths, clock steps, in order of time. What began before the epoch and matters to the phase stands before it.
    pub events: Vec<Event>,
    /// Lateness of a bare `clock_nanosleep` thread meanwhile.
    pub alone: AloneProbe,
}

/// What one task did.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TaskRecord {
    /// The kernel's thread id.
    pub thread: u32,
    /// Static priority that was obtained: `SCHED_FIFO` 1 to 99, 100 for `SCHED_DEADLINE`, 0 for ordinary scheduling
    /// or when unknown.
    pub priority: u8,
    /// Instances before the epoch, of a task that goes on from the phase before: its own are numbered from here on.
    pub before: u64,
    /// Instances that ran or were skipped, in order: all of them, or, in a long run, those of which details are kept.
    pub instances: Vec<InstanceRecord>,
    /// Records overwritten before the agent read them; counted so that no loss is silent.
    pub records_lost: u64,
    /// Things that the member said of this task and that cannot be true: instances and instants that the plan and the clock do not
    /// allow, counts beyond all bounds. They are not recorded.
    pub implausible: u64,
    /// Instances whose details were left out on purpose, so that a run of days stays within its limit.
    pub thinned: ThinnedInstances,
    /// Counts over the data path of this task between epoch and end.
    pub data_path: DataPathCounts,
    /// Budgets that the kernel saw exceeded, by its overrun signal; only with `SCHED_DEADLINE`.
    pub overrun_signals: u64,
    /// Gaps seen while spinning before starts, for the machine's stall rate: `gaps[i]` counts gaps of at least
    /// `GAP_BOUNDS_NS[i]`.
    pub gaps: [u64; GAP_BOUNDS_NS.len()],
    /// Total time spent spinning before starts.
    pub spin_total: Nanos,
}

/// Lower bounds of the counted gaps.
pub const GAP_BOUNDS_NS: [u32; 10] =
    [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000];

/// Counts over the data path of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DataPathCounts {
    /// Heap calls after commit; `None` when the counting allocator is not installed.
    pub allocations: Option<u64>,
    /// Page faults; `None` when they could not be counted.
    pub page_faults: Option<u64>,
    /// Involuntary context switches.
    pub involuntary_switches: Option<u64>,
    /// System calls as the kernel counted them.
    pub system_calls: Option<u64>,
    /// Planned sleeps as the runtime counted them.
    pub planned_sleeps: u64,
}

/// One instance of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct InstanceRecord {
    /// Which.
    pub instance: u64,
    /// Planned start.
    pub planned: Nanos,
    /// End of the window.
    pub deadline: Nanos,
    /// Return from the planned sleep.
    pub woken: Nanos,
    /// First instruction of the body's frame; when skipped, the instant at which that was decided.
    pub started: Nanos,
    /// Last instruction of the body's frame.
    pub ended: Nanos,
    /// Stretch between two clock readings in the spin before the start: the one that delayed the start by a microsecond
    /// or more, or else the longest.
    pub gap: Nanos,
    /// When that stretch began.
    pub gap_at: Nanos,
    /// Times the thread was scheduled in between wake and end (0: it kept the core throughout); `u32::MAX` unknown.
    pub switches: u32,
    /// Page faults between the previous wake and this one's end; `u32::MAX` unknown.
    pub faults: u32,
    /// Processor time of the body when it differs from `ended - started`; 0 when it does not.
    pub cpu: Nanos,
    /// What happened.
    pub outcome: Outcome,
}

/// What became of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Ran.
    #[default]
    Ran,
    /// Skipped: its window had passed, or less than its budget was left, when it could have started (TURTLE's
    /// critical start time: planned latest end minus budget).
    SkippedCritical,
    /// Skipped because the instance before it overran.
    SkippedOverrun,
    /// Ran although it was known to be late (policy `late`).
    RanLate,
}

/// What one channel did.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ChannelRecord {
    /// Instances before the epoch, of a time-driven channel that goes on from the phase before: its own are numbered from here on.
    pub before: u64,
    /// Messages in order: all of them, or, in a long run, those of which details are kept.
    pub messages: Vec<MessageRecord>,
    /// Records overwritten before the agent read them.
    pub records_lost: u64,
    /// Things that its ends said and that cannot be true. They are not recorded.
    pub implausible: Implausible,
    /// Messages whose details were left out on purpose, so that a run of days stays within its limit.
    pub thinned: ThinnedMessages,
    /// Messages whose content the application reported as wrong.
    pub corrupt: u64,
    /// Messages that the receiver found out of order.
    pub out_of_order: u64,
    /// Messages sent, by the sender's own count; `None` when its segment could not be read. Of a best-effort channel
    /// or priority- or event-driven channel only the first message and every 64th after it is recorded above.
    pub sent: Option<u64>,
    /// Messages taken, by the receiver's own count.
    pub taken: Option<u64>,
    /// Attempts to send that found no free buffer, by the sender's own count: who tries again counts again.
    pub refused: Option<u64>,
}

/// How often each end of a channel said what cannot be true.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Implausible {
    /// The sender.
    pub source: u64,
    /// The receiver.
    pub target: u64,
}

/// One message, seen from both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MessageRecord {
    /// Which.
    pub instance: u64,
    /// When the sender inserted it; `None` if it never did.
    pub inserted: Option<Nanos>,
    /// When it had to be visible (time-driven) or became so (best effort).
    pub due: Nanos,
    /// When the receiver took it.
    pub taken: Option<Nanos>,
    /// Bytes.
    pub size: u32,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Arrived in time and was taken.
    #[default]
    Taken,
    /// Arrived in time; nobody took it (reader skipped, over-sampled or ended).
    Untaken,
    /// Inserted after it was due.
    Late,
    /// Never inserted.
    Missing,
    /// Not inserted for want of a free buffer.
    NoBuffer,
    /// The peer's segment held nonsense.
    Invalid,
    /// Arrived in time; the receiver's program had no buffer for it.
    NoRoom,
    /// Its bytes were changed after it was sent.
    Corrupt,
    /// Refused, since it had more bytes than the channel carries; its size says how many.
    TooLong,
}

/// A change of the running thread on a core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SwitchEvent {
    /// When.
    pub at: Nanos,
    /// Which core; `u32::MAX` when only our threads could be watched.
    pub core: u32,
    /// Thread that left; 0 is the idle task.
    pub from: u32,
    /// Thread that came; 0 is the idle task.
    pub to: u32,
    /// In what state `from` left.
    pub left: Left,
    /// What is known of `to`.
    pub to_kind: ThreadKind,
    /// The process of `to`, when known.
    pub to_process: Option<u32>,
    /// Name of `to`, when known.
    pub to_name: String,
}

/// In what state a thread left its core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Left {
    /// It wanted to go on.
    Runnable,
    /// It waits for something; a signal would wake it.
    Asleep,
    /// It waits for something, and no signal wakes it: for the kernel's own work, or frozen.
    Uninterruptible,
    /// A signal stopped it.
    Stopped,
    /// A debugger stopped it.
    Traced,
    /// It ended.
    Ended,
    /// It did not want to go on, as far as the log says.
    #[default]
    Unknown,
}

/// A timer expired on a core: at that instant the core did not stand still.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TimerInterrupt {
    /// When.
    pub at: Nanos,
    /// Which core.
    pub core: u32,
}

/// What a thread is, for the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ThreadKind {
    /// The idle task.
    Idle,
    /// A thread of the kernel itself (interrupt threads, workers, stop machine).
    Kernel,
    /// A task of this job, by its index.
    Task(u16),
    /// Any other thread, with its policy and static priority (0 for ordinary scheduling).
    Foreign {
        /// `SCHED_FIFO`/`SCHED_RR` priority, 0 for ordinary scheduling, 100 for `SCHED_DEADLINE`.
        priority: u8,
    },
    /// Gone before it could be asked.
    Unknown,
    /// A thread of this job, or of its agent, that is no task of the plan.
    Own {
        /// As of [`ThreadKind::Foreign`].
        priority: u8,
    },
}

/// Something that happened beside the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: Nanos,
    /// What.
    pub kind: EventKind,
}

/// Kinds of events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum EventKind {
    /// A page fault in a task's thread, at this address.
    PageFault {
        /// Task index.
        task: u16,
        /// Faulting address.
        address: u64,
    },
    /// A member was stopped (SIGSTOP).
    MemberStopped {
        /// Rank.
        member: u16,
    },
    /// A stopped member went on.
    MemberContinued {
        /// Rank.
        member: u16,
    },
    /// A member ended unexpectedly.
    MemberDied {
        /// Rank.
        member: u16,
        /// `exit status 1`, `signal 9 (SIGKILL)`.
        how: String,
    },
    /// A member was started again and took part in a new commit.
    MemberRestarted {
        /// Rank.
        member: u16,
    },
    /// The clock moved by this much without time passing, as a task found. Each finds it itself: of another one's instances nothing follows.
    ClockStepped {
        /// Which.
        task: u16,
        /// Forward positive.
        by: Nanos,
    },
    /// A task instance used more than its budget, and the next was skipped for it (overrun policy `skip`).
    Overrun {
        /// Task index.
        task: u16,
        /// Which instance.
        instance: u64,
    },
    /// Nobody read the kernel's log between `since` and this event, for long or for so long that records were dropped;
    /// threads that ended meanwhile could not be asked who they were.
    EvidenceLost {
        /// When it had been read last.
        since: Nanos,
        /// How many records were dropped.
        records: u64,
    },
    /// A task's thread was found scheduled otherwise than before, by nobody of the runtime.
    SchedulingChanged {
        /// Task index.
        task: u16,
        /// When it had last been found as before.
        since: Nanos,
        /// How it is scheduled now, such as `SCHED_OTHER on core 1`.
        now: String,
        /// How it was scheduled when the run began.
        set: String,
    },
    /// Something has written over the count of an event's firings in a member's memory: its firings are not delivered while it is so.
    CountDamaged {
        /// Rank.
        member: u16,
        /// The event.
        event: String,
    },
    /// A signal that stops was sent to a member.
    StopSent {
        /// Rank.
        member: u16,
        /// Which signal.
        signal: u8,
        /// By whom.
        by: Actor,
    },
    /// A task's thread stopped, and a debugger was notified of it.
    Trapped {
        /// Task index.
        task: u16,
        /// The debugger.
        by: Actor,
    },
    /// A control group that a member is in was frozen.
    Frozen {
        /// Rank.
        member: u16,
        /// Path of the group.
        group: String,
        /// By whom.
        by: Actor,
    },
    /// It was let go on, or the member was put into another group.
    Thawed {
        /// Rank.
        member: u16,
        /// Path of the group.
        group: String,
    },
    /// The quota of a control group of a task's thread was used up between `since` and this event, and the kernel kept its threads from running.
    QuotaUsedUp {
        /// Task index.
        task: u16,
        /// Folder of the group.
        group: String,
        /// Not before this: the kernel counts it once it is over, and it may have begun this long before the last look.
        since: Nanos,
        /// For how long its threads were kept from running, summed up over cores.
        length: Nanos,
    },
    /// A task's thread, which had no core, was put on the queue of one.
    Woken {
        /// Task index.
        task: u16,
        /// Which core.
        core: u32,
        /// The thread whose call did it; none if an interrupt did, as at the end of a sleep, or when a thread asks another core to do it.
        by: Option<u32>,
    },
    /// A task's thread was found in a control group that may do so much real-time work only.
    RealTimeQuota {
        /// Task index.
        task: u16,
        /// Folder of the group.
        group: String,
        /// How much.
        quota: Nanos,
        /// In which time.
        period: Nanos,
    },
    /// Between `since` and this event the kernel's log had more records than are remembered until a late thread leaves its stamp.
    EvidenceForgotten {
        /// From when on somebody wanted to know.
        since: Nanos,
    },
    /// A member was put into a control group that was frozen.
    PutIntoFrozen {
        /// Rank.
        member: u16,
        /// Path of the group.
        group: String,
        /// By whom.
        by: Actor,
    },
    /// A member ended while the run was being ended for something else: its waits came back, most likely, and its program took that for an
    /// error. It is no failure of its own.
    MemberEnded {
        /// Rank.
        member: u16,
        /// As of [`EventKind::MemberDied`].
        how: String,
    },
    /// The body of an instance began, and had not ended when nothing was recorded any more.
    NeverEnded {
        /// Task index in the plan.
        task: u16,
        /// Its number.
        instance: u64,
    },
    /// A member's program, or a policy of its tasks and channels, has asked for the end of the run: its tasks began no further instance.
    StopAsked {
        /// Rank.
        member: u16,
        /// Since when, as it says.
        since: Nanos,
        /// Why.
        why: String,
    },
    /// Runs of a handler, or of a task that an event starts, have failed.
    RunsFailed {
        /// Rank.
        member: u16,
        /// What, as the member says it.
        what: String,
        /// So many until then.
        times: u64,
    },
    /// A member has failed: its tasks began no further instance, and its process was about to end.
    GaveUp {
        /// Rank.
        member: u16,
        /// Since when, as it says.
        since: Nanos,
        /// Why.
        why: String,
    },
}

/// A thread that did something to a member.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Actor {
    /// Its process.
    pub process: u32,
    /// The thread.
    pub thread: u32,
    /// Its name; empty when it had ended before it could be asked.
    pub name: String,
    /// Whether it is of this job; `None` when it had ended before it could be asked.
    pub is_own: Option<bool>,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Ending {
    /// Every phase ran to its end.
    #[default]
    Completed,
    /// Ctrl-C or SIGTERM; the record is whole up to that instant.
    Interrupted,
    /// The job's policy ended it, for this reason.
    Stopped(String),
    /// A member has ended it.
    Aborted {
        /// The member's name.
        member: String,
        /// What the job ends with.
        code: u8,
        /// Why, in the member's words.
        message: String,
    },
    /// Every round was run; Ctrl-C or SIGTERM came after that.
    InterruptedAfter,
    /// The run had come to its end; a member failed after that, for this reason: not to stop is one.
    FailedAfter(String),
}

impl Ending {
    /// Whether the run came to its end.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Completed | Self::InterruptedAfter | Self::FailedAfter(_))
    }

    /// The same end of a run whose rounds had all been run when it came.
    #[must_use]
    pub fn after_all_rounds(self) -> Self {
        match self {
            Self::Interrupted => Self::InterruptedAfter,
            Self::Stopped(reason) => Self::FailedAfter(reason),
            other => other,
        }
    }

    /// Why the run did not go on, where somebody has decided that.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Completed | Self::Interrupted | Self::InterruptedAfter => None,
            Self::Stopped(reason) | Self::FailedAfter(reason) => Some(reason.clone()),
            Self::Aborted { member, code, message } => {
                let why = if message.is_empty() { String::new() } else { format!(": {message}") };
                Some(format!("member \"{member}\" aborted the job with code {code}{why}"))
            }
        }
    }

    /// What the member that ended the run wants `leveret run` to exit with.
    pub fn code(&self) -> Option<u8> {
        if let Self::Aborted { code, .. } = self { Some(*code) } else { None }
    }
}
