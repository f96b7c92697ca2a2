//! `cargo xtask ci`: every check of the project, in one list, with one closing line.
//!
//! A step ends in one of four ways. *Passed* means that it ran something and found nothing wrong. *Skipped* means that a
//! tool could not be had, and says which. *Absent* means that what it checks is not in the repository. Everything else *failed*, and so does
//! a step that selected no test. With `--strict`, as in CI, whatever was not checked is a failure: an absent step, a skipped one, and a check
//! that a passing step left out.

mod command;
mod examples;
mod fuzz;
mod table;
mod tools;

pub use fuzz::main as fuzz_for_long;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a step ended, with one line about it.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran and found nothing wrong.
    Passed(String),
    /// It ran and found nothing wrong, but this many of its checks could not be made here.
    PassedInPart(String, usize),
    /// A tool could not be had.
    Skipped(String),
    /// It checks something that does not exist.
    Absent(String),
    /// Something is wrong.
    Failed(String),
}

/// One check.
pub struct Step {
    /// Short name, for `cargo xtask ci NAME`.
    pub name: &'static str,
    /// What it checks, for `--list`.
    pub what: &'static str,
    /// Paths without which there is nothing to check.
    pub needs: &'static [&'static str],
    /// Whether it builds into folders of its own and nothing in it depends on time, so that it may run beside another such step.
    pub beside: bool,
    /// Whether it runs only where it is named, since it asks the network for something that changes by itself.
    pub only_named: bool,
    /// Does it.
    pub run: fn(&Context) -> Outcome,
}

/// What every step is given.
#[derive(Clone)]
pub struct Context {
    /// Root of the repository.
    pub root: PathBuf,
    /// Name of the running step, for its log.
    pub step: &'static str,
    /// Seconds that each fuzz target runs.
    pub fuzz_seconds: u32,
    /// Whether the step gives way to others.
    pub gives_way: bool,
}

/// What the command line asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    names: Vec<String>,
    strict: bool,
    list: bool,
    fuzz_seconds: Option<u32>,
}

/// A step that was run.
struct Done {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

/// Runs the steps that `arguments` name, or all. Gives the process's exit code.
pub fn main(root: PathBuf, arguments: &[String]) -> Result<u8, String> {
    let request = parse(arguments)?;
    let steps = table::steps();
    if request.list {
        steps.iter().for_each(|step| println!("{:<14} {}", step.name, step.what));
        return Ok(0);
    }
    let chosen = choose(&steps, &request.names)?;
    let fuzz_seconds = request.fuzz_seconds.unwrap_or(6);
    let context = Context { root, step: "", fuzz_seconds, gives_way: false };
    let (done, took) = timed(|| run_all(&chosen, &context));
    println!("\n{}", summary(&done, took, request.strict));
    Ok(u8::from(counts(&done, request.strict).failed > 0))
}

/// Runs the steps in their order, one at a time; then those that may be beside others, two at once. Nothing runs beside the tests of
/// real processes: even at the lowest priority it changes the machine's speed and takes turns from members with ordinary scheduling.
fn run_all(steps: &[&Step], context: &Context) -> Vec<Done> {
    let (beside, alone): (Vec<&Step>, Vec<&Step>) = steps.iter().copied().partition(|step| step.beside);
    let mut done: Vec<Done> = alone.into_iter().map(|step| run_one(step, context)).collect();
    let waiting = Mutex::new(beside.into_iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let all_waiting = || -> Vec<Done> { std::iter::from_fn(|| Some(run_one(next()?, context))).collect() };
    std::thread::scope(|scope| {
        let aside = scope.spawn(all_waiting);
        done.extend(all_waiting());
        done.extend(aside.join().expect("a step that panics ends the program"));
    });
    done
}

fn run_one(step: &Step, context: &Context) -> Done {
    println!("{:<14} {}", step.name, step.what);
    let context = Context { step: step.name, ..context.clone() };
    let (outcome, took) = timed(|| run_step(step, &context));
    let finished = Done { name: step.name, outcome, took };
    println!("{}", line(&finished));
    finished
}

#[allow(
    clippy::disallowed_methods,
    reason = "how long a step took is for the reader; nothing is decided by it"
)]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    (work(), begin.elapsed())
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--strict" => request.strict = true,
            "--list" => request.list = true,
            "--fuzz-seconds" => {
                let number = rest.next().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
                request.fuzz_seconds = Some(number.ok_or("--fuzz-seconds takes a number of at least 1")?);
            }
            other if other.starts_with('-') => {
                return Err(format!(
                    "'{other}' is unknown; ci takes --strict, --list, --fuzz-seconds N and step names"
                ));
            }
            name => request.names.push(name.to_owned()),
        }
    }
    Ok(request)
}

fn choose<'a>(steps: &'a [Step], names: &[String]) -> Result<Vec<&'a Step>, String> {
    if let Some(name) = names.iter().find(|name| steps.iter().all(|step| step.name != **name)) {
        let known: Vec<&str> = steps.iter().map(|step| step.name).collect();
        return Err(format!("there is no step '{name}'; the steps are {}", known.join(", ")));
    }
    let wanted = |step: &&Step| {
        let named = names.iter().any(|name| name == step.name);
        named || names.is_empty() && !step.only_named
    };
    Ok(steps.iter().filter(wanted).collect())
}

