//! Files that a reader can hold in mind, functions that fit a screen.

use super::{Finding, RustFile};

/// Most lines a file may have.
const FILE_LINES_MAX: usize = 800;
/// Most lines a function may have, from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;

/// Checks one file.
pub fn check(file: &RustFile<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = file.text.lines().count();
    if lines > FILE_LINES_MAX {
        let message = format!("{lines} lines, at most {FILE_LINES_MAX}: split it by concept");
        findings.push(Finding::new("file-length", file.path, 0, message).measuring(lines));
    }
    for function in file.source.functions() {
        let lines = function.lines();
        if lines > FUNCTION_LINES_MAX {
            let name = &function.name;
            let message =
                format!("{name} has {lines} lines, at most {FUNCTION_LINES_MAX}: give its parts names");
            findings.push(
                Finding::new("function-length", file.path, function.first_line, message)
                    .about(name)
                    .measuring(lines),
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn findings(text: &str) -> Vec<Finding> {
        check(&RustFile { path: "a.rs", crate_name: String::new(), text, source: Source::new(text, false) })
    }

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_of_seventy_lines_fits() {
        assert!(findings(&function_of(70)).is_empty());
        let found = findings(&function_of(71));
        assert_eq!((found[0].subject.as_str(), found[0].size), ("long", Some(71)));
    }

    #[test]
    fn a_file_of_eight_hundred_lines_fits() {
        assert!(findings(&"// line\n".repeat(800)).is_empty());
        assert_eq!(findings(&"// line\n".repeat(801))[0].size, Some(801));
    }
}
