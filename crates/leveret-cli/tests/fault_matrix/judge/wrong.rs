//! What was wrong, with all that is known of the instance.

use super::Judge;
use crate::case::PERIOD;
use serde_json::Value;
use std::fmt::Write;

impl Judge<'_> {
    pub(super) fn wrong(&mut self, miss: &Value, what: &str) {
        let instance = miss["instance"].as_u64().unwrap_or_default();
        let window = self.window(instance);
        let mut text = format!(
            "{what}: {} {instance}: {}, unproven: {}, culprit: {}, {}, {}",
            miss["name"], miss["party"], miss["unproven"], miss["culprit"], miss["cause"], miss["evidence"]
        );
        let near = self
            .ran
            .entries
            .iter()
            .filter(|entry| entry.to > window.0 - PERIOD && entry.from < window.1 + PERIOD);
        for entry in near {
            let _ = write!(
                text,
                "\n  planted: {} by process {}, thread {}, from {} to {} us of the window",
                entry.kind,
                entry.pid,
                entry.thread,
                (entry.from - window.0) / 1000,
                (entry.to - window.0) / 1000
            );
        }
        let _ = write!(text, "\n  the core's time went to {}", self.core_time(self.span(instance)));
        let assessed = self.ran.outcome.assessment().misses;
        let same =
            assessed.iter().find(|each| miss["name"] == each.name.as_str() && each.instance == instance);
        for mark in same.into_iter().flat_map(|miss| &miss.timeline) {
            let _ = write!(text, "\n  {}us: {}", (mark.at.0 + self.epoch - window.0) / 1000, mark.what);
        }
        self.judged.wrong.push(text);
    }

    pub(super) fn core_time(&self, interval: (i64, i64)) -> String {
        let Some(trace) = &self.ran.trace else { return "nobody knows whom".to_owned() };
        let all = trace.on(self.victim.core, interval).into_iter();
        let shown = all.map(|each| format!("{} ({}) {} us", each.name, each.thread, each.time / 1000));
        shown.collect::<Vec<_>>().join(", ")
    }
}
