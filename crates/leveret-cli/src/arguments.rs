//! The command line. The help texts are the reference: `docs/cli.md` repeats them, and a test compares.

use crate::help;
use clap::builder::{PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use leveret_exchange::gates::LARGEST_FRAME;
use leveret_manifest::RECORD_LIMITS;
use leveret_types::{ByteSize, IdleCores, MEMBERS_MAX, Nanos, ParseSizeError};
use std::path::PathBuf;

/// Time-driven message passing that is admitted, planned, watched and explained.
#[derive(Parser, Debug)]
#[command(
    name = "leveret",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = help::PROGRAM
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run a job: start its members, commit, watch every cycle, report.
    Run(RunArguments),
    /// Say whether a job is admitted, and why not.
    Check(CheckArguments),
    /// Say at length why a job or network is refused, and what would fit.
    Explain(ExplainArguments),
    /// Print a job's time table.
    Plan(PlanArguments),
    /// Check a stored plan against its job, without trusting the planner.
    Verify(VerifyArguments),
    /// Draw a plan as a page for a browser, which can be zoomed.
    Gantt(GanttArguments),
    /// Say what differs between two plans of networks, with or without tasks on their hosts.
    Diff(DiffArguments),
    /// Make the manifest of a network from another tool's files.
    Import(ImportArguments),
    /// Write a plan as other tools' files: gates for Linux, for example.
    Export(ExportArguments),
    /// Set the gates of a plan at this host's network interfaces (Linux, taprio).
    Apply(ApplyArguments),
    /// Make the report of a run anew from its record.
    Report(ReportArguments),
    /// Explain one instance of a task or channel: its timeline and the verdict.
    Why(WhyArguments),
    /// Name what this machine lacks for real time, each with the line that fixes it.
    Doctor(DoctorArguments),
    /// Print the completions for a shell.
    Completions(CompletionsArguments),
    /// Write the manual pages of this program into a folder.
    Manual(ManualArguments),
}

impl Command {
    /// Whether standard output is for programs.
    pub fn is_for_programs(&self) -> bool {
        let format = match self {
            Self::Run(arguments) => arguments.format,
            Self::Check(arguments) => arguments.format,
            Self::Explain(arguments) => arguments.format,
            Self::Plan(arguments) => arguments.format,
            Self::Diff(arguments) => arguments.format,
            Self::Report(arguments) => arguments.format,
            Self::Why(arguments) => arguments.format,
            Self::Doctor(arguments) => arguments.format,
            Self::Export(arguments) => return arguments.format == TableFormat::Json,
            Self::Verify(_)
            | Self::Gantt(_)
            | Self::Import(_)
            | Self::Apply(_)
            | Self::Completions(_)
            | Self::Manual(_) => return false,
        };
        format == Format::Json
    }
}

/// How results are printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
}

/// How `leveret run` passes on what members print.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemberOutput {
    /// Line by line with the member's name, control characters as escapes.
    #[default]
    Lines,
    /// As it is: members have the streams of `leveret run`.
    Raw,
}

/// Arguments of `leveret run`.
#[derive(Args, Debug)]
#[command(after_help = help::RUN)]
pub struct RunArguments {
    /// The manifest; with `-n` the program.
    #[arg(value_name = "JOB.toml|PROGRAM")]
    pub job: PathBuf,
    /// Start so many members of one program, named 0 to N-1, without a manifest: they declare everything in code.
    #[arg(short = 'n', long = "members", value_name = "N", value_parser = count(MEMBERS_MAX as u32))]
    pub members: Option<u32>,
    /// Directory for the report; made when missing.
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub output: PathBuf,
    /// Hyperperiods to run per commit, instead of what the manifest says.
    #[arg(long, value_name = "N", value_parser = whole(1, u64::MAX))]
    pub rounds: Option<u64>,
    /// What the job's cores do while nothing of it runs, instead of what `idle` in [host] says: sleep, spin at the lowest
    /// class, which makes wake-ups shorter, or what a measurement says is better.
    #[arg(long, value_name = "IDLE", value_parser = idle_cores())]
    pub idle: Option<IdleCores>,
    /// How long the members that have committed wait for one that does not, before it is killed. For modes, switches and group commits a timeout refuses the
    /// request; no member is killed. A member that is inside the call, setting up what is to be committed, has 5 min at least.
    #[arg(long, value_name = "DURATION", default_value = "5min")]
    pub commit_within: Nanos,
    /// How what members print is passed on.
    #[arg(long, value_name = "MODE", value_enum, default_value_t)]
    pub member_output: MemberOutput,
    /// The most bytes that the record of the run takes, in memory and on disk together, instead of what the manifest says. Default:
    /// 200MiB. Of a longer run counts and distributions stay exact; kept in detail are the first instances, the worst, those
    /// around misses, and a uniform part of the others.
    #[arg(long, value_name = "SIZE", value_parser = record_limit)]
    pub record_limit: Option<ByteSize>,
    /// How the results are printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print no progress line.
    #[arg(long, short)]
    pub quiet: bool,
    /// Arguments for every member, after those of its command.
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<std::ffi::OsString>,
}

