//! The conformance suite in C (`tests/mpirt/`), and the examples in C, against the header and the library.

use crate::harness::{Outcome, Workplace, program, turn, undisturbed};
use crate::sanitized::compilers;
use leveret_report::record::{Ending, Fate, Outcome as InstanceOutcome, TaskRecord};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The suite runs at each of these numbers of members.
pub const MEMBERS: [u32; 4] = [1, 2, 3, 4];

/// For what POSIX and Linux add to C.
pub const GNU: [&str; 2] = ["cc", "-std=gnu11"];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a C or C++ file, as strictly as a careful user would, and gives the program.
pub fn compile(place: &Workplace, source: &str, compiler: &[&str]) -> PathBuf {
    let library = program().parent().expect("a program lies in a folder");
    let file = library.join("libmpirt.so");
    assert!(file.is_file(), "{} is missing; build it: cargo build -p leveret-capi", file.display());
    // Programs look for the library by its name with the major version, as it would be installed.
    let named = place.path("libmpirt.so.0");
    if !named.exists() {
        std::os::unix::fs::symlink(&file, &named).expect("a link to the library");
    }
    let target = place.path("program");
    let output = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-g"])
        .arg("-I")
        .arg(root().join("crates/leveret-capi/include"))
        .arg(root().join(source))
        .arg("-o")
        .arg(&target)
        .arg("-L")
        .arg(library)
        .arg("-lmpirt")
        .arg(format!("-Wl,-rpath,{}", named.parent().unwrap_or(library).display()))
        .output()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", compiler[0]));
    assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
    target
}

pub fn run(place: &Workplace, program_file: &Path, members: u32, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(program());
    command.arg("run").args(["-n", &members.to_string(), "--output"]).arg(place.path("out"));
    command.args(arguments).arg(program_file);
    place.spawn(command).finish_alone()
}

/// Every member passes, whatever their number.
pub fn conforms(source: &str) {
    conforms_with(source, &[]);
}

fn conforms_with(source: &str, arguments: &[&str]) {
    conforms_as(source, &["cc", "-std=c11"], arguments);
}

/// As [`conforms`], with this compiler and these arguments to `leveret run`.
pub fn conforms_as(source: &str, compiler: &[&str], arguments: &[&str]) {
    let _turn = turn();
    for members in MEMBERS {
        undisturbed(|| passes(source, members, compiler, arguments));
    }
}

fn passes(source: &str, members: u32, compiler: &[&str], arguments: &[&str]) {
    let place = Workplace::new();
    let built = compile(&place, source, compiler);
    passes_built(source, (&place, &built), members, arguments);
}

/// As [`passes`], of what was compiled already.
pub fn passes_built(source: &str, (place, built): (&Workplace, &Path), members: u32, arguments: &[&str]) {
    let outcome = run(place, built, members, arguments);
    // Instances missed on purpose make the run fail, and so do calls at random whose last commit is refused.
    let may_fail = source.ends_with("missed.c") || source.ends_with("any_call.c");
    assert!(
        matches!(outcome.code, Some(0 | 3)) || may_fail && outcome.code == Some(1),
        "{source} at {members}: {}",
        outcome.said()
    );
    let passed = outcome.stdout.matches(": passed").count();
    assert_eq!(passed, members as usize, "{source} at {members}: {}", outcome.said());
}

#[test]
fn setup() {
    conforms("tests/mpirt/setup.c");
}

#[test]
fn every_call() {
    conforms("tests/mpirt/every_call.c");
}

/// Seeds with which something was once found come first.
#[test]
fn any_call_after_any_other() {
    let _turn = turn();
    undisturbed(|| {
        for seed in ["11", "222", "1"] {
            let place = Workplace::new();
            let built = compile(&place, "tests/mpirt/any_call.c", &["cc", "-std=c11"]);
            let mut command = Command::new(program());
            command
                .args(["run", "-n", "1", "--output"])
                .arg(place.path("out"))
                .arg(&built)
                .args(["--", seed]);
            let outcome = place.spawn(command).finish_alone();
            assert_eq!(outcome.stdout.matches(": passed").count(), 1, "seed {seed}: {}", outcome.said());
        }
    });
}

#[test]
fn threads() {
    conforms("tests/mpirt/threads.c");
}

#[test]
fn again() {
    let _turn = turn();
    undisturbed(|| {
        passes("tests/mpirt/again.c", 2, &["cc", "-std=c11"], &[]);
    });
}

#[test]
fn objects() {
    conforms("tests/mpirt/objects.c");
}

#[test]
fn attributes() {
    conforms("tests/mpirt/attributes.c");
}

#[test]
fn containers() {
    conforms("tests/mpirt/containers.c");
}

#[test]
fn groups() {
    conforms("tests/mpirt/groups.c");
}

