//! One function of C as a member, or a function, of C++.

use super::super::Spec;
use super::super::functions::{Described, Function};
use super::super::signature::Parameter;
use super::names::{bare, lower, reference};

/// Parameters that are instants on the job's clock; every other time is a duration.
const INSTANTS: &[(&str, &str)] = &[
    ("MPIRTX_Buffer_get_instance", "inserted"),
    ("MPIRTX_Mode_switch", "earliest"),
    ("MPIRTX_Mode_switch", "at"),
    ("MPIRT_Int64_export", "time"),
];
/// Numbers that say yes or no.
const TRUTHS: &[&str] = &["flag", "same", "writable"];

/// A member as it is declared and defined.
pub struct Member {
    /// The class that it belongs to; `None`: the namespace.
    pub class: Option<String>,
    /// Its name.
    pub name: String,
    /// It has no object.
    pub is_static: bool,
    /// The function of C.
    pub c: String,
    /// What it does.
    pub says: String,
    /// With default arguments.
    pub declared: Vec<String>,
    /// Without.
    pub defined: Vec<String>,
    /// Names of the parameters.
    pub passed: Vec<String>,
    /// What comes out.
    pub gives: Vec<Output>,
    /// What C is called with.
    pub arguments: Vec<String>,
}

/// A value that comes out through a pointer.
pub struct Output {
    /// Its type.
    pub kind: String,
    /// The variable that C fills.
    pub local: String,
    /// The value, made of the variable.
    pub value: String,
}

impl Member {
    /// The type of the value.
    pub fn value_type(&self) -> String {
        match &self.gives[..] {
            [] => "void".to_owned(),
            [one] => one.kind.clone(),
            several => {
                let kinds: Vec<&str> = several.iter().map(|one| one.kind.as_str()).collect();
                format!("std::tuple<{}>", kinds.join(", "))
            }
        }
    }

    /// How it is declared, without its semicolon.
    pub fn head(&self, fallible: bool, class: &str, parameters: &[String]) -> String {
        let value = self.value_type();
        let (kind, prefix) = if fallible { (format!("result<{value}>"), "try_") } else { (value, "") };
        let constant = if self.class.is_some() && !self.is_static { " const" } else { "" };
        let noexcept = if fallible { " noexcept" } else { "" };
        format!("{kind} {class}{prefix}{}({}){constant}{noexcept}", self.name, parameters.join(", "))
    }

    /// The definition of the form that throws nothing.
    pub fn body(&self) -> String {
        let mut body = String::new();
        for output in &self.gives {
            body += &format!("    {};\n", output.local);
        }
        let call = format!("{}({})", self.c, self.arguments.join(", "));
        if self.gives.is_empty() {
            return format!("    return {{static_cast<errc>({call}), \"{}\"}};\n", self.c);
        }
        body += &format!("    const int code_ = {call};\n    if (code_ != MPIRT_SUCCESS) {{\n");
        body += &format!("        return {{static_cast<errc>(code_), \"{}\"}};\n    }}\n", self.c);
        let values: Vec<&str> = self.gives.iter().map(|output| output.value.as_str()).collect();
        let value = match &values[..] {
            [one] => (*one).to_owned(),
            several => format!("{}({})", self.value_type(), several.join(", ")),
        };
        body + &format!("    return {value};\n")
    }

    /// The definition of the form that throws.
    pub fn throwing_body(&self) -> String {
        let keyword = if self.gives.is_empty() { "" } else { "return " };
        format!("    {keyword}try_{}({}).value();\n", self.name, self.passed.join(", "))
    }
}

/// The member for a function; an error names what cannot be expressed.
pub fn of(spec: &Spec, handles: &[&String], function: &Function) -> Result<Member, String> {
    let described: Vec<Described<'_>> = function.parameters().collect();
    let parameters: Vec<(&Parameter, &Described<'_>)> =
        function.signature.parameters.iter().zip(&described).collect();
    let name = bare(function.name());
    // The longest class by whose name the function's begins.
    let by_name = handles
        .iter()
        .filter(|handle| name.strip_prefix(bare(handle)).is_some_and(|rest| rest.starts_with('_')));
    let by_name = by_name.max_by_key(|handle| handle.len());
    let created = parameters.iter().find(|(_, one)| one.way == "out").map(|(parameter, _)| &parameter.base);
    let (class, operation) = match by_name {
        Some(class) => (Some(*class), &name[bare(class).len() + 1..]),
        None => (handles.iter().find(|handle| Some(*handle) == created.as_ref()).copied(), name),
    };
    let has_object = class.is_some_and(|class| {
        parameters.first().is_some_and(|(first, one)| &first.base == class && one.way == "in")
    });
    let operation = operation.strip_prefix("get_").unwrap_or(operation);
    let operation = match by_name {
        Some(_) => operation,
        None => operation
            .strip_suffix("_channel_create")
            .or(operation.strip_suffix("_create"))
            .unwrap_or(operation),
    };
    let operation = if operation == "create" {
        operation
    } else {
        operation.strip_suffix("_create").unwrap_or(operation)
    };
    let mut member = Member {
        class: class.map(|class| reference(class)),
        name: lower(operation),
        is_static: !has_object,
        c: function.name().to_owned(),
        says: function.entry.says.clone(),
        declared: Vec::new(),
        defined: Vec::new(),
        passed: Vec::new(),
        gives: Vec::new(),
        arguments: Vec::new(),
    };
    for (place, (parameter, one)) in parameters.iter().enumerate() {
        if has_object && place == 0 {
            member.arguments.push("c()".to_owned());
            continue;
        }
        let outcome = match one.way {
            "out" => output(spec, function, parameter, &mut member),
            _ => input(spec, function, (parameter, one), &mut member),
        };
        outcome.map_err(|()| {
            format!(
                "{}: '{}' of the type {} has no form in C++; write the function in {}",
                function.name(),
                parameter.name,
                parameter.c_type(),
                super::TEMPLATE
            )
        })?;
    }
    Ok(member)
}

fn kind_of<'a>(spec: &'a Spec, parameter: &Parameter) -> Option<&'a str> {
    spec.functions.types.get(&parameter.base).map(|found| found.kind())
}

