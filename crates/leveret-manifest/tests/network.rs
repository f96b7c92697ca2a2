//! Manifests of networks: what is written is read back, and what is wrong is named with its place and remedy.

use leveret_manifest::{NetworkManifest, is_network, parse, parse_network};
use leveret_plan::network::{Flow, Stream, Traffic};
use leveret_topology::{Forwarding, Graph, NodeKind, Reservation, Shape, Shaper, Tree, disjoint_pair, shape};
use leveret_types::{BitRate, ByteSize, Nanos, NodeId};
use proptest::prelude::*;

const EXAMPLE: &str = include_str!("../../../docs/network-manifest.md");

fn example() -> &'static str {
    EXAMPLE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example")
}

#[test]
fn the_example_of_the_reference_is_right() {
    assert!(is_network(example()));
    let manifest = parse_network(example(), "job.toml").expect("a manifest without errors");
    let traffic = &manifest.traffic;
    assert_eq!((traffic.network.nodes.len(), traffic.network.links.len(), traffic.streams.len()), (5, 8, 2));
    assert_eq!(
        traffic.network.nodes[4].kind,
        NodeKind::Switch(Forwarding::CutThrough { header: ByteSize(64) })
    );
    assert_eq!(traffic.clock_error, Nanos(500));
    let alarm = &traffic.flows[0];
    assert_eq!((alarm.class, alarm.burst, alarm.deadline), (Some(5), 2, Some(Nanos::from_millis(1))));
    let shaper = Shaper { class: 5, idle_slope: BitRate(20_000_000) };
    assert!(traffic.network.links.iter().filter(|link| link.shaping == [shaper]).count() == 2);
    assert_eq!(traffic.streams[1].targets, [NodeId(2), NodeId(0)]);
    let errors = parse(example(), "job.toml").expect_err("no job on one host");
    assert!(errors[0].to_string().contains("leveret check"), "{}", errors[0]);
}

/// One line of the example changed: the message, the line it is placed at, and the hint.
#[track_caller]
fn refused(from: &str, to: &str, message: &str, hint: &str) {
    assert!(example().contains(from), "the example has no {from}");
    let text = example().replacen(from, to, 1);
    let errors = parse_network(&text, "job.toml").expect_err("a fault");
    let found = errors.iter().any(|error| error.message.contains(message) && error.hint.contains(hint));
    assert!(found, "expected \"{message}\" and \"{hint}\", found {errors:#?}");
    assert!(errors.iter().all(|error| error.line <= text.lines().count()));
}

