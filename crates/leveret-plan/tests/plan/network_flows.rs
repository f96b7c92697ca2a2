//! Flows beside the table: no frame on a simulated network is ever later than its bound, and no queue longer.

use crate::common::wire::{Seen, Wire};
use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, Flow, NetworkPlan, Stream, Traffic, flow_bounds, plan_network};
use leveret_topology::{Forwarding, NodeKind, Shape, Shaper, shape};
use leveret_types::{BitRate, ByteSize, Nanos, NodeId};
use proptest::prelude::*;

const MICRO: i64 = 1_000;
const SWITCHES: u32 = 4;
const HOSTS: u32 = 5;

/// Numbers of one seed, one after the other.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        // SplitMix64 (Steele, Lea and Flood 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn ends(&mut self) -> (NodeId, NodeId) {
        let source = self.below(u64::from(HOSTS)) as u32;
        let target = (source + 1 + self.below(u64::from(HOSTS) - 1) as u32) % HOSTS;
        (NodeId(SWITCHES + source), NodeId(SWITCHES + target))
    }
}

fn traffic(dice: &mut Dice) -> Traffic {
    let which = dice.of(&[Shape::Line, Shape::Ring, Shape::Tree, Shape::Mesh]);
    let mut network = shape(which, SWITCHES, HOSTS);
    let (shaped, cut, preempted) = (dice.chance(50), dice.chance(30), dice.chance(40));
    for node in network.nodes.iter_mut().take(SWITCHES as usize) {
        if cut && dice.chance(50) {
            node.kind =
                NodeKind::Switch(Forwarding::CutThrough { header: ByteSize(dice.of(&[22, 64, 300])) });
        }
    }
    for link in &mut network.links {
        link.rate = BitRate(dice.of(&[1_000_000_000, 1_000_000_000, 100_000_000]));
        link.processing = Nanos(dice.of(&[0, 2_000, 731]));
        link.propagation = Nanos(dice.of(&[0, 50]));
        link.preemption = preempted && dice.chance(50);
        for class in 0..8 {
            if shaped && dice.chance(30) {
                let share = dice.of(&[5, 10, 20, 40]);
                link.shaping.push(Shaper { class, idle_slope: BitRate(link.rate.0 / 100 * share) });
            }
        }
    }
    let mut traffic = Traffic { network, ..Traffic::default() };
    traffic.clock_error = Nanos(dice.of(&[0, 0, 150]));
    for index in 0..dice.of(&[0, 0, 2, 5, 9]) {
        let (source, target) = dice.ends();
        let period = Nanos(dice.of(&[250, 500, 1000]) * MICRO);
        let size = ByteSize(dice.of(&[64, 400, 1500, 4000]));
        let mut stream = Stream::new(format!("s{index}"), source, target, size, period);
        stream.deadline = period + period;
        traffic.streams.push(stream);
    }
    for index in 0..1 + dice.below(10) {
        let (source, target) = dice.ends();
        let interval = Nanos(dice.of(&[200, 333, 500, 1000, 2000]) * MICRO);
        let size = ByteSize(dice.of(&[1, 64, 300, 1000, 1500, 2000, 6000]));
        let mut flow = Flow::new(format!("f{index}"), source, target, size, interval);
        (flow.burst, flow.class) = (dice.of(&[1, 1, 2, 4]), Some(dice.below(8) as u8));
        let more = NodeId(SWITCHES + dice.below(u64::from(HOSTS)) as u32);
        if dice.chance(20) && more != source && more != target {
            flow.targets.push(more);
        }
        traffic.flows.push(flow);
    }
    traffic
}

fn planned(traffic: &Traffic) -> Option<NetworkPlan> {
    plan_network(traffic, Effort { seed: 0, steps: 50_000 }).ok().map(|(plan, _)| plan)
}

