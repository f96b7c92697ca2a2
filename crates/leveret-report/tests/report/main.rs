//! Verdict, report and pictures from outside, as one program.

#[path = "../../../leveret-plan/tests/common/mod.rs"]
mod common;

mod arbitrary_records;
mod browser;
mod gone;
mod held;
mod idle_cores;
mod modes;
mod outputs;
mod own_word;
mod parts;
mod picture;
mod planted_causes;
mod proof;
mod storms;
mod system_picture;
mod untaken;
