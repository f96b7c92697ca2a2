//! Puts the tables of the last run into `docs/performance.md`.
//!
//! The page holds a pair of marks for each benchmark; what lies between them is replaced:
//!
//! ```text
//! <!-- round-trip -->
//! ...
//! <!-- end of round-trip -->
//! ```

use crate::{BenchError, Topic};
use clap::ValueEnum;
use std::path::Path;

/// Replaces what lies between the marks of each benchmark that has a table in the folder.
pub fn refresh(page: &Path, folder: &Path) -> Result<(), BenchError> {
    let mut text = std::fs::read_to_string(page)?;
    for topic in Topic::value_variants() {
        let Ok(table) = std::fs::read_to_string(folder.join(format!("{}.md", topic.name()))) else {
            println!("{}: no table in {}; left as it is", topic.name(), folder.display());
            continue;
        };
        text = replace(&text, topic.name(), &table).ok_or_else(|| BenchError::Missing {
            subject: page.display().to_string(),
            reason: format!("has no marks for {}", topic.name()),
        })?;
    }
    Ok(std::fs::write(page, text)?)
}

fn replace(text: &str, name: &str, table: &str) -> Option<String> {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&start)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{start}\n{}\n\n{end}{after}", table.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_between_the_marks_changes() {
        let text = "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n";
        assert_eq!(replace(text, "x", "new\n").unwrap(), "a\n<!-- x -->\n\nnew\n\n<!-- end of x -->\nb\n");
        assert_eq!(replace(text, "y", "new"), None);
    }

    #[test]
    fn the_page_has_marks_for_every_benchmark_and_none_within_others() {
        let page = include_str!("../../docs/performance.md");
        let mut marks: Vec<&str> = page.lines().filter(|line| line.starts_with("<!-- ")).collect();
        for topic in Topic::value_variants() {
            let (start, end) =
                (format!("<!-- {} -->", topic.name()), format!("<!-- end of {} -->", topic.name()));
            let place = marks.windows(2).position(|pair| pair == [start.as_str(), end.as_str()]);
            marks.drain(place.map_or(0..0, |place| place..place + 2));
            assert!(place.is_some(), "{start} is not followed by {end}");
        }
        assert!(marks.is_empty(), "{marks:?}");
    }
}
