//! `mpirt.h`, made of the list: what the library exports, with everything that the list says of it.
//!
//! A function that is in the list and not yet in the library stays out, so the header never promises what cannot be linked.

use super::Spec;
use super::functions::{ErrorCode, Function, Functions, Type};
use crate::tidy::Finding;
use crate::workspace::TrackedFile;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Where the library's functions are.
const LIBRARY: &str = "crates/leveret-capi/src/functions/";
/// How a line of the macro for names begins.
const PAIR: &str = "    get ";
/// The codes that objects answer with.
const CODES: &str = "crates/leveret-runtime/src/objects/error.rs";
/// How a function that the library exports begins.
const EXPORT: &str = "pub unsafe extern \"C\" fn ";

/// The names of the functions that the library exports.
pub fn exported(files: &[TrackedFile]) -> BTreeSet<String> {
    let library = files.iter().filter(|file| file.path.starts_with(LIBRARY));
    let lines = library.flat_map(|file| file.text().unwrap_or_default().lines());
    let names = lines.flat_map(|line| match (line.strip_prefix(EXPORT), line.strip_prefix(PAIR)) {
        (Some(rest), _) => vec![rest.split('(').next().unwrap_or_default()],
        // Pairs of functions that a macro makes.
        (None, Some(rest)) => {
            rest.split(' ').filter(|word| word.starts_with("MPIRT") && word.contains("et_name")).collect()
        }
        (None, None) => Vec::new(),
    });
    names.map(str::to_owned).collect()
}

/// The library's error codes are those of the list, with its texts.
pub fn check_codes(files: &[TrackedFile], functions: &Functions) -> Vec<Finding> {
    let Some(text) = files.iter().find(|file| file.path == CODES).and_then(TrackedFile::text) else {
        return Vec::new();
    };
    let errors = functions.errors.iter().filter(|(_, error)| error.number > 0);
    let is_missing = |(name, error): &(&String, &ErrorCode)| {
        !text.contains(&format!("= {}, \"{name}\", \"{}\";", error.number, error.says))
    };
    let missing = errors.filter(is_missing);
    missing
        .map(|(name, _)| Finding::new("spec", CODES, 0, format!("{name} is not as errors.toml has it")))
        .collect()
}

/// The header's text.
pub fn text(spec: &Spec, exported: &BTreeSet<String>) -> String {
    let mut out = String::from(HEAD);
    let functions: Vec<&Function> =
        spec.functions.functions.iter().filter(|function| exported.contains(function.name())).collect();
    errors(spec, &mut out);
    types(spec, &functions, &mut out);
    let mut group = "";
    for function in &functions {
        if function.group != group {
            group = &function.group;
            let _ = write!(out, "\n/* --- {group} --- */\n");
        }
        declaration(spec, function, &mut out);
    }
    aliases(&functions, &mut out);
    out.push_str(TAIL);
    out
}

const HEAD: &str = "\
/* mpirt.h: MPI/RT-style objects over Leveret.
 *
 * Made of spec/mpirt/ by `cargo xtask spec --header`; do not edit.
 *
 * Every function returns MPIRT_SUCCESS or an error code, and nothing that a caller passes ends the process. Besides the errors
 * that stand at a function, each may return MPIRT_ERR_INTERNAL. */
#ifndef MPIRT_H
#define MPIRT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#endif

#ifdef __cplusplus
#define MPIRT_HANDLE_(type, bits) (type{bits})
#else
#define MPIRT_HANDLE_(type, bits) ((type){bits})
#endif

/* A handle as its ancestor's. */
#define MPIRT_OBJECT(handle) MPIRT_HANDLE_(MPIRT_Object, (handle).bits)
#define MPIRT_CONTAINER(handle) MPIRT_HANDLE_(MPIRT_Container, (handle).bits)

#define MPIRT_SUCCESS 0
";

const TAIL: &str = "
#ifdef __cplusplus
}
#endif

#endif
";

