//! Rights to scheduling classes, and the limits the kernel sets to them.

use super::{Finding, boot_with, limit, lines, sysctl};
use crate::Failure;
use crate::detached::read_debugfs;
use crate::facts::{Facts, number, value};
use crate::scheduling::{Class, SchedulingError, apply};
use crate::user::has_capability;
use leveret_types::Nanos;
use rustix::io::Errno;
use rustix::thread::CapabilitySet;

pub(super) fn examine(facts: &Facts) -> Vec<Finding> {
    let capable = has_capability(CapabilitySet::SYS_NICE);
    // Above the kernel's own threads no real-time thread needs to be: 80 is the most that a plan asks for.
    let fifo = tried(|| apply(Class::Fifo { priority: 80 }));
    let deadline = tried(|| {
        apply(Class::Deadline {
            runtime: Nanos::from_millis(1),
            deadline: Nanos::from_millis(100),
            period: Nanos::from_millis(100),
            reclaim: false,
            overrun_signal: false,
        })
    });
    vec![
        judge_fifo(&fifo, capable),
        judge_group(&fifo, capable, own_group_budget().as_ref()),
        judge_deadline(&deadline, capable),
        judge_throttling(facts.realtime_runtime_us, facts.realtime_period_us),
        judge_fair_server(fair_server()),
        judge_timer_slack(tried(|| crate::clock::set_timer_slack(Nanos(1)))),
    ]
}

/// Tries on a thread that ends at once, so that the caller stays what it is.
fn tried<T: Send, E: Send>(attempt: impl FnOnce() -> Result<T, E> + Send) -> Option<Result<T, E>> {
    std::thread::scope(|scope| {
        std::thread::Builder::new().spawn_scoped(scope, attempt).ok().and_then(|thread| thread.join().ok())
    })
}

type Tried = Option<Result<(), SchedulingError>>;

fn errno(tried: &Tried) -> Option<Errno> {
    match tried {
        Some(Err(SchedulingError::Class { failure, .. })) => Some(failure.errno),
        _ => None,
    }
}

fn judge_fifo(tried: &Tried, capable: bool) -> Finding {
    const NAME: &str = "SCHED_FIFO";
    const LOSS: &str =
        "tasks run under ordinary scheduling: every other program may delay them by milliseconds";
    match tried {
        Some(Ok(())) => Finding::ok(NAME, "priority 80 was granted to a scratch thread"),
        Some(Err(refusal)) if capable => {
            Finding::missing(NAME, refusal.to_string(), LOSS, &["# see \"real-time control group\" below"])
        }
        Some(Err(refusal)) => {
            Finding::missing(NAME, refusal.to_string(), LOSS, &lines(&limit("rtprio", "99")))
        }
        None => Finding::unknown(NAME, "no scratch thread could be started", LOSS, &["ulimit -u unlimited"]),
    }
}

/// What the control group may spend on real-time threads, where the kernel schedules such by group.
struct GroupBudget {
    file: String,
    runtime_us: i64,
}

/// The budget of this process's group in a version 1 hierarchy; version 2 has no such setting.
fn own_group_budget() -> Option<GroupBudget> {
    let groups = value("/proc/self/cgroup")?;
    let group = groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
        controllers.split(',').any(|controller| controller == "cpu").then_some(group)
    })?;
    ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"].iter().find_map(|root| {
        let file = format!("{root}{}/cpu.rt_runtime_us", group.trim_end_matches('/'));
        number(&file).map(|runtime_us| GroupBudget { file, runtime_us })
    })
}

fn judge_group(fifo: &Tried, capable: bool, budget: Option<&GroupBudget>) -> Finding {
    const NAME: &str = "real-time control group";
    const LOSS: &str = "the kernel was built with RT_GROUP_SCHED and this control group has no real-time budget: \
                        SCHED_FIFO is refused even to root";
    match (budget, errno(fifo)) {
        (Some(GroupBudget { file, runtime_us: 0 }), _) => Finding::missing(
            NAME,
            format!("{file} is 0"),
            LOSS,
            &lines(&[
                format!("echo 950000 | sudo tee {file}"),
                "# its parents need at least as much".to_owned(),
            ]),
        ),
        (Some(GroupBudget { file, runtime_us }), _) => Finding::ok(NAME, format!("{file} is {runtime_us}")),
        (None, Some(Errno::PERM)) if capable => {
            let mut fix = vec![
                "echo $$ | sudo tee /sys/fs/cgroup/cgroup.procs  # for this shell: the root group".to_owned(),
            ];
            fix.extend(boot_with("rt_group_sched=0"));
            Finding::missing(NAME, "SCHED_FIFO is refused in spite of CAP_SYS_NICE", LOSS, &lines(&fix))
        }
        (None, Some(_)) => Finding::unknown(
            NAME,
            "cannot be told without the right to SCHED_FIFO",
            "if the kernel was built with RT_GROUP_SCHED, the right alone may not be enough",
            &[],
        ),
        (None, None) => Finding::ok(NAME, "sets no limit of its own"),
    }
}

