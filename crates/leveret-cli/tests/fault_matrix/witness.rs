//! The scheduler's own trace of who really had a core when, and who waited for one. The verdict does not use it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// What the kernel writes for `SCHED_DEADLINE` stands below this, and above it the real-time priorities, the highest first.
const DEADLINE_BELOW: i32 = 0;
/// From here on the kernel's number of a priority is that of ordinary threads.
const ORDINARY_FROM: i32 = 100;

/// Threads that had a core or waited for one, in nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Default)]
pub struct Trace {
    stretches: Vec<Stretch>,
    waits: Vec<Wait>,
    /// When each thread was woken.
    wakes: HashMap<u32, Vec<i64>>,
    /// The process of each thread that the trace has seen on a core.
    processes: HashMap<u32, u32>,
    /// The kernel's own threads.
    kernel: BTreeSet<u32>,
    /// Between which two switches of a core one is missing.
    holes: Vec<(i64, i64)>,
}

/// A thread that had a core for a while.
#[derive(Clone, Debug)]
pub struct Stretch {
    pub core: u32,
    pub thread: u32,
    pub name: String,
    /// The kernel's numbers of its priority when it came and when it left.
    ranks: [i32; 2],
    pub from: i64,
    pub to: i64,
}

/// A thread that wanted a core, and had to wait for the one to which it came at last.
struct Wait {
    thread: u32,
    core: u32,
    from: i64,
    to: i64,
}

/// Whoever had the core while another thread waited.
pub struct Ahead {
    pub thread: u32,
    pub name: String,
    pub time: i64,
}

fn overlap((from, to): (i64, i64), (began, ended): (i64, i64)) -> i64 {
    (to.min(ended) - from.max(began)).max(0)
}

/// As reports write the rank of a thread.
fn words(priority: i32) -> String {
    match priority {
        ..DEADLINE_BELOW => "SCHED_DEADLINE".to_owned(),
        ORDINARY_FROM.. => "ordinary scheduling".to_owned(),
        _ => format!("real-time priority {}", ORDINARY_FROM - 1 - priority),
    }
}

impl Trace {
    /// How long `thread` had a core within an interval.
    pub fn time_of(&self, thread: u32, interval: (i64, i64)) -> i64 {
        self.of(thread).map(|stretch| overlap((stretch.from, stretch.to), interval)).sum()
    }

    /// When `thread` had a core.
    pub fn of(&self, thread: u32) -> impl Iterator<Item = &Stretch> {
        self.stretches.iter().filter(move |stretch| stretch.thread == thread)
    }

    /// The ranks, in words, that a thread had when it came to a core or left one about an interval.
    pub fn ranks(&self, thread: u32, interval: (i64, i64)) -> BTreeSet<String> {
        let then = self.of(thread).filter(|stretch| overlap((stretch.from, stretch.to), interval) > 0);
        then.flat_map(|stretch| stretch.ranks.map(words)).collect()
    }

    /// Who had a core within an interval, and for how long, the longest first; idle is thread 0.
    pub fn on(&self, core: u32, interval: (i64, i64)) -> Vec<Ahead> {
        sums(self.stretches.iter().filter(|stretch| stretch.core == core).map(|each| (each, interval)))
    }

    /// Who had the core for which `thread` waited within an interval, the longest first; idle is thread 0.
    pub fn ahead_of(&self, thread: u32, interval: (i64, i64)) -> Vec<Ahead> {
        let own = self.waits.iter().filter(|wait| wait.thread == thread);
        let waits = own.filter(|wait| overlap((wait.from, wait.to), interval) > 0);
        let parts = waits.flat_map(|wait| {
            let (core, part) = (wait.core, (wait.from.max(interval.0), wait.to.min(interval.1)));
            let on_it = self.stretches.iter().filter(move |stretch| stretch.core == core);
            on_it.map(move |stretch| (stretch, part))
        });
        sums(parts)
    }

    /// For how long of an interval `thread` slept until it was woken; `None` if it never was, or had a core before.
    pub fn slept(&self, thread: u32, interval: (i64, i64)) -> Option<i64> {
        let wakes = self.wakes.get(&thread)?;
        let woken = *wakes.get(wakes.partition_point(|at| *at < interval.0))?;
        let is_asleep = woken < interval.1 && self.time_of(thread, (interval.0, woken)) == 0;
        is_asleep.then_some(woken - interval.0)
    }

