//! Numbers as people read them.

use leveret_types::Nanos;

/// Three significant digits and a unit: `350ns`, `12.3us`, `4.21ms`.
pub(crate) fn short(ns: i64) -> String {
    if ns == i64::MAX {
        return "never".to_owned();
    }
    let sign = if ns < 0 { "-" } else { "" };
    let magnitude = ns.unsigned_abs();
    let (unit, scale) = match magnitude {
        0..1_000 => return format!("{sign}{magnitude}ns"),
        1_000..1_000_000 => ("us", 1e3),
        1_000_000..1_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let value = magnitude as f64 / scale;
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{sign}{value:.digits$}{unit}")
}

/// As [`short`].
pub(crate) fn duration(value: Nanos) -> String {
    short(value.0)
}

/// `at 12ms`, from the epoch, or `12ms before the epoch`: a phase has what began before it and is not over.
pub(crate) fn instant(at: Nanos) -> String {
    if at < Nanos::ZERO {
        format!("{} before the epoch", Nanos(at.0.saturating_neg()))
    } else {
        format!("at {at}")
    }
}

/// `12ms`, or `12ms before`.
pub(crate) fn from_epoch(at: Nanos) -> String {
    if at < Nanos::ZERO { format!("{} before", Nanos(at.0.saturating_neg())) } else { at.to_string() }
}

/// Seconds since 1970 as a date and a time of day: `2026-11-21 08:59:35 UTC`.
pub(crate) fn utc(unix_s: i64) -> String {
    let (days, second) = (unix_s.div_euclid(86_400), unix_s.rem_euclid(86_400));
    // Counted in years that begin in March, so that a leap day is the last of its year; 400 years have 146,097 days.
    let day = days + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!(
        "{:04}-{month:02}-{date:02} {hour:02}:{minute:02}:{:02} UTC",
        era * 400 + year + later,
        second % 60
    )
}

/// `1 miss`, `7 misses`.
pub(crate) fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A count that may be unknown.
pub(crate) fn known(count: Option<u64>) -> String {
    count.map_or_else(|| "not counted".to_owned(), |count| count.to_string())
}

/// Rows as aligned columns: the first left-aligned, as are those in `left`; the rest right-aligned.
pub(crate) fn columns(rows: &[Vec<String>], left: &[usize]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::from(" ");
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            line.push(' ');
            if column == 0 || left.contains(&column) {
                line.push_str(&format!("{cell:<width$} "));
            } else {
                line.push_str(&format!("{cell:>width$} "));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        for (ns, text) in [
            (0, "0ns"),
            (999, "999ns"),
            (1_000, "1.00us"),
            (12_345, "12.3us"),
            (999_960, "1000us"),
            (-4_210_000, "-4.21ms"),
            (i64::MAX, "never"),
        ] {
            assert_eq!(short(ns), text);
        }
    }

    #[test]
    fn instants_have_their_date() {
        for (unix_s, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_795_251_549, "2026-11-21 08:59:09 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(utc(unix_s), text);
        }
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["bcd".to_owned(), "20".to_owned()]];
        assert_eq!(columns(&rows, &[]), "  a     1\n  bcd  20\n");
    }
}
