//! What a plan gives each part of a system; as values, and as tables for people.

use super::chain::{ChainPart, ChainWays, walk};
use super::hosts::{HostSummary, hosts, insertion_slack};
use super::model::{Port, System, Window};
use super::plan::SystemPlan;
use super::project::parts;
use crate::network::{NetworkSummary, render_slots, summarise};
use crate::render_table;
use crate::table::grid;
use leveret_types::Nanos;
use serde::Serialize;
use std::fmt::Write;

/// What a system's plan gives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SystemSummary {
    /// Hosts with tasks.
    pub hosts: Vec<HostSummary>,
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
    /// Least time between the planned end of its writer and the instant by which a message must be inserted; none where no task writes it.
    pub insertion_slack: Option<Nanos>,
    /// Buffers at its source.
    pub source_buffers: u32,
    /// Buffers at each target.
    pub target_buffers: Vec<u32>,
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
    /// From the one to the other.
    pub reaction_slack: Option<Nanos>,
    /// Longest data age.
    pub age: Nanos,
    /// Its limit.
    pub age_limit: Option<Nanos>,
    /// From the one to the other.
    pub age_slack: Option<Nanos>,
    /// Whether these are reached; else they are bounds.
    pub exact: bool,
    /// Where the longest reaction time comes from.
    pub reaction_parts: Vec<ChainPart>,
    /// Where the greatest age comes from.
    pub age_parts: Vec<ChainPart>,
    /// By which instances both are reached; none of bounds.
    pub ways: Option<ChainWays>,
}

/// Of a plan that the checker accepted for this system.
pub fn summarise_system(system: &System, plan: &SystemPlan) -> SystemSummary {
    let parts = parts(system, &plan.windows);
    let network = summarise(&parts.traffic, &plan.network);
    let streams = &network.streams[system.traffic.streams.len()..];
    let channels = system.crossings.iter().zip(&plan.windows).zip(streams);
    let buffers = |port: &Port| plan.hosts[usize::from(port.host)].channels[port.channel.index()].buffers;
    let channels = channels.map(|((crossing, window), stream)| {
        let source = usize::from(crossing.source.host);
        CrossingSummary {
            name: crossing.name.clone(),
            window: *window,
            chosen: crossing.window.is_none(),
            arrival: stream.arrival,
            slack: stream.slack,
            insertion_slack: insertion_slack(
                &parts.jobs[source],
                &plan.hosts[source],
                crossing.source.channel,
            ),
            source_buffers: buffers(&crossing.source),
            target_buffers: crossing.targets.iter().map(buffers).collect(),
        }
    });
    let channels = channels.collect();
    let chains = system.chains.iter().filter_map(|chain| {
        let walked = walk(system, &plan.windows, &plan.hosts, chain).ok()?;
        let planned = walked.planned;
        Some(ChainSummary {
            name: chain.name.clone(),
            reaction: planned.reaction,
            reaction_limit: chain.reaction,
            reaction_slack: chain.reaction.map(|limit| limit - planned.reaction),
            age: planned.age,
            age_limit: chain.age,
            age_slack: chain.age.map(|limit| limit - planned.age),
            exact: planned.exact,
            reaction_parts: walked.reaction,
            age_parts: walked.age,
            ways: walked.ways,
        })
    });
    SystemSummary { hosts: hosts(system, plan), channels, chains: chains.collect(), network }
}

/// The whole plan for people: each host's table, channels between hosts, links, chains.
pub fn render_system(system: &System, plan: &SystemPlan) -> String {
    let summary = summarise_system(system, plan);
    let mut text = String::new();
    let parts = parts(system, &plan.windows);
    for (host, plan) in parts.jobs.iter().zip(&plan.hosts) {
        let _ = writeln!(text, "host {}: {}", host.name, render_table(plan, host));
    }
    if !plan.network.ways.is_empty() {
        text.push_str(&render_slots(&parts.traffic, &plan.network));
        text.push('\n');
    }
    text.push_str(&summary.render());
    text
}

/// Rows of one kind that are printed.
const ROWS_MAX: usize = 40;

impl SystemSummary {
    /// Tasks, cores and channels of all hosts, channels between hosts, chains with their parts, links.
    pub fn render(&self) -> String {
        let mut text = String::new();
        self.render_tasks(&mut text);
        self.render_local_channels(&mut text);
        self.render_channels(&mut text);
        self.render_chains(&mut text);
        text + &self.network.render()
    }

