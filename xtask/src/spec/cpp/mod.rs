//! `mpirt.hpp`, made of the list and of what is written by hand: the regular part of the C++ interface follows from the
//! declarations in C, the rest stands in a template.
//!
//! Lines of the template that begin with `//@` are for this program:
//!
//! ```text
//!   //@ if NAME...          what follows, to the matching `//@ end`, is there when the library exports these functions
//!   //@ class NAME          what follows, to the matching `//@ end`, goes into this class
//!   //@ written NAME...     the template itself has these functions, so none is made for them
//!   //@ errors, enumerations, structures, forward, classes, functions, definitions, owners, notice
//! ```

mod classes;
mod members;
mod names;
mod types;

use super::Spec;
use super::functions::Function;
use super::header;
use std::collections::{BTreeMap, BTreeSet};

/// What is written by hand.
pub const TEMPLATE: &str = "crates/leveret-capi/cpp/mpirt.hpp.in";
/// Where the whole goes.
pub const HEADER: &str = "crates/leveret-capi/include/mpirt.hpp";

const NOTICE: &str = "\
/* mpirt.hpp: MPI/RT-style objects in C++17, over the functions of mpirt.h and nothing else.
 *
 * Made of spec/mpirt/ and of crates/leveret-capi/cpp/mpirt.hpp.in by `cargo xtask spec --header`; do not edit.
 *
 * Each class comes as a reference (`buffer_ref`: 64 bits, copied freely, owns nothing) and as an owner (`buffer`: its destructor
 * frees the object). Each operation comes as one that throws `mpirt::error`, and as one that begins with try_, throws nothing, and
 * returns a `result`: an error code, or the value. What an operation does and which errors it has stands in mpirt.h at the function
 * that is named beside it. */
";

/// What the template asks for.
#[derive(Default)]
struct Template {
    lines: Vec<String>,
    /// Lines that go into a class.
    inside: BTreeMap<String, Vec<String>>,
    written: BTreeSet<String>,
}

/// The header's text.
pub fn text(spec: &Spec, template: &str) -> Result<String, String> {
    let template = read(template, &spec.exported)?;
    let functions: Vec<&Function> =
        spec.functions.functions.iter().filter(|function| spec.exported.contains(function.name())).collect();
    let needed = header::needed(spec, &functions);
    let made = functions.iter().filter(|function| !template.written.contains(function.name()));
    let classes = classes::Classes::of(spec, &needed, made.copied())?;
    let mut out = String::new();
    for line in &template.lines {
        match line.strip_prefix("//@ ") {
            None => out.push_str(&format!("{line}\n")),
            Some("notice") => out.push_str(NOTICE),
            Some("errors") => out.push_str(&types::errors(spec)),
            Some("enumerations") => out.push_str(&types::enumerations(spec, &needed)),
            Some("structures") => out.push_str(&types::structures(spec, &needed)?),
            Some("forward") => out.push_str(&classes.forward()),
            Some("classes") => out.push_str(&classes.declarations(&template.inside)),
            Some("functions") => out.push_str(&classes.free_functions()),
            Some("definitions") => out.push_str(&classes.definitions()),
            Some("owners") => out.push_str(&classes.owners()),
            Some(other) => return Err(format!("{TEMPLATE}: '//@ {other}' is unknown")),
        }
    }
    missing(&out, &functions)?;
    Ok(out)
}

/// Every function of `mpirt.h` is called in the text.
fn missing(text: &str, functions: &[&Function]) -> Result<(), String> {
    let missing: Vec<&str> = functions
        .iter()
        .map(|function| function.name())
        .filter(|name| !text.contains(&format!("{name}(")))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("mpirt.hpp does not call {}", missing.join(", "))) }
}

/// Reads the template as it is for a library that exports `exported`.
fn read(text: &str, exported: &BTreeSet<String>) -> Result<Template, String> {
    let mut template = Template::default();
    // What is open: a class by its name, or a condition, which may not hold.
    let mut open: Vec<(Option<String>, bool)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let holds = open.iter().all(|(_, holds)| *holds);
        let class = open.iter().rev().find_map(|(class, _)| class.clone());
        match line.strip_prefix("//@ ").map(|rest| rest.split_whitespace().collect::<Vec<_>>()).as_deref() {
            Some(["if", names @ ..]) => {
                open.push((None, names.iter().all(|name| exported.contains(*name))));
            }
            Some(["class", name]) => open.push((Some((*name).to_owned()), true)),
            Some(["end"]) => {
                if open.pop().is_none() {
                    return Err(format!("{TEMPLATE}:{}: nothing is open here", number + 1));
                }
            }
            Some(["written", names @ ..]) if holds => {
                template.written.extend(names.iter().map(|name| (*name).to_owned()));
            }
            Some(["written", ..]) => {}
            _ if !holds => {}
            _ => match class {
                Some(class) => template.inside.entry(class).or_default().push(line.to_owned()),
                None => template.lines.push(line.to_owned()),
            },
        }
    }
    if open.is_empty() { Ok(template) } else { Err(format!("{TEMPLATE}: '//@ end' is missing")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_and_classes_nest() {
        let exported = ["MPIRT_A_b".to_owned()].into();
        let text = "a\n//@ class x_ref\nb\n//@ if MPIRT_C\nc\n//@ written MPIRT_C\n//@ end\n//@ end\n//@ if MPIRT_A_b\nd\n//@ end\n";
        let template = read(text, &exported).expect("it is right");
        assert_eq!(template.lines, ["a", "d"]);
        assert_eq!(template.inside["x_ref"], ["b"]);
        assert!(template.written.is_empty());
        assert!(read("//@ end\n", &exported).is_err());
        assert!(read("//@ if MPIRT_A_b\n", &exported).is_err());
    }
}
