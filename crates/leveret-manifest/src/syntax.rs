//! TOML itself. The parser recovers after an error, so that one slip does not hide the others.

use crate::ERRORS_MAX;
use crate::source::{Problems, printable};
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// How many errors of structure are tried before the search for an open bracket is given up.
const STUMBLES_MAX: usize = 16;

/// What an error of the parser means for the rest of the file.
#[derive(Clone, Copy, PartialEq)]
enum Slip {
    /// The value is read as if it were quoted; the rest is as written.
    Unquoted,
    /// The key stands twice; the rest is as written.
    Duplicate,
    /// A list or an inline table is never closed; all that follows was taken for a part of it.
    Unclosed,
    /// The parser guessed; what follows may not be what was meant.
    Structure,
}

/// The table of the file, unless its structure is broken; then only the errors of syntax are reported.
pub(crate) fn read<'i>(text: &'i str, problems: &mut Problems<'_>) -> Option<Spanned<DeTable<'i>>> {
    // No TOML begins so, and the parser would stumble on every line, as when a stored plan is named by mistake.
    if text.trim_start().starts_with('{') {
        let start = text.len() - text.trim_start().len();
        problems.add(
            start..start + 1,
            "this is not TOML but looks like JSON",
            "name the manifest here; a stored plan is for `leveret verify PLAN.json JOB.toml`",
        );
        return None;
    }
    let told = told(text);
    let (table, mut slips) = DeTable::parse_recoverable(told);
    slips.sort_by_key(|slip| slip.span().map_or(0, |span| span.start));
    let open = first_unclosed(&table, &slips);
    let end = open.as_ref().map_or(usize::MAX, |span| span.start);
    let mut lines = BTreeSet::new();
    let mut whole = open.is_none() && told.len() == text.len();
    for slip in &slips {
        let span = slip.span().unwrap_or(0..0);
        // Whatever was noticed within an open list follows from it.
        if span.start >= end {
            break;
        }
        let kind = kind(slip);
        whole &= kind != Slip::Structure;
        // One broken bracket makes the parser stumble several times on the same line.
        if kind != Slip::Structure || lines.insert(problems.source().line_of(span.start)) {
            report(slip, kind, span, problems);
        }
    }
    if let Some(open) = open {
        problems.add(
            open.start..open.start + 1,
            "this bracket is never closed",
            "close it; what follows in the file is looked at when it is closed",
        );
    }
    whole.then_some(table)
}

/// Texts up to this length are parsed at once, whatever is wrong with them.
const PIECE_BYTES: usize = 1 << 20;
/// Beginnings of a text that are parsed to see whether what is wrong in a piece is wrong in the whole.
const BEGINNINGS_MAX: usize = 4;

/// The text, or a beginning of it with more errors than are told: the parser keeps all that it finds, and a long text may have one in
/// every line.
pub(crate) fn told(text: &str) -> &str {
    let (mut begin, mut errors, mut beginnings) = (0, 0, 0);
    while text.len() - begin > PIECE_BYTES && beginnings < BEGINNINGS_MAX {
        let end = line_after(text, begin + PIECE_BYTES);
        errors += text.get(begin..end).map_or(0, errors_in);
        if errors > ERRORS_MAX {
            // What runs on over the end of a piece is no error of the whole.
            let beginning = text.get(..end).unwrap_or(text);
            errors = errors_in(beginning);
            if errors > ERRORS_MAX {
                return beginning;
            }
            beginnings += 1;
        }
        begin = end;
    }
    text
}

fn errors_in(text: &str) -> usize {
    DeTable::parse_recoverable(text).1.len()
}

/// The start of a line at this place or after it, of one that begins a table if there is one soon.
fn line_after(text: &str, place: usize) -> usize {
    let rest = text.get(text.floor_char_boundary(place)..).unwrap_or_default();
    let begin = text.len() - rest.len();
    let header = rest.find("\n[").filter(|header| *header < PIECE_BYTES);
    header.or_else(|| rest.find('\n')).map_or(text.len(), |line| begin + line + 1)
}

