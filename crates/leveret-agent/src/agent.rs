//! The agent's loop: one thread waits for members, signals and deaths, feeds the coordinator, and acts.

mod commit;
mod ending;
mod error;
mod group;
mod measuring;
mod messages;
mod mode;
mod phase;
mod processes;
mod saving;
mod starved;
mod strangers;
mod words;

pub use error::AgentError;

use crate::aside::Closing;
use crate::awake::KeptAwake;
use crate::ended::Ended;
use crate::families::Families;
use crate::journal::Journal;
use crate::lateness::Lateness;
use crate::members::Seat;
use crate::monitor::Monitor;
use crate::obtained::Obtained;
use crate::output::{Carriers, MemberOutput};
use crate::patience::Patience;
use crate::tick::Ticks;
use crate::{News, RunConfig};
use error::system;
use leveret_os::control::{self, Listener, poll};
use leveret_os::latency::IdleStatesHeld;
use leveret_os::process::{Adoption, ChildChanges, Signal};
use leveret_os::scheduling::{self, Class};
use leveret_os::signals::Interrupt;
use leveret_os::{clock, facts, host, open_files};
use leveret_plan::{Costs, Kept, Plan};
use leveret_protocol::assemble::{Assembled, Mismatch};
use leveret_protocol::control::{EndReason, RefusalCause, Scheduling, ToMember};
use leveret_protocol::coordinator::{Action, Coordinator, Stage};
use leveret_report::record::{Ending, MachineFacts, RunRecord};
use leveret_types::{IdleCores, MemberId, Nanos};
use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::time::Duration;
use strangers::Strangers;

/// Below every task (their lowest is 10).
const PRIORITY: u8 = 5;
/// How often the loop looks after things that do not wake it: stamps, logs, patience, progress.
const TICK: Duration = Duration::from_millis(20);
/// So many warnings are kept in all.
const WARNINGS_MAX: usize = 1000;
/// A member may take this long to end by itself once the job is over.
const GRACE: Nanos = Nanos::from_secs(5);
/// Names of the control sockets' directories start so.
const DIRECTORY_PREFIX: &str = "leveret-agent";

/// Runs a job to its end, and returns its record.
///
/// A signal that asks for the end of the run is taken from `interrupt`; the caller keeps it until the report is written.
pub fn run(
    config: &RunConfig,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(News<'_>),
) -> Result<RunRecord, AgentError> {
    allow_open_files(config.launch.len() as u64)?;
    let shortcomings = become_able_to_start(config.record_limit);
    control::sweep(&host::runtime_base(), DIRECTORY_PREFIX);
    let directory =
        host::private_path(DIRECTORY_PREFIX).map_err(|error| system("a secret")(error.to_string()))?;
    let listener =
        Listener::bind(&directory).map_err(|error| system("the control socket")(error.to_string()))?;
    let mut agent = Agent::new(config, listener, interrupt, tell);
    agent.warn(shortcomings);
    agent.prepare();
    agent.start_journal();
    let outcome =
        agent.carry_output().and_then(|()| agent.launch_all()).and_then(|()| agent.serve_promptly());
    agent.end_members();
    agent.end_orphans();
    if let Some(carriers) = agent.carriers.take() {
        carriers.finish();
    }
    outcome?;
    agent.into_record()
}

struct Running {
    assembled: Assembled,
    plan: Plan,
    label: String,
    /// What it goes on with of what runs.
    kept: Kept,
}

impl Running {
    /// The cores of its tasks.
    fn cores(&self) -> Vec<u32> {
        self.plan.tasks.iter().map(|task| task.core).collect()
    }
}

struct Agent<'c> {
    config: &'c RunConfig,
    listener: Listener,
    interrupt: &'c Interrupt,
    /// Without it changes are seen at the next tick.
    changes: Option<ChildChanges>,
    /// Without it what members started and left behind goes to init, and may outlive the job.
    adoption: Option<Adoption>,
    /// Whose each process is that was there since the agent started.
    families: Rc<Families>,
    interrupted: bool,
    tell: &'c mut dyn FnMut(News<'_>),
    /// None where members have the agent's own streams.
    carriers: Option<Carriers>,
    coordinator: Coordinator,
    seats: Vec<Seat>,
    strangers: Strangers,
    /// Of descriptors that strangers have passed.
    strangers_files: Closing,
    running: Option<Running>,
    monitor: Option<Monitor>,
    /// The record while it runs, on disk.
    journal: Option<Journal>,
    started_unix_s: i64,
    ended: Ended,
    facts: MachineFacts,
    obtained: Obtained,
    costs: Costs,
    /// Where the kernel's tick falls on the job's cores, once somebody has looked.
    ticks: Option<Ticks>,
    /// Cores on which nothing could be measured, since somebody had them.
    held_cores: Vec<u32>,
    mismatches: Vec<Mismatch>,
    refusal: Option<(RefusalCause, String)>,
    ending: Ending,
    /// Something that ran was ended before it had run all that it was to run.
    is_cut: bool,
    idle_states: Option<IdleStatesHeld>,
    /// Whether the guard is known: it was stated, or measured.
    is_measured: bool,
    /// Whether the cores of tasks are kept awake while these run.
    stays_awake: bool,
    awake: KeptAwake,
    over: bool,
    /// No commit of all members is possible any more, and none is under way.
    has_ended: bool,
    groups: group::Groups,
    last_tick: Nanos,
    last_progress: Nanos,
    patience: Patience,
    /// A mode from its plan to its switch.
    next: Option<mode::Next>,
    plannings: VecDeque<mode::Planning>,
    mode_mismatches: Vec<Mismatch>,
    mode_patience: Patience,
    switch_patience: Patience,
    leave_patience: Patience,
    finish_patience: Patience,
    /// Who has not joined or not left yet, whom a commit waits for, who is not yet in the mode, and who not yet at the end of the run.
    presence_lateness: Lateness,
    commit_lateness: Lateness,
    switch_lateness: Lateness,
    finish_lateness: Lateness,
    /// Who keeps members from running.
    holder_searches: HashMap<MemberId, starved::Search>,
}

