//! Channel ends that no time table moves: best effort, single transfers, activation. The members check what they
//! see and say so by their exit status.

use crate::harness::{Outcome, Workplace, turn};
use crate::job::{Job, core, ring};
use leveret_report::record::{Ending, Fate, MessageRecord};

const PAUSES_ROUNDS: u64 = 60;

fn assert_well(outcome: &Outcome, says: &[&str]) {
    outcome.assert_consistent();
    assert!(!outcome.stderr.contains("ends "), "{}", outcome.said());
    assert_eq!(outcome.record().ending, Ending::Completed, "{}", outcome.said());
    for text in says {
        assert!(outcome.stdout.contains(text), "\"{text}\" is missing: {}", outcome.said());
    }
}

fn pair(what: &str, rounds: u64) -> Job {
    Job::new(rounds, "").member("A", core(0), "test-ends", &[what]).member("B", core(1), "test-ends", &[what])
}

// spec: CHANNEL-END-04
#[test]
fn best_effort_there_by_polling_and_back_by_waking() {
    let _turn = turn();
    let outcome = Workplace::new().start(&pair("poll", 1000).text()).finish_alone();
    assert_well(&outcome, &["poll A: 2000", "poll B: 2000"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.said());
}

/// Nothing is lost by an attempt to send that finds no free buffer; the report says how many there were.
#[test]
fn attempts_to_send_without_a_free_buffer_are_told() {
    let _turn = turn();
    let outcome = Workplace::new().start(&pair("full", 1000).text()).finish_alone();
    assert_well(&outcome, &["full A: 4 and 16", "full B: 4 and 16"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.said());
    assert!(outcome.stdout.contains("16 attempts to send found no free buffer"), "{}", outcome.said());
    let phase = &outcome.record().phases[0];
    let counted = |name: &str| {
        let place = phase.job.channels.iter().position(|channel| channel.name == name).expect("a channel");
        let channel = &phase.channels[place];
        (channel.sent, channel.taken, channel.refused)
    };
    assert_eq!(counted("there"), (Some(4), Some(4), Some(16)), "{}", outcome.said());
    assert_eq!(counted("begin"), (Some(1), Some(1), Some(0)), "{}", outcome.said());
}

// spec: CHANNEL-START-01, CHANNEL-WAIT-01, SIDED-SLACK-01, SIDED-SLACK-02
#[test]
fn transfers_are_started_one_by_one() {
    let _turn = turn();
    let outcome = Workplace::new().start(&pair("start", 60).text()).finish_alone();
    assert_well(&outcome, &["start B: 10"]);
    let messages = &outcome.record().phases[0].channels[0].messages;
    let taken = messages.iter().filter(|message| message.fate == Fate::Taken).count();
    assert_eq!(taken, 10, "each is in the record: {messages:?}");
    assert!(messages.iter().all(|message| message.inserted.is_some()), "{messages:?}");
}

// spec: SIDED-ACTIVATE-04, SIDED-DEACTIVATE-03
#[test]
fn deactivation_and_activation_keep_to_the_named_instances() {
    pauses("activate", "activate A: off at ");
}

// spec: SIDED-ACTIVATE-04, SIDED-DEACTIVATE-03
#[test]
fn a_receiving_end_pauses_at_the_named_instances() {
    pauses("pause", "pause B: off at ");
}

fn pauses(what: &str, says: &str) {
    let _turn = turn();
    let job = pair(what, PAUSES_ROUNDS)
        .task("A.user", ["0ms", "5ms"], "1ms", "writes = [\"AB\"]")
        .task("B.user", ["9ms", "14ms"], "1ms", "reads = [\"AB\"]")
        .channel("AB", ["5ms", "9ms"], "");
    let outcome = Workplace::new().start(&job.text()).finish_alone();
    assert_well(&outcome, &[says]);
    outcome.assert_no_miss_of_the_job();
    let line = outcome.stdout.lines().find_map(|line| line.strip_prefix(says)).expect("it says so");
    let (until, from) = line.split_once(", on at ").expect("both instances");
    let off = until.parse::<u64>().expect("a number")..from.parse().expect("a number");
    let messages = &outcome.record().phases[0].channels[0].messages;
    let misses = outcome.assessment().misses;
    for instance in 0..PAUSES_ROUNDS {
        let is_of_it = |message: &&MessageRecord| message.instance == instance;
        let message = messages.iter().find(is_of_it);
        let is_sent = message.is_some_and(|message| message.inserted.is_some());
        let misses = |name: &str| misses.iter().any(|miss| miss.name == name && miss.instance == instance);
        let is_missed = misses("AB");
        // Who was skipped takes nothing.
        let is_done = message.is_some_and(|message| message.fate == Fate::Taken)
            || is_missed
            || is_sent && misses("B.user");
        let is_off = off.contains(&instance);
        assert!(!is_off || !is_sent && !is_missed, "{instance} of {off:?}: {}", outcome.said());
        assert!(is_off || is_done, "{instance} of {off:?}: {}", outcome.said());
    }
}

#[test]
fn aliased_buffers_carry_the_same_ring() {
    let _turn = turn();
    let aliased = "aliased=yes";
    let job = ring(50, "", [&[aliased], &[aliased], &[aliased]]).text();
    let outcome = Workplace::new().start(&job).finish_alone();
    outcome.assert_consistent();
    let placements: Vec<_> =
        outcome.record().phases[0].job.channels.iter().map(|channel| channel.placement).collect();
    assert_eq!(placements, [leveret_plan::Placement::Aliased; 3]);
    outcome.assert_no_miss_of_the_job();
    assert_eq!(outcome.report()["data_path"]["allocations_after_commit"], 0);
}
