//! How time grows with size, drawn in text.

use crate::table::nanoseconds;

const WIDTH: f64 = 48.0;

/// One line for each (size, time): a bar on a logarithmic scale, the time, and what it is for each of the size.
pub fn plot(points: &[(u64, u64)]) -> String {
    let logs = points.iter().map(|(_, time_ns)| (*time_ns.max(&1) as f64).ln());
    let (least, most) = logs.fold((f64::MAX, f64::MIN), |(least, most), log| (least.min(log), most.max(log)));
    let mut text = String::new();
    for (size, time_ns) in points {
        let share = ((*time_ns.max(&1) as f64).ln() - least) / (most - least).max(f64::EPSILON);
        let bar = "=".repeat((1.0 + share * (WIDTH - 1.0)).round() as usize);
        let each = nanoseconds(time_ns / size.max(&1));
        text.push_str(&format!("{size:>7} |{bar:<48} {:>8}, {each} for each\n", nanoseconds(*time_ns)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_times_the_time_is_the_same_step_of_the_bar() {
        let text = plot(&[(100, 1_000), (1_000, 10_000), (10_000, 100_000)]);
        let bars: Vec<usize> = text.lines().map(|line| line.matches('=').count()).collect();
        assert_eq!(bars, [1, 25, 48], "{text}");
        assert!(text.starts_with("    100 |=") && text.contains("1.00 us, 10 ns for each"), "{text}");
    }
}
