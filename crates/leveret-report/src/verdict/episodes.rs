//! One stop of a member makes many instances late, of all its tasks, and is one cause.

use super::{Blame, Cause, Context, Miss, Root, Subject};
use crate::record::InstanceRecord;
use leveret_types::Nanos;
use std::collections::HashMap;

/// What keeps instances from running in one go: what happened to which member, or which thread had the core.
#[derive(PartialEq, Eq, Hash)]
struct Holder {
    cause: Cause,
    blame: Blame,
    member: Option<u16>,
}

impl Holder {
    fn of(context: &Context<'_>, miss: &Miss, task: usize) -> Option<Self> {
        let member = match miss.cause {
            Cause::StoppedMember | Cause::Traced | Cause::Frozen => Some(context.index.member(task)?),
            Cause::RunQueueWait if miss.culprit.is_some() => None,
            _ => return None,
        };
        let blame = Blame { party: miss.party, unproven: miss.unproven, culprit: miss.culprit.clone() };
        Some(Self { cause: miss.cause, blame, member })
    }
}

/// The first miss of an episode, and until when that reaches.
struct Episode {
    root: Root,
    until: Nanos,
}

/// Lets every miss that comes from one holder without a break follow from the first of them. The misses are in the order of their deadlines.
pub(super) fn join(context: &Context<'_>, misses: &mut [Miss]) {
    let mut under_way: HashMap<Holder, Episode> = HashMap::new();
    let mut followers: HashMap<(usize, u64), Root> = HashMap::new();
    for place in in_planned_order(context, misses) {
        let miss = &misses[place];
        let Some((task, record)) = instance_of(context, miss) else { continue };
        let Some(holder) = Holder::of(context, miss, task) else { continue };
        let until = record.ended.max(record.woken).max(record.planned);
        let episode = under_way.get_mut(&holder).filter(|episode| record.planned <= episode.until);
        if let Some(episode) = episode {
            episode.until = episode.until.max(until);
            followers.insert((task, miss.instance), episode.root.clone());
            continue;
        }
        let (name, instance, cause, blame) =
            (miss.name.clone(), miss.instance, miss.cause, holder.blame.clone());
        under_way.insert(holder, Episode { root: Root { task, name, instance, cause, blame }, until });
    }
    for miss in misses {
        let own = match (&miss.root, miss.subject) {
            (Some(root), _) => (root.task, root.instance),
            (None, Subject::Task(task)) => (task, miss.instance),
            (None, Subject::Channel(_)) => continue,
        };
        if let Some(first) = followers.get(&own) {
            miss.root = Some(first.clone());
        }
    }
}

/// The instance of a task whose miss follows from no other.
fn instance_of<'a>(context: &Context<'a>, miss: &Miss) -> Option<(usize, &'a InstanceRecord)> {
    let Subject::Task(task) = miss.subject else { return None };
    let of = context.index.instance(task, miss.instance).filter(|_| miss.root.is_none());
    of.map(|(_, record)| (task, record))
}

fn in_planned_order(context: &Context<'_>, misses: &[Miss]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..misses.len()).collect();
    places.sort_by_key(|place| instance_of(context, &misses[*place]).map(|(_, record)| record.planned));
    places
}
