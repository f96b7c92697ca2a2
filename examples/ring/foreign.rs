//! The extraneous task of the published experiment (Table 5.2, "Dummy Task"): work on the same cores that has
//! nothing to do with the ring. One planned task a core, and beside it an ordinary thread that takes whatever is
//! left, as Linux does under TURTLE.

use leveret::{CountingAllocator, Ended, Member, Nanos, TaskContext};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The published task ran for 15 us.
const WORK: Nanos = Nanos::from_micros(12);
const SIZES: [&str; 2] = ["4 B", "1 KiB"];
const TASKS: [&str; 2] = ["dummy.0", "dummy.1"];

fn main() -> ExitCode {
    std::thread::spawn(take_what_is_left);
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ring-foreign: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work() -> Result<(), Box<dyn std::error::Error>> {
    let mut member = Member::join()?;
    for label in SIZES {
        loop {
            let mut declarations = member.declare(label);
            for task in TASKS {
                declarations.task(task).body(compute);
            }
            match member.commit(declarations)?.run()? {
                Ended::Completed => break,
                Ended::Stopped(_) => return Ok(()),
                Ended::PeerRestarted => {}
            }
        }
    }
    Ok(())
}

fn compute(instance: &mut TaskContext<'_>) {
    let end = instance.now() + WORK;
    while instance.now() < end {}
}

/// The greedy task: ordinary priority, never done. Every sum is looked at, so that none is left out.
fn take_what_is_left() {
    let mut sum = 0_u64;
    loop {
        for value in 0..1_000_000_u64 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(value));
        }
    }
}
