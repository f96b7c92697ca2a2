//! The C interface (`mpirt.h`): MPI/RT-style objects over `leveret_runtime::objects`.
//!
//! Every function returns 0 or an error code, and nothing that a caller passes ends the process: handles are numbers that
//! are looked up, names are read up to their limit, and a panic becomes `MPIRT_ERR_INTERNAL`.
//!
//! | part | file |
//! |---|---|
//! | how a function answers, and the detail of the last error | `answer.rs` |
//! | the one library of the process; what is committed, as each thread knows it | `state.rs` |
//! | C types; names and pointers that come in | `types.rs` |
//! | the application's memory; what is kept for when there is none | `memory.rs`, `reserve.rs` |
//! | the functions, a file a group | `functions/` |
#![allow(non_camel_case_types, non_snake_case, reason = "the names are those of mpirt.h")]

mod answer;
mod functions;
mod memory;
mod reserve;
mod state;
mod types;

#[cfg(test)]
#[path = "../tests/model/job.rs"]
#[allow(dead_code, reason = "the integration tests use more of it")]
mod job;
#[cfg(test)]
mod panic_tests;

pub use functions::*;
pub use types::*;
