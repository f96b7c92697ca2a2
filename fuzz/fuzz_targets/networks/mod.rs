//! What is done with networks and their plans, and what an accepted plan promises, computed once more by simple means.

#[path = "../pictures/mod.rs"]
pub mod pictures;

use leveret_exchange::classes::priorities;
use leveret_exchange::gates::{LARGEST_FRAME, gates};
use leveret_exchange::{launch, taprio, tsnkit, yang};
use leveret_manifest::{NetworkManifest, parse_network};
use leveret_plan::checker::{check_certificate, check_network};
use leveret_plan::network::{
    Effort, NetworkPlan, Session, Traffic, certificate, diff_networks, plan_network, summarise,
};
use leveret_plan::system::System;
use leveret_report::picture;
use serde_json::Value;

/// Steps of a search.
pub const STEPS: u64 = 10_000;

/// The manifest of a good network.
pub fn good(text: &str) -> NetworkManifest {
    parse_network(text, "job.toml").unwrap_or_else(|errors| panic!("the manifest is good: {}", errors[0]))
}

/// Whether traffic is valid, and its plan small enough to be made, or used, thousands of times.
pub fn is_small(traffic: &Traffic) -> bool {
    let Ok(round) = traffic.validate() else { return false };
    let channels = traffic.streams.len() + traffic.flows.len();
    let periods = traffic.streams.iter().map(|stream| stream.period);
    let reserved = traffic.network.links.iter().flat_map(|link| &link.reserved).map(|one| one.period);
    let instances: i64 = periods.chain(reserved).map(|period| round.0 / period.0).sum();
    channels * traffic.network.links.len() < 2_000 && instances < 5_000
}

/// Most of all instances of tasks and messages of a system in a second, so that one input takes no longer than that.
const RATE_MAX: i64 = 200_000;

/// Whether a system is small enough to be planned thousands of times.
pub fn is_small_system(system: &System) -> bool {
    let tasks = system.hosts.iter().flat_map(|host| &host.job.tasks).map(|task| task.period.0);
    let crossings = system.crossings.iter().map(|crossing| crossing.period.0);
    let rate: i64 = tasks.chain(crossings).map(|period| 1_000_000_000 / period.max(1)).sum();
    rate <= RATE_MAX && is_small(&system.traffic)
}

/// A plan that keeps every rule, of traffic that is small enough; a refusal has words, and what proves it is accepted.
pub fn planned(traffic: &Traffic) -> Option<NetworkPlan> {
    if !is_small(traffic) {
        return None;
    }
    match plan_network(traffic, Effort { seed: 0, steps: STEPS }) {
        Ok((plan, _)) => {
            check_network(&plan, traffic).expect("a plan of ours keeps every rule");
            kept(&plan, traffic);
            Some(plan)
        }
        Err(refusal) => {
            assert!(!refusal.reason(traffic).is_empty());
            if let Some(shown) = certificate(traffic, &refusal) {
                check_certificate(&shown, traffic).expect("what we prove follows");
            }
            None
        }
    }
}

/// All that is made of a plan that the checker has accepted.
pub fn used(name: &str, traffic: &Traffic, plan: &NetworkPlan) {
    let summary = summarise(traffic, plan);
    assert!(!summary.render().is_empty());
    is_json(&serde_json::to_string(&summary).expect("a summary is written"));
    let given = priorities(traffic, plan);
    if let Ok(gates) = gates(traffic, plan, LARGEST_FRAME) {
        for (_, script) in taprio::write(traffic, &gates, &given, LARGEST_FRAME) {
            assert!(script.starts_with("#!/bin/sh\n"));
        }
        if let Ok(document) = yang::write(name, traffic, plan, &gates, &given) {
            is_json(&document);
        }
    }
    assert!(launch::write(name, traffic, plan, &given).lines().count() > 0);
    tsnkit::write(traffic, plan);
    pictures::drawn(&picture::network(name, traffic, plan));
    let diff = diff_networks((traffic, plan), (traffic, plan));
    assert!(diff.is_empty(), "a plan differs from itself: {}", diff.render());
    if let Ok(session) = Session::new(traffic.clone(), plan) {
        let (same, again) = session.plan();
        assert!(check_network(&again, &same).is_ok() || !same.flows.is_empty(), "what is kept is no plan");
        let diff = diff_networks((traffic, plan), (&same, &again));
        assert!(
            diff.changed.iter().all(|changed| changed.moved == 0),
            "what is kept moves: {}",
            diff.render()
        );
    }
}

fn is_json(text: &str) {
    serde_json::from_str::<Value>(text).expect("what is said to be JSON is");
}

/// Panics where an accepted plan breaks a promise.
pub fn kept(plan: &NetworkPlan, traffic: &Traffic) {
    let round = i128::from(plan.hyperperiod.0);
    let error = i128::from(traffic.clock_error.0);
    let mut slots_of = vec![0i128; traffic.streams.len()];
    for (slots, link) in plan.links.iter().zip(&traffic.network.links) {
        let mut taken = Vec::new();
        for slot in slots {
            let stream = &traffic.streams[slot.stream.index()];
            slots_of[slot.stream.index()] += 1;
            let begin = i128::from(slot.instance) * i128::from(stream.period.0);
            let start = i128::from(slot.start.0);
            let length = i128::from(traffic.network.frames.occupation(stream.size, link.rate).0);
            assert!(
                start >= begin + i128::from(stream.release.0) + error,
                "\"{}\" is sent early",
                stream.name
            );
            if stream.targets.contains(&link.target) {
                let arrival = start + length + i128::from((link.propagation + link.processing).0);
                assert!(
                    arrival <= begin + i128::from(stream.deadline.0) - error,
                    "\"{}\" is late",
                    stream.name
                );
            }
            let from = start.rem_euclid(round);
            taken.push((from, from + length));
            for reserved in &link.reserved {
                let offset = (start - i128::from(reserved.start.0)).rem_euclid(i128::from(reserved.period.0));
                let ends = offset + length <= i128::from(reserved.period.0);
                assert!(
                    reserved.length.0 == 0 || (offset >= i128::from(reserved.length.0) && ends),
                    "\"{}\" is sent in what is reserved",
                    stream.name
                );
            }
        }
        taken.sort_unstable();
        if let (Some(first), Some(last)) = (taken.first().copied(), taken.last()) {
            assert!(last.1 <= first.0 + round, "two at once across the end of the round");
        }
        assert!(taken.windows(2).all(|two| two[0].1 <= two[1].0), "two at once on one link");
    }
    for ((stream, ways), slots) in traffic.streams.iter().zip(&plan.ways).zip(slots_of) {
        let hops: i128 = ways.iter().map(|way| way.tree.hops.len() as i128).sum();
        assert_eq!(
            slots * i128::from(stream.period.0),
            hops * round,
            "\"{}\" has a slot on each link",
            stream.name
        );
    }
}
