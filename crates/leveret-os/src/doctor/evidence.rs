//! What can be seen of the machine when a miss is to be explained.

use super::{Finding, lines, sysctl};
use crate::perf::{FaultLog, PerfError, SwitchLog, SystemCallCounter, ThreadPage};
use crate::scheduling::allowed_cores;

pub(super) fn examine() -> Vec<Finding> {
    let core = allowed_cores().first().copied().unwrap_or(0);
    vec![
        judge_own_evidence(ThreadPage::open().and_then(|_| FaultLog::open_thread(0)).map(|_| ())),
        judge_switches(SwitchLog::open_core(core, 1).map(|_| ())),
        judge_system_calls(SystemCallCounter::open_thread(0).map(|_| ())),
    ]
}

fn judge_own_evidence(opened: Result<(), PerfError>) -> Finding {
    judge(
        "switches and faults of tasks",
        opened,
        "granted",
        "a late cycle cannot be told to have lost its core or faulted a page: more verdicts say \"unknown\"",
        &lines(&sysctl("kernel.perf_event_paranoid = 2")),
    )
}

fn judge_switches(opened: Result<(), PerfError>) -> Finding {
    judge(
        "switches of whole cores",
        opened,
        "granted",
        "a task that lost its core is seen, but not to whom",
        &lines(&sysctl("kernel.perf_event_paranoid = 0")),
    )
}

fn judge_system_calls(opened: Result<(), PerfError>) -> Finding {
    let mut fix = sysctl("kernel.perf_event_paranoid = 0");
    fix.push("sudo mount -o remount,mode=755 /sys/kernel/tracing".to_owned());
    judge(
        "count of system calls",
        opened,
        "granted",
        "the report cannot show how many system calls the data path made",
        &lines(&fix),
    )
}

fn judge(name: &str, opened: Result<(), PerfError>, found: &str, loss: &str, fix: &[&str]) -> Finding {
    match opened {
        Ok(()) => Finding::ok(name, found),
        Err(refusal) => Finding::missing(name, refusal.to_string(), loss, fix),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use crate::Failure;
    use rustix::io::Errno;

    #[test]
    fn each_refusal_says_what_will_not_be_seen() {
        let refused = || {
            let failure = Failure::new("perf_event_open", Errno::ACCESS);
            Err(PerfError::Open { event: "the log", target: "core 0".into(), failure })
        };
        for judge in [judge_own_evidence, judge_switches, judge_system_calls] {
            let finding = judge(refused());
            assert_eq!(finding.state, State::Missing);
            assert!(finding.fix[0].contains("perf_event_paranoid"), "{finding:?}");
            assert_eq!(judge(Ok(())).state, State::Ok);
        }
    }
}
