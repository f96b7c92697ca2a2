//! Planning changed jobs, again and again, within bounds.

use super::Remedy;
use super::overload::Demand;
use crate::admission::{solve, solve_soon};
use crate::search::Effort;
use crate::validate::error_count;
use crate::{Job, validate};

/// A job to be changed, with what is asked of its cores.
pub(super) struct Target<'a> {
    pub job: &'a Job,
    pub demand: Option<Demand<'a>>,
}

impl<'a> Target<'a> {
    pub fn new(job: &'a Job) -> Self {
        // A declaration that contradicts itself asks for nothing that could be summed up.
        Self { job, demand: validate(job).ok().and_then(|()| Demand::of(job)) }
    }

    /// Whether the sums alone allow it.
    pub fn allows(&self, remedy: &Remedy) -> bool {
        self.demand.as_ref().is_none_or(|demand| demand.allows(remedy))
    }
}

/// The conflict by itself, and the whole job where that must fit too.
pub(super) struct Both<'a> {
    pub whole: Option<Target<'a>>,
    pub alone: Target<'a>,
}

impl<'a> Both<'a> {
    /// The larger of what must fit.
    pub fn outer(&self) -> &Target<'a> {
        self.whole.as_ref().unwrap_or(&self.alone)
    }
}

/// Plans within a budget of steps.
pub(super) struct Trials {
    effort: Effort,
    most: u64,
    /// Whether something was left untried for want of steps.
    pub exhausted: bool,
}

impl Trials {
    pub fn new(most: u64) -> Self {
        Self { effort: Effort::light(), most, exhausted: false }
    }

    /// What others do on its account.
    pub fn effort(&mut self) -> &mut Effort {
        &mut self.effort
    }

    /// Steps taken so far.
    pub fn spent(&self) -> u64 {
        self.effort.spent
    }

    pub fn most(&self) -> u64 {
        self.most
    }

    /// Lets the steps be so many in all, from here on.
    pub fn allow(&mut self, most: u64) {
        self.most = most;
    }

    /// Counts steps that somebody else took.
    pub fn spend(&mut self, steps: u64) {
        self.effort.spend(steps);
    }

    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.effort.spent)
    }

    pub fn is_spent(&mut self) -> bool {
        let is_spent = self.effort.spent >= self.most;
        self.exhausted |= is_spent;
        is_spent
    }

    /// Whether the job after the remedy is admitted. What is found here, an admission finds.
    pub fn fits(&mut self, target: &Target<'_>, remedy: &Remedy) -> bool {
        if self.is_spent() || !target.allows(remedy) {
            return false;
        }
        // To make many changes costs something too: each is looked for among all declarations.
        let changes = remedy.changes.len();
        self.effort.spend((changes * (changes + target.job.tasks.len()) / 4) as u64);
        remedy.apply(target.job).is_some_and(|changed| self.admits(&changed))
    }

    /// Whether that is found soon: more jobs are admitted than are found so.
    pub fn fits_soon(&mut self, target: &Target<'_>, remedy: &Remedy) -> bool {
        if self.is_spent() || !target.allows(remedy) {
            return false;
        }
        self.effort.spend(32 + target.job.tasks.len() as u64);
        let admits = |changed: Job| error_count(&changed) == 0 && solve_soon(&changed, &mut self.effort);
        remedy.apply(target.job).is_some_and(admits)
    }

    /// The same for a part of the job, which need not have all that changes.
    pub fn fits_alone(&mut self, target: &Target<'_>, remedy: &Remedy) -> bool {
        if !target.allows(remedy) {
            return false;
        }
        let part = || {
            let mut part = target.job.clone();
            for change in &remedy.changes {
                let _ = change.apply_to(&mut part);
            }
            part
        };
        self.admits(&remedy.apply(target.job).unwrap_or_else(part))
    }

    pub fn fits_both(&mut self, both: &Both<'_>, remedy: &Remedy) -> bool {
        both.outer().allows(remedy)
            && self.fits_alone(&both.alone, remedy)
            && both.whole.as_ref().is_none_or(|whole| self.fits(whole, remedy))
    }

    /// Whether a job is admitted.
    pub fn admits(&mut self, job: &Job) -> bool {
        // Even a job that is refused at once costs something.
        self.effort.spend(32);
        !self.is_spent() && error_count(job) == 0 && solve(job, &mut self.effort).is_ok()
    }
}
