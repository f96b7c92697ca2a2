//! The list of steps, cheap ones first, and those that may be beside others last, the longest first. `docs/ci.md` has a
//! paragraph on each.

use super::command::{cargo, must_succeed, must_test, program};
use super::{Context, Outcome, Step, examples, fuzz, tools};
use crate::{demo, deny, spec, tidy};

/// What the build folders take that all steps leave, from a clean clone.
const DISK_GIB: u64 = 10;

/// What runs under ThreadSanitizer: the files of tests named `in_process*`, and beside the runtime's own code the tests named so.
const THREADED: [&str; 2] =
    ["-p leveret-memory -p leveret-runtime --test in_process*", "-p leveret-runtime --lib in_process_"];

/// Every step in its order.
pub fn steps() -> Vec<Step> {
    let step = |name, what, needs, run| Step { name, what, needs, beside: false, only_named: false, run };
    let beside = |name, what, needs, run| Step { beside: true, ..step(name, what, needs, run) };
    let memory: &[&str] = &["crates/leveret-memory"];
    vec![
        step("disk", "room for what the steps build", &[], disk),
        step("tools", "programs that the tests use", &["xtask/debian-packages.txt"], tools::debian),
        step("fmt", "the code is formatted", &[], format),
        step("tidy", "layers, sizes, bans, documents", &[], |context| report(tidy::run(&context.root))),
        step("spec", "requirements, the tests that show them, their page", &["spec"], |context| {
            report(spec::check(&context.root))
        }),
        step("clippy", "lints, warnings denied", &[], |context| {
            must_succeed(context, cargo(context, "clippy --workspace --all-targets --locked -- -D warnings"))
        }),
        step("deny", "licences and sources of dependencies", &[], |context| report(deny::run(&context.root))),
        Step {
            only_named: true,
            ..step("advisories", "known vulnerabilities of dependencies, by cargo-deny", &[], advisories)
        },
        step("doc", "the documentation builds, warnings denied", &[], |context| {
            let mut command = cargo(context, "doc --workspace --no-deps --locked");
            command.env("RUSTDOCFLAGS", "-D warnings");
            must_succeed(context, command)
        }),
        step("build", "the release build", &[], release_build),
        step("test", "unit, property and process tests", &[], tests),
        step("doctest", "the code in the documentation", &["crates/leveret"], |context| {
            must_test(context, cargo(context, "test --workspace --locked --doc"))
        }),
        step(
            "plans",
            "check, plan and verify of every example",
            &["crates/leveret-cli", "examples"],
            examples::plan_all,
        ),
        step(
            "demo",
            "the ring, some rounds",
            &["crates/leveret-cli", "examples/ring/demo.toml"],
            examples::run_ring,
        ),
        beside("fuzz", "every fuzz target, shortly", &["fuzz/Cargo.toml"], fuzz::run_targets),
        beside("miri", "undefined behaviour in leveret-memory", memory, |context| {
            miri(context, "-p leveret-memory")
        }),
        beside(
            "thread",
            "data races, by ThreadSanitizer",
            &["crates/leveret-memory", "crates/leveret-runtime"],
            threads,
        ),
        beside("loom", "interleavings of the lock-free structures", memory, loom),
    ]
}

/// What the demonstration builds, as it builds it.
fn release_build(context: &Context) -> Outcome {
    must_succeed(context, cargo(context, demo::BUILD))
}

fn report(result: Result<String, Vec<String>>) -> Outcome {
    match result {
        Ok(about) => Outcome::Passed(about),
        Err(findings) => {
            findings.iter().for_each(|finding| println!("  {finding}"));
            Outcome::Failed(format!("{} findings", findings.len()))
        }
    }
}

