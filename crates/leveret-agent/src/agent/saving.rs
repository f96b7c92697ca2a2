//! The record while it runs is handed to the journal, and what that cannot keep is reported.

use super::Agent;
use crate::journal::Journal;
use crate::monitor::Monitor;
use leveret_types::Nanos;

impl Agent<'_> {
    /// Starts the journal, by a thread that has no more rights than this one has yet.
    pub(super) fn start_journal(&mut self) {
        let Some(path) = &self.config.journal else { return };
        // As much as the record at the end.
        let bytes = self.config.record_limit / 4;
        match Journal::start(path, bytes, &self.config.declaration.cores) {
            Ok(journal) => self.journal = Some(journal),
            Err(error) => {
                let path = path.display();
                self.warn([not_saved(&format!("{path}: its thread could not be started: {error}; raise the limit on threads (`ulimit -u`)"))]);
            }
        }
    }

    /// Everything that is watched.
    fn monitors(&mut self) -> impl Iterator<Item = &mut Monitor> {
        let next = self.next.as_mut().and_then(|next| next.monitor());
        self.monitor.iter_mut().chain(next).chain(self.groups.monitors())
    }

    /// Hands to the journal what has changed.
    pub(super) fn save(&mut self, now: Nanos) {
        let Some(mut journal) = self.journal.take() else { return };
        // A job that is refused leaves no record of a run.
        if self.monitors().next().is_none() {
            self.journal = Some(journal);
            return;
        }
        journal.tell_facts(&self.config.declaration.name, self.started_unix_s, &self.facts);
        let mut falls_behind = false;
        for monitor in self.monitors() {
            falls_behind |= monitor.save(&mut journal, now);
        }
        match journal.trouble(falls_behind) {
            None => self.journal = Some(journal),
            Some(why) => {
                self.monitors().for_each(|monitor| monitor.note_changes(false));
                self.warn([not_saved(&why)]);
            }
        }
    }
}

fn not_saved(why: &str) -> String {
    format!(
        "the record is not written while the job runs, and a crash of the agent or the machine would lose it: {why}"
    )
}