/// The first list or inline table that is never closed: the one within which the parser first stumbled.
fn first_unclosed(table: &Spanned<DeTable<'_>>, slips: &[Error]) -> Option<Range<usize>> {
    if !slips.iter().any(|slip| kind(slip) == Slip::Unclosed) {
        return None;
    }
    let stumbles = slips.iter().filter(|slip| matches!(kind(slip), Slip::Unclosed | Slip::Structure));
    stumbles.take(STUMBLES_MAX).filter_map(Error::span).find_map(|stumble| {
        let around = table.get_ref().values().filter_map(|value| bracket_around(value, stumble.start));
        around.min_by_key(|span| span.start)
    })
}

/// The outermost list or inline table in `value` around a place. (The span of a table under a header is the header.)
fn bracket_around(value: &Spanned<DeValue<'_>>, place: usize) -> Option<Range<usize>> {
    let inner: Vec<_> = match value.get_ref() {
        DeValue::Array(entries) => entries.iter().collect(),
        DeValue::Table(table) => table.values().collect(),
        _ => return None,
    };
    let span = value.span();
    if span.start < place && place <= span.end {
        return Some(span);
    }
    inner.into_iter().filter_map(|value| bracket_around(value, place)).min_by_key(|span| span.start)
}

fn kind(slip: &Error) -> Slip {
    let message = slip.message();
    if message.starts_with("string values must be quoted") {
        Slip::Unquoted
    } else if message.starts_with("duplicate key") {
        Slip::Duplicate
    } else if message.starts_with("unclosed array,") || message.starts_with("unclosed inline table") {
        Slip::Unclosed
    } else {
        Slip::Structure
    }
}

fn report(slip: &Error, kind: Slip, span: Range<usize>, problems: &mut Problems<'_>) {
    let found = printable(problems.source().slice(&span));
    match kind {
        Slip::Unquoted if found.is_empty() => {
            problems.settle(span, "there is no value after `=`", "write a value, or remove the line");
        }
        Slip::Unquoted => {
            problems.settle(span, format!("`{found}` has no quotes"), format!("write \"{found}\""))
        }
        Slip::Duplicate => problems.add(
            span,
            format!("`{found}` is given twice"),
            match crate::schema::ALL.iter().find(|schema| schema.name == found) {
                Some(schema) if schema.header.starts_with("[[") => {
                    format!("write {} in double brackets, once per {}", schema.header, schema.name)
                }
                Some(schema) => format!("keep one {} and put all its keys there", schema.header),
                None => "keep one of the two".to_owned(),
            },
        ),
        Slip::Unclosed | Slip::Structure => problems.add(
            span,
            format!("this is not TOML: {}", slip.message().replace(char::is_control, " ")),
            "mend it and try again; until then only errors of this kind are looked for",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_an_error_in_each_line_is_not_read_to_its_end() {
        let line = "k = 1\n";
        let text = line.repeat(4 * PIECE_BYTES / line.len());
        let told = told(&text);
        assert!(text.starts_with(told) && told.len() < 2 * PIECE_BYTES, "{} bytes", told.len());
        assert!(errors_in(told) > ERRORS_MAX);
    }

    #[test]
    fn a_text_without_errors_is_read_whole_wherever_it_is_cut() {
        let table = "[[channel]]\nways = [\n  [\"a\", \"b\"],\n  [\"ä\", \"b\"],\n]\n";
        let text = table.repeat(3 * PIECE_BYTES / table.len());
        assert_eq!(told(&text).len(), text.len());
        // A list that is longer than a piece: what is wrong in the pieces is not in the whole.
        let entry = "  [\"a\", \"b\"],\n";
        let text = format!("ways = [\n{}]\n", entry.repeat(3 * PIECE_BYTES / entry.len()));
        assert_eq!(told(&text).len(), text.len());
    }
}
