//! Any sequence of calls on iterators and channels, right and wrong ones, against oracles of their states: through the C interface, and in
//! Rust. Both are asked the same by the same words, so that what one answers the other does too.
//!
//! | part | file |
//! |---|---|
//! | what is asked and answered; an interface in another process | `call.rs` |
//! | the two interfaces | `c.rs`, `rust.rs` |
//! | the oracle of one iterator | `store.rs` |
//! | one member's iterators, before, in and after a commit | `iterators.rs` |
//! | both ends of a best-effort channel between two members | `channels.rs` |
//! | a job whose members are this program | `job.rs` |
#![allow(missing_docs, reason = "a test has no public interface")]

mod c;
mod call;
mod channels;
mod iterators;
mod job;
mod rust;
mod store;

use c::C;
use rust::Rust;

// spec: BUFITER-MODEL-01
#[test]
fn iterators_through_c() {
    job::run("member_iterators_c", 1);
}

#[test]
fn iterators_in_rust() {
    job::run("member_iterators_rust", 1);
}

// spec: CHANNEL-MODEL-01
#[test]
fn channels_through_c() {
    job::run("member_channels_c", 2);
}

#[test]
fn channels_in_rust() {
    job::run("member_channels_rust", 2);
}

#[test]
#[ignore = "it is a member of the job that iterators_through_c runs"]
fn member_iterators_c() {
    let mut own = C::join();
    iterators::follow_any(&mut own);
    own.leave();
    job::passed();
}

#[test]
#[ignore = "it is a member of the job that iterators_in_rust runs"]
fn member_iterators_rust() {
    let mut own = Rust::join();
    iterators::follow_any(&mut own);
    own.leave();
    job::passed();
}

#[test]
#[ignore = "it is a member of the job that channels_through_c runs"]
fn member_channels_c() {
    let mut own = C::join();
    channels::take_part(&mut own);
    own.leave();
    job::passed();
}

#[test]
#[ignore = "it is a member of the job that channels_in_rust runs"]
fn member_channels_rust() {
    let mut own = Rust::join();
    channels::take_part(&mut own);
    own.leave();
    job::passed();
}
