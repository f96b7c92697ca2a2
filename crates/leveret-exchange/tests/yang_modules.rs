//! Configurations of random plans have the shape that `yanglint` accepted by the published modules (decision 058). The modules are not in the repository.
//! `BLESS=1 LEVERET_YANG_MODULES=FOLDER cargo test -p leveret-exchange --test yang_modules` validates anew, and writes the shape.

mod common;

use common::{LARGEST, planned};
use leveret_exchange::classes::priorities;
use leveret_exchange::gates::gates;
use leveret_exchange::yang;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::BTreeSet;
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

/// The shape of the configurations that were valid.
const VALIDATED: &str = include_str!("yang/validated.txt");
const VALIDATED_PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/yang/validated.txt");
const HEADER: &str = "\
# The shape of the configurations that yanglint accepted by the published modules (decision 058): kind of node, place, and what stands there.
# BLESS=1 LEVERET_YANG_MODULES=FOLDER cargo test -p leveret-exchange --test yang_modules
";

/// The folder of the published modules, where whoever runs the test names it.
#[allow(clippy::disallowed_methods, reason = "whoever runs the test has the modules, and says where")]
fn modules() -> Option<PathBuf> {
    std::env::var_os("LEVERET_YANG_MODULES").map(PathBuf::from)
}

#[allow(clippy::disallowed_methods, reason = "the marker with which a developer has the shape written anew")]
fn blessed() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Adds a line for each place in a configuration: the keys of an object, an identity itself, and of everything else its type. Numbers of these modules have
/// 32 bits at most; longer ones are texts.
fn shape(place: &str, value: &Value, lines: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Object(known) => {
            known.iter().for_each(|(key, value)| shape(&format!("{place}/{key}"), value, lines));
            let keys: BTreeSet<&str> = known.keys().map(String::as_str).collect();
            format!("{{ {} }}", keys.into_iter().collect::<Vec<_>>().join(", "))
        }
        Value::Array(all) => {
            all.iter().for_each(|value| shape(&format!("{place}[]"), value, lines));
            "list".to_owned()
        }
        Value::String(text) if text.contains(':') => text.clone(),
        Value::String(text) if text.parse::<u64>().is_ok() => "number as text".to_owned(),
        Value::String(_) => "text".to_owned(),
        Value::Number(number) if number.as_u64().is_some_and(|number| u32::try_from(number).is_ok()) => {
            "number of 32 bits".to_owned()
        }
        Value::Number(_) => "other number".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Null => "nothing".to_owned(),
    };
    lines.insert(format!("{place}: {kind}"));
}

/// The shape that was validated.
fn validated() -> BTreeSet<String> {
    VALIDATED.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
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
    let output = command.output().expect("yanglint (Debian: libyang2-tools) starts");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn configurations_have_the_shape_that_was_validated() {
    let folder = modules();
    let mut runner = TestRunner::deterministic();
    let mut lines = BTreeSet::new();
    for _ in 0..12 {
        let (traffic, plan) = planned().new_tree(&mut runner).expect("a plan").current();
        let Ok(gates) = gates(&traffic, &plan, LARGEST) else { continue };
        let document = yang::write("n", &traffic, &plan, &gates, &priorities(&traffic, &plan))
            .expect("whole microseconds");
        let document: Value = serde_json::from_str(&document).expect("JSON");
        for (node, known) in document["nodes"].as_object().expect("nodes") {
            let (kind, configuration) = (&known["kind"], &known["configuration"]);
            if let Some(faults) = folder.as_ref().and_then(|folder| faults(folder, kind, configuration)) {
                panic!("{node}: {faults}\n{configuration:#}");
            }
            shape(kind.as_str().expect("a kind"), configuration, &mut lines);
        }
    }
    // Only what the modules accepted is written.
    if blessed() && folder.is_some() {
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        std::fs::write(VALIDATED_PATH, HEADER.to_owned() + &text).expect("the shape is written");
        return;
    }
    let validated = validated();
    assert!(["bridge", "host"].iter().all(|kind| validated.iter().any(|line| line.starts_with(kind))));
    let differences: Vec<_> = lines.symmetric_difference(&validated).collect();
    assert!(differences.is_empty(), "not as validated; validate anew (decision 058): {differences:#?}");
}

/// The check sees it, and so does the tool.
#[test]
fn a_class_table_in_an_object_of_our_own_is_refused() {
    let interface =
        json!({ "name": "a", "type": "iana-if-type:ethernetCsmacd", "traffic-class-of-priority": [0, 1] });
    let configuration = json!({ "ietf-interfaces:interfaces": { "interface": [interface] } });
    let mut lines = BTreeSet::new();
    shape("bridge", &configuration, &mut lines);
    assert!(!lines.is_subset(&validated()));
    if let Some(folder) = modules() {
        assert!(faults(&folder, &json!("bridge"), &configuration).is_some());
    }
}
