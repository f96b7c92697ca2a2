//! Files of unknown origin: read up to a limit, written whole or not at all where that is possible.

use crate::failure::Failure;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

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

/// Writes a file by way of a temporary one beside it, so that a reader sees the old content or the new. What is there
/// already and is no regular file, such as a device or a pipe, is not replaced but written to; a link stays one.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write_with(path, content, &|_| Ok(()))
}

/// As [`write`]; what was there outlasts a crash of the machine until the new content does.
///
/// # Errors
/// When it cannot be written.
pub fn write_lasting(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write_with(path, content, &File::sync_all)
}

fn write_with(path: &Path, content: &[u8], finish: Finish<'_>) -> Result<(), Failure> {
    let written = match target(path) {
        Target::Replaceable(place) => replace(&place, content, finish),
        Target::Lasting => {
            File::options().write(true).open(path).and_then(|mut file| file.write_all(content))
        }
        Target::Dangling => File::create(path).and_then(|mut file| file.write_all(content)),
    };
    written.map_err(|error| {
        Failure::new(
            format!("{}: the file could not be written: {error}", path.display()),
            write_hint(&error),
        )
    })
}

/// What is done with a new file before it has its name.
type Finish<'f> = &'f dyn Fn(&File) -> std::io::Result<()>;

fn write_hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::FileTooLarge => "raise the limit on the size of files: `ulimit -f unlimited`",
        _ => "choose a directory that exists, is writable and has space",
    }
}

/// What a path leads to.
enum Target {
    /// Nothing yet, or a regular file, which is here.
    Replaceable(PathBuf),
    /// Something that is more than its content.
    Lasting,
    /// A link to nothing.
    Dangling,
}

fn target(path: &Path) -> Target {
    match std::fs::metadata(path) {
        // A file without a name of its own, as standard output may be, cannot be replaced.
        Ok(found) if found.is_file() => {
            std::fs::canonicalize(path).map_or(Target::Lasting, Target::Replaceable)
        }
        Ok(_) => Target::Lasting,
        Err(_) if path.is_symlink() => Target::Dangling,
        Err(_) => Target::Replaceable(path.to_owned()),
    }
}

fn replace(path: &Path, content: &[u8], finish: Finish<'_>) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = Path::new(&beside);
    let written = File::create(beside)
        .and_then(|mut file| file.write_all(content).and_then(|()| finish(&file)))
        .and_then(|()| std::fs::rename(beside, path));
    if written.is_err() {
        // The part is worth nothing; that it may stay behind is not worth a second error.
        let _ = std::fs::remove_file(beside);
    }
    written
}
