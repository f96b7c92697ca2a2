//! `leveret verify`.

use crate::arguments::VerifyArguments;
use crate::failure::{EXIT_NO, Failure};
use crate::output::{self, Paint};
use crate::{files, load};
use leveret_plan::{PLAN_VERSION, Plan, checker};
use std::path::Path;
use std::process::ExitCode;

/// Most bytes of a plan file: a plan at the limits of the model, written with indentation.
const PLAN_BYTES_MAX: u64 = 1 << 30;

/// Checks a stored plan against its job.
///
/// # Errors
/// When either file cannot be read.
pub fn execute(arguments: &VerifyArguments) -> Result<ExitCode, Failure> {
    let manifest = load::manifest(&arguments.manifest)?;
    let plan = read(&arguments.plan)?;
    let job = load::job(&manifest, &arguments.manifest, Some(plan.costs.guard))?;
    let plan_shown = arguments.plan.display();
    let Err(violations) = checker::check(&plan, &job) else {
        let word = Paint::for_stdout().green("valid");
        let text =
            format!("{word}: {plan_shown} keeps every declaration of {}\n", arguments.manifest.display());
        output::print((text + &leveret_plan::render_bounds(&plan, &job)).trim_end())?;
        return Ok(ExitCode::SUCCESS);
    };
    let word = Paint::for_stdout().red("not valid");
    let mut text =
        format!("{word}: {plan_shown} does not fit {}; what does not hold:\n", arguments.manifest.display());
    for violation in &violations {
        text.push_str(&format!("  - {violation}\n"));
    }
    output::print(&text)?;
    Ok(ExitCode::from(EXIT_NO))
}

/// Reads a plan file.
fn read(path: &Path) -> Result<Plan, Failure> {
    let shown = path.display();
    let bytes = files::read(path, "plan", PLAN_BYTES_MAX)?;
    let again = "make it again: `leveret plan JOB.toml --output plan.json`";
    let plan: Plan = serde_json::from_slice(&bytes).map_err(|error| {
        let found = match error.classify() {
            serde_json::error::Category::Eof => {
                "the plan ends in the middle; the file was truncated".to_owned()
            }
            serde_json::error::Category::Syntax => format!("this is not JSON: {}", reason(&error)),
            _ => format!("this is not a plan: {}", reason(&error)),
        };
        Failure::new(format!("{shown}:{}:{}: {found}", error.line(), error.column()), again)
    })?;
    if plan.version != PLAN_VERSION {
        let sentence = format!(
            "{shown}: the plan has format {}, and this program reads format {PLAN_VERSION}",
            plan.version
        );
        return Err(Failure::new(sentence, again));
    }
    Ok(plan)
}

/// The reason without its place, which stands before it already.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    text.replace(char::is_control, " ")
}
