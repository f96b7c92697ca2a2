//! Gates of random plans, read back from the scripts and played: each slot finds its gate open, nothing else gets in its way, and nothing leaves early.

mod common;

use common::{LARGEST, List, planned, play, queue};
use leveret_exchange::classes::priorities;
use leveret_exchange::gates::{GatesError, gates};
use leveret_exchange::netlink::TC_ENTRIES_MAX;
use leveret_exchange::taprio;
use leveret_plan::network::{NetworkPlan, Traffic};
use leveret_types::{LinkId, Nanos};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One command of a script.
struct Command {
    map: Vec<usize>,
    classes: usize,
    list: List,
}

/// The commands of all scripts, by node and variable.
fn commands(scripts: &[(String, String)]) -> BTreeMap<(String, String), Command> {
    let mut found = BTreeMap::new();
    for (name, script) in scripts {
        let joined = script.replace("\\\n", " ");
        for line in joined.lines().filter(|line| line.starts_with("tc ") && line.contains(" taprio ")) {
            let variable =
                line.split("${DEV_").nth(1).and_then(|rest| rest.split(':').next()).expect("a device");
            let words: Vec<&str> = line.split_whitespace().collect();
            let after = |word: &str| words.iter().position(|known| *known == word).expect(word) + 1;
            let number = |at: usize| words[at].parse::<i64>().expect("a number");
            let map = (0..16).map(|place| number(after("map") + place) as usize).collect();
            let mut entries = Vec::new();
            let mut at = after("cycle-time") + 1;
            while words[at] == "sched-entry" {
                assert_eq!(words[at + 1], "S");
                entries.push((u64::from_str_radix(words[at + 2], 16).expect("gates"), number(at + 3)));
                at += 4;
            }
            let base = words[after("base-time") + 2].trim_end_matches("))\"").parse().expect("an offset");
            let list = List { base, cycle: number(after("cycle-time")), entries };
            let classes = number(after("num_tc")) as usize;
            let node = name.strip_suffix(".sh").expect("a script").to_owned();
            found.insert((node, variable.to_owned()), Command { map, classes, list });
        }
    }
    found
}

fn of_link<'a>(
    commands: &'a BTreeMap<(String, String), Command>,
    traffic: &Traffic,
    link: usize,
) -> Option<&'a Command> {
    commands.get(&traffic.network.ends(&traffic.network.links[link]))
}

/// Which class a port gives a queue, by the priority of the streams that take it.
fn class_of(traffic: &Traffic, plan: &NetworkPlan, link: usize, command: &Command) -> BTreeMap<u8, usize> {
    let given = priorities(traffic, plan);
    let mut classes = BTreeMap::new();
    for slot in &plan.links[link] {
        let Some(priority) = given.of[slot.stream.index()] else { continue };
        let class = command.map[usize::from(priority)];
        assert_eq!(*classes.entry(queue(plan, slot)).or_insert(class), class, "one queue, one class");
    }
    classes
}

/// Whether a message comes to this link in several frames from a slower one: the first is there before its slot, which waits for the last.
fn comes_in_parts(traffic: &Traffic, plan: &NetworkPlan, link: usize) -> bool {
    let network = &traffic.network;
    plan.links[link].iter().any(|slot| {
        let hops = &plan.ways[slot.stream.index()][usize::from(slot.copy)].tree.hops;
        let before = hops[usize::from(slot.hop)].parent.map(|parent| hops[parent as usize].link);
        let is_slower = |before: LinkId| network.links[before.index()].rate < network.links[link].rate;
        traffic.streams[slot.stream.index()].size > network.frames.payload_max
            && before.is_some_and(is_slower)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn slots_find_their_gates_open_and_theirs_alone((traffic, plan) in planned()) {
        let gates = match gates(&traffic, &plan, LARGEST) {
            Ok(gates) => gates,
            Err(GatesError::Queues { queues, .. }) => {
                prop_assert_eq!(queues, 8);
                return Ok(());
            }
        };
        let scripts = taprio::write(&traffic, &gates, &priorities(&traffic, &plan), LARGEST);
        let commands = commands(&scripts);
        let is_used = |link: &usize| {
            let beside = traffic.flows.iter().zip(&plan.flows).filter(|(flow, _)| flow.class.is_some());
            !plan.links[*link].is_empty() || beside.flat_map(|(_, way)| &way.hops).any(|hop| hop.link.index() == *link)
        };
        // What `tc` would cut is left to `leveret apply`, whose messages tests/netlink.rs reads.
        let is_cut = |link: &usize| gates.iter().any(|port| port.link.index() == *link && port.entries.len() > TC_ENTRIES_MAX);
        let applied: usize = scripts.iter().map(|(_, script)| script.matches("\nleveret apply ").count()).sum();
        prop_assert_eq!(applied, (0..plan.links.len()).filter(is_cut).count());
        prop_assert_eq!(commands.len() + applied, (0..plan.links.len()).filter(is_used).count());
        for link in (0..plan.links.len()).filter(|link| is_used(link) && !is_cut(link)) {
            let command = of_link(&commands, &traffic, link).expect("a command for each port");
            let rate = traffic.network.links[link].rate;
            let short = command.list.entries.iter().filter(|(_, length)| *length < rate.transmission(60).0).count();
            prop_assert_eq!(short, gates.iter().find(|port| port.link.index() == link).map_or(0, |port| port.short));
            let own = gates.iter().find(|port| port.link.index() == link).expect("gates");
            let early = traffic.clock_error != Nanos(0) || !own.beside.is_empty() || comes_in_parts(&traffic, &plan, link);
            prop_assert!(early || short == 0, "without a clock error nothing comes early");
            prop_assert!(command.list.entries.windows(2).all(|pair| pair[0].0 != pair[1].0), "neighbours differ");
            prop_assert_eq!(command.map[0], 0, "other traffic has class 0");
            for class in 0..command.classes {
                prop_assert_eq!(command.map[8 + class], class);
            }
            let classes = class_of(&traffic, &plan, link, command);
            // A stream without a priority of its own comes to its class by a filter.
            let class = |queue: u8| classes.get(&queue).copied().unwrap_or_else(|| own.class(queue));
            play(&traffic, &plan, LinkId(link as u32), &command.list, class);
        }
    }
}
