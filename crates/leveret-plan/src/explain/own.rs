//! What of a job its program can change.

use super::rates::Rated;
use super::{Change, DeclarationKind, Remedy};
use crate::{Job, Kept, Start};

/// Which declarations are the program's to change: neither those that stand for what runs already, nor what a mode keeps of that.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    tasks: Vec<bool>,
    channels: Vec<bool>,
    works: Vec<bool>,
}

impl Own {
    /// All of the job but what is kept.
    pub fn but(job: &Job, kept: &Kept) -> Self {
        let mut own = Self {
            tasks: vec![true; job.tasks.len()],
            channels: vec![true; job.channels.len()],
            works: vec![true; job.sporadics.len()],
        };
        let tasks = kept.tasks.iter().map(|task| task.index());
        let channels = kept.channels.iter().map(|channel| channel.index());
        let works = kept.works.iter().map(|work| usize::from(*work));
        clear(&mut own.tasks, tasks);
        clear(&mut own.channels, channels);
        clear(&mut own.works, works);
        // Work that a channel starts has the times of that channel.
        for (own_work, work) in own.works.iter_mut().zip(&job.sporadics) {
            if let Start::Message(channel) | Start::Request(channel) = work.start {
                *own_work &= own.channels.get(channel.index()).copied().unwrap_or(false);
            }
        }
        own
    }

    pub fn has(&self, one: Rated) -> bool {
        let (own, index) = match one {
            Rated::Task(index) => (&self.tasks, index),
            Rated::Channel(index) => (&self.channels, index),
        };
        own.get(index).copied().unwrap_or(false)
    }

    pub fn has_work(&self, index: usize) -> bool {
        self.works.get(index).copied().unwrap_or(false)
    }

    /// Its tasks, by index.
    pub fn tasks(&self) -> impl Iterator<Item = usize> + '_ {
        self.tasks.iter().enumerate().filter(|(_, own)| **own).map(|(index, _)| index)
    }

    /// Whether a remedy changes nothing else.
    pub fn allows(&self, job: &Job, remedy: &Remedy) -> bool {
        let is_own = |change: &Change| {
            let object = change.object();
            let known = Rated::place(job, object);
            let work = job.sporadics.iter().position(|work| work.name == object.name);
            match (known, object.kind) {
                (Some(one), _) => self.has(one),
                (None, DeclarationKind::Task) => work.is_some_and(|work| self.has_work(work)),
                (None, DeclarationKind::Channel) => false,
            }
        };
        remedy.changes.iter().all(is_own)
    }
}

fn clear(own: &mut [bool], kept: impl Iterator<Item = usize>) {
    for index in kept {
        if let Some(own) = own.get_mut(index) {
            *own = false;
        }
    }
}
