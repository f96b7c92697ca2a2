//! The loom seam: every atomic of the workspace comes from here, so that loom can take its place.
//!
//! Under `--cfg loom` the names below are loom's, otherwise the standard library's; `clippy.toml` bans the rest.

#![allow(clippy::disallowed_types, reason = "this is the one module that may name the standard atomics")]

#[cfg(not(loom))]
pub use core::hint::spin_loop;
#[cfg(not(loom))]
pub use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    compiler_fence, fence,
};

#[cfg(loom)]
pub use loom::hint::spin_loop;
#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
