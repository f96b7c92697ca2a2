//! A member's side of the control connection: join the job, commit, learn of stops and deaths.

use crate::abort::{Aborter, Teller};
use crate::binding::{Admitted, BindError, bind};
use crate::declare::{DeclarationError, Declarations};
use crate::listen::{Current, Incoming, Notices, Shared, listen, lock};
use crate::mailbox::{Receiver, mailbox};
use crate::mode::Modes;
use crate::objects::Code;
use crate::session::{LibraryThreads, Prospect, Running, Session, SessionParts};
use crate::solo;
use crate::thread::{OnPanic, TaskThread, ThreadPlan, ThreadReady};
use crate::watch::Watch;
use leveret_memory::sync::{AtomicBool, Ordering};
use leveret_memory::{LAYOUT_VERSION, OwnSegment, Region};
use leveret_os::control::Connection;
use leveret_os::memory_file::{Mapping, MemoryFile, verify_seals};
use leveret_os::streams::OwnOutput;
use leveret_os::{nudge, scheduling};
use leveret_plan::Plan;
use leveret_protocol::assemble::{Assembled, Mismatch};
use leveret_protocol::control::{
    CONTROL_VERSION, EndReason, FromMember, Horizon, RefusalCause, Scheduling, ToMember, Wish,
    decode_to_member, encode,
};
use leveret_protocol::declaration::{MemberDeclarations, Unfit};
use leveret_protocol::mode::ModeAnswer;
use leveret_types::{Generation, MemberId, Nanos};
use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Environment variable with the path of the agent's socket.
pub const SOCKET_VARIABLE: &str = "LEVERET_SOCKET";
/// Environment variable with the member's name.
pub const MEMBER_VARIABLE: &str = "LEVERET_MEMBER";
/// Environment variable with the job's name: it tells another job's agent whose threads these are.
pub const JOB_VARIABLE: &str = "LEVERET_JOB";
/// Environment variable with the secret that the agent gave to this process.
pub const TOKEN_VARIABLE: &str = "LEVERET_TOKEN";
/// The inodes of the pipes through which the agent reads what a member prints, with a comma between them; absent if it does not.
pub const OUTPUT_VARIABLE: &str = "LEVERET_OUTPUT";

/// Why a process cannot join a job.
#[derive(thiserror::Error)]
pub enum JoinError {
    /// Not started by an agent.
    #[error(
        "this process was not started as a member of a job ({0} is not set); start it with `leveret run JOB.toml`"
    )]
    NotAMember(&'static str),
    /// The agent cannot be reached or does not answer.
    #[error("the agent at {path} cannot be reached: {cause}")]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// The agent does not want us.
    #[error("the agent refused this member: {0}")]
    Refused(String),
    /// The system has no thread for us.
    #[error("the control thread cannot be had: {0}; raise the limits of the process on memory and threads")]
    NoThread(String),
}

/// Why a commit fails. Nothing has changed then, and another commit may be tried.
#[derive(thiserror::Error)]
pub enum CommitError {
    /// The declarations contradict themselves.
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// The agent refused: ends do not match, or the job is not admitted. Every member gets the same, and the agent
    /// prints it: what a member prints of this error does not repeat the reason.
    #[error("the commit was refused; `leveret run` says why")]
    Refused {
        /// Why, a sentence a line.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
        /// Each mismatch, if declarations did not meet.
        mismatches: Vec<Mismatch>,
    },
    /// The job is over, for this reason.
    #[error("the job is over; `leveret run` says why")]
    Over {
        /// Why, a sentence a line.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
    },
    /// The control connection broke.
    #[error("the agent is gone: {0}; the job cannot go on")]
    AgentLost(String),
    /// The admitted plan cannot be bound here.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A task of this member panicked. The agent ends this process unless it ends by itself, as it should; the job then stops, goes on or
    /// starts the member again, as its policy says.
    #[error("a task failed: {0}")]
    TaskFailed(String),
    /// This process has failed in a commit, and is about to be ended by the agent.
    #[error(
        "this member has left a commit without ending it, and can commit nothing more; end the process ({0})"
    )]
    GaveUp(String),
    /// The operating system refused something that commit needs.
    #[error("commit needs {what}, which was refused: {cause}")]
    System {
        /// What.
        what: &'static str,
        /// Why.
        cause: String,
    },
}

