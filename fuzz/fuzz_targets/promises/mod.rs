//! What an accepted plan promises, by simple means: every instant at which something changes is visited in its order.

use leveret_plan::{CoreChoice, Job, NO_INSTANCE, Placement, Plan, Qos};
use std::collections::BTreeMap;

/// Instances beyond which pairs of them are no longer compared.
const PAIRS_INSTANCES_MAX: usize = 200;

/// A reserved stretch on the circle of the hyperperiod: guard, execution and what interrupts it.
struct Reserved {
    core: u32,
    order: u16,
    from: i128,
    length: i128,
}

/// Panics where a plan breaks a promise.
pub fn kept(plan: &Plan, job: &Job) {
    let round = i128::from(plan.hyperperiod.0);
    let guard = i128::from(job.costs.guard.0);
    let mut changes: BTreeMap<u32, BTreeMap<i128, i32>> = BTreeMap::new();
    let mut used: BTreeMap<u32, i128> = BTreeMap::new();
    let mut reserved = Vec::new();
    for (task, planned) in job.tasks.iter().zip(&plan.tasks) {
        assert!(task.core == CoreChoice::Any || task.core == CoreChoice::Pinned(planned.core));
        assert!(job.cores.contains(&planned.core), "on a core that the job may not use");
        assert_eq!(planned.instances.len() as i128 * i128::from(task.period.0), round);
        let on_core = changes.entry(planned.core).or_default();
        for (k, instance) in planned.instances.iter().enumerate() {
            let (start, end) = (i128::from(instance.start().0), i128::from(instance.end().0));
            let released = k as i128 * i128::from(task.period.0);
            assert!(start >= released + i128::from(task.release.0), "`{}` #{k} starts early", task.name);
            assert!(end <= released + i128::from(task.deadline.0), "`{}` #{k} ends late", task.name);
            let pieces = instance.segments.iter().map(|s| (i128::from(s.start.0), i128::from(s.end.0)));
            let mut run = 0;
            for (from, to) in pieces.clone() {
                run += to - from;
                occupy(on_core, from, to, round);
            }
            occupy(on_core, start - guard, start, round);
            assert!(
                run >= i128::from(task.budget.0) + i128::from(job.costs.switch.0),
                "`{}` is cut short",
                task.name
            );
            *used.entry(planned.core).or_default() += run + guard;
            let from = (start - guard).rem_euclid(round);
            reserved.push(Reserved {
                core: planned.core,
                order: planned.order,
                from,
                length: end - start + guard,
            });
            messages(plan, job, task, instance, (start, end));
        }
    }
    for instants in changes.values() {
        let mut running = 0;
        for change in instants.values() {
            running += change;
            assert!((0..=1).contains(&running), "two at once on one core");
        }
    }
    for (core, used) in used {
        assert!(
            used * 1000 <= round * i128::from(job.costs.utilisation_permille),
            "core {core} is used too much"
        );
    }
    nested(&reserved, round);
}

/// Marks where an occupancy begins and ends; one that crosses the end of the circle is two.
fn occupy(changes: &mut BTreeMap<i128, i32>, from: i128, to: i128, round: i128) {
    if from >= to {
        return;
    }
    let (start, length) = (from.rem_euclid(round), to - from);
    assert!(length <= round, "longer than the hyperperiod");
    let end = start + length;
    let parts = if end > round { vec![(start, round), (0, end - round)] } else { vec![(start, end)] };
    for (start, end) in parts {
        *changes.entry(start).or_default() += 1;
        *changes.entry(end).or_default() -= 1;
    }
}

/// A message is inserted before it is due, and read when it has arrived.
fn messages(
    plan: &Plan,
    job: &Job,
    task: &leveret_plan::Task,
    instance: &leveret_plan::PlannedInstance,
    (start, end): (i128, i128),
) {
    let visible = |id: &leveret_types::ChannelId, message: i64| match job.channels[id.index()].qos {
        Qos::TimeDriven { period, deadline, .. } => {
            assert_ne!(message, NO_INSTANCE);
            Some(i128::from(message) * i128::from(period.0) + i128::from(deadline.0))
        }
        Qos::BestEffort | Qos::PriorityDriven { .. } | Qos::EventDriven { .. } => None,
    };
    for (id, message) in task.writes.iter().zip(&instance.writes) {
        let publish = i128::from(job.costs.publish.0);
        assert!(visible(id, *message).is_none_or(|at| end + publish <= at), "`{}` inserts late", task.name);
    }
    for (id, message) in task.reads.iter().zip(&instance.reads) {
        assert!(visible(id, *message).is_none_or(|at| start >= at), "`{}` reads early", task.name);
        let (channel, planned) = (&job.channels[id.index()], &plan.channels[id.index()]);
        assert!(planned.buffers >= channel.buffers.max(2), "too few buffers");
        let sooner = visible(id, *message).map_or(0, |at| end - at);
        assert!(sooner <= i128::from(planned.latency_bound.0), "`{}` gets an older message", task.name);
        let copies = if channel.placement == Placement::Separate { channel.size.0.div_ceil(1024) } else { 0 };
        let copies = i128::from(copies).saturating_mul(i128::from(job.costs.copy_per_kib.0));
        assert!(end - start >= i128::from(task.budget.0) + copies, "`{}` has no time to copy", task.name);
    }
}

/// What begins within another stretch ends within it, and has the higher order.
fn nested(reserved: &[Reserved], round: i128) {
    if reserved.len() > PAIRS_INSTANCES_MAX {
        return;
    }
    for (number, outer) in reserved.iter().enumerate() {
        for (_, inner) in reserved.iter().enumerate().filter(|(other, _)| *other != number) {
            let offset = (inner.from - outer.from).rem_euclid(round);
            if inner.core == outer.core && offset < outer.length && inner.length > 0 {
                assert!(
                    offset + inner.length <= outer.length,
                    "one interrupts and is not over before the other"
                );
                assert!(inner.order > outer.order, "interrupted by what has no higher order");
            }
        }
    }
}
