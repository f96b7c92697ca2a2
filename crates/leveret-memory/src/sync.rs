//! The loom seam: every atomic of the workspace comes from here, so that loom can take its place.
//!
//! Under `--cfg loom` the names below are loom's, otherwise the standard library's; `clippy.toml` bans the rest. In a build with
//! debug assertions they are the standard library's with a counter before each operation ([`steps`]), so that tests
//! can say how long a loop is. In a release nothing of that is there.

#![allow(clippy::disallowed_types, reason = "this is the one module that may name the standard atomics")]

#[cfg(all(debug_assertions, not(loom)))]
mod counted;
#[cfg(all(debug_assertions, not(loom)))]
pub mod steps;

#[cfg(not(loom))]
pub use core::hint::spin_loop;
#[cfg(not(any(debug_assertions, loom)))]
pub use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
};
#[cfg(not(loom))]
pub use core::sync::atomic::{Ordering, compiler_fence, fence};
#[cfg(all(debug_assertions, not(loom)))]
pub use counted::{AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};

#[cfg(loom)]
pub use loom::hint::spin_loop;
#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
