//! `cargo xtask demo`: builds what the ring needs and runs it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What builds the program, and the members of the ring.
pub const BUILD: &str =
    "build --release --locked -p leveret -p leveret-cli --bins --example ring --example ring-foreign";

const USAGE: &str = "demo takes --as-published, --rounds N and --output DIR";

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    as_published: bool,
    rounds: Option<u64>,
    output: PathBuf,
}

/// Builds and runs. Gives 0 when no miss was the job's, else the exit code of the run.
pub fn main(root: &Path, arguments: &[String]) -> Result<u8, String> {
    let request = parse(arguments)?;
    println!("building the release (a few minutes the first time)");
    let built = Command::new("cargo")
        .args(BUILD.split_whitespace())
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo could not start: {error}"))?;
    if !built.success() {
        return Err("the build failed".into());
    }
    let job = if request.as_published { "examples/ring/job.toml" } else { "examples/ring/demo.toml" };
    let mut command = Command::new(root.join("target/release/leveret"));
    command.args(["run", job, "--output"]).arg(&request.output).current_dir(root);
    if let Some(rounds) = request.rounds {
        command.args(["--rounds", &rounds.to_string()]);
    }
    let status =
        command.status().map_err(|error| format!("target/release/leveret could not start: {error}"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    println!("\n{}", explanation(code));
    let report = root.join(&request.output).join("report.html");
    if report.exists() {
        println!("The report is {}", report.display());
    }
    // Misses of the machine and of other processes are no failure of the demonstration, and make would call any other code an error.
    Ok(if matches!(code, 3 | 4) { 0 } else { code })
}

/// What an exit code of `leveret run` means.
fn explanation(code: u8) -> &'static str {
    match code {
        0 => "The run's exit code is 0: no instance missed its window.",
        1 => {
            "The run's exit code is 1: a miss was the job's or unproven, or a message was lost, corrupt or out of order; the summary says which. Without \
             the rights to watch whole cores nothing is proven: `leveret doctor` says what this machine lacks."
        }
        2 => {
            "The run's exit code is 2: the job was refused as bad input; the message above says where and how to mend it."
        }
        3 => {
            "The run's exit code is 3: every miss was the machine's, and each is listed with its evidence. Leveret's own count is 0."
        }
        4 => {
            "The run's exit code is 4: other processes had the cores, and perhaps the machine stood still; each miss is listed with \
             who made it. Leveret's own count is 0."
        }
        _ => "The run ended in a way that no exit code describes; the message above should say how.",
    }
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request { as_published: false, rounds: None, output: "out".into() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--as-published" => request.as_published = true,
            "--rounds" => {
                let number = rest.next().and_then(|text| text.parse().ok());
                request.rounds = Some(number.ok_or_else(|| format!("--rounds takes a number; {USAGE}"))?);
            }
            "--output" => {
                let folder = rest.next().ok_or_else(|| format!("--output takes a folder; {USAGE}"))?;
                request.output = folder.into();
            }
            other => return Err(format!("'{other}' is unknown; {USAGE}")),
        }
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn arguments_are_understood_or_refused() {
        let request = parse(&words("--as-published --rounds 50 --output x")).expect("these are known");
        assert_eq!(request, Request { as_published: true, rounds: Some(50), output: "x".into() });
        for bad in ["--rounds", "--rounds many", "--output", "ring"] {
            let message = parse(&words(bad)).expect_err("it is refused");
            assert!(message.contains(USAGE), "{message}");
        }
    }

    #[test]
    fn every_exit_code_is_explained_in_its_own_words() {
        let texts: std::collections::BTreeSet<_> = (0..5).map(explanation).collect();
        assert_eq!(texts.len(), 5);
    }
}
