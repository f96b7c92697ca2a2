//! What a plan gives each part of a system; as values, and as tables for people.

use super::chain::{ChainPart, walk};
use super::model::{System, Window};
use super::plan::SystemPlan;
use super::project::parts;
use crate::network::{NetworkSummary, summarise};
use crate::render_table;
use crate::table::grid;
use leveret_types::Nanos;
use serde::Serialize;
use std::fmt::Write;

/// What a system's plan gives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SystemSummary {
    /// Channels between members of different hosts.
    pub channels: Vec<CrossingSummary>,
    /// Chains.
    pub chains: Vec<ChainSummary>,
    /// Links, and all that moves over them.
    pub network: NetworkSummary,
}

/// What a channel between hosts gets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CrossingSummary {
    /// Its name.
    pub name: String,
    /// When the network has its message.
    pub window: Window,
    /// Whether the planner chose that.
    pub chosen: bool,
    /// Latest arrival, from the start of the period.
    pub arrival: Nanos,
    /// From there to the deadline.
    pub slack: Nanos,
}

/// What a chain takes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChainSummary {
    /// Its name.
    pub name: String,
    /// Longest reaction time.
    pub reaction: Nanos,
    /// Its limit.
    pub reaction_limit: Option<Nanos>,
    /// Longest data age.
    pub age: Nanos,
    /// Its limit.
    pub age_limit: Option<Nanos>,
    /// Whether these are reached; else they are bounds.
    pub exact: bool,
    /// Where the longest reaction time comes from.
    pub reaction_parts: Vec<ChainPart>,
    /// Where the greatest age comes from.
    pub age_parts: Vec<ChainPart>,
}

/// Of a plan that the checker accepted for this system.
pub fn summarise_system(system: &System, plan: &SystemPlan) -> SystemSummary {
    let network = summarise(&parts(system, &plan.windows).traffic, &plan.network);
    let streams = &network.streams[system.traffic.streams.len()..];
    let channels = system.crossings.iter().zip(&plan.windows).zip(streams);
    let channels = channels.map(|((crossing, window), stream)| CrossingSummary {
        name: crossing.name.clone(),
        window: *window,
        chosen: crossing.window.is_none(),
        arrival: stream.arrival,
        slack: stream.slack,
    });
    let channels = channels.collect();
    let chains = system.chains.iter().filter_map(|chain| {
        let walked = walk(system, &plan.windows, &plan.hosts, chain).ok()?;
        Some(ChainSummary {
            name: chain.name.clone(),
            reaction: walked.planned.reaction,
            reaction_limit: chain.reaction,
            age: walked.planned.age,
            age_limit: chain.age,
            exact: walked.planned.exact,
            reaction_parts: walked.reaction,
            age_parts: walked.age,
        })
    });
    SystemSummary { channels, chains: chains.collect(), network }
}

/// The whole plan for people: each host's table, channels between hosts, links, chains.
pub fn render_system(system: &System, plan: &SystemPlan) -> String {
    let summary = summarise_system(system, plan);
    let mut text = String::new();
    for (host, plan) in parts(system, &plan.windows).jobs.iter().zip(&plan.hosts) {
        let _ = writeln!(text, "host {}: {}", host.name, render_table(plan, host));
    }
    text.push_str(&summary.render());
    text
}

impl SystemSummary {
    /// Channels between hosts, chains with their parts, links.
    pub fn render(&self) -> String {
        let mut text = String::new();
        if !self.channels.is_empty() {
            let head = ["channel between hosts", "sent from", "visible at", "window", "arrives by", "slack"];
            let mut rows = vec![head.map(str::to_owned).to_vec()];
            for channel in &self.channels {
                let times = [channel.window.release, channel.window.deadline].map(|time| time.to_string());
                let [release, deadline] = times;
                let window = if channel.chosen { "chosen" } else { "declared" }.to_owned();
                let (arrival, slack) = (channel.arrival.to_string(), channel.slack.to_string());
                rows.push(vec![channel.name.clone(), release, deadline, window, arrival, slack]);
            }
            text.push_str(&grid(&rows));
            text.push('\n');
        }
        self.render_chains(&mut text);
        text + &self.network.render()
    }

    fn render_chains(&self, text: &mut String) {
        if self.chains.is_empty() {
            return;
        }
        let head = ["chain", "reaction", "limit", "data age", "limit", ""];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let limit = |limit: Option<Nanos>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
        let time = |time: Nanos| if time == Nanos::MAX { "no bound".to_owned() } else { time.to_string() };
        for chain in &self.chains {
            rows.push(vec![
                chain.name.clone(),
                time(chain.reaction),
                limit(chain.reaction_limit),
                time(chain.age),
                limit(chain.age_limit),
                if chain.exact { "exact" } else { "bounds" }.to_owned(),
            ]);
        }
        text.push_str(&grid(&rows));
        for chain in &self.chains {
            for (what, parts) in [("reaction", &chain.reaction_parts), ("data age", &chain.age_parts)] {
                let parts: Vec<_> = parts.iter().map(ChainPart::to_string).collect();
                let _ = writeln!(text, "  {} of {}: {}", what, chain.name, parts.join(", "));
            }
        }
        text.push('\n');
    }
}