fn judge_deadline(tried: &Tried, capable: bool) -> Finding {
    const NAME: &str = "SCHED_DEADLINE";
    const LOSS: &str = "jobs that ask for SCHED_DEADLINE run under ordinary scheduling, with a warning; SCHED_FIFO, the default, is not concerned";
    match tried {
        Some(Ok(())) => Finding::ok(NAME, "1ms in 100ms was granted to a scratch thread"),
        Some(Err(refusal)) if !capable => Finding::missing(
            NAME,
            refusal.to_string(),
            LOSS,
            &["sudo leveret run JOB.toml  # no limit grants it: it takes root or CAP_SYS_NICE"],
        ),
        Some(Err(refusal)) if errno(tried) == Some(Errno::BUSY) => Finding::missing(
            NAME,
            refusal.to_string(),
            LOSS,
            &lines(&sysctl("kernel.sched_rt_runtime_us = 950000")),
        ),
        Some(Err(refusal)) => Finding::missing(
            NAME,
            refusal.to_string(),
            LOSS,
            &["taskset -pc 0-$(($(nproc --all) - 1)) $$  # such threads may not be confined to some cores"],
        ),
        None => Finding::unknown(NAME, "no scratch thread could be started", LOSS, &["ulimit -u unlimited"]),
    }
}

fn judge_throttling(runtime_us: Option<i64>, period_us: Option<i64>) -> Finding {
    const NAME: &str = "real-time throttling";
    const LOSS: &str =
        "real-time threads are stopped for the rest of each period once they have used that much";
    let fix = sysctl("kernel.sched_rt_runtime_us = 950000");
    match (runtime_us, period_us) {
        (Some(-1), _) => Finding::ok(NAME, "kernel.sched_rt_runtime_us is -1: none"),
        (Some(runtime), Some(period)) => {
            let found = format!("real-time threads may use {runtime} us of every {period} us");
            if i128::from(runtime) * 10 >= i128::from(period) * 9 {
                Finding::ok(NAME, found)
            } else {
                Finding::missing(NAME, found, LOSS, &lines(&fix))
            }
        }
        _ => Finding::unknown(NAME, "kernel.sched_rt_runtime_us cannot be read", LOSS, &lines(&fix)),
    }
}

/// Runtime and period of the first core's fair server, in nanoseconds.
fn fair_server() -> Result<(i64, i64), Failure> {
    let read = |name| {
        let text = read_debugfs(&format!("sched/fair_server/cpu0/{name}"))?;
        text.parse::<i64>().map_err(|_| Failure::new("read", Errno::BADMSG))
    };
    Ok((read("runtime")?, read("period")?))
}

fn judge_fair_server(server_ns: Result<(i64, i64), Failure>) -> Finding {
    const NAME: &str = "fair server";
    const LOSS: &str = "a task that keeps its core busy through that whole period loses it for the time given, to ordinary threads \
                        that wait; tasks that sleep between their instances lose nothing";
    const FIX: &[&str] = &[
        "for core in /sys/kernel/debug/sched/fair_server/cpu*; do echo 0 | sudo tee $core/runtime; done",
        "# only on cores that run nothing else: ordinary threads there may then wait for ever",
    ];
    match server_ns {
        Ok((0, _)) => Finding::ok(NAME, "off"),
        Ok((runtime, period)) => {
            let found = format!("gives ordinary threads {} of every {}", Nanos(runtime), Nanos(period));
            // The kernel's own setting, 50 ms of a second, concerns nobody who sleeps through most of a period.
            if i128::from(runtime) * 20 <= i128::from(period) {
                Finding::ok(NAME, found)
            } else {
                Finding::missing(NAME, found, LOSS, FIX)
            }
        }
        Err(failure) => Finding::unknown(
            NAME,
            format!("debugfs, which shows it to root since Linux 6.12, cannot be read ({failure})"),
            LOSS,
            &[],
        ),
    }
}

