//! Error codes, enumerations and structures in C++.

use super::super::Spec;
use super::super::functions::Functions;
use super::names::{bare, common_prefix, lower};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Structures' fields that are instants, not durations.
const INSTANTS: &[(&str, &str)] =
    &[("MPIRTX_Instance", "start"), ("MPIRTX_Instance", "deadline"), ("MPIRTX_Event", "time")];

/// `enum class errc`.
pub fn errors(spec: &Spec) -> String {
    let mut errors: Vec<_> = spec.functions.errors.iter().collect();
    errors.sort_by_key(|(_, error)| error.number);
    let mut out = String::from("/// The error codes of mpirt.h.\nenum class errc : int {\n");
    for (name, error) in errors {
        let prefix = if error.number == 0 { "MPIRT_" } else { "MPIRT_ERR_" };
        let _ = writeln!(out, "    {} = {prefix}{name}, ///< {}", lower(name), error.says);
    }
    out + "};\n"
}

/// An `enum class` for each enumeration that is needed.
pub fn enumerations(spec: &Spec, needed: &BTreeSet<String>) -> String {
    let mut out = String::new();
    let found = spec.functions.types.iter().filter(|(name, _)| needed.contains(*name));
    for (name, found) in found.filter(|(_, found)| found.kind() == "enumeration") {
        let prefix = common_prefix(&found.values);
        let _ = writeln!(out, "/// {}\nenum class {} : int {{", sentence(&found.says), lower(bare(name)));
        for value in &found.values {
            let _ = writeln!(out, "    {} = {value},", lower(&value[prefix.len()..]));
        }
        out += "};\n\n";
    }
    out.trim_end().to_owned() + "\n"
}

/// A structure for each that is needed, with the times and kinds of C++, made of the one of C.
pub fn structures(spec: &Spec, needed: &BTreeSet<String>) -> Result<String, String> {
    let mut out = String::new();
    let types = &spec.functions.types;
    let mut left: Vec<_> =
        types.iter().filter(|(name, found)| needed.contains(*name) && found.kind() == "structure").collect();
    // One that holds others comes after them.
    left.sort_by_key(|(_, found)| {
        found.fields.iter().filter(|field| is_structure(&spec.functions, field)).count()
    });
    for (name, found) in left {
        let cpp = lower(bare(name));
        let (mut fields, mut values) = (String::new(), Vec::new());
        for field in &found.fields {
            let (kind, field) = field.split_once(' ').ok_or_else(|| format!("{name}: '{field}'"))?;
            let kind_there = types.get(kind).map(|found| found.kind());
            let (kind, value) = match kind_there {
                _ if kind == "MPIRT_Timespec" && INSTANTS.contains(&(name, field)) => (
                    "mpirt::time_point".to_owned(),
                    format!("mpirt::time_point(mpirt::duration(from.{field}))"),
                ),
                _ if kind == "MPIRT_Timespec" => {
                    ("mpirt::duration".to_owned(), format!("mpirt::duration(from.{field})"))
                }
                Some("enumeration") => {
                    let kind = format!("mpirt::{}", lower(bare(kind)));
                    (kind.clone(), format!("static_cast<{kind}>(from.{field})"))
                }
                Some("structure") => {
                    let kind = format!("mpirt::{}", lower(bare(kind)));
                    (kind.clone(), format!("{kind}::of(from.{field})"))
                }
                Some(other) => return Err(format!("{name}: a field is of the kind {other}")),
                None if kind == "int" => ("int".to_owned(), format!("from.{field}")),
                None => (format!("std::{kind}"), format!("from.{field}")),
            };
            let _ = writeln!(fields, "    {kind} {field}{{}};");
            values.push(value);
        }
        let values = values.join(", ");
        let says = sentence(&found.says);
        let _ = write!(
            out,
            "/// {says} ({name})\nstruct {cpp} {{\n{fields}\n    static {cpp} of(const {name} &from) noexcept\n    \
             {{\n        return {{{values}}};\n    }}\n}};\n\n"
        );
    }
    Ok(out.trim_end().to_owned() + "\n")
}

fn is_structure(functions: &Functions, field: &str) -> bool {
    let kind = field.split(' ').next().unwrap_or_default();
    functions.types.get(kind).is_some_and(|found| found.kind() == "structure")
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}