fn system(what: &'static str, cause: impl ToString) -> CommitError {
    CommitError::System { what, cause: cause.to_string() }
}

/// This process as a member of its job.
pub struct Member {
    connection: Arc<Connection>,
    incoming: Receiver<Incoming>,
    pub(crate) current: Shared,
    /// No further commit is possible.
    notices: Notices,
    job: String,
    name: String,
    rank: MemberId,
    members: Vec<String>,
    pub(crate) scheduling: Scheduling,
    restarted: bool,
    attempt: u32,
    /// While this member commits with a group: refusals of the whole job's commits are kept for when it commits with all.
    pub(crate) is_in_group: bool,
    kept_refusals: VecDeque<CommitError>,
    pub(crate) modes: Modes,
    told: Option<(i32, String)>,
    /// Why it has said that it gives up, so that nothing it says is heard any more.
    gave_up: Option<String>,
}

impl Member {
    /// Joins the job whose agent started this process.
    pub fn join() -> Result<Self, JoinError> {
        let variable = |name| leveret_os::host::environment(name).ok_or(JoinError::NotAMember(name));
        let path = PathBuf::from(variable(SOCKET_VARIABLE)?);
        let name = variable(MEMBER_VARIABLE)?;
        let token = variable(TOKEN_VARIABLE)?;
        let connection = Connection::connect(&path)
            .map_err(|error| JoinError::Unreachable { path: path.clone(), cause: error.to_string() })?;
        Self::greet(connection, name, token, &path)
    }

    /// As [`Member::join`]; a process that was not started as a member of a job is one of its own, which nobody watches.
    pub(crate) fn join_or_alone() -> Result<Self, JoinError> {
        match Self::join() {
            Err(JoinError::NotAMember(SOCKET_VARIABLE)) => {
                let path = PathBuf::from("this process");
                let (own, agents) = Connection::pair().map_err(|error| JoinError::Unreachable {
                    path: path.clone(),
                    cause: error.to_string(),
                })?;
                solo::serve(agents).map_err(|error| JoinError::NoThread(error.to_string()))?;
                Self::greet(own, solo::MEMBER.to_owned(), String::new(), &path)
            }
            joined => joined,
        }
    }

    /// Says who this is, and learns of the job.
    fn greet(connection: Connection, name: String, token: String, path: &Path) -> Result<Self, JoinError> {
        let unreachable = |cause: String| JoinError::Unreachable { path: path.to_owned(), cause };
        let hello = FromMember::Hello {
            version: CONTROL_VERSION,
            layout: LAYOUT_VERSION,
            token,
            member: name.clone(),
        };
        connection.send(&encode(&hello), &[]).map_err(|error| unreachable(error.to_string()))?;
        let frame = connection.receive().map_err(|error| unreachable(error.to_string()))?;
        match decode_to_member(&frame.bytes).map_err(|error| unreachable(error.to_string()))? {
            ToMember::Welcome { job, rank, members, scheduling, restarted, attempt } => {
                let connection = Arc::new(connection);
                let current = Arc::new(Mutex::new(None));
                let notices = Notices::default();
                let carried = leveret_os::host::environment(OUTPUT_VARIABLE).unwrap_or_default();
                let inodes: Vec<u64> = carried.split(',').filter_map(|inode| inode.parse().ok()).collect();
                let output = OwnOutput::keep(&inodes);
                let incoming =
                    listen(connection.clone(), current.clone(), notices.clone(), (scheduling, output))
                        .map_err(|error| JoinError::NoThread(error.to_string()))?;
                // For those who sleep at its channels.
                leveret_os::barrier::join();
                Ok(Self {
                    connection,
                    incoming,
                    current,
                    notices,
                    job,
                    name,
                    rank,
                    members,
                    scheduling,
                    restarted,
                    attempt,
                    is_in_group: false,
                    kept_refusals: VecDeque::new(),
                    modes: Modes::default(),
                    told: None,
                    gave_up: None,
                })
            }
            ToMember::Refused { reason, .. } => Err(JoinError::Refused(reason)),
            _ => Err(unreachable("it answered out of turn".to_owned())),
        }
    }