fn judge_timer_slack<E: std::fmt::Display>(tried: Option<Result<(), E>>) -> Finding {
    const NAME: &str = "timer slack";
    const LOSS: &str = "sleeps under SCHED_OTHER may end up to 50us late";
    match tried {
        Some(Ok(())) => Finding::ok(NAME, "can be set to 1ns"),
        Some(Err(refusal)) => Finding::missing(NAME, refusal.to_string(), LOSS, &[]),
        None => Finding::unknown(NAME, "no scratch thread could be started", LOSS, &["ulimit -u unlimited"]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn refused(errno: Errno) -> Tried {
        let class = Class::Fifo { priority: 80 };
        Some(Err(SchedulingError::Class { class, failure: Failure::new("sched_setattr", errno) }))
    }

    #[test]
    fn the_right_to_fifo_comes_by_a_limit_and_the_group_trap_is_told_apart() {
        let plain = judge_fifo(&refused(Errno::PERM), false);
        assert!(plain.state == State::Missing && plain.fix.iter().any(|line| line.contains("rtprio 99")));
        let trapped = judge_fifo(&refused(Errno::PERM), true);
        assert!(trapped.fix[0].contains("control group"), "{trapped:?}");
        let group = judge_group(&refused(Errno::PERM), true, None);
        assert!(group.state == State::Missing && group.fix[0].contains("cgroup.procs"), "{group:?}");
        assert!(group.fix.iter().any(|line| line.contains("rt_group_sched=0")));
        assert_eq!(judge_group(&refused(Errno::PERM), false, None).state, State::Unknown);
        assert_eq!(judge_group(&Some(Ok(())), false, None).state, State::Ok);
        let budget =
            |runtime_us| GroupBudget { file: "/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us".into(), runtime_us };
        let empty = judge_group(&refused(Errno::PERM), true, Some(&budget(0)));
        assert!(empty.fix[0].contains("/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us"), "{empty:?}");
        assert_eq!(judge_group(&Some(Ok(())), true, Some(&budget(950_000))).state, State::Ok);
    }

    #[test]
    fn each_refusal_of_deadline_has_its_own_remedy() {
        let fix = |errno, capable| judge_deadline(&refused(errno), capable).fix.concat();
        assert!(fix(Errno::PERM, false).contains("sudo leveret run"));
        assert!(fix(Errno::BUSY, true).contains("sched_rt_runtime_us"));
        assert!(fix(Errno::PERM, true).contains("taskset"));
        assert_eq!(judge_deadline(&Some(Ok(())), true).state, State::Ok);
        assert_eq!(judge_deadline(&None, true).state, State::Unknown);
    }

    #[test]
    fn throttling_and_fair_server_are_judged_by_their_share() {
        for (runtime, period, state) in [
            (Some(-1), None, State::Ok),
            (Some(950_000), Some(1_000_000), State::Ok),
            (Some(500_000), Some(1_000_000), State::Missing),
            (Some(0), Some(1_000_000), State::Missing),
            (None, Some(1), State::Unknown),
        ] {
            assert_eq!(judge_throttling(runtime, period).state, state, "{runtime:?}");
        }
        assert_eq!(judge_fair_server(Ok((0, 1_000))).state, State::Ok);
        assert_eq!(judge_fair_server(Ok((50_000_000, 1_000_000_000))).state, State::Ok);
        assert_eq!(judge_fair_server(Ok((200_000_000, 1_000_000_000))).state, State::Missing);
        assert_eq!(judge_fair_server(Err(Failure::new("openat", Errno::PERM))).state, State::Unknown);
    }

    #[test]
    fn timer_slack_is_judged() {
        assert_eq!(judge_timer_slack(Some(Ok::<(), String>(()))).state, State::Ok);
        assert_eq!(judge_timer_slack(Some(Err("no"))).state, State::Missing);
        assert_eq!(judge_timer_slack::<String>(None).state, State::Unknown);
    }
}
