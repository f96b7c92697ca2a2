//! Admission: from declarations to a checked plan, or the reason why there is none.

use crate::assemble::{Assembled, Mismatch, assemble};
use crate::declaration::{JobDeclaration, MemberDeclarations};
use leveret_plan::{Costs, Other, Plan, checker, collisions, cores_beside, plan_beside};
use leveret_types::Nanos;

/// A guard below this would not cover an ordinary wake-up.
const GUARD_LEAST: Nanos = Nanos::from_micros(10);

/// Why declarations are not admitted.
pub struct Refused {
    /// One sentence a line.
    pub reason: String,
    /// Where they did not meet.
    pub mismatches: Vec<Mismatch>,
}

impl Refused {
    /// For this reason, and no mismatch.
    pub fn plain(reason: String) -> Self {
        Self { reason, mismatches: Vec::new() }
    }
}

/// Assembles, plans on cores that are shared with `others`, checks. With a measured guard (one that is not fixed) that is too long for
/// the job, shorter ones are tried; gives the costs that it was planned with.
///
/// # Errors
/// [`Refused`].
pub fn admit(
    declaration: &JobDeclaration,
    declarations: &[MemberDeclarations],
    (mut costs, guard_fixed): (Costs, bool),
    others: &[Other<'_>],
) -> Result<(Assembled, Plan, Costs), Refused> {
    let meet = |declaration: &JobDeclaration, costs: Costs| {
        assemble(declaration, declarations, costs).map_err(|mismatches| {
            let reason = mismatches.iter().map(Mismatch::to_string).collect::<Vec<_>>().join("\n");
            Refused { reason, mismatches }
        })
    };
    loop {
        let mut assembled = meet(declaration, costs)?;
        let cores = cores_beside(&assembled.job, others);
        if cores != assembled.job.cores {
            assembled = meet(&JobDeclaration { cores: cores.clone(), ..declaration.clone() }, costs)?;
        }
        match plan_beside(&assembled.job, others) {
            Ok(admitted) => {
                if let Err(violations) = checker::check(&admitted, &assembled.job) {
                    return Err(unsound(&violations));
                }
                let collisions = collisions((&assembled.job, &admitted), others);
                if !collisions.is_empty() {
                    return Err(unsound(&collisions));
                }
                return Ok((assembled, admitted, costs));
            }
            Err(refusal) if guard_fixed || costs.guard <= GUARD_LEAST => {
                let refusal = refusal.to_string();
                return Err(Refused::plain(match others {
                    [] => refusal,
                    others => format!("{}: {refusal}", beside(others, &declaration.cores, &cores)),
                }));
            }
            Err(_) => costs.guard = Nanos(costs.guard.0 / 2).max(GUARD_LEAST),
        }
    }
}

fn unsound(violations: &[impl ToString]) -> Refused {
    let listed: Vec<_> = violations.iter().map(ToString::to_string).collect();
    Refused::plain(format!(
        "the plan did not pass the independent checker, so it is not run: {}",
        listed.join("; ")
    ))
}

/// Whom a commit has to share the cores with, and which are left to it.
fn beside(others: &[Other<'_>], cores: &[u32], left: &[u32]) -> String {
    let names: Vec<&str> = others.iter().map(|other| other.name).collect();
    let names = names.join(" and ");
    if left.len() == cores.len() {
        return format!("beside {names}");
    }
    let taken = cores.iter().filter(|core| !left.contains(core)).map(u32::to_string);
    let taken = taken.collect::<Vec<_>>().join(", ");
    format!("beside {names}, which leaves nothing of core {taken} to it")
}
