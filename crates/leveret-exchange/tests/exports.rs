//! What switches, hosts and readers of tables are given says what the plan says.

mod common;

use common::{LARGEST, List, planned, play, queue};
use leveret_exchange::classes::priorities;
use leveret_exchange::gates::gates;
use leveret_exchange::{launch, tables, yang};
use leveret_plan::network::{NetworkPlan, Traffic};
use leveret_plan::{CoreChoice, Costs, Job, Member, OverrunPolicy, Task};
use leveret_topology::NodeKind;
use leveret_types::{LinkId, MemberId, Nanos};
use proptest::prelude::*;
use serde_json::Value;

/// Reads the interfaces of a document as ports do: the node, the neighbour, and the list.
fn interfaces(document: &Value) -> Vec<(String, String, List)> {
    let mut found = Vec::new();
    for (node, known) in document["nodes"].as_object().expect("nodes") {
        let all = &known["configuration"]["ietf-interfaces:interfaces"]["interface"];
        for interface in all.as_array().expect("interfaces") {
            let port = &interface["ieee802-dot1q-bridge:bridge-port"];
            let table = match known["kind"].as_str() {
                Some("host") => &interface["ieee802-dot1dc-sched-if:gate-parameter-table"],
                _ => &port["ieee802-dot1q-sched-bridge:gate-parameter-table"],
            };
            assert_eq!(port.is_null(), known["kind"] == "host", "an end station is no bridge");
            let number = |value: &Value| value.as_i64().expect("a number");
            let (over, under) = (
                number(&table["admin-cycle-time"]["numerator"]),
                number(&table["admin-cycle-time"]["denominator"]),
            );
            let base = &table["admin-base-time"];
            let seconds: i64 = base["seconds"].as_str().expect("64 bits as text").parse().expect("seconds");
            let entries = table["admin-control-list"]["gate-control-entry"].as_array().expect("entries");
            // Rules (`must`) of the modules.
            assert!(entries.len() as i64 <= number(&table["supported-list-max"]));
            assert_eq!(table["admin-cycle-time"], table["supported-cycle-max"]);
            let longest = number(&table["supported-interval-max"]);
            let entry = |(index, entry): (usize, &Value)| {
                assert!(number(&entry["time-interval-value"]) <= longest);
                assert_eq!(number(&entry["index"]), index as i64);
                (number(&entry["gate-states-value"]).cast_unsigned(), number(&entry["time-interval-value"]))
            };
            let list = List {
                base: seconds * 1_000_000_000 + number(&base["nanoseconds"]),
                cycle: 1_000_000_000 / under * over,
                entries: entries.iter().enumerate().map(entry).collect(),
            };
            found.push((node.clone(), interface["name"].as_str().expect("a name").to_owned(), list));
        }
    }
    found
}

/// The class that a bridge with eight classes gives a priority, by the table of its port.
fn class_of(document: &Value, (node, neighbour): (&str, &str), priority: usize) -> Option<usize> {
    let all =
        document["nodes"][node]["configuration"]["ietf-interfaces:interfaces"]["interface"].as_array()?;
    let port = &all.iter().find(|one| one["name"] == neighbour)?["ieee802-dot1q-bridge:bridge-port"];
    let map = port["traffic-class"]["traffic-class-map"].as_array()?;
    let rows = map.iter().find(|row| row["priority"] == priority)?["available-traffic-class"].as_array()?;
    rows.iter().find(|row| row["num-traffic-class"] == 8)?["traffic-class"]
        .as_u64()
        .map(|class| class as usize)
}

/// What the table of streams says of each hop: node, stream, copy, next node, queue, class.
fn hops(document: &Value) -> Vec<(String, String, u64, String, u64, u64)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let number = |value: &Value| value.as_u64().expect("a number");
    let mut found = Vec::new();
    for (node, known) in document["nodes"].as_object().expect("nodes") {
        for stream in known["streams"].as_array().expect("streams") {
            for port in stream["leaves-by"].as_array().expect("ports") {
                found.push((
                    node.clone(),
                    text(&stream["stream"]),
                    number(&stream["copy"]),
                    text(&port["port"]),
                    number(&port["queue"]),
                    number(&port["traffic-class"]),
                ));
            }
        }
    }
    found.sort();
    found
}

/// Rows of a table, without comments and names of columns.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    reader.records().map(|row| row.expect("a row").iter().map(str::to_owned).collect()).collect()
}

