//! Each instance by itself: its window, its messages, its place in its task.

use super::{Checker, shown, wide};
use crate::{CoreChoice, NO_INSTANCE, PlannedInstance, Task};
use leveret_types::ChannelId;

impl Checker<'_> {
    /// Each instance lies in its window, and the window is the one that its declarations and messages make.
    pub(super) fn tasks(&mut self) {
        for (task, planned) in self.job.tasks.iter().zip(&self.plan.tasks) {
            let whole = || format!("task `{}`", task.name);
            let pinned = self.job.cores.contains(&planned.core)
                && matches!(task.core, CoreChoice::Any | CoreChoice::Pinned(_))
                && !matches!(task.core, CoreChoice::Pinned(core) if core != planned.core);
            self.require(pinned, whole, "it runs on the core it is pinned to, one of the job's");
            let count = self.round / wide(task.period);
            if planned.instances.len() as i128 != count {
                let (planned, round) = (planned.instances.len(), shown(self.round));
                let found = || format!("{planned} are planned, {round} has {count}");
                self.require_found(false, whole, "every instance of one hyperperiod is planned", found);
                continue;
            }
            let mut response = i128::MIN;
            for (k, instance) in planned.instances.iter().enumerate() {
                self.instance(task, k, instance);
                let next = planned.instances.get(k + 1).map(|next| wide(next.start()));
                let next = next.unwrap_or(wide(planned.instances[0].start()) + self.round);
                let sequential = wide(instance.end()) + wide(self.job.costs.guard) <= next;
                self.require_found(
                    sequential,
                    || format!("{} instance {k}", whole()),
                    "it ends before the next one's guard",
                    || format!("it ends at {}, the next one starts at {}", instance.end(), shown(next)),
                );
                response =
                    response.max(wide(instance.end()) - k as i128 * wide(task.period) - wide(task.release));
            }
            self.require_found(
                wide(planned.response_bound) == response,
                whole,
                "its response bound is the longest response",
                || format!("the plan says {}, the longest is {}", planned.response_bound, shown(response)),
            );
        }
    }

    fn instance(&mut self, task: &Task, k: usize, instance: &PlannedInstance) {
        let place = || format!("task `{}` instance {k}", task.name);
        let job = self.job;
        let name_of = |id: &ChannelId| &job.channels[id.index()].name;
        let k = k as i128;
        let (charged, error) = (self.charged(task), wide(self.job.costs.clock_error));
        let released = k * wide(task.period) + wide(task.release) + error;
        let (mut earliest, mut latest) = (released, k * wide(task.period) + wide(task.deadline) - error);
        let ends = instance.writes.len() == task.writes.len() && instance.reads.len() == task.reads.len();
        for (id, message) in task.writes.iter().zip(&instance.writes) {
            let Some(at) = self.instants(&self.job.channels[id.index()]) else {
                self.require(*message == NO_INSTANCE, place, "a best-effort channel has no planned message");
                continue;
            };
            let message = i128::from(*message);
            let limit = |message: i128| message * at.period + at.insert_by;
            let can = |message: i128| message >= k && limit(message) >= released + charged;
            self.require_found(
                can(message) && !can(message - 1),
                place,
                "it fills the first message that it can",
                || format!("message {message} of `{}`, insert by {}", name_of(id), shown(limit(message))),
            );
            latest = latest.min(limit(message));
        }
        for (id, message) in task.reads.iter().zip(&instance.reads) {
            let Some(at) = self.instants(&self.job.channels[id.index()]) else {
                self.require(*message == NO_INSTANCE, place, "a best-effort channel has no planned message");
                continue;
            };
            let seen = |message: i128| message * at.period + at.visible_at <= latest - charged;
            let message = i128::from(*message);
            self.require_found(
                seen(message) && !seen(message + 1),
                place,
                "it reads the freshest message that it can",
                || {
                    let visible_at = shown(message * at.period + at.visible_at);
                    format!("message {message} of `{}`, visible at {visible_at}", name_of(id))
                },
            );
            earliest = earliest.max(message * at.period + at.visible_at);
        }
        let window = ends && wide(instance.earliest) == earliest && wide(instance.latest) == latest;
        self.require_found(window, place, "its window follows from its declaration and its messages", || {
            let (planned_from, planned_to) = (instance.earliest, instance.latest);
            let (from, to) = (shown(earliest), shown(latest));
            format!("the plan has [{planned_from}, {planned_to}], the job makes it [{from}, {to}]")
        });
        let segments = &instance.segments;
        let in_order =
            segments.iter().all(|s| s.start < s.end) && segments.windows(2).all(|s| s[0].end < s[1].start);
        let whole = !segments.is_empty() && (task.preemptible || segments.len() == 1);
        let inside = wide(instance.start()) >= earliest && wide(instance.end()) <= latest;
        let rule = "it runs within its window, in one piece unless preemptible";
        self.require_found(in_order && whole && inside, place, rule, || {
            let pieces =
                if segments.len() == 1 { String::new() } else { format!(" in {} pieces", segments.len()) };
            let (start, end) = (instance.start(), instance.end());
            format!(
                "it runs from {start} to {end}{pieces}, its window is [{}, {}]",
                shown(earliest),
                shown(latest)
            )
        });
    }
}
