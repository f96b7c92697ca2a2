//! The reference as manual pages: one for each function that the library exports, made of the list.

use super::Spec;
use super::functions::Function;
use super::header::needed;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Programs that use a function, shown on its page: `NAME.c`.
pub const EXAMPLES: &str = "spec/mpirt/examples/";

/// The pages of section 3: file name and text.
pub fn pages(spec: &Spec, examples: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let functions: Vec<&Function> =
        spec.functions.functions.iter().filter(|function| spec.exported.contains(function.name())).collect();
    let mut pages = Vec::new();
    for function in &functions {
        let example = examples.get(function.name()).map(String::as_str);
        pages.push((format!("{}.3", function.name()), page(spec, function, &functions, example)));
        for alias in function.aliases() {
            pages.push((format!("{alias}.3"), format!(".so man3/{}.3\n", function.name())));
        }
    }
    pages.push(("mpirt.3".to_owned(), overview(spec, &functions)));
    pages.push(("mpirt_constants.3".to_owned(), constants(spec, &functions)));
    pages
}

/// As the formatter wants it: its own characters escaped, code in bold.
fn plain(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let mut out = String::new();
    for (place, part) in escaped.split('`').enumerate() {
        if place % 2 == 1 {
            let _ = write!(out, "\\fB{part}\\fR");
        } else {
            out += part;
        }
    }
    // A line that begins with a full stop or a quote would be a request.
    if out.starts_with(['.', '\'']) { format!("\\&{out}") } else { out }
}

fn head(name: &str) -> String {
    format!(".TH {name} 3 \"\" \"Leveret {}\" \"MPI/RT objects\"\n", env!("CARGO_PKG_VERSION"))
}

/// The declaration with a line for each parameter where one line is too short.
fn synopsis(function: &Function) -> String {
    let c = &function.entry.c;
    if c.len() < 72 {
        return format!("{c};");
    }
    let start = c.find('(').map_or(0, |at| at + 1);
    c.replace(", ", &format!(",\n{}", " ".repeat(start))) + ";"
}

fn page(spec: &Spec, function: &Function, all: &[&Function], example: Option<&str>) -> String {
    let name = function.name();
    let mut out = head(name);
    let first =
        function.entry.says.split_once(['.', ';', ':']).map_or(&*function.entry.says, |(first, _)| first);
    let _ = writeln!(out, ".SH NAME\n{name} \\- {}", plain(first));
    let _ = writeln!(
        out,
        ".SH SYNOPSIS\n.nf\n.B #include <mpirt.h>\n.PP\n\\fB{}\\fR\n.fi",
        plain(&synopsis(function))
    );
    for alias in function.aliases() {
        let _ = writeln!(out, ".PP\nThe HARE thesis spells it \\fB{}\\fR, which is an alias.", plain(alias));
    }
    let _ = writeln!(out, ".SH DESCRIPTION\n{}", plain(&function.entry.says));
    for parameter in function.parameters() {
        let null = if parameter.may_be_null { " (may be null)" } else { "" };
        let _ = writeln!(
            out,
            ".TP\n.I {}\n({}) {}{null}.",
            parameter.name,
            parameter.way,
            plain(parameter.says.trim_end_matches('.'))
        );
    }
    out += ".SH WHEN\n";
    for rule in spec.functions.rules_of(function) {
        let _ = writeln!(out, ".IP \\(bu 2\n{}", plain(rule));
    }
    let (errors, data_path) = spec.functions.describe(function);
    if data_path {
        let _ = writeln!(out, ".IP \\(bu 2\n{}", function.law());
    }
    out += ".SH RETURN VALUE\n.B MPIRT_SUCCESS\nor an error code; then nothing that goes out was written.\n.SH ERRORS\n";
    for error in &errors {
        let general = spec.functions.errors.get(error).map(|error| &error.says);
        let says = function.entry.errors.get(error).or(general).map_or("", String::as_str);
        let _ = writeln!(out, ".TP\n.B MPIRT_ERR_{error}\n{}.", plain(says.trim_end_matches('.')));
    }
    if let Some(example) = example {
        let _ = writeln!(out, ".SH EXAMPLES\n.nf");
        for line in example.trim_end().lines() {
            let escaped = line.replace('\\', "\\e").replace('-', "\\-");
            let guard = if escaped.starts_with(['.', '\'']) { "\\&" } else { "" };
            let _ = writeln!(out, "{guard}{escaped}");
        }
        out += ".fi\n";
    }
    let (kind, source) = function.origin.parts();
    let origin = match kind {
        "fact" => format!("The name is known from: {source}."),
        "inferred" => format!("The name is inferred from: {source}."),
        _ => "An extension; no text of MPI/RT has it.".to_owned(),
    };
    let _ = writeln!(out, ".SH NOTES\n{} The parameters are Leveret's.", plain(&origin));
    let related = all.iter().filter(|other| other.group == function.group && other.name() != name);
    let related: Vec<String> = related.take(12).map(|other| format!(".BR {} (3)", other.name())).collect();
    let _ = writeln!(out, ".SH SEE ALSO\n.BR mpirt (3),\n{}", related.join(",\n"));
    out.trim_end_matches([',', '\n']).to_owned() + "\n"
}