#[test]
fn commit() {
    conforms("tests/mpirt/commit.c");
}

#[test]
fn tasks() {
    conforms_with("tests/mpirt/tasks.c", &["--rounds", "20"]);
}

#[test]
fn buffers() {
    conforms("tests/mpirt/buffers.c");
}

#[test]
fn channels() {
    conforms("tests/mpirt/channels.c");
}

/// Every instance before the common instant is performed and accounted for, and none after it is begun: on each member
/// the same number.
#[test]
fn uncommit() {
    let _turn = turn();
    undisturbed(|| {
        for members in MEMBERS {
            let outcome = passes_at("tests/mpirt/uncommit.c", members);
            assert!(matches!(outcome.code, Some(0 | 3)), "at {members}: {}", outcome.said());
            outcome.assert_consistent();
            for phase in &outcome.record().phases {
                let counts: Vec<usize> = phase.tasks.iter().map(|task| task.instances.len()).collect();
                assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}: {}", outcome.said());
                assert!(
                    counts.iter().all(|count| *count as u64 == phase.rounds),
                    "{counts:?} in {} rounds",
                    phase.rounds
                );
            }
        }
    });
}

/// The others hear of a death in the call that waits for the dead, and nobody hangs.
#[test]
fn lost() {
    tells_of_the_dead("tests/mpirt/lost.c", &[]);
}

#[test]
fn lost_while_running() {
    tells_of_the_dead("tests/mpirt/lost_running.c", &[]);
}

#[test]
fn late() {
    tells_of_the_dead("tests/mpirt/late.c", &["--commit-within", "1s"]);
}

#[test]
fn life() {
    conforms("tests/mpirt/life.c");
}

/// All members pass but the last, which dies or is ended.
fn tells_of_the_dead(source: &str, arguments: &[&str]) {
    let _turn = turn();
    for compiler in compilers() {
        for members in [2, 3] {
            undisturbed(|| {
                let place = Workplace::new();
                let built = compile(&place, source, compiler);
                let outcome = run(&place, &built, members, arguments);
                assert_eq!(outcome.code, Some(1), "{}", outcome.said());
                let passed = outcome.stdout.matches(": passed").count();
                assert_eq!(passed, members as usize - 1, "{}", outcome.said());
            });
        }
    }
}

/// Every member passes; what the report makes of the run is the caller's to judge.
pub fn passes_at(source: &str, members: u32) -> Outcome {
    passes_as(source, members, &["cc", "-std=c11"])
}

pub fn passes_as(source: &str, members: u32, compiler: &[&str]) -> Outcome {
    let place = Workplace::new();
    let built = compile(&place, source, compiler);
    let outcome = run(&place, &built, members, &[]);
    let passed = outcome.stdout.matches(": passed").count();
    assert_eq!(passed, members as usize, "{source} at {members}: {}", outcome.said());
    outcome
}

/// Nothing is missed; instances that an uncommit cuts off in mid-round may be told as irregular.
#[test]
fn sided() {
    let _turn = turn();
    undisturbed(|| {
        for members in MEMBERS {
            let outcome = passes_at("tests/mpirt/sided.c", members);
            assert_eq!(outcome.report()["misses"]["ours"], 0, "at {members}: {}", outcome.said());
        }
    });
}

/// Instances that are not performed are misses of ours, which the report tells by their cause.
#[test]
fn missed() {
    let _turn = turn();
    undisturbed(|| {
        for members in MEMBERS {
            let outcome = passes_at("tests/mpirt/missed.c", members);
            if members > 1 {
                assert_eq!(outcome.code, Some(1), "{}", outcome.said());
                let said = outcome.report()["misses"].to_string() + &outcome.stdout;
                assert!(said.contains("no-room") || said.contains("no empty buffer"), "{}", outcome.said());
            }
        }
    });
}

/// The program asserts its statuses and counters at both ends; the record and its report have as many, each with its instance.
// spec: ERROR-SILENT-01
#[test]
fn every_miss_is_in_a_status_a_counter_and_the_report() {
    let _turn = turn();
    undisturbed(|| {
        let outcome = passes_at("tests/mpirt/missed.c", 2);
        let misses = outcome.assessment().misses;
        let phases = &outcome.record().phases;
        // Four of the activated instances, and the one that was started without a buffer.
        for (name, fate, expected) in
            [("no-sender-buffer", Fate::Missing, 5), ("no-receiver-buffer", Fate::NoRoom, 4)]
        {
            let of_channel = phases.iter().flat_map(|phase| phase.job.channels.iter().zip(&phase.channels));
            let recorded: Vec<u64> = of_channel
                .filter(|(channel, _)| channel.name == name)
                .flat_map(|(_, record)| &record.messages)
                .filter(|message| message.fate == fate)
                .map(|message| message.instance)
                .collect();
            assert_eq!(recorded.len(), expected, "{name}: {recorded:?}: {}", outcome.said());
            for instance in recorded {
                let told = misses.iter().any(|miss| miss.name == name && miss.instance == instance);
                assert!(told, "{name} {instance}: {}", outcome.said());
            }
        }
    });
}

