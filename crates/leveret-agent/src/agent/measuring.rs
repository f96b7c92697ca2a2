//! What is measured of the machine before the first plan. A foreign thread that keeps a core to itself is named, and not waited for without end.

use super::Agent;
use super::starved::holds;
use crate::awake::KeptAwake;
use crate::guard::{self, GUARD_MIN, Probed, WITHIN, guard_for};
use crate::tick::Ticks;
use leveret_os::threads_of::Holder;
use leveret_protocol::control::Scheduling;
use leveret_protocol::declaration::MemberDeclarations;
use leveret_types::{IdleCores, Nanos};

impl Agent<'_> {
    /// Measures the guard before the first plan that has tasks: nothing else has one, and it takes a while.
    pub(super) fn measure_for(&mut self, declarations: &[MemberDeclarations]) {
        let has_tasks = !self.config.declaration.tasks.is_empty()
            || declarations.iter().any(|declared| !declared.tasks.is_empty());
        if !has_tasks {
            return;
        }
        if self.ticks.is_none() {
            self.ticks = Some(if self.config.off_tick { self.see_ticks() } else { Ticks::default() });
        }
        if self.is_measured {
            return;
        }
        self.is_measured = true;
        let late = self.measure();
        self.costs.guard = guard_for(late);
        self.note(&format!("measured guard: tasks wake {} before their start", self.costs.guard));
    }

    /// Keeps the cores of tasks awake until nothing runs. What keeps one awake takes time from threads that are not
    /// real-time, so there is none where no task could gain by it.
    pub(super) fn keep_awake(&mut self, cores: &[u32]) {
        if !self.stays_awake || cores.is_empty() {
            return;
        }
        self.facts.kept_awake = true;
        if let Err(error) = self.awake.keep(cores.iter().copied()) {
            self.warn([error]);
        }
    }

    fn is_real_time(&self) -> bool {
        self.config.scheduling != Scheduling::Plain
    }

    fn see_ticks(&mut self) -> Ticks {
        let (cores, real_time) = (self.free_cores(), self.is_real_time());
        let probed = guard::ticks(&cores, real_time, &mut |holder| self.name_holder_of_core(holder));
        let Probed { found, held } = probed;
        self.leave_out(held);
        Ticks(found.into_iter().flatten().collect())
    }

    /// How late wake-ups are, with the cores asleep or awake as suits them.
    fn measure(&mut self) -> Nanos {
        if self.stays_awake {
            return self.wake_lateness_awake();
        }
        let late = self.wake_lateness();
        if self.config.idle != IdleCores::Auto || guard_for(late) == GUARD_MIN {
            return late;
        }
        // Tasks without a real-time class may wait for what spins.
        if !self.is_real_time() || !guard::gets_real_time() {
            return late;
        }
        let late_awake = self.wake_lateness_awake();
        if late_awake.0 * 3 > late.0 * 2 {
            return late;
        }
        self.stays_awake = true;
        let setting = self.config.setting("`idle = \"sleep\"` in [host]", "--idle sleep");
        self.note(&format!(
            "cores are kept awake while tasks run: of wake-ups there one in a hundred is {late_awake} late or more, from sleep {late}; \
             {setting}, spares the processor time"
        ));
        late_awake
    }

    /// How late wake-ups are with all cores of the job awake.
    fn wake_lateness_awake(&mut self) -> Nanos {
        let mut awake = KeptAwake::default();
        let kept = awake.keep(self.free_cores());
        let late = self.wake_lateness();
        if let Err(error) = kept {
            self.warn([error]);
        }
        late
    }

    /// How late wake-ups are on the worst core, of those where that can be seen.
    fn wake_lateness(&mut self) -> Nanos {
        let (cores, real_time) = (self.free_cores(), self.is_real_time());
        let probed = guard::wake_lateness(&cores, real_time, &mut |holder| self.name_holder_of_core(holder));
        let Probed { found, held } = probed;
        self.leave_out(held);
        found.into_iter().max().unwrap_or(GUARD_MIN)
    }

    /// Cores of the job that nobody is known to keep to himself.
    fn free_cores(&self) -> Vec<u32> {
        let cores = self.config.declaration.cores.iter().copied();
        cores.filter(|core| !self.held_cores.contains(core)).collect()
    }

    fn leave_out(&mut self, held: Vec<u32>) {
        for core in &held {
            self.warn([format!(
                "nothing could be measured on core {core} within {WITHIN}, since another thread kept it: the guard is that of the other \
                 cores, or {GUARD_MIN}"
            )]);
        }
        self.held_cores.extend(held);
    }

    /// Who keeps a core to himself, and what to do about it.
    fn name_holder_of_core(&mut self, holder: &Holder) {
        let (core, by, tid) = (holder.core, holds(holder), holder.thread.tid);
        let cores = match self.config.has_manifest {
            true => "choose other `cores` in [host]",
            false => "start `leveret run` under `taskset` with other cores",
        };
        self.warn([format!(
            "core {core} cannot be measured: {by}, and the job's tasks would not get it \
             either; end that, give it a lower rank (`chrt -o -p 0 {tid}`) or another core (`taskset -pc CORE {tid}`), or {cores}",
        )]);
    }
}