/// Releases of a flow that keep to its declaration: as early as they may, or at random, in one of a few ways.
fn releases(flow: &Flow, from: i64, until: i64, dice: &mut Dice) -> Vec<i64> {
    let interval = flow.interval.expect("an interval").0;
    let manner = dice.below(3);
    let first = from + if dice.chance(60) { 0 } else { dice.below(interval.cast_unsigned()) as i64 };
    let mut found: Vec<i64> = Vec::new();
    let mut at = first;
    while at < until {
        // Message k comes no sooner than an interval for each beyond the burst after each before it.
        let burst = flow.burst as usize;
        let allowed = (0..found.len())
            .rev()
            .take(64)
            .map(|before| {
                let count = (found.len() - before + 1) as i64 - burst as i64;
                found[before] + count.max(0) * interval
            })
            .max()
            .unwrap_or(first);
        let late = match manner {
            0 => 0,
            1 => dice.of(&[0, 0, 1, 5 * MICRO, interval / 3]),
            _ => dice.below(2 * interval.cast_unsigned()) as i64,
        };
        at = allowed.max(found.last().copied().unwrap_or(first)) + late;
        if at < until {
            found.push(at);
        }
    }
    found
}

fn play(traffic: &Traffic, plan: &NetworkPlan, dice: &mut Dice) -> Seen {
    let (from, until) = (dice.below(plan.hyperperiod.0.cast_unsigned()) as i64, 6_000 * MICRO);
    let mut wire = Wire::new(traffic, plan, dice.chance(70));
    for (index, flow) in traffic.flows.iter().enumerate() {
        for at in releases(flow, from, until, dice) {
            wire.release(index, at);
        }
    }
    wire.run(until + 20_000 * MICRO);
    wire.seen
}

/// Measured shares of the bounds, in permille.
fn compare(seed: u64, shares: &mut Vec<i64>) -> Result<bool, TestCaseError> {
    let mut dice = Dice(seed);
    let traffic = traffic(&mut dice);
    let Some(plan) = planned(&traffic) else { return Ok(false) };
    if let Err(violation) = check_network(&plan, &traffic) {
        prop_assert!(false, "seed {seed}: {violation}");
    }
    for _ in 0..3 {
        let seen = play(&traffic, &plan, &mut dice);
        for ((link, class), (delay, bytes)) in &seen.classes {
            let bound = plan.classes[*link].iter().find(|bound| bound.class == *class).expect("a bound");
            let name = traffic.network.link_name(leveret_types::LinkId(*link as u32));
            prop_assert!(
                *delay <= bound.delay.0,
                "seed {seed}, {name}, class {class}: {delay} of {}",
                bound.delay
            );
            prop_assert!(
                *bytes <= bound.backlog.0,
                "seed {seed}, {name}, class {class}: {bytes} B of {}",
                bound.backlog
            );
        }
        for ((flow, target), arrival) in &seen.arrivals {
            let bound = flow_bounds(&traffic, &plan, *flow)[*target];
            prop_assert!(*arrival <= bound.0, "seed {seed}, flow {flow}: {arrival} of {bound}");
            if bound < Nanos::MAX {
                shares.push(arrival * 1000 / bound.0);
            }
        }
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_is_later_than_its_bound(seed in any::<u64>()) {
        compare(seed, &mut Vec::new())?;
    }
}

/// How near the bounds are, for people: run it with `--nocapture`.
#[test]
fn bounds_are_near() {
    let mut shares = Vec::new();
    let planned =
        (0..400).filter(|seed| compare(*seed, &mut shares).expect("no frame beyond its bound")).count();
    shares.sort_unstable();
    let at = |permille: usize| shares[(shares.len() - 1) * permille / 1000] as f64 / 10.0;
    println!(
        "{planned} networks, {} arrivals: measured / bound {:.1} % median, {:.1} % at 90 %, {:.1} % most",
        shares.len(),
        at(500),
        at(900),
        at(1000)
    );
    assert!(planned > 100 && shares.len() > 500);
}
