//! Other tools' formats: what they declare becomes a model, and a plan becomes what they run. Pure: text in, text out.
#![forbid(unsafe_code)]

pub mod tsnkit;
