//! A crash of the agent: what it had recorded is on the disk, and the report tells of it.

use crate::harness::{Workplace, program, turn};
use crate::job::{Job, core, ring};
use leveret_os::clock;
use leveret_report::journal::{self, CHUNK_HEADER_BYTES, Chunk, HEADER_BYTES};
use leveret_report::record::{Ending, RunRecord};
use leveret_types::Nanos;
use std::collections::BTreeSet;
use std::process::Command;

/// Of the ring.
const PERIOD: Nanos = Nanos::from_millis(20);
/// Rounds of the ring within a second: what a crash loses at most.
const ROUNDS_LOST_MOST: u64 = 50;
/// So many rounds are on the disk when the agent is killed, and come in pieces.
const WRITTEN: u64 = 4 * ROUNDS_LOST_MOST;
/// Of eight pieces that are handed over meanwhile; a test that gets no core for a moment sees two as one.
const PIECES_SEEN_LEAST: usize = 5;

/// The record as far as it is on the disk.
fn written(place: &Workplace) -> Option<RunRecord> {
    journal::decode(&std::fs::read(place.path("out/record.leveret")).ok()?).ok()
}

/// How many rounds each piece of the record had come to, as it is on the disk.
fn rounds_of_pieces(place: &Workplace) -> Vec<u64> {
    let bytes = std::fs::read(place.path("out/record.leveret")).expect("it is there");
    let mut rest = &bytes[HEADER_BYTES..];
    let mut rounds = Vec::new();
    while let Some((header, after)) = rest.split_first_chunk::<CHUNK_HEADER_BYTES>() {
        let Some((content, after)) =
            journal::content_bytes(*header).and_then(|length| after.split_at_checked(length))
        else {
            break;
        };
        if let Some(Chunk::Growth(growth)) = journal::decode_chunk(*header, content) {
            rounds.push(growth.rounds);
        }
        rest = after;
    }
    rounds
}

fn report(place: &Workplace, arguments: &[&str]) -> (Option<i32>, String) {
    let (command, rest) = arguments.split_first().expect("a command");
    let output =
        Command::new(program()).arg(command).arg(place.path("out")).args(rest).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        output.stderr.is_empty() || output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (output.status.code(), text)
}

#[test]
fn of_an_agent_that_is_killed_the_record_is_there_and_says_what_is_missing() {
    let _turn = turn();
    let place = Workplace::new();
    let run = place.start(&ring(1_000_000, "", [&[], &[], &[]]).text());
    let mut seen = BTreeSet::new();
    let mut begun = 0;
    // Killed when it keeps up, whenever that is between two pieces.
    run.await_until("a record of some rounds that is no older than a second", || {
        let Some(record) = written(&place) else { return false };
        let Some(phase) = record.phases.first() else { return false };
        seen.insert(phase.rounds);
        begun = ((clock::now() - phase.epoch_monotonic).0 / PERIOD.0).max(0).unsigned_abs();
        begun >= WRITTEN + ROUNDS_LOST_MOST && phase.rounds + ROUNDS_LOST_MOST >= begun
    });
    run.kill();
    place.await_nobody();
    let after = written(&place).expect("it is there still");
    let new = &after.phases[0];
    assert!(new.rounds + ROUNDS_LOST_MOST >= begun, "{} of {begun} rounds", new.rounds);
    assert!(seen.len() >= PIECES_SEEN_LEAST, "it came in few pieces: {seen:?}");
    let pieces = rounds_of_pieces(&place);
    let longest = pieces.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(longest.is_some_and(|longest| longest <= ROUNDS_LOST_MOST), "{pieces:?}");
    for (task, model) in new.tasks.iter().zip(&new.job.tasks) {
        let numbers: Vec<u64> = task.instances.iter().map(|instance| instance.instance).collect();
        let count = numbers.len() as u64;
        assert_eq!(numbers, (0..count).collect::<Vec<_>>(), "{}", model.name);
        assert!(
            count >= WRITTEN && count + 1 >= new.rounds,
            "{}: {count} of {} rounds",
            model.name,
            new.rounds
        );
    }
    for (channel, model) in new.channels.iter().zip(&new.job.channels) {
        assert!(channel.messages.len() as u64 + 2 >= new.rounds, "{}", model.name);
        assert!(channel.sent >= Some(WRITTEN), "{}: {:?} sent", model.name, channel.sent);
    }
    let Ending::Stopped(why) = &after.ending else { panic!("it did not end: {:?}", after.ending) };
    assert!(why.contains("Missing: what came later than "), "{why}");
    let (code, text) = report(&place, &["report"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains(&format!("{} rounds", new.rounds)) && text.contains("Missing: what came later than "),
        "{text}"
    );
    let (code, text) = report(&place, &["why", "B.user", "17"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("instance 17"), "{text}");
}

/// A run keeps within the limit of its record, while it runs and at its end.
#[test]
fn a_run_with_a_small_limit_leaves_no_more_and_says_what_it_left_out() {
    const LIMIT: u64 = 8 << 20;
    const ROUNDS: u64 = 4000;
    let _turn = turn();
    let place = Workplace::new();
    let mut job = Job::new(ROUNDS, "");
    for (rank, name) in ["A", "B", "C", "D", "E", "F"].into_iter().enumerate() {
        let task = format!("{name}.user");
        job = job.member(name, core(rank), "test-node", &[&format!("task={task}")]);
        job = job.task_every("1ms", &task, ["0ms", "1ms"], "20us", "");
    }
    let bytes = || -> u64 {
        let files = std::fs::read_dir(place.path("out")).into_iter().flatten();
        files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).sum()
    };
    let run = place.start_with(&job.text(), &["--record-limit", "8MiB"]);
    let mut most = 0;
    run.await_until("half of the instances", || {
        most = bytes().max(most);
        written(&place)
            .is_some_and(|record| record.phases.first().is_some_and(|phase| phase.rounds >= ROUNDS / 2))
    });
    let outcome = run.finish();
    assert!(most.max(bytes()) <= LIMIT, "{most} bytes while it ran, {} at its end", bytes());
    let tasks = &outcome.record().phases[0].tasks;
    for task in tasks {
        let (kept, thinned) = (task.instances.len() as u64, task.thinned.count);
        assert!(thinned > 0 && kept > 0, "{kept} kept, {thinned} thinned");
        assert_eq!(kept + thinned + task.records_lost, ROUNDS, "{}", outcome.said());
    }
    let thinned: u64 = tasks.iter().map(|task| task.thinned.count).sum();
    let told = format!("of {thinned} instances and 0 messages only counts and distributions are kept");
    assert!(outcome.stderr.contains(&told), "{}", outcome.said());
    assert!(outcome.record().machine.warnings.iter().any(|warning| warning.contains(&told)));
}

#[test]
fn without_its_directory_a_run_goes_on_with_a_warning() {
    let _turn = turn();
    let place = Workplace::new();
    let run = place.start(&ring(150, "", [&[], &[], &[]]).text());
    run.await_until("a record", || written(&place).is_some());
    std::fs::remove_dir_all(place.path("out")).expect("it is there");
    let (code, stdout, stderr) = run.finish_without_record();
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stdout.contains("150 rounds"), "{stdout}");
    let told = stderr.lines().find(|line| line.contains("the record is not written while the job runs"));
    let told = told.unwrap_or_else(|| panic!("it is not said: {stderr}"));
    assert!(
        told.contains("warning: ") && told.contains("record.leveret") && told.contains("leave the directory"),
        "{told}"
    );
}
