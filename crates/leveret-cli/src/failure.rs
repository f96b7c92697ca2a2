//! What went wrong, for a person: one sentence and a hint.

use serde::Serialize;
use std::fmt;

/// The answer is no: refused, not valid, missed.
pub const EXIT_NO: u8 = 1;
/// Bad input: a manifest, a plan, a record, an argument.
pub const EXIT_BAD_INPUT: u8 = 2;

/// Why a command could not do its work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Failure {
    /// What is printed before the sentence, such as the errors of a manifest; may be empty.
    pub details: String,
    /// One sentence: the place and what was found.
    #[serde(rename = "error")]
    pub sentence: String,
    /// The remedy.
    pub hint: String,
}

impl Failure {
    /// A failure without details.
    pub fn new(sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { details: String::new(), sentence: sentence.into(), hint: hint.into() }
    }

    /// Splits a text whose remedy follows the last semicolon.
    pub fn from_text(place: &str, text: &str) -> Self {
        match text.rsplit_once("; ") {
            Some((sentence, hint)) => Self::new(format!("{place}: {sentence}"), hint),
            None => Self::new(format!("{place}: {text}"), "see `leveret help`"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.details.is_empty() {
            writeln!(out, "{}\n", self.details)?;
        }
        write!(out, "{}\n  hint: {}", self.sentence, self.hint)
    }
}