/// What the program was told of each task equals what the record says of the same instances.
// spec: TASK-METRIC-AGREE-01, TASK-OVERRUN-02, ERROR-SILENT-01
#[test]
fn metrics_agree_with_the_report() {
    let _turn = turn();
    undisturbed(|| {
        for members in [1, 2] {
            let place = Workplace::new();
            let built = compile(&place, "tests/mpirt/metrics.c", &["cc", "-std=c11"]);
            let outcome = run(&place, &built, members, &["--rounds", "25"]);
            assert_eq!(outcome.stdout.matches(": passed").count(), members as usize, "{}", outcome.said());
            let record = outcome.record();
            let phase = &record.phases[0];
            let mut compared = 0;
            for (task, recorded) in phase.job.tasks.iter().zip(&phase.tasks) {
                let told = outcome.stdout.lines().find_map(|line| {
                    let rest = line.split_once(&format!("metrics {}: ", task.name))?.1;
                    Some(rest.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<i64>>())
                });
                let told = told.unwrap_or_else(|| panic!("{} says nothing: {}", task.name, outcome.said()));
                assert_eq!(
                    told[1..],
                    counted(recorded, told[0], task.budget.0),
                    "{}: {}",
                    task.name,
                    outcome.said()
                );
                compared += 1;
            }
            assert_eq!(compared, 2 * members as usize);
            // What the overrun took from its neighbour, if anything, is among the misses of the report.
            assert!(outcome.report()["misses"]["ours"].as_u64() > Some(0), "{}", outcome.said());
        }
    });
}

/// Completed, missed, overruns, skipped, sum of compute times and of start lateness, of the instances before `before`.
fn counted(task: &TaskRecord, before: i64, budget: i64) -> [i64; 6] {
    let mut counts = [0; 6];
    for instance in task.instances.iter().filter(|instance| (instance.instance as i64) < before) {
        let skipped =
            matches!(instance.outcome, InstanceOutcome::SkippedCritical | InstanceOutcome::SkippedOverrun);
        let compute = (instance.ended - instance.started).0;
        counts[1] += i64::from(skipped || instance.ended > instance.deadline);
        if skipped {
            counts[3] += 1;
        } else {
            counts[0] += 1;
            counts[2] += i64::from(compute > budget);
            counts[4] += compute;
            counts[5] += (instance.started - instance.planned).0;
        }
    }
    counts
}

#[test]
fn iterators() {
    conforms("tests/mpirt/iterators.c");
}

#[test]
fn bufiters() {
    conforms("tests/mpirt/bufiters.c");
}

#[test]
fn memory() {
    let _turn = turn();
    passes("tests/mpirt/memory.c", 1, &GNU, &[]);
}

#[test]
fn shared() {
    conforms("tests/mpirt/shared.c");
}

#[test]
fn collective() {
    conforms("tests/mpirt/collective.c");
}

#[test]
fn collective_errors() {
    conforms("tests/mpirt/collective_errors.c");
}

/// A miss stands at the channel between two members that made it.
#[test]
fn collective_missed() {
    let _turn = turn();
    undisturbed(|| {
        for members in MEMBERS {
            let outcome = passes_at("tests/mpirt/collective_missed.c", members);
            assert_eq!(outcome.code, Some(1), "{}", outcome.said());
            let said = outcome.report()["misses"].to_string() + &outcome.stdout;
            let last = members - 1;
            for edge in [format!("no-sender-buffer[{last}->0]"), format!("no-receiver-buffer[0->{last}]")] {
                assert!(said.contains(&edge), "{edge}: {}", outcome.said());
            }
        }
    });
}

/// The others hear of a death in whatever they wait for, and nobody hangs.
#[test]
fn collective_lost() {
    let _turn = turn();
    for compiler in compilers() {
        undisturbed(|| {
            let outcome = survived("tests/mpirt/collective_lost.c", &["zero", "one", "two"], compiler);
            assert_eq!(outcome.stdout.matches(": passed").count(), 2, "{}", outcome.said());
        });
    }
}

/// Nothing is missed, whoever starts and whoever is activated.
#[test]
fn collective_timed() {
    let _turn = turn();
    undisturbed(|| {
        for members in MEMBERS {
            let outcome = passes_at("tests/mpirt/collective_timed.c", members);
            assert_eq!(outcome.report()["misses"]["ours"], 0, "at {members}: {}", outcome.said());
        }
    });
}

#[test]
fn random() {
    conforms("tests/mpirt/random.c");
}

