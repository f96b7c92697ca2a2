//! The files of the tsnkit collection: what they say is what is planned, what is wrong in them is named with its place, and a plan is
//! written as its simulator reads it.

use leveret_exchange::tsnkit::{Schedule, TsnkitError, TsnkitFault, read, replay, write};
use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, Traffic, plan_network};
use leveret_topology::NodeKind;
use leveret_types::{BitRate, ByteSize, Nanos};

/// Two switches in a row, with two end stations each.
const TOPOLOGY: &str = r#"link,q_num,rate,t_proc,t_prop
"(0, 1)",8,1,2000,0
"(0, 2)",8,1,2000,0
"(0, 3)",8,1,2000,0
"(1, 0)",8,1,2000,0
"(1, 4)",8,1,2000,0
"(1, 5)",8,10,1000,30
"(2, 0)",8,1,2000,0
"(3, 0)",8,1,2000,0
"(4, 1)",8,1,2000,0
"(5, 1)",8,10,1000,30
"#;

const STREAMS: &str = "stream,src,dst,size,period,deadline,jitter
0,2,[4],500,500000,224000,224000
1,3,[4],200,1000000,8800,8800
2,2,[5],1500,1000000,400000,0
";

fn traffic(topology: &str, streams: &str) -> Result<Traffic, TsnkitError> {
    read(("net.csv", topology), ("streams.csv", streams))
}

#[test]
fn reads_an_instance() {
    let traffic = traffic(TOPOLOGY, STREAMS).expect("an instance");
    let hosts = traffic
        .network
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Host)
        .map(|node| node.name.as_str());
    assert_eq!(hosts.collect::<Vec<_>>(), ["2", "3", "4", "5"]);
    let slow = &traffic.network.links[5];
    assert_eq!(
        (slow.rate, slow.processing, slow.propagation),
        (BitRate(100_000_000), Nanos::ZERO, Nanos(30))
    );
    let stream = &traffic.streams[2];
    assert_eq!(
        (stream.size, stream.period, stream.latency),
        (ByteSize(1500), Nanos(1_000_000), Some(Nanos(400_000)))
    );
    assert_eq!(
        (stream.release, stream.deadline, stream.jitter),
        (Nanos::ZERO, Nanos(1_400_000), Some(Nanos::ZERO))
    );
    assert_eq!(traffic.streams[0].jitter, None);
    // One frame, without anything beside it.
    assert_eq!(traffic.network.frames.occupation(ByteSize(4500), BitRate(1_000_000_000)), Nanos(36_000));
}

