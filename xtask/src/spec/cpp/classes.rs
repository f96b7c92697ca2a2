//! The classes of C++: one of references and one of owners for each kind of handle.

use super::super::Spec;
use super::super::functions::Function;
use super::members::{self, Member};
use super::names::{bare, lower, reference};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A class of references.
struct Class {
    /// The type in C.
    handle: String,
    parent: Option<String>,
    says: String,
    /// The function that frees its objects.
    free: Option<String>,
    members: Vec<Member>,
}

/// All classes, parents first, and what belongs to none.
pub struct Classes {
    classes: Vec<Class>,
    free_functions: Vec<Member>,
}

impl Classes {
    /// The classes of the handles that are needed, with a member for each of the functions.
    pub fn of<'a>(
        spec: &Spec,
        needed: &BTreeSet<String>,
        functions: impl Iterator<Item = &'a Function>,
    ) -> Result<Self, String> {
        let types = &spec.functions;
        let is_handle = |name: &&String| types.types.get(*name).is_some_and(|found| found.kind() == "handle");
        let handles: Vec<&String> =
            types.type_order.iter().filter(|name| needed.contains(*name)).filter(is_handle).collect();
        let mut classes = Self { classes: Vec::new(), free_functions: Vec::new() };
        for handle in &handles {
            let found = &types.types[*handle];
            classes.classes.push(Class {
                handle: (*handle).clone(),
                parent: found.parent.clone(),
                says: found.says.clone(),
                free: None,
                members: Vec::new(),
            });
        }
        for function in functions {
            let object = function
                .name()
                .strip_suffix("_free")
                .and_then(|class| classes.classes.iter_mut().find(|known| known.handle == class));
            if let Some(class) = object {
                class.free = Some(function.name().to_owned());
                continue;
            }
            let member = members::of(spec, &handles, function)?;
            let class =
                classes.classes.iter_mut().find(|class| Some(reference(&class.handle)) == member.class);
            match class {
                Some(class) => class.members.push(member),
                None => classes.free_functions.push(member),
            }
        }
        classes.order();
        Ok(classes)
    }

    /// What a class derives from, or has as the default of a parameter, must be complete before it.
    fn order(&mut self) {
        let names: Vec<String> = self.classes.iter().map(|class| reference(&class.handle)).collect();
        let place = |name: &str| names.iter().position(|known| known == name);
        let needs: Vec<Vec<usize>> = self
            .classes
            .iter()
            .map(|class| {
                let parent = class.parent.as_deref().map(reference).and_then(|parent| place(&parent));
                let declared = class.members.iter().flat_map(|member| &member.declared);
                let defaults =
                    declared.filter_map(|one| place(one.strip_suffix(" = {}")?.split(' ').next()?));
                parent.into_iter().chain(defaults).collect()
            })
            .collect();
        let mut ordered = Vec::new();
        for class in 0..needs.len() {
            visit(class, &needs, &mut vec![false; needs.len()], &mut ordered);
        }
        let mut given: Vec<Option<Class>> = self.classes.drain(..).map(Some).collect();
        self.classes = ordered.into_iter().filter_map(|class| given[class].take()).collect();
    }

    /// The names of all.
    pub fn forward(&self) -> String {
        let lines = self.classes.iter().map(|class| format!("class {};\n", reference(&class.handle)));
        lines.collect()
    }

    /// The classes of references.
    pub fn declarations(&self, inside: &BTreeMap<String, Vec<String>>) -> String {
        let mut out = String::new();
        for class in &self.classes {
            let name = reference(&class.handle);
            let parent = class.parent.as_deref().map(reference);
            let inherits = parent.as_ref().map(|parent| format!(" : public {parent}")).unwrap_or_default();
            let handle = &class.handle;
            let _ = write!(
                out,
                "/// A reference to {}.\nclass {name}{inherits} {{\npublic:\n    using c_type = {handle};\n\n    \
                 {name}() noexcept = default;\n    explicit {name}(c_type handle) noexcept",
                class.says
            );
            let (start, accessor) = match &parent {
                Some(parent) => (
                    format!(" : {parent}({parent}::c_type{{handle.bits}}) {{}}\n"),
                    "    /// As C has it.\n    c_type c() const noexcept { return c_type{bits_}; }\n",
                ),
                None => (
                    " : bits_(handle.bits) {}\n".to_owned(),
                    "    /// As C has it.\n    c_type c() const noexcept { return c_type{bits_}; }\n",
                ),
            };
            let _ = write!(out, "{start}{accessor}");
            for line in inside.get(&name).into_iter().flatten() {
                let _ = writeln!(out, "{line}");
            }
            declare(&class.members, "    ", &mut out);
            let protected = class.free.is_some() || parent.is_none();
            if protected {
                out += "\nprotected:\n";
            }
            if let Some(free) = &class.free {
                let _ = write!(
                    out,
                    "    static result<void> release(std::uint64_t &bits) noexcept\n    {{\n        c_type handle{{bits}};\n        \
                     const int code = {free}(&handle);\n        bits = handle.bits;\n        \
                     return {{static_cast<errc>(code), \"{free}\"}};\n    }}\n"
                );
            }
            if parent.is_none() {
                out += "    std::uint64_t bits_ = 0;\n";
            }
            out += "};\n\n";
        }
        out.trim_end().to_owned() + "\n"
    }

    /// What belongs to no class.
    pub fn free_functions(&self) -> String {
        let mut out = String::new();
        declare(&self.free_functions, "", &mut out);
        out.trim_start().to_owned()
    }

    /// The definitions of all that is declared.
    pub fn definitions(&self) -> String {
        let mut out = String::new();
        let all = || self.classes.iter().flat_map(|class| &class.members).chain(&self.free_functions);
        for member in all() {
            define(member, true, &mut out);
        }
        out += "#if MPIRT_EXCEPTIONS\n";
        for member in all() {
            define(member, false, &mut out);
        }
        out + "#endif\n"
    }

    /// The classes of owners.
    pub fn owners(&self) -> String {
        let lines = self.classes.iter().map(|class| {
            format!(
                "/// Owns {}.\nusing {} = owner<{}>;\n",
                class.says,
                lower(bare(&class.handle)),
                reference(&class.handle)
            )
        });
        lines.collect()
    }
}

