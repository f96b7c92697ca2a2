//! Members that are waited for because they get no core: who has it.

use super::Agent;
use leveret_os::threads_of::{self, Policy};
use leveret_types::MemberId;

impl Agent<'_> {
    /// Names who keeps members from a core that are late for it, once for each of them and whoever it is.
    pub(super) fn name_holders(&mut self, starved: Vec<(MemberId, u32)>) {
        for (member, thread) in starved {
            // All of /proc is read for it, so one name is enough.
            if self.starved_named.contains(&member) {
                continue;
            }
            let Some(holder) = threads_of::holder(thread) else { continue };
            self.starved_named.insert(member);
            let (name, core) = (self.named(&[member]), holder.core);
            let class = match holder.thread.policy {
                Policy::Ordinary => "ordinary scheduling".to_owned(),
                Policy::Fifo => format!("SCHED_FIFO {}", holder.thread.priority),
                Policy::RoundRobin => format!("SCHED_RR {}", holder.thread.priority),
                Policy::Deadline => "SCHED_DEADLINE".to_owned(),
            };
            let (tid, by) = (holder.thread.tid, &holder.thread.name);
            self.warn([format!(
                "{name} should have stopped, and gets no time on core {core}: \"{by}\" has it (thread {tid} of process {}, {class}); the \
                 member is waited for meanwhile, for a minute at most",
                holder.process
            )]);
        }
    }
}
