//! The fault matrix: what disturbs a job is planted, under each scheduling where it applies, alone and two at once. Whose each miss is, who did it,
//! the exit code and the sentences must be what was planted. `docs/ci.md` says how to run all of it and how its page is written.
//!
//! No run is tried again. Two witnesses that the verdict does not use say what really happened: each program that plants writes down when it
//! disturbed, and the scheduler's trace has who had a core and who waited for it. An instance that a late or interrupted plant did not reach is
//! not judged against it. Such instances are counted and bounded; of their misses, too, nobody may be named who had nothing to do with them.

#[allow(dead_code, reason = "the tests of real processes use all of it")]
#[path = "../real/harness.rs"]
mod harness;
#[allow(dead_code, reason = "the tests of real processes use all of it")]
#[path = "../real/job.rs"]
mod job;
#[path = "../real/stalls.rs"]
mod stalls;

mod case;
mod cases;
mod cells;
mod judge;
mod page;
mod run;
mod truth;
mod witness;
