//! Every fuzz target in one program, so that the crates are instrumented and linked once. The environment variable `LEVERET_FUZZ_TARGET` says
//! which of them runs.
#![no_main]

mod c_calls;
mod certificate;
mod changes;
mod control_message;
mod manifest;
mod network_manifest;
mod network_plan;
mod networks;
mod peer_segment;
mod plan_file;
mod promises;
mod quantity;
mod record;
mod record_report;
mod session;
mod system_plan;
mod tsnkit_files;

use std::sync::OnceLock;

type Target = fn(&[u8]);

/// Every target with its name.
const TARGETS: [(&str, Target); 14] = [
    ("c_calls", c_calls::run),
    ("certificate", certificate::run),
    ("control_message", control_message::run),
    ("manifest", manifest::run),
    ("network_manifest", network_manifest::run),
    ("network_plan", network_plan::run),
    ("peer_segment", peer_segment::run),
    ("plan_file", plan_file::run),
    ("quantity", quantity::run),
    ("record", record::run),
    ("record_report", record_report::run),
    ("session", session::run),
    ("system_plan", system_plan::run),
    ("tsnkit_files", tsnkit_files::run),
];
const CHOICE: &str = "LEVERET_FUZZ_TARGET";

static CHOSEN: OnceLock<Target> = OnceLock::new();

fn choose() {
    let name = std::env::var(CHOICE).unwrap_or_default();
    let Some((_, target)) = TARGETS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = TARGETS.iter().map(|(known, _)| *known).collect();
        eprintln!("{CHOICE} is '{name}'; it must name one of {}", known.join(", "));
        std::process::exit(2);
    };
    if name == "c_calls" {
        c_calls::begin();
    }
    CHOSEN.get_or_init(|| *target);
}

libfuzzer_sys::fuzz_target!(init: choose(), |bytes: &[u8]| {
    CHOSEN.get().expect("chosen at the beginning")(bytes);
});