impl<'c> Agent<'c> {
    fn new(
        config: &'c RunConfig,
        listener: Listener,
        interrupt: &'c Interrupt,
        tell: &'c mut dyn FnMut(News<'_>),
    ) -> Self {
        let names: Vec<String> =
            config.declaration.members.iter().map(|member| member.name.clone()).collect();
        let members = names.len();
        let families = Rc::new(Families::open(listener.path()));
        Self {
            config,
            listener,
            interrupt,
            changes: ChildChanges::watch().ok(),
            adoption: Adoption::begin(),
            families,
            interrupted: false,
            tell,
            carriers: None,
            coordinator: Coordinator::new(members, config.policy).with_names(names),
            seats: (0..members).map(|_| Seat::default()).collect(),
            strangers: Strangers::new(members),
            strangers_files: Closing::default(),
            running: None,
            monitor: None,
            journal: None,
            started_unix_s: host::unix_seconds(),
            ended: Ended::default(),
            facts: machine_facts(),
            obtained: Obtained::default(),
            costs: config.costs,
            ticks: None,
            held_cores: Vec::new(),
            mismatches: Vec::new(),
            refusal: None,
            ending: Ending::Completed,
            is_cut: false,
            idle_states: None,
            is_measured: false,
            stays_awake: false,
            awake: KeptAwake::default(),
            over: false,
            has_ended: false,
            groups: group::Groups::default(),
            last_tick: clock::now(),
            last_progress: Nanos::ZERO,
            patience: Patience::new(members),
            next: None,
            plannings: VecDeque::new(),
            mode_mismatches: Vec::new(),
            mode_patience: Patience::new(members),
            switch_patience: Patience::new(members),
            leave_patience: Patience::new(members),
            finish_patience: Patience::new(members),
            presence_lateness: Lateness::default(),
            commit_lateness: Lateness::default(),
            switch_lateness: Lateness::default(),
            finish_lateness: Lateness::default(),
            holder_searches: HashMap::new(),
        }
    }

    /// What members print is passed on from here, by threads that have no more rights than this one has yet.
    fn carry_output(&mut self) -> Result<(), AgentError> {
        if self.config.member_output == MemberOutput::Lines {
            let started = Carriers::start();
            self.carriers = Some(started.map_err(|error| system("what members print")(error.to_string()))?);
        }
        Ok(())
    }

    fn note(&mut self, text: &str) {
        (self.tell)(News::Note(text));
    }

    fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        for mut warning in warnings {
            let kept = self.facts.warnings.len();
            if kept > WARNINGS_MAX || self.facts.warnings.contains(&warning) {
                continue;
            }
            if kept == WARNINGS_MAX {
                warning = format!("this is the {}th warning; further ones are left out", kept + 1);
            }
            self.note(&format!("warning: {warning}"));
            self.facts.warnings.push(warning);
        }
    }

    /// Everything about the machine that must stand before the first plan.
    fn prepare(&mut self) {
        match IdleStatesHeld::hold() {
            Ok(held) => self.idle_states = Some(held),
            Err(error) => self.warn([error.to_string()]),
        }
        self.facts.idle_states_held = self.idle_states.is_some();
        self.stays_awake = self.config.idle == IdleCores::Spin;
        self.is_measured = self.config.guard_fixed;
    }

    /// Serves above ordinary load, so that deaths are told and evidence is read in time even on a busy machine.
    fn serve_promptly(&mut self) -> Result<(), AgentError> {
        let real_time = self.config.scheduling != Scheduling::Plain;
        let class = Class::Fifo { priority: PRIORITY };
        // Where tasks may not have real-time scheduling the agent may not either; that is told once, for them.
        let raised = real_time && scheduling::apply(class).is_ok();
        let outcome = self.serve();
        if raised {
            let _ = scheduling::apply(Class::Other);
        }
        outcome
    }

    /// Until nobody is left.
    fn serve(&mut self) -> Result<(), AgentError> {
        while !self.over {
            self.turn()?;
        }
        Ok(())
    }

    fn turn(&mut self) -> Result<(), AgentError> {
        let readable = self.wait()?;
        for source in readable {
            match source {
                Waker::Changes => self.on_changes(),
                Waker::Interrupt => self.on_interrupt(),
                Waker::Listener => self.on_connection(),
                Waker::Stranger(index) => self.on_stranger(index),
                Waker::Member(rank) => self.on_frames(rank),
                Waker::Process(rank) => self.on_change(rank),
            }
        }
        let now = clock::now();
        if now - self.last_tick >= Nanos(TICK.as_nanos() as i64) {
            self.on_tick(now);
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<Vec<Waker>, AgentError> {
        let mut wakers = Vec::new();
        let mut descriptors: Vec<BorrowedFd<'_>> = Vec::new();
        wakers.push(Waker::Interrupt);
        descriptors.push(self.interrupt.as_fd());
        // From the last to the first, and the listener after them, so that an index holds until its turn.
        for (index, stranger) in self.strangers.connections().enumerate().rev() {
            wakers.push(Waker::Stranger(index));
            descriptors.push(stranger.as_fd());
        }
        if self.strangers.are_welcome() {
            wakers.push(Waker::Listener);
            descriptors.push(self.listener.as_fd());
        }
        for (rank, seat) in self.seats.iter().enumerate() {
            if let Some(connection) = &seat.connection {
                wakers.push(Waker::Member(rank));
                descriptors.push(connection.as_fd());
            }
            if let Some(child) = &seat.child {
                wakers.push(Waker::Process(rank));
                descriptors.push(child.pidfd.as_fd());
            }
        }
        if let Some(changes) = &self.changes {
            wakers.push(Waker::Changes);
            descriptors.push(changes.as_fd());
        }
        let ready = poll(&descriptors, Some(TICK))
            .map_err(|error| system("waiting for members")(error.to_string()))?;
        Ok(wakers.into_iter().zip(ready).filter(|(_, ready)| ready.any()).map(|(waker, _)| waker).collect())
    }

    fn on_interrupt(&mut self) {
        self.interrupt.seen();
        if !std::mem::replace(&mut self.interrupted, true) {
            let what = match self.interrupt.requested() {
                Some(Signal::HUP) => "the terminal was closed",
                Some(Signal::TERM) => "asked to end (SIGTERM)",
                _ => "interrupted",
            };
            self.note(&format!(
                "{what}: ending with the round, or within a second; once more to end the members at once"
            ));
            self.ending = Ending::Interrupted;
            self.stop_groups(&EndReason::Interrupted);
            let actions = self.coordinator.stop(EndReason::Interrupted);
            self.act(actions);
        }
        // Nobody is waited for any more; the report is of what was recorded until now.
        if self.interrupt.is_repeated() {
            self.over = true;
        }
    }

    /// Nobody is waited for once neither all members nor a group have anything under way.
    fn end_if_over(&mut self) {
        self.over |= self.has_ended && self.groups.is_empty();
    }

    fn act(&mut self, actions: Vec<Action>) {
        let mut queue = VecDeque::from(actions);
        while let Some(action) = queue.pop_front() {
            queue.extend(self.perform(action));
        }
    }

    fn perform(&mut self, action: Action) -> Vec<Action> {
        match action {
            Action::Plan(declarations) => {
                let verdict = self.admit(&declarations);
                let mut actions = self.coordinator.planned(verdict);
                if self.coordinator.stage() == Stage::Segments {
                    actions.extend(self.send_plan());
                }
                actions
            }
            Action::DistributePeers => self.distribute(),
            Action::Start => self.start(),
            Action::Refuse { reason, cause, may_retry } => {
                let mismatches = std::mem::take(&mut self.mismatches);
                self.broadcast(&ToMember::Refused { reason: reason.clone(), cause, mismatches, may_retry });
                self.refusal.get_or_insert((cause, reason));
                Vec::new()
            }
            Action::StopAll(reason) => {
                self.stop_all(reason);
                Vec::new()
            }
            Action::AnnounceDeath(member, how) => {
                self.broadcast(&ToMember::PeerDied { member, how });
                Vec::new()
            }
            Action::Restart(member) => self.restart(member),
            Action::Uncommitted(reason) => {
                self.next = None;
                self.close_phase(&reason);
                // A reason can also come while everybody is already finishing for another.
                if let (Ending::Completed, EndReason::Stopped(why)) = (&self.ending, &reason) {
                    self.ending = Ending::Stopped(why.clone());
                }
                if !self.is_cut && matches!(reason, EndReason::Stopped(_)) {
                    self.ending = std::mem::take(&mut self.ending).after_all_rounds();
                }
                let generation = self.coordinator.generation();
                self.broadcast(&ToMember::Uncommitted { generation, reason });
                Vec::new()
            }
            Action::JobEnded => {
                self.has_ended = true;
                self.stop_groups(&EndReason::Stopped("it has ended".to_owned()));
                self.end_if_over();
                Vec::new()
            }
            Action::Expel(member, reason) => {
                self.expel(member.index(), &reason);
                Vec::new()
            }
            of_mode => self.perform_of_mode(of_mode),
        }
    }
}

/// Three standard streams, the control socket, the events of signals and of children, idle states held, what wakes those who pass on
/// output, and a few in passing.
const FILES_OF_AGENT: u64 = 16;
/// Process, connection, segment, the socket of a start or a stranger, and two streams.
const FILES_OF_MEMBER: u64 = 6;
/// A run of some length, its record and its report stay below.
const ADDRESS_SPACE_LEAST: u64 = 2 << 30;

/// What is lacking is told before anything starts; the kernel's logs, which a run can do without, are not counted.
fn allow_open_files(members: u64) -> Result<(), AgentError> {
    let needed = FILES_OF_AGENT + FILES_OF_MEMBER * members;
    match open_files::raise_limit() {
        Some(allowed) if allowed < needed => Err(AgentError::OpenFiles { needed, allowed }),
        _ => Ok(()),
    }
}

/// A program that was started by `chrt -d` can start neither threads nor processes, which is mended. Of a small address space the user
/// learns before.
fn become_able_to_start(record_limit: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    if matches!(scheduling::current(), Ok(Class::Deadline { .. })) {
        warnings.push(match scheduling::apply(Class::Other) {
            Ok(()) => "`leveret run` was started under SCHED_DEADLINE, where nothing can be started: it goes on under ordinary \
                       scheduling, and gives its members' tasks their classes as ever"
                .to_owned(),
            Err(error) => format!("{error}; nothing can be started under SCHED_DEADLINE: start `leveret run` without `chrt -d`"),
        });
    }
    if let Some(limit) = facts::address_space_limit().filter(|limit| *limit < ADDRESS_SPACE_LEAST) {
        warnings.push(format!(
            "the limit on address space is {} MiB (`ulimit -v`): the record is limited to {} MiB for it, and a member could end for want \
             of memory; `ulimit -v unlimited` lifts it",
            limit >> 20,
            record_limit >> 20
        ));
    }
    warnings
}

fn machine_facts() -> MachineFacts {
    let found = facts::Facts::gather();
    MachineFacts {
        kernel: format!("{} {}", found.kernel_release, found.kernel_version),
        processor: found.processor,
        cores_online: found.cores_online.len() as u32,
        ..MachineFacts::default()
    }
}

enum Waker {
    Changes,
    Interrupt,
    Listener,
    Stranger(usize),
    Member(usize),
    Process(usize),
}
