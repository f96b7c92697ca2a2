//! The kernel and the machine below it.

use super::{Finding, boot_with, lines};
use crate::facts::{Facts, Preemption};
use crate::latency::{DEVICE, IdleStatesError, IdleStatesHeld};

pub(super) fn examine(facts: &Facts) -> Vec<Finding> {
    vec![
        judge_hypervisor(facts.hypervisor),
        judge_cores(facts),
        judge_isolation(facts),
        judge_preemption(facts.preemption),
        judge_clock_source(&facts.clock_source, &facts.clock_sources_available),
        judge_governor(facts.governor.as_deref(), facts.hypervisor),
        judge_idle_states(facts),
        judge_latency_device(IdleStatesHeld::hold().map(|_| ())),
    ]
}

fn judge_hypervisor(present: bool) -> Finding {
    const NAME: &str = "bare machine";
    if !present {
        return Finding::ok(NAME, "no hypervisor shows");
    }
    Finding::missing(
        NAME,
        "a hypervisor runs this kernel",
        "it takes cores away now and then, for milliseconds; nothing in here can prevent or announce that. Misses \
         that come of it are the machine's where a gap or a late interrupt was recorded, and count as unproven elsewhere",
        &["# run on a bare machine, or pin the virtual cores to real ones that run nothing else"],
    )
}

fn judge_cores(facts: &Facts) -> Finding {
    const NAME: &str = "cores";
    let (online, allowed) = (facts.cores_online.len(), facts.cores_allowed.len());
    let found = format!("{online} on line, {allowed} of them for this process");
    match allowed {
        0 => Finding::unknown(NAME, found, "jobs cannot be placed on cores", &[]),
        1 => Finding::missing(
            NAME,
            found,
            "tasks share the core with the watching and with everything else; misses are reported later",
            &["taskset -pc 0-$(($(nproc --all) - 1)) $$"],
        ),
        _ => Finding::ok(NAME, found),
    }
}

