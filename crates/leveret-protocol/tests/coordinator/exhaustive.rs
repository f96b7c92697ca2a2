//! Two members, every order of events: all states that a small job can reach, each once.

use crate::POLICIES;
use crate::world::{Doing, Move, World};
use leveret_protocol::coordinator::DeathPolicy;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What may still go wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Troubles {
    deaths: u8,
    refusals: u8,
    withdrawals: u8,
    interrupts: u8,
}

/// Every move that is possible with the troubles left, and what is left then.
fn choices(world: &World, left: Troubles) -> Vec<(Move, Troubles)> {
    let mut choices: Vec<_> = world.moves().into_iter().map(|what| (what, left)).collect();
    if world.ended {
        return choices;
    }
    if left.interrupts > 0 {
        choices.push((Move::Interrupt, Troubles { interrupts: left.interrupts - 1, ..left }));
    }
    if left.refusals > 0 && world.plans > 0 {
        choices.push((Move::Plan(false), Troubles { refusals: left.refusals - 1, ..left }));
    }
    for (rank, process) in world.processes.iter().enumerate() {
        if left.deaths > 0 && process.doing != Doing::Gone {
            choices.push((Move::Die(rank), Troubles { deaths: left.deaths - 1, ..left }));
        }
        let admitted = matches!(process.doing, Doing::AwaitingPeers(_) | Doing::AwaitingPlan);
        if left.withdrawals > 0 && admitted {
            choices.push((Move::Withdraw(rank), Troubles { withdrawals: left.withdrawals - 1, ..left }));
        }
        if left.withdrawals > 0 && process.doing == Doing::Idle && process.wants > 0 {
            choices.push((Move::Decline(rank), Troubles { withdrawals: left.withdrawals - 1, ..left }));
        }
    }
    choices
}

/// The whole state as a number. What is drawn in `Debug` is all there is.
fn digest(world: &World, left: Troubles) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{world:?}").hash(&mut hasher);
    left.hash(&mut hasher);
    hasher.finish()
}

/// Visits everything that can be reached; the world's own checks hold in every step. Returns states and ends.
fn explore(members: usize, policy: DeathPolicy, commits: u32, troubles: Troubles) -> (usize, usize) {
    let mut start = World::new(members, policy, |_| true);
    for process in &mut start.processes {
        process.wants = commits;
    }
    let mut seen = HashSet::from([digest(&start, troubles)]);
    let mut ends = 0;
    let mut open = vec![(start, troubles)];
    while let Some((world, left)) = open.pop() {
        let choices = choices(&world, left);
        ends += usize::from(world.ended);
        for (what, left) in choices {
            let mut next = world.clone();
            next.make(what);
            if seen.insert(digest(&next, left)) {
                open.push((next, left));
            }
        }
    }
    (seen.len(), ends)
}

/// Deaths, refusals, withdrawals, interrupts.
fn troubles(left: [u8; 4]) -> Troubles {
    let [deaths, refusals, withdrawals, interrupts] = left;
    Troubles { deaths, refusals, withdrawals, interrupts }
}

fn explore_all(members: usize, commits: u32, troubled: &[[u8; 4]]) {
    for policy in POLICIES {
        for left in troubled {
            let (states, ends) = explore(members, policy, commits, troubles(*left));
            println!(
                "{members} members, {commits} commits, {policy:?}, {left:?}: {states} states, {ends} ends"
            );
            assert!(states > 200 && ends > 0, "{policy:?} {left:?}: {states} states, {ends} ends");
        }
    }
}

#[test]
fn one_commit_of_two_members_in_every_order() {
    explore_all(2, 1, &[[2, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 0], [3, 0, 0, 0]]);
}

#[test]
fn two_commits_of_two_members_in_every_order() {
    explore_all(2, 2, &[[1, 1, 0, 1], [2, 0, 0, 0], [0, 1, 1, 0]]);
}

#[test]
fn one_commit_of_three_members_in_every_order() {
    explore_all(3, 1, &[[1, 0, 0, 0], [0, 1, 0, 1]]);
}