fn record_limit(given: &str) -> Result<ByteSize, String> {
    let (least, most) = (ByteSize(*RECORD_LIMITS.start()), ByteSize(*RECORD_LIMITS.end()));
    match given.parse::<ByteSize>() {
        Ok(size) if RECORD_LIMITS.contains(&size.0) => Ok(size),
        Ok(size) if size < least => {
            Err(format!("{size} are too few for a record and its report; give {least} or more"))
        }
        Ok(size) => Err(format!("{size} are more than {most}, which is the most")),
        Err(error) => Err(error.to_string()),
    }
}

fn idle_cores() -> impl TypedValueParser<Value = IdleCores> {
    PossibleValuesParser::new(IdleCores::NAMES.map(|(name, _)| name)).map(|given| {
        let named = IdleCores::NAMES.into_iter().find(|(name, _)| *name == given);
        named.map(|(_, idle)| idle).unwrap_or_default()
    })
}

/// How many of something, at least one.
fn count(most: u32) -> impl TypedValueParser<Value = u32> {
    TypedValueParser::try_map(StringValueParser::new(), move |given| {
        whole(1, u64::from(most))(&given).map(|count| count as u32)
    })
}

fn instance(given: &str) -> Result<u64, String> {
    given.parse().map_err(|_| {
        "an instance is a whole number from 0, as the report names it beside the task or channel: `leveret why DIR NAME 17`".to_owned()
    })
}

/// A whole number within a range; what is none is told as what is beyond it.
fn whole(least: u64, greatest: u64) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |given| {
        let is_whole = !given.is_empty() && given.bytes().all(|byte| byte.is_ascii_digit());
        match given.parse() {
            Ok(number) if (least..=greatest).contains(&number) => Ok(number),
            _ if !is_whole => Err("it takes a whole number".to_owned()),
            _ if greatest == u64::MAX => Err(format!("it takes a whole number from {least}")),
            _ => Err(format!("{given} is not in {least}..={greatest}")),
        }
    }
}

/// How a plan of a network is sought.
#[derive(Args, Clone, Copy, Debug)]
pub struct SearchArguments {
    /// How many searches for a network's plan run beside each other, each on a core and by another strategy, once the first one has not found it soon. The same
    /// number gives the same plan. Default: number of cores.
    #[arg(long, value_name = "N", value_parser = count(THREADS_MAX))]
    pub threads: Option<u32>,
    /// Chooses among plans of a network that are as good to the search; the same seed gives the same plan.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// How far each search for a network's plan, and for a proof that there is none, may go. Default: 20000000; for `explain` 100000000.
    #[arg(long, value_name = "STEPS")]
    pub steps: Option<u64>,
}

/// Searches that may run beside each other.
const THREADS_MAX: u32 = 256;

