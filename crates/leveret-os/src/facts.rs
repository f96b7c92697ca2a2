//! What this machine is, as far as it bears on real time.

use crate::detached::read_debugfs;
use crate::scheduling::allowed_cores;
use serde::{Deserialize, Serialize};

/// What this machine is. Texts are empty and options `None` where the kernel would not say.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// `uname -r`.
    pub kernel_release: String,
    /// `uname -v`.
    pub kernel_version: String,
    /// Model of the first processor.
    pub processor: String,
    /// Whether a hypervisor runs this kernel.
    pub hypervisor: bool,
    /// Processors on line.
    pub cores_online: Vec<u32>,
    /// Processors that this process may use.
    pub cores_allowed: Vec<u32>,
    /// Processors kept free of ordinary load balancing (`isolcpus`, isolated cpusets).
    pub cores_isolated: Vec<u32>,
    /// Processors without a periodic tick (`nohz_full`).
    pub cores_tickless: Vec<u32>,
    /// How the frequency of the first processor is governed.
    pub governor: Option<String>,
    /// How the kernel preempts itself.
    pub preemption: Preemption,
    /// `kernel.sched_rt_runtime_us`; -1 is without limit.
    pub realtime_runtime_us: Option<i64>,
    /// `kernel.sched_rt_period_us`.
    pub realtime_period_us: Option<i64>,
    /// The kernel's clock source.
    pub clock_source: String,
    /// Clock sources it could use.
    pub clock_sources_available: Vec<String>,
    /// Idle states of the first processor that are enabled.
    pub idle_states: Vec<IdleState>,
}

/// An idle state of a processor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IdleState {
    /// Its name.
    pub name: String,
    /// How long leaving it takes.
    pub latency_us: u64,
}

/// How the kernel preempts itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preemption {
    /// PREEMPT_RT: nearly everywhere.
    RealTime,
    /// Everywhere but in critical sections.
    Full,
    /// Everywhere for real-time threads, at the tick for others.
    Lazy,
    /// At chosen points.
    Voluntary,
    /// On return to user code only.
    None,
    /// One of the above, chosen at boot; the kernel would not say which.
    Dynamic,
    /// Not known.
    #[default]
    Unknown,
}

/// Reads one value of `/proc` or `/sys`.
pub(crate) fn value(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

pub(crate) fn number(path: &str) -> Option<i64> {
    value(path)?.parse().ok()
}

impl Facts {
    /// Asks the kernel.
    pub fn gather() -> Self {
        let name = rustix::system::uname();
        let kernel_version = name.version().to_string_lossy().into_owned();
        let processors = value("/proc/cpuinfo").unwrap_or_default();
        let cores = |path| parse_cores(&value(path).unwrap_or_default());
        let clock = "/sys/devices/system/clocksource/clocksource0";
        Self {
            kernel_release: name.release().to_string_lossy().into_owned(),
            preemption: preemption(
                &kernel_version,
                value("/sys/kernel/realtime").as_deref(),
                read_debugfs("sched/preempt").ok().as_deref(),
            ),
            kernel_version,
            processor: processor_model(&processors),
            hypervisor: processor_field(&processors, "flags")
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
                || value("/sys/hypervisor/type").is_some(),
            cores_online: online_cores(),
            cores_allowed: allowed_cores(),
            cores_isolated: cores("/sys/devices/system/cpu/isolated"),
            cores_tickless: cores("/sys/devices/system/cpu/nohz_full"),
            governor: value("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            realtime_runtime_us: number("/proc/sys/kernel/sched_rt_runtime_us"),
            realtime_period_us: number("/proc/sys/kernel/sched_rt_period_us"),
            clock_source: value(&format!("{clock}/current_clocksource")).unwrap_or_default(),
            clock_sources_available: value(&format!("{clock}/available_clocksource"))
                .map(|text| text.split_ascii_whitespace().map(str::to_owned).collect())
                .unwrap_or_default(),
            idle_states: idle_states(),
        }
    }
}

/// The cores that run.
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// Whether the machine has this core, and it is online.
pub fn has_core(core: u32) -> bool {
    online_cores().contains(&core)
}

/// How many bytes of addresses this process and its children may use (`ulimit -v`); `None` where there is no limit.
pub fn address_space_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

/// The cores that run; where /sys is not mounted, as the kernel counts their time.
/// The processors that are online.
pub fn online_cores() -> Vec<u32> {
    match value(ONLINE) {
        Some(listed) => parse_cores(&listed),
        None => counted_cores(&std::fs::read_to_string("/proc/stat").unwrap_or_default()),
    }
}

/// The numbers of the lines `cpuN` of /proc/stat.
fn counted_cores(text: &str) -> Vec<u32> {
    let number = |line: &str| line.strip_prefix("cpu")?.split(' ').next()?.parse().ok();
    text.lines().filter_map(number).collect()
}

/// Field of the first processor in `/proc/cpuinfo`.
fn processor_field<'a>(text: &'a str, field: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == field).then(|| value.trim())
    })
}