/// Cores, as a person writes them.
fn listed(cores: &[u32]) -> String {
    if cores.is_empty() {
        return "none".to_owned();
    }
    cores.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

fn judge_isolation(facts: &Facts) -> Finding {
    const NAME: &str = "isolated cores";
    let (isolated, tickless) = (&facts.cores_isolated, &facts.cores_tickless);
    let usable = isolated.iter().any(|core| facts.cores_allowed.contains(core));
    if usable && !tickless.is_empty() {
        return Finding::ok(
            NAME,
            format!("isolated {}, without tick {}", listed(isolated), listed(tickless)),
        );
    }
    // The first core keeps the kernel's own work.
    let last = facts.cores_online.last().copied().unwrap_or(0);
    let fix = match last {
        0 => Vec::new(),
        1 => boot_with("isolcpus=managed_irq,domain,1 nohz_full=1 rcu_nocbs=1"),
        _ => {
            boot_with(&format!("isolcpus=managed_irq,domain,1-{last} nohz_full=1-{last} rcu_nocbs=1-{last}"))
        }
    };
    Finding::missing(
        NAME,
        format!(
            "isolated {}, without tick {}, for this process {}",
            listed(isolated),
            listed(tickless),
            listed(&facts.cores_allowed)
        ),
        "the tick, interrupts and the kernel's workers run on the tasks' cores: some microseconds now and then",
        &lines(&fix),
    )
}

fn judge_preemption(preemption: Preemption) -> Finding {
    const NAME: &str = "kernel preemption";
    const LOSS: &str =
        "a wake-up waits until the kernel has finished what it does for somebody else, up to milliseconds";
    let found = match preemption {
        Preemption::RealTime => "PREEMPT_RT",
        Preemption::Full => "full",
        Preemption::Lazy => "lazy (real-time threads preempt at once)",
        Preemption::Voluntary => "voluntary",
        Preemption::None => "none",
        Preemption::Dynamic => "chosen at boot (PREEMPT_DYNAMIC); debugfs, which shows which, cannot be read",
        Preemption::Unknown => "not known",
    };
    let fix = boot_with("preempt=full");
    match preemption {
        Preemption::RealTime | Preemption::Full | Preemption::Lazy => Finding::ok(NAME, found),
        Preemption::Voluntary | Preemption::None => Finding::missing(NAME, found, LOSS, &lines(&fix)),
        Preemption::Dynamic | Preemption::Unknown => Finding::unknown(NAME, found, LOSS, &lines(&fix)),
    }
}

fn judge_clock_source(source: &str, available: &[String]) -> Finding {
    const NAME: &str = "clock source";
    const LOSS: &str =
        "reading the clock may be a system call or a slow device access: spinning to an instant gets coarse";
    // Those that the vDSO reads without a system call.
    match source {
        "tsc" | "arch_sys_counter" => Finding::ok(NAME, source),
        "" => Finding::unknown(NAME, "the kernel does not say", LOSS, &[]),
        _ if available.iter().any(|name| name == "tsc") => Finding::missing(
            NAME,
            source,
            LOSS,
            &["echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"],
        ),
        _ => Finding::missing(NAME, source, LOSS, &lines(&boot_with("tsc=reliable clocksource=tsc"))),
    }
}

fn judge_governor(governor: Option<&str>, hypervisor: bool) -> Finding {
    const NAME: &str = "frequency governor";
    const LOSS: &str =
        "the processor slows down while tasks sleep: execution times vary, budgets must allow for it";
    match governor {
        Some("performance") => Finding::ok(NAME, "performance"),
        Some(other) => Finding::missing(
            NAME,
            other,
            LOSS,
            &["echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"],
        ),
        None if hypervisor => Finding::unknown(NAME, "the host governs the frequency", LOSS, &[]),
        None => Finding::ok(NAME, "the kernel does not change the frequency"),
    }
}

/// A wake-up from a state up to here is lost in the noise.
const IDLE_LATENCY_US_MAX: u64 = 5;

fn judge_idle_states(facts: &Facts) -> Finding {
    const NAME: &str = "idle states";
    const LOSS: &str =
        "a processor that slept deeply wakes late by that much, unless the next item is granted";
    match facts.idle_states.iter().max_by_key(|state| state.latency_us) {
        None if facts.hypervisor => Finding::unknown(
            NAME,
            "the host decides on them",
            "waking from a halt may take tens of microseconds, and hundreds once in a hundred",
            &[
                "idle = \"spin\"  # in [host] of the manifest, or `leveret run --idle spin`: idle cores of the job spin",
            ],
        ),
        None => Finding::ok(NAME, "none"),
        Some(deepest) => {
            let found = format!("deepest is {}, {} us to leave", deepest.name, deepest.latency_us);
            if deepest.latency_us <= IDLE_LATENCY_US_MAX {
                Finding::ok(NAME, found)
            } else {
                let fix = format!("sudo cpupower idle-set --disable-by-latency {IDLE_LATENCY_US_MAX}");
                Finding::missing(NAME, found, LOSS, &[&fix])
            }
        }
    }
}

fn judge_latency_device(held: Result<(), IdleStatesError>) -> Finding {
    const NAME: &str = "/dev/cpu_dma_latency";
    match held {
        Ok(()) => Finding::ok(NAME, "can be held at 0 while a job runs"),
        Err(IdleStatesError::Refused(failure)) => Finding::missing(
            NAME,
            failure.to_string(),
            "processors go to deep idle states between tasks: wake-ups take 5 to 8 times as long",
            &lines(&[
                "sudo groupadd -f realtime && sudo usermod -aG realtime \"$USER\"".to_owned(),
                "echo 'KERNEL==\"cpu_dma_latency\", GROUP=\"realtime\", MODE=\"0660\"' | sudo tee \
                 /etc/udev/rules.d/90-leveret.rules"
                    .to_owned(),
                format!(
                    "sudo chgrp realtime {DEVICE} && sudo chmod 660 {DEVICE}  # the rule holds from the next boot on"
                ),
                "# log out and in again".to_owned(),
            ]),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use crate::Failure;
    use crate::facts::IdleState;

    #[test]
    fn a_hypervisor_is_named_and_blamed() {
        assert_eq!(judge_hypervisor(false).state, State::Ok);
        assert!(judge_hypervisor(true).loss.contains("the machine's where"));
    }

    #[test]
    fn cores_and_their_isolation_are_judged_and_the_line_names_the_right_ones() {
        let mut facts = Facts { cores_online: vec![0, 1, 2, 3], cores_allowed: vec![0], ..Facts::default() };
        assert_eq!(judge_cores(&facts).state, State::Missing);
        facts.cores_allowed = vec![0, 1, 2, 3];
        assert_eq!(judge_cores(&facts).state, State::Ok);
        let finding = judge_isolation(&facts);
        assert!(finding.state == State::Missing && finding.fix[0].contains("nohz_full=1-3"), "{finding:?}");
        facts.cores_isolated = vec![2, 3];
        assert_eq!(judge_isolation(&facts).state, State::Missing);
        facts.cores_tickless = vec![2, 3];
        assert_eq!(judge_isolation(&facts).state, State::Ok);
        facts.cores_allowed = vec![0, 1];
        assert_eq!(judge_isolation(&facts).state, State::Missing);
        assert_eq!(judge_cores(&Facts::default()).state, State::Unknown);
        assert!(judge_isolation(&Facts::default()).fix.is_empty());
    }

    #[test]
    fn preemption_is_judged() {
        for (preemption, state) in [
            (Preemption::RealTime, State::Ok),
            (Preemption::Full, State::Ok),
            (Preemption::Lazy, State::Ok),
            (Preemption::Voluntary, State::Missing),
            (Preemption::None, State::Missing),
            (Preemption::Dynamic, State::Unknown),
            (Preemption::Unknown, State::Unknown),
        ] {
            assert_eq!(judge_preemption(preemption).state, state);
        }
    }

    #[test]
    fn a_slow_clock_is_changed_where_tsc_is_there_and_otherwise_at_boot() {
        assert_eq!(judge_clock_source("tsc", &[]).state, State::Ok);
        assert_eq!(judge_clock_source("", &[]).state, State::Unknown);
        let now = judge_clock_source("hpet", &["tsc".into(), "hpet".into()]);
        assert!(now.fix[0].contains("current_clocksource"), "{now:?}");
        let boot = judge_clock_source("hpet", &["hpet".into()]);
        assert!(boot.fix[0].contains("clocksource=tsc"), "{boot:?}");
    }

    #[test]
    fn frequency_and_idle_states_are_judged() {
        assert_eq!(judge_governor(Some("performance"), false).state, State::Ok);
        assert_eq!(judge_governor(Some("powersave"), false).state, State::Missing);
        assert_eq!(judge_governor(None, true).state, State::Unknown);
        assert_eq!(judge_governor(None, false).state, State::Ok);
        let with = |latency_us| Facts {
            idle_states: vec![
                IdleState { name: "POLL".into(), latency_us: 0 },
                IdleState { name: "C6".into(), latency_us },
            ],
            ..Facts::default()
        };
        assert_eq!(judge_idle_states(&with(1)).state, State::Ok);
        let deep = judge_idle_states(&with(133));
        assert!(deep.state == State::Missing && deep.found.contains("C6, 133 us"), "{deep:?}");
        assert_eq!(judge_idle_states(&Facts::default()).state, State::Ok);
        assert_eq!(judge_idle_states(&Facts { hypervisor: true, ..Facts::default() }).state, State::Unknown);
        let refused = IdleStatesError::Refused(Failure::new("open", rustix::io::Errno::ACCESS));
        let device = judge_latency_device(Err(refused));
        assert!(device.fix.iter().any(|line| line.contains("udev")), "{device:?}");
        assert_eq!(judge_latency_device(Ok(())).state, State::Ok);
    }
}
