//! Plants what is asked for, cell by cell of the matrix.

use crate::case::{Cause, Plant, Scheduling};
use crate::harness::{Workplace, turn};
use crate::judge::{Judged, in_debt, judge};
use crate::run::{planter, run};
use crate::{cases, page};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Which cells are planted.
enum Wanted {
    /// Those that a busy machine cannot spoil.
    Usual,
    /// All, by `FAULTS=all`: the machine does nothing else.
    All,
    /// By `FAULTS=TEXT` those whose names contain it.
    Named(String),
}

impl Wanted {
    #[allow(clippy::disallowed_methods, reason = "whoever runs the test chooses by the environment")]
    fn by_environment() -> Self {
        match std::env::var("FAULTS") {
            Err(_) => Self::Usual,
            Ok(text) if text == "all" => Self::All,
            Ok(text) => Self::Named(text),
        }
    }

    fn includes(&self, cause: &Cause, scheduling: Scheduling) -> bool {
        match self {
            Self::Usual => scheduling != Scheduling::Plain,
            Self::All => true,
            Self::Named(text) => format!("{} under {}", cause.name, scheduling.word()).contains(text),
        }
    }
}

/// Whether this machine lets us plant this.
fn can_plant(cause: &Cause, program: &Path) -> bool {
    let missing =
        cause.plants.iter().filter_map(|plant| plant.needs()).find(|file| !Path::new(file).exists());
    if let Some(file) = missing {
        println!("SKIPPED: {}: {file} is not there", cause.name);
        return false;
    }
    let may_load = || Command::new(program).arg("may-load").status().is_ok_and(|status| status.success());
    let lacks_program = cause.plants.iter().any(|plant| plant.loads_a_program()) && !may_load();
    if lacks_program {
        println!("SKIPPED: {}: the kernel does not take a BPF program", cause.name);
    }
    !lacks_program
}

fn may_plant() -> bool {
    let tried = Command::new("chrt").args(["-f", "95", "true"]).status();
    tried.is_ok_and(|status| status.success()) && crate::job::core(0) != crate::job::core(1)
}

/// Whether who is disturbed, or who disturbs, has ordinary scheduling: on a busy machine others may keep either from its core.
fn may_be_kept_from_it(cause: &Cause, scheduling: Scheduling) -> bool {
    let is_ordinary = |plant: &Plant| {
        matches!(plant, Plant::WithoutRights)
            || matches!(plant.outside(), Some(("raising" | "boosted" | "ordinary" | "idle" | "timers", _)))
    };
    scheduling == Scheduling::Plain || cause.plants.iter().any(is_ordinary)
}

/// How many planted instances of a cell must be judged at least.
fn least(cause: &Cause, scheduling: Scheduling, wanted: &Wanted) -> u64 {
    // Which instances a debt delays is the kernel's to say.
    let planted = if in_debt(cause) { 2 } else { cause.shape.at.len() as u64 };
    match may_be_kept_from_it(cause, scheduling) {
        false => planted.div_ceil(2),
        true => u64::from(matches!(wanted, Wanted::All)),
    }
}

#[test]
fn every_planted_cause_is_judged_right() {
    let _turn = turn();
    if !may_plant() {
        println!("SKIPPED: planting from outside needs the right to real-time scheduling, and two cores");
        return;
    }
    let wanted = Wanted::by_environment();
    let place = Workplace::new();
    let program = planter(&place);
    let mut rows = Vec::new();
    let mut wrong = String::new();
    let (mut planted, mut judged_in_all) = (0, 0);
    for cause in cases::CAUSES.iter().filter(|cause| can_plant(cause, &program)) {
        for &scheduling in cause.under.iter().filter(|scheduling| wanted.includes(cause, **scheduling)) {
            let ran = run(&program, cause, scheduling);
            if ran.trace.is_none() {
                println!("SKIPPED: {}: without the scheduler's trace only logs are compared", cause.name);
            }
            let mut judged = judge(cause, &ran);
            if judged.judged < least(cause, scheduling, &wanted) {
                let too_few =
                    format!("only {} judged: {:?}\n{}", judged.judged, ran.entries, ran.outcome.said());
                judged.wrong.push(too_few);
            }
            progress(cause, scheduling, &judged);
            if !judged.wrong.is_empty() {
                let _ = writeln!(wrong, "## {} under {}", cause.name, scheduling.word());
                judged.wrong.iter().take(2).for_each(|what| wrong += &format!("- {what}\n"));
            }
            planted += cause.shape.at.len() as u64;
            judged_in_all += judged.judged.min(cause.shape.at.len() as u64);
            rows.push(page::Row { cause, scheduling, judged });
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(!rows.is_empty(), "no cell has such a name");
    let is_enough = matches!(wanted, Wanted::Named(_)) || judged_in_all >= planted / 3 * 2;
    assert!(is_enough, "only {judged_in_all} of {planted} planted instances could be judged");
    if page::is_blessing() {
        page::write(&rows);
    }
    page::compare(&rows);
}

/// A line about a cell, past the capture of the tests' output: all of them together take minutes.
fn progress(cause: &Cause, scheduling: Scheduling, judged: &Judged) {
    let line = format!(
        "{} under {}: {} judged, {} not reached, {} not planted, {} wrong\n",
        cause.name,
        scheduling.word(),
        judged.judged,
        judged.unreached,
        judged.beside,
        judged.wrong.len()
    );
    // Nobody needs it.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}
