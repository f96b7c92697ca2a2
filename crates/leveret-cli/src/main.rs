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
use std::process::ExitCode;

fn main() -> ExitCode {
    leveret_os::signals::outlive_the_file_size_limit();
    let result = match Arguments::parse().command {
        Command::Run(arguments) => return run::execute(arguments),
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
    result.unwrap_or_else(|failure| {
        output::fail(&failure);
        ExitCode::from(failure::EXIT_BAD_INPUT)
    })
}
