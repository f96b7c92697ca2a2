//! Readers that are faster or slower than their writers, and readers that hold the last good message.

use crate::harness::{Outcome, Workplace, turn};
use crate::job::{Job, core};
use crate::stalls::Watch;
use leveret_report::record::Fate;
use leveret_report::verdict::{Cause, Party};

/// A writes every period, B reads with a period of its own.
fn pair(period: &str, window: [&str; 2], writer: &[&str], options: &str, reader: &[&str]) -> Outcome {
    let writer: Vec<&str> = ["task=A.user", "writes=AB"].iter().chain(writer).copied().collect();
    let reader: Vec<&str> = ["task=B.user", "reads=AB"].iter().chain(reader).copied().collect();
    let job = Job::new(20, "")
        .member("A", core(0), "test-node", &writer)
        .member("B", core(1), "test-node", &reader)
        .task("A.user", ["0ms", "4ms"], "1ms", "writes = [\"AB\"]")
        .task_every(period, "B.user", window, "1ms", "reads = [\"AB\"]")
        .channel("AB", ["4ms", "5ms"], options);
    let (place, watch) = (Workplace::new(), Watch::begin());
    let outcome = place.start(&job.text()).finish_alone().watched(watch);
    outcome.assert_consistent();
    outcome
}

fn fates(outcome: &Outcome, wanted: Fate) -> usize {
    let messages = &outcome.record().phases[0].channels[0].messages;
    messages.iter().filter(|message| message.fate == wanted).count()
}

#[test]
fn a_faster_reader_sees_messages_again() {
    let _turn = turn();
    for aliased in [&[][..], &["aliased=yes"]] {
        let reader: Vec<&str> = aliased.iter().chain(&["oversamples=yes"]).copied().collect();
        let outcome = pair("10ms", ["0ms", "10ms"], aliased, "", &reader);
        outcome.assert_no_miss_of_the_job();
        // Twenty rounds of two instances; the last message may be due after the last reader.
        let missed = outcome.assessment().misses.len();
        assert!(fates(&outcome, Fate::Taken) + missed >= 19, "{}", outcome.said());
    }
}

#[test]
fn a_slower_reader_passes_messages_over_without_a_miss() {
    let _turn = turn();
    for aliased in [&[][..], &["aliased=yes"]] {
        let outcome = pair("40ms", ["5ms", "20ms"], aliased, "", aliased);
        outcome.assert_no_miss_of_the_job();
        let (taken, untaken) = (fates(&outcome, Fate::Taken), fates(&outcome, Fate::Untaken));
        let missed = outcome.assessment().misses.len();
        assert!(taken + missed >= 19 && untaken + missed >= 19, "{taken} {untaken}: {}", outcome.said());
        assert_eq!(fates(&outcome, Fate::NoBuffer), 0, "{}", outcome.said());
    }
}

#[test]
fn the_last_good_message_is_held() {
    let _turn = turn();
    for aliased in [&[][..], &["aliased=yes"]] {
        let writer: Vec<&str> = aliased.iter().chain(&["overrun=10ms@5,9,13"]).copied().collect();
        let outcome = pair("20ms", ["6ms", "9ms"], &writer, "missing = \"hold-last\"", aliased);
        let late = outcome.done("node A: overrun", &[5, 9, 13]);
        for instance in outcome.undisturbed(late) {
            // The message before may not have come either.
            let is_held = |held: u64| {
                outcome.stderr.contains(&format!("node B: holds {held} in instance {instance}\n"))
            };
            let is_right =
                (0..instance).rev().find(|held| !outcome.stood_still_in_round(*held)).is_some_and(is_held);
            assert!(is_right || is_held(instance - 1), "{instance}: {}", outcome.said());
            let miss = outcome.miss("AB", instance);
            assert_eq!((miss.cause, miss.party), (Cause::LatePeer, Party::Job), "{:?}", miss.evidence);
        }
    }
}

/// The tutorial drops what a send returns: the report tells it all the same.
#[test]
fn a_message_that_is_too_long_is_a_miss_that_says_so() {
    let _turn = turn();
    let writer = ["size=64", "oversize=99@5,9,13"];
    let outcome = pair("20ms", ["6ms", "9ms"], &writer, "", &["size=64"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    for instance in outcome.undisturbed(outcome.done("node A: too long", &[5, 9, 13])) {
        let miss = outcome.miss("AB", instance);
        assert_eq!((miss.cause, miss.party), (Cause::TooLong, Party::Job), "{:?}", miss.evidence);
        assert!(miss.evidence[0].contains("sent 99 B"), "{:?}", miss.evidence);
        assert!(miss.evidence[0].contains("at most 64 B"), "{:?}", miss.evidence);
    }
}
