//! The agent's part of a commit: admission, segments taken and passed on.

use super::{Agent, Running};
use crate::members::HeldSegment;
use leveret_memory::{PeerSegment, Region};
use leveret_os::memory_file::{Mapping, verify_seals};
use leveret_plan::{checker, plan};
use leveret_protocol::assemble::{Mismatch, assemble};
use leveret_protocol::control::{ToMember, encode};
use leveret_protocol::coordinator::Action;
use leveret_protocol::declaration::MemberDeclarations;
use leveret_runtime::Admitted;
use leveret_types::{MemberId, Nanos};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A guard below this would not cover an ordinary wake-up.
const GUARD_LEAST: Nanos = Nanos::from_micros(10);

impl Agent<'_> {
    /// Assembles, plans, checks. With a measured guard that is too long for the job, shorter ones are tried.
    pub(super) fn admit(&mut self, declarations: &[MemberDeclarations]) -> Result<(), String> {
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

    pub(super) fn send_plan(&mut self) {
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
    pub(super) fn distribute(&mut self) -> Vec<Action> {
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

    /// A member's segment is taken only sealed, of the planned size, and with a valid header.
    pub(super) fn take_segment(&mut self, rank: usize, size: u64, files: Vec<OwnedFd>) -> Result<(), String> {
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
    pub(super) fn take_ready(&mut self, rank: usize, threads: &[(u16, u32)]) -> Result<(), String> {
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
}
