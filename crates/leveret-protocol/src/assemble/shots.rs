//! Single shots: what moves once, at an absolute time, gets a place in a table that repeats.
//!
//! ```text
//!   declared           [start .......... deadline]
//!   rounds      |---------------|---------------|---------------|
//!   the place     [.........]     [.........]     [.........]          kept in every round, used in one
//! ```
//! Where the place lies in a round follows from the distances between the shots alone, so the plan does not depend on when it is made. The
//! epoch is chosen to match: a whole number of rounds before the first shot.

use super::errors::Errors;
use super::{Assembled, Mismatch};
use leveret_plan::{Channel, Job, Qos, TIME_NS_MAX, Task, round};
use leveret_types::{ChannelId, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The round of a job in which nothing is periodic.
const ROUND_ALONE: Nanos = Nanos::from_millis(100);

/// A channel that moves one message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shot {
    /// Which.
    pub channel: ChannelId,
    /// Its window as declared, on the job's clock.
    pub window: [Nanos; 2],
    /// Where the window begins in the plan: as declared, or one round before its end if that is later.
    pub at: Nanos,
    /// Until then the receiver has taken the message.
    pub until: Nanos,
}

impl Assembled {
    /// The shot that a channel is, if it is one.
    pub fn shot(&self, channel: ChannelId) -> Option<&Shot> {
        self.shots.iter().find(|shot| shot.channel == channel)
    }

    /// The first instant at or after `earliest` at which the periods can begin.
    ///
    /// # Errors
    /// The first shot, when its place in the table lies before that.
    pub fn epoch(&self, earliest: Nanos, round: Nanos) -> Result<Nanos, &Shot> {
        let Some(first) = self.shots.iter().min_by_key(|shot| shot.at) else { return Ok(earliest) };
        if first.at < earliest {
            return Err(first);
        }
        let rounds = (first.at - earliest).0 / round.0.max(1);
        Ok(first.at - round.saturating_mul(rounds))
    }
}

fn is_shot(channel: &Channel) -> bool {
    matches!(channel.qos, Qos::TimeDriven { period: Nanos::ZERO, .. })
}

/// Gives everything that has no period a place in the round. `once` names the tasks that move single shots; `online` says that every member
/// has declared.
pub(super) fn place(job: &mut Job, once: &BTreeSet<&str>, online: bool, errors: &mut Errors) -> Vec<Shot> {
    let round = round(job).map_or(ROUND_ALONE, |round| round.min(Nanos(TIME_NS_MAX)));
    let mut shots: Vec<Shot> = Vec::new();
    for (index, channel) in job.channels.iter().enumerate().filter(|(_, channel)| is_shot(channel)) {
        let Qos::TimeDriven { release, deadline, .. } = channel.qos else { continue };
        shots.push(Shot {
            channel: ChannelId(index as u16),
            window: [release, deadline],
            at: release.max(deadline - round),
            until: deadline,
        });
    }
    if shots.is_empty() && once.is_empty() {
        return shots;
    }
    check(job, once, &shots, online, errors);
    let anchor = shots.iter().map(|shot| shot.at).min().unwrap_or_default();
    let from_anchor = |at: Nanos| Nanos((at - anchor).0.rem_euclid(round.0.max(1)));
    for shot in &mut shots {
        let Some(Channel { qos: Qos::TimeDriven { period, release, deadline, .. }, .. }) =
            job.channels.get_mut(shot.channel.index())
        else {
            continue;
        };
        *period = round;
        *release = from_anchor(shot.at);
        *deadline = *release + (shot.window[1] - shot.at);
    }
    for task in job.tasks.iter_mut().filter(|task| once.contains(task.name.as_str())) {
        // What sends may wait for the end of its window, what receives has to come soon.
        let (from, until) = if task.writes.is_empty() {
            (task.release, task.deadline.min(task.release + Nanos((round.0 / 2).max(1))))
        } else {
            (task.release.max(task.deadline - round), task.deadline)
        };
        for shot in shots.iter_mut().filter(|shot| task.reads.contains(&shot.channel)) {
            shot.until = shot.until.max(until);
        }
        task.period = round;
        task.release = from_anchor(from);
        task.deadline = task.release + (until - from);
    }
    shots
}

/// Single shots and the tasks that move them have each other, and nothing else.
fn check(job: &Job, once: &BTreeSet<&str>, shots: &[Shot], online: bool, errors: &mut Errors) {
    let is_shot = |channel: &ChannelId| shots.iter().any(|shot| shot.channel == *channel);
    let is_once = |task: &Task| once.contains(task.name.as_str());
    for task in &job.tasks {
        let other = task.reads.iter().chain(&task.writes).find(|channel| is_shot(channel) != is_once(task));
        let Some(channel) = other.and_then(|channel| job.channels.get(channel.index())) else { continue };
        errors.push(Mismatch::Impossible(format!(
            "task \"{}\": it runs in every period, or once, as channel \"{}\" does not; leave the ends of what moves once, at an \
             absolute time, to the library",
            task.name, channel.name
        )));
    }
    for shot in shots.iter().filter(|_| online) {
        let served = |ends: fn(&Task) -> &Vec<ChannelId>| {
            job.tasks.iter().any(|task| is_once(task) && ends(task).contains(&shot.channel))
        };
        if !served(|task| &task.writes) || !served(|task| &task.reads) {
            let channel = &job.channels[shot.channel.index()];
            errors.push(Mismatch::Impossible(format!(
                "channel \"{}\" of group \"{}\": it moves once, at an absolute time, and both its ends must be objects \
                 (`leveret::objects`, `mpirt.h`); declare them so, or give it a period",
                channel.name, channel.group
            )));
        }
    }
}
