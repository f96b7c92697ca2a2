//! Comments that say what a test shows: `spec: ID, ID`, directly above a test function.

use crate::source::Source;
use crate::tidy::Finding;
use crate::workspace::TrackedFile;

/// The folder of the conformance suite, whose C and C++ files may name what they show.
const SUITE: &str = "tests/mpirt/";

/// One test shows one requirement.
#[derive(Debug, PartialEq, Eq)]
pub struct Mark {
    /// What is shown.
    pub id: String,
    /// The file of the test.
    pub path: String,
    /// Line of the comment, from 1.
    pub line: usize,
    /// Name of the test function.
    pub test: String,
}

/// Finds every mark in Rust files and in the conformance suite.
pub fn find(files: &[TrackedFile], findings: &mut Vec<Finding>) -> Vec<Mark> {
    let mut marks = Vec::new();
    for file in files {
        let Some(text) = file.text() else { continue };
        let is_c = [".c", ".h", ".cpp", ".hpp"].iter().any(|ending| file.path.ends_with(ending));
        let lines = if file.path.ends_with(".rs") {
            rust_lines(text)
        } else if is_c && file.path.starts_with(SUITE) {
            c_lines(text)
        } else {
            continue;
        };
        read(&file.path, &lines, &mut marks, findings);
    }
    marks
}

/// A line as marks need it.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// A comment with nothing else; its text.
    Comment(String),
    /// An attribute or a part of one; whether it makes a test.
    Attribute(bool),
    /// The head of a function; its name, and whether it is a test by its name alone.
    Function(String, bool),
    /// Anything else.
    Other,
}

fn read(path: &str, lines: &[Line], marks: &mut Vec<Mark>, findings: &mut Vec<Finding>) {
    for (at, line) in lines.iter().enumerate() {
        let Line::Comment(text) = line else { continue };
        let Some(ids) = text.strip_prefix("spec:") else { continue };
        let mut wrong = |message: String| findings.push(Finding::new("spec", path, at + 1, message));
        let Some(test) = test_below(&lines[at + 1..]) else {
            wrong("a `spec:` comment stands directly above a test function".into());
            continue;
        };
        for id in ids.split(',').map(str::trim) {
            if id.is_empty() {
                wrong("after `spec:` stand ids, with commas between them".into());
            } else if marks.iter().any(|mark| mark.id == id && mark.path == path && mark.test == test) {
                wrong(format!("{id} is named twice above {test}"));
            } else {
                marks.push(Mark { id: id.into(), path: path.into(), line: at + 1, test: test.into() });
            }
        }
    }
}

/// The name of the test function that follows, with only comments and attributes before it.
fn test_below(lines: &[Line]) -> Option<&str> {
    let mut is_test = false;
    for line in lines {
        match line {
            Line::Comment(_) => {}
            Line::Attribute(test) => is_test |= test,
            Line::Function(name, by_name) => return (is_test || *by_name).then_some(name),
            Line::Other => return None,
        }
    }
    None
}

fn rust_lines(text: &str) -> Vec<Line> {
    let source = Source::new(text, false);
    let mut depth = 0i32;
    let mut lines = Vec::new();
    for (code, comment) in source.code.lines().zip(&source.comments) {
        let code = code.trim();
        let before = depth;
        if before > 0 || code.starts_with("#[") {
            depth += brackets(code);
            lines.push(Line::Attribute(code.ends_with("test]") || code.contains("test(")));
        } else if code.is_empty() && !comment.trim().is_empty() {
            lines.push(Line::Comment(comment.trim_start_matches(['/', '!']).trim().to_owned()));
        } else if let Some(name) = name_after(code, "fn ") {
            lines.push(Line::Function(name, false));
        } else {
            lines.push(Line::Other);
        }
    }
    lines
}

fn brackets(code: &str) -> i32 {
    code.chars().fold(0, |depth, c| match c {
        '[' => depth + 1,
        ']' => depth - 1,
        _ => depth,
    })
}

