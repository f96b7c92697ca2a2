use super::*;
use crate::tick::tests::{MS, hits, job, task, tick};
use leveret_plan::{checker, plan};

const US: i64 = 1_000;
const PERIOD: i64 = 5 * MS;

/// Fifty tasks of 5 us, 100 us apart and more, whose starts lie 20 us apart modulo 1 ms; each may begin so much later.
fn crowded(room: i64) -> Job {
    let release = |index: i64| index * 100 * US + index / 10 * 20 * US;
    let of = |index: i64| {
        task(index as usize, 0, PERIOD, [release(index), release(index) + room + 5 * US], 5 * US)
    };
    let mut job = job((0..49).map(of).collect());
    job.costs.guard = Nanos(20 * US);
    job
}

#[test]
fn where_no_epoch_helps_starts_are_moved() {
    let job = crowded(60 * US);
    let plan = plan(&job).expect("a plan");
    for phase in [0, 333 * US, 3_999_999] {
        let ticks = Ticks(vec![tick(0, phase)]);
        let placed = ticks.epoch(&plan, Nanos(60 * MS));
        assert!(placed.starts_hit > 0 && hits(&plan, &ticks, placed.epoch, 400) > 0);
        let (apart, moves) = ticks.apart(&job, &plan).expect("there is room");
        let placed = ticks.epoch(&apart, Nanos(60 * MS));
        assert_eq!((placed.starts_hit, hits(&apart, &ticks, placed.epoch, 400)), (0, 0));
        checker::check(&apart, &job).expect("a plan of the job");
        let starts = |plan: &Plan| -> Vec<Nanos> {
            plan.tasks.iter().flat_map(|task| task.instances.iter().map(|one| one.start())).collect()
        };
        let moved = starts(&plan).into_iter().zip(starts(&apart)).filter(|(was, is)| was != is).count();
        assert_eq!(moved, moves);
        // Those that meet the tick, and no others.
        assert!((1..=3).contains(&moves), "{moves}");
    }
}

#[test]
fn what_has_no_room_or_needs_none_stays() {
    let ticks = Ticks(vec![tick(0, 0)]);
    let tight = crowded(5 * US);
    assert_eq!(ticks.apart(&tight, &plan(&tight).expect("a plan")), None);
    // 200 us apart modulo 1 ms: the epoch keeps the tick away.
    let of = |index: i64| task(index as usize, 0, PERIOD, [index * 200 * US, PERIOD], 5 * US);
    let apart = job((0..20).map(of).collect());
    assert_eq!(ticks.apart(&apart, &plan(&apart).expect("a plan")), None);
    let roomy = crowded(60 * US);
    assert_eq!(Ticks::default().apart(&roomy, &plan(&roomy).expect("a plan")), None);
    assert_eq!(Ticks(vec![tick(1, 0)]).apart(&roomy, &plan(&roomy).expect("a plan")), None);
}
