//! The machine's speed modes: a bare ping-pong over cache lines, and which measurements may be compared.
//!
//! A virtual machine's cores move, and everything that crosses between them then takes 1.4 or 4 times as long,
//! for seconds. So a probe runs before and after every round; a round whose two probes disagree is not used, and
//! only rounds of the same mode are compared.

use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_os::scheduling::pin;
use std::sync::Arc;
use std::time::Instant;

const TRIPS_PER_BATCH: u64 = 250;
const BATCHES: usize = 41;
/// Two neighbouring probe readings further apart than this belong to different modes.
const MODE_GAP: f64 = 1.22;
/// No mode is wider than this.
const MODE_WIDTH: f64 = 1.4;

/// A word alone on its cache line (and on the neighbour that the prefetcher brings along).
#[repr(align(256))]
#[derive(Default)]
struct Line(AtomicU64);

/// One reading: nanoseconds of a bare round trip between two pinned threads, the median of short batches.
pub fn probe(cores: [usize; 2]) -> f64 {
    let lines = Arc::new([Line::default(), Line::default()]);
    let last = TRIPS_PER_BATCH * BATCHES as u64;
    let partner = {
        let lines = Arc::clone(&lines);
        std::thread::spawn(move || {
            _ = pin(cores[1] as u32);
            for word in 1..=last {
                await_word(&lines[0].0, word);
                lines[1].0.store(word, Ordering::Release);
            }
        })
    };
    let prober = std::thread::spawn(move || {
        _ = pin(cores[0] as u32);
        let mut word = 0;
        let mut means: Vec<f64> = (0..BATCHES)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..TRIPS_PER_BATCH {
                    word += 1;
                    lines[0].0.store(word, Ordering::Release);
                    await_word(&lines[1].0, word);
                }
                start.elapsed().as_nanos() as f64 / TRIPS_PER_BATCH as f64
            })
            .collect();
        means.sort_by(f64::total_cmp);
        means[BATCHES / 2]
    });
    _ = partner.join();
    prober.join().unwrap_or(f64::NAN)
}

/// Spins for the word. With one core for both ends the partner could never answer, so it yields now and then.
fn await_word(line: &AtomicU64, word: u64) {
    let mut spins = 0_u32;
    while line.load(Ordering::Acquire) != word {
        spins += 1;
        if spins.is_multiple_of(1 << 16) {
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
}

/// The modes seen in a run: centres of the clusters of probe readings, ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// Median reading of each cluster, in nanoseconds.
    pub centres_ns: Vec<f64>,
    /// The largest reading of each cluster.
    upper_ns: Vec<f64>,
}

impl Modes {
    /// Splits the sorted readings wherever two neighbours are further apart than [`MODE_GAP`], and wherever a
    /// cluster would grow wider than [`MODE_WIDTH`].
    pub fn cluster(readings: &[f64]) -> Self {
        let mut sorted: Vec<f64> = readings.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let mut lowest = sorted.first().copied().unwrap_or_default();
        let clusters = sorted.chunk_by(|low, high| {
            let together = *high <= *low * MODE_GAP && *high <= lowest * MODE_WIDTH;
            if !together {
                lowest = *high;
            }
            together
        });
        let (centres_ns, upper_ns) =
            clusters.map(|cluster| (cluster[cluster.len() / 2], cluster[cluster.len() - 1])).unzip();
        Self { centres_ns, upper_ns }
    }

    /// The mode of a reading.
    pub fn of(&self, reading_ns: f64) -> Option<usize> {
        self.upper_ns.iter().position(|upper| reading_ns <= *upper)
    }

    /// The mode of a round, when its two probes agree.
    pub fn of_round(&self, before_ns: f64, after_ns: f64) -> Option<usize> {
        self.of(before_ns).filter(|mode| self.of(after_ns) == Some(*mode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_fall_into_the_known_three_modes() {
        let modes = Modes::cluster(&[81.0, 375.0, 79.0, 114.0, 83.0, 380.0, 116.0, f64::NAN]);
        assert_eq!(modes.centres_ns, [81.0, 116.0, 380.0]);
        assert_eq!(modes.of_round(79.0, 82.0), Some(0));
        assert_eq!(modes.of_round(79.0, 115.0), None);
        assert_eq!(modes.of(1000.0), None);
    }

    #[test]
    fn the_probe_measures_something() {
        assert!(probe([0, 1]).is_finite());
    }
}
