//! 100 to 45,000 streams on networks that grow with them; each in a process of its own, whose peak of memory is read.

use super::{PartReport, growth, percentile, since};
use crate::planner::Random;
use crate::report::Target;
use crate::table::{Table, nanoseconds};
use crate::{BenchError, Options};
use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, Stream, Traffic, plan_network};
use leveret_topology::{Shape, shape};
use leveret_types::{ByteSize, Nanos, NodeId};
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::time::{Duration, Instant};

/// Streams, and the target for planning them.
const SIZES: [(u64, Option<Duration>); 7] = [
    (100, None),
    (300, None),
    (1_000, Some(Duration::from_secs(1))),
    (3_000, None),
    (10_000, Some(Duration::from_secs(30))),
    (30_000, None),
    (45_000, Some(Duration::from_secs(60))),
];
const SIZE_SMOKE: u64 = 100;
/// The checker's time over the planner's.
const CHECK_SHARE_MOST: f64 = 0.1;
const STREAMS_PER_BRIDGE: u64 = 45;
/// Bridges of an outer ring.
const CELL: u32 = 10;
const BRIDGES_LEAST: u32 = 2 * CELL;
/// A stream leads to one of the next so many hosts.
const NEIGHBOURS: u64 = 30;
/// How often each plan is checked.
const CHECKS: usize = 3;
/// A plan is made so often, unless it takes long.
const TURNS: usize = 9;
const TURNS_WITHIN: Duration = Duration::from_secs(5);

/// What a child found.
#[derive(Serialize, Deserialize)]
struct Measured {
    bridges: u32,
    slots: usize,
    plan_ns: Vec<u64>,
    check_ns: Vec<u64>,
    /// Of the process, once the plan is made.
    peak_kib: u64,
    /// The same before planning: the traffic alone.
    before_kib: u64,
}

/// Starts a child for each size.
pub fn run(options: &Options, result: &mut PartReport<'_>) -> Result<(), BenchError> {
    let heads = ["streams", "bridges", "slots", "plan p50", "check p50", "check / plan", "peak memory"];
    let mut table = Table::new(&[&heads[..], &["before planning"]].concat());
    let most = if options.smoke() { SIZE_SMOKE } else { u64::MAX };
    let mut points = Vec::new();
    for (streams, target) in SIZES.into_iter().filter(|(streams, _)| *streams <= most) {
        eprintln!("network-plan: {streams} streams");
        let measured = measure(streams)?;
        let plan_ns = percentile(&measured.plan_ns, 500).unwrap_or(0);
        let check_ns = percentile(&measured.check_ns, 500).unwrap_or(0);
        let case = format!("{streams} streams");
        result.row(&case, "leveret plan", &measured.plan_ns);
        result.row(&case, "leveret check", &measured.check_ns);
        let share = check_ns as f64 / plan_ns.max(1) as f64;
        if let Some(limit) = target {
            judge(&case, (plan_ns, limit), share, result);
        }
        points.push((streams, plan_ns));
        table.push([
            streams.to_string(),
            measured.bridges.to_string(),
            measured.slots.to_string(),
            nanoseconds(plan_ns),
            nanoseconds(check_ns),
            format!("{share:.3}"),
            format!("{} MiB", measured.peak_kib / 1024),
            format!("{} MiB", measured.before_kib / 1024),
        ]);
    }
    result.report.add_table(table);
    result.report.notes.push(format!(
        "scale: rings of {CELL} bridges on an inner ring, two hosts for each bridge, periods of 2 to 16 ms, 64 to 463 bytes, to one of the next \
         {NEIGHBOURS} hosts. Growth of the time to plan, on a logarithmic scale:\n\n```text\n{}```\n",
        growth::plot(&points)
    ));
    Ok(())
}

