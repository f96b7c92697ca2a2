//! The examples that the documents point to are manifests without errors, and say what the paper says.

use leveret_manifest::{Guard, Manifest};
use leveret_plan::Qos;
use leveret_protocol::control::Scheduling;
use leveret_protocol::coordinator::DeathPolicy;
use leveret_types::{ByteSize, Nanos};
use std::path::Path;

fn example(name: &str) -> Manifest {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    leveret_manifest::parse(&text, name).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

#[test]
fn the_ring_is_the_published_case() {
    let manifest = example("ring/job.toml");
    let job = &manifest.declaration;
    assert_eq!((manifest.policy, manifest.scheduling), (DeathPolicy::Stop, Scheduling::Fifo));
    assert_eq!((manifest.rounds, manifest.duration), (Some(5000), None));
    assert_eq!(manifest.costs.guard, Guard::Measured);
    assert_eq!(job.cores, [0, 1]);
    let members: Vec<_> = job.members.iter().map(|member| (member.name.as_str(), member.core)).collect();
    assert_eq!(members, [("A", Some(0)), ("B", Some(1)), ("C", Some(0)), ("foreign", None)]);
    // HARE thesis, Table 5.1: start and deadline of the user tasks, in microseconds.
    for (name, release, deadline) in [("A.user", 0, 75), ("B.user", 200, 275), ("C.user", 400, 475)] {
        let (_, task) = job.tasks.iter().find(|(_, task)| task.name == name).unwrap();
        assert_eq!(task.period, Some(Nanos::from_millis(5)), "{name}");
        assert_eq!(task.release, Some(Nanos::from_micros(release)), "{name}");
        assert_eq!(task.deadline, Some(Nanos::from_micros(deadline)), "{name}");
        assert_eq!(task.budget, Some(Nanos::from_micros(50)), "{name}");
    }
    for (name, release, deadline) in [("AB", 75, 200), ("BC", 275, 400), ("CA", 475, 600)] {
        let channel = job.channels.iter().find(|channel| channel.name == name).unwrap();
        assert_eq!(channel.size, Some(ByteSize(1024)), "{name}");
        let qos = Qos::TimeDriven {
            period: Nanos::from_millis(5),
            release: Nanos::from_micros(release),
            deadline: Nanos::from_micros(deadline),
            missing: Default::default(),
        };
        assert_eq!(channel.qos, Some(qos), "{name}");
    }
}

#[test]
fn the_demonstration_differs_in_time_only() {
    let (published, demo) = (example("ring/job.toml"), example("ring/demo.toml"));
    assert_eq!(published.launch, demo.launch);
    assert_eq!(published.declaration.members, demo.declaration.members);
    for ((_, left), (_, right)) in published.declaration.tasks.iter().zip(&demo.declaration.tasks) {
        assert_eq!((&left.name, left.budget), (&right.name, right.budget));
        assert_eq!((&left.reads, &left.writes), (&right.reads, &right.writes));
        assert_eq!(right.period, Some(Nanos::from_millis(1)));
    }
    assert_eq!(published.declaration.tasks.len(), demo.declaration.tasks.len());
}

#[test]
fn the_limit_of_the_record_is_a_size_that_has_room_for_a_report() {
    let with = |limit: &str| {
        let text = format!(
            "[job]\nname = \"a\"\nrecord-limit = {limit}\n[host]\ncores = [0]\n[[member]]\nname = \"A\"\ncommand = [\"a\"]\n"
        );
        leveret_manifest::parse(&text, "job.toml")
    };
    let limit = |text| with(text).expect("no errors").record_limit;
    assert_eq!(limit("\"64MiB\""), Some(ByteSize(64 << 20)));
    assert_eq!(limit("\"8MiB\""), Some(ByteSize(8 << 20)));
    for wrong in ["\"7MiB\"", "64", "\"64\"", "\"9999999GiB\""] {
        let errors = with(wrong).expect_err(wrong);
        assert!(errors[0].to_string().contains("record-limit") || wrong == "64", "{}", errors[0]);
        assert_eq!(errors.len(), 1, "{wrong}");
    }
}