/// All that hosts send: host, stream, copy, instance, instant.
fn sent(traffic: &Traffic, plan: &NetworkPlan) -> Vec<(String, String, u8, u32, i64)> {
    let mut found = Vec::new();
    for (link, slots) in traffic.network.links.iter().zip(&plan.links) {
        let host = &traffic.network.nodes[link.source.index()].name;
        for slot in slots.iter().filter(|slot| slot.hop == 0) {
            let stream = traffic.streams[slot.stream.index()].name.clone();
            found.push((host.clone(), stream, slot.copy, slot.instance, slot.start.0));
        }
    }
    found.sort();
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn switches_are_told_the_same_gates((traffic, plan) in planned()) {
        let Ok(gates) = gates(&traffic, &plan, LARGEST) else { return Ok(()) };
        let given = priorities(&traffic, &plan);
        let document = yang::write("n", &traffic, &plan, &gates, &given).expect("whole microseconds");
        let document: Value = serde_json::from_str(&document).expect("JSON");
        let interfaces = interfaces(&document);
        prop_assert_eq!(interfaces.len(), gates.len());
        for (node, neighbour, list) in interfaces {
            let link = |link: &leveret_topology::Link| traffic.network.ends(link) == (node.clone(), neighbour.clone());
            let link = LinkId(traffic.network.links.iter().position(link).expect("a link") as u32);
            let port = gates.iter().find(|port| port.link == link).expect("gates");
            play(&traffic, &plan, link, &list, |queue| port.class(queue));
            if traffic.network.nodes[traffic.network.links[link.index()].source.index()].kind != NodeKind::Host {
                let classes: Vec<_> = (0..8).map(|priority| class_of(&document, (&node, &neighbour), priority)).collect();
                prop_assert_eq!(classes, port.by_priority(&given).map(Some));
            }
        }
        let mut expected = Vec::new();
        for (stream, ways) in traffic.streams.iter().zip(&plan.ways) {
            for (copy, way) in ways.iter().enumerate() {
                for (hop, queue) in way.tree.hops.iter().zip(&way.queues) {
                    let (from, to) = traffic.network.ends(&traffic.network.links[hop.link.index()]);
                    let port = gates.iter().find(|port| port.link == hop.link).expect("gates");
                    let (queue, class) = (u64::from(*queue), port.class(*queue) as u64);
                    expected.push((from, stream.name.clone(), copy as u64, to, queue, class));
                }
            }
        }
        expected.sort();
        prop_assert_eq!(hops(&document), expected);
    }

    #[test]
    fn hosts_are_told_when_to_send((traffic, plan) in planned()) {
        let given = priorities(&traffic, &plan);
        let text = launch::write("n", &traffic, &plan, &given);
        let rows = rows(&text);
        let number = |text: &String| text.parse::<i64>().expect("a number");
        let mut found: Vec<_> = rows
            .iter()
            .map(|row| (row[0].clone(), row[2].clone(), number(&row[3]) as u8, number(&row[4]) as u32, number(&row[5])))
            .collect();
        prop_assert!(rows.windows(2).all(|pair| pair[0][0] != pair[1][0] || number(&pair[0][5]) <= number(&pair[1][5])));
        found.sort();
        prop_assert_eq!(found, sent(&traffic, &plan));
    }

    /// Whatever carries one priority at a port is in one queue there.
    #[test]
    fn a_priority_means_one_queue_at_each_port((traffic, plan) in planned()) {
        let given = priorities(&traffic, &plan);
        for (link, slots) in plan.links.iter().enumerate() {
            for slot in slots {
                if let Some(priority) = given.of[slot.stream.index()] {
                    prop_assert!((1..=7).contains(&priority));
                    prop_assert_eq!(given.queue(LinkId(link as u32), priority), Some(queue(&plan, slot)));
                }
            }
        }
    }
}

#[test]
fn a_table_has_every_stretch_in_order() {
    let task = |name: &str, core, period, budget, preemptible| Task {
        name: name.to_owned(),
        member: MemberId(0),
        period: Nanos(period),
        release: Nanos::ZERO,
        deadline: Nanos(period),
        budget: Nanos(budget),
        core: CoreChoice::Pinned(core),
        preemptible,
        overrun: OverrunPolicy::Skip,
        reads: Vec::new(),
        writes: Vec::new(),
        mover: false,
    };
    let costs = Costs { guard: Nanos::ZERO, switch: Nanos::ZERO, preemption: Nanos(1), ..Costs::default() };
    let job = Job {
        name: "job".to_owned(),
        cores: vec![0, 3],
        members: vec![Member { name: "m".to_owned() }],
        tasks: vec![
            task("long, of \"m\"", 3, 1_000_000, 400_000, true),
            task("short", 3, 250_000, 50_000, false),
            task("other", 0, 1_000_000, 10_000, false),
        ],
        channels: Vec::new(),
        sporadics: Vec::new(),
        costs,
    };
    let plan = leveret_plan::plan(&job).expect("a plan");
    let rows = rows(&tables::write(&job, &plan));
    assert_eq!(rows[0][..2], ["0", "other"]);
    let number = |text: &String| text.parse::<i64>().expect("a number");
    let of = |name: &str| -> Vec<&Vec<String>> { rows.iter().filter(|row| row[1] == name).collect() };
    let long = of("long, of \"m\"");
    let ran: i64 = long.iter().map(|row| number(&row[5]) - number(&row[4])).sum();
    let interruptions = long.len() as i64 - 1;
    assert_eq!(ran, 400_000 + interruptions, "its budget and what each interruption costs");
    assert!(interruptions > 0 && long.iter().enumerate().all(|(part, row)| number(&row[3]) == part as i64));
    assert_eq!(of("short").len(), 4);
    assert!(number(&of("short")[0][6]) > number(&long[0][6]), "who interrupts has the higher order");
    let on_three: Vec<_> = rows.iter().filter(|row| row[0] == "3").collect();
    assert!(on_three.windows(2).all(|pair| number(&pair[0][5]) <= number(&pair[1][4])), "one at a time");
}
