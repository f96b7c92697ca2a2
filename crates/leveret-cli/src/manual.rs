//! `leveret manual`: the pages of section 1, made of the same declaration as the command line.

use crate::arguments::{Arguments, ManualArguments};
use crate::failure::Failure;
use crate::files;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::fmt::Write;
use std::process::ExitCode;

/// Writes a page for the program and one for each command.
///
/// # Errors
/// When one cannot be written.
pub fn execute(arguments: &ManualArguments) -> Result<ExitCode, Failure> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).map_err(|error| {
        let sentence = format!("{}: the folder could not be made: {error}", folder.display());
        Failure::new(sentence, "choose a folder that you may write")
    })?;
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    for command in program.get_subcommands().chain([&program]) {
        let page = page(command).map_err(|error| {
            Failure::new(format!("a page could not be made: {error}"), "please report it")
        })?;
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        files::write(&folder.join(format!("{name}.1")), &page)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let source = format!("Leveret {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("Leveret");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(rest) = command.get_after_help() {
        page.extend(sections(&rest.to_string()).into_bytes());
    }
    Ok(page)
}

/// What stands below the options: examples line by line, notes, exit codes.
fn sections(text: &str) -> String {
    let mut out = String::new();
    let mut last = "";
    for paragraph in text.split("\n\n") {
        let lines: Vec<&str> = paragraph.lines().collect();
        let is_list = lines.len() > 1 && lines[1..].iter().all(|line| line.starts_with("  "));
        let title = match paragraph {
            _ if is_list => "EXAMPLES",
            _ if paragraph.starts_with("Exit codes:") => "EXIT STATUS",
            _ => "NOTES",
        };
        let _ = if title == last { writeln!(out, ".PP") } else { writeln!(out, ".SH \"{title}\"") };
        last = title;
        if is_list {
            let shown: Vec<String> = lines[1..].iter().map(|line| plain(line.trim_start())).collect();
            let _ = writeln!(out, ".nf\n{}\n.fi", shown.join("\n"));
        } else {
            let text = paragraph.trim_start_matches("Exit codes:").trim_start();
            let _ = writeln!(out, "{}", plain(&text.replace('\n', " ")));
        }
    }
    out
}

/// As the formatter wants it: its own characters escaped.
fn plain(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    if escaped.starts_with(['.', '\'']) { format!("\\&{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_exit_codes_have_a_section() {
        let text = "Examples:\n  leveret why out -- 'a'\n  .b\n\nOne\nnote.\n\nAnother.\n\nExit codes: 0 well; 2 not.";
        let expected = ".SH \"EXAMPLES\"\n.nf\nleveret why out \\-\\- 'a'\n\\&.b\n.fi\n.SH \"NOTES\"\nOne note.\n.PP\nAnother.\n\
                        .SH \"EXIT STATUS\"\n0 well; 2 not.\n";
        assert_eq!(sections(text), expected);
    }
}
