//! A whole job in one process: the same declarations, segments, ports and runners, without sockets or memory files.
//! In virtual time it is deterministic, on one thread or on many; on many it is what race detectors look at.

use crate::binding::{Admitted, BindError, bind};
use crate::declare::{DeclarationError, Declarations};
use crate::free_end::{ReceivingEnd, SendingEnd};
use crate::meter::Meter;
use crate::runner::{Step, TaskRunner};
use crate::virtual_clock::VirtualClock;
use crate::watch::Watch;
use leveret_memory::sync::{AtomicI64, Ordering, compiler_fence};
use leveret_memory::{HeapRegion, OwnSegment, PeerSegment, Region};
use leveret_plan::{Costs, Job, Plan};
use leveret_protocol::assemble::{Assembled, Mismatch, assemble};
use leveret_protocol::declaration::JobDeclaration;
use leveret_types::{Generation, MemberId, Nanos, TaskId};
use std::sync::Arc;

/// Why a job cannot be committed in one process.
#[derive(Debug, thiserror::Error)]
pub enum InProcessError {
    /// A member's declarations contradict themselves.
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// Declarations do not meet.
    #[error("{}", .0.iter().map(Mismatch::to_string).collect::<Vec<_>>().join("\n"))]
    Mismatch(Vec<Mismatch>),
    /// The job was not admitted.
    #[error("{0}")]
    Refused(String),
    /// The plan cannot be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// A task of the job with its own virtual clock.
pub struct VirtualTask {
    /// Which task.
    pub id: TaskId,
    /// Its time.
    pub clock: Arc<VirtualClock>,
    runner: TaskRunner,
    ended: bool,
}

/// A committed job in this process.
pub struct InProcessJob {
    /// The declarations as they met.
    pub assembled: Assembled,
    /// The plan.
    pub plan: Plan,
    /// Tasks in the order of the members.
    pub tasks: Vec<VirtualTask>,
    /// Sending ends that no task owns: (member, end).
    pub sources: Vec<(MemberId, SendingEnd)>,
    /// Receiving ends that no task owns: (member, end).
    pub targets: Vec<(MemberId, ReceivingEnd)>,
    watches: Vec<Arc<Watch>>,
    regions: Vec<Arc<dyn Region>>,
    epoch: Nanos,
    /// Ends whose buffers belong to those of the other: (member, declared end, how).
    #[cfg(all(test, debug_assertions))]
    pub(crate) mapped: Vec<(MemberId, u32, crate::binding::MappedEnd)>,
}

const GENERATION: Generation = Generation(1);

impl InProcessJob {
    /// Commits: `declarations` in rank order, admitted by `plan`.
    pub fn commit(
        manifest: &JobDeclaration,
        declarations: Vec<Declarations>,
        costs: Costs,
        plan: impl FnOnce(&Job) -> Result<Plan, String>,
    ) -> Result<Self, InProcessError> {
        for declared in &declarations {
            declared.check()?;
        }
        let wires: Vec<_> = declarations.iter().map(|declared| declared.wire.clone()).collect();
        let assembled = assemble(manifest, &wires, costs).map_err(InProcessError::Mismatch)?;
        let plan = plan(&assembled.job).map_err(InProcessError::Refused)?;
        let admitted = Admitted { assembled: &assembled, plan: &plan, generation: GENERATION };
        let (regions, mut segments) = segments(&admitted, declarations.len())?;
        let mut job = Self {
            tasks: Vec::new(),
            sources: Vec::new(),
            targets: Vec::new(),
            watches: Vec::new(),
            regions: regions.clone(),
            epoch: Nanos::ZERO,
            assembled: assembled.clone(),
            plan: plan.clone(),
            #[cfg(all(test, debug_assertions))]
            mapped: Vec::new(),
        };
        for (rank, declared) in declarations.into_iter().enumerate() {
            let member = MemberId(rank as u16);
            let watch = Arc::new(Watch::new(segments.len(), Nanos::MAX));
            let peer = |peer: MemberId| regions.get(peer.index()).cloned();
            let bound = bind(&admitted, member, declared, &mut segments[rank], peer, &watch)?;
            job.tasks.extend(bound.tasks.into_iter().map(|(id, runner)| VirtualTask {
                id,
                clock: Arc::new(VirtualClock::new()),
                runner,
                ended: false,
            }));
            job.sources.extend(bound.sources.into_iter().map(|(_, end)| (member, end)));
            job.targets.extend(bound.targets.into_iter().map(|(_, end)| (member, end)));
            #[cfg(all(test, debug_assertions))]
            job.mapped.extend(bound.mapped.into_iter().map(|(end, mapped)| (member, end, mapped)));
            job.watches.push(watch);
        }
        Ok(job)
    }

    /// The epoch of the run.
    pub fn epoch(&self) -> Nanos {
        self.epoch
    }

    /// The segment of a member, as a watcher sees it.
    pub fn segment(&self, member: MemberId) -> Result<PeerSegment, BindError> {
        let admitted = Admitted { assembled: &self.assembled, plan: &self.plan, generation: GENERATION };
        let layout = admitted.layout(member)?;
        let region = self.regions.get(member.index()).cloned().ok_or(BindError::PeerMissing(member))?;
        PeerSegment::attach(region, &layout, member, GENERATION)
            .map_err(|error| BindError::Segment { member, error })
    }

    /// The virtual clock of a task.
    pub fn clock(&self, task: TaskId) -> Option<Arc<VirtualClock>> {
        self.tasks.iter().find(|candidate| candidate.id == task).map(|task| task.clock.clone())
    }

