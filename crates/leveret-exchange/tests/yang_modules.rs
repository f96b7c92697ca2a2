//! Configurations of random plans, validated by `yanglint` against the published modules (decision 058).

mod common;

use common::{LARGEST, planned};
use leveret_exchange::classes::priorities;
use leveret_exchange::gates::gates;
use leveret_exchange::yang;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Modules that nodes implement: bridges, and end stations.
const OF_BRIDGES: [&str; 5] = [
    "ieee802-dot1q-types",
    "ieee802-dot1q-sched",
    "ieee802-dot1q-sched-bridge",
    "ieee802-dot1q-bridge",
    "iana-if-type",
];
const OF_HOSTS: [&str; 4] =
    ["ieee802-dot1q-types", "ieee802-dot1q-sched", "ieee802-dot1dc-sched-if", "iana-if-type"];

/// Where the modules lie, if they do and the tool is there.
#[allow(clippy::disallowed_methods, reason = "whoever runs the test has the modules, and says where")]
fn modules() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("LEVERET_YANG_MODULES").map(PathBuf::from) else {
        println!("SKIPPED: LEVERET_YANG_MODULES does not name the folder of the published YANG modules");
        return None;
    };
    if Command::new("yanglint").arg("--version").output().is_err() {
        println!("SKIPPED: yanglint is not installed (Debian: libyang-tools)");
        return None;
    }
    Some(folder)
}

/// The file of a module, whose name may have a revision.
fn file(folder: &Path, module: &str) -> PathBuf {
    let files =
        std::fs::read_dir(folder).expect("the folder of modules").map(|entry| entry.expect("a file").path());
    let is_it = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
            name.strip_prefix(module).is_some_and(|rest| rest.starts_with('.') || rest.starts_with('@'))
        })
    };
    files.into_iter().find(is_it).unwrap_or_else(|| panic!("{}: no module {module}", folder.display()))
}

/// What `yanglint` says against the configuration of a node.
fn faults(folder: &Path, kind: &Value, configuration: &Value) -> Option<String> {
    let scratch = tempfile::tempdir().expect("a folder");
    let document = scratch.path().join("node.json");
    std::fs::write(&document, configuration.to_string()).expect("a document");
    let modules: &[&str] = if kind == "host" { &OF_HOSTS } else { &OF_BRIDGES };
    let mut command = Command::new("yanglint");
    command.args(["-t", "config", "-p"]).arg(folder);
    command.args(modules.iter().map(|module| file(folder, module))).arg(&document);
    let output = command.output().expect("yanglint starts");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn configurations_are_valid_by_the_published_modules() {
    let Some(folder) = modules() else { return };
    let mut runner = TestRunner::deterministic();
    let (mut bridges, mut hosts) = (0, 0);
    for _ in 0..12 {
        let (traffic, plan) = planned().new_tree(&mut runner).expect("a plan").current();
        let Ok(gates) = gates(&traffic, &plan, LARGEST) else { continue };
        let document = yang::write("n", &traffic, &plan, &gates, &priorities(&traffic, &plan))
            .expect("whole microseconds");
        let document: Value = serde_json::from_str(&document).expect("JSON");
        for (node, known) in document["nodes"].as_object().expect("nodes") {
            if let Some(faults) = faults(&folder, &known["kind"], &known["configuration"]) {
                panic!("{node}: {faults}\n{:#}", known["configuration"]);
            }
            *if known["kind"] == "host" { &mut hosts } else { &mut bridges } += 1;
        }
    }
    assert!(bridges > 0 && hosts > 0, "{bridges} bridges, {hosts} end stations");
}

/// The tool would see it.
#[test]
fn a_gate_table_in_an_object_of_our_own_is_refused() {
    let Some(folder) = modules() else { return };
    let interface =
        json!({ "name": "a", "type": "iana-if-type:ethernetCsmacd", "traffic-class-of-priority": [0, 1] });
    let configuration = json!({ "ietf-interfaces:interfaces": { "interface": [interface] } });
    assert!(faults(&folder, &json!("bridge"), &configuration).is_some());
}
