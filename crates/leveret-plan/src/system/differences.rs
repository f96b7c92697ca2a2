//! What differs between two plans of systems, in words.

use super::diff::{ChainDiff, HostDiff, LocalChannelDiff, SystemDiff, TaskDiff, WindowDiff};
use crate::network::{NAMED_MAX, distance, more};
use leveret_types::Nanos;
use std::fmt::Write;

impl SystemDiff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
            && self.windows.is_empty()
            && self.network.is_empty()
            && self.added_chains.is_empty()
            && self.removed_chains.is_empty()
            && self.chains.is_empty()
    }

    /// For people.
    pub fn render(&self) -> String {
        let count = |of: fn(&HostDiff) -> usize| self.hosts.iter().map(of).sum::<usize>();
        let (changed, added) = (count(|host| host.changed.len()), count(|host| host.added.len()));
        let removed = count(|host| host.removed.len());
        let mut text =
            format!("tasks: {} kept, {changed} changed, {added} added, {removed} removed\n", self.kept_tasks);
        let lines = |of: fn(&HostDiff, &mut Vec<String>)| {
            let mut lines = Vec::new();
            self.hosts.iter().for_each(|host| of(host, &mut lines));
            lines
        };
        list(&mut text, &lines(HostDiff::tasks));
        list(&mut text, &lines(HostDiff::channels));
        list(&mut text, &self.windows.iter().map(WindowDiff::words).collect::<Vec<_>>());
        let _ = write!(text, "network: {}", self.network.render());
        let mut chains: Vec<String> = Vec::new();
        chains.extend(self.added_chains.iter().map(|name| format!("+ chain {name}")));
        chains.extend(self.removed_chains.iter().map(|name| format!("- chain {name}")));
        chains.extend(self.chains.iter().map(ChainDiff::words));
        if chains.is_empty() {
            text.push_str("chains: as before\n");
        } else {
            text.push_str("chains:\n");
            list(&mut text, &chains);
        }
        text
    }
}

fn list(text: &mut String, lines: &[String]) {
    for line in lines.iter().take(NAMED_MAX) {
        // Writing to a text does not fail.
        let _ = writeln!(text, "  {line}");
    }
    more(text, lines.len());
}

impl HostDiff {
    fn tasks(&self, lines: &mut Vec<String>) {
        lines.extend(self.added.iter().map(|name| format!("+ {name} on {}", self.name)));
        lines.extend(self.removed.iter().map(|name| format!("- {name} on {}", self.name)));
        lines.extend(
            self.changed.iter().map(|task| format!("~ {} on {}: {}", task.name, self.name, task.words())),
        );
    }

    fn channels(&self, lines: &mut Vec<String>) {
        lines.extend(self.added_channels.iter().map(|name| format!("+ channel {name} on {}", self.name)));
        lines.extend(self.removed_channels.iter().map(|name| format!("- channel {name} on {}", self.name)));
        let changed = self.changed_channels.iter();
        lines.extend(changed.map(|one| format!("~ channel {} on {}: {}", one.name, self.name, one.words())));
    }
}

impl TaskDiff {
    fn words(&self) -> String {
        let mut parts = Vec::new();
        if self.declared_otherwise {
            parts.push("declared otherwise".to_owned());
        }
        if let Some([before, after]) = self.core {
            parts.push(format!("on core {after}, before {before}"));
        }
        if self.moved > 0 {
            let far = distance(self.farthest);
            parts.push(format!("{} of {} instances moved, at most {far}", self.moved, self.instances));
        }
        if let Some([before, after]) = self.bound {
            parts.push(format!("ends {}, before {}", within(after), within(before)));
        }
        parts.join("; ")
    }
}

impl LocalChannelDiff {
    fn words(&self) -> String {
        let mut parts = Vec::new();
        if self.declared_otherwise {
            parts.push("declared otherwise".to_owned());
        }
        if let Some([before, after]) = self.buffers {
            parts.push(format!("{after} buffers, before {before}"));
        }
        parts.join("; ")
    }
}

impl WindowDiff {
    fn words(&self) -> String {
        let [before, after] =
            [self.before, self.after].map(|window| format!("{} to {}", window.release, window.deadline));
        format!("~ channel {} between hosts: window {after}, before {before}", self.name)
    }
}

impl ChainDiff {
    fn words(&self) -> String {
        let mut parts = Vec::new();
        if self.declared_otherwise {
            parts.push("declared otherwise".to_owned());
        }
        for (what, times) in [("reaction", self.reaction), ("data age", self.age)] {
            if let Some([before, after]) = times {
                parts.push(format!("{what} {}, before {}", within(after), within(before)));
            }
        }
        format!("~ chain {}: {}", self.name, parts.join("; "))
    }
}

fn within(time: Nanos) -> String {
    if time == Nanos::MAX { "without a bound".to_owned() } else { format!("within {time}") }
}