#[test]
fn faults_have_a_place_and_a_remedy() {
    refused("name = \"two-cells\"", "", "[job] has no `name`", "name = ");
    refused("[network]", "[netwrk]", "unknown key `netwrk`", "did you mean [network]?");
    refused("clock-error = \"500ns\"", "clock-error = \"2s\"", "out of range", "to 1s");
    refused("name = \"drive\"", "name = \"camera\"", "two nodes are named \"camera\"", "another name");
    refused("cut-through = \"64B\"", "cut-through = 64", "has no unit", "64B");
    refused("ends = [\"camera\", \"s0\"]", "ends = [\"camera\", \"s7\"]", "no node \"s7\"", "did you mean");
    refused("ends = [\"camera\", \"s0\"]", "ends = [\"camera\"]", "names 1 nodes", "ends = ");
    refused("ends = [\"camera\", \"s0\"]", "ends = [\"camera\", \"camera\"]", "with itself", "two nodes");
    refused("ends = [\"camera\", \"s0\"]", "ends = [\"s1\", \"s0\"]", "two links join", "remove one");
    refused("rate = \"1Gbit/s\"", "rate = \"1Gb\"", "not a rate", "units");
    refused("rate = \"1Gbit/s\"", "rate = 1", "has no unit", "Gbit/s");
    refused("length = \"100us\"", "length = \"2ms\"", "out of range", "to 1ms");
    refused("length = \"100us\"", "end = \"1ms\"", "unknown key `end`", "length");
    refused("target = \"controller\"", "target = \"s1\"", "is a switch", "[[host]]");
    refused(
        "target = \"controller\"",
        "target = \"drive\"\ntargets = [\"drive\"]",
        "both `target` and `targets`",
        "keep one",
    );
    refused("target = \"controller\"", "", "has no `target`", "target = ");
    refused("target = \"controller\"", "target = \"camera\"", "not its own source", "");
    refused("name = \"setpoint\"", "name = \"image\"", "two channels are named \"image\"", "another name");
    refused(
        "size = \"9000B\"",
        "size = \"9000B\"\nway = [\"camera\", \"s1\"]",
        "no link leads from \"camera\" to \"s1\"",
        "every node",
    );
    refused("size = \"9000B\"", "size = \"9000B\"\nway = [\"camera\", \"s0\"]", "the way that it names", "");
    let both = "size = \"9000B\"\nway = [\"camera\", \"s0\", \"s1\", \"controller\"]\nways = [[\"camera\", \"s0\", \"s1\", \"controller\"]]";
    refused("size = \"9000B\"", both, "`way` stands beside `ways`", "keep one");
    let twice = "size = \"9000B\"\nways = [[\"camera\", \"s0\", \"s1\", \"controller\"], [\"camera\", \"s1\", \"controller\"]]";
    refused("size = \"9000B\"", twice, "two of the ways lead to \"controller\"", "copies = 2");
    refused("name = \"image\"", "name = \"ima\\u202ege\"", "ima\\u{202e}ge", "");
    refused("size = \"9000B\"", "size = \"9000B\"\nreads = 1", "unknown key `reads`", "");
    refused("size = \"9000B\"", "size = \"9000B\"\nburst = 2", "not time-driven", "priority-driven");
    refused("qos = \"priority-driven\"", "qos = \"priority\"", "must be \"time-driven\"", "priority-driven");
    refused("qos = \"priority-driven\"", "qos = 7", "must be a text", "quotes");
    refused("qos = \"priority-driven\"", "qos = \"best-effort\"", "means nothing for", "priority-driven");
    refused("priority = 5", "priority = 8", "out of range", "0 to 7");
    refused("priority = 5", "priority = 5\nperiod = \"1ms\"", "for time-driven channels", "remove");
    refused("priority = 5", "", "has no `priority`", "priority = 5");
    refused("interval = \"2ms\"", "", "has no `interval`", "interval = ");
    refused("interval = \"2ms\"", "interval = \"2ms\"\nburst = 0", "out of range", "");
    refused("class = 5, ", "", "shaping has no `class`", "idle-slope");
    refused("idle-slope = \"20Mbit/s\"", "idle-slope = 20", "has no unit", "Mbit/s");
    refused("idle-slope = \"20Mbit/s\"", "idle-slope = \"2Gbit/s\"", "below the link's rate", "");
    refused("idle-slope = \"20Mbit/s\"", "slope = \"20Mbit/s\"", "unknown key `slope`", "idle-slope");
}

#[test]
fn an_event_is_urgent_and_best_effort_has_no_promise() {
    let event = example().replace("qos = \"priority-driven\"\npriority = 5", "qos = \"event-driven\"");
    let manifest = parse_network(&event, "job.toml").expect("a manifest without errors");
    assert_eq!(manifest.traffic.flows[0].class, Some(7));
    let text = example().replace("qos = \"priority-driven\"\npriority = 5", "qos = \"best-effort\"");
    let text = text.replace("deadline = \"1ms\"\n", "").replace("interval = \"2ms\"\n", "");
    let manifest = parse_network(&text, "job.toml").expect("a manifest without errors");
    assert_eq!((manifest.traffic.flows[0].class, manifest.traffic.flows[0].interval), (None, None));
}

/// What moves beside the time table.
fn random_flow(seed: &[u32], graph: &Graph, index: usize) -> Flow {
    let pick = |index: usize, most: u32| seed[index % seed.len()] % most;
    let (source, target) = (pick(index + 3, 6), (pick(index + 3, 6) + 1 + pick(index + 4, 5)) % 6);
    let (source, target) = (NodeId(6 + source), NodeId(6 + target));
    let way = Tree::spread(graph, source, &[target], 1).filter(|_| pick(index, 2) == 0);
    let class = (pick(index + 5, 3) > 0).then(|| pick(index, 8) as u8);
    let interval = Nanos(i64::from(pick(index + 2, 999_999)) + 1);
    Flow {
        interval: (class.is_some() || pick(index + 6, 2) == 0).then_some(interval),
        burst: pick(index + 6, 40) + 1,
        deadline: class.filter(|_| pick(index + 7, 2) == 0).map(|_| interval + interval),
        class,
        way,
        ..Flow::new(format!("f{index}"), source, target, ByteSize(u64::from(pick(index, 9000)) + 1), interval)
    }
}

