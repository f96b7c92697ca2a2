//! What the conformance suite expects of a function is among its errors.

use super::functions::Functions;
use crate::tidy::Finding;
use crate::workspace::TrackedFile;

/// Where the suite lies.
const SUITE: &str = "tests/mpirt/";
/// How a file of the suite says what a call must give.
const EXPECTATION: &str = "EXPECT(";
const ERROR: &str = "MPIRT_ERR_";

/// Errors that a call of the suite must give, and that the function's entry does not list.
pub fn check(files: &[TrackedFile], functions: &Functions) -> Vec<Finding> {
    let suite = files.iter().filter(|file| file.path.starts_with(SUITE) && file.path.ends_with(".c"));
    let mut findings = Vec::new();
    for file in suite {
        let text = file.text().unwrap_or_default();
        for (place, _) in text.match_indices(EXPECTATION) {
            let Some((name, error)) = expectation(&text[place + EXPECTATION.len()..]) else { continue };
            let Some(function) = functions.functions.iter().find(|function| function.name() == name) else {
                continue;
            };
            // What these answer may come from a delete function of an attribute, which answers what it likes.
            let hands_on = name.ends_with("_attr") || name.ends_with("_free") || name == "MPIRT_Finalize";
            let (listed, _) = functions.describe(function);
            if !hands_on && !listed.iter().any(|known| known == error) {
                let line = text[..place].matches('\n').count() + 1;
                let message = format!("{name} gives {error} here, which spec/ does not list of it");
                findings.push(Finding::new("spec", &file.path, line, message));
            }
        }
    }
    findings
}

/// The function that is called and the error that it must give, where an expectation begins with a call and ends with an error.
fn expectation(text: &str) -> Option<(&str, &str)> {
    let (name, call) = text.split_once('(')?;
    let name = name.trim();
    let mut depth = 1;
    let end = call.find(|letter| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    let given = call[end + 1..].strip_prefix(',')?.trim_start().strip_prefix(ERROR)?;
    let error = given.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_').next()?;
    Some((name, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_is_taken_apart() {
        let text = "MPIRT_Box_put((MPIRT_Box){0},\n  f(1)), MPIRT_ERR_NULL_OBJECT);\n    OK(other(), MPIRT_ERR_FULL)";
        assert_eq!(expectation(text), Some(("MPIRT_Box_put", "NULL_OBJECT")));
        assert_eq!(expectation("made, MPIRT_ERR_FULL); f()"), None);
        assert_eq!(expectation("MPIRT_Box_put(box), MPIRT_SUCCESS);"), None);
    }
}
