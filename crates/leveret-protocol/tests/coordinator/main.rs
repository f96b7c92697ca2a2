//! The commit coordinator in a world where anything can happen at any moment: at random, many times over, and for
//! small jobs in every order there is.
#![allow(missing_docs, reason = "a test has no public interface")]

mod agent;
mod exhaustive;
mod groups;
mod modes;
mod orders;
mod world;

use leveret_protocol::coordinator::{DeathPolicy, Stage};
use world::{Doing, Move, World};

const POLICIES: [DeathPolicy; 3] = [DeathPolicy::Stop, DeathPolicy::Continue, DeathPolicy::Restart];
/// A seed of a failure is put here, so that it is tried first ever after.
const SEEDS_OF_FAILURES: [u64; 0] = [];
const SEEDS: u64 = 20_000;
const STEPS: usize = 160;
/// More than any job needs that nobody disturbs.
const STEPS_UNDISTURBED: usize = 2_000;

/// Marsaglia's xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// What disturbs a world, each once in so many steps; 0 never.
struct Weather {
    death: usize,
    mischief: usize,
    withdrawal: usize,
    interrupt: usize,
}

fn disturbance(world: &World, weather: &Weather, random: &mut Random) -> Option<Move> {
    let rank = random.below(world.processes.len());
    let process = &world.processes[rank];
    let lives = process.doing != Doing::Gone;
    let connected = lives && process.doing != Doing::Joining;
    let mut falls = |often: usize| often > 0 && random.one_in(often);
    if lives && falls(weather.death) {
        Some(Move::Die(rank))
    } else if connected && !process.honest && falls(weather.mischief) {
        let next = random.next().to_le_bytes();
        Some(Move::Misbehave(rank, next[0], next[1] as i8 % 3))
    } else if connected && falls(weather.withdrawal) {
        let is_idle = process.doing == Doing::Idle && process.wants > 0;
        Some(if is_idle { Move::Decline(rank) } else { Move::Withdraw(rank) })
    } else if !world.interrupted && falls(weather.interrupt) {
        Some(Move::Interrupt)
    } else {
        None
    }
}

/// One world from its seed to the job's end.
fn live(seed: u64) -> World {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let members = 1 + random.below(4);
    let policy = POLICIES[random.below(3)];
    let honest: Vec<bool> = (0..members).map(|_| !random.one_in(6)).collect();
    let pick = |random: &mut Random, choices: [usize; 3]| choices[random.below(3)];
    let weather = Weather {
        death: pick(&mut random, [0, 25, 120]),
        mischief: 12,
        withdrawal: pick(&mut random, [0, 0, 15]),
        interrupt: pick(&mut random, [0, 0, 150]),
    };
    let refusals = pick(&mut random, [0, 3, 8]);
    let mut world = World::new(members, policy, |rank| honest[rank]);
    for _ in 0..STEPS {
        let moves = world.moves();
        if world.ended {
            break;
        }
        let what = match disturbance(&world, &weather, &mut random) {
            Some(what) => what,
            None if moves.is_empty() => break,
            None => match moves[random.below(moves.len())] {
                Move::Plan(_) => Move::Plan(refusals == 0 || !random.one_in(refusals)),
                Move::Finish(rank, _) => Move::Finish(rank, random.one_in(20)),
                other => other,
            },
        };
        world.make(what);
    }
    bring_to_an_end(&mut world, &mut random);
    world
}

/// Undisturbed, every job ends.
fn bring_to_an_end(world: &mut World, random: &mut Random) {
    for rank in 0..world.processes.len() {
        let process = &world.processes[rank];
        if !world.ended && !process.honest && process.doing != Doing::Gone {
            world.make(Move::Die(rank));
        }
    }
    for _ in 0..STEPS_UNDISTURBED {
        let moves = world.moves();
        if world.ended {
            assert!(world.coordinator.stage() == Stage::Gathering);
            return;
        }
        assert!(!moves.is_empty(), "the job does not end: {world:?}");
        world.make(moves[random.below(moves.len())]);
    }
    panic!("the job goes on for ever: {world:?}");
}

#[test]
fn whatever_happens_every_member_gets_the_same_and_the_job_ends() {
    let (mut runs, mut restarts, mut interrupted) = (0, 0, 0);
    for seed in SEEDS_OF_FAILURES.into_iter().chain(0..SEEDS) {
        let world = std::panic::catch_unwind(|| live(seed));
        let world = world.unwrap_or_else(|_| panic!("seed {seed} fails; add it to SEEDS_OF_FAILURES"));
        runs += u64::from(world.runs);
        restarts += u64::from(world.restarts);
        interrupted += u64::from(world.interrupted);
    }
    // The world is worth nothing if nothing happens in it.
    assert!(runs > SEEDS / 2, "{runs} runs");
    assert!(restarts > SEEDS / 20, "{restarts} restarts");
    assert!(interrupted > SEEDS / 50, "{interrupted} interrupts");
}
