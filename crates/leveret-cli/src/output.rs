//! Standard output and standard error: no panic on a closed pipe, colour only where it is welcome.

use crate::failure::Failure;
use crate::files;
use leveret_os::said::say;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Prints to standard output. A reader that went away (`leveret plan job.toml | head`) is no error.
///
/// # Errors
/// When standard output cannot be written for another reason, such as a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(newline.as_bytes()));
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe && !is_hung_up(&out, &error) => {
            Err(Failure::new(
                format!("standard output could not be written: {error}"),
                "free space on its disk, or send the output elsewhere",
            ))
        }
        _ => Ok(()),
    }
}

/// Whether standard output led to a terminal that has been closed.
fn is_hung_up(out: &impl AsFd, error: &io::Error) -> bool {
    let is_device = || {
        let file = out.as_fd().try_clone_to_owned().map(std::fs::File::from);
        file.and_then(|file| file.metadata()).is_ok_and(|found| found.file_type().is_char_device())
    };
    error.raw_os_error() == Some(EIO) && is_device()
}

/// `EIO`, which has no name in the standard library.
const EIO: i32 = 5;

/// Prints a line to standard error; nothing is left to do when even that fails.
pub fn note(text: &str) {
    say(&[text]);
}

/// Prints a failure to standard error.
pub fn fail(failure: &Failure) {
    let paint = Paint::for_stderr();
    let details = if failure.details.is_empty() { String::new() } else { format!("{}\n\n", failure.details) };
    note(&format!(
        "{details}{} {}\n  {} {}",
        paint.red("error:"),
        failure.sentence,
        paint.bold("hint:"),
        failure.hint
    ));
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// No colours.
    #[cfg(test)]
    pub fn none() -> Self {
        Self { on: false }
    }

    /// For what goes to standard output.
    pub fn for_stdout() -> Self {
        Self { on: io::stdout().is_terminal() && colour_is_welcome() }
    }

    /// For what goes to standard error.
    pub fn for_stderr() -> Self {
        Self { on: io::stderr().is_terminal() && colour_is_welcome() }
    }

    /// Good news.
    pub fn green(self, text: &str) -> String {
        self.code("32;1", text)
    }

    /// Bad news.
    pub fn red(self, text: &str) -> String {
        self.code("31;1", text)
    }

    /// What the eye should find.
    pub fn bold(self, text: &str) -> String {
        self.code("1", text)
    }

    fn code(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// <https://no-color.org>: set and not empty means no colour.
#[allow(clippy::disallowed_methods, reason = "the command line reads the user's taste in colours")]
fn colour_is_welcome() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Writes a plan as JSON into a file, where one is named. Its failure is to be returned once the plan is printed: what was found is not lost with a file.
///
/// # Errors
/// When the file cannot be written.
pub fn plan_file(path: Option<&Path>, plan: &impl serde::Serialize) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| files::write(path, format!("{}\n", json(plan)?).as_bytes()))
}

/// A value as indented JSON.
///
/// # Errors
/// When the value has no JSON form.
pub fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(|error| {
        Failure::new(format!("the result has no JSON form: {error}"), "print it with --format table")
    })
}
