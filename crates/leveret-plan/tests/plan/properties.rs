//! The planner against the checker and against brute force.

use crate::common::generate::{Shape, jobs};
use crate::common::oracle;
use leveret_plan::{Job, RefusalKind, checker, plan};
use proptest::prelude::*;

const ONE_CORE: Shape =
    Shape { cores: 1, tasks: 5, instances: 8, preemptible: false, channels: false, periods: &[8, 12, 24] };
const CHANNELS: Shape = Shape { channels: true, cores: 2, tasks: 4, instances: 7, ..ONE_CORE };
const TWO_CORES: Shape = Shape { cores: 2, tasks: 5, instances: 7, ..ONE_CORE };
const PREEMPTIBLE: Shape =
    Shape { preemptible: true, tasks: 4, instances: 5, periods: &[12, 24], ..ONE_CORE };
const LARGER: Shape = Shape {
    cores: 3,
    tasks: 12,
    instances: 400,
    preemptible: true,
    channels: true,
    periods: &[20, 30, 40, 60, 120, 240],
};

/// Planner and brute force agree, and the checker accepts what was planned.
fn agree(job: &Job) -> Result<(), TestCaseError> {
    match plan(job) {
        Ok(plan) => {
            prop_assert_eq!(checker::check(&plan, job), Ok(()));
            prop_assert!(oracle::feasible(job), "planned what brute force cannot");
        }
        Err(refusal) => {
            prop_assert_eq!(&refusal.kind, &RefusalKind::Infeasible);
            prop_assert!(!oracle::feasible(job), "refused although brute force finds a plan: {}", refusal);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn complete_and_sound_on_one_core(job in jobs(ONE_CORE)) {
        agree(&job)?;
    }

    #[test]
    fn complete_and_sound_with_free_tasks_on_two_cores(job in jobs(TWO_CORES)) {
        agree(&job)?;
    }

    #[test]
    fn complete_and_sound_with_channels(job in jobs(CHANNELS)) {
        agree(&job)?;
    }

    #[test]
    fn complete_and_sound_with_preemption(job in jobs(PREEMPTIBLE)) {
        agree(&job)?;
    }

    #[test]
    fn every_plan_passes_the_checker(job in jobs(LARGER)) {
        if let Ok(plan) = plan(&job) {
            prop_assert_eq!(checker::check(&plan, &job), Ok(()));
        }
    }

    // spec: QOS-ADMIT-06
    #[test]
    fn the_same_job_gives_the_same_answer(job in jobs(CHANNELS)) {
        prop_assert_eq!(plan(&job), plan(&job.clone()));
    }
}
