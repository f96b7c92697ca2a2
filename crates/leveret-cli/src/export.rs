//! `leveret export`.

use crate::arguments::{ExportArguments, ExportFormat, TableFormat};
use crate::failure::{EXIT_NO, Failure};
use crate::load::Document;
use crate::{files, load, network, output, system, verify};
use leveret_exchange::classes::{Priorities, priorities};
use leveret_exchange::gates::{self, Gates};
use leveret_exchange::{launch, tables, taprio, tsnkit, yang};
use leveret_manifest::{Manifest, NetworkManifest};
use leveret_plan::checker::{self, check_network, check_system};
use leveret_plan::grid;
use leveret_plan::network::{NetworkPlan, Traffic};
use leveret_plan::system::{System, parts};
use leveret_types::ByteSize;
use std::cmp::Reverse;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes a plan in another tool's files, once the checker has accepted it.
///
/// # Errors
/// When the plan or its manifest cannot be read, or a file not be written.
pub fn execute(arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    let shown = arguments.manifest.display();
    match (load::document(&arguments.manifest)?, arguments.to) {
        (Document::Job(manifest), ExportFormat::Tables) => of_job(arguments, &manifest),
        (Document::Network(manifest), to) => match &manifest.system {
            Some(system) => of_system(arguments, system),
            None if to != ExportFormat::Tables => of_network(arguments, &manifest),
            None => {
                let sentence = format!("{shown}: this is the manifest of a network, which has no tasks");
                Err(Failure::new(sentence, "`launch` says when its hosts send"))
            }
        },
        (Document::Job(_), _) => {
            let sentence = format!("{shown}: this is the manifest of a job on one host");
            let hint =
                "only `tables` is made of its plan; the others are of networks; docs/network-manifest.md";
            Err(Failure::new(sentence, hint))
        }
    }
}