    /// Whether a switch within an interval is missing.
    pub fn has_hole(&self, interval: (i64, i64)) -> bool {
        self.holes.iter().any(|hole| overlap(*hole, interval) > 0)
    }

    pub fn process_of(&self, thread: u32) -> Option<u32> {
        self.processes.get(&thread).copied()
    }

    pub fn is_kernel(&self, thread: u32) -> bool {
        thread == 0 || self.kernel.contains(&thread)
    }

    fn read(text: &str) -> Self {
        let mut trace = Self::default();
        let mut open: HashMap<u32, Stretch> = HashMap::new();
        let mut ready: HashMap<u32, i64> = HashMap::new();
        for line in text.lines() {
            if let Some((at, thread)) = wake(line) {
                ready.entry(thread).or_insert(at);
                trace.wakes.entry(thread).or_default().push(at);
            }
            let Some(switch) = Switch::of(line) else { continue };
            let Switch { core, at, .. } = switch;
            if let Some(process) = switch.process {
                trace.processes.insert(switch.left, process);
            }
            if let Some(last) = open.remove(&core) {
                let ranks =
                    [last.ranks[0], if last.thread == switch.left { switch.rank } else { last.ranks[0] }];
                if last.thread != switch.left {
                    trace.holes.push((last.from, at));
                }
                trace.stretches.push(Stretch { ranks, to: at, ..last });
            }
            // Who leaves a core waits no longer, even if nobody saw it come.
            ready.remove(&switch.left);
            if switch.is_ready && switch.left != 0 {
                ready.insert(switch.left, at);
            }
            if let Some(from) = ready.remove(&switch.came.thread) {
                trace.waits.push(Wait { thread: switch.came.thread, core, from, to: at });
            }
            open.insert(core, switch.came);
        }
        trace
    }
}

/// Adds up by threads, the longest first.
fn sums<'s>(parts: impl Iterator<Item = (&'s Stretch, (i64, i64))>) -> Vec<Ahead> {
    let mut all: Vec<Ahead> = Vec::new();
    for (stretch, interval) in parts {
        let time = overlap((stretch.from, stretch.to), interval);
        match all.iter_mut().find(|each| each.thread == stretch.thread) {
            _ if time == 0 => {}
            Some(each) => each.time += time,
            None => all.push(Ahead { thread: stretch.thread, name: stretch.name.clone(), time }),
        }
    }
    all.sort_by_key(|each| std::cmp::Reverse(each.time));
    all
}

/// A thread left a core to another.
struct Switch {
    core: u32,
    at: i64,
    left: u32,
    process: Option<u32>,
    rank: i32,
    is_ready: bool,
    came: Stretch,
}

impl Switch {
    /// `name-123 (  100) [001] d..2. 12.345678: sched_switch: prev_comm=.. prev_pid=123 prev_prio=120 prev_state=R+ ==> next_comm=NAME
    /// next_pid=124 next_prio=4`.
    fn of(line: &str) -> Option<Self> {
        let (head, event) = line.split_once(": sched_switch: ")?;
        let (before, next) = event.split_once(" ==> next_comm=")?;
        let (name, next) = next.rsplit_once(" next_pid=")?;
        let (thread, rank) = next.split_once(" next_prio=")?;
        let (before, state) = before.rsplit_once(" prev_state=")?;
        let (before, left_rank) = before.rsplit_once(" prev_prio=")?;
        let (_, left) = before.rsplit_once(" prev_pid=")?;
        let (by, at) = head.rsplit_once(' ')?;
        let at = instant(at)?;
        let (by, core) = by.rsplit_once('[')?;
        let core = core.split_once(']')?.0.parse().ok()?;
        let process = by.rsplit_once('(').and_then(|(_, process)| process.trim().strip_suffix(')'));
        let ranks = [rank.trim().parse().ok()?; 2];
        let (thread, name) = (thread.parse().ok()?, name.to_owned());
        Some(Self {
            core,
            at,
            left: left.parse().ok()?,
            process: process.and_then(|process| process.trim().parse().ok()),
            rank: left_rank.parse().ok()?,
            is_ready: state.starts_with('R'),
            came: Stretch { core, thread, name, ranks, from: at, to: at },
        })
    }
}

