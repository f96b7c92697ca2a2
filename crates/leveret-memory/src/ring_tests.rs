use super::*;
use crate::region::HeapRegion;
use leveret_types::Generation;
use std::sync::Arc;

const RECORDS_OF_RING: u64 = 8;
const WORDS: usize = 5;

fn ring() -> (RingWriter<WORDS>, RingReader<WORDS>, Window) {
    let length = RECORDS + RECORDS_OF_RING as usize * WORDS * 8;
    let window = Window::whole(Arc::new(HeapRegion::new(length)));
    let tag = Tag::new(Generation(3));
    let records = RECORDS_OF_RING as u32;
    (RingWriter::new(window.clone(), tag, records), RingReader::new(window.clone(), tag, records), window)
}

/// Records that a draining passes on, and how many were lost and damaged.
fn drained(reader: &mut RingReader<WORDS>) -> (Vec<u64>, u64, u64) {
    let mut found = Vec::new();
    let Drained { lost, damaged } = reader.drain(|record| {
        assert_eq!((record[2], record[3]), (!record[1], record[1] << 9), "a damaged record got through");
        found.push(record[1]);
    });
    (found, lost.any_value(), damaged)
}

fn push(writer: &mut RingWriter<WORDS>, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| writer.push(&[0, number, !number, number << 9, 0]));
}

/// What may stand in a word: a bit changed, nothing, everything, or any number.
fn wrongs(right: u64) -> impl Iterator<Item = u64> {
    let apart = if cfg!(miri) { 63 } else { 1 };
    let bits = (0..64).step_by(apart).map(move |bit| right ^ 1 << bit);
    bits.chain([0, u64::MAX, right.wrapping_mul(0x9e37_79b9_7f4a_7c15)]).filter(move |wrong| *wrong != right)
}

/// A word that something has written over costs its own record, which is counted as damaged, and no other: not when it stands there as the
/// records are read, nor later.
#[test]
fn one_damaged_word_costs_one_record_at_most_and_is_counted() {
    let spans = [(5, 11), (0, 3), (0, 8), (6, 14)];
    for (before, pushed) in spans.into_iter().take(if cfg!(miri) { 1 } else { spans.len() }) {
        let words = (RECORDS / 8..).take(RECORDS_OF_RING as usize * WORDS).map(|place| place * 8);
        for offset in [PUSHED].into_iter().chain(words) {
            let count = wrongs(1).count();
            for which in 0..count + 1 {
                let (mut writer, mut reader, window) = ring();
                push(&mut writer, 0..before);
                assert_eq!(drained(&mut reader), ((0..before).collect(), 0, 0));
                push(&mut writer, before..pushed);
                let right = window.word(offset).load(Ordering::Relaxed);
                let Some(wrong) = wrongs(right).nth(which) else { continue };
                window.word(offset).store(wrong, Ordering::Relaxed);
                let what = format!("{before}..{pushed}, word {offset}: {right:#x} is {wrong:#x}");
                let (mut found, mut lost, mut damaged) = drained(&mut reader);
                // Nothing more for the same damage.
                let again = drained(&mut reader);
                push(&mut writer, pushed..pushed + 4);
                for (more, gone, wrong) in [again, drained(&mut reader)] {
                    found.extend(more);
                    (lost, damaged) = (lost + gone, damaged + wrong);
                }
                let missing = (before..pushed + 4).filter(|number| !found.contains(number)).count() as u64;
                assert!(found.is_sorted() && missing <= 1, "{what}: {found:?}");
                assert!(
                    missing <= damaged && lost == 0,
                    "{what}: {lost} lost, {damaged} damaged of {found:?}"
                );
                assert!(damaged <= 2, "{what}: one damage, {damaged} times");
            }
        }
    }
}

#[test]
fn a_reader_that_is_behind_loses_what_was_overwritten_and_finds_nothing_damaged() {
    let (mut writer, mut reader, _window) = ring();
    push(&mut writer, 0..21);
    assert_eq!(drained(&mut reader), ((13..21).collect(), 13, 0));
    assert_eq!(drained(&mut reader), (vec![], 0, 0));
}

/// A record that is overwritten while the reader goes through the ring.
#[test]
fn a_later_record_in_the_place_of_one_that_is_read_is_no_damage() {
    let (mut writer, mut reader, _window) = ring();
    push(&mut writer, 0..4);
    let mut found = Vec::new();
    let Drained { lost, damaged } = reader.drain(|record| {
        if record[1] == 1 {
            push(&mut writer, 4..11);
        }
        found.push(record[1]);
    });
    assert_eq!((found, lost.any_value(), damaged), (vec![0, 1, 3], 1, 0));
}
