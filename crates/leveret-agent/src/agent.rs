//! The agent's loop: one thread waits for members, signals and deaths, feeds the coordinator, and acts.

mod ending;

use crate::members::{HeldSegment, Seat};
use crate::monitor::{Monitor, Watched};
use crate::patience::Patience;
use crate::{News, RunConfig, measure_guard};
use leveret_memory::{PeerSegment, Region};
use leveret_os::control::{self, Connection, Frame, Listener, ReceiveError, SendError, poll};
use leveret_os::latency::IdleStatesHeld;
use leveret_os::memory_file::{Mapping, verify_seals};
use leveret_os::process::{Change, Exit};
use leveret_os::scheduling::{self, Class};
use leveret_os::signals::Interrupt;
use leveret_os::{clock, facts, host};
use leveret_plan::{Costs, Plan, checker, plan};
use leveret_protocol::assemble::{Assembled, Mismatch, assemble};
use leveret_protocol::control::{
    CONTROL_VERSION, EndReason, FromMember, Horizon, Scheduling, ToMember, decode_from_member, encode,
};
use leveret_protocol::coordinator::{Action, Coordinator, DeathPolicy, Stage};
use leveret_protocol::declaration::MemberDeclarations;
use leveret_report::record::{AloneProbe, Ending, EventKind, MachineFacts, Phase, RunRecord};
use leveret_runtime::Admitted;
use leveret_types::{MemberId, Nanos};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Below every task (their lowest is 10).
const PRIORITY: u8 = 5;
/// How often the loop looks after things that do not wake it: stamps, stopped members, progress.
const TICK: Duration = Duration::from_millis(20);
/// From `Go` to the epoch: long enough for every thread to be asleep by then.
const LEAD: Nanos = Nanos::from_millis(60);
/// A member may take this long to end by itself once the job is over.
const GRACE: Nanos = Nanos::from_secs(5);
/// A member that does not read its messages may hold up the others for this long, once.
const DEAF_AFTER: Duration = Duration::from_secs(1);
/// Progress is told this often.
const PROGRESS_EVERY: Nanos = Nanos::from_millis(200);
/// A member that dies again and again is not started for ever.
const RESTARTS_MAX: u32 = 10;
/// Names of the control sockets' directories start so.
const DIRECTORY_PREFIX: &str = "leveret-agent";
/// Frames taken from one connection per turn, so that a flooding member cannot starve the others.
const FRAMES_PER_TURN: usize = 64;

/// Why a job could not be run.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The job was refused at commit: declarations do not meet, or are not admitted.
    #[error("{0}")]
    Refused(String),
    /// The operating system refused something.
    #[error("{what}: {cause}")]
    System {
        /// What was needed.
        what: &'static str,
        /// Why not.
        cause: String,
    },
    /// A member could not be started.
    #[error("member \"{member}\" cannot be started: {cause}")]
    Launch {
        /// Which.
        member: String,
        /// Why.
        cause: String,
    },
    /// The job ended before anything ran.
    #[error("the job ended before its first commit: {0}")]
    NothingRan(String),
}

fn system(what: &'static str) -> impl Fn(String) -> AgentError {
    move |cause| AgentError::System { what, cause }
}

/// Runs a job to its end, and returns its record.
pub fn run(config: &RunConfig, tell: &mut dyn FnMut(News<'_>)) -> Result<RunRecord, AgentError> {
    let interrupt = Interrupt::install().map_err(|error| system("signals")(error.to_string()))?;
    control::sweep(&host::runtime_base(), DIRECTORY_PREFIX);
    let directory =
        host::private_path(DIRECTORY_PREFIX).map_err(|error| system("a secret")(error.to_string()))?;
    let listener =
        Listener::bind(&directory).map_err(|error| system("the control socket")(error.to_string()))?;
    let mut agent = Agent::new(config, listener, interrupt, tell);
    agent.prepare();
    let outcome = agent.launch_all().and_then(|()| agent.serve_promptly());
    agent.end_members();
    outcome?;
    agent.into_record()
}

struct Running {
    assembled: Assembled,
    plan: Plan,
    label: String,
}

struct Agent<'c> {
    config: &'c RunConfig,
    listener: Listener,
    interrupt: Interrupt,
    interrupted: bool,
    tell: &'c mut dyn FnMut(News<'_>),
    coordinator: Coordinator,
    seats: Vec<Seat>,
    strangers: Vec<Connection>,
    running: Option<Running>,
    monitor: Option<Monitor>,
    phases: Vec<Phase>,
    alone: AloneProbe,
    facts: MachineFacts,
    costs: Costs,
    mismatches: Vec<Mismatch>,
    refusal: Option<String>,
    ending: Ending,
    idle_states: Option<IdleStatesHeld>,
    over: bool,
    last_tick: Nanos,
    last_progress: Nanos,
    patience: Patience,
}

