//! A crash of the agent: what it had recorded is on the disk, and the report tells of it.

use crate::harness::{Workplace, program, turn};
use crate::job::ring;
use leveret_report::journal;
use leveret_report::record::{Ending, RunRecord};
use std::process::Command;

const WRITTEN: u64 = 60;

/// The record as far as it is on the disk.
fn written(place: &Workplace) -> Option<RunRecord> {
    journal::decode(&std::fs::read(place.path("out/record.leveret")).ok()?).ok()
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
    let mut before = None;
    run.await_until("a record of some rounds", || {
        before = written(&place)
            .filter(|record| record.phases.first().is_some_and(|phase| phase.rounds >= WRITTEN));
        before.is_some()
    });
    run.kill();
    place.await_nobody();
    let (before, after) = (before.expect("it was awaited"), written(&place).expect("it is there still"));
    let (old, new) = (&before.phases[0], &after.phases[0]);
    assert!(new.rounds >= old.rounds, "{} after {}", new.rounds, old.rounds);
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
