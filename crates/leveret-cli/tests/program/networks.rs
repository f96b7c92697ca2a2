//! Networks: from another planner's files to a plan, its check, and back; and what is said when there is none.

use super::{outcome, shown};
use std::path::Path;

const TOPOLOGY: &str = "examples/network/topology.csv";
const STREAMS: &str = "examples/network/streams.csv";

/// Exactly as `docs/planning.md` goes.
#[test]
fn the_tutorial_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (job, plan, prefix) = (at("job.toml"), at("plan.json"), at("cell"));
    let (_, said, code) = outcome(&["import", "tsnkit", TOPOLOGY, STREAMS, "--output", shown(&job)]);
    assert_eq!(code, Some(0), "{said}");
    let (text, said, code) = outcome(&["check", shown(&job)]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        text.starts_with(
            "admitted: network \"streams\", 7 nodes, 12 links, 5 channels, 47 slots, repeating every 1ms"
        ),
        "{text}"
    );
    let (_, said, code) = outcome(&["plan", shown(&job), "--output", shown(&plan)]);
    assert_eq!(code, Some(0), "{said}");
    let (text, _, code) = outcome(&["verify", shown(&plan), shown(&job)]);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("valid: "), "{text}");
    let (_, said, code) =
        outcome(&["export", "tsnkit", shown(&plan), shown(&job), "--output", shown(&prefix)]);
    assert_eq!(code, Some(0), "{said}");
    let gates = std::fs::read_to_string(at("cell-GCL.csv")).expect("gates");
    assert_eq!(gates.lines().count(), 1 + 47);
    assert!(["cell-OFFSET.csv", "cell-QUEUE.csv", "cell-ROUTE.csv"].iter().all(|name| at(name).is_file()));

    // A message that arrives earlier than it can.
    let broken = std::fs::read_to_string(&job)
        .expect("a manifest")
        .replace("latency = \"20us\"", "latency = \"12us\"");
    std::fs::write(&job, broken).expect("a manifest");
    let (text, _, code) = outcome(&["check", shown(&job)]);
    assert_eq!(code, Some(1));
    let expected = "channel \"3\" takes 12.4us on its quickest way (5 -> 2, 2 -> 1, 1 -> 0, 0 -> 3) with the network for itself alone, and its \
                    latency is 12us";
    assert!(text.contains(expected), "{text}");
    let (text, _, code) = outcome(&["verify", shown(&plan), shown(&job)]);
    assert_eq!(code, Some(1));
    assert!(text.contains("it is no longer under way than its latency"), "{text}");
    let (text, _, code) =
        outcome(&["export", "tsnkit", shown(&plan), shown(&job), "--output", shown(&prefix)]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("not valid"), "{text}");
}

#[test]
fn answers_for_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("job.toml");
    outcome(&["import", "tsnkit", TOPOLOGY, STREAMS, "--output", shown(&job)]);
    let answer = |job: &Path| -> serde_json::Value {
        let (text, _, _) = outcome(&["check", shown(job), "--format", "json"]);
        serde_json::from_str(&text).expect("JSON")
    };
    let admitted = answer(&job);
    assert_eq!(admitted["admitted"], true);
    assert_eq!(admitted["summary"]["streams"].as_array().map(Vec::len), Some(5));
    // Two channels that are too long for their windows.
    let text = std::fs::read_to_string(&job).expect("a manifest");
    let text = text
        .replace("size = \"1500B\"", "size = \"16000B\"")
        .replace("size = \"1000B\"", "size = \"16000B\"");
    std::fs::write(&job, text.replace("latency = \"100us\"", "").replace("latency = \"80us\"", ""))
        .expect("a manifest");
    let refused = answer(&job);
    assert_eq!((&refused["admitted"], &refused["infeasible"]), (&false.into(), &true.into()));
    let reason = "channel \"0\" takes 518us on its quickest way (3 -> 0, 0 -> 1, 1 -> 2, 2 -> 5) with the network for itself alone, and its \
                  window, from release to deadline, has 350us";
    assert_eq!(refused["reason"], reason);
}

#[test]
fn what_is_no_network_is_told() {
    let (_, said, code) = outcome(&["import", "tsnkit", STREAMS, TOPOLOGY]);
    assert_eq!(code, Some(2));
    assert!(said.contains("examples/network/streams.csv, line 1: the header must be"), "{said}");
    let (_, said, code) = outcome(&["export", "tsnkit", "plan.json", "examples/ring/job.toml"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("a job on one host"), "{said}");
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("job.toml");
    outcome(&["import", "tsnkit", TOPOLOGY, STREAMS, "--output", shown(&job)]);
    let (_, said, code) = outcome(&["run", shown(&job)]);
    assert_eq!(code, Some(2));
    assert!(said.contains("a network of several hosts"), "{said}");
    let plan = folder.path().join("plan.json");
    outcome(&["plan", "examples/ring/job.toml", "--output", shown(&plan)]);
    let (_, said, code) = outcome(&["verify", shown(&plan), shown(&job)]);
    assert_eq!(code, Some(2));
    assert!(said.contains("this is not a plan"), "{said}");
}
