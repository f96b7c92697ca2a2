//! Waiting at an end that no thread of the library serves: briefly by looking, then asleep on the words that change when there is something
//! to do: the other end's, those of this member's other threads, and the watch's.

use super::ends::{End, told};
use super::outcome::Outcome;
use super::{Committed, CommittedChannel};
use crate::objects::error::Code;
use crate::objects::events::Words;
use crate::objects::handle::Handle;
use crate::watch::Watch;
use leveret_memory::Doze;
use leveret_memory::sync::Ordering;
use leveret_os::futex::Awaited;
use leveret_os::{barrier, clock};
use leveret_types::Nanos;
use std::iter;
use std::ptr::NonNull;

/// Looks before a wait sleeps: a transfer that is under way at all members takes less.
const POLLS: u32 = 4096;
/// Without a barrier in all members the first sleep at a channel is no longer than this: the other end need not know yet that anybody sleeps.
const SHORT: Nanos = Nanos::from_millis(1);
/// Nor any other than this: by then who wakes may have another watch.
const PULSE: Nanos = Nanos::from_millis(20);
/// How soon an end is looked at again that another thread uses: who waits can not say there that it sleeps.
const LOOK_AGAIN: Nanos = Nanos::from_micros(100);

impl Committed {
    /// Waits until the last started transfer is complete; at an activated end, for the next instance that a wait or a test
    /// has not told of; of a time-driven channel it tells of all that are over, with the outcome of the last. In the function of the task that serves the end it returns at once.
    ///
    /// # Errors
    /// As [`Committed::test`], and [`Code::Timeout`], [`Code::Uncommitted`] when the job stops.
    pub fn wait(&self, channel: Handle, timeout: Nanos) -> Result<(), Code> {
        self.wait_at(self.channel(channel)?, timeout)
    }

    pub(super) fn wait_at(&self, channel: &CommittedChannel, timeout: Nanos) -> Result<(), Code> {
        if let Some(served) = &channel.served {
            return self.wait_for_served(channel, served, timeout);
        }
        if channel.is_of_this_task() {
            return self.wait_within(channel);
        }
        // What is complete needs no reading of the clock.
        let (mut limit, mut has_slept) = (None, false);
        loop {
            if let Some(outcome) = not_while_in_use(self.look_around(channel))? {
                return told(outcome);
            }
            let now = clock::now();
            let limit = *limit.get_or_insert(now + timeout);
            if now >= limit {
                return Err(Code::Timeout);
            }
            let next = self.at_alone(channel, |end| {
                Ok(match end {
                    End::Timed(timed) => Next::Until(timed.look_again_at(now)),
                    end if channel.polls || !has_slept && comes_soon(channel, end) => Next::Look,
                    _ => Next::Sleep,
                })
            });
            match next {
                Ok(Next::Until(again)) => clock::sleep_until(again.min(limit)),
                Ok(Next::Sleep) => {
                    has_slept = true;
                    if let Some(outcome) = self.sleep_at(channel, limit)? {
                        return told(outcome);
                    }
                }
                // Another thread uses the end, and goes on with what there is to do.
                Ok(Next::Look) | Err(_) => std::hint::spin_loop(),
            }
        }
    }

    /// Sleeps until there may be something to do at an end, or where its buffers come from, unless the wait ends before that.
    fn sleep_at(&self, channel: &CommittedChannel, limit: Nanos) -> Result<Option<Outcome>, Code> {
        let feeders = channel.feeders.iter().map(|number| &self.channels[*number as usize]);
        let looked =
            self.sleep_among(iter::once(channel).chain(feeders), limit, || self.look_around(channel));
        not_while_in_use(looked)
    }

