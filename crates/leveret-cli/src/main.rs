//! The `leveret` program. Every command is one module; here they are chosen, and failures become exit codes.
#![forbid(unsafe_code)]

mod apply;
mod arguments;
mod check;
mod completions;
mod diff;
mod doctor;
mod explain;
mod export;
mod failure;
mod files;
mod gantt;
mod help;
mod import;
mod keep;
mod learn;
mod load;
mod manual;
mod network;
mod output;
mod plan;
mod programs;
mod progress;
mod record;
mod refusal;
mod report;
mod run;
mod system;
mod verify;
mod why;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    leveret_os::signals::outlive_the_file_size_limit();
    let command = Arguments::parse().command;
    let is_for_programs = command.is_for_programs();
    let bad_input = |failure| (failure::EXIT_BAD_INPUT, failure);
    let result = match command {
        Command::Run(arguments) => return ended(run::execute(&arguments), is_for_programs),
        Command::Check(arguments) => check::execute(&arguments),
        Command::Explain(arguments) => explain::execute(&arguments),
        Command::Plan(arguments) => plan::execute(&arguments),
        Command::Verify(arguments) => verify::execute(&arguments),
        Command::Gantt(arguments) => gantt::execute(&arguments),
        Command::Import(arguments) => import::execute(&arguments),
        Command::Export(arguments) => export::execute(&arguments),
        Command::Apply(arguments) => apply::execute(&arguments),
        Command::Diff(arguments) => diff::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments),
        Command::Why(arguments) => why::execute(&arguments),
        Command::Doctor(arguments) => doctor::execute(&arguments),
        Command::Completions(arguments) => completions::execute(&arguments),
        Command::Manual(arguments) => manual::execute(&arguments),
    };
    ended(result.map_err(bad_input), is_for_programs)
}

/// Tells what went wrong; programs read it where the result would stand.
fn ended(result: Result<ExitCode, (u8, Failure)>, is_for_programs: bool) -> ExitCode {
    result.unwrap_or_else(|(code, failure)| {
        output::fail(&failure);
        if is_for_programs {
            // That standard output cannot be written has been said, if that is what went wrong.
            let _ = output::json(&failure).and_then(|text| output::print(&text));
        }
        ExitCode::from(code)
    })
}
