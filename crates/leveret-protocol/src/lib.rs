//! Protocols without I/O. Input: messages and deaths. Output: messages and decisions. Nothing here reads a clock,
//! opens a socket or starts a thread, so the same code runs in production and in the seeded world.
#![forbid(unsafe_code)]

pub mod admission;
pub mod assemble;
pub mod control;
pub mod coordinator;
pub mod declaration;
pub mod group;
pub mod mode;
pub mod nearest;