fn judge(case: &str, (plan_ns, limit): (u64, Duration), share: f64, result: &mut PartReport<'_>) {
    let mut target = |measure: &str, value: String, target: String, holds: bool| {
        let measure = measure.to_owned();
        result.report.targets.push(Target { case: case.to_owned(), measure, value, target, holds });
    };
    let limit_ns = limit.as_nanos();
    let holds = u128::from(plan_ns) < limit_ns;
    target("time to plan", nanoseconds(plan_ns), format!("< {} s", limit.as_secs()), holds);
    let holds = share < CHECK_SHARE_MOST;
    target(
        "checker's time over the planner's",
        format!("{share:.3}"),
        format!("< {CHECK_SHARE_MOST}"),
        holds,
    );
}

fn measure(streams: u64) -> Result<Measured, BenchError> {
    let broken = |reason: String| BenchError::Round { subject: format!("{streams} streams"), reason };
    let output = Command::new(std::env::current_exe()?)
        .args(["child", "network-scale", &streams.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(broken(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| broken(error.to_string()))
}

/// Plans so many streams, and prints what it took.
pub fn child(streams: &str) -> Result<(), BenchError> {
    let broken = |reason: String| BenchError::Round { subject: format!("{streams} streams"), reason };
    let count: u64 = streams.parse().map_err(|_| broken("no number".to_owned()))?;
    let (traffic, bridges) = traffic(count);
    let mut measured = Measured {
        bridges,
        slots: 0,
        plan_ns: Vec::new(),
        check_ns: Vec::new(),
        peak_kib: 0,
        before_kib: peak_kib()?,
    };
    let begun = Instant::now();
    while measured.plan_ns.is_empty() || (measured.plan_ns.len() < TURNS && begun.elapsed() < TURNS_WITHIN) {
        let start = Instant::now();
        let outcome = plan_network(&traffic, Effort::default());
        measured.plan_ns.push(since(start));
        measured.peak_kib = peak_kib()?;
        let (plan, _) = outcome.map_err(|refusal| broken(refusal.reason(&traffic)))?;
        measured.slots = plan.links.iter().map(Vec::len).sum();
        for _ in 0..CHECKS {
            let start = Instant::now();
            let checked = check_network(&plan, &traffic);
            measured.check_ns.push(since(start));
            checked.map_err(|violation| broken(violation.to_string()))?;
        }
    }
    println!("{}", serde_json::to_string(&measured).map_err(std::io::Error::from)?);
    Ok(())
}

/// So many streams, and the number of bridges between their hosts.
pub fn traffic(count: u64) -> (Traffic, u32) {
    let wanted = u32::try_from(count / STREAMS_PER_BRIDGE).unwrap_or(u32::MAX).max(BRIDGES_LEAST);
    let bridges = wanted / CELL * CELL;
    let hosts = bridges * 2;
    let mut random = Random::new(count);
    let mut streams = Vec::new();
    for index in 0..count {
        streams.push(stream(&mut random, index, bridges, hosts));
    }
    let network = shape(Shape::Hierarchy { cell: CELL }, bridges, hosts);
    (Traffic { network, streams, flows: Vec::new(), clock_error: Nanos::ZERO, whole_cycles: false }, bridges)
}

/// One of them; also what is added to a plan.
pub fn stream(random: &mut Random, index: u64, bridges: u32, hosts: u32) -> Stream {
    let source = random.below(u64::from(hosts)) as u32;
    let target = (source + 1 + random.below(NEIGHBOURS) as u32) % hosts;
    let period = Nanos::from_micros([2_000, 4_000, 8_000, 16_000][random.below(4) as usize]);
    let size = ByteSize(64 + random.below(400));
    Stream::new(format!("s{index}"), NodeId(bridges + source), NodeId(bridges + target), size, period)
}

/// The most memory that this process has had.
fn peak_kib() -> Result<u64, BenchError> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    let reason = "/proc/self/status has no VmHWM".to_owned();
    number.ok_or(BenchError::Missing { subject: "peak memory".to_owned(), reason })
}
