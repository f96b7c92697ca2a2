//! Whether the tasks' threads are still scheduled as the runtime had set them: every verdict rests on it.

use leveret_os::clock;
use leveret_os::scheduling::{Observed, of_thread};
use leveret_report::record::{Event, EventKind};
use leveret_types::Nanos;

/// Threads looked at in one round of the agent's; each costs two system calls.
const LOOKED_AT: usize = 64;

struct Thread {
    task: u16,
    thread: u32,
    set: Observed,
    found: Observed,
    /// When it was found so last.
    looked: Nanos,
}

/// Watches how the threads of a phase are scheduled.
pub(crate) struct SchedulingWatch {
    threads: Vec<Thread>,
    next: usize,
    epoch: Nanos,
    /// Threads that are set up aside get their class and core a little before this instant, and those that give way to
    /// another mode give them up in the last round: outside of it nobody looks.
    within: (Nanos, Nanos),
    /// Not yet looked at for the first time.
    unseen: Vec<(u16, u32)>,
}

impl SchedulingWatch {
    /// From now on; `threads` are tasks with their threads, just set up.
    pub(crate) fn start(threads: &[(u16, u32)], epoch: Nanos) -> Self {
        let mut watch = Self::from_epoch(threads, epoch);
        watch.within.0 = Nanos::ZERO;
        watch.see();
        watch
    }

    /// As [`SchedulingWatch::start`], of threads that are not what they will be before the epoch.
    pub(crate) fn from_epoch(threads: &[(u16, u32)], epoch: Nanos) -> Self {
        let within = (epoch, Nanos::MAX);
        Self { threads: Vec::new(), next: 0, epoch, within, unseen: threads.to_vec() }
    }

    /// The threads give their class and core up from here on.
    pub(crate) fn until(&mut self, instant: Nanos) {
        self.within.1 = self.within.1.min(instant);
    }

    fn see(&mut self) {
        let looked = clock::now();
        let threads = std::mem::take(&mut self.unseen).into_iter().filter_map(|(task, thread)| {
            let set = of_thread(thread).ok()?;
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
            let since = std::mem::replace(&mut each.looked, now);
            if found != each.found {
                let kind = EventKind::SchedulingChanged {
                    task: each.task,
                    since: since - epoch,
                    now: found.to_string(),
                    set: each.set.to_string(),
                };
                events.push(Event { at: now - epoch, kind });
                each.found = found;
            }
        }
        for place in gone.into_iter().rev() {
            self.threads.swap_remove(place);
        }
        events
    }
}
