//! Refusals: minimal, verified by planning again, and readable.

use crate::common::generate::{Shape, jobs};
use crate::common::{US, empty, guard_only, ring, task, time_driven, us};
use leveret_plan::{Change, CoreChoice, DeclarationKind, Job, Refusal, RefusalKind, Remedy, plan};
use leveret_types::{ChannelId, Nanos};
use proptest::prelude::*;

/// The job with only the declarations that `keep` names.
fn only(job: &Job, keep: &[(DeclarationKind, String)]) -> Job {
    let kept = |kind, name: &str| keep.iter().any(|(k, n)| *k == kind && n == name);
    let mut reduced = job.clone();
    reduced.tasks.retain(|task| kept(DeclarationKind::Task, &task.name));
    let channels: Vec<usize> =
        (0..job.channels.len()).filter(|c| kept(DeclarationKind::Channel, &job.channels[*c].name)).collect();
    reduced.channels = channels.iter().map(|index| job.channels[*index].clone()).collect();
    let renumber = |ends: &mut Vec<ChannelId>| {
        let new =
            |id: &ChannelId| channels.iter().position(|c| *c == id.index()).map(|c| ChannelId(c as u16));
        *ends = ends.iter().filter_map(new).collect();
    };
    for task in &mut reduced.tasks {
        renumber(&mut task.reads);
        renumber(&mut task.writes);
    }
    reduced
}

fn names(refusal: &Refusal) -> Vec<(DeclarationKind, String)> {
    refusal.conflict.iter().map(|d| (d.object.kind, d.object.name.clone())).collect()
}

/// What every refusal of a sound job promises.
fn holds(job: &Job, refusal: &Refusal) {
    let all = names(refusal);
    assert!(!all.is_empty() && refusal.minimal, "{refusal}");
    assert!(plan(&only(job, &all)).is_err(), "the conflict by itself has a plan: {refusal}");
    for left_out in 0..all.len() {
        let mut rest = all.clone();
        let name = rest.remove(left_out);
        assert!(
            rest.is_empty() || plan(&only(job, &rest)).is_ok(),
            "still in conflict without {name:?}: {refusal}"
        );
    }
    fits(job, refusal);
}

/// Every remedy leads to an admitted job.
fn fits(job: &Job, refusal: &Refusal) {
    for remedy in &refusal.fits {
        let changed = remedy.apply(job).expect("the remedy names objects of the job");
        if let Err(next) = plan(&changed) {
            panic!("{remedy}, which was told of\n{refusal}\n does not fit:\n{next}");
        }
    }
    let order = |remedy: &Remedy| (remedy.decisions(), remedy.size());
    assert!(refusal.fits.is_sorted_by_key(order), "smallest first: {:?}", refusal.fits);
    let has_single = refusal.fits.iter().any(|remedy| remedy.decisions() == 1);
    assert!(has_single || refusal.search.single_failed, "{refusal}");
}

/// The single changes.
fn changes(refusal: &Refusal) -> impl Iterator<Item = &Change> {
    refusal.fits.iter().filter(|remedy| remedy.changes.len() == 1).map(|remedy| &remedy.changes[0])
}

