//! The text of a manifest: from byte ranges to places, and the errors collected at them.

use crate::ERRORS_MAX;
use crate::error::{Excerpt, ManifestError, RelatedPlace};
use std::collections::BTreeSet;
use std::ops::Range;

/// Longest part of a line that is shown.
const EXCERPT_CHARS_MAX: usize = 100;
/// What stays visible before the place in a long line.
const EXCERPT_CHARS_BEFORE: usize = 30;
/// Longest text from the file that is repeated in a message.
const QUOTED_CHARS_MAX: usize = 60;

/// The text with its lines found.
pub(crate) struct Source<'a> {
    text: &'a str,
    path: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str, path: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(place, _)| place + 1);
        Self { text, path, line_starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// Line (from 0) of a byte offset.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The text of a range, cut to character boundaries.
    pub(crate) fn slice(&self, span: &Range<usize>) -> &'a str {
        let start = self.text.floor_char_boundary(span.start);
        let end = self.text.ceil_char_boundary(span.end.max(start));
        self.text.get(start..end).unwrap_or_default()
    }

    fn locate(&self, span: &Range<usize>) -> (usize, usize, Excerpt) {
        let line = self.line_of(span.start.min(self.text.len()));
        let start = self.line_starts.get(line).copied().unwrap_or_default();
        let end = self.line_starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        let end = start + self.text.get(start..end).unwrap_or_default().trim_end_matches('\r').len();
        let mark = span.start.clamp(start, end)..span.end.clamp(start, end);
        let (before, after) = (self.slice(&(start..mark.start)), self.slice(&(mark.start..end)));
        (line + 1, before.chars().count() + 1, excerpt(before, after, self.slice(&mark)))
    }
}

/// The whole line, or the part of a long line around the place. Looks at no more of a long line than it shows.
fn excerpt(before: &str, after: &str, marked: &str) -> Excerpt {
    let shown = |c: char| if c.is_control() { if c == '\t' { ' ' } else { '\u{fffd}' } } else { c };
    let is_short = before.len() + after.len() <= EXCERPT_CHARS_MAX;
    let before_max = if is_short { EXCERPT_CHARS_MAX } else { EXCERPT_CHARS_BEFORE };
    let start = before.char_indices().rev().take(before_max).last().map_or(before.len(), |(place, _)| place);
    let kept = before.get(start..).unwrap_or_default();
    let indent = kept.chars().count();
    let after_max = EXCERPT_CHARS_MAX - indent;
    let body: String = kept.chars().chain(after.chars().take(after_max)).map(shown).collect();
    let prefix = if start > 0 { "\u{2026}" } else { "" };
    let suffix = if after.chars().nth(after_max).is_some() { "\u{2026}" } else { "" };
    let width = marked.chars().take(after_max).count().max(1);
    Excerpt { text: format!("{prefix}{body}{suffix}"), indent: indent + prefix.chars().count(), width }
}

/// A text from the file as it may be printed: in double quotes, cut, control characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", printable(text))
}

/// A text from the file as it may be printed: cut, control characters escaped.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == QUOTED_CHARS_MAX {
            shown.push('\u{2026}');
            break;
        }
        if c.is_control() || is_hidden(c) || c == '"' || c == '\\' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a character has no shape of its own and changes how others are read: directions of writing, joiners, marks of order.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The errors found so far.
pub(crate) struct Problems<'a> {
    source: &'a Source<'a>,
    found: Vec<(usize, ManifestError)>,
    /// Starts of values that need no second error.
    settled: BTreeSet<usize>,
    /// Errors beyond the most that are kept.
    omitted: usize,
}

impl<'a> Problems<'a> {
    pub(crate) fn new(source: &'a Source<'a>) -> Self {
        Self { source, found: Vec::new(), settled: BTreeSet::new(), omitted: 0 }
    }

    pub(crate) fn source(&self) -> &'a Source<'a> {
        self.source
    }

    /// Adds an error after which nothing more is said about the value at the same place.
    pub(crate) fn settle(&mut self, span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        let start = span.start;
        self.add(span, message, hint);
        self.settled.insert(start);
    }

    /// Adds an error at a range of bytes.
    pub(crate) fn add(&mut self, span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        if self.settled.contains(&span.start) {
            return;
        }
        self.keep(&span, message.into(), hint.into(), None);
    }

    /// Adds an error in which a second place takes part.
    pub(crate) fn add_related(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
        (related, note): (&Range<usize>, &str),
    ) {
        self.keep(&span, message.into(), hint.into(), Some((related, note)));
    }

    /// Whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether further errors are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= ERRORS_MAX
    }

    fn keep(
        &mut self,
        span: &Range<usize>,
        message: String,
        hint: String,
        related: Option<(&Range<usize>, &str)>,
    ) {
        if self.is_full() {
            self.omitted += 1;
            return;
        }
        let (line, column, excerpt) = self.source.locate(span);
        let related = related.map(|(span, note)| {
            let (line, column, excerpt) = self.source.locate(span);
            RelatedPlace { line, column, excerpt, note: note.to_owned() }
        });
        let path = self.source.path.to_owned();
        self.found.push((span.start, ManifestError { path, line, column, excerpt, message, hint, related }));
    }

    /// All errors in the order of the file.
    pub(crate) fn into_errors(mut self) -> Vec<ManifestError> {
        self.found.sort_by_key(|(start, _)| *start);
        let mut errors: Vec<_> = self.found.into_iter().map(|(_, error)| error).collect();
        if let Some(last) = errors.last().filter(|_| self.omitted > 0) {
            let message = "the manifest has more errors than are shown".to_owned();
            errors.push(ManifestError { message, hint: "mend these first".to_owned(), ..last.clone() });
        }
        errors
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_lines_from_one() {
        let text = "a = 1\nü = \"x\"\r\nlast";
        let source = Source::new(text, "p");
        let start = text.find('x').unwrap();
        let (line, column, excerpt) = source.locate(&(start..start + 1));
        assert_eq!((line, column, excerpt.text.as_str()), (2, 6, "ü = \"x\""));
        assert_eq!(source.locate(&(text.len()..text.len())).0, 3);
        assert_eq!(source.locate(&(text.len() + 9..text.len() + 12)).0, 3);
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let text = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let (_, column, excerpt) = Source::new(&text, "p").locate(&(500..501));
        assert_eq!(column, 501);
        assert_eq!(excerpt.text.chars().nth(excerpt.indent), Some('X'));
        assert!(excerpt.text.chars().count() <= EXCERPT_CHARS_MAX + 2);
    }

    #[test]
    fn nothing_from_the_file_reaches_the_terminal_raw() {
        assert_eq!(quoted("a\u{1b}[31m"), "\"a\\u{1b}[31m\"");
        assert_eq!(printable(&"x".repeat(100)).chars().count(), QUOTED_CHARS_MAX + 1);
    }
}