    /// Sleeps until there may be something to do at one of these, unless `look` finds something once everybody knows that this thread is
    /// about to sleep.
    pub(super) fn sleep_among<'c, T>(
        &self,
        channels: impl Iterator<Item = &'c CommittedChannel> + Clone,
        limit: Nanos,
        look: impl FnOnce() -> Result<Option<T>, Code>,
    ) -> Result<Option<T>, Code> {
        let mut words = Words::new();
        let untils = channels.clone().map(|channel| self.lie_down(channel, &mut words));
        let until = untils.fold(limit, Nanos::min);
        let looked = look();
        if matches!(looked, Ok(None)) {
            words.sleep(iter::empty(), until);
        }
        channels.for_each(|channel| self.get_up(channel));
        looked
    }

    /// Says at an end that this thread is about to sleep, and collects what to sleep on; says until when at most.
    fn lie_down(&self, channel: &CommittedChannel, words: &mut Words) -> Nanos {
        let again = || clock::now() + LOOK_AGAIN;
        if let Some(served) = &channel.served {
            served.begin_sleep();
            return self.push_served(served, words).unwrap_or_else(|_| again());
        }
        let stirred = channel.stirred.load(Ordering::SeqCst);
        words.push(Awaited::new(NonNull::from(&channel.stirred).cast(), stirred));
        channel.sleepers.fetch_add(1, Ordering::SeqCst);
        self.at_alone(channel, |end| Ok(fall_asleep(end, words))).unwrap_or_else(|_| again())
    }

    /// After the sleep, or instead of it.
    fn get_up(&self, channel: &CommittedChannel) {
        if let Some(served) = &channel.served {
            served.end_sleep();
        } else if channel.sleepers.fetch_sub(1, Ordering::SeqCst) == 1 {
            // Where another thread uses the end now, the other end makes wake-ups for nobody until a wait ends here again.
            let _ = self.at_alone(channel, |end| {
                wake_up(end);
                Ok(())
            });
        }
    }

    /// Whether a wait would end now, after the ends that its buffers come from and before those that they go to.
    fn look_around(&self, channel: &CommittedChannel) -> Result<Option<Outcome>, Code> {
        self.attend_all(&channel.feeders);
        let looked = self.at_alone(channel, |end| self.look(channel, end));
        self.attend_all(&channel.followers);
        looked
    }
}

/// What a wait does that has not ended.
enum Next {
    Look,
    Sleep,
    Until(Nanos),
}

/// While another thread uses the end, nothing is known to be complete.
pub(super) fn not_while_in_use(looked: Result<Option<Outcome>, Code>) -> Result<Option<Outcome>, Code> {
    match looked {
        Err(Code::Slack) => Ok(None),
        looked => looked,
    }
}

/// Looks for some microseconds whether there is anything to do; says whether there is.
fn comes_soon(channel: &CommittedChannel, end: &End) -> bool {
    for _ in 0..POLLS {
        let has_news = match end {
            End::Source(source) => source.end.delivered() > source.delivered,
            End::Target(target) => target.asked.has_work() && target.end.test(),
            End::Collective(end) => {
                channel.collective.as_deref().is_some_and(|collective| end.has_news(collective))
            }
            End::None | End::Timed(_) => false,
        };
        if has_news || channel.is_asked_for() {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}

/// Collects what to sleep on; says until when at most.
fn fall_asleep(end: &mut End, words: &mut Words) -> Nanos {
    let mut is_first = false;
    let mut doze = |words: &mut Words, doze: Doze| {
        is_first |= doze.is_first;
        words.push(Awaited::new(doze.word, doze.seen));
    };
    let stop = |words: &mut Words, watch: &Watch| {
        words.push(watch.bell());
        watch.stop_at()
    };
    let stop_at = match end {
        End::Source(source) => {
            doze(words, source.end.begin_doze());
            stop(words, source.end.watch_mut().now())
        }
        End::Target(target) => {
            // What stands in the next message's place and is none would be waited for in vain.
            target.end.pass_over();
            doze(words, target.end.begin_doze());
            stop(words, target.end.watch_mut().now())
        }
        End::Collective(collective) => {
            collective.begin_doze(|each| doze(words, each));
            stop(words, collective.watch())
        }
        End::Timed(timed) => return timed.look_again_at(clock::now()),
        End::None => Nanos::MAX,
    };
    // The other end has stored before the barrier, and the look after it sees that, or it reads after the barrier that this one sleeps.
    let is_known = !is_first || barrier::in_all_members();
    stop_at.min(clock::now() + if is_known { PULSE } else { SHORT })
}

fn wake_up(end: &End) {
    match end {
        End::Source(source) => source.end.end_doze(),
        End::Target(target) => target.end.end_doze(),
        End::Collective(collective) => collective.end_doze(),
        End::None | End::Timed(_) => {}
    }
}
