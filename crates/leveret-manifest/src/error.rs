//! One thing that is wrong with a manifest, and how it is shown.

use std::fmt;

/// Something wrong with a manifest: where, what was found, and the remedy.
///
/// ```text
/// job.toml:12:1: unknown key `perid` in [[task]] "A.user"
///   12 | perid = "5ms"
///      | ^^^^^
///   hint: did you mean `period`?
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct ManifestError {
    /// The file, as the caller named it.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The excerpt with its marks.
    pub excerpt: Excerpt,
    /// What was found.
    pub message: String,
    /// The remedy.
    pub hint: String,
    /// Another place that takes part, such as the first of two equal names.
    pub related: Option<RelatedPlace>,
}

/// Another place that takes part in an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelatedPlace {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The excerpt with its marks.
    pub excerpt: Excerpt,
    /// What is there.
    pub note: String,
}

/// One line of the file, or the part of a long line around the place, ready to print.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// The text; control characters are replaced.
    pub text: String,
    /// Characters before the mark.
    pub indent: usize,
    /// Length of the mark, at least 1.
    pub width: usize,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = [Some(self.line), self.related.as_ref().map(|related| related.line)];
        let gutter = lines.into_iter().flatten().max().unwrap_or(1).to_string().len() + 2;
        writeln!(out, "{}:{}:{}: {}", self.path, self.line, self.column, self.message)?;
        self.excerpt.show(out, gutter, self.line, '^', "")?;
        if let Some(related) = &self.related {
            related.excerpt.show(out, gutter, related.line, '-', &related.note)?;
        }
        write!(out, "  hint: {}", self.hint)
    }
}

impl Excerpt {
    fn show(
        &self,
        out: &mut fmt::Formatter<'_>,
        gutter: usize,
        line: usize,
        mark: char,
        note: &str,
    ) -> fmt::Result {
        let mark = String::from(mark).repeat(self.width);
        let marked = format!("{}{mark} {note}", " ".repeat(self.indent));
        let text = format!("{line:>gutter$} | {}", self.text);
        writeln!(out, "{}", text.trim_end())?;
        writeln!(out, "{:>gutter$} | {}", "", marked.trim_end())
    }
}
