//! The files of the tsnkit collection: topology and streams are read, planned, and the plan written and played; a schedule is played, whatever it says,
//! and what comes of it judged.
//!
//! Texts, with `---` between them: topology, streams, and perhaps gates, offsets, queues and routes. What begins with another byte than text does:
//! changes of the example and of its schedule.

use crate::changes;
use crate::networks;
use leveret_exchange::tsnkit::{self, Schedule};
use leveret_plan::checker::check_network;
use std::sync::OnceLock;

/// Between two files.
const BETWEEN: &str = "---\n";
/// What changed files begin with; no text does.
const CHANGED: u8 = 0xff;

/// The example, with its schedule: all six files.
fn good() -> &'static [String; 6] {
    static GOOD: OnceLock<[String; 6]> = OnceLock::new();
    GOOD.get_or_init(|| {
        let topology = include_str!("../../examples/network/topology.csv");
        let streams = include_str!("../../examples/network/streams.csv");
        let traffic =
            tsnkit::read(("topology", topology), ("streams", streams)).expect("the example is good");
        let plan = networks::planned(&traffic).expect("it has a plan");
        let Schedule { gates, offsets, queues, routes } = tsnkit::write(&traffic, &plan);
        [topology.to_owned(), streams.to_owned(), gates, offsets, queues, routes]
    })
}

fn examine(files: &[String]) {
    let [topology, streams, schedule @ ..] = files else { return };
    let traffic = match tsnkit::read(("topology", topology), ("streams", streams)) {
        Err(error) => {
            assert!(error.to_string().contains("line"));
            return;
        }
        Ok(traffic) if networks::is_small(&traffic) => traffic,
        Ok(_) => return,
    };
    let Some([gates, offsets, queues, routes]) = schedule.first_chunk() else {
        if let Some(plan) = networks::planned(&traffic) {
            let played = tsnkit::replay(&traffic, &tsnkit::write(&traffic, &plan));
            let played = played.unwrap_or_else(|error| panic!("what is written is played: {error}"));
            if let Err(violation) = check_network(&played, &traffic) {
                panic!("what is played is no plan: {violation}");
            }
        }
        return;
    };
    let schedule = Schedule {
        gates: gates.clone(),
        offsets: offsets.clone(),
        queues: queues.clone(),
        routes: routes.clone(),
    };
    match tsnkit::replay(&traffic, &schedule) {
        Err(error) => assert!(error.to_string().contains("line")),
        Ok(plan) => {
            if check_network(&plan, &traffic).is_ok() {
                networks::kept(&plan, &traffic);
            }
        }
    }
}

pub fn run(bytes: &[u8]) {
    let [CHANGED, rest @ ..] = bytes else {
        let text = String::from_utf8_lossy(bytes);
        let files: Vec<String> = text.split(BETWEEN).map(str::to_owned).collect();
        return examine(&files);
    };
    let mut files = good().to_vec();
    let mut is_of_traffic = true;
    for change in changes::all(rest) {
        // Half of them in the files that are planned.
        let file =
            if change.what < 128 { usize::from(change.what % 2) } else { 2 + usize::from(change.what % 4) };
        is_of_traffic &= file < 2;
        files[file] = change.text(&files[file]);
    }
    files.truncate(if is_of_traffic { 2 } else { 6 });
    examine(&files);
}
