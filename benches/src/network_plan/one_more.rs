//! One stream more, a thousand times, on a plan of 10,000 that is kept.

use super::{PartReport, percentile, scale, since};
use crate::planner::Random;
use crate::report::Target;
use crate::table::{Table, nanoseconds};
use crate::{BenchError, Options};
use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, Session, SessionError, plan_network};
use std::time::{Duration, Instant};

const STREAMS: u64 = 10_000;
const STREAMS_SMOKE: u64 = 200;
const ADDS: u64 = 1_000;
const ADDS_SMOKE: u64 = 20;
const P99_MOST: Duration = Duration::from_millis(10);
const CASE: &str = "one more";

/// Adds one stream after the other; the plan that results passes the checker.
pub fn run(options: &Options, result: &mut PartReport<'_>) -> Result<(), BenchError> {
    let (count, adds) = if options.smoke() { (STREAMS_SMOKE, ADDS_SMOKE) } else { (STREAMS, ADDS) };
    eprintln!("network-plan: {adds} streams more on {count}");
    let broken = |reason: String| BenchError::Round { subject: CASE.to_owned(), reason };
    let (traffic, bridges) = scale::traffic(count);
    let begun = Instant::now();
    let planned = plan_network(&traffic, Effort::default());
    let plan_ns = since(begun);
    let (plan, _) = planned.map_err(|refusal| broken(refusal.reason(&traffic)))?;
    let mut session = Session::new(traffic, &plan).map_err(|error| broken(error.to_string()))?;
    let mut random = Random::new(count + 1);
    let (mut added_ns, mut refused, mut moved) = (Vec::new(), 0_u64, 0);
    for index in 0..adds {
        let stream = scale::stream(&mut random, count + index, bridges, bridges * 2);
        let begun = Instant::now();
        let outcome = session.add(stream);
        let took_ns = since(begun);
        added_ns.push(took_ns);
        match outcome {
            Ok(others) => moved += others.others.len(),
            Err(SessionError::NoPlace(..)) => refused += 1,
            Err(error) => return Err(broken(error.to_string())),
        }
    }
    let (traffic, plan) = session.plan();
    check_network(&plan, &traffic).map_err(|violation| broken(violation.to_string()))?;
    result.row(&format!("{CASE} on {count}"), "leveret adds a stream", &added_ns);
    result.row(&format!("{CASE} on {count}"), "leveret plans all anew", &[plan_ns]);
    let [p50, p99, most] = [500, 990, 1000].map(|share| percentile(&added_ns, share).unwrap_or(0));
    result.report.targets.push(Target {
        case: format!("{CASE} on {count} streams"),
        measure: format!("time of one add, 99th percentile of {adds}"),
        value: nanoseconds(p99),
        target: format!("< {} ms", P99_MOST.as_millis()),
        holds: u128::from(p99) < P99_MOST.as_nanos(),
    });
    let mut table = Table::new(&[
        "streams",
        "adds",
        "no place",
        "others moved",
        "add p50",
        "add p99",
        "add max",
        "plan anew",
    ]);
    let mut cells: Vec<String> = [count, adds, refused, moved as u64].map(|number| number.to_string()).into();
    cells.extend([p50, p99, most, plan_ns].map(nanoseconds));
    table.push(cells);
    result.report.add_table(table);
    Ok(())
}
