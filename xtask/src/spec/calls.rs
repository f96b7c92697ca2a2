//! `tests/mpirt/calls.h`: every function that the library exports, as a row of a table and a C function that calls it with
//! whatever it is given. `tests/mpirt/every_call.c` tries each parameter of each with what it must not be.

use super::Spec;
use super::functions::{Function, Functions};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The table's file.
pub const FILE: &str = "tests/mpirt/calls.h";

const HEAD: &str = "\
/* Every function of mpirt.h as data: how to call it, its rules, the errors that it may give, its parameters.
 *
 * Made of spec/mpirt/ by `cargo xtask spec --header`; do not edit. */
#ifndef CALLS_H
#define CALLS_H

#include <mpirt.h>

union value {
    uint64_t bits;
    int64_t number;
    void *pointer;
    void (*function)(void);
};

/* A parameter: a handle that goes in, comes out or is changed; a text; a pointer to what comes out, is changed or goes in; a function;
 * a number. */
enum kind { HANDLE, OUT_HANDLE, CHANGED_HANDLE, TEXT, OUT, CHANGED, POINTER, FUNCTION, NUMBER };

struct parameter {
    enum kind kind;
    int class_of;
    int may_be_null;
};

enum { PARAMETERS_MAX = 10, ROOM = 4096, PATTERN = 0x5a };

struct call {
    const char *name;
    int (*call)(const union value *given);
    unsigned rules;
    uint64_t errors;
    int count;
    struct parameter parameters[PARAMETERS_MAX];
};
";

const TAIL: &str = "\
};

enum { CALLS = sizeof calls / sizeof *calls };

/* Whether a function may give this code. */
static inline int is_listed(const struct call *call, int code)
{
    return code == MPIRT_SUCCESS || (code > 0 && code < MPIRT_ERR_INTERNAL && (call->errors >> code & 1));
}

#endif
";

/// The file's text.
pub fn text(spec: &Spec) -> String {
    let mut out = HEAD.to_owned();
    let all = &spec.functions;
    let exported = all.functions.iter().filter(|function| spec.exported.contains(function.name()));
    let exported: Vec<&Function> = exported.collect();
    constants(all, &exported, &mut out);
    out.push('\n');
    for function in &exported {
        caller(all, function, &mut out);
    }
    out.push_str("\nstatic const struct call calls[] = {\n");
    for function in &exported {
        row(all, function, &mut out);
    }
    out.push_str(TAIL);
    out
}

/// The rules as bits, and the types of handles.
fn constants(all: &Functions, exported: &[&Function], out: &mut String) {
    let rules: BTreeSet<&str> =
        exported.iter().flat_map(|function| &function.entry.rules).map(String::as_str).collect();
    let bits = rules.iter().enumerate();
    let rules: Vec<String> =
        bits.map(|(bit, rule)| format!("    RULE_{} = 1 << {bit},", rule.to_uppercase())).collect();
    let handles = all.type_order.iter().filter(|name| is_handle(all, name));
    let handles: Vec<String> = handles.map(|name| format!("    OF_{name},")).collect();
    let _ = writeln!(out, "\nenum {{\n    RULE_NONE = 0,\n{}\n}};", rules.join("\n"));
    let _ = writeln!(out, "\nenum {{\n    OF_NONE,\n{}\n    CLASSES\n}};", handles.join("\n"));
}

fn is_handle(all: &Functions, name: &str) -> bool {
    all.types.get(name).is_some_and(|kind| kind.kind() == "handle")
}

/// A function that takes its arguments from an array.
fn caller(all: &Functions, function: &Function, out: &mut String) {
    let name = function.name();
    let parameters = function.signature.parameters.iter().enumerate();
    let arguments: Vec<String> = parameters
        .map(|(place, parameter)| {
            let (base, value) = (&parameter.base, format!("given[{place}]"));
            let kind = all.types.get(base).map(|kind| kind.kind());
            match parameter.stars {
                0 if kind == Some("handle") => format!("({base}){{{value}.bits}}"),
                0 => format!("({base}){value}.number"),
                1 if kind == Some("function") => format!("({base} *){value}.function"),
                _ => format!("{value}.pointer"),
            }
        })
        .collect();
    let unused = if arguments.is_empty() { "(void)given; " } else { "" };
    let call = format!("static int call_{name}(const union value *given) {{ {unused}return {name}(");
    let _ = writeln!(out, "{call}{}); }}", arguments.join(", "));
}

/// What is known of a function and of each of its parameters.
fn row(all: &Functions, function: &Function, out: &mut String) {
    let name = function.name();
    let rules = function.entry.rules.iter().map(|rule| format!("RULE_{}", rule.to_uppercase()));
    let rules: Vec<String> = rules.collect();
    let rules = if rules.is_empty() { "RULE_NONE".to_owned() } else { rules.join(" | ") };
    let (errors, _) = all.describe(function);
    let bits = errors.iter().filter(|error| *error != "INTERNAL").filter_map(|error| all.errors.get(error));
    let bits = bits.fold(0u64, |bits, error| bits | 1 << error.number);
    let described: Vec<_> = function.parameters().collect();
    let parameters = function.signature.parameters.iter().map(|parameter| {
        let about = described.iter().find(|about| about.name == parameter.name);
        let (way, may_be_null) = about.map_or(("in", false), |about| (about.way, about.may_be_null));
        let is_handle = is_handle(all, &parameter.base);
        let is_function = all.types.get(&parameter.base).is_some_and(|kind| kind.kind() == "function");
        let kind = match (way, parameter.stars) {
            _ if function.is_name(parameter) => "TEXT",
            ("in", 0) if is_handle => "HANDLE",
            ("in", 0) => "NUMBER",
            ("in", _) if is_function => "FUNCTION",
            ("in", _) => "POINTER",
            ("out", _) if is_handle => "OUT_HANDLE",
            ("out", _) => "OUT",
            _ if is_handle => "CHANGED_HANDLE",
            _ => "CHANGED",
        };
        let class = if is_handle { format!("OF_{}", parameter.base) } else { "OF_NONE".to_owned() };
        format!("{{{kind}, {class}, {}}}", u8::from(may_be_null))
    });
    let parameters: Vec<String> = parameters.collect();
    let list = if parameters.is_empty() { "{NUMBER, OF_NONE, 0}".to_owned() } else { parameters.join(", ") };
    let _ = writeln!(
        out,
        "    {{\"{name}\", call_{name}, {rules}, UINT64_C({bits:#x}), {}, {{{list}}}}},",
        parameters.len()
    );
}