/// In C a test is a function whose name begins with `test_`, or `TEST(name)`.
fn c_lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut in_comment = false;
    for line in text.lines().map(str::trim) {
        let begins = line.starts_with("/*");
        if in_comment || begins || line.starts_with("//") {
            in_comment = (in_comment || begins) && !line.ends_with("*/");
            let text = line.trim_start_matches(['/', '*']).trim_end_matches(['/', '*']);
            lines.push(Line::Comment(text.trim().to_owned()));
            continue;
        }
        let head = line.split('(').next().unwrap_or_default();
        let name = match name_after(line, "TEST(") {
            Some(name) => Some(name),
            None => head.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().map(str::to_owned),
        };
        let is_test =
            line.starts_with("TEST(") || name.as_ref().is_some_and(|name| name.starts_with("test_"));
        match name {
            Some(name) if line.contains('(') && !line.ends_with(';') => {
                lines.push(Line::Function(name, is_test));
            }
            _ => lines.push(Line::Other),
        }
    }
    lines
}

fn name_after(code: &str, before: &str) -> Option<String> {
    let at = code.find(before)?;
    let word_before = code[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
    let name: String =
        code[at + before.len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!word_before && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> (Vec<(String, String, usize)>, Vec<String>) {
        let files = [TrackedFile { path: path.into(), executable: false, bytes: text.as_bytes().to_vec() }];
        let mut findings = Vec::new();
        let marks = find(&files, &mut findings);
        (
            marks.into_iter().map(|mark| (mark.id, mark.test, mark.line)).collect(),
            findings.iter().map(ToString::to_string).collect(),
        )
    }

    fn mark(id: &str, test: &str, line: usize) -> (String, String, usize) {
        (id.into(), test.into(), line)
    }

    #[test]
    fn a_rust_test_shows_what_is_named_above_it() {
        let text = "/// Says.\n// spec: A-B-01, A-C-02\n#[test]\n#[cfg_attr(\n    miri,\n    ignore = \"[\"\n)]\n// why\nfn works() {}\n";
        let (marks, findings) = found("a.rs", text);
        assert_eq!(marks, [mark("A-B-01", "works", 2), mark("A-C-02", "works", 2)]);
        assert!(findings.is_empty(), "{findings:?}");
    }

    #[test]
    fn a_mark_elsewhere_is_an_error_with_its_place() {
        for text in [
            "// spec: A-B-01\nfn no_test() {}\n",
            "// spec: A-B-01\n\n#[test]\nfn apart() {}\n",
            "// spec: A-B-01\nstruct A;\n#[test]\nfn later() {}\n",
            "// spec: A-B-01\n",
        ] {
            let (marks, findings) = found("x/a.rs", text);
            assert!(marks.is_empty(), "{text}");
            assert_eq!(findings.len(), 1, "{text}");
            assert!(findings[0].starts_with("x/a.rs:1: "), "{findings:?}");
        }
    }

    #[test]
    fn an_id_twice_or_none_is_an_error_with_its_place() {
        let (marks, findings) = found("a.rs", "// spec: A-B-01,\n// spec: A-B-01\n#[test]\nfn one() {}\n");
        assert_eq!(marks, [mark("A-B-01", "one", 1)]);
        assert!(findings[0].starts_with("a.rs:1: ") && findings[1].starts_with("a.rs:2: "), "{findings:?}");
        // Several tests may show the same.
        let (marks, findings) =
            found("a.rs", "// spec: A-B-01\n#[test]\nfn one() {}\n// spec: A-B-01\n#[test]\nfn two() {}\n");
        assert_eq!((marks.len(), findings.len()), (2, 0));
    }

    #[test]
    fn strings_and_explanations_are_no_marks() {
        let (marks, findings) = found("a.rs", "// see spec: A-B-01\nlet a = \"\n// spec: A-B-01\n\";\n");
        assert!(marks.is_empty() && findings.is_empty());
    }

    #[test]
    fn tests_in_c_are_told_by_their_names() {
        let text = "/* spec: A-B-01 */\nstatic void test_one(void)\n{\n}\n\n/*\n * spec: A-C-01\n */\nTEST(two) {\n}\n";
        let (marks, findings) = found("tests/mpirt/buffer.c", text);
        assert_eq!(marks, [mark("A-B-01", "test_one", 1), mark("A-C-01", "two", 7)]);
        assert!(findings.is_empty(), "{findings:?}");
        let (marks, findings) = found("tests/mpirt/a.c", "// spec: A-B-01\nvoid test_one(void);\n");
        assert_eq!((marks.len(), findings.len()), (0, 1));
        assert_eq!(found("examples/a.c", "// spec: A-B-01\n").1.len(), 0);
    }
}
