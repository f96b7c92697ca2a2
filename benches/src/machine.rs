//! Where and when a benchmark ran, and what else ran.

use serde::Serialize;
use std::fmt;
use std::fs::read_to_string;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine that a report is about.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Day of the run, UTC.
    pub date: String,
    /// Kernel release.
    pub kernel: String,
    /// Processor's name.
    pub processor: String,
    /// Number of processors online.
    pub cores_online: usize,
    /// The processors that the benchmark used.
    pub cores: [usize; 2],
    /// Load average over a minute when the benchmark began.
    pub load_before: f64,
    /// Whether idle states were held off (`/dev/cpu_dma_latency` at 0), for all subjects alike.
    pub idle_states_held_off: bool,
    /// Cost of one stamp, which every stamped value contains once.
    pub stamp_ns: f64,
}

impl Machine {
    /// Looks around.
    pub fn observe(cores: [usize; 2], idle_states_held_off: bool) -> Self {
        let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field =
            |name| info.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(": "));
        let load = read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            date: today(),
            kernel: read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            processor: field("model name").map_or("unknown", |(_, name)| name).to_owned(),
            cores_online: std::thread::available_parallelism().map_or(1, usize::from),
            cores,
            load_before: load.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0),
            idle_states_held_off,
            stamp_ns: stamp_ns(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{}, Linux {}, {}, {} cores online, cores {} and {} used, load average before {:.2}, idle states {}, \
             a stamp costs {:.0} ns (contained in all but the means).",
            self.date,
            self.kernel,
            self.processor,
            self.cores_online,
            self.cores[0],
            self.cores[1],
            self.load_before,
            if self.idle_states_held_off { "held off for all" } else { "not held off" },
            self.stamp_ns,
        )
    }
}

/// Cost of reading the clock that all stamps come from.
fn stamp_ns() -> f64 {
    const READINGS: u32 = 20_000;
    let start = std::time::Instant::now();
    for _ in 0..READINGS {
        std::hint::black_box(std::time::Instant::now());
    }
    start.elapsed().as_nanos() as f64 / f64::from(READINGS)
}

/// `2026-11-21`.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The day of the common calendar, from days since 1970-01-01 (Hinnant, days_from_civil, turned round).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_778), (2026, 11, 21));
    }
}
