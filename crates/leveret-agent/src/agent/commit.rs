//! The agent's part of a commit: admission, segments taken and passed on.

use super::{Agent, Running};
use crate::aside::PassedFiles;
use crate::members::HeldSegment;
use leveret_memory::{PeerSegment, Region};
use leveret_os::control::BODY_BYTES_MAX;
use leveret_os::memory_file::{Mapping, verify_seals};
use leveret_os::threads_of;
use leveret_plan::{Costs, Kept, Plan};
use leveret_protocol::admission::{Refused, admit};
use leveret_protocol::assemble::Assembled;
use leveret_protocol::control::{ToMember, encode};
use leveret_protocol::coordinator::Action;
use leveret_protocol::declaration::MemberDeclarations;
use leveret_runtime::Admitted;
use leveret_types::{Generation, MemberId};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

impl Running {
    /// A member's segment is taken only sealed, of the planned size, and with a valid header.
    pub(super) fn verified(
        &self,
        rank: usize,
        generation: Generation,
        size: u64,
        files: PassedFiles,
    ) -> Result<HeldSegment, String> {
        let none = "a segment message carries one descriptor";
        let file = files.only().ok_or(none)?;
        let member = MemberId(rank as u16);
        let admitted = Admitted { assembled: &self.assembled, plan: &self.plan, generation };
        let layout = admitted.layout(member).map_err(|error| error.to_string())?;
        if layout.size() as u64 != size {
            return Err(format!("its segment has {size} bytes, the plan says {}", layout.size()));
        }
        verify_seals(file.as_fd(), size).map_err(|error| error.to_string())?;
        let region = Mapping::read_only(file.as_fd(), size).map_err(|error| error.to_string())?;
        let region: Arc<dyn Region> = Arc::new(region);
        PeerSegment::attach(region.clone(), &layout, member, generation)
            .map_err(|error| error.to_string())?;
        let file = files.take_only().ok_or(none)?;
        Ok(HeldSegment { file, region })
    }

    /// Which tasks have threads is the member's word: its own tasks, and each once.
    pub(super) fn owns(&self, rank: usize, threads: &[(u16, u32)]) -> Result<(), String> {
        for (place, (task, _)) in threads.iter().enumerate() {
            let declared = self.assembled.job.tasks.get(usize::from(*task));
            if declared.is_none_or(|task| task.member.index() != rank) {
                return Err(format!("task {task} is not its own"));
            }
            if threads[..place].iter().any(|(other, _)| other == task) {
                return Err(format!("task {task} has two threads"));
            }
        }
        Ok(())
    }

    /// The members' segments as the watcher reads them, in rank order.
    pub(super) fn attached(
        &self,
        generation: Generation,
        segments: Vec<Option<&HeldSegment>>,
    ) -> Vec<Option<PeerSegment>> {
        let admitted = Admitted { assembled: &self.assembled, plan: &self.plan, generation };
        let attached = segments.into_iter().enumerate().map(|(rank, segment)| {
            let member = MemberId(rank as u16);
            let layout = admitted.layout(member).ok()?;
            PeerSegment::attach(segment?.region.clone(), &layout, member, generation).ok()
        });
        attached.collect()
    }
}

/// The bytes of a plan for its members, if they are no more than a message has.
pub(super) fn plan_message(message: &ToMember) -> Result<Vec<u8>, String> {
    let bytes = encode(message);
    if bytes.len() <= BODY_BYTES_MAX {
        return Ok(bytes);
    }
    Err(format!(
        "the job is too large: its plan has {} MiB as a message to each member, and a message has at most {} MiB; declare fewer tasks and \
         channels, or periods of which fewer fit into the round",
        bytes.len().div_ceil(1 << 20),
        BODY_BYTES_MAX >> 20
    ))
}