/// A random network with random channels.
fn manifest(seed: &[u32]) -> NetworkManifest {
    let pick = |index: usize, most: u32| seed[index % seed.len()] % most;
    let mut network = shape([Shape::Ring, Shape::Mesh, Shape::Line][pick(0, 3) as usize], 6, 6);
    for (index, node) in network.nodes.iter_mut().enumerate().take(6) {
        if pick(index, 2) == 0 {
            node.kind =
                NodeKind::Switch(Forwarding::CutThrough { header: ByteSize(u64::from(pick(index, 99)) + 1) });
        }
    }
    for (index, link) in network.links.iter_mut().enumerate() {
        (link.propagation, link.queues) =
            (Nanos(i64::from(pick(index / 4, 3000))), 1 + pick(index / 2, 8) as u8);
        if pick(index, 3) == 0 {
            let period = Nanos::from_micros(500);
            link.reserved.push(Reservation {
                period,
                start: Nanos(i64::from(pick(index, 999))),
                length: Nanos(i64::from(pick(index, 77)) + 1),
            });
        }
        if pick(index + 1, 3) == 0 {
            let idle_slope = BitRate(u64::from(pick(index, 999_999_999)) + 1);
            link.shaping = vec![Shaper { class: pick(index, 8) as u8, idle_slope }];
        }
    }
    let graph = Graph::new(&network);
    let stream = |index: usize| {
        let (source, target) = (pick(index, 6), (pick(index, 6) + 1 + pick(index + 1, 5)) % 6);
        let (source, targets) = (NodeId(6 + source), vec![NodeId(6 + target)]);
        let ways = disjoint_pair(&graph, source, targets[0]).filter(|_| pick(index + 2, 2) == 0);
        Stream {
            name: format!("c{index}"),
            source,
            copies: if ways.is_some() { 2 } else { 1 },
            ways: ways.map(|(one, two)| vec![Tree::path(&one), Tree::path(&two)]),
            targets,
            size: ByteSize(u64::from(pick(index, 4000)) + 1),
            period: Nanos::from_micros([250, 500, 1000][pick(index + 3, 3) as usize]),
            release: Nanos(i64::from(pick(index, 5000))),
            deadline: Nanos(6000 + i64::from(pick(index + 1, 5_000_000))),
            latency: (pick(index, 3) == 0).then(|| Nanos(i64::from(pick(index + 1, 90_000)))),
            jitter: (pick(index, 4) == 0).then(|| Nanos(i64::from(pick(index + 2, 90_000)))),
        }
    };
    let streams = (0..seed.len()).map(stream).collect();
    let flows = (0..seed.len() % 7).map(|index| random_flow(seed, &graph, index)).collect();
    let traffic = Traffic {
        network,
        streams,
        flows,
        clock_error: Nanos(i64::from(pick(1, 2000))),
        whole_cycles: pick(2, 2) == 0,
    };
    NetworkManifest { name: "random".to_owned(), traffic, system: None }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(seed in prop::collection::vec(any::<u32>(), 1..30)) {
        let manifest = manifest(&seed);
        prop_assert!(manifest.traffic.validate().is_ok());
        let text = manifest.render();
        match parse_network(&text, "job.toml") {
            Ok(read) => prop_assert_eq!(read, manifest),
            Err(errors) => prop_assert!(false, "{}", errors[0]),
        }
    }

    #[test]
    fn no_text_panics(cut in 0usize..3000, byte in any::<u8>()) {
        let mut bytes = example().as_bytes().to_vec();
        let place = cut % bytes.len();
        bytes[place] = byte;
        let text = String::from_utf8_lossy(&bytes);
        if let Err(errors) = parse_network(&text, "job.toml") {
            prop_assert!(!errors.is_empty());
        }
    }
}
