//! The agent's part of a commit: admission, segments taken and passed on.

use super::{Agent, Running};
use crate::members::HeldSegment;
use leveret_memory::{PeerSegment, Region};
use leveret_os::memory_file::{Mapping, verify_seals};
use leveret_plan::Costs;
use leveret_plan::Kept;
use leveret_protocol::admission::{Refused, admit};
use leveret_protocol::control::{ToMember, encode};
use leveret_protocol::coordinator::Action;
use leveret_protocol::declaration::MemberDeclarations;
use leveret_runtime::Admitted;
use leveret_types::{Generation, MemberId};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

impl Running {
    /// A member's segment is taken only sealed, of the planned size, and with a valid header.
    pub(super) fn verified(
        &self,
        rank: usize,
        generation: Generation,
        size: u64,
        files: Vec<OwnedFd>,
    ) -> Result<HeldSegment, String> {
        let [file] =
            <[OwnedFd; 1]>::try_from(files).map_err(|_| "a segment message carries one descriptor")?;
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
        Ok(HeldSegment { file, region })
    }

    /// Threads are the member's word: its own tasks, and threads of its own process.
    pub(super) fn owns(&self, rank: usize, threads: &[(u16, u32)]) -> Result<(), String> {
        for (task, _) in threads {
            let declared = self.assembled.job.tasks.get(usize::from(*task));
            if declared.is_none_or(|task| task.member.index() != rank) {
                return Err(format!("task {task} is not its own"));
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

impl Agent<'_> {
    pub(super) fn admit(&mut self, declarations: &[MemberDeclarations]) -> Result<(), String> {
        let label =
            declarations.iter().map(|declared| declared.label.as_str()).find(|label| !label.is_empty());
        let label = label.map_or_else(|| format!("commit {}", self.phases.len() + 1), str::to_owned);
        self.measure_for(declarations);
        let admitted =
            admit(&self.config.declaration, declarations, (self.costs, self.config.guard_fixed), &[]);
        let (assembled, plan, costs) = admitted.map_err(|Refused { reason, mismatches }| {
            self.mismatches = mismatches;
            reason
        })?;
        self.warn_of_guard(costs);
        self.running = Some(Running { assembled, plan, label, kept: Kept::default() });
        Ok(())
    }

    pub(super) fn warn_of_guard(&mut self, costs: Costs) {
        if costs.guard < self.costs.guard {
            self.warn([format!(
                "the measured guard of {} does not fit the job; {} is used, so more late wakes are late starts",
                self.costs.guard, costs.guard
            )]);
        }
    }

    pub(super) fn send_plan(&mut self) {
        let Some(running) = &self.running else { return };
        let message = ToMember::Planned {
            generation: self.coordinator.generation(),
            assembled: Box::new(running.assembled.clone()),
            plan: Box::new(running.plan.clone()),
            horizon: self.config.horizon,
        };
        self.refusal = None;
        self.groups.refusal = None;
        for seat in &mut self.seats {
            seat.segment = None;
        }
        self.broadcast(&message);
    }

    /// Each member gets just the segments that the plan names for it.
    pub(super) fn distribute(&mut self) -> Vec<Action> {
        let Some(running) = &self.running else { return Vec::new() };
        let generation = self.coordinator.generation();
        let segments: Vec<_> = self.seats.iter().map(|seat| seat.segment.as_ref()).collect();
        let failed = self.distribute_segments(running, generation, &segments, |_| true);
        for rank in failed {
            self.expel(rank, "its connection broke during commit");
        }
        Vec::new()
    }

    /// To those who take part. Gives the ranks of those who could not be reached.
    pub(super) fn distribute_segments(
        &self,
        running: &Running,
        generation: Generation,
        segments: &[Option<&HeldSegment>],
        takes_part: impl Fn(MemberId) -> bool,
    ) -> Vec<usize> {
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
            if connection.send(&encode(&ToMember::Peers { generation, members: peers }), &files).is_err() {
                failed.push(rank);
            }
        }
        failed
    }

    /// A member's segment is taken only sealed, of the planned size, and with a valid header.
    pub(super) fn take_segment(&mut self, rank: usize, size: u64, files: Vec<OwnedFd>) -> Result<(), String> {
        let running = self.running.as_ref().ok_or("a segment without a plan")?;
        let held = running.verified(rank, self.coordinator.generation(), size, files)?;
        self.seats[rank].segment = Some(held);
        Ok(())
    }

    /// Threads are the member's word: its own tasks, and threads of its own process.
    pub(super) fn take_ready(&mut self, rank: usize, threads: &[(u16, u32)]) -> Result<(), String> {
        let running = self.running.as_ref().ok_or("ready without a plan")?;
        running.owns(rank, threads)?;
        self.seats[rank].threads = threads.to_vec();
        Ok(())
    }
}
