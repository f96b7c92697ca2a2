//! Signed nanoseconds with saturating arithmetic, and durations as people write them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// An instant or a duration in nanoseconds. Arithmetic saturates: no sum of plan quantities may wrap.
///
/// In text it always carries a unit: `250us`, `1.5ms`, `2s`. `MAX` stands for "never".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Nanos(pub i64);

impl Nanos {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Later than everything.
    pub const MAX: Self = Self(i64::MAX);

    /// From microseconds.
    pub const fn from_micros(value: i64) -> Self {
        Self(value.saturating_mul(1_000))
    }
    /// From milliseconds.
    pub const fn from_millis(value: i64) -> Self {
        Self(value.saturating_mul(1_000_000))
    }
    /// From seconds.
    pub const fn from_secs(value: i64) -> Self {
        Self(value.saturating_mul(1_000_000_000))
    }
    /// `self + other`, saturating.
    #[inline]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
    /// `self - other`, saturating.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// `self * factor`, saturating.
    #[inline]
    pub const fn saturating_mul(self, factor: i64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
    /// The value in microseconds.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl std::ops::Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

impl std::ops::Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

const UNITS: [(&str, i64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("ms", 1_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
];

/// Why a text is not a duration.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseDurationError {
    /// A bare number.
    #[error("duration \"{0}\" has no unit; write \"{0}us\" or \"{0}ms\" (units: ns, us, ms, s, min)")]
    MissingUnit(String),
    /// Not a number, or an unknown unit.
    #[error(
        "\"{0}\" is not a duration; write a number and a unit, such as \"250us\" (units: ns, us, ms, s, min)"
    )]
    Malformed(String),
    /// Finer than a nanosecond.
    #[error("duration \"{0}\" is finer than 1ns")]
    TooFine(String),
    /// Does not fit 64-bit nanoseconds.
    #[error("duration \"{0}\" is too large; the largest is about 292 years")]
    TooLarge(String),
}

impl FromStr for Nanos {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let malformed = || ParseDurationError::Malformed(text.to_owned());
        let digits_end = trimmed
            .char_indices()
            .find(|(place, c)| !(c.is_ascii_digit() || *c == '.' || *c == '_' || (*place == 0 && *c == '-')))
            .map_or(trimmed.len(), |(place, _)| place);
        let (number, unit) = trimmed.split_at(digits_end);
        let number = number.replace('_', "");
        if !number.bytes().any(|b| b.is_ascii_digit()) || number.bytes().filter(|b| *b == b'.').count() > 1 {
            return Err(malformed());
        }
        let unit = unit.trim();
        if unit.is_empty() {
            return Err(ParseDurationError::MissingUnit(trimmed.to_owned()));
        }
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else { return Err(malformed()) };
        scaled(&number, i128::from(*scale), text)
    }
}

/// `number` (decimal text) times `scale`, exactly.
fn scaled(number: &str, scale: i128, text: &str) -> Result<Nanos, ParseDurationError> {
    let too_large = || ParseDurationError::TooLarge(text.to_owned());
    let (negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    if whole.len() > 19 {
        return Err(too_large());
    }
    // Nineteen digits are finer than a nanosecond in every unit, and keep the products below far from overflow.
    if fraction.len() > 19 {
        return Err(ParseDurationError::TooFine(text.to_owned()));
    }
    let digits = |part: &str| if part.is_empty() { Ok(0) } else { part.parse::<i128>() };
    let malformed = |_| ParseDurationError::Malformed(text.to_owned());
    let denominator = 10_i128.pow(fraction.len() as u32);
    let part = digits(fraction).map_err(malformed)? * scale;
    if part % denominator != 0 {
        return Err(ParseDurationError::TooFine(text.to_owned()));
    }
    let value = digits(whole).map_err(malformed)? * scale + part / denominator;
    let value = i64::try_from(value).map_err(|_| too_large())?;
    Ok(Nanos(if negative { -value } else { value }))
}

impl fmt::Display for Nanos {
    /// The shortest exact form: `250us`, `1.5ms`, `75ns`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::MAX {
            return out.pad("never");
        }
        let magnitude = self.0.unsigned_abs();
        let (unit, scale) = match magnitude {
            0..1_000 => ("ns", 1),
            1_000..1_000_000 => ("us", 1_000),
            1_000_000..1_000_000_000 => ("ms", 1_000_000),
            _ => ("s", 1_000_000_000_u64),
        };
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (magnitude / scale, magnitude % scale);
        if rest == 0 {
            return out.pad(&format!("{sign}{whole}{unit}"));
        }
        let width = scale.ilog10() as usize;
        let fraction = format!("{rest:0width$}");
        out.pad(&format!("{sign}{whole}.{}{unit}", fraction.trim_end_matches('0')))
    }
}

impl Serialize for Nanos {
    /// Machine formats carry integer nanoseconds; field names end in `_ns` where people read them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for Nanos {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        for (text, value) in [
            ("0us", 0),
            ("250us", 250_000),
            ("1.5ms", 1_500_000),
            ("2 s", 2_000_000_000),
            ("1min", 60_000_000_000),
            ("-75ns", -75),
            ("10_000us", 10_000_000),
        ] {
            assert_eq!(text.parse::<Nanos>(), Ok(Nanos(value)), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_the_remedy() {
        let message = "250".parse::<Nanos>().unwrap_err().to_string();
        assert!(message.contains("has no unit") && message.contains("250us"), "{message}");
    }

    #[test]
    fn refuses_what_is_not_a_duration() {
        assert!(matches!("fast".parse::<Nanos>(), Err(ParseDurationError::Malformed(_))));
        assert!(matches!("5 fortnights".parse::<Nanos>(), Err(ParseDurationError::Malformed(_))));
        assert!(matches!("1.2.3us".parse::<Nanos>(), Err(ParseDurationError::Malformed(_))));
        assert!(matches!("0.5ns".parse::<Nanos>(), Err(ParseDurationError::TooFine(_))));
        assert!(matches!("9999999999999s".parse::<Nanos>(), Err(ParseDurationError::TooLarge(_))));
    }

    #[test]
    fn many_digits_are_refused_and_not_multiplied() {
        let text = "5227272711920119207.0270000000000015252s";
        assert_eq!(text.parse::<Nanos>(), Err(ParseDurationError::TooFine(text.to_owned())));
        let text = "9999999999999999999.5min";
        assert_eq!(text.parse::<Nanos>(), Err(ParseDurationError::TooLarge(text.to_owned())));
        let text = "0.00000000000000000001s";
        assert_eq!(text.parse::<Nanos>(), Err(ParseDurationError::TooFine(text.to_owned())));
        assert_eq!("00000000000000000000001.50us".parse(), Ok(Nanos(1_500)));
    }

    proptest! {
        #[test]
        fn text_round_trips(value in -1_000_000_000_000_000_i64..1_000_000_000_000_000) {
            prop_assert_eq!(Nanos(value).to_string().parse::<Nanos>(), Ok(Nanos(value)));
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = text.parse::<Nanos>();
        }
    }
}
