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
    let (printed, said, code) = outcome(&["import", "tsnkit", TOPOLOGY, STREAMS, "--output", shown(&job)]);
    assert_eq!((printed.as_str(), code), ("", Some(0)), "{said}");
    const SIZES: &str = "network \"streams\", 7 nodes, 12 links, 5 channels";
    assert_eq!(said.trim_end(), format!("written: {}: {SIZES}", shown(&job)));
    let (printed, said, code) = outcome(&["import", "tsnkit", TOPOLOGY, STREAMS]);
    assert_eq!((Some(printed), code), (std::fs::read_to_string(&job).ok(), Some(0)), "{said}");
    assert_eq!(said.trim_end(), format!("written: standard output: {SIZES}"));
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
    let (printed, said, code) =
        outcome(&["export", "tsnkit", shown(&plan), shown(&job), "--output", shown(&prefix)]);
    assert_eq!((printed.as_str(), code), ("", Some(0)), "{said}");
    let files = ["GCL", "OFFSET", "QUEUE", "ROUTE"].map(|end| format!("{}-{end}.csv", shown(&prefix)));
    assert_eq!(said.trim_end(), format!("written: {}: the plan of {SIZES}", files.join(", ")));
    let gates = std::fs::read_to_string(at("cell-GCL.csv")).expect("gates");
    assert_eq!(gates.lines().count(), 1 + 47);
    assert!(["cell-OFFSET.csv", "cell-QUEUE.csv", "cell-ROUTE.csv"].iter().all(|name| at(name).is_file()));

    the_picture_and_the_gates(&job, &plan, folder.path());

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

/// The part of the tutorial that goes on from a plan: what is seen of it, and what keeps it.
fn the_picture_and_the_gates(job: &Path, plan: &Path, folder: &Path) {
    let at = |name: &str| folder.join(name);
    let page = at("plan.html");
    let (_, said, code) = outcome(&["gantt", shown(job), "--plan", shown(plan), "--output", shown(&page)]);
    assert_eq!(code, Some(0), "{said}");
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("<title>Plan of network &quot;streams&quot;</title>"));
    let (text, said, code) =
        outcome(&["export", "taprio", shown(plan), shown(job), "--output", shown(&at("gates"))]);
    assert_eq!(code, Some(0), "{said}");
    assert!(text.contains("longest list: 10 entries, of 1 -> 2; a port needs room for 16"), "{text}");
    assert!(text.contains("note: the plan counts 0 B beside the payload"), "{text}");
    for node in 0..7 {
        let script = std::fs::read_to_string(at(&format!("gates/{node}.sh"))).expect("a script");
        assert!(script.starts_with("#!/bin/sh\n") && script.contains("taprio"), "{script}");
    }
    let (_, said, code) =
        outcome(&["export", "yang", shown(plan), shown(job), "--output", shown(&at("gates.json"))]);
    assert_eq!(code, Some(0), "{said}");
    let gates = std::fs::read_to_string(at("gates.json")).expect("a document");
    let gates: serde_json::Value = serde_json::from_str(&gates).expect("JSON");
    assert_eq!(gates["nodes"].as_object().map(serde_json::Map::len), Some(7));
    let (text, said, code) = outcome(&["export", "launch", shown(plan), shown(job)]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 1 + 4 + 4 + 2 + 2 + 1);
}

