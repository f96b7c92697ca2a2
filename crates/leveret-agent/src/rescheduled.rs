//! Whether the tasks' threads are still scheduled as the runtime had set them: every verdict rests on it.

use crate::patience::FINISH_WITHIN;
use leveret_os::clock;
use leveret_os::scheduling::{Observed, is_gone, of_thread};
use leveret_report::record::{Event, EventKind};
use leveret_types::Nanos;

/// Threads that are set up aside may still be ordinary, and on other cores, so long after their epoch: a member that stood still, or was kept
/// from running, raises them late. One that takes longer is ended.
const RAISED_WITHIN: Nanos = FINISH_WITHIN;

/// Threads looked at in one round of the agent's; each costs two system calls, and five where it has ordinary scheduling.
const LOOKED_AT: usize = 64;

struct Thread {
    task: u16,
    thread: u32,
    set: Observed,
    found: Observed,
    /// When it was found so last.
    looked: Nanos,
}

impl Thread {
    /// Takes what was found at `now`; gives what somebody has changed since. Until `raised_by` the runtime may have done it.
    fn changed(&mut self, found: Observed, now: Nanos, raised_by: Nanos) -> Option<Change> {
        let since = std::mem::replace(&mut self.looked, now);
        if found == self.found {
            return None;
        }
        let was_ordinary = self.set.is_ordinary() && self.found == self.set;
        if now < raised_by && was_ordinary && (found.is_ordinary() || found.is_real_time()) {
            self.set = found.clone();
            self.found = found;
            return None;
        }
        let changed = Change { since, now: found.to_string(), set: self.set.to_string() };
        self.found = found;
        Some(changed)
    }
}

/// What has become of how a thread is scheduled.
struct Change {
    since: Nanos,
    now: String,
    set: String,
}

/// Watches how the threads of a phase are scheduled.
pub(crate) struct SchedulingWatch {
    threads: Vec<Thread>,
    next: usize,
    epoch: Nanos,
    /// Threads that are set up aside get their class and core a little before this instant, and those that give way to
    /// another mode give them up in the last round: outside of it nobody looks.
    within: (Nanos, Nanos),
    raised_by: Nanos,
    /// Not yet looked at for the first time.
    unseen: Vec<(u16, u32)>,
    /// Tasks whose thread has ended, and when that was seen.
    gone: Vec<(u16, Nanos)>,
}

impl SchedulingWatch {
    /// From now on; `threads` are tasks with their threads, just set up.
    pub(crate) fn start(threads: &[(u16, u32)], epoch: Nanos) -> Self {
        let mut watch = Self::from_epoch(threads, epoch);
        watch.within.0 = Nanos::ZERO;
        watch.raised_by = Nanos::ZERO;
        watch.see();
        watch
    }

    /// As [`SchedulingWatch::start`], of threads that are not what they will be before the epoch.
    pub(crate) fn from_epoch(threads: &[(u16, u32)], epoch: Nanos) -> Self {
        let within = (epoch, Nanos::MAX);
        let raised_by = epoch + RAISED_WITHIN;
        Self {
            threads: Vec::new(),
            next: 0,
            epoch,
            within,
            raised_by,
            unseen: threads.to_vec(),
            gone: Vec::new(),
        }
    }

    /// The threads give their class and core up from here on.
    pub(crate) fn until(&mut self, instant: Nanos) {
        self.within.1 = self.within.1.min(instant);
    }

    /// The threads of these tasks are no longer looked at: the agent has ended them, and puts them on other cores until they are gone.
    pub(crate) fn forget(&mut self, is_ended: impl Fn(u16) -> bool) {
        self.threads.retain(|thread| !is_ended(thread.task));
        self.unseen.retain(|(task, _)| !is_ended(*task));
        self.gone.retain(|(task, _)| !is_ended(*task));
    }

    /// Tasks whose thread has ended while it was watched, and when that was seen.
    pub(crate) fn gone(&self) -> &[(u16, Nanos)] {
        &self.gone
    }

    fn see(&mut self) {
        let (looked, gone) = (clock::now(), &mut self.gone);
        let threads = std::mem::take(&mut self.unseen).into_iter().filter_map(|(task, thread)| {
            let Ok(set) = of_thread(thread) else {
                gone.extend(is_gone(thread).then_some((task, looked)));
                return None;
            };
            Some(Thread { task, thread, found: set.clone(), set, looked })
        });
        self.threads.extend(threads);
    }