// spec: QOS-ADMIT-04
#[test]
fn two_tasks_that_collide_are_named_with_what_would_fit() {
    let mut job = ring(1_000);
    let mut intruder = task("intruder", CoreChoice::Pinned(1), 1_000 * US, (200 * US, 275 * US), 30 * US);
    intruder.member = job.tasks[1].member;
    job.tasks.push(intruder);
    let refusal = plan(&job).expect_err("two guards and two budgets do not fit 75us");
    assert_eq!(refusal.kind, RefusalKind::Infeasible);
    let mut named: Vec<String> = names(&refusal).into_iter().map(|(_, name)| name).collect();
    named.sort();
    assert_eq!(named, ["B.user", "intruder"]);
    holds(&job, &refusal);
    let text = refusal.to_string();
    for words in [
        "tasks `B.user` and `intruder` collide on core 1",
        "within [200us, 275us] of every 1ms",
        "what would fit",
    ] {
        assert!(text.contains(words), "{words:?} in:\n{text}");
    }
    let later = changes(&refusal).find_map(|change| match change {
        Change::Deadline { object, to, .. } if object.name == "intruder" => Some(*to),
        _ => None,
    });
    // B.user ends at 255us; after it come the intruder's guard of 50us, 30us of budget and 5us of switch. Going
    // first it ends at 235us, which leaves B.user, with its guard, until 340.2us.
    let later = later.expect("a later deadline fits");
    assert_eq!(later, Nanos(340_200));
    let nearly = Change::Deadline {
        object: refusal.conflict.iter().find(|d| d.object.name == "intruder").expect("named").object.clone(),
        from: us(275),
        to: later - Nanos(1),
    };
    assert!(plan(&nearly.apply(&job).expect("applies")).is_err(), "a nanosecond less must not fit");
}

#[test]
fn an_impossible_period_names_both_ends_and_the_repair() {
    let mut job = ring(1_000);
    job.tasks[1].period = us(700);
    let refusal = plan(&job).expect_err("a writer keeps its channel's period");
    assert!(
        matches!(&refusal.kind, RefusalKind::BadDeclaration { errors } if errors.len() == 1),
        "{refusal:?}"
    );
    assert_eq!(
        names(&refusal),
        [(DeclarationKind::Task, "B.user".to_owned()), (DeclarationKind::Channel, "BC".to_owned())]
    );
    let Some(Change::Period { object, to, .. }) = changes(&refusal).next() else { panic!("{refusal}") };
    assert_eq!((object.name.as_str(), *to), ("B.user", us(1_000)));
    assert!(plan(&refusal.fits[0].apply(&job).expect("applies")).is_ok());
}

#[test]
fn a_foreign_period_that_collides_names_the_two_tasks() {
    let mut job = ring(1_000);
    job.tasks[4].period = us(250);
    job.tasks[4].deadline = us(130);
    job.tasks[4].budget = us(70);
    let refusal = plan(&job).expect_err("it collides with B.user in its second instance");
    holds(&job, &refusal);
    let text = refusal.to_string();
    assert!(text.contains("`B.user`") && text.contains("`dummy1`"), "{text}");
    assert!(!refusal.fits.is_empty(), "{text}");
}

#[test]
fn periods_that_never_meet_name_the_two_declarations() {
    let mut job = empty(&[0], guard_only(0));
    for (name, period) in [("a", 1_000_000_007), ("b", 1_000_000_009), ("c", 1_000)] {
        job.tasks.push(task(name, CoreChoice::Pinned(0), period, (0, 1_000), 1));
    }
    let refusal = plan(&job).expect_err("the hyperperiod is out of all bounds");
    assert_eq!(
        names(&refusal),
        [(DeclarationKind::Task, "a".to_owned()), (DeclarationKind::Task, "b".to_owned())]
    );
    assert!(refusal.to_string().contains("multiples of one another"), "{refusal}");
}

#[test]
fn an_overloaded_core_offers_the_other_core() {
    let mut job = empty(&[0, 3], guard_only(0));
    for name in ["a", "b", "c"] {
        job.tasks.push(task(name, CoreChoice::Pinned(0), 100, (0, 100), 40));
    }
    let refusal = plan(&job).expect_err("120 of 100");
    assert_eq!(refusal.conflict.len(), 3);
    holds(&job, &refusal);
    assert!(
        changes(&refusal).any(|change| matches!(change, Change::Core { from: Some(0), to: 3, .. })),
        "{refusal}"
    );
    assert!(
        changes(&refusal)
            .any(|change| matches!(change, Change::Budget { from: Nanos(40), to: Nanos(20), .. })),
        "{refusal}"
    );
}

