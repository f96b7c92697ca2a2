//! The list for the terminal and for programs.

use super::Spec;
use super::marks::Mark;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

impl Spec {
    /// The tests that show an id.
    fn shown_by<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Mark> {
        self.marks.iter().filter(move |mark| mark.id == id)
    }
}

/// How many, how many open, by group in the order of the list.
pub fn counts<'a>(groups: impl Iterator<Item = (&'a str, bool)>) -> Vec<(&'a str, usize, usize)> {
    let mut counts: Vec<(&str, usize, usize)> = Vec::new();
    for (group, open) in groups {
        match counts.iter_mut().find(|(name, ..)| *name == group) {
            Some((_, all, left)) => {
                *all += 1;
                *left += usize::from(open);
            }
            None => counts.push((group, 1, usize::from(open))),
        }
    }
    counts
}

/// For the terminal: the groups, then what is shown and by which tests; or what is open.
pub fn table(spec: &Spec, open: bool) -> String {
    let requirements = &spec.list.requirements;
    let functions = &spec.functions.functions;
    let mut text = String::new();
    if open {
        for one in requirements.iter().filter(|one| one.open) {
            line(&mut text, &format!("{:<28} {}", one.id, one.says));
        }
        for one in functions.iter().filter(|one| one.open) {
            line(&mut text, &format!("{:<28} {}", one.name(), one.entry.says));
        }
    } else {
        let groups = requirements.iter().map(|one| (one.group.as_str(), one.open));
        section(&mut text, "requirements", &counts(groups));
        for one in requirements.iter().filter(|one| !one.open) {
            let tests: Vec<&str> = spec.shown_by(&one.id).map(|mark| mark.test.as_str()).collect();
            line(&mut text, &format!("{:<22} {}", one.id, tests.join(", ")));
        }
        line(&mut text, "");
        let groups = functions.iter().map(|one| (one.group.as_str(), one.open));
        section(&mut text, "functions", &counts(groups));
    }
    line(&mut text, &spec.summary());
    text
}

fn section(text: &mut String, what: &str, counts: &[(&str, usize, usize)]) {
    line(text, &format!("{what:<84} {:>5} {:>5} {:>5}", "all", "shown", "open"));
    for (name, all, open) in counts {
        let name: String = name.chars().take(82).collect();
        line(text, &format!("  {name:<82} {all:>5} {:>5} {open:>5}", all - open));
    }
    line(text, "");
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", line.trim_end());
}

/// For programs: every requirement and every function, or the open ones; with types and error codes.
pub fn json(spec: &Spec, open: bool) -> String {
    let tests = |id: &str| -> Vec<Value> {
        spec.shown_by(id)
            .map(|mark| json!({"test": mark.test, "path": mark.path, "line": mark.line}))
            .collect()
    };
    let requirements: Vec<Value> = spec
        .list
        .requirements
        .iter()
        .filter(|one| !open || one.open)
        .map(|one| {
            let (kind, source) = one.origin.parts();
            json!({
                "id": one.id, "group": one.group, "says": one.says, "kind": kind, "source": source,
                "open": one.open, "path": one.path, "line": one.line, "tests": tests(&one.id),
            })
        })
        .collect();
    let functions: Vec<Value> = spec
        .functions
        .functions
        .iter()
        .filter(|one| !open || one.open)
        .map(|one| {
            let (kind, source) = one.origin.parts();
            let (errors, data_path) = spec.functions.describe(one);
            let shown: BTreeMap<String, Vec<Value>> = one.ids().map(|id| (id.clone(), tests(&id))).collect();
            json!({
                "name": one.name(), "group": one.group, "c": one.entry.c, "says": one.entry.says,
                "kind": kind, "source": source, "open": one.open, "path": one.path, "line": one.line,
                "parameters": one.parameters().collect::<Vec<_>>(), "errors": errors, "own_errors": one.entry.errors, "data_path": data_path, "tests": shown,
            })
        })
        .collect();
    let (types, errors) = (&spec.functions.types, &spec.functions.errors);
    let all = json!({"requirements": requirements, "functions": functions, "types": types, "errors": errors});
    format!("{all:#}")
}
