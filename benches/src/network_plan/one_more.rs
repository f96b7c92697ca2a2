//! One stream more on a plan of 10,000.

use super::PartReport;
use crate::{BenchError, Options};

pub fn run(_options: &Options, _result: &mut PartReport<'_>) -> Result<(), BenchError> {
    Ok(())
}
