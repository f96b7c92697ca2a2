//! Other tools' formats: what they declare becomes a model, a plan becomes what they run. Pure: text in, text out.
//!
//! | module | what |
//! |---|---|
//! | [`tsnkit`] | the files of a collection of benchmarks |
//! | [`gates`] | when the gates of each port are open |
//! | [`beside`] | classes and shapers of channels beside the table |
//! | [`classes`] | which priority each channel carries |
//! | [`taprio`] | gates for Linux |
//! | [`netlink`] | the same as messages to the kernel |
//! | [`yang`] | gates and forwarding for managed switches |
//! | [`launch`] | when hosts send |
//! | [`tables`] | the time table of a job |
#![forbid(unsafe_code)]

pub mod beside;
pub mod classes;
pub mod gates;
pub mod launch;
pub mod netlink;
mod plain;
mod starts;
pub mod tables;
pub mod taprio;
pub mod tsnkit;
pub mod yang;
