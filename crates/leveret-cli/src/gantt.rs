//! `leveret gantt`.

use crate::arguments::GanttArguments;
use crate::check;
use crate::failure::{EXIT_NO, Failure};
use crate::load::Document;
use crate::network::Sought;
use crate::output::{self, Paint};
use crate::refusal;
use crate::{files, load, network, system, verify};
use leveret_manifest::{Manifest, NetworkManifest};
use leveret_plan::checker::{self, check_network, check_system};
use leveret_plan::system::{System, SystemPlan};
use leveret_report::picture::{self, Picture, Selection};
use std::process::ExitCode;

/// What there is to draw; or what is said where there is no plan.
type Drawn = Result<Picture, String>;

/// Writes the page.
///
/// # Errors
/// When the manifest or the plan cannot be read, there is too much to draw, or the page cannot be written.
pub fn execute(arguments: &GanttArguments) -> Result<ExitCode, Failure> {
    let mut not_drawn = 0;
    let drawn = match load::document(&arguments.manifest)? {
        Document::Job(manifest) => job(arguments, &manifest)?,
        Document::Network(manifest) => {
            not_drawn = beside(arguments, &manifest)?;
            match &manifest.system {
                Some(system) => of_system(arguments, system)?,
                None => of_network(arguments, &manifest)?,
            }
        }
    };
    let picture = match drawn {
        Ok(picture) => picture,
        Err(said) => {
            output::note(said.trim_end());
            return Ok(ExitCode::from(EXIT_NO));
        }
    };
    if let (Some(from), Some(until)) = (arguments.from, arguments.until)
        && from >= until
    {
        let sentence = format!("--from {from} is not before --until {until}");
        return Err(Failure::new(sentence, "draw a stretch that is longer than 0"));
    }
    if let Some(from) = arguments.from.filter(|from| *from >= picture.round) {
        let sentence = format!("--from {from} lies beyond the plan, which repeats every {}", picture.round);
        return Err(Failure::new(sentence, "name an instant of the first round"));
    }
    let selection =
        Selection { from: arguments.from, until: arguments.until, groups: arguments.channel.clone() };
    let place = arguments.manifest.display().to_string();
    let picture = picture::select(picture, &selection)
        .map_err(|error| Failure::from_text(&place, &error.to_string()))?;
    let page = picture::page(&picture).map_err(|error| Failure::from_text(&place, &error.to_string()))?;
    files::write(&arguments.output, page.as_bytes())?;
    if not_drawn > 0 {
        let (are, move_) = if not_drawn == 1 { ("channel", "moves") } else { ("channels", "move") };
        output::note(&format!(
            "not drawn: {not_drawn} {are} that {move_} beside the time table; `leveret check` gives their bounds"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Says of a channel beside the table that it has no instants that could be drawn. How many are left out of a picture of all channels.
fn beside(arguments: &GanttArguments, manifest: &NetworkManifest) -> Result<usize, Failure> {
    let flows = manifest.system.as_ref().map_or(&manifest.traffic.flows, |system| &system.traffic.flows);
    if let Some(flow) = flows.iter().find(|flow| arguments.channel.contains(&flow.name)) {
        let sentence = format!(
            "{}: channel \"{}\" moves beside the time table, at no instants that could be drawn",
            arguments.manifest.display(),
            flow.name
        );
        return Err(Failure::new(sentence, "`leveret check` says within which time its messages arrive"));
    }
    Ok(if arguments.channel.is_empty() { flows.len() } else { 0 })
}

fn job(arguments: &GanttArguments, manifest: &Manifest) -> Result<Drawn, Failure> {
    let Some(path) = &arguments.plan else {
        let job = load::job(manifest, &arguments.manifest, None)?;
        let plan = leveret_plan::plan(&job);
        return Ok(match plan {
            Ok(plan) => Ok(picture::job(&job, &plan)),
            Err(refusal) => Err(check::refused(&job, &refusal, Paint::for_stderr())),
        });
    };
    let (plan, job) = verify::plan_and_job(path, &arguments.manifest, manifest)?;
    Ok(match checker::check(&plan, &job) {
        Ok(()) => Ok(picture::job(&job, &plan)),
        Err(violations) => Err(verify::not_valid(path, &arguments.manifest, &violations)),
    })
}

fn of_system(arguments: &GanttArguments, system: &System) -> Result<Drawn, Failure> {
    let draw = |plan: &SystemPlan| {
        let place = arguments.manifest.display().to_string();
        picture::system(system, plan).map_err(|error| Failure::from_text(&place, &error.to_string()))
    };
    let Some(path) = &arguments.plan else {
        let sought = Sought::new(arguments.search);
        return Ok(match system::accepted(system, sought) {
            Ok(plan) => Ok(draw(&plan)?),
            Err(refusal) => Err(system::refused(system, &refusal, sought, Paint::for_stderr())),
        });
    };
    let plan = system::read(path)?;
    Ok(match check_system(&plan, system) {
        Ok(()) => Ok(draw(&plan)?),
        Err(violations) => Err(verify::not_valid(path, &arguments.manifest, &violations)),
    })
}

fn of_network(arguments: &GanttArguments, manifest: &NetworkManifest) -> Result<Drawn, Failure> {
    let traffic = &manifest.traffic;
    let Some(path) = &arguments.plan else {
        let sought = Sought::new(arguments.search);
        return Ok(match network::accepted(traffic, sought) {
            Ok(plan) => Ok(picture::network(&manifest.name, traffic, &plan)),
            Err(refusal) => {
                let told = refusal::explained(manifest, refusal, sought, network::REMEDIES_MAX);
                Err(refusal::render(manifest, &told, Paint::for_stderr()))
            }
        });
    };
    let plan = network::read(path)?;
    Ok(match check_network(&plan, traffic) {
        Ok(()) => Ok(picture::network(&manifest.name, traffic, &plan)),
        Err(violation) => Err(network::not_valid(path, &arguments.manifest, &violation)),
    })
}
