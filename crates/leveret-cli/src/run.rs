//! `leveret run`: start the members, watch, report.

use crate::arguments::{Format, MemberOutput, RunArguments};
use crate::failure::{EXIT_BAD_INPUT, EXIT_NO, Failure};
use crate::progress::Progress;
use crate::record::{PREVIOUS, RECORD_FILE};
use crate::{files, load, output, programs, report};
use leveret_agent::{AgentError, LaunchPlan, RunConfig};
use leveret_manifest::{Guard, Manifest, RECORD_LIMITS};
use leveret_os::facts::address_space_limit;
use leveret_os::scheduling::allowed_cores;
use leveret_os::signals::Interrupt;
use leveret_protocol::control::Horizon;
use leveret_report::record::RunRecord;
use leveret_report::{Report, json, storage, text};
use leveret_types::{ByteSize, printable};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// With the exit code.
type Failed = (u8, Failure);

fn bad_input(failure: Failure) -> Failed {
    (EXIT_BAD_INPUT, failure)
}

/// Runs a job. The exit code says whose the misses were: 0 none, 1 any of the job's, 3 only the machine's,
/// 4 other processes'. Of a job that a member aborted it is the member's.
///
/// # Errors
/// When nothing ran, or what was found cannot be written.
pub fn execute(arguments: &RunArguments) -> Result<ExitCode, Failed> {
    let manifest = job(arguments).map_err(bad_input)?;
    let config = configuration(&manifest, arguments).map_err(bad_input)?;
    prepare_directory(&arguments.output).map_err(bad_input)?;
    set_aside(&arguments.output).map_err(bad_input)?;
    let mut progress = Progress::new(arguments.quiet);
    // Also while the report is written: it is not left unfinished by a signal.
    let interrupt =
        Interrupt::install().map_err(|error| (EXIT_NO, Failure::from_text("signals", &error.to_string())))?;
    let record = leveret_agent::run(&config, &interrupt, &mut |news| progress.tell(&news));
    progress.finish();
    let record = record.map_err(|error| failed(arguments, &error))?;
    publish(&record, arguments, ByteSize(config.record_limit))
}

/// What the command line says, or the manifest; less, where the address space is too small for it.
fn record_limit(manifest: &Manifest, arguments: &RunArguments) -> Result<ByteSize, Failure> {
    let stated = arguments.record_limit.or(manifest.record_limit);
    let wanted = stated.unwrap_or(ByteSize(leveret_agent::RECORD_LIMIT));
    within_address_space(wanted, address_space_limit())
}

/// What a run takes of addresses beside its record.
const RUN_BYTES: u64 = 88 << 20;

/// Details grow by doubling, and the report is made beside them: of a record of some size twice as much is needed.
fn within_address_space(wanted: ByteSize, limit: Option<u64>) -> Result<ByteSize, Failure> {
    let Some(limit) = limit else { return Ok(wanted) };
    let (least, left) = (*RECORD_LIMITS.start(), limit.saturating_sub(RUN_BYTES) / 2);
    if left < least {
        return Err(Failure::new(
            format!(
                "the limit on address space is {} MiB (`ulimit -v`), which is too little for a run",
                limit >> 20
            ),
            format!(
                "raise it to {} MiB at least: `ulimit -v {}`",
                (RUN_BYTES + 2 * least) >> 20,
                (RUN_BYTES + 2 * least) >> 10
            ),
        ));
    }
    Ok(ByteSize(wanted.0.min(left)))
}

/// What the manifest says, or that so many members of a program are wanted.
fn job(arguments: &RunArguments) -> Result<Manifest, Failure> {
    let Some(members) = arguments.members else { return load::manifest(&arguments.job) };
    let shown = arguments.job.display();
    let Some(program) = arguments.job.to_str().filter(|program| !program.is_empty()) else {
        return Err(Failure::new(format!("{shown}: the program's name is empty or not UTF-8"), "rename it"));
    };
    if arguments.job.extension().is_some_and(|extension| extension == "toml") {
        return Err(Failure::new(
            format!("{shown}: `-n` starts members of a program, and this is a manifest"),
            format!("name the program, or let the manifest say what is started: `leveret run {shown}`"),
        ));
    }
    Ok(Manifest::of_program(program, members, allowed_cores()))
}

