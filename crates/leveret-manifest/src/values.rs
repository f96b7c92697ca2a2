//! Typed values of a section's keys. Each reader reports what is wrong and then yields nothing.

use crate::section::{Section, kind_of};
use crate::source::{Located, Problems, quoted};
use leveret_protocol::nearest::nearest;
use leveret_types::{ByteSize, Nanos, ParseDurationError};
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeInteger, DeValue};

/// Longest period, window or budget.
pub(crate) const DURATION_MAX: Nanos = Nanos::from_secs(24 * 3600);

impl Section<'_, '_> {
    /// A text.
    pub(crate) fn text(&self, key: &str, problems: &mut Problems<'_>) -> Option<Located<String>> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(Located { value: text.to_string(), span: value.span() }),
            other => {
                let hint = format!("write it in quotes: `{key} = \"...\"`");
                problems.add(value.span(), wrong_kind(key, "a text", other), hint);
                None
            }
        }
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
        problems: &mut Problems<'_>,
    ) -> Option<T> {
        let found = self.text(key, problems)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == found.value) {
            return Some(*value);
        }
        let near = nearest(&found.value, words.iter().map(|(word, _)| *word));
        let all = alternatives(words.iter().map(|(word, _)| *word));
        let hint = match near {
            Some(word) => format!("did you mean \"{word}\"?"),
            None => format!("write {all}"),
        };
        let message = format!("`{key}` must be {all}, but {} was found", quoted(&found.value));
        problems.add(found.span, message, hint);
        None
    }

    /// A duration within limits.
    pub(crate) fn duration(
        &self,
        key: &str,
        limits: &RangeInclusive<Nanos>,
        problems: &mut Problems<'_>,
    ) -> Option<Nanos> {
        duration_value(key, self.value(key)?, limits, problems)
    }

    /// Two durations in a list: the start and the end of a window.
    pub(crate) fn window(&self, problems: &mut Problems<'_>) -> Option<(Nanos, Nanos)> {
        let value = self.value("window")?;
        let form = "write `window = [\"0us\", \"75us\"]`: release and deadline, from the start of the period";
        let DeValue::Array(ends) = value.get_ref() else {
            problems.add(
                value.span(),
                wrong_kind("window", "a list of two durations", value.get_ref()),
                form,
            );
            return None;
        };
        let ends: Vec<_> = ends.iter().collect();
        let [release, deadline] = ends.as_slice() else {
            let message = format!("`window` must be a list of two durations, but it has {}", ends.len());
            problems.add(value.span(), message, form);
            return None;
        };
        let limits = Nanos::ZERO..=DURATION_MAX;
        let release = duration_value("window", release, &limits, problems);
        let deadline = duration_value("window", deadline, &limits, problems);
        let (release, deadline) = (release?, deadline?);
        if deadline <= release {
            problems.add(
                value.span(),
                format!(
                    "the window of {} ends at {deadline}, which is not after its start at {release}",
                    self.label
                ),
                "write the release first and a later deadline, both from the start of the period; a window \
                 that crosses the period's end has a deadline beyond the period",
            );
            return None;
        }
        Some((release, deadline))
    }

    /// A size within limits.
    pub(crate) fn size(
        &self,
        key: &str,
        limits: &RangeInclusive<u64>,
        problems: &mut Problems<'_>,
    ) -> Option<ByteSize> {
        let value = self.value(key)?;
        let out_of_range = |shown: &str, problems: &mut Problems<'_>| {
            let (least, most) = (ByteSize(*limits.start()), ByteSize(*limits.end()));
            let message = format!("`{key}` is {shown}, which is out of range");
            problems.add(value.span(), message, format!("write a size from {least} to {most}"));
            None
        };
        let text = match value.get_ref() {
            // Zero needs a larger number before it needs a unit.
            DeValue::String(text) if is_zero(text) => return out_of_range("0", problems),
            DeValue::Integer(number) if is_zero(number.as_str()) => return out_of_range("0", problems),
            DeValue::String(text) => text,
            DeValue::Integer(number) => {
                let number = number.as_str();
                let message = format!("the size {number} has no unit");
                problems.add(value.span(), message, format!("write \"{number}B\" or \"{number}KiB\""));
                return None;
            }
            other => {
                let message = wrong_kind(key, "a size", other);
                problems.add(value.span(), message, "write a whole number and a unit, such as \"1KiB\"");
                return None;
            }
        };
        match text.parse::<ByteSize>() {
            Ok(size) if limits.contains(&size.0) => Some(size),
            Ok(size) => out_of_range(&size.to_string(), problems),
            Err(error) => {
                let largest = format!("the largest is {}", ByteSize(*limits.end()));
                add_split(problems, value.span(), &error.to_string(), &largest);
                None
            }
        }
    }

    /// A whole number within limits.
    pub(crate) fn integer(
        &self,
        key: &str,
        limits: &RangeInclusive<u64>,
        problems: &mut Problems<'_>,
    ) -> Option<u64> {
        integer_value(key, self.value(key)?, limits, problems)
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&self, key: &str, problems: &mut Problems<'_>) -> Option<bool> {
        let value = self.value(key)?;
        if let DeValue::Boolean(found) = value.get_ref() {
            return Some(*found);
        }
        let message = wrong_kind(key, "true or false", value.get_ref());
        problems.add(
            value.span(),
            message,
            format!("write `{key} = true` or `{key} = false`, without quotes"),
        );
        None
    }

    /// A list of texts; what is not a text is reported and left out.
    pub(crate) fn texts(
        &self,
        key: &str,
        example: &str,
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Located<String>>> {
        let value = self.value(key)?;
        let hint = format!("write a list of texts: `{key} = {example}`");
        let DeValue::Array(entries) = value.get_ref() else {
            problems.add(value.span(), wrong_kind(key, "a list of texts", value.get_ref()), hint);
            return None;
        };
        let mut texts = Vec::new();
        for entry in entries {
            match entry.get_ref() {
                DeValue::String(text) => {
                    texts.push(Located { value: text.to_string(), span: entry.span() });
                }
                other => {
                    let message = format!("`{key}` holds {}, which is not a text", kind_of(other));
                    problems.add(entry.span(), message, hint.clone());
                }
            }
        }
        Some(texts)
    }
}