fn overview(spec: &Spec, functions: &[&Function]) -> String {
    let mut out = head("mpirt");
    out += ".SH NAME\nmpirt \\- MPI/RT\\-style objects over Leveret\n.SH SYNOPSIS\n.nf\n.B #include <mpirt.h>\n.PP\n\
            cc x.c $(pkg\\-config \\-\\-cflags \\-\\-libs mpirt) \\-o x\nleveret run \\-n 3 ./x\n.fi\n.SH DESCRIPTION\n\
            Every function returns\n.B MPIRT_SUCCESS\nor an error code, and nothing that a caller passes ends the process. A handle is a structure \
            of 64 bits; a wrong one is an error. Times are nanoseconds.\n.B MPIRT_OBJECT(handle)\nand\n.B MPIRT_CONTAINER(handle)\n\
            convert a handle to its ancestor's type. Types and constants stand in\n.BR mpirt_constants (3).\nIn C++, include\n.BR mpirt.hpp .\n";
    let mut group = "";
    for function in functions {
        if function.group != group {
            group = &function.group;
            let _ = writeln!(out, ".SS {}", plain(group));
        }
        let _ = writeln!(out, ".TP\n.BR {} (3)\n{}", function.name(), plain(&function.entry.says));
    }
    out += ".SH ERRORS\n";
    let mut errors: Vec<_> = spec.functions.errors.iter().collect();
    errors.sort_by_key(|(_, error)| error.number);
    for (name, error) in errors {
        let prefix = if error.number == 0 { "MPIRT_" } else { "MPIRT_ERR_" };
        let _ = writeln!(out, ".TP\n.B {prefix}{name} \\fR({})\n{}.", error.number, plain(&error.says));
    }
    out
}

/// Types and constants, each as it stands in the header.
fn constants(spec: &Spec, functions: &[&Function]) -> String {
    let mut out = head("mpirt_constants");
    out += ".SH NAME\nmpirt_constants \\- types and constants of mpirt.h\n.SH SYNOPSIS\n.nf\n.B #include <mpirt.h>\n.fi\n.SH DESCRIPTION\n\
            Error codes and their meanings stand in\n.BR mpirt (3).\nThe numbers of an enumeration count from 0.\n";
    let needed = needed(spec, functions);
    let types = &spec.functions.types;
    for (kind, title) in [
        ("handle", "HANDLES"),
        ("alias", "NUMBERS"),
        ("enumeration", "ENUMERATIONS"),
        ("structure", "STRUCTURES"),
        ("function", "FUNCTIONS OF THE PROGRAM"),
        ("constant", "CONSTANTS"),
    ] {
        let _ = writeln!(out, ".SH {title}");
        for (name, found) in types.iter().filter(|(_, found)| found.kind() == kind) {
            let mut code = String::new();
            match kind {
                "constant" => found.define(name, &mut code),
                _ if needed.contains(name) => found.declare(name, &mut code),
                _ => continue,
            }
            let _ = writeln!(out, ".TP\n.B {name}\n{}.\n.sp\n.nf", plain(found.says.trim_end_matches('.')));
            // What the comment says stands above.
            let lines = code.lines().filter(|line| !line.is_empty() && !line.starts_with("/*"));
            for line in lines.map(|line| line.split(" /*").next().unwrap_or(line)) {
                let _ = writeln!(out, "{}", plain(line));
            }
            out += ".fi\n";
            for (place, (part, means)) in found.meanings().enumerate() {
                let begin = if place == 0 { ".RS\n" } else { "" };
                let _ = writeln!(out, "{begin}.TP\n.B {part}\n{}", plain(means));
            }
            if found.meanings().next().is_some() {
                out += ".RE\n";
            }
        }
    }
    out += ".SH SEE ALSO\n.BR mpirt (3)\n";
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_formatter_takes_for_its_own_is_escaped() {
        assert_eq!(plain(".so it is"), "\\&.so it is");
        assert_eq!(plain("a-b \\ `MPIRT_X` c"), "a\\-b \\e \\fBMPIRT_X\\fR c");
    }
}