fn configuration(manifest: &Manifest, arguments: &RunArguments) -> Result<RunConfig, Failure> {
    let shown = arguments.job.display();
    let allowed = allowed_cores();
    if let Some(core) = manifest.declaration.cores.iter().find(|core| !allowed.contains(core)) {
        let listed: Vec<_> = allowed.iter().map(u32::to_string).collect();
        return Err(Failure::new(
            format!("{shown}: [host] cores names core {core}, which this process may not use"),
            format!("choose from {}", listed.join(", ")),
        ));
    }
    // A program is named from where the user stands, those of a manifest from where that lies.
    let from_here = arguments.members.is_some();
    let base = arguments.job.parent().filter(|_| !from_here).unwrap_or(Path::new(""));
    let extra = members_arguments(&arguments.arguments)?;
    let launch: Result<Vec<LaunchPlan>, Failure> = manifest
        .launch
        .iter()
        .map(|launch| {
            let (program, given) = launch.command.split_first().ok_or_else(|| {
                Failure::new(format!("{shown}: member \"{}\" has no command", launch.member), "give it one")
            })?;
            Ok(LaunchPlan {
                member: launch.member.clone(),
                program: programs::find(program, (base, &arguments.job), &launch.member)?,
                arguments: given.iter().chain(&extra).cloned().collect(),
                environment: launch.environment.clone(),
                // The report for programs must be all that stands there.
                stdout_to_stderr: arguments.format == Format::Json,
            })
        })
        .collect();
    let horizon = match (arguments.rounds.or(manifest.rounds), manifest.duration) {
        (Some(rounds), _) => Horizon::Rounds(rounds),
        (None, Some(duration)) => Horizon::Duration(duration),
        (None, None) => Horizon::Unbounded,
    };
    Ok(RunConfig {
        declaration: manifest.declaration.clone(),
        launch: launch?,
        policy: manifest.policy,
        horizon,
        scheduling: manifest.scheduling,
        costs: manifest.costs.costs(None),
        guard_fixed: manifest.costs.guard != Guard::Measured,
        off_tick: true,
        idle: arguments.idle.unwrap_or(manifest.idle),
        commit_within: arguments.commit_within,
        member_output: match arguments.member_output {
            MemberOutput::Lines => leveret_agent::MemberOutput::Lines,
            MemberOutput::Raw => leveret_agent::MemberOutput::Raw,
        },
        record_limit: record_limit(manifest, arguments)?.0,
        has_manifest: arguments.members.is_none(),
        journal: Some(arguments.output.join(RECORD_FILE)),
    })
}

/// Arguments travel as text; one that is none must not arrive as another.
fn members_arguments(given: &[OsString]) -> Result<Vec<String>, Failure> {
    let text = |argument: &OsString| {
        argument.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::new(
                format!("the argument {argument:?} for the members is not UTF-8"),
                "give arguments that are UTF-8",
            )
        })
    };
    given.iter().map(text).collect()
}

/// The report's place is made and tried before the run, not missed after it.
fn prepare_directory(directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|error| {
        Failure::new(
            format!("{}: the directory for the report cannot be made: {error}", directory.display()),
            "choose another with --output",
        )
    })?;
    let probe = directory.join(".leveret-probe");
    files::write(&probe, b"")?;
    std::fs::remove_file(&probe).map_err(|error| {
        Failure::new(
            format!("{}: the directory for the report is not usable: {error}", directory.display()),
            "choose another with --output",
        )
    })
}

