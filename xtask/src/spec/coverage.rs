//! Requirements and tests held against each other.

use super::functions::Functions;
use super::list::List;
use super::marks::Mark;
use crate::tidy::Finding;
use std::collections::BTreeSet;

/// What the marks say that the list does not, and the other way round.
pub fn check(list: &List, functions: &Functions, marks: &[Mark]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for requirement in &list.requirements {
        let tests: Vec<&Mark> = marks.iter().filter(|mark| mark.id == requirement.id).collect();
        known.insert(requirement.id.clone());
        let (id, path, line) = (&requirement.id, &requirement.path, requirement.line);
        match (requirement.open, tests.first()) {
            (true, Some(mark)) => findings.push(Finding::new(
                "spec",
                path,
                line,
                format!(
                    "{id} is marked open, and {} in {}:{} shows it: take the mark away",
                    mark.test, mark.path, mark.line
                ),
            )),
            (false, None) => findings.push(Finding::new(
                "spec",
                path,
                line,
                format!("{id} has no test: write `spec: {id}` above the test that shows it, or mark it open"),
            )),
            _ => {}
        }
    }
    for function in &functions.functions {
        let missing: Vec<String> =
            function.ids().filter(|id| !marks.iter().any(|mark| mark.id == *id)).collect();
        known.extend(function.ids());
        let message = match (function.open, missing.is_empty()) {
            (true, true) => {
                format!("{} is marked open, and tests show all of it: take the mark away", function.name())
            }
            (false, false) => format!("{} has no test of: {}", function.name(), missing.join(", ")),
            _ => continue,
        };
        findings.push(Finding::new("spec", &function.path, function.line, message));
    }
    for mark in marks.iter().filter(|mark| !known.contains(&mark.id)) {
        let message = format!("{} is no requirement and no function of spec/", mark.id);
        findings.push(Finding::new("spec", &mark.path, mark.line, message));
    }
    findings
}
