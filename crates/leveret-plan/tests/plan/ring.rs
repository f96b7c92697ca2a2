//! The published case: the three-node ring of the HARE thesis, section 5.3.

use crate::common::{US, ring, us};
use leveret_plan::{Plan, checker, digest, plan, render_table};

#[test]
fn the_published_ring_is_admitted_at_five_and_at_one_millisecond() {
    for period_us in [5_000, 1_000] {
        let job = ring(period_us);
        let plan = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(checker::check(&plan, &job), Ok(()));
        assert_eq!(plan.hyperperiod, us(period_us));
        let starts: Vec<i64> = plan.tasks.iter().map(|task| task.instances[0].start().0 / US).collect();
        assert!((0..=20).contains(&starts[0]), "A starts in its window: {starts:?}");
        assert!((200..=220).contains(&starts[1]), "B starts in its window: {starts:?}");
        assert!((400..=420).contains(&starts[2]), "C starts in its window: {starts:?}");
        // A reads what C wrote in the round before; B and C read what was written in this round.
        let reads: Vec<i64> = plan.tasks[..3].iter().map(|task| task.instances[0].reads[0]).collect();
        assert_eq!(reads, [-1, 0, 0]);
        assert_eq!(plan.channels[0].instances[0].visible_at, us(200));
        assert_eq!(plan.channels[0].instances[0].insert_by, us(199));
    }
}

#[test]
fn the_plan_survives_its_text_form() {
    let plan = plan(&ring(1_000)).expect("admitted");
    let text = serde_json::to_string(&plan).expect("a plan can be written");
    assert_eq!(serde_json::from_str::<Plan>(&text).expect("and read"), plan);
}

#[test]
fn the_table_names_every_task_channel_and_core() {
    let job = ring(1_000);
    let table = render_table(&plan(&job).expect("admitted"), &job);
    for word in
        ["core 0", "core 1", "A.user #0", "dummy1 #0", "reads CA #-1, fills AB #0", "199us", "200us", "%)"]
    {
        assert!(table.contains(word), "{word} in\n{table}");
    }
}

/// The digest ties saved plans to their job across versions of this program.
#[test]
fn the_digest_is_stable() {
    assert_eq!(digest(&ring(1_000)), 0x6137_e376_15bb_ca4e);
    assert_ne!(digest(&ring(1_000)), digest(&ring(5_000)));
}
