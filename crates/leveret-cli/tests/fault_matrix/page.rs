//! The table as a page of the documents. What differs from run to run, the number of judged instances and the sentence, is not compared.

use crate::case::{Cause, Culprit, Party, Scheduling};
use crate::judge::Judged;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

pub struct Row<'c> {
    pub cause: &'c Cause,
    pub scheduling: Scheduling,
    pub judged: Judged,
}

const HEAD: &str = "# Fault matrix

What was planted, under which scheduling, and what the report said of the instances that it delayed. The test
[fault_matrix](../crates/leveret-cli/tests/fault_matrix/main.rs) plants the causes in and by real-time threads anew in every run of CI,
and all of it with `FAULTS=all` on a machine that does nothing else. It fails where the party or the culprit differs; each program that plants writes down when it really disturbed, and only instances that it is proven to have delayed are
judged. The number judged and the sentence are those of one run.

| planted | scheduling | whose miss | culprit | judged | what the report says |
|---|---|---|---|---|---|
";

impl Row<'_> {
    /// The columns that every run must agree on.
    fn stable(&self) -> String {
        let party = match self.cause.party {
            None => "none missed for it".to_owned(),
            Some(Party::Process) if self.cause.culprit == Culprit::Unknown => {
                "process, or unproven".to_owned()
            }
            Some(party) => party.to_string(),
        };
        let culprit = match (self.cause.party, self.cause.culprit) {
            (Some(Party::Process), Culprit::Planter) => "named",
            (Some(Party::Process), _) => "not known to the kernel",
            _ => "-",
        };
        format!("| {} | {} | {party} | {culprit} |", self.cause.name, self.scheduling.word())
    }
}

#[allow(clippy::disallowed_methods, reason = "whoever runs the test chooses by the environment")]
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fault-matrix.md")
}

/// Writes the page anew.
pub fn write(rows: &[Row<'_>]) {
    let mut text = HEAD.to_owned();
    for row in rows {
        let _ = writeln!(
            text,
            "{} {} | {} |",
            row.stable(),
            row.judged.judged,
            row.judged.sentence.replace('|', "\\|")
        );
    }
    fs::write(path(), text).expect("the page can be written");
}

/// Compares the page with what was found.
pub fn compare(rows: &[Row<'_>]) {
    let page = fs::read_to_string(path()).expect("the page");
    for row in rows {
        let stable = row.stable();
        assert!(page.contains(&stable), "docs/fault-matrix.md lacks `{stable}`; BLESS=1 writes it anew");
    }
}