impl<'c> Agent<'c> {
    fn new(
        config: &'c RunConfig,
        listener: Listener,
        interrupt: Interrupt,
        tell: &'c mut dyn FnMut(News<'_>),
    ) -> Self {
        let names: Vec<String> =
            config.declaration.members.iter().map(|member| member.name.clone()).collect();
        let members = names.len();
        Self {
            config,
            listener,
            interrupt,
            interrupted: false,
            tell,
            coordinator: Coordinator::new(members, config.policy).with_names(names),
            seats: (0..members).map(|_| Seat::default()).collect(),
            strangers: Vec::new(),
            running: None,
            monitor: None,
            phases: Vec::new(),
            alone: AloneProbe::default(),
            facts: machine_facts(),
            costs: config.costs,
            mismatches: Vec::new(),
            refusal: None,
            ending: Ending::Completed,
            idle_states: None,
            over: false,
            last_tick: clock::now(),
            last_progress: Nanos::ZERO,
            patience: Patience::new(members),
        }
    }

    fn note(&mut self, text: &str) {
        (self.tell)(News::Note(text));
    }

    fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            if !self.facts.warnings.contains(&warning) {
                self.note(&format!("warning: {warning}"));
                self.facts.warnings.push(warning);
            }
        }
    }

    /// Everything about the machine that must stand before the first plan.
    fn prepare(&mut self) {
        match IdleStatesHeld::hold() {
            Ok(held) => self.idle_states = Some(held),
            Err(error) => self.warn([error.to_string()]),
        }
        self.facts.idle_states_held = self.idle_states.is_some();
        if !self.config.guard_fixed {
            let real_time = self.config.scheduling != Scheduling::Plain;
            self.costs.guard = measure_guard(&self.config.declaration.cores, real_time);
            self.note(&format!("measured guard: tasks wake {} before their start", self.costs.guard));
        }
    }

    fn launch_all(&mut self) -> Result<(), AgentError> {
        (0..self.seats.len()).try_for_each(|rank| self.launch(rank))
    }

    fn launch(&mut self, rank: usize) -> Result<(), AgentError> {
        let launch = &self.config.launch[rank];
        self.patience.launched(rank, clock::now());
        self.seats[rank]
            .launch(launch, self.listener.path())
            .map_err(|error| AgentError::Launch { member: launch.member.clone(), cause: error })
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
        if !self.interrupted {
            wakers.push(Waker::Interrupt);
            descriptors.push(self.interrupt.as_fd());
        }
        wakers.push(Waker::Listener);
        descriptors.push(self.listener.as_fd());
        for (index, stranger) in self.strangers.iter().enumerate().rev() {
            wakers.push(Waker::Stranger(index));
            descriptors.push(stranger.as_fd());
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
        let ready = poll(&descriptors, Some(TICK))
            .map_err(|error| system("waiting for members")(error.to_string()))?;
        Ok(wakers.into_iter().zip(ready).filter(|(_, ready)| ready.any()).map(|(waker, _)| waker).collect())
    }

    fn on_interrupt(&mut self) {
        self.interrupted = true;
        self.note("interrupted: ending at the next round; once more to end at once");
        let actions = self.coordinator.stop(EndReason::Interrupted);
        self.ending = Ending::Interrupted;
        self.act(actions);
    }

    fn on_connection(&mut self) {
        match self.listener.accept() {
            Ok(connection) => self.strangers.push(connection),
            Err(error) => self.warn([error.to_string()]),
        }
    }

    /// A connection that has not said who it is.
    fn on_stranger(&mut self, index: usize) {
        let connection = self.strangers.swap_remove(index);
        match connection.receive_arrived() {
            Ok(None) => self.strangers.push(connection),
            Ok(Some(frame)) => {
                if let Err(reason) = self.welcome(&connection, &frame) {
                    let refused = ToMember::Refused { reason, mismatches: Vec::new(), may_retry: false };
                    // It may be gone already; then there is nobody to tell.
                    let _ = connection.send(&encode(&refused), &[]);
                }
            }
            Err(_) => {}
        }
    }

    /// Checks who connects: same user, the secret of that member's process, and not there already.
    fn welcome(&mut self, connection: &Connection, frame: &Frame) -> Result<(), String> {
        let hello = decode_from_member(&frame.bytes).map_err(|error| error.to_string())?;
        let FromMember::Hello { version, token, member } = hello else {
            return Err("the first message must be Hello".to_owned());
        };
        if version != CONTROL_VERSION {
            return Err(format!(
                "control protocol {version}, this agent speaks {CONTROL_VERSION}; use one version"
            ));
        }
        let peer = connection.peer_credentials().map_err(|error| error.to_string())?;
        if !host::is_same_user(peer.uid) {
            return Err(format!("process {} of user {} may not join this user's job", peer.pid, peer.uid));
        }
        let names = || self.config.declaration.members.iter().map(|member| member.name.clone());
        let rank = names()
            .position(|name| name == member)
            .ok_or_else(|| format!("there is no member \"{member}\""))?;
        let seat = &self.seats[rank];
        if seat.token.is_empty() || seat.token != token {
            return Err(format!("the secret of member \"{member}\" does not fit"));
        }
        if seat.connection.is_some() {
            return Err(format!("member \"{member}\" has joined already"));
        }
        let welcome = ToMember::Welcome {
            job: self.config.declaration.name.clone(),
            rank: MemberId(rank as u16),
            members: names().collect(),
            scheduling: self.config.scheduling,
            restarted: seat.restarted,
            attempt: self.coordinator.attempt(),
        };
        connection.set_send_timeout(Some(DEAF_AFTER)).map_err(|error| error.to_string())?;
        connection.send(&encode(&welcome), &[]).map_err(|error| error.to_string())?;
        let own = connection.as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
        self.seats[rank].connection = Some(Arc::new(Connection::from(own)));
        self.patience.joined(rank);
        Ok(())
    }

    fn on_frames(&mut self, rank: usize) {
        let Some(connection) = self.seats[rank].connection.clone() else { return };
        for _ in 0..FRAMES_PER_TURN {
            match connection.receive_arrived() {
                Ok(Some(frame)) => self.on_frame(rank, frame),
                Ok(None) => return,
                Err(error) => {
                    self.seats[rank].connection = None;
                    if matches!(error, ReceiveError::Closed) {
                        self.patience.leaving(rank, clock::now());
                    } else {
                        self.expel(rank, &error.to_string());
                    }
                    return;
                }
            }
        }
    }

    fn on_frame(&mut self, rank: usize, frame: Frame) {
        let member = MemberId(rank as u16);
        let message = match decode_from_member(&frame.bytes) {
            Ok(message) => message,
            Err(error) => return self.expel(rank, &error.to_string()),
        };
        match &message {
            FromMember::Segment { size, .. } => {
                if let Err(reason) = self.take_segment(rank, *size, frame.fds) {
                    return self.expel(rank, &reason);
                }
            }
            FromMember::Ready { threads, scheduling, warnings, .. } => {
                if let Err(reason) = self.take_ready(rank, threads) {
                    return self.expel(rank, &reason);
                }
                if scheduling != "none" {
                    self.facts.scheduling.clone_from(scheduling);
                }
                self.warn(warnings.clone());
            }
            _ => {}
        }
        let actions = self.coordinator.message(member, message);
        self.act(actions);
    }

    /// A member's segment is taken only sealed, of the planned size, and with a valid header.
    fn take_segment(&mut self, rank: usize, size: u64, files: Vec<OwnedFd>) -> Result<(), String> {
        let running = self.running.as_ref().ok_or("a segment without a plan")?;
        let [file] =
            <[OwnedFd; 1]>::try_from(files).map_err(|_| "a segment message carries one descriptor")?;
        let member = MemberId(rank as u16);
        let generation = self.coordinator.generation();
        let admitted = Admitted { assembled: &running.assembled, plan: &running.plan, generation };
        let layout = admitted.layout(member).map_err(|error| error.to_string())?;
        if layout.size() as u64 != size {
            return Err(format!("its segment has {size} bytes, the plan says {}", layout.size()));
        }
        verify_seals(file.as_fd(), size).map_err(|error| error.to_string())?;
        let region = Mapping::read_only(file.as_fd(), size).map_err(|error| error.to_string())?;
        let region: Arc<dyn Region> = Arc::new(region);
        PeerSegment::attach(region.clone(), &layout, member, generation)
            .map_err(|error| error.to_string())?;
        self.seats[rank].segment = Some(HeldSegment { file, region });
        Ok(())
    }

    /// Threads are the member's word: its own tasks, and threads of its own process.
    fn take_ready(&mut self, rank: usize, threads: &[(u16, u32)]) -> Result<(), String> {
        let running = self.running.as_ref().ok_or("ready without a plan")?;
        for (task, _) in threads {
            let declared = running.assembled.job.tasks.get(usize::from(*task));
            if declared.is_none_or(|task| task.member.index() != rank) {
                return Err(format!("task {task} is not its own"));
            }
        }
        self.seats[rank].threads = threads.to_vec();
        Ok(())
    }

    /// A member that breaks the protocol is a member that has died.
    fn expel(&mut self, rank: usize, reason: &str) {
        let name = self.config.launch[rank].member.clone();
        self.warn([format!("member \"{name}\" is expelled: {reason}")]);
        self.seats[rank].kill();
    }

    fn on_change(&mut self, rank: usize) {
        // What the member wrote before its end counts.
        self.on_frames(rank);
        match self.seats[rank].change() {
            Some(Change::Ended(exit)) => self.on_exit(rank, exit),
            Some(Change::Stopped(_)) => self.on_stop_or_continue(rank, true),
            Some(Change::Continued) => self.on_stop_or_continue(rank, false),
            None => {}
        }
    }

    fn on_stop_or_continue(&mut self, rank: usize, stopped: bool) {
        let member = rank as u16;
        // A stop is found at a tick: it happened after the one before.
        let (at, kind) = if stopped {
            (self.last_tick, EventKind::MemberStopped { member })
        } else {
            (clock::now(), EventKind::MemberContinued { member })
        };
        if let Some(monitor) = &mut self.monitor {
            monitor.event(at, kind);
        }
    }

    fn on_exit(&mut self, rank: usize, exit: Exit) {
        let member = MemberId(rank as u16);
        let how = exit.to_string();
        let seat = &mut self.seats[rank];
        seat.child = None;
        seat.connection = None;
        seat.token.clear();
        let orderly = exit.is_success() && self.coordinator.stage() == Stage::Gathering;
        let actions = if orderly {
            self.coordinator.left(member)
        } else {
            let name = self.config.launch[rank].member.clone();
            // After a refusal members end with an error of their own; that is no news.
            if self.refusal.is_none() && !matches!(self.ending, Ending::Interrupted) {
                self.warn([format!("member \"{name}\" ended: {how}")]);
            }
            if let Some(monitor) = &mut self.monitor {
                monitor.event(clock::now(), EventKind::MemberDied { member: member.0, how: how.clone() });
            }
            self.coordinator.died(member, &how)
        };
        self.act(actions);
        if !orderly && self.config.policy == DeathPolicy::Stop && self.coordinator.stage() == Stage::Gathering
        {
            self.dismiss_all();
        }
    }

    fn on_tick(&mut self, now: Nanos) {
        for rank in 0..self.seats.len() {
            if self.seats[rank].child.is_some() {
                self.on_change(rank);
            }
        }
        self.last_tick = now;
        self.lose_patience(now);
        let Some(monitor) = &mut self.monitor else { return };
        monitor.drain();
        if now - self.last_progress >= PROGRESS_EVERY {
            self.last_progress = now;
            let rounds_total = rounds_of(self.config.horizon);
            let rounds = monitor.rounds(now).min(rounds_total.unwrap_or(u64::MAX));
            let news =
                News::Progress { label: monitor.label(), rounds, rounds_total, misses: monitor.misses };
            (self.tell)(news);
        }
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
                let actions = self.coordinator.planned(verdict);
                if self.coordinator.stage() == Stage::Segments {
                    self.send_plan();
                }
                actions
            }
            Action::DistributePeers => self.distribute(),
            Action::Start => {
                self.start();
                Vec::new()
            }
            Action::Refuse { reason, may_retry } => {
                let mismatches = std::mem::take(&mut self.mismatches);
                self.broadcast(&ToMember::Refused { reason: reason.clone(), mismatches, may_retry });
                self.refusal.get_or_insert(reason);
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
                self.close_phase(&reason);
                // A reason can also come while everybody is already finishing for another.
                if let (Ending::Completed, EndReason::Stopped(why)) = (&self.ending, &reason) {
                    self.ending = Ending::Stopped(why.clone());
                }
                let generation = self.coordinator.generation();
                self.broadcast(&ToMember::Uncommitted { generation, reason });
                Vec::new()
            }
            Action::JobEnded => {
                self.over = true;
                Vec::new()
            }
            Action::Expel(member, reason) => {
                self.expel(member.index(), &reason);
                Vec::new()
            }
        }
    }

    /// Assembles, plans, checks. With a measured guard that is too long for the job, shorter ones are tried.
    fn admit(&mut self, declarations: &[MemberDeclarations]) -> Result<(), String> {
        let label =
            declarations.iter().map(|declared| declared.label.as_str()).find(|label| !label.is_empty());
        let label = label.map_or_else(|| format!("commit {}", self.phases.len() + 1), str::to_owned);
        let mut costs = self.costs;
        loop {
            let assembled =
                assemble(&self.config.declaration, declarations, costs).map_err(|mismatches| {
                    let reason = mismatches.iter().map(Mismatch::to_string).collect::<Vec<_>>().join("\n");
                    self.mismatches = mismatches;
                    reason
                })?;
            match plan(&assembled.job) {
                Ok(admitted) => {
                    if let Err(violations) = checker::check(&admitted, &assembled.job) {
                        let listed: Vec<_> = violations.iter().map(ToString::to_string).collect();
                        return Err(format!(
                            "the plan did not pass the independent checker, so it is not run: {}",
                            listed.join("; ")
                        ));
                    }
                    if costs.guard < self.costs.guard {
                        self.warn([format!(
                            "the measured guard of {} does not fit the job; {} is used, so more late wakes are late starts",
                            self.costs.guard, costs.guard
                        )]);
                    }
                    self.running = Some(Running { assembled, plan: admitted, label });
                    return Ok(());
                }
                Err(refusal) if self.config.guard_fixed || costs.guard <= GUARD_LEAST => {
                    return Err(refusal.to_string());
                }
                Err(_) => costs.guard = Nanos(costs.guard.0 / 2).max(GUARD_LEAST),
            }
        }
    }

    fn send_plan(&mut self) {
        let Some(running) = &self.running else { return };
        let message = ToMember::Planned {
            generation: self.coordinator.generation(),
            assembled: Box::new(running.assembled.clone()),
            plan: Box::new(running.plan.clone()),
            horizon: self.config.horizon,
        };
        self.refusal = None;
        for seat in &mut self.seats {
            seat.segment = None;
        }
        self.broadcast(&message);
    }

    /// Each member gets just the segments that the plan names for it.
    fn distribute(&mut self) -> Vec<Action> {
        let Some(running) = &self.running else { return Vec::new() };
        let generation = self.coordinator.generation();
        let admitted = Admitted { assembled: &running.assembled, plan: &running.plan, generation };
        let mut failed = Vec::new();
        for (rank, seat) in self.seats.iter().enumerate() {
            let Some(connection) = &seat.connection else { continue };
            let member = MemberId(rank as u16);
            let peers: Vec<MemberId> = admitted
                .peers(member)
                .into_iter()
                .filter(|peer| *peer != member && self.seats[peer.index()].segment.is_some())
                .collect();
            let files: Vec<BorrowedFd<'_>> = peers
                .iter()
                .filter_map(|peer| self.seats[peer.index()].segment.as_ref())
                .map(|segment| segment.file.as_fd())
                .collect();
            if connection.send(&encode(&ToMember::Peers { generation, members: peers }), &files).is_err() {
                failed.push(rank);
            }
        }
        for rank in failed {
            self.expel(rank, "its connection broke during commit");
        }
        Vec::new()
    }

    fn start(&mut self) {
        let Some(running) = &self.running else { return };
        let epoch = clock::now() + LEAD;
        let generation = self.coordinator.generation();
        let admitted = Admitted { assembled: &running.assembled, plan: &running.plan, generation };
        let segments = self
            .seats
            .iter()
            .enumerate()
            .map(|(rank, seat)| {
                let member = MemberId(rank as u16);
                let layout = admitted.layout(member).ok()?;
                let region = seat.segment.as_ref()?.region.clone();
                PeerSegment::attach(region, &layout, member, generation).ok()
            })
            .collect();
        let threads = self.seats.iter().flat_map(|seat| seat.threads.iter().copied()).collect();
        let (monitor, warnings) = Monitor::start(Watched {
            label: running.label.clone(),
            assembled: &running.assembled,
            plan: &running.plan,
            epoch,
            segments,
            threads,
        });
        (self.tell)(News::Started {
            label: &running.label,
            rounds: rounds_of(self.config.horizon),
            hyperperiod: running.plan.hyperperiod,
        });
        self.facts.switch_log_whole_core = monitor.whole_core();
        self.monitor = Some(monitor);
        self.patience.started(epoch + self.config.horizon.span(running.plan.hyperperiod));
        self.broadcast(&ToMember::Go { generation, epoch });
        self.warn(warnings);
    }

    /// All stop at the same round, so that nothing is sent that nobody takes.
    fn stop_all(&mut self, reason: EndReason) {
        let Some(monitor) = &mut self.monitor else { return };
        let generation = self.coordinator.generation();
        let instant = monitor.stop_instant(clock::now() + Nanos(TICK.as_nanos() as i64));
        if let EndReason::Stopped(why) = &reason {
            self.ending = Ending::Stopped(why.clone());
        }
        self.patience.ends_by(instant);
        self.broadcast(&ToMember::StopAt { generation, instant, reason });
    }

    fn restart(&mut self, member: MemberId) -> Vec<Action> {
        let rank = member.index();
        let seat = &mut self.seats[rank];
        seat.failures += 1;
        seat.restarted = true;
        seat.segment = None;
        let failures = seat.failures;
        let name = self.config.launch[rank].member.clone();
        if failures > RESTARTS_MAX {
            self.ending = Ending::Stopped(format!("member \"{name}\" died {failures} times"));
            return self
                .coordinator
                .stop(EndReason::Stopped(format!("member \"{name}\" died {failures} times")));
        }
        self.note(&format!("member \"{name}\" is started again"));
        match self.launch(rank) {
            Ok(()) => Vec::new(),
            Err(error) => self.coordinator.died(member, &error.to_string()),
        }
    }

    fn close_phase(&mut self, reason: &EndReason) {
        let Some(monitor) = self.monitor.take() else { return };
        let (mut phase, alone, notes) = monitor.finish(rounds_of(self.config.horizon), clock::now());
        if let EndReason::PeerRestarted(member) = reason {
            let at = clock::now() - phase.epoch_monotonic;
            phase.events.push(leveret_report::record::Event {
                at,
                kind: EventKind::MemberRestarted { member: member.0 },
            });
        }
        self.phases.push(phase);
        if self.alone.lateness_ns.is_empty() {
            self.alone = alone;
        } else {
            self.alone.lateness_ns.extend(alone.lateness_ns);
        }
        self.warn(notes);
    }

    fn broadcast(&mut self, message: &ToMember) {
        let bytes = encode(message);
        let mut deaf = Vec::new();
        for (rank, seat) in self.seats.iter().enumerate() {
            // A member that is gone shows as dead by its process descriptor.
            if let Some(connection) = &seat.connection
                && let Err(error @ (SendError::TimedOut | SendError::Broken)) = connection.send(&bytes, &[])
            {
                deaf.push((rank, error.to_string()));
            }
        }
        for (rank, error) in deaf {
            self.expel(rank, &error);
        }
    }
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

/// A guard below this would not cover an ordinary wake-up.
const GUARD_LEAST: Nanos = Nanos::from_micros(10);

fn rounds_of(horizon: Horizon) -> Option<u64> {
    match horizon {
        Horizon::Rounds(rounds) => Some(rounds),
        Horizon::Duration(_) | Horizon::Unbounded => None,
    }
}

enum Waker {
    Interrupt,
    Listener,
    Stranger(usize),
    Member(usize),
    Process(usize),
}
