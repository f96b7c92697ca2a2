//! Memory orderings, weakened one at a time, under loom.
//!
//! Only files that loom's tests run are changed: elsewhere every mutant would survive on a machine that orders stores by itself.

use super::{Outcomes, in_order};
use crate::source::Source;
use crate::workspace::tracked_files;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name of this pass.
pub const NAME: &str = "orderings";
/// Where loom's tests look.
const FILES: [&str; 4] = [
    "crates/leveret-memory/src/",
    "crates/leveret-runtime/src/gate.rs",
    "crates/leveret-runtime/src/objects/committed/loans.rs",
    "crates/leveret-runtime/src/objects/events/occurrence.rs",
];
/// Stronger orderings, and what they are weakened to.
const WEAKER: [(&str, &str); 5] = [
    ("Ordering::Release", "Ordering::Relaxed"),
    ("Ordering::Acquire", "Ordering::Relaxed"),
    ("Ordering::AcqRel", "Ordering::Acquire"),
    ("Ordering::AcqRel", "Ordering::Release"),
    ("Ordering::SeqCst", "Ordering::Relaxed"),
];
/// Seconds after which a model that a mutant made endless counts as failed.
const TEST_SECONDS: &str = "600";

/// One changed file.
#[derive(Debug, PartialEq, Eq)]
struct Mutant {
    line: usize,
    change: String,
    text: String,
}

/// Runs this pass on a copy of the tracked files.
pub fn run(root: &Path, shard: Option<(usize, usize)>, file: Option<&str>) -> Result<Outcomes, String> {
    let (copy, paths) = copy_tree(root)?;
    let mut all = Vec::new();
    for path in paths.iter().filter(|path| is_chosen(path, file)) {
        let text = std::fs::read_to_string(copy.join(path)).map_err(|error| format!("{path}: {error}"))?;
        all.extend(mutants(&text).into_iter().map(|mutant| (path, mutant)));
    }
    let listed: Vec<String> =
        all.iter().map(|(path, mutant)| format!("{path}:{}:1: {}", mutant.line, mutant.change)).collect();
    let names = in_order(&listed);
    if !is_passed(&copy)? {
        return Err("the tests fail without a mutant; see `cargo xtask ci loom`".to_owned());
    }
    let known = names.iter().cloned().collect();
    let mut outcomes = Outcomes { known, is_whole: file.is_none(), ..Outcomes::default() };
    for (index, ((path, mutant), name)) in all.iter().zip(names).enumerate() {
        if shard.is_some_and(|(own, of)| index % of != own) {
            continue;
        }
        let place = copy.join(path);
        let original = std::fs::read_to_string(&place).map_err(|error| format!("{path}: {error}"))?;
        std::fs::write(&place, &mutant.text).map_err(|error| format!("{path}: {error}"))?;
        let survived = is_passed(&copy);
        std::fs::write(&place, original).map_err(|error| format!("{path}: {error}"))?;
        let (word, into) =
            if survived? { ("survived", &mut outcomes.survived) } else { ("killed", &mut outcomes.killed) };
        println!("{word:<9} {}: {name}", mutant.line);
        into.insert(name);
    }
    Ok(outcomes)
}

fn is_chosen(path: &str, file: Option<&str>) -> bool {
    let is_code = path.ends_with(".rs") && !path.ends_with("tests.rs") && !path.contains("/sync");
    is_code && FILES.iter().any(|of| path.starts_with(of)) && file.is_none_or(|file| file == path)
}