fn run_step(step: &Step, context: &Context) -> Outcome {
    match step.needs.iter().find(|path| !context.root.join(path).exists()) {
        Some(path) => Outcome::Absent(format!("{path} does not exist")),
        None => (step.run)(context),
    }
}

fn line(done: &Done) -> String {
    let (word, about) = match &done.outcome {
        Outcome::Passed(about) | Outcome::PassedInPart(about, _) => ("passed", about),
        Outcome::Skipped(about) => ("SKIPPED", about),
        Outcome::Absent(about) => ("ABSENT", about),
        Outcome::Failed(about) => ("FAILED", about),
    };
    format!("  {word:<8} {:<14} {:>7.1} s  {about}", done.name, done.took.as_secs_f64()).trim_end().to_owned()
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

fn counts(done: &[Done], strict: bool) -> Counts {
    let mut counts = Counts::default();
    for done in done {
        match done.outcome {
            Outcome::Passed(_) => counts.passed += 1,
            Outcome::PassedInPart(..) | Outcome::Absent(_) | Outcome::Skipped(_) if strict => {
                counts.failed += 1
            }
            Outcome::PassedInPart(_, skipped) => {
                counts.passed += 1;
                counts.skipped += skipped;
            }
            Outcome::Failed(_) => counts.failed += 1,
            Outcome::Absent(_) | Outcome::Skipped(_) => counts.skipped += 1,
        }
    }
    counts
}

fn summary(done: &[Done], took: Duration, strict: bool) -> String {
    let mut text: String = done.iter().map(|done| line(done) + "\n").collect();
    text += &format!("  {:.0} s in all\n", took.as_secs_f64());
    let unchecked = |done: &Done| {
        matches!(done.outcome, Outcome::Absent(_) | Outcome::Skipped(_) | Outcome::PassedInPart(..))
    };
    if strict && done.iter().any(unchecked) {
        text += "  --strict: what was skipped or is absent has failed\n";
    }
    let Counts { passed, failed, skipped } = counts(done, strict);
    if passed + failed == 0 {
        text += "  nothing was checked\n";
    }
    text + &format!("{passed} passed, {failed} failed, {skipped} skipped")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(outcome: Outcome) -> Done {
        Done { name: "x", outcome, took: Duration::from_millis(1500) }
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_skipped_step_never_counts_as_passed() {
        let all = [
            done(Outcome::Passed("3 tests".into())),
            done(Outcome::Skipped("no tool".into())),
            done(Outcome::Absent("no crate".into())),
            done(Outcome::Failed("broken".into())),
        ];
        assert_eq!(counts(&all, false), Counts { passed: 1, failed: 1, skipped: 2 });
        assert_eq!(counts(&all, true), Counts { passed: 1, failed: 3, skipped: 0 });
        let part = [done(Outcome::PassedInPart("3 tests, 2 checks skipped".into(), 2))];
        assert_eq!(counts(&part, false), Counts { passed: 1, failed: 0, skipped: 2 });
        assert_eq!(counts(&part, true), Counts { passed: 0, failed: 1, skipped: 0 });
        let text = summary(&all, Duration::from_secs(3), true);
        assert!(text.contains("SKIPPED  x                  1.5 s  no tool"), "{text}");
        assert!(text.ends_with("1 passed, 3 failed, 0 skipped"), "{text}");
    }

    #[test]
    fn a_step_without_its_subject_is_absent() {
        let step = Step {
            name: "x",
            what: "",
            beside: false,
            only_named: false,
            needs: &["Cargo.toml", "no/such/crate"],
            run: |_| Outcome::Passed("ran".into()),
        };
        let context =
            Context { root: crate::workspace::root(), step: "x", fuzz_seconds: 1, gives_way: false };
        assert_eq!(run_step(&step, &context), Outcome::Absent("no/such/crate does not exist".into()));
    }

    #[test]
    fn arguments_are_understood_or_refused() {
        let request = parse(&words("--strict --fuzz-seconds 3 tidy")).expect("these are known");
        assert_eq!(
            request,
            Request { names: words("tidy"), strict: true, list: false, fuzz_seconds: Some(3) }
        );
        assert!(parse(&words("--stric")).is_err());
        assert!(parse(&words("--fuzz-seconds 0")).is_err());
        assert!(choose(&table::steps(), &words("no-such-step")).is_err());
        let steps = table::steps();
        let all = choose(&steps, &[]).expect("nothing is named");
        assert!(all.iter().all(|step| step.name != "advisories") && all.len() + 1 == steps.len());
        assert_eq!(choose(&steps, &words("advisories")).expect("it is a step").len(), 1);
    }

    #[test]
    fn names_of_steps_are_unique() {
        let steps = table::steps();
        let names: std::collections::BTreeSet<&str> = steps.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), steps.len());
    }
}
