//! The scheduler's own trace of every switch between threads, which the verdict does not use: who really had a core when.

use std::fs;
use std::path::{Path, PathBuf};

/// Threads that had a core, each for a stretch, in nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Default)]
pub struct Trace {
    stretches: Vec<Stretch>,
}

pub struct Stretch {
    pub core: u32,
    pub thread: u32,
    pub name: String,
    pub from: i64,
    pub to: i64,
}

impl Trace {
    /// How long `thread` had a core within an interval.
    pub fn time_of(&self, thread: u32, (from, to): (i64, i64)) -> i64 {
        let own = self.stretches.iter().filter(|stretch| stretch.thread == thread);
        own.map(|stretch| (stretch.to.min(to) - stretch.from.max(from)).max(0)).sum()
    }

    /// Who had a core within an interval, and for how long, the longest first; idle is thread 0.
    pub fn on(&self, core: u32, (from, to): (i64, i64)) -> Vec<(String, u32, i64)> {
        let mut all: Vec<(String, u32, i64)> = Vec::new();
        for stretch in self.stretches.iter().filter(|stretch| stretch.core == core) {
            let length = stretch.to.min(to) - stretch.from.max(from);
            if length <= 0 {
                continue;
            }
            match all.iter_mut().find(|(_, thread, _)| *thread == stretch.thread) {
                Some((_, _, sum)) => *sum += length,
                None => all.push((stretch.name.clone(), stretch.thread, length)),
            }
        }
        all.sort_by_key(|(_, _, length)| std::cmp::Reverse(*length));
        all
    }

    fn of(text: &str) -> Self {
        let mut trace = Self::default();
        let mut since = std::collections::HashMap::new();
        for line in text.lines() {
            let Some((core, at, thread, name)) = switch(line) else { continue };
            if let Some((thread, name, from)) = since.insert(core, (thread, name, at)) {
                trace.stretches.push(Stretch { core, thread, name, from, to: at });
            }
        }
        trace
    }
}

/// `name-123 [001] d..2. 12.345678: sched_switch: prev_comm=.. ==> next_comm=NAME next_pid=123 next_prio=..`: core, instant, thread, name.
fn switch(line: &str) -> Option<(u32, i64, u32, String)> {
    let (head, event) = line.split_once(": sched_switch: ")?;
    let (_, next) = event.split_once(" ==> next_comm=")?;
    let (name, next) = next.split_once(" next_pid=")?;
    let thread = next.split(' ').next()?.parse().ok()?;
    let (before, at) = head.rsplit_once(' ')?;
    let (seconds, micros) = at.split_once('.')?;
    let at = seconds.parse::<i64>().ok()? * 1_000_000_000 + micros.parse::<i64>().ok()? * 1000;
    let core = before.rsplit_once('[')?.1.split_once(']')?.0.parse().ok()?;
    Some((core, at, thread, name.to_owned()))
}

/// A trace in the making.
pub struct Witness {
    instance: PathBuf,
}

impl Witness {
    /// Begins; `None` where the kernel's tracing is not to be had.
    pub fn begin() -> Option<Self> {
        let root = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].into_iter().map(Path::new);
        let mounted = || root.clone().find(|folder| folder.join("instances").is_dir());
        if mounted().is_none() {
            let mount = ["-t", "tracefs", "none", "/sys/kernel/tracing"];
            let _ = std::process::Command::new("mount").args(mount).status();
        }
        let instance = mounted()?.join(format!("instances/leveret-{}", std::process::id()));
        fs::create_dir(&instance).ok()?;
        let witness = Self { instance };
        let put = |file: &str, text: &str| fs::write(witness.instance.join(file), text).is_ok();
        let begun = put("trace_clock", "mono")
            && put("buffer_size_kb", "8192")
            && put("events/sched/sched_switch/enable", "1");
        begun.then_some(witness)
    }

    /// Ends, and gives what was seen.
    pub fn end(self) -> Trace {
        let _ = fs::write(self.instance.join("tracing_on"), "0");
        Trace::of(&fs::read_to_string(self.instance.join("trace")).unwrap_or_default())
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.instance);
    }
}

#[test]
fn a_switch_is_read_as_the_kernel_writes_it() {
    let line = "          <idle>-0       [001] d..2.  4242.123456: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 \
                prev_state=R ==> next_comm=a b next_pid=77 next_prio=4";
    assert_eq!(switch(line), Some((1, 4_242_123_456_000, 77, "a b".to_owned())));
    let trace =
        Trace::of(&format!("{line}\n{}", line.replace("4242.123456", "4242.123556").replace("=77", "=0")));
    assert_eq!(trace.time_of(77, (4_242_123_500_000, i64::MAX)), 56_000);
    assert_eq!(trace.on(1, (0, i64::MAX)), [("a b".to_owned(), 77, 100_000)]);
}
