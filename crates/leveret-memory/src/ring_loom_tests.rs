use super::*;
use crate::region::HeapRegion;
use leveret_types::Generation;
use std::sync::Arc;

/// How many were lost, and none was damaged.
fn lost(drained: Drained) -> u64 {
    assert_eq!(drained.damaged, 0, "an honest writer damages nothing");
    drained.lost.any_value()
}

/// A ring of records of two equal words, and `count` of them pushed while a reader looks on.
fn watch(records: u32, count: u64) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(3);
    builder.check(move || {
        let window = Window::whole(Arc::new(HeapRegion::new(RECORDS + records as usize * 32)));
        let tag = Tag::new(Generation(1));
        let mut ring = RingWriter::<4>::new(window.clone(), tag, records);
        let mut reader = RingReader::<4>::new(window, tag, records);
        let writer = loom::thread::spawn(move || {
            for value in 1..=count {
                ring.push(&[0, value, value, 0]);
            }
        });
        let (mut seen, mut newest) = (0, 0);
        let mut check = |record: &[u64; 4]| {
            assert_eq!(record[1], record[2], "a torn record got through");
            assert!(record[1] > newest, "records come in order, none twice");
            newest = record[1];
            seen += 1;
        };
        let lost_before = lost(reader.drain(&mut check));
        writer.join().expect("the writer does not panic");
        let lost = lost_before + lost(reader.drain(&mut check));
        assert_eq!(
            (seen + lost, newest),
            (count, count),
            "every record is seen or counted, the last is seen"
        );
    });
}

#[test]
fn a_ring_of_one_loses_nothing_unnoticed() {
    watch(1, 2);
}

#[test]
fn a_ring_of_two_loses_nothing_unnoticed() {
    watch(2, 3);
}