/// `... 12.345678: sched_wakeup: comm=NAME pid=123 prio=120 target_cpu=001`: when, and whom.
fn wake(line: &str) -> Option<(i64, u32)> {
    let (head, event) = line.split_once(": sched_wakeup: ")?;
    let (_, thread) = event.rsplit_once(" pid=")?;
    Some((instant(head.rsplit_once(' ')?.1)?, thread.split(' ').next()?.parse().ok()?))
}

/// Seconds with six digits after the point.
fn instant(text: &str) -> Option<i64> {
    let (seconds, micros) = text.split_once('.')?;
    Some(seconds.parse::<i64>().ok()? * 1_000_000_000 + micros.parse::<i64>().ok()? * 1000)
}

/// The kernel's own threads that live now.
fn kernel_threads() -> BTreeSet<u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_kernel = |number: &u32| {
        let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
        *number == 2 || status.lines().any(|line| line == "PPid:\t2")
    };
    numbers.filter(is_kernel).collect()
}

/// A trace in the making.
pub struct Witness {
    instance: PathBuf,
}

impl Witness {
    /// Begins; `None` where the kernel's tracing cannot be used.
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
            && put("options/record-tgid", "1")
            && put("events/sched/sched_wakeup/enable", "1")
            && put("events/sched/sched_switch/enable", "1");
        begun.then_some(witness)
    }

    /// Ends, and gives what was seen; `None` where the kernel had to leave something out.
    pub fn end(self) -> Option<Trace> {
        let _ = fs::write(self.instance.join("tracing_on"), "0");
        let text = fs::read_to_string(self.instance.join("trace")).ok()?;
        is_whole(&text).then(|| Trace { kernel: kernel_threads(), ..Trace::read(&text) })
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // What stays behind is an empty folder in the kernel's memory.
        let _ = fs::remove_dir(&self.instance);
    }
}

/// `# entries-in-buffer/entries-written: 812/812   #P:2`.
fn is_whole(text: &str) -> bool {
    let counts = text.lines().find_map(|line| line.strip_prefix("# entries-in-buffer/entries-written: "));
    let Some((kept, written)) = counts.and_then(|counts| counts.split_once('/')) else { return false };
    written.split_whitespace().next() == Some(kept)
}

#[test]
fn a_trace_is_read_as_the_kernel_writes_it() {
    let text = "\
# entries-in-buffer/entries-written: 5/5   #P:2
          <idle>-0       (-------) [001] d..2.  4242.123456: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=77 next_prio=120
             a b-77      (     70) [001] dNh2.  4242.123500: sched_wakeup: comm=V.user pid=80 prio=89 target_cpu=001
             a b-77      (     70) [001] d..2.  4242.123556: sched_switch: prev_comm=a b prev_pid=77 prev_prio=4 prev_state=R+ ==> next_comm=V.user next_pid=80 next_prio=89
          V.user-80      (     80) [001] d..2.  4242.123656: sched_switch: prev_comm=V.user prev_pid=80 prev_prio=89 prev_state=S ==> next_comm=a b next_pid=77 next_prio=-1
             a b-77      (     70) [001] d..2.  4242.123756: sched_switch: prev_comm=a b prev_pid=77 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
";
    assert!(is_whole(text) && !is_whole(&text.replace("5/5", "5/6")));
    let trace = Trace::read(text);
    let all = (0, i64::MAX);
    let shown = |sums: Vec<Ahead>| sums.iter().map(|each| (each.thread, each.time)).collect::<Vec<_>>();
    assert_eq!(trace.time_of(77, (4_242_123_500_000, i64::MAX)), 56_000 + 100_000);
    assert_eq!(shown(trace.on(1, all)), [(77, 200_000), (80, 100_000)]);
    assert_eq!(shown(trace.ahead_of(80, all)), [(77, 56_000)], "of the time since it was woken");
    assert_eq!(shown(trace.ahead_of(77, all)), [(80, 100_000)], "of the time since it was preempted");
    assert_eq!(trace.slept(80, (4_242_123_450_000, i64::MAX)), Some(50_000), "until it was woken");
    assert_eq!(trace.slept(80, (4_242_123_450_000, 4_242_123_500_000)), None);
    assert_eq!((trace.process_of(77), trace.process_of(0)), (Some(70), None));
    let ranks = trace.ranks(77, all).into_iter().collect::<Vec<_>>();
    assert_eq!(ranks, ["SCHED_DEADLINE", "ordinary scheduling", "real-time priority 95"]);
}