/// Arguments of `leveret check`.
#[derive(Args, Debug)]
#[command(after_help = help::CHECK)]
pub struct CheckArguments {
    /// The manifest.
    #[arg(value_name = "JOB.toml")]
    pub manifest: PathBuf,
    /// Propose budgets from the run whose report lies in this directory.
    #[arg(long, value_name = "DIR")]
    pub learn: Option<PathBuf>,
    /// How a plan is sought.
    #[command(flatten)]
    pub search: SearchArguments,
    /// How the answer is printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `leveret explain`.
#[derive(Args, Debug)]
#[command(after_help = help::EXPLAIN)]
pub struct ExplainArguments {
    /// The manifest.
    #[arg(value_name = "JOB.toml")]
    pub manifest: PathBuf,
    /// Also write what proves the refusal of a network, with or without tasks on its hosts, to this file; `leveret verify` checks it.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// How a plan is sought.
    #[command(flatten)]
    pub search: SearchArguments,
    /// How the answer is printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `leveret plan`.
#[derive(Args, Debug)]
#[command(after_help = help::PLAN)]
pub struct PlanArguments {
    /// The manifest.
    #[arg(value_name = "JOB.toml")]
    pub manifest: PathBuf,
    /// How the plan is printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Keep what this plan of a network, with or without tasks on its hosts, has where it is; with its manifest. Only what is new, changed or in their way is placed.
    #[arg(long, value_names = ["PLAN.json", "OLD.toml"], num_args = 2)]
    pub keep: Option<Vec<PathBuf>>,
    /// How a plan is sought.
    #[command(flatten)]
    pub search: SearchArguments,
    /// Also write the plan as JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Where the search for a network's plan ends before all channels have a place, write what has one to this file. It is no plan: `leveret verify` refuses it.
    #[arg(long, value_name = "FILE")]
    pub partial: Option<PathBuf>,
}

/// Arguments of `leveret verify`.
#[derive(Args, Debug)]
#[command(after_help = help::VERIFY)]
pub struct VerifyArguments {
    /// The plan, as `leveret plan --output` writes it; or a certificate, as `leveret explain --certificate` does.
    #[arg(value_name = "PLAN.json")]
    pub plan: PathBuf,
    /// The manifest that it should fit.
    #[arg(value_name = "JOB.toml")]
    pub manifest: PathBuf,
}

/// Arguments of `leveret gantt`.
#[derive(Args, Debug)]
#[command(after_help = help::GANTT)]
pub struct GanttArguments {
    /// The manifest: of a job, of a network, or of hosts with tasks and the network between them.
    #[arg(value_name = "JOB.toml")]
    pub manifest: PathBuf,
    /// Draw this plan, as `leveret plan --output` writes it, instead of making one.
    #[arg(long, value_name = "PLAN.json")]
    pub plan: Option<PathBuf>,
    /// How a plan is sought.
    #[command(flatten)]
    pub search: SearchArguments,
    /// The page.
    #[arg(long, value_name = "FILE.html", default_value = "plan.html")]
    pub output: PathBuf,
    /// Draw from this instant on, from the start of the hyperperiod.
    #[arg(long, value_name = "DURATION")]
    pub from: Option<Nanos>,
    /// Draw until this instant.
    #[arg(long, value_name = "DURATION")]
    pub until: Option<Nanos>,
    /// Draw this channel, task or chain alone; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub channel: Vec<String>,
}

/// Arguments of `leveret diff`.
#[derive(Args, Debug)]
#[command(after_help = help::DIFF)]
pub struct DiffArguments {
    /// The one plan, and its manifest.
    #[arg(value_names = ["PLAN.json", "JOB.toml"], num_args = 2, required = true)]
    pub first: Vec<PathBuf>,
    /// The other plan, and its manifest.
    #[arg(long = "to", value_names = ["PLAN.json", "JOB.toml"], num_args = 2, required = true)]
    pub second: Vec<PathBuf>,
    /// How the differences are printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `leveret import`.
#[derive(Args, Debug)]
#[command(after_help = help::IMPORT)]
pub struct ImportArguments {
    /// Whose files they are.
    #[arg(value_enum)]
    pub from: ImportFormat,
    /// The topology: `link,q_num,rate,t_proc,t_prop`.
    #[arg(value_name = "TOPOLOGY.csv")]
    pub topology: PathBuf,
    /// The streams: `stream,src,dst,size,period,deadline,jitter`.
    #[arg(value_name = "STREAMS.csv")]
    pub streams: PathBuf,
    /// Write the manifest to this file, instead of printing it.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Whose files `leveret import` reads.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportFormat {
    /// An instance of the tsnkit collection.
    Tsnkit,
}

/// Arguments of `leveret export`.
#[derive(Args, Debug)]
#[command(after_help = help::EXPORT)]
pub struct ExportArguments {
    /// For whom.
    #[arg(value_enum)]
    pub to: ExportFormat,
    /// The plan, as `leveret plan --output` writes it.
    #[arg(value_name = "PLAN.json")]
    pub plan: PathBuf,
    /// The manifest that it is for.
    #[arg(value_name = "JOB.toml")]
    pub manifest: PathBuf,
    /// Where to: for tsnkit what the names of the files begin with (`PREFIX-GCL.csv` and so on), for taprio a directory, for the others a file; where
    /// it is left out, `schedule` for the former two, and the others are printed.
    #[arg(long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// How tables are written; the other formats have one form.
    #[arg(long, value_enum, default_value_t)]
    pub format: TableFormat,
    /// The longest frame of other traffic on the wire, preamble and gap included; gates close so long before a slot.
    #[arg(long, value_name = "SIZE", default_value_t = LARGEST_FRAME, value_parser = frame())]
    pub largest_frame: ByteSize,
}

/// From the smallest frame to more than any jumbo frame has.
fn frame() -> impl Fn(&str) -> Result<ByteSize, String> + Clone + Send + Sync + 'static {
    |given| {
        let size: ByteSize = given.parse().map_err(|error: ParseSizeError| error.to_string())?;
        match size.0 {
            84..=65_536 => Ok(size),
            _ => Err(format!("a frame has 84 B to 64 KiB on the wire, and not {size}")),
        }
    }
}

/// Arguments of `leveret apply`.
#[derive(Args, Debug)]
#[command(after_help = help::APPLY)]
pub struct ApplyArguments {
    /// The plan, as `leveret plan --output` writes it.
    #[arg(value_name = "PLAN.json")]
    pub plan: PathBuf,
    /// The manifest that it is for.
    #[arg(value_name = "JOB.toml")]
    pub manifest: PathBuf,
    /// Which node of the network this host is.
    #[arg(long, value_name = "NODE")]
    pub node: String,
    /// The interface that leads to a neighbour; may be given several times.
    #[arg(long, value_name = "NEIGHBOUR=INTERFACE", required = true, value_parser = port())]
    pub port: Vec<(String, String)>,
    /// An instant at which a hyperperiod starts, in ns of CLOCK_TAI, the same on all nodes. 0: hyperperiods start at multiples of their length.
    #[arg(long, value_name = "NS", default_value_t = 0)]
    pub base_time: i64,
    /// The interface keeps gates and shapers, if it can, instead of the kernel by its clock.
    #[arg(long)]
    pub offload: bool,
    /// Set nothing, and print the lists and the messages.
    #[arg(long)]
    pub dry_run: bool,
    /// The longest frame of other traffic on the wire, preamble and gap included; gates close so long before a slot.
    #[arg(long, value_name = "SIZE", default_value_t = LARGEST_FRAME, value_parser = frame())]
    pub largest_frame: ByteSize,
}

/// A neighbour and the interface that leads there; names of interfaces have no `=`.
fn port() -> impl Fn(&str) -> Result<(String, String), String> + Clone + Send + Sync + 'static {
    |given| match given.rsplit_once('=') {
        Some((neighbour, interface)) if !neighbour.is_empty() && !interface.is_empty() => {
            Ok((neighbour.to_owned(), interface.to_owned()))
        }
        _ => Err("it takes the name of a neighbour, =, and that of an interface".to_owned()),
    }
}

/// For whom `leveret export` writes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportFormat {
    /// The simulator of the tsnkit collection: gates, offsets, queues, routes.
    Tsnkit,
    /// Linux: a script for each node that sets the gates of its ports with `tc`.
    Taprio,
    /// Managed switches: gates as the YANG modules of IEEE 802.1Qcw have them, and the ports and queues of each stream; JSON.
    Yang,
    /// Hosts: when each message is sent, for SO_TXTIME or a program that goes by the clock; CSV.
    Launch,
    /// The time tables of a job's host, or of all hosts with tasks: what runs when, what it reads and writes; CSV or JSON.
    Tables,
}

/// How `leveret export tables` writes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TableFormat {
    /// Values between commas.
    #[default]
    Csv,
    /// For programs.
    Json,
}

/// Arguments of `leveret report`.
#[derive(Args, Debug)]
#[command(after_help = help::REPORT)]
pub struct ReportArguments {
    /// The directory that `leveret run` wrote.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// How the results are printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `leveret why`.
#[derive(Args, Debug)]
#[command(after_help = help::WHY)]
pub struct WhyArguments {
    /// The directory that `leveret run` wrote.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// A task or a channel.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Which instance.
    #[arg(value_name = "INSTANCE", value_parser = instance, allow_negative_numbers = true)]
    pub instance: u64,
    /// How the explanation is printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `leveret doctor`.
#[derive(Args, Debug)]
#[command(after_help = help::DOCTOR)]
pub struct DoctorArguments {
    /// How the findings are printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `leveret completions`.
#[derive(Args, Debug)]
#[command(after_help = help::COMPLETIONS)]
pub struct CompletionsArguments {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Arguments of `leveret manual`.
#[derive(Args, Debug)]
#[command(after_help = help::MANUAL)]
pub struct ManualArguments {
    /// The folder; made when missing.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