#[test]
fn what_is_written_is_what_was_planned() {
    let traffic = traffic(TOPOLOGY, STREAMS).expect("an instance");
    let (plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
    assert_eq!(check_network(&plan, &traffic), Ok(()));
    let schedule = write(&traffic, &plan);
    // Stream 1 may take 8.8 us, and its way takes all of it: no gate of it may open later than its first frame comes.
    let lines = |text: &str, begin: &str| {
        text.lines().filter(|line| line.starts_with(begin)).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(&schedule.routes, "1,"), ["1,\"(3, 0)\"", "1,\"(0, 1)\"", "1,\"(1, 4)\""]);
    let offset: i64 = lines(&schedule.offsets, "1,0,")[0][4..].parse().expect("a number");
    for (hop, link) in ["(3, 0)", "(0, 1)", "(1, 4)"].iter().enumerate() {
        let start = offset + hop as i64 * 3600;
        let gate = format!("\"{link}\",0,{start},{},1000000", start + 1600);
        assert!(schedule.gates.lines().any(|line| line == gate), "{gate} is missing in {}", schedule.gates);
    }
    assert_eq!(lines(&schedule.offsets, "0,").len(), 2);
    assert_eq!(lines(&schedule.queues, "0,").len(), 2 * 3);
    assert_eq!(schedule.gates.lines().count(), 1 + 2 * 3 + 3 + 3);
}

#[track_caller]
fn refused(topology: &str, streams: &str, file: &str, line: u64) -> TsnkitFault {
    let error = traffic(topology, streams).expect_err("a fault");
    assert_eq!((error.file.as_str(), error.line), (file, line), "{error}");
    error.fault
}

#[test]
fn faults_have_a_place_and_a_remedy() {
    let network = |from: &str, to: &str| TOPOLOGY.replacen(from, to, 1);
    let streams = |from: &str, to: &str| STREAMS.replacen(from, to, 1);
    assert!(matches!(refused("", STREAMS, "net.csv", 1), TsnkitFault::Header { missing: "link", .. }));
    assert!(matches!(
        refused(&network("q_num", "queues"), STREAMS, "net.csv", 1),
        TsnkitFault::Header { missing: "q_num", .. }
    ));
    assert_eq!(refused("link,q_num,rate,t_proc,t_prop\n", STREAMS, "net.csv", 1), TsnkitFault::Empty);
    assert_eq!(
        refused(&network("(0, 2)", "(0; 2)"), STREAMS, "net.csv", 3),
        TsnkitFault::Pair("(0; 2)".to_owned())
    );
    assert_eq!(refused(&network(",8,10,", ",8,7,"), STREAMS, "net.csv", 7), TsnkitFault::Rate(7));
    assert!(matches!(
        refused(&network(",8,10,", ",9,10,"), STREAMS, "net.csv", 7),
        TsnkitFault::Number { column: "q_num", .. }
    ));
    assert!(matches!(
        refused(&network("\"(0, 2)\",8", "\"(0, 2)\""), STREAMS, "net.csv", 3),
        TsnkitFault::Csv(_)
    ));
    assert!(matches!(refused(TOPOLOGY, &streams("[4]", "4"), "streams.csv", 2), TsnkitFault::List(_)));
    assert_eq!(refused(TOPOLOGY, &streams("[4]", "[9]"), "streams.csv", 2), TsnkitFault::NoNode(9));
    assert!(matches!(
        refused(TOPOLOGY, &streams("200", "-1"), "streams.csv", 3),
        TsnkitFault::Number { column: "size", .. }
    ));
    assert!(matches!(refused(TOPOLOGY, &streams("500000", "0"), "streams.csv", 2), TsnkitFault::Traffic(_)));
    assert!(matches!(refused(TOPOLOGY, &streams("\n2,", "\n1,"), "streams.csv", 4), TsnkitFault::Traffic(_)));
    let text = traffic(TOPOLOGY, &streams("[4]", "4")).expect_err("a fault").to_string();
    assert_eq!(text, "streams.csv, line 2: dst is \"4\"; it must be a list of nodes such as \"[12]\"");
}

#[test]
fn what_is_written_is_played_as_it_was_planned() {
    let traffic = traffic(TOPOLOGY, STREAMS).expect("an instance");
    let (plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
    let schedule = write(&traffic, &plan);
    assert_eq!(replay(&traffic, &schedule), Ok(plan));
}

#[test]
fn a_schedule_is_judged_by_what_it_does() {
    let traffic = traffic(TOPOLOGY, STREAMS).expect("an instance");
    let (plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
    let schedule = write(&traffic, &plan);
    let fault = |schedule: &Schedule| replay(&traffic, schedule).expect_err("a fault").to_string();
    // Stream 1 is alone on its first link: its gate opens later there, and so it waits.
    let later = |line: &str| match line.strip_prefix("\"(3, 0)\",0,") {
        Some(rest) => {
            let mut numbers = rest.split(',').map(|number| number.parse::<i64>().expect("a number"));
            let (start, end) = (numbers.next().expect("a start"), numbers.next().expect("an end"));
            format!("\"(3, 0)\",0,{},{},1000000\n", start + 5000, end + 5000)
        }
        None => format!("{line}\n"),
    };
    let late = Schedule { gates: schedule.gates.lines().map(later).collect(), ..schedule.clone() };
    let played = fault(&late);
    assert!(played.contains("never leaves 0 -> 1"), "{played}");
    let shut = schedule
        .gates
        .lines()
        .filter(|line| !line.starts_with("\"(3, 0)\""))
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(fault(&Schedule { gates: shut, ..schedule.clone() }).contains("stream 1 never leaves 3 -> 0"));
    let beyond = Schedule { offsets: "stream,frame,offset\n0,0,500000\n".to_owned(), ..schedule.clone() };
    assert!(fault(&beyond).contains("OFFSET, line 2: offset is \"500000\""));
    let elsewhere = Schedule { routes: schedule.routes.replace("(0, 1)", "(0, 2)"), ..schedule.clone() };
    assert!(fault(&elsewhere).contains("route of stream 0"));
    let nobody = Schedule { offsets: "stream,frame,offset\n0,0,0\n".to_owned(), ..schedule.clone() };
    assert!(fault(&nobody).contains("stream 1 has no offset"));
}

/// Hundreds of windows of each gate, and thousands of frames: what is waited for is found, and not sought from the beginning.
#[test]
fn a_long_round_is_played_too() {
    let streams = STREAMS.replace(",1000000,8800,8800", ",512000000,8800,8800");
    let traffic = traffic(TOPOLOGY, &streams).expect("an instance");
    let (plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
    let schedule = write(&traffic, &plan);
    assert!(schedule.gates.lines().count() > 4_000);
    assert_eq!(replay(&traffic, &schedule), Ok(plan));
}

#[test]
fn windows_that_overlap_are_open_while_one_of_them_is() {
    let traffic = traffic(TOPOLOGY, STREAMS).expect("an instance");
    let (plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
    let schedule = write(&traffic, &plan);
    // Beside those that are needed: too short ones before, and one within another.
    let mut gates = String::new();
    for line in schedule.gates.lines() {
        gates += &format!("{line}\n");
        let fields: Vec<&str> = line.rsplitn(4, ',').collect();
        if let [cycle, end, start, port] = fields[..]
            && let (Ok(start), Ok(end)) = (start.parse::<i64>(), end.parse::<i64>())
        {
            gates += &format!("{port},{start},{},{cycle}\n{port},{},{end},{cycle}\n", start + 1, start + 1);
        }
    }
    assert_eq!(gates.lines().count(), 1 + 3 * (schedule.gates.lines().count() - 1));
    assert_eq!(replay(&traffic, &Schedule { gates, ..schedule }), Ok(plan));
}