impl Agent<'_> {
    pub(super) fn admit(&mut self, declarations: &[MemberDeclarations]) -> Result<(), String> {
        let label =
            declarations.iter().map(|declared| declared.label.as_str()).find(|label| !label.is_empty());
        let label = label.map_or_else(|| format!("commit {}", self.ended.count() + 1), str::to_owned);
        self.measure_for(declarations);
        let admitted =
            admit(&self.config.declaration, declarations, (self.costs, self.config.guard_fixed), &[]);
        let (assembled, plan, costs) = admitted.map_err(|Refused { reason, mismatches }| {
            self.mismatches = mismatches;
            reason
        })?;
        self.warn_of_guard(costs);
        let plan = self.off_the_tick(&assembled, plan);
        self.running = Some(Running { assembled, plan, label, kept: Kept::default() });
        Ok(())
    }

    /// The plan with starts moved where no epoch keeps the tick away from them. Single shots are bound to their instants.
    fn off_the_tick(&mut self, assembled: &Assembled, plan: Plan) -> Plan {
        let ticks = self.ticks.as_ref().filter(|_| assembled.shots.is_empty());
        let apart = ticks.and_then(|ticks| ticks.apart(&assembled.job, &plan));
        let Some((apart, moves)) = apart else { return plan };
        self.note(&format!(
            "planned starts that are moved within their windows, off the kernel's tick: {moves}; `leveret plan` shows them as the search placed them"
        ));
        apart
    }

    pub(super) fn warn_of_guard(&mut self, costs: Costs) {
        if costs.guard < self.costs.guard {
            self.warn([format!(
                "the measured guard of {} does not fit the job; {} is used, so more late wakes are late starts",
                self.costs.guard, costs.guard
            )]);
        }
    }

    pub(super) fn send_plan(&mut self) -> Vec<Action> {
        let Some(running) = &self.running else { return Vec::new() };
        let message = ToMember::Planned {
            generation: self.coordinator.generation(),
            assembled: Box::new(running.assembled.clone()),
            plan: Box::new(running.plan.clone()),
            horizon: self.config.horizon,
        };
        let message = match plan_message(&message) {
            Ok(message) => message,
            Err(reason) => return self.coordinator.plan_unsent(reason),
        };
        self.refusal = None;
        self.groups.refusal = None;
        for seat in &mut self.seats {
            seat.segment = None;
        }
        self.send_to(0..self.seats.len(), &message);
        Vec::new()
    }

    /// Each member gets just the segments that the plan names for it.
    pub(super) fn distribute(&mut self) -> Vec<Action> {
        let Some(running) = &self.running else { return Vec::new() };
        let generation = self.coordinator.generation();
        let segments: Vec<_> = self.seats.iter().map(|seat| seat.segment.as_ref()).collect();
        let failed = self.distribute_segments(running, generation, &segments, |_| true);
        for (rank, error) in failed {
            self.expel(rank, &error);
        }
        Vec::new()
    }

    /// To those who take part. Gives the ranks of those who could not be reached, and why.
    pub(super) fn distribute_segments(
        &self,
        running: &Running,
        generation: Generation,
        segments: &[Option<&HeldSegment>],
        takes_part: impl Fn(MemberId) -> bool,
    ) -> Vec<(usize, String)> {
        let admitted = Admitted { assembled: &running.assembled, plan: &running.plan, generation };
        let mut failed = Vec::new();
        for (rank, seat) in self.seats.iter().enumerate() {
            let Some(connection) = &seat.connection else { continue };
            let member = MemberId(rank as u16);
            if !takes_part(member) {
                continue;
            }
            let peers = admitted.peers(member).into_iter().filter(|peer| *peer != member);
            let held = peers.filter_map(|peer| Some((peer, segments[peer.index()]?)));
            let (peers, files): (Vec<MemberId>, Vec<BorrowedFd<'_>>) =
                held.map(|(peer, segment)| (peer, segment.file.as_fd())).unzip();
            let message = encode(&ToMember::Peers { generation, members: peers });
            if let Err(error) = connection.send(&message, &files) {
                failed.push((rank, format!("it could not be sent its peers' segments: {error}")));
            }
        }
        failed
    }

    /// A member's segment is taken only sealed, of the planned size, and with a valid header.
    pub(super) fn take_segment(&mut self, rank: usize, size: u64, files: PassedFiles) -> Result<(), String> {
        let running = self.running.as_ref().ok_or("a segment without a plan")?;
        let held = running.verified(rank, self.coordinator.generation(), size, files)?;
        self.seats[rank].segment = Some(held);
        Ok(())
    }

    /// Which tasks have which threads is the member's word: its own tasks, and threads of its own process.
    pub(super) fn take_ready(&mut self, rank: usize, threads: &[(u16, u32)]) -> Result<(), String> {
        let running = self.running.as_ref().ok_or("ready without a plan")?;
        running.owns(rank, threads)?;
        self.seats[rank].threads = self.known_threads(rank, threads)?;
        Ok(())
    }

    /// The threads of tasks by the numbers that they have here: of the process that joined, and no other. In a process namespace of its
    /// own a member knows them by other numbers.
    pub(super) fn known_threads(
        &mut self,
        rank: usize,
        threads: &[(u16, u32)],
    ) -> Result<Vec<(u16, u32)>, String> {
        let Some(process) = self.seats[rank].process() else { return Err("it has no process".to_owned()) };
        let Ok(numbers) = threads_of::numbers(process) else {
            let name = &self.config.launch[rank].member;
            let warning = format!(
                "the threads of member \"{name}\" cannot be seen from here: what held them up is not known; start `leveret run` in a \
                 process namespace that has its members in it, and without hidepid on /proc"
            );
            self.warn([warning]);
            return Ok(Vec::new());
        };
        let known = |(task, thread): &(u16, u32)| {
            let number = numbers.iter().find(|(own, _)| own == thread).map(|(_, here)| (*task, *here));
            number.ok_or_else(|| format!("thread {thread} of task {task} is not of its process {process}"))
        };
        let known: Result<Vec<_>, String> = threads.iter().map(known).collect();
        let known = known?;
        let mut distinct: Vec<u32> = known.iter().map(|(_, thread)| *thread).collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < known.len() {
            return Err("two of its tasks have the same thread".to_owned());
        }
        Ok(known)
    }
}