/// Gates are shown without being set; where they would be set, the kernel's word or a name that is wrong ends it.
#[test]
fn gates_are_set_by_messages_of_our_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let (job, plan) = (folder.path().join("job.toml"), folder.path().join("plan.json"));
    outcome(&["import", "tsnkit", TOPOLOGY, STREAMS, "--output", shown(&job)]);
    outcome(&["plan", shown(&job), "--output", shown(&plan)]);
    let apply = |more: &[&str]| outcome(&[&["apply", shown(&plan), shown(&job)], more].concat());
    let (text, said, code) = apply(&["--node", "1", "--port", "2=lo", "--dry-run"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(text.starts_with("lo to 2: ") && text.contains("10 entries in"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("  gates ")).count(), 10, "{text}");
    // "taprio", as the kernel reads it.
    assert!(text.replace("\n  ", "").contains("74617072696f00"), "{text}");
    for (arguments, expected) in [
        (["--node", "99", "--port", "2=lo"], "--node 99: the network has no such node"),
        (["--node", "1", "--port", "77=lo"], "--port 77=lo: 1 has no port with gates to 77"),
        (["--node", "1", "--port", "2=no-such-one"], "no-such-one: there is no such network interface"),
        (["--node", "1", "--port", "lo"], "it takes the name of a neighbour"),
    ] {
        let (_, said, code) = apply(&arguments);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_part_of_a_plan_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let (job, page) = (folder.path().join("job.toml"), folder.path().join("plan.html"));
    outcome(&["import", "tsnkit", TOPOLOGY, STREAMS, "--output", shown(&job)]);
    let size = |more: &[&str]| {
        let (_, said, code) = outcome(&[&["gantt", shown(&job), "--output", shown(&page)], more].concat());
        assert_eq!(code, Some(0), "{said}");
        std::fs::read_to_string(&page).expect("a page").len()
    };
    let whole = size(&[]);
    let stretch = size(&["--from", "100us", "--until", "300us"]);
    let channel = size(&["--channel", "3"]);
    assert!(stretch < whole && channel < whole, "{whole} {stretch} {channel}");
    for (arguments, expected) in [
        (&["--channel", "33"][..], "there is no channel, task or chain \"33\""),
        (&["--from", "3ms"], "--from 3ms lies beyond the plan, which repeats every 1ms"),
        (&["--from", "3us", "--until", "2us"], "--from 3us is not before --until 2us"),
    ] {
        let (_, said, code) =
            outcome(&[&["gantt", shown(&job), "--output", shown(&page)], arguments].concat());
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_job_on_one_host_is_drawn_and_tabled() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, page) = (folder.path().join("plan.json"), folder.path().join("plan.html"));
    let job = "examples/ring/job.toml";
    outcome(&["plan", job, "--output", shown(&plan)]);
    let (_, said, code) = outcome(&["gantt", job, "--plan", shown(&plan), "--output", shown(&page)]);
    assert_eq!(code, Some(0), "{said}");
    let (text, said, code) = outcome(&["export", "tables", shown(&plan), job]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        text.starts_with("core,task,instance,part,start_ns,end_ns,order,reads,writes\n0,A.user,0,0,0,"),
        "{text}"
    );
    // A plan of another job is not drawn, and not written down.
    let other = "examples/ring/demo.toml";
    let (_, said, code) = outcome(&["gantt", other, "--plan", shown(&plan), "--output", shown(&page)]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.starts_with("not valid"), "{said}");
    let (text, _, code) = outcome(&["export", "tables", shown(&plan), other]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("not valid"), "{text}");
}

/// Channels beside the table have classes and shapers of their own in what ports are given, and no instants to be drawn.
#[test]
fn what_moves_beside_the_table_is_exported_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (job, plan) = ("examples/network/two-cells.toml", at("plan.json"));
    outcome(&["plan", job, "--output", shown(&plan)]);
    let (text, said, code) =
        outcome(&["export", "taprio", shown(&plan), job, "--output", shown(&at("gates"))]);
    assert_eq!(code, Some(0), "{said}");
    assert!(text.contains("frames of \"alarm\", beside the table: priority (PCP) 5"), "{text}");
    let script = std::fs::read_to_string(at("gates/drive.sh")).expect("a script");
    let shaper = "cbs idleslope 20000 sendslope -80000 hicredit 599 locredit -194 offload";
    assert!(script.contains(shaper) && script.contains("To s1: no slots"), "{script}");
    outcome(&["export", "yang", shown(&plan), job, "--output", shown(&at("gates.json"))]);
    let gates = std::fs::read_to_string(at("gates.json")).expect("a document");
    let gates: serde_json::Value = serde_json::from_str(&gates).expect("JSON");
    let ports = gates["nodes"]["s1"]["ports"].as_array().expect("ports");
    let port = ports.iter().find(|port| port["port"] == "controller").expect("its port");
    assert_eq!(port["traffic-class-of-priority"][5], 1);
    assert_eq!(gates["nodes"]["drive"]["flows"][0]["leaves-by"][0]["traffic-class"], 1);
    let page = at("plan.html");
    let (_, said, code) = outcome(&["gantt", job, "--output", shown(&page)]);
    assert!(
        code == Some(0) && said.contains("not drawn: 1 channel that moves beside the time table"),
        "{said}"
    );
    let (_, said, code) = outcome(&["gantt", job, "--channel", "alarm", "--output", shown(&page)]);
    assert!(code == Some(2) && said.contains("channel \"alarm\" moves beside the time table"), "{said}");
}

#[test]
fn what_cannot_be_exported_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (job, plan) = (folder.path().join("job.toml"), folder.path().join("plan.json"));
    outcome(&["import", "tsnkit", TOPOLOGY, STREAMS, "--output", shown(&job)]);
    outcome(&["plan", shown(&job), "--output", shown(&plan)]);
    let (_, said, code) = outcome(&["export", "taprio", shown(&plan), shown(&job), "--largest-frame", "9B"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("a frame has 84 B to 64 KiB on the wire"), "{said}");
    let (_, said, code) = outcome(&["export", "tables", shown(&plan), shown(&job)]);
    assert_eq!(code, Some(2));
    assert!(said.contains("a network, which has no tasks"), "{said}");
    let (_, said, code) = outcome(&["export", "launch", shown(&plan), "examples/ring/job.toml"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("only `tables` is made of its plan"), "{said}");
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

/// The example of `docs/network-manifest.md`, and what `docs/planning.md` says of it.
fn with_alarm(folder: &Path) -> std::path::PathBuf {
    let page = include_str!("../../../../docs/network-manifest.md");
    let text = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let job = folder.join("job.toml");
    std::fs::write(&job, text).expect("a manifest");
    job
}

#[test]
fn what_moves_beside_the_table_is_promised_and_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = with_alarm(folder.path());
    let (text, said, code) = outcome(&["check", shown(&job)]);
    assert_eq!(code, Some(0), "{said}");
    let table = text.split("beside the time table\n").nth(1).expect("a table of flows");
    for words in ["arrives within", "alarm", "left for best effort", "drive -> s1"] {
        assert!(table.contains(words), "{text}");
    }
    let plan = folder.path().join("plan.json");
    let (text, said, code) = outcome(&["plan", shown(&job), "--output", shown(&plan)]);
    assert!(code == Some(0) && text.contains("beside the time table"), "{said}");
    let (text, _, code) = outcome(&["verify", shown(&plan), shown(&job)]);
    assert!(code == Some(0) && text.contains("beside the time table"), "{text}");
    let (text, _, _) = outcome(&["check", shown(&job), "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let flow = &answer["summary"]["flows"][0];
    assert_eq!(
        (&flow["name"], &flow["class"], &flow["deadline"]),
        (&"alarm".into(), &5.into(), &1_000_000.into())
    );
    assert!(flow["slack"].is_i64() && answer["summary"]["classes"][0]["backlog"].is_u64(), "{flow}");

    // A deadline that cannot be promised: where the time goes, and what would do.
    let late = std::fs::read_to_string(&job)
        .expect("a manifest")
        .replace("deadline = \"1ms\"", "deadline = \"300us\"");
    std::fs::write(&job, late).expect("a manifest");
    let (text, _, code) = outcome(&["check", shown(&job)]);
    assert_eq!(code, Some(1));
    assert!(
        text.starts_with("refused: ")
            && text.contains("channel \"alarm\" may arrive at \"controller\" after"),
        "{text}"
    );
    let page = include_str!("../../../../docs/planning.md");
    let printed = page
        .split("```text\n")
        .find(|block| block.starts_with("refused: network \"two-cells\""))
        .expect("a refusal");
    assert_eq!(Some(text.as_str()), printed.split("```").next());
    let (text, _, code) = outcome(&["verify", shown(&plan), shown(&job)]);
    assert!(code == Some(1) && text.contains("it arrives before its deadline"), "{text}");
    let (text, _, _) = outcome(&["check", shown(&job), "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&answer["admitted"], &answer["infeasible"]), (&false.into(), &false.into()));
}