/// `count` tasks that each ask core `core` for 40 of every 1000 us, windows as wide as the period.
fn alike(job: &mut Job, core: CoreChoice, count: usize) {
    for _ in 0..count {
        let name = format!("t{}", job.tasks.len());
        job.tasks.push(task(&name, core, 1_000 * US, (0, 1_000 * US), 40 * US));
    }
}

#[test]
fn a_core_with_too_many_tasks_is_told_by_its_sum() {
    let mut job = empty(&[0, 3], guard_only(0));
    job.costs.utilisation_permille = 900;
    alike(&mut job, CoreChoice::Pinned(0), 10);
    alike(&mut job, CoreChoice::Pinned(3), 23);
    let refusal = plan(&job).expect_err("920us of 900us");
    assert_eq!(refusal.kind, RefusalKind::Infeasible);
    let text = refusal.to_string();
    let sum = "core 3 is asked for 92.0 % of its time: 920us in every 1ms, guards and costs included, of which tasks may \
               use 900us (90.0 %); 20us too much";
    assert!(text.starts_with(sum), "{text}");
    assert!(text.contains("23 tasks collide on core 3"), "{text}");
    holds(&job, &refusal);
    assert!(
        changes(&refusal).any(|change| matches!(change, Change::Core { from: Some(3), to: 0, .. })),
        "{text}"
    );
}

// spec: QOS-ADMIT-04
#[test]
fn an_overload_of_many_tasks_names_the_fewest_that_are_too_many() {
    let mut job = empty(&[0, 1, 2, 3], guard_only(0));
    alike(&mut job, CoreChoice::Any, 200);
    let refusal = plan(&job).expect_err("8 ms of 4 ms");
    assert_eq!(refusal.kind, RefusalKind::Infeasible);
    // 100 tasks ask for exactly what four cores have.
    assert_eq!(refusal.conflict.len(), 101);
    // One plan stands for all hundreds of them, which are alike.
    assert!(refusal.minimal, "{refusal}");
    let text = refusal.to_string();
    for words in [
        "the job's 4 cores together are asked for 200.0 % of their time: 8ms in every 4 times 1ms",
        "4ms too much",
        "101 tasks collide on the job's cores",
        "no change of a single period, window, budget or core was found that fits, nor up to 32 together: 4ms must go",
    ] {
        assert!(text.contains(words), "{words:?} in:\n{text}");
    }
}

#[test]
fn a_crowded_interval_of_free_tasks_is_an_overload() {
    let mut job = empty(&[0, 1], guard_only(10));
    for name in ["a", "b", "c"] {
        job.tasks.push(task(name, CoreChoice::Any, 1_000, (200, 300), 60));
    }
    let refusal = plan(&job).expect_err("three times 60 and a guard between two of them, in twice 100");
    assert_eq!(refusal.kind, RefusalKind::Infeasible);
    holds(&job, &refusal);
    // The two guards that may lie before the interval are not counted.
    let overload = refusal.overload.clone();
    assert!(overload.is_none(), "190 of 200: {overload:?}");
    job.tasks.push(task("d", CoreChoice::Any, 1_000, (200, 300), 60));
    let refusal = plan(&job).expect_err("260 of 200");
    let overload = refusal.overload.clone().expect("that is a sum");
    assert_eq!((overload.needed, overload.available), (Nanos(260), Nanos(200)));
    assert_eq!(overload.within, Some((Nanos(200), Nanos(300))));
    holds(&job, &refusal);
}

#[test]
fn a_task_too_long_for_its_window_stands_alone() {
    let mut job = ring(1_000);
    job.tasks[0].budget = us(72);
    let refusal = plan(&job).expect_err("72us, a switch of 5us and a copy do not fit 75us");
    assert_eq!(names(&refusal)[0], (DeclarationKind::Task, "A.user".to_owned()));
    holds(&job, &refusal);
    assert!(changes(&refusal).any(|change| matches!(change, Change::Budget { .. })), "{refusal}");
}

