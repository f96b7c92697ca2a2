//! What the documents show is what lies in the files, and what the program prints. A comment above a block says which:
//! `<!-- file: PATH -->` (the block stands in that file) or `<!-- prints CODE: ARGUMENTS -->` (the block is all that
//! `leveret ARGUMENTS` writes to standard output, and CODE how it ends).

use crate::{is_blessing, outcome, root};
use std::fs;
use std::path::{Path, PathBuf};

/// A marked block: what its mark says, and where its text begins and ends in the document.
struct Block<'d> {
    mark: &'d str,
    start: usize,
    end: usize,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(place) = text[at..].find("<!-- ").map(|place| at + place) {
        let close = place + text[place..].find(" -->").expect("a comment ends");
        let mark = &text[place + "<!-- ".len()..close];
        at = close;
        if !mark.starts_with("file: ") && !mark.starts_with("prints ") {
            continue;
        }
        let fence = close + text[close..].find("```").expect("a marked block follows its mark");
        assert!(fence - close < 8, "{mark}: the block stands right below its mark");
        let start = fence + text[fence..].find('\n').expect("a block has lines") + 1;
        let end = start + text[start..].find("```").expect("a block ends");
        found.push(Block { mark, start, end });
    }
    found
}

fn documents() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut found = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Checks a block; gives the text that should stand there if it is another.
fn check(document: &Path, mark: &str, shown: &str) -> Option<String> {
    let place = || format!("{}: {mark}", document.display());
    if let Some(file) = mark.strip_prefix("file: ") {
        let text =
            fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{}: {error}", place()));
        assert!(text.contains(shown), "{}: the file does not hold\n{shown}", place());
        return None;
    }
    let (code, arguments) = mark["prints ".len()..].split_once(": ").expect("prints CODE: ARGUMENTS");
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let (out, err, ended) = outcome(&arguments);
    assert_eq!(ended, code.parse().ok(), "{}\n{out}{err}", place());
    (out != shown).then_some(out)
}

#[test]
fn marked_blocks_of_the_documents_are_true() {
    let mut checked = 0;
    for document in documents() {
        let mut text = fs::read_to_string(&document).unwrap();
        let found: Vec<_> =
            blocks(&text).iter().map(|block| (block.mark.to_owned(), block.start..block.end)).collect();
        checked += found.len();
        // From the end, so that places before stay where they are.
        for (mark, place) in found.into_iter().rev() {
            let Some(printed) = check(&document, &mark, &text[place.clone()]) else { continue };
            assert!(is_blessing(), "{}: {mark}: it prints\n{printed}", document.display());
            text.replace_range(place, &printed);
            fs::write(&document, &text).unwrap();
        }
    }
    assert!(checked >= 5, "only {checked} marked blocks");
}