fn errors(spec: &Spec, out: &mut String) {
    out.push_str("\n/* --- Error codes --- */\n\n");
    let mut errors: Vec<_> = spec.functions.errors.iter().filter(|(_, error)| error.number > 0).collect();
    errors.sort_by_key(|(_, error)| error.number);
    for (name, error) in errors {
        let _ = writeln!(out, "#define MPIRT_ERR_{name} {} /* {} */", error.number, error.says);
        if let Some(old) = &error.old_name {
            let _ = writeln!(out, "#define {old} MPIRT_ERR_{name} /* deprecated */");
        }
    }
}

/// The types that a text of C names.
fn named(types: &BTreeMap<String, Type>, text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| types.contains_key(*word)).map(str::to_owned).collect()
}

/// The types that the functions need, and theirs.
pub fn needed(spec: &Spec, functions: &[&Function]) -> BTreeSet<String> {
    let types = &spec.functions.types;
    let mut open: Vec<String> =
        functions.iter().flat_map(|function| named(types, &function.entry.c)).collect();
    let mut needed = BTreeSet::new();
    while let Some(name) = open.pop() {
        if let Some(found) = types.get(&name).filter(|_| !needed.contains(&name)) {
            open.extend(found.made_of().iter().flat_map(|text| named(types, text)));
            needed.insert(name);
        }
    }
    needed
}

/// The types that the functions need, each after what it is made of; then the constants.
fn types(spec: &Spec, functions: &[&Function], out: &mut String) {
    let types = &spec.functions.types;
    let needed = needed(spec, functions);
    let named = |text: &str| named(types, text);
    out.push_str("\n/* --- Types --- */\n");
    // Handles and numbers first: structures and functions are made of them.
    for kind in ["handle", "alias", "enumeration", "structure", "function"] {
        let of_kind = types.iter().filter(|(name, found)| found.kind() == kind && needed.contains(*name));
        let mut left: Vec<(&String, &Type)> = of_kind.collect();
        let mut told: BTreeSet<&String> = BTreeSet::new();
        while !left.is_empty() {
            let is_ready = |found: &Type, left: &[(&String, &Type)]| {
                let made_of: Vec<String> = found.made_of().iter().flat_map(|text| named(text)).collect();
                !left.iter().any(|(other, _)| made_of.contains(other))
            };
            // One that is made of itself could not be written in C either.
            let next = (0..left.len()).find(|place| is_ready(left[*place].1, &left)).unwrap_or(0);
            let (name, found) = left.remove(next);
            if told.insert(name) {
                found.declare(name, out);
            }
        }
    }
    out.push_str("\n/* --- Constants --- */\n\n");
    for (name, found) in types.iter().filter(|(_, found)| found.kind() == "constant") {
        found.define(name, out);
    }
}

/// The spellings of the HARE thesis, so that its programs compile.
fn aliases(functions: &[&Function], out: &mut String) {
    out.push_str("\n/* --- Spellings of the HARE thesis, in Appendix A and in its text --- */\n\n");
    for function in functions {
        for alias in function.aliases() {
            let _ = writeln!(out, "#define {alias} {}", function.name());
        }
    }
}

fn declaration(spec: &Spec, function: &Function, out: &mut String) {
    let entry = &function.entry;
    let _ = write!(out, "\n/* {}", entry.says);
    for parameter in function.parameters() {
        let null = if parameter.may_be_null { " (may be null)" } else { "" };
        let _ = write!(out, "\n *   {:<5} {}: {}{null}", parameter.way, parameter.name, parameter.says);
    }
    let (errors, data_path) = spec.functions.describe(function);
    if data_path {
        let _ = write!(out, "\n * {}", function.law());
    }
    let errors: Vec<&str> = errors.iter().map(String::as_str).filter(|name| *name != "INTERNAL").collect();
    for name in &errors {
        let own =
            entry.errors.get(*name).or_else(|| spec.functions.errors.get(*name).map(|error| &error.says));
        let _ = write!(out, "\n *   MPIRT_ERR_{name}: {}", own.map_or("", String::as_str));
    }
    let _ = write!(out, " */\n{};\n", entry.c);
}
