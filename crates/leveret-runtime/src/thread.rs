//! A task's thread: everything that may block, fault or allocate happens before it waits for the epoch.

use crate::mailbox::{Receiver, Sender, mailbox};
use crate::meter::Meter;
use crate::runner::{Step, TaskRunner};
use crate::watch::StopWish;
use leveret_memory::TaskCounter;
use leveret_os::perf::SystemCallCounter;
use leveret_os::scheduling::{self, Class};
use leveret_os::thread::Thread;
use leveret_os::{Failure, allocator, clock, overrun, usage};
use leveret_plan::{Job, OverrunPolicy, Plan, Task};
use leveret_protocol::control::Scheduling;
use leveret_types::{Nanos, TaskId};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Stack that is touched before the epoch, so that no body faults on it.
const STACK_PREFAULT_BYTES: usize = 256 * 1024;
/// `SCHED_FIFO` priority of the least urgent work beside the time table, and of the table's lowest order where there is none; below
/// it run the agent and the bare-clock probe.
const FIFO_PRIORITY_LOWEST: u8 = 10;
/// Kept free above for the kernel's own threads.
const FIFO_PRIORITY_HIGHEST: u8 = 90;

/// How one task's thread is to be scheduled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadPlan {
    pub(crate) task: TaskId,
    pub(crate) core: u32,
    class: Class,
    /// It is set up beside a run from which it must take nothing: on any core, at `SCHED_OTHER`, until it is raised.
    aside: bool,
}

impl ThreadPlan {
    pub(crate) fn new(job: &Job, plan: &Plan, task: TaskId, scheduling: Scheduling) -> Self {
        let planned = &plan.tasks[task.index()];
        let declared = &job.tasks[task.index()];
        let class = match scheduling {
            Scheduling::Fifo => {
                let order = u8::try_from(planned.order).unwrap_or(u8::MAX);
                let lowest = FIFO_PRIORITY_LOWEST.saturating_add(levels(plan));
                Class::Fifo { priority: lowest.saturating_add(order).min(FIFO_PRIORITY_HIGHEST) }
            }
            Scheduling::Deadline => {
                // The server must cover the guard spin too.
                let runtime = plan.costs.guard + declared.budget + plan.costs.switch;
                Class::Deadline {
                    runtime,
                    deadline: server_deadline(declared, planned.order, plan.costs.guard).max(runtime),
                    period: declared.period,
                    // A task that may run on after its budget is TURTLE's greedy task: it takes what others leave.
                    reclaim: declared.overrun == OverrunPolicy::Late,
                    overrun_signal: true,
                }
            }
            Scheduling::Plain => Class::Other,
        };
        Self { task, core: planned.core, class, aside: false }
    }

    /// As it is, but set up beside a run; see [`ThreadPlan::raise`].
    pub(crate) fn aside(self) -> Self {
        Self { aside: true, ..self }
    }

    /// Whether the thread may have its core and its class: tried while it waits, and taken back.
    pub(crate) fn try_to_raise(&self, thread: u32, report: &mut ThreadReady) {
        match scheduling::apply_to(thread, self.class) {
            Ok(()) => report.scheduling = class_name(self.class),
            Err(error) => report.warnings.push(error.to_string()),
        }
        // What an ordinary user may always do.
        let _ = scheduling::apply_to(thread, Class::Other);
    }

    /// Gives a thread that was set up aside, and now sleeps until its first instance, its core and its class.
    pub(crate) fn raise(&self, thread: u32) {
        if !matches!(self.class, Class::Deadline { .. }) {
            // A core that is refused here was refused to what ran before, and told for it; the class was tried at commit.
            let _ = scheduling::pin_to(thread, self.core);
        }
        let _ = scheduling::apply_to(thread, self.class);
    }
}

/// How many priorities there are beside the time table.
fn levels(plan: &Plan) -> u8 {
    let highest = plan.sporadics.iter().map(|planned| planned.level).max();
    highest.map_or(0, |highest| u8::try_from(highest.saturating_add(1)).unwrap_or(u8::MAX))
}

