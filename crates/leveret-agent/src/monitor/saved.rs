//! What a phase hands to the journal: every half second what has changed, so that a crash loses a second at most.

use super::Monitor;
use crate::journal::Journal;
use leveret_os::clock;
use leveret_report::journal::{Chunk, Growth, PhaseBegun};
use leveret_report::record::{AloneProbe, Event, EventKind};
use leveret_types::Nanos;

/// How often what has changed is handed over.
const EVERY: Nanos = Nanos::from_millis(500);
/// Changes that wait for a disk that does not keep up.
const CHANGES_MAX: usize = 1 << 20;
/// Events of a phase that are written; of later ones only ends and starts of members are.
const EVENTS_MAX: usize = 1 << 16;

/// How far the journal is.
#[derive(Default)]
pub(crate) struct Saved {
    is_noted: bool,
    /// The phase's number, once it has begun.
    number: Option<u32>,
    next: Nanos,
    /// Until when everything has been read.
    pub(crate) drained: Nanos,
    events: Vec<Event>,
    events_written: usize,
}

impl Saved {
    /// The phase's number in the journal, if it is there.
    pub(crate) fn number(&self) -> Option<u32> {
        self.number
    }
}

impl Monitor {
    /// Starts or stops recording changes for the journal.
    pub(crate) fn note_changes(&mut self, is_noted: bool) {
        self.saved.is_noted = is_noted;
        self.saved.events = Vec::new();
        self.tasks.iter_mut().for_each(|task| task.note_changes(is_noted));
        self.channels.iter_mut().for_each(|channel| channel.note_changes(is_noted));
        self.evidence.note_changes(is_noted);
    }

    pub(crate) fn happened(&mut self, event: Event) {
        if self.saved.is_noted {
            self.saved.events.push(event.clone());
        }
        self.events.push(event);
    }

    /// Hands over what has changed, if it is time and the journal takes it. Whether so much waits that it never will.
    pub(crate) fn save(&mut self, journal: &mut Journal, now: Nanos) -> bool {
        // A mode that is planned for later may never run.
        if now < self.saved.next.max(self.epoch) || !self.saved.is_noted {
            return false;
        }
        if !journal.is_ready() {
            let waiting = self.tasks.iter().map(|task| task.changes());
            let waiting = waiting.chain(self.channels.iter().map(|channel| channel.changes()));
            return waiting.sum::<usize>() + self.evidence.changes() + self.saved.events.len() > CHANGES_MAX;
        }
        self.saved.next = now + EVERY;
        let growth = self.growth(journal, None);
        journal.put(growth);
        false
    }

    /// Hands over the end of the phase.
    pub(crate) fn save_end(&mut self, journal: &mut Journal, alone: AloneProbe) {
        if self.saved.is_noted {
            let growth = self.growth(journal, Some(alone));
            journal.put(growth);
        }
    }

    fn growth(&mut self, journal: &mut Journal, ended: Option<AloneProbe>) -> Chunk {
        let number = match self.saved.number {
            Some(number) => number,
            None => self.begin(journal),
        };
        let until = self.saved.drained;
        let mut growth = Growth {
            number,
            until: until - self.epoch,
            rounds: self.rounds_ordered.min(self.rounds(until)),
            events: std::mem::take(&mut self.saved.events),
            ended,
            ..Growth::default()
        };
        for (index, task) in self.tasks.iter_mut().enumerate() {
            growth.events.extend(task.happened(index as u16));
            growth.tasks.extend(task.growth(clock::now()).map(|grown| (index as u16, grown)));
        }
        for (index, channel) in self.channels.iter_mut().enumerate() {
            growth.channels.extend(channel.growth(clock::now()).map(|grown| (index as u16, grown)));
        }
        self.evidence.grow(&mut growth);
        let mut written = self.saved.events_written;
        growth.events.retain(|event| {
            let is_rare =
                matches!(event.kind, EventKind::MemberDied { .. } | EventKind::MemberRestarted { .. });
            written += 1;
            written <= EVENTS_MAX || is_rare
        });
        self.saved.events_written = written;
        Chunk::Growth(Box::new(growth))
    }

    fn begin(&mut self, journal: &mut Journal) -> u32 {
        let number = journal.next_phase(&self.plan, self.epoch);
        self.saved.number = Some(number);
        journal.put(Chunk::Phase(Box::new(PhaseBegun {
            number,
            label: self.label.clone(),
            job: self.assembled.job.clone(),
            plan: self.plan.clone(),
            epoch_monotonic: self.epoch,
        })));
        number
    }
}
