//! Whether the one who is named is one who planted, or had the core for longer.

use super::{Judge, evidence, instance_of, is_harmless, party_of};
use crate::case::{Culprit, Party};
use crate::run::Entry;
use serde_json::Value;

impl Judge<'_> {
    /// Who is named: one who planted, by process or thread and by name.
    pub(super) fn planter(&self, culprit: &Value) -> Option<&Entry> {
        let (pid, thread) = (culprit["pid"].as_u64(), culprit["thread"].as_u64());
        let mut same = self.planters().filter(|entry| pid == Some(entry.pid) || thread == Some(entry.thread));
        same.next()
    }

    /// For how long a thread that is named had the core while the task waited.
    pub(super) fn time_ahead(&self, culprit: &Value, instance: u64) -> i64 {
        let ahead = self.ahead((self.since(instance), self.span(instance).1)).into_iter();
        let same = ahead.filter(|each| culprit["thread"].as_u64() == Some(each.thread.into()));
        same.map(|each| each.time).sum()
    }

    /// Another than the planter is named with right if it had the core for longer while the task waited.
    pub(super) fn was_ahead_for_longer(&self, culprit: &Value, instance: u64) -> bool {
        let span = (self.since(instance), self.span(instance).1);
        let ahead = self.ahead(span);
        let claims = self.harming().map(|entry| {
            let own = ahead.iter().find(|each| u64::from(each.thread) == entry.thread);
            // While it wants a core, and others have it, a thread is not held by whoever wants to hold it.
            let part = (entry.from.max(span.0), entry.to.min(span.1));
            let held = part.1 - part.0 - self.foreign_ahead(part);
            match entry.kind.as_str() {
                // One of several equals that took turns; only what made the instance late counts, and nobody knows whose turn that was.
                "ordinary" => own.map_or(0, |own| own.time / 4),
                _ => own.map_or(held, |own| own.time),
            }
        });
        let time = self.time_ahead(culprit, instance);
        time > claims.max().unwrap_or_default()
    }

    pub(super) fn planted(&mut self, miss: &Value, expected: Party) {
        self.judged.judged += 1;
        let party = party_of(miss);
        let unproven = miss["unproven"].as_bool().unwrap_or_default();
        let cause = self.cause;
        // Where the kernel does not say who did it, nothing proves that it was not the job.
        let left_open = unproven && cause.culprit == Culprit::Unknown && party == Party::Job;
        if party != expected && !left_open {
            self.wrong(miss, &format!("{expected}'s, not {party}'s"));
        }
        let culprit = &miss["culprit"];
        let named = self.planter(culprit).cloned();
        match (cause.culprit, &named) {
            (Culprit::Planter, None) if !self.was_ahead_for_longer(culprit, instance_of(miss)) => {
                self.wrong(miss, "the culprit is not the planter")
            }
            (Culprit::Unknown, None)
                if !culprit["pid"].is_null() && self.time_ahead(culprit, instance_of(miss)) == 0 =>
            {
                self.wrong(miss, "the culprit is somebody else")
            }
            (Culprit::Nobody, Some(_)) => self.wrong(miss, "the planter was harmless"),
            (_, Some(entry)) if is_harmless(&entry.kind) => self.wrong(miss, "that planter was harmless"),
            (_, Some(entry)) if culprit["name"] != entry.name.as_str() => {
                self.wrong(miss, "the planter has another name")
            }
            _ => {}
        }
        let said = evidence(miss).to_lowercase();
        let is_another = cause.culprit != Culprit::Nobody && named.is_none() && !culprit["pid"].is_null();
        if !is_another
            && !cause.words.is_empty()
            && !cause.words.iter().any(|word| said.contains(&word.to_lowercase()))
        {
            self.wrong(miss, &format!("says nothing of {:?}", cause.words));
        }
        self.judged.parties.insert((party, unproven));
        self.judged.is_excused |=
            ["proves no stall", "log are missing", "nobody read the kernel's log", "than is remembered"]
                .iter()
                .any(|words| said.contains(words));
        self.judged.culprits.extend(culprit["name"].as_str().map(str::to_owned));
        if self.judged.sentence.is_empty() {
            self.judged.sentence = miss["evidence"][0].as_str().unwrap_or_default().to_owned();
        }
    }
}
