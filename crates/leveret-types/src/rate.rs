//! Rates of links, as people write them.

use crate::Nanos;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Bits per second. In text it always carries a unit: `100Mbit/s`, `1Gbit/s`, `2.5Gbit/s`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BitRate(pub u64);

/// Why a text is not a rate.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseRateError {
    /// A bare number.
    #[error(
        "rate \"{0}\" has no unit; write \"{0}Mbit/s\" or \"{0}Gbit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s)"
    )]
    MissingUnit(String),
    /// Not a number, or an unknown unit.
    #[error(
        "\"{0}\" is not a rate; write a number and a unit, such as \"1Gbit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s)"
    )]
    Malformed(String),
    /// Zero, a part of a bit, or above [`BitRate::MAX`].
    #[error("rate \"{0}\" is outside 1 bit/s to 1000 Gbit/s, or no whole number of bits")]
    OutOfRange(String),
}

const UNITS: [(&str, u64); 4] =
    [("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];

impl BitRate {
    /// The fastest that a model may hold.
    pub const MAX: Self = Self(1_000_000_000_000);

    /// Time for this many bytes, rounded up to whole nanoseconds; saturates.
    pub fn transmission(self, bytes: u64) -> Nanos {
        let time = (u128::from(bytes) * 8_000_000_000).div_ceil(u128::from(self.0.max(1)));
        Nanos(i64::try_from(time).unwrap_or(i64::MAX))
    }
}

impl FromStr for BitRate {
    type Err = ParseRateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let malformed = || ParseRateError::Malformed(text.to_owned());
        let out_of_range = || ParseRateError::OutOfRange(text.to_owned());
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || fraction.contains('.') || number.ends_with('.') {
            return Err(malformed());
        }
        let unit = unit.trim();
        if unit.is_empty() {
            return Err(ParseRateError::MissingUnit(trimmed.to_owned()));
        }
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(malformed)?;
        let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| out_of_range())?;
        let denominator = 10u128.checked_pow(fraction.len() as u32).ok_or_else(out_of_range)?;
        let bits = digits.checked_mul(u128::from(*scale)).ok_or_else(out_of_range)?;
        if bits % denominator != 0 {
            return Err(out_of_range());
        }
        u64::try_from(bits / denominator)
            .ok()
            .filter(|rate| (1..=Self::MAX.0).contains(rate))
            .map(Self)
            .ok_or_else(out_of_range)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = UNITS.iter().rev().find(|(_, scale)| self.0 >= *scale).unwrap_or(&UNITS[0]);
        let fraction = format!("{:0width$}", self.0 % scale, width = scale.ilog10() as usize);
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() || *scale == 1 {
            out.pad(&format!("{} {unit}", self.0 / scale))
        } else {
            out.pad(&format!("{}.{fraction} {unit}", self.0 / scale))
        }
    }
}

impl Serialize for BitRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for BitRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rate = u64::deserialize(deserializer)?;
        if (1..=Self::MAX.0).contains(&rate) {
            Ok(Self(rate))
        } else {
            Err(serde::de::Error::custom("a rate lies outside 1 bit/s to 1000 Gbit/s"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for (text, bits, shown) in [
            ("1Gbit/s", 1_000_000_000, "1 Gbit/s"),
            ("2.5 Gbit/s", 2_500_000_000, "2.5 Gbit/s"),
            ("100Mbit/s", 100_000_000, "100 Mbit/s"),
            ("9.6kbit/s", 9_600, "9.6 kbit/s"),
            ("7bit/s", 7, "7 bit/s"),
            ("1000Gbit/s", 1_000_000_000_000, "1000 Gbit/s"),
        ] {
            assert_eq!(text.parse(), Ok(BitRate(bits)), "{text}");
            assert_eq!(BitRate(bits).to_string(), shown);
            assert_eq!(shown.parse(), Ok(BitRate(bits)));
        }
        assert!(matches!("100".parse::<BitRate>(), Err(ParseRateError::MissingUnit(_))));
        for text in ["", "Mbit/s", "1.Gbit/s", "1..5Gbit/s", "-1Mbit/s", "1Gb/s"] {
            assert!(matches!(text.parse::<BitRate>(), Err(ParseRateError::Malformed(_))), "{text}");
        }
        for text in ["0Mbit/s", "0.5bit/s", "1001Gbit/s", "99999999999999999999999999999999999999999999bit/s"]
        {
            assert!(matches!(text.parse::<BitRate>(), Err(ParseRateError::OutOfRange(_))), "{text}");
        }
    }

    #[test]
    fn transmission_rounds_up() {
        assert_eq!(BitRate(1_000_000_000).transmission(100), Nanos(800));
        assert_eq!(BitRate(3_000_000_000).transmission(1), Nanos(3));
        assert_eq!(BitRate(1).transmission(u64::MAX), Nanos::MAX);
    }
}