fn is_instant(function: &Function, parameter: &Parameter) -> bool {
    INSTANTS.contains(&(function.name(), parameter.name.as_str()))
}

fn standard(base: &str) -> Option<String> {
    match base {
        "int" => Some("int".to_owned()),
        "int64_t" | "uint32_t" | "uint64_t" | "size_t" => Some(format!("std::{base}")),
        _ => None,
    }
}

fn input(
    spec: &Spec,
    function: &Function,
    (parameter, one): (&Parameter, &Described<'_>),
    member: &mut Member,
) -> Result<(), ()> {
    let Parameter { name, base, stars, .. } = parameter;
    let kind = kind_of(spec, parameter);
    let mut default = "";
    let (declared, argument) = match (kind, stars) {
        _ if parameter.is_text() => (format!("text {name}"), format!("{name}.c_str()")),
        (Some("handle"), 0) => {
            if one.may_be_null && base != "MPIRT_Object" {
                default = " = {}";
            }
            (format!("{} {name}", reference(base)), format!("{name}.c()"))
        }
        (Some("enumeration"), 0) => {
            (format!("mpirt::{} {name}", lower(bare(base))), format!("static_cast<{base}>({name})"))
        }
        (Some("alias"), 0) if base == "MPIRT_Timespec" && is_instant(function, parameter) => {
            (format!("time_point {name}"), format!("{name}.time_since_epoch().count()"))
        }
        (Some("alias"), 0) if base == "MPIRT_Timespec" => {
            if name == "timeout" {
                default = " = no_limit";
            }
            (format!("duration {name}"), format!("{name}.count()"))
        }
        (Some("function"), 1) => (format!("{base} *{name}"), name.clone()),
        (None, 1) if base == "void" => (format!("void *{name}"), name.clone()),
        (None, 1) if one.way == "inout" => {
            (format!("{} &{name}", standard(base).ok_or(())?), format!("&{name}"))
        }
        (None, 0) => (format!("{} {name}", standard(base).ok_or(())?), name.clone()),
        _ => return Err(()),
    };
    // Defaults are for the last ones only.
    if default.is_empty() {
        member.declared.clone_from(&member.defined);
    }
    member.defined.push(declared.clone());
    member.declared.push(declared + default);
    member.passed.push(name.clone());
    member.arguments.push(argument);
    Ok(())
}

fn output(spec: &Spec, function: &Function, parameter: &Parameter, member: &mut Member) -> Result<(), ()> {
    let Parameter { name, base, stars, .. } = parameter;
    let variable = format!("{name}_");
    let mut pass = format!("&{variable}");
    let local = format!("{base} {variable}{{}}");
    let (kind, local, value) = match (kind_of(spec, parameter), stars) {
        (Some("handle"), 1) => {
            let kind = if makes(function) { format!("owner<{}>", reference(base)) } else { reference(base) };
            (kind.clone(), local, format!("{kind}({variable})"))
        }
        (Some("enumeration"), 1) => {
            let kind = format!("mpirt::{}", lower(bare(base)));
            (kind.clone(), local, format!("static_cast<{kind}>({variable})"))
        }
        (Some("structure"), 1) => {
            let kind = format!("mpirt::{}", lower(bare(base)));
            (kind.clone(), local, format!("{kind}::of({variable})"))
        }
        (Some("alias"), 1) if base == "MPIRT_Timespec" && is_instant(function, parameter) => {
            ("mpirt::time_point".to_owned(), local, format!("time_point(duration({variable}))"))
        }
        (Some("alias"), 1) if base == "MPIRT_Timespec" => {
            ("mpirt::duration".to_owned(), local, format!("duration({variable})"))
        }
        (None, 1) if base == "char" => {
            pass = format!("{variable}.data()");
            ("mpirt::name".to_owned(), format!("mpirt::name {variable}"), variable.clone())
        }
        (None, 2) if base == "void" => {
            ("void *".to_owned(), format!("void *{variable} = nullptr"), variable.clone())
        }
        (None, 1) if base == "int" && TRUTHS.contains(&name.as_str()) => {
            ("bool".to_owned(), local, format!("{variable} != 0"))
        }
        (None, 1) => {
            let kind = standard(base).ok_or(())?;
            (kind.clone(), format!("{kind} {variable} = 0"), variable.clone())
        }
        _ => return Err(()),
    };
    member.gives.push(Output { kind, local, value });
    member.arguments.push(pass);
    Ok(())
}

/// Whether what comes out is a new object, which somebody has to free.
fn makes(function: &Function) -> bool {
    let creates = function.entry.rules.iter().any(|rule| rule.starts_with("create"));
    creates || function.name() == "MPIRTX_Mode_open"
}