    /// The job's name.
    pub fn job(&self) -> &str {
        &self.job
    }
    /// This member's name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// This member's rank: its place in the job's list of members.
    pub fn rank(&self) -> MemberId {
        self.rank
    }
    /// All members' names in rank order.
    pub fn members(&self) -> &[String] {
        &self.members
    }
    /// Whether this process takes the place of one that died.
    pub fn is_restarted(&self) -> bool {
        self.restarted
    }

    /// Whether the job is over, or its agent gone: no commit is possible any more. Read by looking, without a call to
    /// the agent.
    pub fn is_job_over(&self) -> bool {
        self.notices.over.load(Ordering::Acquire)
    }

    /// New declarations; the label names the commit in reports.
    pub fn declare(&self, label: &str) -> Declarations {
        Declarations::new(label)
    }

    /// Commits the declarations, together with every other member (collective). On success the epoch lies ahead
    /// and the tasks wait for it.
    pub fn commit(&mut self, declarations: Declarations) -> Result<Session<'_>, CommitError> {
        let running = self.commit_unborrowed(declarations, |_| Ok(()))?;
        Ok(Session::new(self, running))
    }

    /// As [`Member::commit`], for whoever keeps the member and what runs side by side. `settle` learns which ends have
    /// buffers that belong to those of the other, before anything runs.
    pub(crate) fn commit_unborrowed(
        &mut self,
        declarations: Declarations,
        settle: impl FnOnce(Prospect) -> Result<(), CommitError>,
    ) -> Result<Running, CommitError> {
        if let Err(error) = declarations.check() {
            return Err(self.unfit(None, error.into()));
        }
        self.declare_to_all(declarations.wire.clone())?;
        self.go_on(declarations, settle)
    }

    /// Says what this member declares for the next commit of all.
    fn declare_to_all(&mut self, declarations: MemberDeclarations) -> Result<(), CommitError> {
        self.check_given_up()?;
        // The others have tried without this member: this is its part of that attempt.
        if let Some(refusal) = self.kept_refusals.pop_front() {
            self.attempt = self.attempt.saturating_add(1);
            return Err(refusal);
        }
        self.send(&FromMember::Declare { attempt: self.attempt, declarations }, &[])
    }

    /// As [`Member::commit_unborrowed`] for these members alone, of which this is one.
    pub(crate) fn commit_group(
        &mut self,
        members: Vec<MemberId>,
        declarations: Declarations,
        settle: impl FnOnce(Prospect) -> Result<(), CommitError>,
    ) -> Result<Running, CommitError> {
        if let Err(error) = declarations.check() {
            return Err(self.unfit(Some(members), error.into()));
        }
        self.check_given_up()?;
        let wire = declarations.wire.clone();
        self.send(&FromMember::DeclareGroup { members, declarations: wire }, &[])?;
        self.is_in_group = true;
        let running = self.go_on(declarations, settle);
        self.is_in_group = running.is_ok();
        running
    }

    /// Takes part in a commit of all, or of a group, by saying that this member has nothing that it can commit (collective): nobody
    /// waits for it, and all are refused. Gives what all get.
    pub(crate) fn decline(&mut self, group: Option<Vec<MemberId>>, unfit: Unfit) -> CommitError {
        let declarations = MemberDeclarations { unfit: Some(unfit), ..MemberDeclarations::default() };
        let is_of_group = group.is_some();
        let said = match group {
            None => self.declare_to_all(declarations),
            Some(members) => self.send(&FromMember::DeclareGroup { members, declarations }, &[]),
        };
        self.is_in_group |= is_of_group && said.is_ok();
        let refusal = said.err().unwrap_or_else(|| self.await_refusal());
        self.is_in_group &= !is_of_group;
        refusal
    }

    /// As [`Member::decline`] for an error of this member's own, which it gets unless it was refused for something else.
    fn unfit(&mut self, group: Option<Vec<MemberId>>, error: CommitError) -> CommitError {
        let unfit = Unfit { code: Code::from(&error) as i32, reason: error.to_string() };
        let refusal = self.decline(group, unfit);
        self.own_of(error, refusal)
    }

    /// Of a refusal that some member's own error was the cause of, this member gets its own; what all were told is kept.
    fn own_of(&mut self, error: CommitError, refusal: CommitError) -> CommitError {
        match refusal {
            CommitError::Refused { cause: RefusalCause::Declined(code), reason, .. } => {
                self.told = Some((code, reason));
                error
            }
            refusal => refusal,
        }
    }

    /// What all members were told when this one's last commit failed by an error of its own: the number of an error, and the reason.
    pub(crate) fn take_told(&mut self) -> Option<(i32, String)> {
        self.told.take()
    }

    /// What is said before it is of no use any more.
    pub(crate) fn await_refusal(&mut self) -> CommitError {
        loop {
            if let Err(refusal) = self.next_of_commit() {
                return refusal;
            }
        }
    }

    /// From the declarations to what runs.
    fn go_on(
        &mut self,
        declarations: Declarations,
        settle: impl FnOnce(Prospect) -> Result<(), CommitError>,
    ) -> Result<Running, CommitError> {
        let admission = self.await_plan()?;
        let parts = match self.carry_out(&admission, declarations, settle) {
            Ok(parts) => parts,
            Err(error @ (CommitError::Bind(_) | CommitError::System { .. })) => {
                return Err(self.withdraw(admission.generation, error));
            }
            Err(error) => return Err(error),
        };
        Ok(Running::new(parts))
    }

    /// From the admitted plan to threads that know their epoch.
    fn carry_out(
        &mut self,
        admission: &Admission,
        declarations: Declarations,
        settle: impl FnOnce(Prospect) -> Result<(), CommitError>,
    ) -> Result<SessionParts, CommitError> {
        let Admission { generation, assembled, plan, horizon } = admission;
        let (generation, horizon) = (*generation, *horizon);
        let admitted = Admitted { assembled, plan, generation };
        let mut own = self.make_segment(&admitted)?;
        let peers = self.await_peers(&admitted)?;
        let watch = Arc::new(Watch::new(self.members.len(), Nanos::MAX));
        *lock(&self.current) = Some(Current { watch: watch.clone(), threads: Vec::new(), next: None });
        let find = |member: MemberId| {
            peers.iter().find(|(peer, _)| *peer == member).map(|(_, region)| region.clone())
        };
        let own_region = own.1;
        let rank = self.rank;
        let peer = |member: MemberId| if member == rank { Some(own_region.clone()) } else { find(member) };
        let bound = bind(&admitted, rank, declarations, &mut own.0, peer, &watch)?;
        let how = (rank, self.scheduling);
        let prospect = Prospect::new(&admitted, how, &watch, (bound.mapped, bound.events));
        let served = prospect.works.len();
        settle(prospect)?;
        let (threads, ready, activations) = self.start_threads(&admitted, bound.tasks, |plan| plan)?;
        let threads_known = ready.iter().map(|report| report.thread).collect();
        *lock(&self.current) = Some(Current { watch: watch.clone(), threads: threads_known, next: None });
        let lost = if served == 0 { None } else { self.lost_without_real_time(served)? };
        self.report_ready(generation, ready, lost)?;
        let epoch = self.await_epoch(generation)?;
        watch.stop_no_later_than(epoch + horizon.span(plan.hyperperiod));
        // Here too, and not by the tasks alone: the program may activate an end before its task has woken.
        for (_, activation) in &activations {
            activation.arm(epoch);
        }
        for thread in &threads {
            thread.arm(epoch);
        }
        Ok(SessionParts {
            generation,
            epoch,
            horizon,
            hyperperiod: plan.hyperperiod,
            threads,
            sources: bound.sources,
            targets: bound.targets,
            activations,
            watch,
            segment: own.0,
        })
    }

    /// Gives up an admitted commit that cannot be carried out here, so that nobody waits for this member. Gives its own error, unless
    /// the commit was refused for something else meanwhile.
    pub(crate) fn withdraw(&mut self, generation: Generation, error: CommitError) -> CommitError {
        let unfit = Unfit { code: Code::from(&error) as i32, reason: error.to_string() };
        if let Err(lost) = self.send(&FromMember::Withdraw { generation, unfit }, &[]) {
            return lost;
        }
        let refusal = self.await_refusal();
        self.own_of(error, refusal)
    }

    /// What ends the whole job, for any thread.
    pub fn aborter(&self) -> Aborter {
        Aborter::new(self.connection.clone())
    }

    /// What tells of failures, for any thread.
    pub(crate) fn teller(&self) -> Teller {
        Teller::new(self.connection.clone())
    }

    /// Says that this member has failed in the middle of a commit and is about to end.
    pub(crate) fn give_up(&mut self, wish: Wish) {
        self.note_given_up(wish.why.clone());
        // An agent that is gone needs no word.
        let _ = self.send(&FromMember::GiveUp(wish), &[]);
    }

    /// The tasks have failed, and one of them has said so to the agent.
    pub(crate) fn note_given_up(&mut self, reason: String) {
        self.gave_up = Some(reason);
        self.notices.over.store(true, Ordering::Release);
    }

    pub(crate) fn check_given_up(&self) -> Result<(), CommitError> {
        self.gave_up.clone().map_or(Ok(()), |reason| Err(CommitError::GaveUp(reason)))
    }

    /// Says that this member commits nothing more, and waits until no other may either (collective); the dead are not waited for.
    ///
    /// # Errors
    /// [`CommitError::GaveUp`]: to the others it is dead, and it waits for nobody.
    pub(crate) fn leave(&self) -> Result<(), CommitError> {
        self.check_given_up()?;
        self.notices.left.store(true, Ordering::Release);
        // An agent that is gone keeps nobody.
        if self.send(&FromMember::Leave, &[]).is_ok() {
            while self.next().is_ok() {}
        }
        Ok(())
    }

    pub(crate) fn send(&self, message: &FromMember, descriptors: &[OwnedFd]) -> Result<(), CommitError> {
        let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        self.connection
            .send(&encode(message), &borrowed)
            .map_err(|error| CommitError::AgentLost(error.to_string()))
    }

    /// The next message from the agent.
    pub(crate) fn next(&self) -> Result<(ToMember, Vec<OwnedFd>), CommitError> {
        match self.incoming.receive() {
            Some(Ok(message)) => Ok(message),
            Some(Err(cause)) => Err(CommitError::AgentLost(cause)),
            None => Err(CommitError::AgentLost("the control thread has ended".to_owned())),
        }
    }

    /// The next message, unless it refuses the commit.
    pub(crate) fn next_of_commit(&mut self) -> Result<(ToMember, Vec<OwnedFd>), CommitError> {
        loop {
            match self.next()? {
                (ToMember::Refused { reason, cause, mismatches, may_retry }, _) => {
                    let refusal = if may_retry {
                        CommitError::Refused { reason, cause, mismatches }
                    } else {
                        CommitError::Over { reason, cause }
                    };
                    if self.is_in_group {
                        self.kept_refusals.push_back(refusal);
                        continue;
                    }
                    self.attempt = self.attempt.saturating_add(1);
                    return Err(refusal);
                }
                (ToMember::GroupRefused { reason, cause, mismatches }, _) => {
                    return Err(CommitError::Refused { reason, cause, mismatches });
                }
                (ToMember::Mode(ModeAnswer::Refused { reason, cause, mismatches }), _) => {
                    self.modes.refused();
                    return Err(CommitError::Refused { reason, cause, mismatches });
                }
                // Deaths are acted upon by the control thread; what is left here is an echo.
                (ToMember::PeerDied { .. } | ToMember::StopAt { .. }, _) => {}
                other => return Ok(other),
            }
        }
    }

    pub(crate) fn await_plan(&mut self) -> Result<Admission, CommitError> {
        match self.next_of_commit()?.0 {
            ToMember::Planned { generation, assembled, plan, horizon } => {
                Ok(Admission { generation, assembled: *assembled, plan: *plan, horizon })
            }
            _ => Err(CommitError::AgentLost("it spoke out of turn instead of sending the plan".to_owned())),
        }
    }

    pub(crate) fn make_segment(
        &self,
        admitted: &Admitted<'_>,
    ) -> Result<(OwnSegment, Arc<dyn Region>), CommitError> {
        let layout = admitted.layout(self.rank).map_err(BindError::from)?;
        let size = layout.size() as u64;
        let name = format!("leveret:{}:{}", self.job, self.name);
        let (file, mapping) =
            MemoryFile::create(&name, size).map_err(|error| system("a sealed memory file", error))?;
        let region: Arc<dyn Region> = Arc::new(mapping);
        let segment = OwnSegment::create(region.clone(), &layout)
            .map_err(|error| BindError::Segment { member: self.rank, error })?;
        self.send(&FromMember::Segment { generation: admitted.generation, size }, &[file])?;
        Ok((segment, region))
    }

    pub(crate) fn await_peers(&mut self, admitted: &Admitted<'_>) -> Result<Vec<Peer>, CommitError> {
        let (message, descriptors) = self.next_of_commit()?;
        let ToMember::Peers { members, .. } = message else {
            return Err(CommitError::AgentLost(
                "it spoke out of turn instead of sending the peers".to_owned(),
            ));
        };
        if members.len() != descriptors.len() {
            return Err(CommitError::AgentLost("it sent fewer descriptors than peers".to_owned()));
        }
        let mut peers = Vec::with_capacity(members.len());
        for (member, file) in members.into_iter().zip(descriptors) {
            let size = admitted.layout(member).map_err(BindError::from)?.size() as u64;
            verify_seals(file.as_fd(), size).map_err(|error| system("a peer's sealed segment", error))?;
            let mapping = Mapping::read_only(file.as_fd(), size)
                .map_err(|error| system("a map of a peer's segment", error))?;
            peers.push((member, Arc::new(mapping) as Arc<dyn Region>));
        }
        Ok(peers)
    }

    pub(crate) fn start_threads(
        &self,
        admitted: &Admitted<'_>,
        tasks: Vec<(leveret_types::TaskId, crate::runner::TaskRunner)>,
        how: impl Fn(ThreadPlan) -> ThreadPlan,
    ) -> Result<Started, CommitError> {
        let (ready, reports) = mailbox(tasks.len());
        let mut threads = Vec::with_capacity(tasks.len());
        let mut activations = Vec::new();
        let on_panic = self.on_panic();
        for (id, runner) in tasks {
            activations.extend(runner.activations());
            let plan = how(ThreadPlan::new(&admitted.assembled.job, admitted.plan, id, self.scheduling));
            let name = &admitted.assembled.job.tasks[id.index()].name;
            let thread = TaskThread::start(runner, plan, name, ready.clone(), on_panic.clone())
                .map_err(|error| system("a thread for a task", error))?;
            threads.push(thread);
        }
        drop(ready);
        let reports: Vec<ThreadReady> = reports.all().collect();
        Ok((threads, reports, activations))
    }

    /// What a task's thread does when its body has panicked: it tells the agent, which may know of no other sign for long.
    fn on_panic(&self) -> OnPanic {
        let (connection, has_told) = (self.connection.clone(), AtomicBool::new(false));
        Arc::new(move |text, wish| {
            // One that gives up says nothing more, so the second task that panics is not reported.
            if !has_told.swap(true, Ordering::AcqRel) {
                let wish = wish.told(format!("a task failed: {text}"));
                let _ = connection.send(&encode(&FromMember::GiveUp(wish)), &[]);
            }
        })
    }

    /// What work beside the time table lacks, where its threads may not have a real-time class.
    ///
    /// # Errors
    /// When a thread to try it on cannot be had.
    pub(crate) fn lost_without_real_time(&self, count: usize) -> Result<Option<String>, CommitError> {
        let has_real_time = LibraryThreads::has_real_time(self.scheduling)?;
        Ok((!has_real_time).then(|| {
            format!(
                "what member \"{}\" runs at priorities ({count} in all) shares one thread without a real-time class: of what is \
                 ready the more urgent still goes first, but nothing interrupts what is less urgent, and the plan's bounds do not \
                 hold; `leveret doctor` prints what grants SCHED_FIFO",
                self.name
            )
        }))
    }

    pub(crate) fn report_ready(
        &self,
        generation: Generation,
        reports: Vec<ThreadReady>,
        lost: Option<String>,
    ) -> Result<(), CommitError> {
        let mut warnings: Vec<String> = lost.into_iter().collect();
        if let Err(error) = scheduling::lock_memory() {
            warnings.push(error.to_string());
        }
        if let Err(error) = nudge::prepare() {
            warnings.push(error.to_string());
        }
        let threads = reports.iter().map(|report| (report.task.0, report.thread)).collect();
        let mut obtained: Vec<&str> = reports.iter().map(|report| report.scheduling).collect();
        obtained.sort_unstable();
        obtained.dedup();
        let scheduling = if obtained.is_empty() { "none".to_owned() } else { obtained.join(" and ") };
        warnings.extend(reports.into_iter().flat_map(|report| report.warnings));
        warnings.sort();
        warnings.dedup();
        self.send(&FromMember::Ready { generation, threads, scheduling, warnings }, &[])
    }

    fn await_epoch(&mut self, generation: Generation) -> Result<Nanos, CommitError> {
        match self.next_of_commit()?.0 {
            ToMember::Go { generation: g, epoch } if g == generation => Ok(epoch),
            _ => Err(CommitError::AgentLost("it spoke out of turn instead of setting the epoch".to_owned())),
        }
    }

    /// Waits until the agent says that everybody has finished.
    pub(crate) fn await_uncommitted(&mut self, generation: Generation) -> Result<EndReason, CommitError> {
        loop {
            match self.next()?.0 {
                ToMember::Uncommitted { generation: g, reason } if g == generation => {
                    *lock(&self.current) = None;
                    self.is_in_group = false;
                    return Ok(reason);
                }
                ToMember::Refused { reason, cause, mismatches, may_retry } if self.is_in_group => {
                    self.kept_refusals.push_back(if may_retry {
                        CommitError::Refused { reason, cause, mismatches }
                    } else {
                        CommitError::Over { reason, cause }
                    });
                }
                ToMember::Refused { reason, cause, .. } => {
                    return Err(CommitError::Over { reason, cause });
                }
                _ => {}
            }
        }
    }
}

/// What the agent admitted.
pub(crate) struct Admission {
    pub(crate) generation: Generation,
    pub(crate) assembled: Assembled,
    pub(crate) plan: Plan,
    pub(crate) horizon: Horizon,
}

/// A peer's segment, mapped for reading.
pub(crate) type Peer = (MemberId, Arc<dyn Region>);

pub(crate) type Started = (Vec<TaskThread>, Vec<ThreadReady>, Vec<(u32, Arc<crate::activation::Activation>)>);