fn of_job(arguments: &ExportArguments, manifest: &Manifest) -> Result<ExitCode, Failure> {
    let (plan, job) = verify::plan_and_job(&arguments.plan, &arguments.manifest, manifest)?;
    if let Err(violations) = checker::check(&plan, &job) {
        output::print(&verify::not_valid(&arguments.plan, &arguments.manifest, &violations))?;
        return Ok(ExitCode::from(EXIT_NO));
    }
    let text = match arguments.format {
        TableFormat::Csv => tables::write(&job, &plan),
        TableFormat::Json => tables::write_json(&job, &plan),
    };
    give(arguments.output.as_deref(), &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Of hosts with tasks the tables, and of the network between them all that is written of a network.
fn of_system(arguments: &ExportArguments, system: &System) -> Result<ExitCode, Failure> {
    if arguments.to == ExportFormat::Tsnkit {
        let sentence = format!("{}: a network with tasks on its hosts", arguments.manifest.display());
        return Err(Failure::new(sentence, "the simulator of tsnkit knows no tasks; the other formats do"));
    }
    let plan = system::read(&arguments.plan)?;
    if let Err(violations) = check_system(&plan, system) {
        output::print(&verify::not_valid(&arguments.plan, &arguments.manifest, &violations))?;
        return Ok(ExitCode::from(EXIT_NO));
    }
    if arguments.to == ExportFormat::Tables {
        let text = match arguments.format {
            TableFormat::Csv => tables::write_system(system, &plan),
            TableFormat::Json => tables::write_system_json(system, &plan),
        };
        give(arguments.output.as_deref(), &text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let traffic = &parts(system, &plan.windows).traffic;
    write(arguments, &Planned { name: &system.name, traffic, plan: &plan.network })?;
    Ok(ExitCode::SUCCESS)
}

fn of_network(arguments: &ExportArguments, manifest: &NetworkManifest) -> Result<ExitCode, Failure> {
    let traffic = &manifest.traffic;
    let plan = network::read(&arguments.plan)?;
    if let Err(violation) = check_network(&plan, traffic) {
        output::print(&network::not_valid(&arguments.plan, &arguments.manifest, &violation))?;
        return Ok(ExitCode::from(EXIT_NO));
    }
    if arguments.to == ExportFormat::Tsnkit {
        to_tsnkit(arguments, manifest, &plan)?;
    } else {
        write(arguments, &Planned { name: &manifest.name, traffic, plan: &plan })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A network with its plan.
pub struct Planned<'a> {
    /// Its name.
    pub name: &'a str,
    /// What moves on it.
    pub traffic: &'a Traffic,
    /// When.
    pub plan: &'a NetworkPlan,
}

/// Does something with the network of a manifest and its plan, once the checker has accepted it.
///
/// # Errors
/// When the plan or its manifest cannot be read, or is of a job on one host; and those of `act`.
pub fn with_network(
    plan_path: &Path,
    path: &Path,
    act: &mut dyn FnMut(&Planned<'_>) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    match load::document(path)? {
        Document::Job(_) => {
            let sentence = format!("{}: this is the manifest of a job on one host", path.display());
            Err(Failure::new(sentence, "gates are of networks; docs/network-manifest.md"))
        }
        Document::Network(manifest) => match &manifest.system {
            Some(system) => {
                let plan = system::read(plan_path)?;
                if let Err(violations) = check_system(&plan, system) {
                    output::print(&verify::not_valid(plan_path, path, &violations))?;
                    return Ok(ExitCode::from(EXIT_NO));
                }
                let traffic = &parts(system, &plan.windows).traffic;
                act(&Planned { name: &system.name, traffic, plan: &plan.network })?;
                Ok(ExitCode::SUCCESS)
            }
            None => {
                let plan = network::read(plan_path)?;
                if let Err(violation) = check_network(&plan, &manifest.traffic) {
                    output::print(&network::not_valid(plan_path, path, &violation))?;
                    return Ok(ExitCode::from(EXIT_NO));
                }
                act(&Planned { name: &manifest.name, traffic: &manifest.traffic, plan: &plan })?;
                Ok(ExitCode::SUCCESS)
            }
        },
    }
}

/// What ports and hosts are given of a network.
fn write(arguments: &ExportArguments, planned: &Planned<'_>) -> Result<(), Failure> {
    let given = priorities(planned.traffic, planned.plan);
    match arguments.to {
        ExportFormat::Taprio => to_taprio(arguments, planned, &given),
        ExportFormat::Yang => to_yang(arguments, planned, &given),
        ExportFormat::Launch => {
            let text = launch::write(planned.name, planned.traffic, planned.plan, &given);
            give(arguments.output.as_deref(), &text)
        }
        // Neither is of ports and hosts.
        ExportFormat::Tsnkit | ExportFormat::Tables => Ok(()),
    }
}

/// Writes a text to a file, or prints it.
fn give(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    match path {
        Some(path) => {
            files::write(path, text.as_bytes())?;
            output::note(&format!("written: {}", path.display()));
            Ok(())
        }
        None => output::print(text),
    }
}

/// What is written to where no place is named, and there are several files.
fn place(arguments: &ExportArguments) -> PathBuf {
    arguments.output.clone().unwrap_or_else(|| PathBuf::from("schedule"))
}

fn to_tsnkit(
    arguments: &ExportArguments,
    manifest: &NetworkManifest,
    plan: &NetworkPlan,
) -> Result<(), Failure> {
    let schedule = tsnkit::write(&manifest.traffic, plan);
    let mut written = Vec::new();
    for (end, content) in [
        ("GCL", &schedule.gates),
        ("OFFSET", &schedule.offsets),
        ("QUEUE", &schedule.queues),
        ("ROUTE", &schedule.routes),
    ] {
        let mut path = place(arguments).into_os_string();
        path.push(format!("-{end}.csv"));
        let path = PathBuf::from(path);
        files::write(&path, content.as_bytes())?;
        written.push(path.display().to_string());
    }
    output::note(&format!("written: {}: the plan of {}", written.join(", "), network::described(manifest)));
    Ok(())
}

fn to_taprio(arguments: &ExportArguments, planned: &Planned<'_>, given: &Priorities) -> Result<(), Failure> {
    let traffic = planned.traffic;
    let gates = gates_of(&arguments.manifest, arguments.largest_frame, planned)?;
    let folder = place(arguments);
    std::fs::create_dir_all(&folder).map_err(|error| {
        let sentence = format!("{}: the directory could not be made: {error}", folder.display());
        Failure::new(sentence, "name a directory that exists or can be made")
    })?;
    for (name, script) in taprio::write(traffic, &gates, given, arguments.largest_frame) {
        files::write(&folder.join(name), script.as_bytes())?;
    }
    output::note(&format!("written: a file for each node in {}", folder.display()));
    output::print(
        &(ports(traffic, &gates)
            + &remarks(traffic, given)
            + &beside(traffic, &gates, given, arguments.largest_frame)),
    )
}

fn to_yang(arguments: &ExportArguments, planned: &Planned<'_>, given: &Priorities) -> Result<(), Failure> {
    let traffic = planned.traffic;
    let gates = gates_of(&arguments.manifest, arguments.largest_frame, planned)?;
    let document = yang::write(planned.name, traffic, planned.plan, &gates, given)
        .map_err(|error| Failure::from_text(&arguments.manifest.display().to_string(), &error.to_string()))?;
    give(arguments.output.as_deref(), &document)?;
    let told = ports(traffic, &gates)
        + &remarks(traffic, given)
        + &beside(traffic, &gates, given, arguments.largest_frame);
    match &arguments.output {
        Some(_) => output::print(&told)?,
        None => output::note(told.trim_end()),
    }
    Ok(())
}

/// The gates of all ports.
///
/// # Errors
/// A port with more classes than there can be.
pub fn gates_of(
    manifest: &Path,
    largest_frame: ByteSize,
    planned: &Planned<'_>,
) -> Result<Vec<Gates>, Failure> {
    gates::gates(planned.traffic, planned.plan, largest_frame)
        .map_err(|error| Failure::from_text(&manifest.display().to_string(), &error.to_string()))
}

/// Most ports that are listed.
const ROWS_MAX: usize = 40;

/// How many entries lists of gates usually have room for.
const LISTS: [usize; 7] = [16, 32, 64, 128, 256, 512, 1024];

/// The ports by the length of their lists: what a switch takes of them is in its data sheet.
fn ports(traffic: &Traffic, gates: &[Gates]) -> String {
    let mut order: Vec<&Gates> = gates.iter().collect();
    order.sort_by_key(|port| (Reverse(port.entries.len()), port.link));
    let head = ["port", "entries", "cycle", "classes", "guard"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for port in order.iter().take(ROWS_MAX) {
        let (entries, classes) = (port.entries.len().to_string(), port.classes().to_string());
        let name = traffic.network.link_name(port.link);
        rows.push(vec![name, entries, port.cycle.to_string(), classes, port.guard.to_string()]);
    }
    let mut text = grid(&rows);
    // Writing to a text does not fail.
    if order.len() > ROWS_MAX {
        let _ = writeln!(text, "  ... and {} more ports, with shorter lists", order.len() - ROWS_MAX);
    }
    let Some(longest) = order.first() else { return text };
    let entries = longest.entries.len();
    let (least, most) = (LISTS[0], LISTS[LISTS.len() - 1]);
    let enough = match LISTS.into_iter().find(|list| *list >= entries) {
        Some(enough) => format!("a port needs room for {enough}"),
        None => "periods that are multiples of each other make shorter ones".to_owned(),
    };
    let name = traffic.network.link_name(longest.link);
    let _ = writeln!(
        text,
        "\nlongest list: {entries} entries, of {name}; {enough}. Ports usually have room for {least} to {most}: see their data sheets"
    );
    text
}

/// What beside the plan decides whether the gates do what they should.
fn remarks(traffic: &Traffic, given: &Priorities) -> String {
    let mut text = String::new();
    let frames = &traffic.network.frames;
    // Writing to a text does not fail.
    if frames.overhead.0 < ETHERNET_OVERHEAD {
        let _ = writeln!(
            text,
            "note: the plan counts {} beside the payload of a frame, and Ethernet has {ETHERNET_OVERHEAD} B (preamble, header, check, gap): the gates are too \
             short for frames with such payloads; `overhead` in [network]",
            frames.overhead
        );
    }
    if frames.payload_max.0 > ETHERNET_PAYLOAD_MAX {
        let _ = writeln!(
            text,
            "note: the plan has frames with a payload of up to {}; where Ethernet's {ETHERNET_PAYLOAD_MAX} B are the most, say so: `payload-max` in [network]",
            frames.payload_max
        );
    }
    let streams = traffic.streams.iter().zip(&given.of);
    let unnamed: Vec<_> =
        streams.filter(|(_, given)| given.is_none()).map(|(stream, _)| stream.name.as_str()).collect();
    if let Some(first) = unnamed.first() {
        let _ = writeln!(
            text,
            "note: {} of {} channels have no priority that leads to their queues at all ports, such as \"{first}\": ports must know them by their addresses",
            unnamed.len(),
            traffic.streams.len()
        );
    }
    text
}

/// What channels beside the table are given.
fn beside(traffic: &Traffic, gates: &[Gates], given: &Priorities, largest: ByteSize) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    for (class, carried) in given.beside.iter().enumerate() {
        let own: Vec<_> =
            traffic.flows.iter().filter(|flow| flow.class.map(usize::from) == Some(class)).collect();
        let Some(first) = own.first() else { continue };
        let others = if own.len() > 1 { format!(" and {} more", own.len() - 1) } else { String::new() };
        let _ = match carried {
            Some(carried) => writeln!(
                text,
                "frames of \"{}\"{others}, beside the table: priority (PCP) {carried}",
                first.name
            ),
            None => writeln!(
                text,
                "note: none of the priorities 1 to 7 is left for the frames of \"{}\"{others}, beside the table: ports must know them by their addresses",
                first.name
            ),
        };
    }
    let frames = &traffic.network.frames;
    let counted = ByteSize(frames.payload_max.0.max(frames.payload_min.0) + frames.overhead.0);
    if largest > counted && gates.iter().any(|port| !port.beside.is_empty()) {
        let _ = writeln!(
            text,
            "note: --largest-frame is {largest}, and what `leveret check` promises beside the table counts with frames of {counted} at most: raise `payload-max` in [network] and plan again"
        );
    }
    let crowded: Vec<_> = gates.iter().filter(|port| port.is_crowded).collect();
    if let Some(first) = crowded.first() {
        let _ = writeln!(
            text,
            "note: {} of {} ports, such as {}, have too few classes for those of the plan and of what moves beside it, which shares one class there: what `leveret check` \
             promises it does not hold; fewer `queues` on the link, or fewer priorities",
            crowded.len(),
            gates.len(),
            traffic.network.link_name(first.link)
        );
    }
    text
}

/// Without a VLAN tag: preamble 8, addresses 12, type 2, check 4, gap 12.
const ETHERNET_OVERHEAD: u64 = 38;
/// Without jumbo frames.
const ETHERNET_PAYLOAD_MAX: u64 = 1500;
