//! The reasons why declarations do not meet: however many there are and whatever their names, they fit into a message to every member.

use super::Mismatch;

/// So many are told.
const ERRORS_MAX: usize = 256;
/// So much is told of each text in one.
const TEXT_BYTES_MAX: usize = 1024;
/// So many names of a list are told.
const LISTED_MAX: usize = 16;
/// And so much of each.
const LISTED_BYTES_MAX: usize = 96;

/// Reasons as they are found.
#[derive(Default)]
pub(crate) struct Errors {
    told: Vec<Mismatch>,
    left_out: usize,
}

impl Errors {
    pub(super) fn push(&mut self, mut error: Mismatch) {
        if self.told.len() == ERRORS_MAX {
            self.left_out += 1;
            return;
        }
        error.texts().into_iter().for_each(|text| cut(text, TEXT_BYTES_MAX));
        self.told.push(error);
    }

    /// How many there are, those that are left out included.
    pub(super) fn len(&self) -> usize {
        self.told.len() + self.left_out
    }

    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// All that are told, in the order in which they were found.
    pub(crate) fn into_told(mut self, job: &str) -> Vec<Mismatch> {
        if self.left_out > 0 {
            let all = self.len();
            self.told.push(Mismatch::Impossible(format!(
                "job \"{job}\": these are the first {ERRORS_MAX} of {all} reasons; mend them, and the others are told"
            )));
        }
        self.told
    }

    /// `value`, unless there are reasons against it.
    pub(super) fn unless<T>(self, value: T, job: &str) -> Result<T, Vec<Mismatch>> {
        if self.is_empty() { Ok(value) } else { Err(self.into_told(job)) }
    }
}

impl Extend<Mismatch> for Errors {
    fn extend<I: IntoIterator<Item = Mismatch>>(&mut self, found: I) {
        found.into_iter().for_each(|error| self.push(error));
    }
}

impl Mismatch {
    fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::Differs { object, property, left_side, left, right_side, right } => {
                vec![object, property, left_side, left, right_side, right]
            }
            Self::Open { object, property, owner } => vec![object, property, owner],
            Self::Unmatched { object, present, has, lacks, owner } => {
                vec![object, present, has, lacks, owner]
            }
            Self::NoTrigger { object, present, hint } => vec![object, present, hint],
            Self::Twice { object, left, right, what } => vec![object, left, right, what],
            Self::Unknown { place, kind, name, hint } => vec![place, kind, name, hint],
            Self::TooMany { object, what } => vec![object, what],
            Self::KeptInPart { object, keeps, lacks } => vec![object, keeps, lacks],
            Self::Impossible(what) => vec![what],
        }
    }
}

/// Cuts a text that is longer, and says so.
pub(super) fn cut(text: &mut String, bytes_max: usize) {
    if text.len() > bytes_max {
        let all = text.len();
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push_str(&format!("... ({all} bytes)"));
    }
}

/// Names one after the other, as many as can be told.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let shown = names.by_ref().take(LISTED_MAX).map(|name| {
        let mut name = name.to_owned();
        cut(&mut name, LISTED_BYTES_MAX);
        name
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
