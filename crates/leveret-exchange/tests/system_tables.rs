//! Time tables of the hosts of a system say what the plan says, for people's programs and for others.

#[path = "../../leveret-plan/tests/common/mod.rs"]
mod common;

use common::systems::{cell, systems};
use leveret_exchange::tables;
use leveret_plan::ExplainBudget;
use leveret_plan::network::Effort;
use leveret_plan::system::{System, SystemPlan, plan_system, plan_system_within};
use proptest::prelude::*;
use serde_json::Value;

fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    reader.records().map(|row| row.expect("a row").iter().map(str::to_owned).collect()).collect()
}

#[test]
fn messages_stand_with_the_instants_of_their_windows() {
    let system = cell(true, None);
    let plan = plan_system(&system, Effort::default()).expect("a plan");
    let text = tables::write_system(&system, &plan);
    assert!(text.starts_with("host,core,task,instance,part,start_ns,end_ns,order,reads,writes\n"), "{text}");
    let rows = rows(&text);
    let of = |task: &str| rows.iter().find(|row| row[2] == task).expect("a row");
    // Inserted a clock error, and what publishing takes, before the release; visible a clock error after the deadline.
    let (take, step, act) = (of("take"), of("step"), of("act"));
    assert_eq!((take[0].as_str(), take[8].as_str(), take[9].as_str()), ("h0", "", "image#0@398500"));
    let begins = |text: &str, message: &str| {
        let (number, at) = text.split_once('@').expect("an instant");
        assert!(number.starts_with(message), "{text}");
        at.parse::<i64>().expect("ns")
    };
    assert_eq!(begins(&step[8], "image#").rem_euclid(2_000_000), 900_500);
    assert_eq!(begins(&step[9], "setpoint#").rem_euclid(2_000_000), 1_398_500);
    assert_eq!(begins(&act[8], "setpoint#").rem_euclid(2_000_000), 1_700_500);
    assert!(begins(&step[8], "image#") <= step[5].parse().expect("ns"), "{step:?}");
}

/// What the table of values between commas has, read from that for programs.
fn flat(document: &Value) -> Vec<Vec<String>> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut rows = Vec::new();
    for host in document["hosts"].as_array().expect("hosts") {
        for row in host["table"].as_array().expect("a table") {
            let messages = |key: &str, at: &str| {
                let one = |one: &Value| format!("{}#{}@{}", text(&one["channel"]), one["message"], one[at]);
                row[key].as_array().expect("messages").iter().map(one).collect::<Vec<_>>().join(" ")
            };
            let mut cells = vec![text(&host["host"])];
            cells.extend(
                ["core", "task", "instance", "part", "start_ns", "end_ns", "order"]
                    .map(|key| text(&row[key])),
            );
            cells.extend([messages("reads", "visible_ns"), messages("writes", "insert_by_ns")]);
            rows.push(cells);
        }
    }
    rows
}

fn planned(system: &System) -> Option<SystemPlan> {
    plan_system_within(system, Effort { seed: 0, steps: 100_000 }, ExplainBudget::NONE).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_stretch_has_a_line(system in systems()) {
        let Some(plan) = planned(&system) else { return Ok(()) };
        let rows = rows(&tables::write_system(&system, &plan));
        let document: Value = serde_json::from_str(&tables::write_system_json(&system, &plan)).expect("JSON");
        prop_assert_eq!(&rows, &flat(&document));
        let instances = plan.hosts.iter().flat_map(|host| &host.tasks).flat_map(|task| &task.instances);
        prop_assert_eq!(rows.len(), instances.map(|one| one.segments.len()).sum::<usize>());
        for row in &rows {
            let number = |text: &str| text.parse::<i64>().expect("ns");
            let at = |text: &str| number(text.rsplit_once('@').expect("an instant").1);
            prop_assert!(row[8].split_whitespace().all(|read| at(read) <= number(&row[5])), "{:?}", row);
            prop_assert!(row[9].split_whitespace().all(|write| number(&row[6]) <= at(write)), "{:?}", row);
        }
    }
}