    /// What an end of `member` that a task serves shares with it, by the number of its declaration.
    #[cfg(test)]
    pub(crate) fn shared_activation(
        &self,
        member: MemberId,
        end: u32,
    ) -> Option<(Arc<crate::activation::Activation>, Arc<Watch>)> {
        let own = |task: &&VirtualTask| self.assembled.job.tasks[task.id.index()].member == member;
        let mut all = self.tasks.iter().filter(own).flat_map(|task| task.runner.activations());
        let (_, activation) = all.find(|(index, _)| *index == end)?;
        Some((activation, self.watches[member.index()].clone()))
    }

    /// As at the end of every task's thread.
    #[cfg(test)]
    pub(crate) fn leave(&mut self) {
        self.tasks.iter_mut().for_each(|task| task.runner.leave());
    }

    /// From here on a member does nothing, as if it were stopped.
    #[cfg(test)]
    pub(crate) fn stop(&mut self, member: MemberId) {
        let tasks = &self.assembled.job.tasks;
        let own = self.tasks.iter_mut().filter(|task| tasks[task.id.index()].member == member);
        own.for_each(|task| task.ended = true);
    }

    /// The length of a round.
    #[cfg(test)]
    pub(crate) fn hyperperiod(&self) -> Nanos {
        self.plan.hyperperiod
    }

    /// What the threads of a member share.
    #[cfg(test)]
    pub(crate) fn watch(&self, member: MemberId) -> &Arc<Watch> {
        &self.watches[member.index()]
    }

    pub(crate) fn arm(&mut self, epoch: Nanos, rounds: u64) {
        self.epoch = epoch;
        let span = self.plan.hyperperiod.saturating_mul(i64::try_from(rounds).unwrap_or(i64::MAX));
        for watch in &self.watches {
            watch.stop_no_later_than(epoch + span);
        }
        for task in &mut self.tasks {
            task.runner.arm(epoch);
        }
        for (_, end) in &mut self.sources {
            end.arm(epoch);
        }
        for (_, end) in &mut self.targets {
            end.arm(epoch);
        }
    }

    /// Runs `rounds` hyperperiods in virtual time, in the order of planned starts. `before` is called before each
    /// instance with the task and its planned start, and may plant what it likes into the task's clock.
    pub fn run_virtual(&mut self, rounds: u64, before: impl FnMut(TaskId, Nanos, &VirtualClock)) {
        self.run_virtual_from(Nanos::from_secs(1), rounds, before);
    }

    /// As [`InProcessJob::run_virtual`], from this epoch on.
    pub(crate) fn run_virtual_from(
        &mut self,
        epoch: Nanos,
        rounds: u64,
        mut before: impl FnMut(TaskId, Nanos, &VirtualClock),
    ) {
        self.arm(epoch, rounds);
        loop {
            let next =
                self.tasks.iter_mut().filter(|task| !task.ended).min_by_key(|task| task.runner.next_start());
            let Some(task) = next else { return };
            before(task.id, task.runner.next_start() - epoch, &task.clock);
            task.ended = task.runner.step(&*task.clock, &mut Meter::undisturbed()) == Step::Ended;
            if task.ended {
                task.runner.publish_counts();
            }
        }
    }

    /// Runs `rounds` hyperperiods in virtual time on a thread per task. An instance runs when no other thread has one that is planned
    /// to start earlier, so that what arrives is as certain as with [`InProcessJob::run_virtual`]; those that start together run together.
    ///
    /// Between the threads nothing but their channels orders memory, so that a race detector sees what those leave unordered. It needs a
    /// machine on which stores of one thread are seen in their order, as x86-64 is.
    pub fn run_threads(&mut self, rounds: u64) {
        self.arm(Nanos::from_secs(1), rounds);
        let starts: Vec<AtomicI64> =
            self.tasks.iter().map(|task| AtomicI64::new(task.runner.next_start().0)).collect();
        std::thread::scope(|scope| {
            for (own, task) in self.tasks.iter_mut().enumerate() {
                let starts = &starts;
                scope.spawn(move || {
                    let turn = Turn { starts, own };
                    loop {
                        turn.wait(task.runner.next_start());
                        if task.runner.step(&*task.clock, &mut Meter::undisturbed()) == Step::Ended {
                            break;
                        }
                    }
                    task.ended = true;
                    task.runner.publish_counts();
                });
            }
        });
    }
}

/// Whose instance comes next of several threads. At its end, by a panic too, a thread holds up nobody.
struct Turn<'a> {
    starts: &'a [AtomicI64],
    own: usize,
}

impl Turn<'_> {
    /// Until no other thread has an earlier start than this.
    fn wait(&self, start: Nanos) {
        self.say(start.0);
        while self.starts.iter().any(|other| other.load(Ordering::Relaxed) < start.0) {
            std::thread::yield_now();
        }
        compiler_fence(Ordering::SeqCst);
    }

    /// Relaxed, and fenced for the compiler only: a release would order what the channels must order by themselves.
    fn say(&self, start: i64) {
        compiler_fence(Ordering::SeqCst);
        self.starts[self.own].store(start, Ordering::Relaxed);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.say(i64::MAX);
    }
}

type Segments = (Vec<Arc<dyn Region>>, Vec<OwnSegment>);

fn segments(admitted: &Admitted<'_>, members: usize) -> Result<Segments, BindError> {
    let mut regions: Vec<Arc<dyn Region>> = Vec::with_capacity(members);
    let mut segments = Vec::with_capacity(members);
    for rank in 0..members {
        let member = MemberId(rank as u16);
        let layout = admitted.layout(member)?;
        let region: Arc<dyn Region> = Arc::new(HeapRegion::new(layout.size()));
        let segment = OwnSegment::create(region.clone(), &layout)
            .map_err(|error| BindError::Segment { member, error })?;
        regions.push(region);
        segments.push(segment);
    }
    Ok((regions, segments))
}
