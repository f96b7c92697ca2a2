//! One round of `cyclictest` (rt-tests), read from its histogram.

use crate::BenchError;
use crate::harness::Measured;
use crate::start_lateness::PERIOD;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Latencies above so many microseconds are counted as overflows, at the printed maximum.
const HISTOGRAM_US: u32 = 20_000;

/// Runs `cyclictest` on the core, under `SCHED_FIFO` of this priority, for the round's time. It holds
/// `/dev/cpu_dma_latency` by itself.
pub fn cyclictest(core: u32, priority: u8, round: Duration) -> Result<Measured, BenchError> {
    let missing = |reason: String| BenchError::Missing { subject: "cyclictest".to_owned(), reason };
    let loops = (round.as_nanos() as i64 / PERIOD.0).max(1);
    let output = Command::new("cyclictest")
        .args(["--mlockall", "--quiet", "--threads=1", "--policy=fifo"])
        .args([format!("--priority={priority}"), format!("--interval={}", PERIOD.0 / 1000)])
        .args([
            format!("--affinity={core}"),
            format!("--loops={loops}"),
            format!("--histogram={HISTOGRAM_US}"),
        ])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| missing(format!("{error}; `apt-get install rt-tests`")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    read_histogram(&text).ok_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        missing(errors.lines().next().unwrap_or("printed no histogram").to_owned())
    })
}

/// Lines `000015 000123` (microseconds, count), then the maximum and the number of overflows.
fn read_histogram(text: &str) -> Option<Measured> {
    let mut values = Vec::new();
    let (mut overflows, mut max_us) = (0, 0);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# Max Latencies:") {
            max_us = rest.trim().parse().ok()?;
        } else if let Some(rest) = line.strip_prefix("# Histogram Overflows:") {
            overflows = rest.trim().parse().ok()?;
        } else if let Some((value, count)) = line.split_once(char::is_whitespace)
            && let (Ok(value_us), Ok(count)) = (value.parse::<u64>(), count.trim().parse::<u64>())
            && count > 0
        {
            values.push((value_us * 1000, count));
        }
    }
    if overflows > 0 {
        values.push((max_us * 1000, overflows));
    }
    (!values.is_empty()).then_some(Measured { values, plain_ns: None, spin_share: Some(0.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_read_with_its_overflows() {
        let text = "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000000 000000\n000015 000190\n000016 000008\n\
                    # Total: 000000198\n# Min Latencies: 00015\n# Avg Latencies: 00015\n# Max Latencies: 25123\n\
                    # Histogram Overflows: 00002\n# Histogram Overflow at cycle number:\n# Thread 0: 00007 00009\n";
        let measured = read_histogram(text).unwrap();
        assert_eq!(measured.values, [(15_000, 190), (16_000, 8), (25_123_000, 2)]);
        assert!(read_histogram("no rights").is_none());
    }
}