#[test]
fn two_independent_conflicts_are_settled_by_two_changes() {
    let mut job = empty(&[0, 1], guard_only(0));
    for (name, core) in [("a", 0), ("b", 0), ("c", 1), ("d", 1)] {
        job.tasks.push(task(name, CoreChoice::Pinned(core), 100, (0, 50), 30));
    }
    let refusal = plan(&job).expect_err("both cores are overloaded");
    assert!(refusal.search.single_failed && !refusal.fits.is_empty(), "{refusal}");
    assert_eq!(refusal.fits[0].changes.len(), 2, "{refusal}");
    let text = refusal.to_string();
    assert!(
        text.contains("no change of a single period, window, budget or core was found that fits\n"),
        "{text}"
    );
    assert!(text.contains("each as a whole: "), "{text}");
    holds(&job, &refusal);
    // Neither of the two is enough by itself.
    for remedy in &refusal.fits {
        for change in &remedy.changes {
            assert!(plan(&change.apply(&job).expect("applies")).is_err(), "{change} is enough");
        }
    }
}

#[test]
fn a_refusal_survives_its_text_form() {
    let mut job = ring(1_000);
    job.tasks[0].deadline = us(40);
    let refusal = plan(&job).expect_err("too short");
    let text = serde_json::to_string(&refusal).expect("can be written");
    assert_eq!(serde_json::from_str::<Refusal>(&text).expect("and read"), refusal);
}

/// Every early check, with the words that the user sees.
#[test]
fn bad_declarations_name_the_object_and_the_remedy() {
    type Spoil = fn(&mut Job);
    let cases: [(Spoil, &str, &str); 14] = [
        (|job| job.tasks[0].period = us(0), "task `A.user`", "a period above 0"),
        (|job| job.tasks[0].budget = us(0), "task `A.user`", "a budget above 0"),
        (
            |job| job.tasks[0].budget = us(80),
            "a budget of 80us but a window of only 75us",
            "widen the window",
        ),
        (|job| job.tasks[0].release = us(-1), "a release of -1us", "0 or later"),
        (|job| job.tasks[0].release = us(90), "released at 90us but due at 75us", "before the deadline"),
        (|job| job.tasks[0].core = CoreChoice::Pinned(7), "pinned to core 7", "add the core"),
        (|job| job.tasks[0].reads[0] = ChannelId(9), "reads channel9", "declared channel"),
        (
            |job| job.tasks[0].writes = vec![ChannelId(1)],
            "which goes from member `B`",
            "that end of a channel",
        ),
        (|job| job.tasks[1].name = "A.user".to_owned(), "declared more than once", "its own name"),
        (|job| job.channels[0].source.0 = 8, "has source member8", "declared member"),
        (|job| job.channels[0].size.0 = 0, "channel `AB`", "choose a size"),
        (|job| job.channels[0].buffers = 1 << 20, "asks for 1048576 buffers", "ask for at most"),
        (|job| job.costs.publish = us(200), "a transfer takes 200us", "set its deadline to"),
        (|job| job.costs.utilisation_permille = 1001, "utilisation_permille is 1001", "between 1 and 1000"),
    ];
    for (spoil, found, remedy) in cases {
        let mut job = ring(1_000);
        spoil(&mut job);
        let refusal = plan(&job).expect_err(found);
        let text = refusal.to_string();
        assert!(matches!(refusal.kind, RefusalKind::BadDeclaration { .. }), "{text}");
        assert!(text.contains(found) && text.contains(remedy), "{found:?}, {remedy:?} in:\n{text}");
    }
}

#[test]
fn a_second_writer_is_refused() {
    let mut job = ring(1_000);
    let mut second = job.tasks[0].clone();
    second.name = "A.other".to_owned();
    job.tasks.push(second);
    let text = plan(&job).expect_err("one writer").to_string();
    assert!(text.contains("is written by both `A.user` and `A.other`"), "{text}");
}