    /// Tasks by slack, then what cores have left.
    fn render_tasks(&self, text: &mut String) {
        let mut tasks: Vec<_> =
            self.hosts.iter().flat_map(|host| host.tasks.iter().map(move |task| (host, task))).collect();
        if tasks.is_empty() {
            return;
        }
        tasks.sort_by_key(|(_, task)| task.slack.unwrap_or(Nanos::MAX));
        let head = ["task", "host", "core", "ends within", "slack"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (host, task) in tasks.iter().take(ROWS_MAX) {
            let ends = task.response.map_or_else(|| "no bound".to_owned(), |time| time.to_string());
            rows.push(vec![
                task.name.clone(),
                host.name.clone(),
                task.core.to_string(),
                ends,
                shown(task.slack),
            ]);
        }
        text.push_str(&grid(&rows));
        more(text, tasks.len(), "tasks, with more slack");
        text.push('\n');
        let cores = self.hosts.iter().flat_map(|host| host.cores.iter().map(move |core| (host, core)));
        let mut cores: Vec<_> = cores.collect();
        let left = |host: &HostSummary, time: Nanos| time.0 as f64 * 100.0 / host.hyperperiod.0.max(1) as f64;
        cores.sort_by(|a, b| left(a.0, a.1.left).total_cmp(&left(b.0, b.1.left)));
        let head = ["core", "used", "", "priorities", "best effort", "", "longest gap"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (host, core) in cores.iter().take(ROWS_MAX) {
            let share = |time: Nanos| format!("{:.1} %", left(host, time));
            rows.push(vec![
                format!("{} {}", host.name, core.core),
                core.used.to_string(),
                share(core.used),
                core.sporadic.to_string(),
                core.left.to_string(),
                share(core.left),
                core.longest_gap.to_string(),
            ]);
        }
        text.push_str(&grid(&rows));
        more(text, cores.len(), "cores, with more left");
        text.push('\n');
    }

    /// Channels between members of one host, by slack.
    fn render_local_channels(&self, text: &mut String) {
        let local = self.hosts.iter().flat_map(|host| host.channels.iter().map(move |one| (host, one)));
        let mut local: Vec<_> = local.collect();
        if local.is_empty() {
            return;
        }
        local.sort_by_key(|(_, channel)| channel.slack.unwrap_or(Nanos::MAX));
        let head = ["channel on a host", "host", "buffers", "latency at most", "slack"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (host, channel) in local.iter().take(ROWS_MAX) {
            let latency = channel.latency.map_or_else(|| "no bound".to_owned(), |time| time.to_string());
            let buffers = channel.buffers.to_string();
            rows.push(vec![channel.name.clone(), host.name.clone(), buffers, latency, shown(channel.slack)]);
        }
        text.push_str(&grid(&rows));
        more(text, local.len(), "channels, with more slack");
        text.push('\n');
    }

    fn render_channels(&self, text: &mut String) {
        if self.channels.is_empty() {
            return;
        }
        let head =
            ["channel between hosts", "sent from", "visible at", "window", "arrives by", "slack", "buffers"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for channel in self.channels.iter().take(ROWS_MAX) {
            let times = [channel.window.release, channel.window.deadline].map(|time| time.to_string());
            let [release, deadline] = times;
            let window = if channel.chosen { "chosen" } else { "declared" }.to_owned();
            let (arrival, slack) = (channel.arrival.to_string(), channel.slack.to_string());
            let targets: Vec<_> = channel.target_buffers.iter().map(u32::to_string).collect();
            let buffers = format!("{} -> {}", channel.source_buffers, targets.join(", "));
            rows.push(vec![channel.name.clone(), release, deadline, window, arrival, slack, buffers]);
        }
        text.push_str(&grid(&rows));
        more(text, self.channels.len(), "channels between hosts");
        text.push('\n');
    }

    fn render_chains(&self, text: &mut String) {
        if self.chains.is_empty() {
            return;
        }
        let head = ["chain", "reaction", "limit", "slack", "data age", "limit", "slack", ""];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let time = |time: Nanos| if time == Nanos::MAX { "no bound".to_owned() } else { time.to_string() };
        for chain in &self.chains {
            rows.push(vec![
                chain.name.clone(),
                time(chain.reaction),
                shown(chain.reaction_limit),
                shown(chain.reaction_slack),
                time(chain.age),
                shown(chain.age_limit),
                shown(chain.age_slack),
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

fn shown(time: Option<Nanos>) -> String {
    time.map_or_else(|| "none".to_owned(), |time| time.to_string())
}

/// Says how many rows were left out, if any were.
fn more(text: &mut String, all: usize, what: &str) {
    if let Some(more) = all.checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        // Writing to a text does not fail.
        let _ = writeln!(text, "  ... and {more} more {what}; --format json has all");
    }
}
