//! Sizes in bytes, as people write them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A count of bytes. In text it always carries a unit: `4B`, `1KiB`, `2MiB`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct ByteSize(pub u64);

/// Why a text is not a size.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseSizeError {
    /// A bare number.
    #[error("size \"{0}\" has no unit; write \"{0}B\" or \"{0}KiB\" (units: B, KiB, MiB, GiB)")]
    MissingUnit(String),
    /// Not a whole number, or an unknown unit.
    #[error(
        "\"{0}\" is not a size; write a whole number and a unit, such as \"1KiB\" (units: B, KiB, MiB, GiB)"
    )]
    Malformed(String),
    /// Does not fit.
    #[error("size \"{0}\" is too large")]
    TooLarge(String),
}

const UNITS: [(&str, u64); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

impl FromStr for ByteSize {
    type Err = ParseSizeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let digits_end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits_end);
        if number.is_empty() {
            return Err(ParseSizeError::Malformed(text.to_owned()));
        }
        let unit = unit.trim();
        if unit.is_empty() {
            return Err(ParseSizeError::MissingUnit(trimmed.to_owned()));
        }
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(ParseSizeError::Malformed(text.to_owned()));
        };
        let count: u64 = number.parse().map_err(|_| ParseSizeError::TooLarge(text.to_owned()))?;
        count.checked_mul(*scale).map(ByteSize).ok_or_else(|| ParseSizeError::TooLarge(text.to_owned()))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = UNITS
            .iter()
            .rev()
            .find(|(_, scale)| self.0 >= *scale && self.0.is_multiple_of(*scale))
            .unwrap_or(&UNITS[0]);
        out.pad(&format!("{} {unit}", self.0 / scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        assert_eq!("4B".parse(), Ok(ByteSize(4)));
        assert_eq!("1 KiB".parse(), Ok(ByteSize(1024)));
        assert_eq!(ByteSize(1024).to_string(), "1 KiB");
        assert_eq!(ByteSize(1500).to_string(), "1500 B");
        assert!(matches!("12".parse::<ByteSize>(), Err(ParseSizeError::MissingUnit(_))));
        assert!(matches!("12KB".parse::<ByteSize>(), Err(ParseSizeError::Malformed(_))));
        assert!(matches!("99999999999GiB".parse::<ByteSize>(), Err(ParseSizeError::TooLarge(_))));
    }
}
