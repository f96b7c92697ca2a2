//! Members that are waited for because they get no core: who has it.

use super::Agent;
use crate::patience::FINISH_WITHIN;
use leveret_os::threads_of::{Holder, HolderSearch, Policy};
use leveret_types::{MemberId, Nanos};

/// How often it is looked for who has a core.
const LOOK_AGAIN: Nanos = Nanos::from_millis(500);

/// Of a member that gets no core.
#[derive(Default)]
pub(super) struct Search {
    of: HolderSearch,
    next: Nanos,
    /// Who has it was said.
    is_over: bool,
}

/// For how long members that should have done something are waited for, some of which get no core.
pub(super) fn bound_of(starved: &[(MemberId, u32)]) -> String {
    let fed = format!("after {FINISH_WITHIN} a member is ended for it");
    if starved.is_empty() { fed } else { format!("{fed}, or a minute later where it gets no core") }
}

/// Who had a core and for how long, in words.
pub(super) fn holds(holder: &Holder) -> String {
    let class = match holder.thread.policy {
        Policy::Ordinary => "ordinary scheduling".to_owned(),
        Policy::Fifo => format!("SCHED_FIFO {}", holder.thread.priority),
        Policy::RoundRobin => format!("SCHED_RR {}", holder.thread.priority),
        Policy::Deadline => "SCHED_DEADLINE".to_owned(),
    };
    let Holder { thread, process, ran, within, .. } = holder;
    let (name, tid) = (&thread.name, thread.tid);
    format!("\"{name}\" had it for {ran} of the last {within} (thread {tid} of process {process}, {class})")
}

impl Agent<'_> {
    /// Looks at members that have not joined yet or should leave, and at those that a commit waits for.
    pub(super) fn look_for_starved(&mut self, now: Nanos) {
        let ranks = (0..self.seats.len()).filter(|rank| self.patience.is_awaited(*rank));
        let awaited: Vec<MemberId> = ranks.map(|rank| MemberId(rank as u16)).collect();
        let processes = self.processes_of(&awaited);
        self.presence_lateness.look(&processes, now);
        let mut awaited = self.coordinator.awaited();
        awaited.extend(self.coordinator.awaited_for_mode());
        awaited.extend(self.awaited_in_groups());
        awaited.sort_unstable();
        awaited.dedup();
        for (rank, seat) in self.seats.iter_mut().enumerate() {
            // The state of members that nobody waits for is not polled, so forget it.
            match awaited.binary_search(&MemberId(rank as u16)) {
                Ok(_) => seat.look_behind_wrapper(now),
                Err(_) => seat.stopped_behind = None,
            }
        }
        let processes = self.processes_of(&awaited);
        self.commit_lateness.look(&processes, now);
        let starved = [self.presence_lateness.starved(), self.commit_lateness.starved()].concat();
        self.name_holders(starved, "is waited for", now);
    }

    /// Names who keeps members from a core that are late for it, once for each of them and whoever it is.
    pub(super) fn name_holders(&mut self, starved: Vec<(MemberId, u32)>, late_for: &str, now: Nanos) {
        for (member, thread) in starved {
            let search = self.holder_searches.entry(member).or_default();
            // All of /proc is read for it, so one name is enough.
            if search.is_over || now < search.next {
                continue;
            }
            search.next = now + LOOK_AGAIN;
            let Some(holder) = search.of.look(thread) else { continue };
            search.is_over = true;
            let (name, core) = (self.named(&[member]), holder.core);
            let by = holds(&holder);
            self.warn([format!(
                "{name} {late_for}, and gets no time on core {core}: {by}; the member is given more time for it, a minute at most"
            )]);
        }
    }
}