/// `"a", "b" or "c"`.
fn is_zero(number: &str) -> bool {
    !number.is_empty() && number.bytes().all(|digit| digit == b'0')
}

fn alternatives<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut words: Vec<_> = words.map(|word| format!("\"{word}\"")).collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}

/// What was wanted and what was found.
pub(crate) fn wrong_kind(key: &str, wanted: &str, found: &DeValue<'_>) -> String {
    format!("`{key}` must be {wanted}, but {} was found", kind_of(found))
}

/// A duration at any place, such as in a window.
pub(crate) fn duration_value(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    limits: &RangeInclusive<Nanos>,
    problems: &mut Problems<'_>,
) -> Option<Nanos> {
    let text = match value.get_ref() {
        DeValue::String(text) => text,
        DeValue::Integer(_) | DeValue::Float(_) => {
            let number = crate::source::printable(problems.source().slice(&value.span()));
            let message = format!("the duration {number} has no unit");
            let hint =
                format!("write \"{number}us\" or \"{number}ms\", in quotes (units: ns, us, ms, s, min)");
            problems.add(value.span(), message, hint);
            return None;
        }
        other => {
            let hint = "write a number and a unit in quotes, such as \"250us\"";
            problems.add(value.span(), wrong_kind(key, "a duration", other), hint);
            return None;
        }
    };
    match text.parse::<Nanos>() {
        Ok(duration) if limits.contains(&duration) => Some(duration),
        Ok(duration) => {
            let message = format!("`{key}` is {duration}, which is out of range");
            let hint = format!("write a duration from {} to {}", limits.start(), limits.end());
            problems.add(value.span(), message, hint);
            None
        }
        Err(error) => {
            let otherwise = match error {
                ParseDurationError::TooLarge(_) => format!("the largest here is {}", limits.end()),
                _ => "write a whole number of nanoseconds".to_owned(),
            };
            let text = match &error {
                ParseDurationError::TooLarge(text) => format!("duration {} is too large", quoted(text)),
                _ => error.to_string(),
            };
            add_split(problems, value.span(), &text, &otherwise);
            None
        }
    }
}

/// A whole number at any place, such as in a list.
pub(crate) fn integer_value(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    limits: &RangeInclusive<u64>,
    problems: &mut Problems<'_>,
) -> Option<u64> {
    let DeValue::Integer(number) = value.get_ref() else {
        let hint =
            format!("write a whole number without quotes, from {} to {}", limits.start(), limits.end());
        problems.add(value.span(), wrong_kind(key, "a whole number", value.get_ref()), hint);
        return None;
    };
    match whole_number(number).filter(|found| limits.contains(found)) {
        Some(found) => Some(found),
        None => {
            let message =
                format!("`{key}` is {}, which is out of range", crate::source::printable(number.as_str()));
            let hint = format!("write a number from {} to {}", limits.start(), limits.end());
            problems.add(value.span(), message, hint);
            None
        }
    }
}

fn whole_number(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str().trim_start_matches('+'), number.radix()).ok()
}

/// An error whose text holds the remedy after a semicolon becomes message and hint.
fn add_split(problems: &mut Problems<'_>, span: Range<usize>, text: &str, otherwise: &str) {
    let (message, hint) = text.split_once("; ").unwrap_or((text, otherwise));
    problems.add(span, message, hint);
}