/// How a thread is scheduled that serves a level of priority beside the time table.
pub(crate) fn class_of_level(level: u16) -> Class {
    let level = u8::try_from(level).unwrap_or(u8::MAX);
    Class::Fifo { priority: FIFO_PRIORITY_LOWEST.saturating_add(level).min(FIFO_PRIORITY_HIGHEST) }
}

/// The relative deadline of a task's server, seen from the wake-up.
///
/// It is the whole period: a server whose deadline is shorter makes a thread that wakes before the server's next
/// period wait for it, and that period begins where the last wake-up did. One wake-up that the machine made
/// late would so make every later one as late. A task that interrupts others needs the deadline of its window to
/// come before them.
fn server_deadline(declared: &Task, order: u16, guard: Nanos) -> Nanos {
    let window = guard + (declared.deadline - declared.release);
    if order == 0 { declared.period } else { window.min(declared.period) }
}

/// What a thread reports once it is set up.
#[derive(Debug)]
pub(crate) struct ThreadReady {
    pub(crate) task: TaskId,
    pub(crate) thread: u32,
    pub(crate) scheduling: &'static str,
    pub(crate) warnings: Vec<String>,
}

/// Called on a task's thread with the text of the panic that ended its body.
pub(crate) type OnPanic = Arc<dyn Fn(&str, StopWish) + Send + Sync>;

/// A task's thread, waiting for the epoch or running.
pub(crate) struct TaskThread {
    arm: Sender<Armed>,
    handle: Thread<()>,
}

/// The epoch, and whom to tell that it is known.
struct Armed {
    epoch: Nanos,
    known: Option<Sender<()>>,
}

impl TaskThread {
    /// Starts the thread; it reports on `ready` and then waits for [`TaskThread::arm`].
    pub(crate) fn start(
        runner: TaskRunner,
        plan: ThreadPlan,
        name: &str,
        ready: Sender<ThreadReady>,
        on_panic: OnPanic,
    ) -> Result<Self, Failure> {
        let (arm, armed) = mailbox(1);
        let lost = on_panic.clone();
        let notice = runner.notice(move |reason, wish| lost(reason, wish));
        let handle = Thread::start(name, move || {
            let _posted = notice.post();
            body(runner, plan, ready, &armed, &on_panic);
        })?;
        Ok(Self { arm, handle })
    }

    /// Gives the epoch. A thread that is gone is noticed at [`TaskThread::join`].
    pub(crate) fn arm(&self, epoch: Nanos) {
        let _ = self.arm.send(Armed { epoch, known: None });
    }

    /// As [`TaskThread::arm`]; the thread says on `known` that it is about to sleep until its first instance.
    pub(crate) fn arm_and_tell(&self, epoch: Nanos, known: Sender<()>) {
        let _ = self.arm.send(Armed { epoch, known: Some(known) });
    }

    /// Whether the thread has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// Waits for the end; an error is the text of a panic in the task's body.
    pub(crate) fn join(self) -> Result<(), String> {
        let Self { arm, handle } = self;
        drop(arm);
        handle.join().map_err(|panic| text_of(&*panic).to_owned())
    }
}

/// What a panic said.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a text")
}

fn body(
    mut runner: TaskRunner,
    plan: ThreadPlan,
    ready: Sender<ThreadReady>,
    armed: &Receiver<Armed>,
    on_panic: &OnPanic,
) {
    let (report, mut meter) = set_up(plan);
    let thread = report.thread;
    let calls = SystemCallCounter::open_thread(thread).ok();
    runner.set_counter(TaskCounter::Thread, u64::from(thread));
    let _ = ready.send(report);
    // Whoever waits for all reports sees that there is no more from here.
    drop(ready);
    let Some(Armed { epoch, known }) = armed.receive() else { return };
    runner.arm(epoch);
    touch_the_clock();
    if let Some(known) = known {
        let _ = known.send(());
    }
    let before = Baseline::opening(calls.as_ref());
    let ran = catch_unwind(AssertUnwindSafe(|| {
        while runner.step(&clock::MonotonicClock, &mut meter) == Step::Done {}
    }));
    if let Err(panic) = ran {
        // Whoever waits for the end of what is committed learns of it now, and not at the horizon; so does the agent, even if the
        // program's main thread does something else.
        let wish = runner.fail("a task's function has failed");
        on_panic(text_of(&*panic), wish);
        resume_unwind(panic);
    }
    let after = Baseline::closing(calls.as_ref());
    runner.leave();
    // A thread that ends keeps the kernel busy on its core; that must not hit the others' last round.
    let stop_at = runner.stop_at();
    if runner.gives_way() {
        // From the stop on this core is another mode's: nothing of what follows may hold that up.
        let _ = scheduling::apply(Class::Other);
    }
    if stop_at != Nanos::MAX && stop_at > clock::now() {
        clock::sleep_until(stop_at);
    }
    publish(&mut runner, &before, &after);
}

