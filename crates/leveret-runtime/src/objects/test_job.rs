//! Jobs of members that a test has bound, in one process.

use super::commit::Binding;
use crate::in_process::InProcessJob;
use leveret_plan::{Costs, plan};
use leveret_protocol::declaration::{JobDeclaration, MemberDeclaration};

/// All members' bindings, in the order of rank, as a job on two cores. Its ends are still to be attached.
pub(super) fn job_in_tests<'b>(bindings: impl IntoIterator<Item = &'b mut Binding>) -> InProcessJob {
    let (mut members, mut declarations) = (Vec::new(), Vec::new());
    for binding in bindings {
        let world = binding.committed.world();
        let name = world.names()[world.rank().index()].clone();
        members.push(MemberDeclaration { name, core: None });
        declarations.push(std::mem::replace(&mut binding.declarations, crate::Declarations::new("")));
    }
    let cores = vec![0, 1];
    let manifest = JobDeclaration { name: "test".to_owned(), cores, members, ..JobDeclaration::default() };
    let planned = |job: &_| plan(job).map_err(|refusal| refusal.to_string());
    InProcessJob::commit(&manifest, declarations, Costs::default(), planned).expect("it fits")
}