fn declare(members: &[Member], indent: &str, out: &mut String) {
    if members.is_empty() {
        return;
    }
    out.push('\n');
    let lead = |member: &Member| {
        if member.is_static && member.class.is_some() {
            format!("{indent}static ")
        } else {
            indent.to_owned()
        }
    };
    for member in members {
        let head = member.head(true, "", &member.declared);
        let _ = writeln!(out, "{indent}/// {} ({})\n{}{head};", member.says, member.c, lead(member));
    }
    out.push_str("#if MPIRT_EXCEPTIONS\n");
    for member in members {
        let _ = writeln!(out, "{}{};", lead(member), member.head(false, "", &member.declared));
    }
    out.push_str("#endif\n");
}

fn define(member: &Member, fallible: bool, out: &mut String) {
    let class = member.class.as_ref().map(|class| format!("{class}::")).unwrap_or_default();
    let head = member.head(fallible, &class, &member.defined);
    let body = if fallible { member.body() } else { member.throwing_body() };
    let _ = write!(out, "inline {head}\n{{\n{body}}}\n\n");
}

/// Puts what `class` needs before it; what needs each other stays in the order of the list.
fn visit(class: usize, needs: &[Vec<usize>], open: &mut Vec<bool>, ordered: &mut Vec<usize>) {
    if ordered.contains(&class) || std::mem::replace(&mut open[class], true) {
        return;
    }
    needs[class].iter().for_each(|other| visit(*other, needs, open, ordered));
    ordered.push(class);
}
