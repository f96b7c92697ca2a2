//! The record of a run, as `leveret run` leaves it in its directory: whole, or as far as it was written when a crash ended the run.

use crate::failure::Failure;
use crate::files;
use leveret_report::record::RunRecord;
use leveret_report::{journal, storage};
use std::path::Path;

/// Name of the record within the directory.
pub const RECORD_FILE: &str = "record.leveret";

/// Where a former report is moved to, within its directory.
pub const PREVIOUS: &str = "previous";

/// Most bytes of a record that are read: what `storage` takes, with its header.
const RECORD_BYTES_MAX: u64 = storage::PAYLOAD_BYTES_MAX + 4096;

/// Reads the record in a directory.
///
/// # Errors
/// When there is none, or what is there is not whole.
pub fn read(directory: &Path) -> Result<RunRecord, Failure> {
    let path = directory.join(RECORD_FILE);
    if !path.exists() {
        let former = directory.join(PREVIOUS);
        let hint = match former.join(RECORD_FILE).exists() {
            true => format!(
                "the last run into it left no report, as one that was refused does; that of the run before lies in {}",
                former.display()
            ),
            false => "name the directory that `leveret run` wrote (its --output, by default out)".to_owned(),
        };
        let sentence = format!("{}: there is no {RECORD_FILE} in this directory", directory.display());
        return Err(Failure::new(sentence, hint));
    }
    let bytes = files::read(&path, "record", RECORD_BYTES_MAX)?;
    let decoded = match bytes.starts_with(&journal::MAGIC) {
        true => journal::decode(&bytes),
        false => storage::decode(&bytes),
    };
    decoded.map_err(|error| Failure::from_text(&path.display().to_string(), &error.to_string()))
}
