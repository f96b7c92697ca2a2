//! The table as a page of the documents: what was found in one run of all cells. Of a later run, whose the misses were and whether the planter was
//! named must be the same; numbers and sentences differ from run to run.

use crate::case::{Cause, Culprit, Party, Scheduling};
use crate::cases;
use crate::judge::Judged;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub struct Row<'c> {
    pub cause: &'c Cause,
    pub scheduling: Scheduling,
    pub judged: Judged,
}

const HEAD: &str = "# Fault matrix

What was planted, under which scheduling, and what the report said of the instances that it delayed. The test
[fault_matrix](../crates/leveret-cli/tests/fault_matrix/main.rs) plants the causes anew in every run of CI, all but those for tasks with ordinary
scheduling, which a busy machine disturbs too. `FAULTS=all` plants these as well. Each program that plants writes down when it really disturbed, and
the scheduler's own trace shows who had the core meanwhile, and who waited for it. Only instances that a plant is proven to have delayed are judged.
Where the trace shows that a timer came late for another reason, an unproven verdict, or one of the machine, is not judged against the plant.
The test fails where the party, the culprit, the exit code or a sentence of the report contradicts the logs and the trace.

*Whose miss* and *culprit* are what the report said, in one run of all cells. \"Unproven\" means that nothing shows who did it, so that it counts as
the job's: the kernel does not say who froze a control group of version 1, who used up a quota, or who changed a thread's scheduling.

One row plants what the machine does: a program in the kernel keeps interrupts off. Where nothing proves that it was the machine, such a miss is
nobody's, and never another process's. Whatever else a test can do to a core, a process does. [planted_causes.rs](../crates/leveret-report/tests/report/planted_causes.rs)
and [held.rs](../crates/leveret-report/tests/report/held.rs) show in virtual time what counts as the machine's: late timers, stalls of a core, time that a hypervisor
takes, the kernel's own threads.

| planted | scheduling | whose miss | culprit | judged | what the report says |
|---|---|---|---|---|---|
";

/// What the page says of a cell, or a run found.
struct Found {
    parties: BTreeSet<String>,
    culprit: String,
}

fn key(cause: &Cause, scheduling: Scheduling) -> String {
    format!("{} | {}", cause.name, scheduling.word())
}

impl Row<'_> {
    fn found(&self) -> Found {
        let word = |(party, unproven): &(Party, bool)| match unproven {
            true => "job (unproven)".to_owned(),
            false => party.to_string(),
        };
        let named: Vec<&str> = self.judged.culprits.iter().map(String::as_str).collect();
        let culprit = if named.is_empty() { "-".to_owned() } else { named.join(", ") };
        Found { parties: self.judged.parties.iter().map(word).collect(), culprit }
    }
}

#[allow(clippy::disallowed_methods, reason = "whoever runs the test chooses by the environment")]
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fault-matrix.md")
}

fn line(row: &Row<'_>) -> String {
    let found = row.found();
    let parties: Vec<&str> = found.parties.iter().map(String::as_str).collect();
    let whose = if parties.is_empty() { "no miss".to_owned() } else { parties.join(" or ") };
    let said = row.judged.sentence.replace('|', "\\|");
    let (key, culprit, judged) = (key(row.cause, row.scheduling), found.culprit, row.judged.judged);
    format!("| {key} | {whose} | {culprit} | {judged} | {said} |\n")
}

/// Writes these rows of the page anew, and keeps those of the other cells that are planted.
pub fn write(rows: &[Row<'_>]) {
    let before = fs::read_to_string(path()).unwrap_or_default();
    let mut text = HEAD.to_owned();
    for (cause, scheduling) in cells() {
        let key = key(cause, scheduling);
        let fresh =
            rows.iter().map(|row| (self::key(row.cause, row.scheduling), row)).find(|row| row.0 == key);
        let kept = || before.lines().find(|line| line.starts_with(&format!("| {key} | ")));
        text += &fresh.map_or_else(
            || kept().map_or_else(String::new, |kept| format!("{kept}\n")),
            |(_, row)| line(row),
        );
    }
    fs::write(path(), text).expect("the page can be written");
}

/// Every cell, in the page's order.
fn cells() -> impl Iterator<Item = (&'static Cause, Scheduling)> {
    cases::CAUSES.iter().flat_map(|cause| cause.under.iter().map(move |each| (cause, *each)))
}

/// The rows of the page, by what was planted and the scheduling.
fn rows_of(page: &str) -> BTreeMap<String, Found> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")).map(|line| line.split(" | "));
    let row = |mut cells: std::str::Split<'_, &str>| {
        let (name, scheduling) = (cells.next()?, cells.next()?);
        let (parties, culprit) = (cells.next()?.split(" or ").map(str::to_owned).collect(), cells.next()?);
        Some((format!("{name} | {scheduling}"), Found { parties, culprit: culprit.to_owned() }))
    };
    let mut rows: BTreeMap<String, Found> = cells.filter_map(row).collect();
    rows.remove("planted | scheduling");
    rows
}

/// Whose a miss is, proven or not.
fn party(word: &str) -> &str {
    word.trim_end_matches(" (unproven)")
}

/// Compares the page with what was found.
pub fn compare(rows: &[Row<'_>]) {
    let page = rows_of(&fs::read_to_string(path()).expect("the page"));
    for row in rows {
        let key = key(row.cause, row.scheduling);
        let on_page = page.get(&key).unwrap_or_else(|| panic!("docs/fault-matrix.md lacks `{key}`"));
        let found = row.found();
        let known: BTreeSet<&str> = on_page.parties.iter().map(|word| party(word)).collect();
        // Of what the kernel leaves open, the report may find more or less.
        let is_open = row.cause.culprit == Culprit::Unknown;
        let differs = |word: &&String| !is_open && !known.contains(party(word));
        let strange = found.parties.iter().find(differs);
        assert!(strange.is_none(), "`{key}`: {strange:?}, on docs/fault-matrix.md {:?}", on_page.parties);
        let is_named = row.cause.culprit != Culprit::Planter
            || ["plant", "exe"].iter().any(|name| on_page.culprit.contains(name));
        assert!(is_named, "docs/fault-matrix.md names {:?} for `{key}`", on_page.culprit);
    }
}

#[test]
fn the_page_has_the_cells_that_are_planted() {
    let page = rows_of(&fs::read_to_string(path()).expect("the page"));
    let cells: BTreeSet<String> = cells().map(|(cause, each)| key(cause, each)).collect();
    let (on_page, planted): (Vec<&String>, Vec<&String>) = (page.keys().collect(), cells.iter().collect());
    assert_eq!(
        on_page, planted,
        "BLESS=1 FAULTS=all writes docs/fault-matrix.md anew, BLESS=1 FAULTS=TEXT some of its rows"
    );
}
