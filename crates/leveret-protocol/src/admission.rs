//! Admission: from declarations to a checked plan, or the reason why there is none.

use crate::assemble::{Assembled, Mismatch, assemble, kept, kept_events, kept_in_part};
use crate::declaration::{JobDeclaration, MemberDeclarations};
use leveret_plan::{
    Costs, ExplainBudget, Job, Kept, Other, Plan, Refusal, checker, collisions, continuation, cores_beside,
    plan_beside_keeping, transition,
};
use leveret_types::Nanos;

/// A guard below this would not cover an ordinary wake-up.
const GUARD_LEAST: Nanos = Nanos::from_micros(10);

/// So many reasons are told, a line each.
const LINES_MAX: usize = 512;

/// Why declarations are not admitted.
pub struct Refused {
    /// One sentence a line.
    pub reason: String,
    /// Where they did not meet.
    pub mismatches: Vec<Mismatch>,
}

impl Refused {
    fn differing(mismatches: Vec<Mismatch>) -> Self {
        Self { reason: listed(&mismatches), mismatches }
    }

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
    costs: (Costs, bool),
    others: &[Other<'_>],
) -> Result<(Assembled, Plan, Costs), Refused> {
    admit_by(plan_beside_keeping, (declaration, declarations), costs, others)
}

/// As [`admit`], with this planner, whose word nobody takes for it.
fn admit_by(
    plan: impl Fn(&Job, &[Other<'_>], &Kept, ExplainBudget) -> Result<Plan, Refusal>,
    (declaration, declarations): (&JobDeclaration, &[MemberDeclarations]),
    (mut costs, guard_fixed): (Costs, bool),
    others: &[Other<'_>],
) -> Result<(Assembled, Plan, Costs), Refused> {
    let meet = |declaration: &JobDeclaration, costs: Costs| {
        assemble(declaration, declarations, costs).map_err(Refused::differing)
    };
    loop {
        let mut assembled = meet(declaration, costs)?;
        let cores = cores_beside(&assembled.job, others);
        if cores != assembled.job.cores {
            assembled = meet(&JobDeclaration { cores: cores.clone(), ..declaration.clone() }, costs)?;
        }
        let kept = kept(&assembled, declarations).map_err(Refused::differing)?;
        // What is tried again with a shorter guard need not be explained.
        let is_last = guard_fixed || costs.guard <= GUARD_LEAST;
        let budget = if is_last { ExplainBudget::default() } else { ExplainBudget::NONE };
        match plan(&assembled.job, others, &kept, budget) {
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
            Err(refusal) if is_last => {
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

/// That nothing happens once, in a commit whose epoch is bound to what else runs: an absolute time has no place in its table.
///
/// # Errors
/// [`Refused`], with the channel; `what` names the kind of commit.
pub fn without_shots(assembled: &Assembled, what: &str) -> Result<(), Refused> {
    let Some(shot) = assembled.shots.first() else { return Ok(()) };
    let channel = &assembled.job.channels[shot.channel.index()];
    Err(Refused::plain(format!(
        "channel \"{}\" of group \"{}\" is a single shot, which {what} cannot have, since its epoch is bound to what else runs; commit \
         it with all members while nothing runs, or give it a period",
        channel.name, channel.group
    )))
}

/// What members keep of what runs, they keep all together: without that a mode is not even assembled, since what is missing there is
/// not missing in the code.
///
/// # Errors
/// [`Refused`], with each thing that is kept in part.
pub fn kept_together(running: &Assembled, declarations: &[MemberDeclarations]) -> Result<(), Refused> {
    let loose = kept_in_part(running, declarations);
    if loose.is_empty() { Ok(()) } else { Err(Refused::differing(loose)) }
}

/// Whether a mode can take over from what runs, going on with what the members keep, and what that is; what the planner says of the switch
/// is checked too.
///
/// # Errors
/// [`Refused`].
pub fn admit_switch(
    (running, running_plan): (&Assembled, &Plan),
    (assembled, plan): (&Assembled, &Plan),
    declarations: &[MemberDeclarations],
) -> Result<Kept, Refused> {
    let (before, after) = ((&running.job, running_plan), (&assembled.job, plan));
    let kept = kept(assembled, declarations).map_err(Refused::differing)?;
    kept_events(&running.events, assembled, declarations).map_err(Refused::differing)?;
    continuation(before, after, &kept).map_err(|conflicts| Refused::plain(listed(&conflicts)))?;
    let crossing =
        transition(before, after, &kept).map_err(|conflicts| Refused::plain(listed(&conflicts)))?;
    checker::check_transition(before, after, &kept, &crossing).map_err(|violations| unsound(&violations))?;
    Ok(kept)
}

fn listed(reasons: &[impl ToString]) -> String {
    let mut lines: Vec<String> = reasons.iter().take(LINES_MAX).map(ToString::to_string).collect();
    if reasons.len() > lines.len() {
        lines.push(format!("and {} more", reasons.len() - lines.len()));
    }
    lines.join("\n")
}

fn unsound(violations: &[impl ToString]) -> Refused {
    let listed = listed(violations).replace('\n', "; ");
    Refused::plain(format!("the plan did not pass the independent checker, so it is not run: {listed}"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::{MemberDeclaration, TaskDeclaration};

    /// One member with two tasks on one core.
    fn declared() -> (JobDeclaration, [MemberDeclarations; 1]) {
        let job = JobDeclaration {
            name: "job".to_owned(),
            cores: vec![0],
            members: vec![MemberDeclaration { name: "a".to_owned(), core: Some(0) }],
            ..JobDeclaration::default()
        };
        let task = |name: &str| TaskDeclaration {
            name: name.to_owned(),
            period: Some(Nanos::from_millis(10)),
            budget: Some(Nanos::from_millis(1)),
            ..TaskDeclaration::default()
        };
        let tasks = vec![task("a.one"), task("a.two")];
        (job, [MemberDeclarations { tasks, ..MemberDeclarations::default() }])
    }

    fn admitted(change: impl Fn(&mut Plan)) -> Result<Plan, String> {
        let (job, members) = declared();
        let planner = |job: &Job, others: &[Other<'_>], kept: &Kept, budget: ExplainBudget| {
            let mut made = plan_beside_keeping(job, others, kept, budget)?;
            change(&mut made);
            Ok(made)
        };
        let admitted = admit_by(planner, (&job, &members), (Costs::default(), true), &[]);
        admitted.map(|(_, plan, _)| plan).map_err(|refused| refused.reason)
    }

    // spec: QOS-ADMIT-05
    #[test]
    fn a_plan_that_the_checker_does_not_accept_is_not_used() {
        let sound = admitted(|_| {}).expect("the planner's own is accepted");
        let changes: [fn(&mut Plan); 5] = [
            // Both tasks at once, on one core.
            |plan| plan.tasks[1].instances[0].segments = plan.tasks[0].instances[0].segments.clone(),
            // Longer than the budget, shorter than it, and beyond the deadline.
            |plan| plan.tasks[0].instances[0].segments[0].end.0 += 1,
            |plan| plan.tasks[0].instances[0].segments[0].end.0 -= 1,
            |plan| plan.tasks[0].instances[0].latest.0 += 1,
            // Of another job.
            |plan| plan.job.push('x'),
        ];
        for (place, change) in changes.into_iter().enumerate() {
            let mut changed = sound.clone();
            change(&mut changed);
            assert_ne!(changed, sound, "change {place}");
            let reason = admitted(change).expect_err("a plan that is wrong");
            assert!(reason.contains("did not pass the independent checker"), "change {place}: {reason}");
        }
    }
}