/// A full disk fails in the middle of some compiler run, and every step after it for no reason of its own.
fn disk(context: &Context) -> Outcome {
    let target = context.root.join("target");
    let kibibytes = |name: &str, arguments: &str, line: usize| -> Option<u64> {
        let output = program(context, name, arguments).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().nth(line)?.split_whitespace().next()?.parse().ok()
    };
    let Some(free) = kibibytes("df", "--output=avail -k .", 1) else {
        return Outcome::Skipped("df could not tell how much room is left".to_owned());
    };
    let built = if target.exists() { kibibytes("du", "-sk target", 0).unwrap_or(0) } else { 0 };
    let (free, built) = (free >> 20, built >> 20);
    let told = format!("{free} GiB free, {built} GiB in target/, {DISK_GIB} GiB needed in all");
    if free + built >= DISK_GIB {
        Outcome::Passed(told)
    } else {
        Outcome::Failed(format!("{told}; make room on the disk that holds {}", context.root.display()))
    }
}

fn format(context: &Context) -> Outcome {
    let outcome = must_succeed(context, cargo(context, "fmt --all -- --check"));
    match outcome {
        Outcome::Passed(_) if context.root.join("fuzz/Cargo.toml").exists() => {
            must_succeed(context, fuzz::check_format(context))
        }
        other => other,
    }
}

/// The tests with real processes start the examples and load the C library, which `cargo test` would build as tests only.
fn tests(context: &Context) -> Outcome {
    match must_succeed(context, cargo(context, "build --workspace --locked --lib --examples")) {
        Outcome::Passed(_) => {}
        failed => return failed,
    }
    // What a passing test says is shown, so that a check that it skipped is counted.
    let arguments = "test --workspace --locked --lib --bins --tests --no-fail-fast -- --show-output";
    must_test(context, cargo(context, arguments))
}

/// The advisory database grows by itself and lies on a server, so this is no part of what must always give the same answer.
fn advisories(context: &Context) -> Outcome {
    if !tools::succeeds(context, "cargo", "deny --version") {
        return Outcome::Skipped("cargo-deny is missing: cargo install cargo-deny --locked".into());
    }
    must_succeed(context, program(context, "cargo", "deny check advisories"))
}

fn miri(context: &Context, what: &str) -> Outcome {
    let nightly = match tools::nightly(context) {
        Ok(name) => name,
        Err(reason) => return Outcome::Skipped(reason),
    };
    let mut command = cargo(context, &format!("+{nightly} miri test {what} --locked --lib --tests"));
    command.env("CARGO_TARGET_DIR", "target/miri").env("PROPTEST_CASES", "4");
    // Property tests look for their regression file; isolation would refuse that.
    command.env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-strict-provenance");
    must_test(context, command)
}

fn loom(context: &Context) -> Outcome {
    let tests = "-p leveret-memory -p leveret-runtime --lib --test loom*";
    let mut command = cargo(context, &format!("test --release --locked {tests}"));
    command
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", "target/loom")
        .env("LOOM_MAX_PREEMPTIONS", "3");
    must_test(context, command)
}

fn threads(context: &Context) -> Outcome {
    match THREADED.map(|what| thread(context, what)) {
        [Outcome::Passed(outside), Outcome::Passed(within)] => {
            Outcome::Passed(format!("{outside}, {within} beside the code"))
        }
        [Outcome::Passed(_), other] | [other, _] => other,
    }
}

fn thread(context: &Context, what: &str) -> Outcome {
    let nightly = match tools::nightly(context) {
        Ok(name) => name,
        Err(reason) => return Outcome::Skipped(reason),
    };
    let target = "x86_64-unknown-linux-gnu";
    let arguments = format!("+{nightly} test -Zbuild-std --target {target} --locked {what}");
    let mut command = cargo(context, &arguments);
    // The copies in machine code cannot be seen by the sanitizer.
    command
        .env("RUSTFLAGS", "-Zsanitizer=thread --cfg portable_copy")
        .env("CARGO_TARGET_DIR", "target/thread");
    command.env("TSAN_OPTIONS", "halt_on_error=1");
    must_test(context, command)
}