fn processor_model(text: &str) -> String {
    ["model name", "Hardware", "Processor", "CPU implementer"]
        .iter()
        .find_map(|field| processor_field(text, field))
        .unwrap_or_default()
        .to_owned()
}

/// `0-2,5` as the kernel prints sets of processors; what is not one is passed over.
fn parse_cores(text: &str) -> Vec<u32> {
    const CORES_MAX: u32 = 1 << 16;
    let mut cores = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            cores.extend(first..=last.min(CORES_MAX));
        }
    }
    cores
}

/// From the version text, the flag of PREEMPT_RT, and the choice that a dynamic kernel shows as
/// `none voluntary (full) lazy`.
fn preemption(version: &str, realtime: Option<&str>, choice: Option<&str>) -> Preemption {
    if realtime == Some("1") || version.contains("PREEMPT_RT") {
        return Preemption::RealTime;
    }
    let chosen = choice.and_then(|text| text.split_once('(')?.1.split_once(')')).map(|(chosen, _)| chosen);
    match chosen {
        Some("full") => Preemption::Full,
        Some("lazy") => Preemption::Lazy,
        Some("voluntary") => Preemption::Voluntary,
        Some("none") => Preemption::None,
        _ if version.contains("PREEMPT_DYNAMIC") => Preemption::Dynamic,
        _ if version.contains("PREEMPT_LAZY") => Preemption::Lazy,
        _ if version.contains("PREEMPT") => Preemption::Full,
        // Such kernels name only what they have: voluntary and none look alike.
        _ if !version.is_empty() => Preemption::Voluntary,
        _ => Preemption::Unknown,
    }
}

fn idle_states() -> Vec<IdleState> {
    let state = |index: usize| {
        let file = |name| value(&format!("/sys/devices/system/cpu/cpu0/cpuidle/state{index}/{name}"));
        let (name, latency_us) = (file("name")?, file("latency")?.parse().ok()?);
        Some((file("disable").is_some_and(|disabled| disabled == "0"), IdleState { name, latency_us }))
    };
    (0..).map_while(state).filter(|(enabled, _)| *enabled).map(|(_, state)| state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_kernel_and_a_core() {
        let facts = Facts::gather();
        assert!(!facts.kernel_release.is_empty() && !facts.kernel_version.is_empty());
        assert!(!facts.cores_online.is_empty() && !facts.cores_allowed.is_empty());
        assert_ne!(facts.preemption, Preemption::Unknown);
        let text = serde_json::to_string(&facts).unwrap();
        assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), facts);
    }

    #[test]
    fn sets_of_processors_are_read() {
        assert_eq!(parse_cores("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(parse_cores("3"), [3]);
        for empty in ["", "(null)", "a-b", "5-3", "-"] {
            assert_eq!(parse_cores(empty), [0_u32; 0], "{empty}");
        }
        assert!(parse_cores("0-4294967295").len() <= 65_537);
    }

    #[test]
    fn preemption_is_told_from_what_the_kernel_shows() {
        let dynamic = "#1 SMP PREEMPT_DYNAMIC";
        for (version, realtime, choice, expected) in [
            ("#1 SMP PREEMPT_RT", None, None, Preemption::RealTime),
            (dynamic, Some("1"), None, Preemption::RealTime),
            (dynamic, None, Some("none voluntary (full) lazy"), Preemption::Full),
            (dynamic, None, Some("none voluntary full (lazy)"), Preemption::Lazy),
            (dynamic, None, Some("(none) voluntary full"), Preemption::None),
            (dynamic, None, Some("garbage ("), Preemption::Dynamic),
            (dynamic, None, None, Preemption::Dynamic),
            ("#1 SMP PREEMPT", None, None, Preemption::Full),
            ("#1 SMP", None, None, Preemption::Voluntary),
            ("", None, None, Preemption::Unknown),
        ] {
            assert_eq!(preemption(version, realtime, choice), expected, "{version} {choice:?}");
        }
    }

    #[test]
    fn the_processors_fields_are_found() {
        let text = "processor\t: 0\nmodel name\t: Some: Thing\nflags\t\t: fpu hypervisor\n";
        assert_eq!(processor_model(text), "Some: Thing");
        assert_eq!(processor_field(text, "flags"), Some("fpu hypervisor"));
        assert_eq!(processor_model("nonsense"), "");
    }
}
