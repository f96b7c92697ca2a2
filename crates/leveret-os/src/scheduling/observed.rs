//! How any thread is scheduled now, so that a change made by somebody else is seen.

use super::{Attributes, POLICY_DEADLINE, POLICY_FIFO, POLICY_IDLE, SchedulingError};
use crate::Failure;
use leveret_types::Nanos;
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::CpuSet;
use std::fmt;

const POLICY_ROUND_ROBIN: u32 = libc::SCHED_RR as u32;
const POLICY_BATCH: u32 = libc::SCHED_BATCH as u32;

/// Policy and rank of a thread, the cores that it may use, and how late its sleeps may end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observed {
    policy: u32,
    rank: Rank,
    cores: Vec<u32>,
    /// Within which the kernel may end its sleeps late; `None` where it has none, or it may not be read.
    slack: Option<Nanos>,
}

impl Observed {
    /// Whether it is scheduled as every thread is to which nothing was done, on whatever cores.
    pub fn is_ordinary(&self) -> bool {
        self.policy == super::POLICY_OTHER
    }

    /// Whether it goes before every ordinary thread.
    pub fn is_real_time(&self) -> bool {
        matches!(self.policy, POLICY_FIFO | POLICY_ROUND_ROBIN | POLICY_DEADLINE)
    }
}

/// What ranks a thread within its policy. The kernel reports more, which says nothing there (the slice of a fair thread
/// changes by itself).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rank {
    Nice(i32),
    Priority(u32),
    Server { runtime: u64, deadline: u64, period: u64 },
}

/// How the thread of this id is scheduled: two system calls, good for threads of any process, and a file for an ordinary one.
///
/// # Errors
///
/// [`SchedulingError::Unreadable`], as when it has ended.
pub fn of_thread(thread: u32) -> Result<Observed, SchedulingError> {
    let unreadable = |failure| SchedulingError::Unreadable { failure };
    // To the kernel 0 is the calling thread.
    let pid = i32::try_from(thread)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| unreadable(Failure::new("sched_getattr", Errno::SRCH)))?;
    let found = Attributes::read(pid.as_raw_nonzero().get()).map_err(unreadable)?;
    let set = rustix::thread::sched_getaffinity(Some(pid))
        .map_err(|errno| unreadable(Failure::new("sched_getaffinity", errno)))?;
    let rank = match found.policy {
        POLICY_FIFO | POLICY_ROUND_ROBIN => Rank::Priority(found.priority),
        POLICY_DEADLINE => {
            Rank::Server { runtime: found.runtime_ns, deadline: found.deadline_ns, period: found.period_ns }
        }
        _ => Rank::Nice(found.nice),
    };
    let cores = (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).map(|core| core as u32).collect();
    let has_slack = matches!(rank, Rank::Nice(_));
    let slack = has_slack.then(|| timer_slack(thread)).flatten();
    Ok(Observed { policy: found.policy, rank, cores, slack })
}

/// Whether there is no such thread any more.
pub fn is_gone(thread: u32) -> bool {
    of_thread(thread).is_err_and(
        |error| matches!(error, SchedulingError::Unreadable { failure } if failure.errno == Errno::SRCH),
    )
}

/// The kernel tells it to whoever may change it.
fn timer_slack(thread: u32) -> Option<Nanos> {
    let told = std::fs::read_to_string(format!("/proc/{thread}/timerslack_ns")).ok()?;
    told.trim().parse().ok().map(Nanos)
}

/// As in `SCHED_FIFO 12 on core 1`.
impl fmt::Display for Observed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.policy {
            POLICY_FIFO => out.write_str("SCHED_FIFO")?,
            POLICY_ROUND_ROBIN => out.write_str("SCHED_RR")?,
            POLICY_DEADLINE => out.write_str("SCHED_DEADLINE")?,
            POLICY_BATCH => out.write_str("SCHED_BATCH")?,
            POLICY_IDLE => out.write_str("SCHED_IDLE")?,
            super::POLICY_OTHER => out.write_str("SCHED_OTHER")?,
            other => write!(out, "policy {other}")?,
        }
        let nanos = |value: u64| Nanos(i64::try_from(value).unwrap_or(i64::MAX));
        match self.rank {
            Rank::Nice(0) => {}
            Rank::Nice(nice) => write!(out, " nice {nice}")?,
            Rank::Priority(priority) => write!(out, " {priority}")?,
            Rank::Server { runtime, deadline, period } => {
                write!(out, " {}/{}/{}", nanos(runtime), nanos(deadline), nanos(period))?;
            }
        }
        let listed: Vec<String> = self.cores.iter().map(u32::to_string).collect();
        let noun = if listed.len() == 1 { "core" } else { "cores" };
        write!(out, " on {noun} {}", listed.join(","))?;
        match self.slack {
            Some(slack) if slack > Nanos::from_micros(50) => write!(out, " with a timer slack of {slack}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::thread_id;

    #[test]
    fn a_timer_slack_that_somebody_sets_is_a_change() {
        let observed = |slack| {
            let look = move || {
                crate::clock::set_timer_slack(Nanos(slack)).expect("its own");
                of_thread(thread_id()).expect("its own")
            };
            std::thread::spawn(look).join().expect("it only looks")
        };
        let (usual, changed) = (observed(50_000), observed(8_000_000));
        assert_ne!(usual, changed);
        assert!(changed.to_string().ends_with(" with a timer slack of 8ms"), "{changed}");
        assert!(!usual.to_string().contains("slack"), "{usual}");
    }
}
