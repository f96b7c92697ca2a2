//! The project's own chores: `cargo xtask help` lists them.
#![forbid(unsafe_code)]

mod bench;
mod demo;
mod deny;
mod install;
mod mutants;
mod source;
mod spec;
mod steps;
mod tidy;
mod workspace;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND [ARGUMENTS]

  ci [--strict] [--list] [--fuzz-seconds N] [STEP...]   every check, or the named ones
  fuzz [--seconds N] [TARGET...]                        every fuzz target for an hour, or so long; keeps
                                                        what they found worth keeping, and the record
  tidy                                                  layers, sizes, bans, documents
  spec [--open] [--format json|table] [--header]        requirements, and the tests that show them
       [--page FILE]
  deny                                                  licences and sources of dependencies
  demo [--as-published] [--rounds N] [--output DIR]     build, then run the ring
  bench [NAME] [ARGUMENTS]                              install the peers, then measure
  bench-plan [ARGUMENTS]                                the planner of networks, beside tsnkit and z3
  mutants [--shard K/N] [--file PATH] [AREA...]         one change of the code at a time: does a test fail?
  install [--prefix DIR] [--destdir DIR] [--from DIR]   the program, the C library, its headers and manual
  help                                                  this text";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = workspace::root();
    let (command, rest) =
        arguments.split_first().map_or(("help", &[][..]), |(name, rest)| (name.as_str(), rest));
    let asks = rest.iter().any(|argument| argument == "--help" || argument == "-h");
    let result = match if asks { "help" } else { command } {
        "ci" => steps::main(root, rest),
        "fuzz" => steps::fuzz_for_long(root, rest),
        "tidy" => report(tidy::run(&root)),
        "deny" => report(deny::run(&root)),
        "spec" => spec::main(&root, rest),
        "demo" => demo::main(&root, rest),
        "bench" => bench::main(&root, rest),
        "bench-plan" => bench::plan(&root, rest),
        "mutants" => mutants::main(&root, rest),
        "install" => install::main(&root, rest),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(0)
        }
        other => Err(format!("'{other}' is unknown\n\n{HELP}")),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}

/// Prints what a check found; the exit code is 1 if that is anything.
fn report(result: Result<String, Vec<String>>) -> Result<u8, String> {
    match result {
        Ok(about) => {
            println!("{about}");
            Ok(0)
        }
        Err(findings) => {
            findings.iter().for_each(|finding| println!("{finding}"));
            println!("{} findings", findings.len());
            Ok(1)
        }
    }
}
