//! Files of unknown origin: read up to a limit, written whole or not at all.

use crate::failure::Failure;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// The content of a file of at most `bytes_max` bytes; `what` names it in errors.
///
/// # Errors
/// When it cannot be read or is longer.
pub fn read(path: &Path, what: &str, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let shown = path.display();
    let refused = |error: std::io::Error| {
        let hint = match error.kind() {
            ErrorKind::NotFound => format!("name an existing {what}"),
            ErrorKind::PermissionDenied => "make it readable for this user".to_owned(),
            ErrorKind::IsADirectory => format!("name the {what} in it"),
            _ => "see that the file and its disk are sound".to_owned(),
        };
        Failure::new(format!("{shown}: the {what} could not be read: {error}"), hint)
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(refused)?;
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > bytes_max {
        let sentence =
            format!("{shown}: the {what} has more than {bytes_max} bytes, which is the most that is read");
        return Err(Failure::new(sentence, format!("see that it is a {what}")));
    }
    Ok(bytes)
}

/// Writes a file by way of a temporary one beside it, so that a reader sees the old content or the new.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = Path::new(&beside);
    let written = File::create(beside)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| std::fs::rename(beside, path));
    written.map_err(|error| {
        // The part is worth nothing; that it may stay behind is not worth a second error.
        let _ = std::fs::remove_file(beside);
        Failure::new(
            format!("{}: the file could not be written: {error}", path.display()),
            "choose a directory that exists, is writable and has space",
        )
    })
}