/// In GNU C, for the signal handler that counts system calls.
#[test]
fn law() {
    let _turn = turn();
    for members in [1, 2] {
        passes("tests/mpirt/law.c", members, &GNU, &[]);
    }
}

#[test]
fn events() {
    conforms("tests/mpirt/events.c");
}

#[test]
fn event_objects() {
    conforms("tests/mpirt/event_objects.c");
}

#[test]
fn event_handlers() {
    conforms("tests/mpirt/event_handlers.c");
}

/// Instances are missed on purpose.
#[test]
fn events_of_what_is_missed() {
    let _turn = turn();
    undisturbed(|| {
        for members in [1, 2] {
            passes_at("tests/mpirt/events_missed.c", members);
        }
    });
}

#[test]
fn events_of_a_member_that_is_killed() {
    survives_the_other("tests/mpirt/events_lost.c");
}

#[test]
fn channels_of_a_member_that_is_killed() {
    survives_the_other("tests/mpirt/lost_channels.c");
}

/// Members of one program, by a manifest under which a death does not end the job.
fn survived(source: &str, names: &[&str], compiler: &[&str]) -> Outcome {
    survived_on(source, names, compiler, "[0]")
}

pub fn survived_on(source: &str, names: &[&str], compiler: &[&str], cores: &str) -> Outcome {
    let place = Workplace::new();
    let built = compile(&place, source, compiler);
    let mut job = format!("[job]\nname = \"survived\"\npolicy = \"continue\"\n\n[host]\ncores = {cores}\n");
    for name in names {
        job += &format!("\n[[member]]\nname = \"{name}\"\ncommand = [\"{}\"]\n", built.display());
    }
    let outcome = place.start(&job).finish_alone();
    assert!(outcome.signal.is_none(), "{}", outcome.said());
    outcome
}

// spec: GROUP-WORLD-04
#[test]
fn ranks_follow_the_manifest() {
    let _turn = turn();
    undisturbed(|| {
        let outcome = survived("tests/mpirt/ranks.c", &["zebra", "ant"], &GNU);
        assert_eq!(outcome.stdout.matches(": passed").count(), 2, "{}", outcome.said());
        for line in
            ["to 0 rank 0 is zebra", "to 0 rank 1 is ant", "to 1 rank 0 is zebra", "to 1 rank 1 is ant"]
        {
            assert!(outcome.stdout.contains(line), "{line}: {}", outcome.said());
        }
    });
}

#[test]
fn groups_match_by_their_members() {
    conforms("tests/mpirt/ranks.c");
}

/// Two members, of which the second kills itself while the job goes on.
fn survives_the_other(source: &str) {
    let _turn = turn();
    for compiler in compilers() {
        let outcome = survived(source, &["zero", "one"], compiler);
        assert_eq!(outcome.stdout.matches("member 0: passed").count(), 1, "{}", outcome.said());
    }
}

/// Zero-sided: no call per message, the same plan as in Rust, nothing lost.
#[test]
fn the_ring_in_c_runs_by_the_clock() {
    const ROUNDS: u64 = 100;
    let _turn = turn();
    let place = Workplace::new();
    let built = compile(&place, "examples/ring/ring.c", &["cc", "-std=c11"]);
    let outcome = run(&place, &built, 3, &["--rounds", &ROUNDS.to_string()]);
    outcome.assert_consistent();
    assert_eq!(outcome.record().ending, Ending::Completed, "{}", outcome.said());
    assert_eq!(outcome.report()["misses"]["ours"], 0, "{}", outcome.said());
    for name in ["A", "B", "C"] {
        let line = outcome.stdout.lines().find(|line| line.starts_with(&format!("{name}.user: took ")));
        let line = line.unwrap_or_else(|| panic!("{name} says nothing: {}", outcome.said()));
        assert!(line.ends_with(", 0 out of order"), "{line}");
    }
    let path = &outcome.report()["data_path"];
    assert_eq!(path["system_calls"], path["planned_sleeps"], "{}", outcome.said());
}

#[test]
fn qos() {
    conforms("tests/mpirt/qos.c");
}

/// Ends and tasks that the library's threads serve, at priorities and for events.
#[test]
fn served() {
    conforms("tests/mpirt/served.c");
}

/// What holds of buffers, iterators and calls holds of channels with a priority too.
#[test]
fn channels_at_a_priority() {
    let compiler = ["cc", "-std=c11", "-DAT_A_PRIORITY"];
    let _turn = turn();
    for source in ["tests/mpirt/channels.c", "tests/mpirt/bufiters.c"] {
        for members in [2, 3] {
            passes(source, members, &compiler, &[]);
        }
    }
}

#[test]
fn served_without_the_heap() {
    let _turn = turn();
    undisturbed(|| {
        passes("tests/mpirt/served_law.c", 2, &GNU, &[]);
    });
}
