//! What every Rust child of the benchmarks shares; the twin of `peers/child.h`, where the line protocol is drawn.
//! The iceoryx2 peer includes this file too, so it needs nothing but `std`.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

/// The word of the last message of a round.
pub const LAST_WORD: u64 = u64::MAX;
/// The largest payload.
pub const SIZE_BYTES_MAX: usize = 4 << 20;
const WARM_UP_TRIPS: u64 = 64;
/// 512 steps an octave: a value is off by at most 0.2 %.
const STEPS: usize = 512;
const OCTAVES: usize = 36;

/// A round that the harness asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What to do, such as `copy-wake`.
    pub kind: String,
    /// Whether the whole payload is filled and copied out.
    pub copies: bool,
    /// Whether the receiver sleeps until it is woken.
    pub wakes: bool,
    /// Payload in bytes, a multiple of 8.
    pub size: usize,
    /// Length of the round.
    pub duration: Duration,
}

impl Order {
    /// From `go KIND SIZE MILLISECONDS`; `None` when it is something else.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        if words.next()? != "go" {
            return None;
        }
        let kind = words.next()?.to_owned();
        let size =
            words.next()?.parse().ok().filter(|size| (8..=SIZE_BYTES_MAX).contains(size) && size % 8 == 0)?;
        let duration = Duration::from_millis(words.next()?.parse().ok()?);
        let (copies, wakes) = (kind.starts_with("copy"), kind.ends_with("-wake"));
        Some(Self { kind, copies, wakes, size, duration })
    }

    /// Sends the order to one's partner.
    pub fn pass_on(&self, partner: &mut impl Write) -> std::io::Result<()> {
        writeln!(partner, "go {} {} {}", self.kind, self.size, self.duration.as_millis())?;
        partner.flush()
    }
}

/// Counts of values in nanoseconds, log-linear, allocated once.
pub struct Counts {
    counts: Vec<u64>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { counts: vec![0; OCTAVES * STEPS] }
    }
}

impl Counts {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        let place = if value_ns < STEPS as u64 {
            value_ns as usize
        } else {
            let shift = value_ns.ilog2() as usize - STEPS.ilog2() as usize + 1;
            (shift * STEPS + (value_ns >> (shift - 1)) as usize - STEPS).min(OCTAVES * STEPS - 1)
        };
        self.counts[place] += 1;
    }

    /// The values that occurred, ascending, with their counts.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let occurred = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        occurred.map(|(place, count)| (value_at(place), *count))
    }
}

fn value_at(place: usize) -> u64 {
    if place < STEPS { place as u64 } else { ((place % STEPS + STEPS) as u64) << (place / STEPS - 1) }
}

/// Every sender writes its whole payload for every message.
#[inline]
pub fn fill(buffer: &mut [u8], word: u64) {
    for part in buffer.chunks_exact_mut(8) {
        part.copy_from_slice(&word.to_ne_bytes());
    }
}

/// The word at the start of a payload; 0 when there is none.
#[inline]
pub fn first_word(buffer: &[u8]) -> u64 {
    buffer.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// Runs one round: three quarters of the time stamped, one quarter plain, then the last word. `trip` takes a word
/// there and back and says what came back.
pub fn ping_round(duration: Duration, mut trip: impl FnMut(u64) -> u64) -> Result<String, String> {
    let mut counts = Counts::default();
    let mut word = 0;
    let mut checked = |word: &mut u64| {
        let returned = trip(*word);
        if returned != *word {
            return Err(format!("word {word} came back as {returned}"));
        }
        *word += 1;
        Ok(())
    };
    for _ in 0..WARM_UP_TRIPS {
        checked(&mut word)?;
    }
    let start = Instant::now();
    let (mut count, mut last) = (0_u64, start);
    while last - start < duration * 3 / 4 {
        let before = Instant::now();
        checked(&mut word)?;
        last = Instant::now();
        counts.record((last - before).as_nanos() as u64);
        count += 1;
    }
    let plain_count = count / 3 + 1;
    let plain_start = Instant::now();
    for _ in 0..plain_count {
        checked(&mut word)?;
    }
    let plain_ps = plain_start.elapsed().as_nanos() * 1000 / u128::from(plain_count);
    match trip(LAST_WORD) {
        LAST_WORD => Ok(done(plain_ps as u64, &counts)),
        other => Err(format!("the last word came back as {other}")),
    }
}

/// The line that answers an order.
pub fn done(plain_ps: u64, counts: &Counts) -> String {
    let mut line = format!("done {plain_ps}");
    for (value, count) in counts.values() {
        line.push_str(&format!(" {value}:{count}"));
    }
    line
}

/// Answers orders from standard input until it ends.
pub fn serve(version: &str, mut run: impl FnMut(&Order) -> Result<String, String>) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "ready {version}")?;
    output.flush()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let answer = match Order::parse(&line) {
            Some(order) => run(&order).unwrap_or_else(|reason| format!("error {reason}")),
            None => format!("error this is not an order: {line}"),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_kept_within_its_step() {
        let mut counts = Counts::default();
        let values = [0_u64, 1, 511, 512, 513, 1023, 1024, 1_000_000, 3_999_999_999];
        values.iter().for_each(|value| counts.record(*value));
        let kept: Vec<_> = counts.values().collect();
        assert_eq!(kept.len(), values.len());
        for (value, (low, count)) in values.iter().zip(kept) {
            assert_eq!(count, 1);
            assert!(low <= *value && (*value - low) * STEPS as u64 <= *value, "{value} kept as {low}");
        }
    }

    #[test]
    fn an_order_is_read_and_nonsense_is_not() {
        let order = Order::parse("go copy-wake 1024 50").unwrap();
        assert_eq!((order.size, order.duration, order.wakes), (1024, Duration::from_millis(50), true));
        for line in ["", "go", "go copy 12 50", "go copy 4194312 50", "stop copy 8 50", "go copy 8 soon"] {
            assert_eq!(Order::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_round_that_changes_a_word_is_an_error() {
        assert!(ping_round(Duration::from_micros(10), |word| word).unwrap().starts_with("done "));
        let reason = ping_round(Duration::from_micros(10), |word| word ^ u64::from(word == 3)).unwrap_err();
        assert!(reason.contains("word 3 came back as 2"), "{reason}");
    }
}