/// The changes of a file, in their order. Two in one line are told apart by their number.
fn mutants(text: &str) -> Vec<Mutant> {
    let source = Source::new(text, false);
    let mut found = Vec::new();
    for (from, to) in WEAKER {
        for (at, _) in source.code.match_indices(from).filter(|(at, _)| !source.is_test(*at)) {
            let before = source.code[..at].trim_end();
            // A relaxed fence is none, and panics: the fence goes.
            let (range, to) = if before.ends_with("fence(") {
                let start = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '('));
                let start = start.map_or(0, |start| start + 1);
                let end = at + source.code[at..].find(')').map_or(from.len(), |end| end + 1);
                (start..end, "()")
            } else {
                (at..at + from.len(), to)
            };
            let change = format!("{} becomes {to} in {}", &text[range.clone()], function(&source.code, at));
            let changed = format!("{}{to}{}", &text[..range.start], &text[range.end..]);
            found.push((at, Mutant { line: source.line_of(at), change, text: changed }));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, mutant)| mutant).collect()
}

/// The name of the function around an offset.
fn function(code: &str, at: usize) -> &str {
    let name = code[..at].rsplit_once("fn ").map_or("", |(_, rest)| rest);
    name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default()
}

/// A copy of what git tracks, as it lies in the working tree, in a folder whose builds are kept; and the paths of the files.
fn copy_tree(root: &Path) -> Result<(PathBuf, Vec<String>), String> {
    let copy = root.join("target/mutants/orderings");
    let mut paths = Vec::new();
    for file in tracked_files(root)? {
        let to = copy.join(&file.path);
        let folder = to.parent().unwrap_or(&copy);
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // What is unchanged keeps its time, and is not built again.
        if std::fs::read(&to).ok().as_ref() != Some(&file.bytes) {
            std::fs::write(&to, &file.bytes).map_err(|error| format!("{}: {error}", to.display()))?;
        }
        paths.push(file.path);
    }
    Ok((copy, paths))
}

/// Whether loom's tests pass on the copy. What does not compile or takes too long is noticed as well.
fn is_passed(copy: &Path) -> Result<bool, String> {
    let mut command = Command::new("timeout");
    command.args([TEST_SECONDS, "cargo", "test", "--release", "--locked", "--quiet"]);
    command.args(["-p", "leveret-memory", "-p", "leveret-runtime", "--lib", "--test", "loom*"]);
    command.env("RUSTFLAGS", "--cfg loom --cap-lints allow").env("LOOM_MAX_PREEMPTIONS", "3");
    command.env("CARGO_TARGET_DIR", copy.join("target")).current_dir(copy);
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "LD_LIBRARY_PATH"] {
        command.env_remove(name);
    }
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.map(|status| status.success()).map_err(|error| format!("timeout could not start: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ordering_is_weakened_and_fences_go() {
        let text = "fn put() {\n    word.store(1, Ordering::Release); // Ordering::Acquire\n    fence(Ordering::SeqCst);\n}\n\
                    fn both() { word.fetch_max(1, Ordering::AcqRel); }\n\
                    #[cfg(test)]\nmod tests { fn t() { w.load(Ordering::Acquire); } }\n";
        let found = mutants(text);
        let changes: Vec<_> = found.iter().map(|mutant| (mutant.line, mutant.change.as_str())).collect();
        assert_eq!(
            changes,
            [
                (2, "Ordering::Release becomes Ordering::Relaxed in put"),
                (3, "fence(Ordering::SeqCst) becomes () in put"),
                (5, "Ordering::AcqRel becomes Ordering::Acquire in both"),
                (5, "Ordering::AcqRel becomes Ordering::Release in both"),
            ]
        );
        assert!(found[0].text.contains("word.store(1, Ordering::Relaxed);"));
        assert!(found[1].text.contains("\n    ();\n"));
    }

    #[test]
    fn only_what_loom_runs_is_changed() {
        assert!(is_chosen("crates/leveret-memory/src/ring.rs", None));
        assert!(is_chosen("crates/leveret-runtime/src/gate.rs", None));
        assert!(!is_chosen("crates/leveret-runtime/src/watch.rs", None));
        assert!(!is_chosen("crates/leveret-memory/src/sync.rs", None));
        assert!(!is_chosen("crates/leveret-memory/src/event_loom_tests.rs", None));
        assert!(!is_chosen("crates/leveret-memory/src/ring.rs", Some("crates/leveret-memory/src/latest.rs")));
    }
}
