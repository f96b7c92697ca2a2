//! The examples that exist in C, C++ and Rust print the same in all three, and leak nothing.

use crate::harness::{Outcome, Workplace, member, turn};
use crate::suite::{C, CPP, compile, links, run, run_with, with_sanitizers};
use std::path::PathBuf;

/// An example: its sources without their endings, the program in Rust, and how it is run.
struct Example {
    source: &'static str,
    rust: &'static str,
    members: u32,
    arguments: &'static [&'static str],
    /// The program's own arguments.
    given: &'static [&'static str],
    /// What its own lines begin with, as opposed to those of `leveret run`.
    speakers: &'static [&'static str],
    /// How many lines it prints.
    lines: usize,
}

const RING: Example = Example {
    source: "examples/ring/ring",
    rust: "ring-objects",
    members: 3,
    arguments: &["--rounds", "50"],
    given: &[],
    speakers: &["A.user: ", "B.user: ", "C.user: "],
    lines: 3,
};

const FARM: Example = Example {
    source: "examples/farm/farm",
    rust: "farm",
    members: 3,
    arguments: &[],
    given: &[],
    speakers: &["farmer: "],
    lines: 13,
};

const MODE_CHANGE: Example = Example {
    source: "examples/mode-change/mode-change",
    rust: "mode-change",
    members: 2,
    arguments: &["--rounds", "200"],
    given: &[],
    speakers: &["controller: "],
    lines: 2,
};

const PIPELINE: Example = Example {
    source: "examples/pipeline/pipeline",
    rust: "pipeline",
    members: 3,
    arguments: &[],
    given: &[],
    speakers: &["sink: "],
    lines: 10,
};

const PRIORITIES: Example = Example {
    source: "examples/priorities/priorities",
    rust: "priorities",
    members: 2,
    arguments: &[],
    given: &[],
    speakers: &["receiver: "],
    lines: 12,
};

impl Example {
    /// What it said. How many messages were taken is left out: a stall of the machine decides that too.
    fn lines_of(&self, outcome: &Outcome) -> Vec<String> {
        let own = outcome.stdout.lines().filter(|line| self.speakers.iter().any(|who| line.starts_with(who)));
        let mut lines: Vec<String> = own.map(without_the_count).collect();
        if self.speakers.len() > 1 {
            // Members end in any order.
            lines.sort();
        }
        assert_eq!(lines.len(), self.lines, "{}: {}", self.source, outcome.said());
        lines
    }

    fn run(&self, place: &Workplace, program: PathBuf) -> Vec<String> {
        let outcome = run_with(place, &program, self.members, (self.arguments, self.given));
        outcome.assert_consistent();
        for wrong in ["AddressSanitizer", "LeakSanitizer", "runtime error"] {
            assert!(!outcome.said().contains(wrong), "{}", outcome.said());
        }
        self.lines_of(&outcome)
    }

    fn compiled(&self, compiler: &[&str], ending: &str) -> Vec<String> {
        let place = Workplace::new();
        let built = compile(&place, &format!("{}.{ending}", self.source), compiler);
        self.run(&place, built)
    }
}

fn without_the_count(line: &str) -> String {
    let Some((before, after)) = line.split_once(": took ") else { return line.to_owned() };
    let (count, rest) = after.split_once(' ').unwrap_or((after, ""));
    assert!(count.parse::<u64>().is_ok_and(|count| count > 0), "{line}");
    format!("{before}: took N {rest}")
}

fn says_the_same(example: &Example) {
    let _turn = turn();
    agrees_with_c(example);
}

/// In C++ under sanitizers, where they can be had: an example that leaks ends with a report of theirs instead.
fn agrees_with_c(example: &Example) {
    let in_c = example.compiled(&C, "c");
    assert!(in_c.iter().all(|line| !line.contains("took") || line.contains(" 0 ")), "{in_c:?}");
    let in_rust = example.run(&Workplace::new(), member(example.rust).into());
    assert_eq!(in_rust, in_c, "{} in Rust", example.source);
    if links(&CPP[..1], example.source) {
        let compiler = with_sanitizers(&CPP).unwrap_or(CPP.into());
        assert_eq!(example.compiled(&compiler, "cpp"), in_c, "{} in C++", example.source);
    }
}

// spec: LANG-EXAMPLE-01, LANG-CPP-LEAK-01
#[test]
fn the_ring_says_the_same_in_three_languages() {
    says_the_same(&RING);
}

// spec: LANG-EXAMPLE-01, LANG-CPP-LEAK-01
#[test]
fn the_farm_says_the_same_in_three_languages() {
    says_the_same(&FARM);
}

// spec: LANG-EXAMPLE-01, LANG-CPP-LEAK-01
#[test]
fn the_change_of_mode_says_the_same_in_three_languages() {
    says_the_same(&MODE_CHANGE);
}

// spec: LANG-EXAMPLE-01, LANG-CPP-LEAK-01
#[test]
fn the_pipeline_says_the_same_in_three_languages() {
    says_the_same(&PIPELINE);
}

/// Its buffers are few: it sends no more than there is room for.
// spec: LANG-EXAMPLE-01, QOS-EVENT-03
#[test]
fn the_pipeline_holds_for_more_items_than_any_buffer_or_slack() {
    says_the_same(&Example { given: &["1000"], lines: 1000, ..PIPELINE });
}

/// The alarms come first, though they were sent last. The commit says what is left of each core.
// spec: QOS-ADMIT-02, LANG-EXAMPLE-01, LANG-CPP-LEAK-01
#[test]
fn the_priorities_say_the_same_in_three_languages() {
    says_the_same(&PRIORITIES);
    let _turn = turn();
    alarms_come_first();
}

fn alarms_come_first() {
    let place = Workplace::new();
    let built = compile(&place, "examples/priorities/priorities.c", &C);
    let outcome = run(&place, &built, PRIORITIES.members, PRIORITIES.arguments);
    let lines = PRIORITIES.lines_of(&outcome);
    assert!(outcome.stderr.contains("; left for best effort: core "), "{}", outcome.said());
    let alarms = (1..=4).map(|number| format!("receiver: alarm {number}"));
    let expected: Vec<String> =
        alarms.chain((1..=8).map(|number| format!("receiver: log {number}"))).collect();
    assert_eq!(lines, expected);
}