#[test]
fn a_channel_that_makes_the_conflict_is_named() {
    let mut job = ring(1_000);
    // A.user could end by 500us, were it not for the channel that it writes, due at 200us.
    (job.tasks[0].release, job.tasks[0].deadline) = (us(50), us(500));
    let other = task("A.other", CoreChoice::Pinned(0), 1_000 * US, (60 * US, 170 * US), 50 * US);
    job.tasks.push(other);
    let refusal = plan(&job).expect_err("neither order meets both");
    let mut named = names(&refusal);
    named.sort();
    let expected = [
        (DeclarationKind::Task, "A.other".to_owned()),
        (DeclarationKind::Task, "A.user".to_owned()),
        (DeclarationKind::Channel, "AB".to_owned()),
    ];
    assert_eq!(named, expected);
    holds(&job, &refusal);
    assert!(refusal.to_string().contains("channel `AB` is due at 200us of every 1ms"), "{refusal}");
}

const SMALL: Shape =
    Shape { cores: 2, tasks: 4, instances: 7, preemptible: true, channels: true, periods: &[8, 12, 24] };

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    // spec: QOS-ADMIT-04
    #[test]
    fn refusals_are_minimal_and_what_fits_fits(job in jobs(SMALL)) {
        if let Err(refusal) = plan(&job) {
            holds(&job, &refusal);
        }
    }
}

/// A message each 200 us, read once a second.
fn rarely_read(period: i64) -> Job {
    let mut job = empty(&[0, 1], guard_only(0));
    job.tasks.push(task("write", CoreChoice::Pinned(0), 200 * US, (0, 200 * US), 10 * US));
    job.tasks.push(task("read", CoreChoice::Pinned(1), period, (0, period), 10 * US));
    job.channels.push(time_driven("data", (0, 0), 200 * US, (0, 200 * US)));
    (job.tasks[0].writes, job.tasks[1].reads) = (vec![ChannelId(0)], vec![ChannelId(0)]);
    job
}

#[test]
fn too_many_buffers_are_told_with_their_number_and_the_limit() {
    let job = rarely_read(1_000_000 * US);
    let refusal = plan(&job).expect_err("more buffers than there may be");
    let need = refusal.buffers.clone().expect("buffers are the reason");
    // 5,000 messages a second: those between two readings, and those that the writer begins meanwhile.
    assert!((5_000..5_010).contains(&need.needed) && need.most == 4096, "{need:?}");
    let text = refusal.to_string();
    let told = format!("channel `data` needs {} buffers, but a channel has at most 4096", need.needed);
    assert!(text.starts_with(&told), "{text}");
    assert!(text.contains("read more often or sooner, or written less often"), "{text}");
    assert!(text.contains("set the period of task `read` to 500ms instead of 1s"), "{text}");
    holds(&job, &refusal);
    // A shorter period of the reader needs as many fewer, which a plan has and the checker takes.
    let planned = plan(&rarely_read(500_000 * US)).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert!((2_500..2_510).contains(&planned.channels[0].buffers), "{}", planned.channels[0].buffers);
}

/// A window far longer than its period has more turns than anybody can try; each of them counts as a step.
#[test]
fn a_window_of_very_many_rounds_is_answered() {
    const LONGEST: i64 = 1 << 53;
    for preemptible in [false, true] {
        let mut job = empty(&[0], guard_only(0));
        let one = |name, window, budget| {
            let mut made = task(name, CoreChoice::Pinned(0), 1000, window, budget);
            made.preemptible = preemptible;
            made
        };
        // The first two collide, and no interval is so full that this is known at once.
        job.tasks = vec![one("a", (0, 30), 20), one("b", (10, 20), 10), one("patient", (0, LONGEST), 1)];
        if let Ok(plan) = plan(&job) {
            assert!(preemptible, "the first two collide");
            assert_eq!(leveret_plan::checker::check(&plan, &job), Ok(()));
        }
    }
}