    /// Looks at the threads of the tasks in `suspicious`, and at the next few of all; what was changed since.
    pub(crate) fn look(&mut self, suspicious: &[u16]) -> Vec<Event> {
        let now = clock::now();
        if now < self.within.0 || now >= self.within.1 {
            return Vec::new();
        }
        self.see();
        let count = self.threads.len();
        let mut places: Vec<usize> =
            (0..count.min(LOOKED_AT)).map(|step| (self.next + step) % count).collect();
        self.next = (self.next + LOOKED_AT) % count.max(1);
        let others = (0..count).filter(|place| suspicious.contains(&self.threads[*place].task));
        places.extend(others);
        places.sort_unstable();
        places.dedup();
        let epoch = self.epoch;
        let mut gone = Vec::new();
        let mut events = Vec::new();
        for place in places {
            let each = &mut self.threads[place];
            // One that has ended is looked at no more: its number may come to stand for another thread.
            let Ok(found) = of_thread(each.thread) else {
                gone.push(place);
                continue;
            };
            let now = clock::now();
            // Whoever looks may be kept from running on the way, and then sees threads that have given way by themselves.
            if now >= self.within.1 {
                break;
            }
            if let Some(Change { since, now: found, set }) = each.changed(found, now, self.raised_by) {
                let kind =
                    EventKind::SchedulingChanged { task: each.task, since: since - epoch, now: found, set };
                events.push(Event { at: now - epoch, kind });
            }
        }
        for place in gone.into_iter().rev() {
            let Thread { task, thread, .. } = self.threads.swap_remove(place);
            self.gone.extend(is_gone(thread).then_some((task, now)));
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_os::scheduling::{Class, apply, pin, thread_id};
    use std::thread;

    /// How a thread is found to be scheduled to which this was done; `None` where that is not allowed.
    fn scheduled(how: impl FnOnce() -> bool + Send + 'static) -> Option<Observed> {
        let looked = thread::spawn(move || how().then(|| of_thread(thread_id()).expect("its own")));
        looked.join().expect("it only looks")
    }

    fn watched(set: &Observed) -> Thread {
        Thread { task: 0, thread: 0, set: set.clone(), found: set.clone(), looked: Nanos(1) }
    }

    /// The agent itself puts them on other cores, so that they come to their end.
    #[test]
    fn threads_that_the_agent_has_ended_are_looked_at_no_more() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || tell.send(thread_id()).is_ok() && ended.recv().is_err());
        let id = told.recv().expect("its number");
        let watch = || SchedulingWatch::start(&[(3, id)], Nanos::ZERO);
        let (mut looking, mut forgetting) = (watch(), watch());
        leveret_os::scheduling::apply_to(id, Class::Idle).expect("everybody may");
        forgetting.forget(|task| task == 3);
        assert_eq!((looking.look(&[3]).len(), forgetting.look(&[3]).len()), (1, 0));
        drop(end);
        assert!(thread.join().expect("it only waits"));
    }

    #[test]
    fn a_thread_that_is_raised_late_was_changed_by_nobody() {
        let aside = scheduled(|| true).expect("as it is");
        let idle = scheduled(|| apply(Class::Idle).is_ok()).expect("everybody may");
        let core = leveret_os::facts::Facts::gather().cores_online[0];
        let pinned = scheduled(move || pin(core).is_ok()).expect("a core of this machine");
        let raised_by = Nanos(100);
        let mut late = watched(&aside);
        assert!(late.changed(pinned.clone(), Nanos(10), raised_by).is_none());
        if let Some(real_time) = scheduled(|| apply(Class::Fifo { priority: 1 }).is_ok()) {
            assert!(late.changed(real_time.clone(), Nanos(20), raised_by).is_none());
            let dropped = late.changed(aside.clone(), Nanos(30), raised_by).expect("nobody of the runtime");
            assert_eq!((dropped.since, dropped.set), (Nanos(20), real_time.to_string()));
            let back = late.changed(real_time.clone(), Nanos(40), raised_by).expect("it is told");
            assert_eq!((back.now, back.set), (real_time.to_string(), real_time.to_string()));
            assert!(watched(&aside).changed(real_time, raised_by, raised_by).is_some(), "its time is over");
        } else {
            println!("SKIPPED: no real-time scheduling here");
        }
        let told = watched(&aside).changed(idle, Nanos(10), raised_by).expect("the runtime never does that");
        assert!(told.now.starts_with("SCHED_IDLE") && told.set.starts_with("SCHED_OTHER"));
    }
}
