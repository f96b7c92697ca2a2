//! The record while it runs is handed to the journal, and what that cannot keep is reported.

use super::Agent;
use crate::journal::Journal;
use crate::monitor::Monitor;
use leveret_types::Nanos;

/// However much the commits before take, of each that runs so much can be kept.
const RECORD_LEFT_LEAST: u64 = 1 << 20;

impl Agent<'_> {
    /// What the commits so far have left of the record's limit. What is held in memory is a quarter of what it takes of that.
    pub(super) fn record_left(&self) -> u64 {
        let held = (self.ended.bytes() as u64).saturating_mul(4);
        self.config.record_limit.saturating_sub(held).max(RECORD_LEFT_LEAST)
    }

    /// Makes room for what runs, an eighth of the limit at least, and gives an equal part of what is left to all that is watched.
    pub(super) fn share_record(&mut self) {
        let most = usize::try_from(self.config.record_limit / 32 * 7).unwrap_or(usize::MAX);
        if self.ended.are_beyond(most) {
            let journal = &mut self.journal;
            let fold = self.ended.fold(most, || journal.as_mut().map_or(0, Journal::next_number));
            if let Some(journal) = journal {
                journal.fold(fold);
            }
        }
        let left = self.record_left();
        let count = self.monitors().count().max(1) as u64;
        self.monitors().for_each(|monitor| monitor.share(left / count));
    }

    /// Which commits are kept as sums, in words.
    pub(super) fn folded(&self) -> Option<String> {
        let (folded, all) = (self.ended.folded(), self.ended.count());
        (folded > 0).then(|| {
            format!(
                "the run had more commits than the record's limit ({}) keeps apart: of {all} commits \
                 {folded} are kept as sums, one for each plan, with counts and distributions and without details; those without a miss went first",
                self.config.limit_setting()
            )
        })
    }

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
        if let Some(lag) = journal.lag(now) {
            self.warn([format!(
                "the disk of the record is slow: what was handed to it {lag} ago is not there yet, and a crash of the machine would lose that, and \
                 what came since; choose another with --output"
            )]);
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