/// What stands in the directory after a run is that run's: a former report is moved aside, where the next run
/// replaces it.
fn set_aside(directory: &Path) -> Result<(), Failure> {
    // What a crash may have left of a record that was made shorter; the record itself is whole without it.
    let _ = std::fs::remove_file(leveret_agent::part_of(&directory.join(RECORD_FILE)));
    let former: Vec<&str> = [RECORD_FILE]
        .into_iter()
        .chain(report::FILES)
        .filter(|name| directory.join(name).symlink_metadata().is_ok_and(|found| !found.is_dir()))
        .collect();
    if former.is_empty() {
        return Ok(());
    }
    let aside = directory.join(PREVIOUS);
    let moved = std::fs::create_dir_all(&aside).and_then(|()| {
        for name in [RECORD_FILE].into_iter().chain(report::FILES) {
            match std::fs::remove_file(aside.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        former.iter().try_for_each(|name| std::fs::rename(directory.join(name), aside.join(name)))
    });
    moved.map_err(|error| {
        Failure::new(
            format!("{}: the former report cannot be moved there: {error}", aside.display()),
            "choose another directory with --output",
        )
    })?;
    output::note(&format!("the former report was moved to {}", aside.display()));
    Ok(())
}

fn failed(arguments: &RunArguments, error: &AgentError) -> Failed {
    let shown = arguments.job.display();
    let failure = match error {
        AgentError::Refused(reason) => Failure {
            // Members' own words are in it.
            details: printable(reason),
            sentence: format!("{shown}: the job is refused"),
            hint: match arguments.members {
                Some(_) => "change what is named above, in the program or by the options of `leveret run`",
                None => "change what is named above: in the manifest, of which `leveret check` says without a run whether it fits, or in the programs, whose declarations meet \
                     in a run only",
            }
            .to_owned(),
        },
        AgentError::Launch { .. } => Failure::new(
            format!("{shown}: {error}"),
            "build the program, or name it with a path in the member's command",
        ),
        AgentError::OpenFiles { needed, .. } => {
            Failure::new(format!("{shown}: {error}"), format!("raise the limit: `ulimit -n {needed}`"))
        }
        AgentError::Aborted { .. } => Failure::new(
            format!("{shown}: {error}, before anything was committed"),
            "the member's own words stand above",
        ),
        AgentError::NothingRan(_) => {
            Failure::new(format!("{shown}: {error}"), "what the members printed stands above")
        }
        AgentError::System { .. } => {
            Failure::new(format!("{shown}: {error}"), "see `leveret doctor`, which says what this machine lacks")
        }
    };
    let code = match error {
        AgentError::Launch { .. } => EXIT_BAD_INPUT,
        AgentError::Aborted { code, .. } => *code,
        _ => EXIT_NO,
    };
    (code, failure)
}

fn publish(record: &RunRecord, arguments: &RunArguments, limit: ByteSize) -> Result<ExitCode, Failed> {
    let directory = &arguments.output;
    let report = Report::of(record);
    let bytes = storage::encode(record)
        .map_err(|error| bad_input(Failure::from_text("the record", &error.to_string())))?;
    // One that does not fit must not keep the others from being kept.
    let record_written = files::write_lasting(&directory.join(RECORD_FILE), &bytes);
    let report_written = report::write(&report, directory, limit);
    let shown = match arguments.format {
        Format::Json => json::text(&report),
        // Names in it may be of other programs' making.
        Format::Table => printable(&text::table_after_run(&report)),
    };
    // What was measured is shown even when the disk is full.
    output::print(&shown).map_err(bad_input)?;
    // With the report it has been said what there is to say to programs.
    if let Err(failure) = record_written.and(report_written) {
        output::fail(&failure);
        return Ok(ExitCode::from(EXIT_BAD_INPUT));
    }
    output::note(&format!(
        "report: {}   trace for ui.perfetto.dev: {}",
        directory.join("report.html").display(),
        directory.join("trace.json").display()
    ));
    Ok(ExitCode::from(report.assessment.exit_code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_fits_the_address_space_or_the_run_is_refused() {
        let (wanted, mib) = (ByteSize(200 << 20), |count: u64| Some(count << 20));
        let within = |limit| within_address_space(wanted, limit).map(|size| size.0 >> 20);
        assert_eq!(within(None), Ok(200));
        assert_eq!([mib(1024), mib(488), mib(146), mib(104)].map(within), [Ok(200), Ok(200), Ok(29), Ok(8)]);
        let refused = within(mib(103)).expect_err("no room for the least record");
        assert!(refused.sentence.contains("103 MiB (`ulimit -v`)"), "{refused}");
        assert!(refused.hint.contains("`ulimit -v 106496`"), "{refused}");
    }
}
