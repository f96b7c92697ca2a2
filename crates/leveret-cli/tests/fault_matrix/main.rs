//! The fault matrix: what disturbs a job is planted, under each scheduling where it applies, alone and two at once, and whose each miss is
//! and who did it must be what was planted. `FAULTS=all BLESS=1` writes its table to
//! `docs/fault-matrix.md`.
//!
//! No run is tried again. What is expected of a missed instance follows from the logs of those who planted: each writes down when it really
//! disturbed, so an instance that a late or interrupted plant did not reach is not judged. Such instances are counted and bounded.

#[allow(dead_code, reason = "the tests of real processes use all of it")]
#[path = "../real/harness.rs"]
mod harness;
#[allow(dead_code, reason = "the tests of real processes use all of it")]
#[path = "../real/job.rs"]
mod job;

mod case;
mod cases;
mod judge;
mod page;
mod run;
mod witness;