fn set_up(plan: ThreadPlan) -> (ThreadReady, Meter) {
    let mut warnings = Vec::new();
    if let Err(error) = clock::set_timer_slack(Nanos(1)) {
        warnings.push(error.to_string());
    }
    scheduling::prefault_stack(STACK_PREFAULT_BYTES);
    // A SCHED_DEADLINE thread must be allowed on every core of its root domain, so it cannot be pinned.
    if !plan.aside
        && !matches!(plan.class, Class::Deadline { .. })
        && let Err(error) = scheduling::pin(plan.core)
    {
        warnings.push(error.to_string());
    }
    let wanted = if plan.aside { Class::Other } else { plan.class };
    let obtained = match scheduling::apply(wanted) {
        Ok(()) => class_name(wanted),
        Err(error) => {
            warnings.push(error.to_string());
            class_name(Class::Other)
        }
    };
    if matches!(plan.class, Class::Deadline { .. })
        && let Err(error) = overrun::watch()
    {
        warnings.push(error.to_string());
    }
    let (meter, unavailable) = Meter::for_this_thread();
    warnings.extend(unavailable);
    let thread = scheduling::thread_id();
    (ThreadReady { task: plan.task, thread, scheduling: obtained, warnings }, meter)
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Fifo { .. } => "SCHED_FIFO",
        Class::Deadline { .. } => "SCHED_DEADLINE",
        Class::Other => "SCHED_OTHER",
        Class::Idle => "SCHED_IDLE",
    }
}

/// Once for nothing, before the data path: the kernel maps the page of its clock into a process when that is first
/// read, and no lock on the memory of the process brings it in before.
fn touch_the_clock() {
    clock::sleep_until(clock::now());
    usage::of_this_thread();
}

/// Counters of the thread at one moment; read outside the data path.
struct Baseline {
    allocations: Option<u64>,
    faults: u64,
    involuntary: u64,
    calls: Option<u64>,
}

impl Baseline {
    /// At the beginning the system-call counter is read last, so that the other reading does not count.
    fn opening(counter: Option<&SystemCallCounter>) -> Self {
        let rest = Self::without_calls();
        Self { calls: counter.and_then(|counter| counter.read().ok()), ..rest }
    }

    /// At the end it is read first, for the same reason; that reading counts itself.
    fn closing(counter: Option<&SystemCallCounter>) -> Self {
        let calls = counter.and_then(|counter| counter.read().ok()).map(|calls| calls.saturating_sub(1));
        Self { calls, ..Self::without_calls() }
    }

    fn without_calls() -> Self {
        let usage = usage::of_this_thread();
        Self {
            allocations: allocator::installed().then(allocator::allocations_of_this_thread),
            faults: usage.faults,
            involuntary: usage.switches_involuntary,
            calls: None,
        }
    }
}

fn publish(runner: &mut TaskRunner, before: &Baseline, after: &Baseline) {
    let difference = |after: Option<u64>, before: Option<u64>| match (after, before) {
        (Some(after), Some(before)) => after.saturating_sub(before),
        _ => u64::MAX,
    };
    runner.publish_counts();
    runner.set_counter(TaskCounter::Allocations, difference(after.allocations, before.allocations));
    runner.set_counter(TaskCounter::PageFaults, after.faults.saturating_sub(before.faults));
    let involuntary = after.involuntary.saturating_sub(before.involuntary);
    runner.set_counter(TaskCounter::InvoluntarySwitches, involuntary);
    runner.set_counter(TaskCounter::OverrunSignals, overrun::of_this_thread());
    runner.set_counter(TaskCounter::SystemCalls, difference(after.calls, before.calls));
}
