//! Waiting for a receptor: one system call, whatever the number of its triggers.

use super::body::Firing;
use super::committed::CommittedReceptor;
use crate::event_end::FiringSource;
use crate::objects::committed::Committed;
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use leveret_memory::ListenerWriter;
use leveret_os::clock;
use leveret_os::futex::{Awaited, WORDS_MAX, wait_any};
use leveret_types::Nanos;
use std::sync::Arc;

/// Words to sleep on, with what they hold now. One more than the kernel waits on tells that there are too many.
pub(in crate::objects) struct Words {
    list: [Awaited; WORDS_MAX + 1],
    count: usize,
}

impl Words {
    pub(in crate::objects) fn new() -> Self {
        Self { list: [Awaited::NONE; WORDS_MAX + 1], count: 0 }
    }

    /// Once: channels share the bell of their watch.
    pub(in crate::objects) fn push(&mut self, word: Awaited) {
        if self.list[..self.count].contains(&word) {
            return;
        }
        if let Some(place) = self.list.get_mut(self.count) {
            *place = word;
            self.count += 1;
        }
    }

    /// Every trigger's count, which is to be looked at after this.
    pub(super) fn push_sources(&mut self, sources: &[FiringSource]) {
        for source in sources {
            self.push(Awaited::new(source.reader.futex_word_address(), source.reader.futex_value()));
        }
    }

    /// Sleeps until one of the words changes. The firing ends learn by the listeners that somebody sleeps; one that fired before it could
    /// know has changed its word.
    pub(in crate::objects) fn sleep<'l>(
        &self,
        listeners: impl Iterator<Item = &'l Arc<ListenerWriter>> + Clone,
        until: Nanos,
    ) {
        listeners.clone().for_each(|listener| listener.begin());
        if self.count == 0 {
            clock::sleep_until(until);
        } else {
            // Whatever ended it, the caller looks again; it fails only for addresses that are not mapped.
            let _ = wait_any(&self.list[..self.count], until);
        }
        listeners.for_each(|listener| listener.end());
    }
}

impl Committed {
    /// Waits for an event, and consumes one firing.
    ///
    /// # Errors
    /// [`Code::Timeout`], [`Code::Uncommitted`] when the commit or the job ends, [`Code::PeerLost`] when whoever could fire is dead,
    /// [`Code::UndefForObject`] for a receptor with handlers or a part of another, and those of wrong handles.
    pub fn receptor_wait(&self, receptor: Handle, timeout: Nanos) -> Result<Firing, Code> {
        let receptor = self.waited_for(receptor)?;
        // Most waits that find a firing do not read the clock.
        if let Some(firing) = receptor.take_and_keep() {
            return Ok(firing);
        }
        let limit = clock::now() + timeout;
        loop {
            let watch = receptor.watched.now();
            let mut words = Words::new();
            words.push(watch.bell());
            words.push_sources(&receptor.sources);
            if let Some(firing) = receptor.take_and_keep() {
                return Ok(firing);
            }
            let (now, stop) = (clock::now(), watch.stop_at());
            if now >= stop {
                return Err(Code::Uncommitted);
            }
            if !is_possible(receptor, &|member| watch.is_dead(member)) {
                return Err(Code::PeerLost);
            }
            if now >= limit {
                return Err(Code::Timeout);
            }
            words.sleep(receptor.listeners.iter(), limit.min(stop));
        }
    }

    /// Consumes a firing if one is pending. Never blocks.
    ///
    /// # Errors
    /// As [`Committed::receptor_wait`] for wrong receptors.
    pub fn receptor_test(&self, receptor: Handle) -> Result<Option<Firing>, Code> {
        let receptor = self.waited_for(receptor)?;
        Ok(receptor.take_and_keep())
    }
}

fn is_possible(receptor: &CommittedReceptor, is_dead: &dyn Fn(leveret_types::MemberId) -> bool) -> bool {
    receptor.occurrence().is_some_and(|occurrence| occurrence.is_possible(is_dead))
}
