//! The functions of the layer with their parameters and errors, and the types and error codes that they name.

use super::list::{EntryFile, List, Origin, line_of, syntax, texts};
use super::signature::{self, Parameter, Signature};
use crate::tidy::Finding;
use crate::workspace::TrackedFile;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What C brings itself.
const BUILT_IN: &[&str] = &["char", "int", "int64_t", "size_t", "uint32_t", "uint64_t", "void"];
/// The error that every function may give.
const INTERNAL: &str = "INTERNAL";

/// Functions, types and error codes.
#[derive(Default)]
pub struct Functions {
    /// In the order of files and lines.
    pub functions: Vec<Function>,
    /// By name.
    pub types: BTreeMap<String, Type>,
    /// The names of the types in the order of their file.
    pub type_order: Vec<String>,
    /// By name without `MPIRT_ERR_`.
    pub errors: BTreeMap<String, ErrorCode>,
    rules: BTreeMap<String, Rule>,
}

/// One function.
pub struct Function {
    /// Its declaration, taken apart.
    pub signature: Signature,
    /// Title of its group.
    pub group: String,
    /// The file with the entry.
    pub path: String,
    /// Line of the entry, from 1.
    pub line: usize,
    /// Where it comes from.
    pub origin: Origin,
    /// It is not wholly shown by tests yet.
    pub open: bool,
    /// The rest of the entry.
    pub entry: Entry,
}

impl Function {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.signature.name
    }

    /// What tests have to show of it: its right use, and each of its own errors.
    pub fn ids(&self) -> impl Iterator<Item = String> {
        let errors = self.entry.errors.keys().map(|error| format!("{}/{error}", self.name()));
        std::iter::once(self.name().to_owned()).chain(errors)
    }

    /// Whether a parameter is a name that goes in.
    pub fn is_name(&self, parameter: &Parameter) -> bool {
        parameter.is_text() && !self.entry.free.contains(&parameter.name)
    }

    /// Its other names: macros, each with a page that leads to this function's.
    pub fn aliases(&self) -> impl Iterator<Item = &String> {
        self.entry.alias.iter().chain(&self.entry.short)
    }

    /// What it keeps to while committed, if it is of the data path.
    pub fn law(&self) -> &'static str {
        let blocks = self.entry.rules.iter().any(|rule| rule == "block");
        if self.entry.wakes && blocks {
            "While committed it takes no lock, allocates nothing and makes no system call but the wait itself, and to wake threads that sleep until something comes that it moves."
        } else if self.entry.wakes {
            "While committed it takes no lock, allocates nothing and makes no system call, except to wake threads that sleep until something comes that it moves."
        } else if self.entry.says.contains("one system call") {
            "Takes no lock and allocates nothing while committed; the system call that is named above is its only one."
        } else if blocks {
            "While committed it takes no lock, allocates nothing and makes no system call but the wait itself."
        } else {
            "Takes no lock, allocates nothing and makes no system call while committed."
        }
    }

    /// Its parameters as the documentation shows them, in the order of the declaration.
    pub fn parameters(&self) -> impl Iterator<Item = Described<'_>> {
        let ways = [("in", &self.entry.inputs), ("out", &self.entry.outputs), ("inout", &self.entry.changed)];
        self.signature.parameters.iter().filter_map(move |parameter| {
            let (way, says) =
                ways.iter().find_map(|(way, texts)| Some((*way, texts.get(&parameter.name)?)))?;
            let may_be_null = self.entry.null.contains(&parameter.name);
            Some(Described { name: &parameter.name, c: parameter.c_type(), way, may_be_null, says })
        })
    }
}

/// A parameter with what its documentation needs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Described<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type in C.
    pub c: String,
    /// `in`, `out` or `inout`.
    pub way: &'static str,
    /// Null is not an error.
    pub may_be_null: bool,
    /// What it is.
    pub says: &'a str,
}

/// A function as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The C declaration.
    pub c: String,
    /// What it does.
    pub says: String,
    fact: Option<String>,
    inferred: Option<String>,
    decided: Option<String>,
    /// Its place in Appendix A of the HARE thesis.
    pub appendix: Option<String>,
    /// Its spelling there, if it differs.
    pub alias: Option<String>,
    /// How the text of the thesis calls it for short.
    pub short: Option<String>,
    /// When it may be called: rules of `errors.toml`.
    pub rules: Vec<String>,
    /// Parameters that may be null.
    #[serde(default)]
    null: Vec<String>,
    /// Texts that are no names: of any length and any bytes.
    #[serde(default)]
    free: Vec<String>,
    /// It keeps the law of the data path.
    #[serde(default)]
    data_path: bool,
    /// On the data path: what it moves may be what a thread of another member, or of this one, sleeps for.
    #[serde(default)]
    wakes: bool,
    #[serde(default, rename = "in")]
    inputs: BTreeMap<String, String>,
    #[serde(default, rename = "out")]
    outputs: BTreeMap<String, String>,
    #[serde(default, rename = "inout")]
    changed: BTreeMap<String, String>,
    /// Its own errors, each with when it comes.
    #[serde(default)]
    pub errors: BTreeMap<String, String>,
    #[serde(default)]
    open: bool,
}

/// A type or a constant.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Type {
    kind: String,
    /// What it is.
    pub says: String,
    fact: Option<String>,
    inferred: Option<String>,
    decided: Option<String>,
    /// The handle that it is a special case of.
    pub parent: Option<String>,
    null: Option<String>,
    c: Option<String>,
    value: Option<String>,
    /// A predefined constant's type.
    of: Option<String>,
    /// Of an enumeration.
    #[serde(default)]
    pub values: Vec<String>,
    /// Of a structure: type and name.
    #[serde(default)]
    pub fields: Vec<String>,
    /// What each value or field means: of all of them, or of none.
    #[serde(default)]
    means: BTreeMap<String, String>,
}

impl Type {
    /// `handle`, `alias`, `enumeration`, `structure`, `function` or `constant`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Its values or the names of its fields, each with what it means, where that is said.
    pub fn meanings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts().filter_map(|(_, name)| Some((name, self.means.get(name)?.as_str())))
    }

    /// Its values or fields as they are declared, and what each is called.
    fn parts(&self) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.values.iter().chain(&self.fields);
        // A field's name stands behind its type, before the dimensions of an array.
        parts.map(|part| {
            let declarator = part.rsplit([' ', '*']).next().unwrap_or(part);
            (part.as_str(), declarator.split('[').next().unwrap_or(declarator))
        })
    }

    /// A line for each value or field, closed by `mark`, with what it means.
    fn lines(&self, mark: &str, is_last_marked: bool) -> String {
        let parts: Vec<(&str, &str)> = self.parts().collect();
        let line = |(place, (part, name)): (usize, &(&str, &str))| {
            let mark = if is_last_marked || place + 1 < parts.len() { mark } else { "" };
            let meaning = self.means.get(*name).map_or_else(String::new, |means| format!(" /* {means} */"));
            format!("    {part}{mark}{meaning}\n")
        };
        parts.iter().enumerate().map(line).collect()
    }

    /// The C texts that name what it is made of.
    pub fn made_of(&self) -> Vec<&str> {
        self.fields.iter().chain(&self.c).chain(&self.parent).map(String::as_str).collect()
    }

    /// Its declaration in C.
    pub fn declare(&self, name: &str, out: &mut String) {
        let _ = writeln!(out, "\n/* {} */", self.says);
        let c = self.c.as_deref().unwrap_or_default();
        let _ = match self.kind.as_str() {
            "handle" => {
                let null = self.null.as_deref().unwrap_or_default();
                writeln!(out, "typedef struct {name} {{ uint64_t bits; }} {name};")
                    .and_then(|()| writeln!(out, "#define {null} MPIRT_HANDLE_({name}, 0)"))
            }
            "enumeration" => {
                writeln!(out, "typedef enum {name} {{\n{}}} {name};", self.lines(",", false))
            }
            "structure" => {
                writeln!(out, "typedef struct {name} {{\n{}}} {name};", self.lines(";", true))
            }
            "function" => writeln!(out, "typedef {};", c.replacen(" (", &format!(" {name}("), 1)),
            _ => writeln!(out, "typedef {c} {name};"),
        };
    }

    /// Its definition as a constant; what is predefined is an object of the library.
    pub fn define(&self, name: &str, out: &mut String) {
        let value = self.value.as_deref().unwrap_or_default();
        let _ = match &self.of {
            Some(of) => {
                let object = name.to_lowercase();
                writeln!(out, "extern const {of} {object};")
                    .and_then(|()| writeln!(out, "#define {name} {value} /* {} */", self.says))
            }
            None => writeln!(out, "#define {name} {value} /* {} */", self.says),
        };
    }

    /// Whether what makes up its kind is there, and nothing else.
    pub(super) fn check(&self) -> Result<(), String> {
        let has = [
            (self.null.is_some(), "handle"),
            (self.c.is_some(), "alias or function"),
            (self.value.is_some(), "constant"),
            (!self.values.is_empty(), "enumeration"),
            (!self.fields.is_empty(), "structure"),
        ];
        let kinds: Vec<&str> = has.iter().filter(|(has, _)| *has).map(|(_, kind)| *kind).collect();
        let fits = kinds.len() == 1 && kinds[0].split(" or ").any(|kind| kind == self.kind);
        if !fits || self.says.is_empty() || (self.parent.is_some() && self.kind != "handle") {
            return Err(format!("a type of the kind '{}' has other fields", self.kind));
        }
        let parts: BTreeSet<&str> = self.parts().map(|(_, name)| name).collect();
        let said: BTreeSet<&str> = self.means.keys().map(String::as_str).collect();
        match said.symmetric_difference(&parts).next() {
            Some(name) if !said.is_empty() => {
                Err(format!("what '{name}' means is said of all values or fields of a type, or of none"))
            }
            _ => Ok(()),
        }
    }
}

/// An error code.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorCode {
    /// Its number.
    pub number: usize,
    /// What it means.
    pub says: String,
    fact: Option<String>,
    inferred: Option<String>,
    decided: Option<String>,
    /// Its deprecated name.
    pub old_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// When a function of this rule may be called.
    says: String,
    errors: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Errors {
    error: BTreeMap<String, ErrorCode>,
    rule: BTreeMap<String, Rule>,
}

impl Functions {
    /// Reads `errors.toml`, `types.toml` and the files of `functions/` below `folder`.
    pub fn read(files: &[TrackedFile], folder: &str, list: &List, findings: &mut Vec<Finding>) -> Self {
        let mut all = Self::default();
        for (path, text) in texts(files, &format!("{folder}errors.toml")) {
            match toml::from_str::<Errors>(text) {
                Ok(errors) => (all.errors, all.rules) = (errors.error, errors.rule),
                Err(error) => findings.push(syntax(path, text, &error)),
            }
            all.check_errors(path, text, list, findings);
        }
        for (path, text) in texts(files, &format!("{folder}types.toml")) {
            let Some(file) = EntryFile::<Type>::read(path, text, &[], findings) else { continue };
            for (line, name, entry) in file.entries {
                let origin = Origin::of(entry.fact.clone(), entry.inferred.clone(), entry.decided.clone());
                let checked = entry.check().and(origin.and_then(|origin| list.known(&origin)));
                if let Err(message) = checked {
                    findings.push(Finding::new("spec", path, line, format!("{name}: {message}")));
                }
                all.type_order.push(name.clone());
                all.types.insert(name, entry);
            }
        }
        for (path, text) in texts(files, &format!("{folder}functions/")) {
            all.read_group(path, text, list, findings);
        }
        all
    }

    fn check_errors(&self, path: &str, text: &str, list: &List, findings: &mut Vec<Finding>) {
        let mut wrong = |table: &str, message: String| {
            findings.push(Finding::new("spec", path, line_of(text, table), message));
        };
        let numbers: BTreeSet<usize> = self.errors.values().map(|error| error.number).collect();
        for (name, error) in &self.errors {
            let table = format!("error.{name}");
            let origin = Origin::of(error.fact.clone(), error.inferred.clone(), error.decided.clone());
            if let Err(message) = origin.and_then(|origin| list.known(&origin)) {
                wrong(&table, format!("{name}: {message}"));
            }
            if error.number >= numbers.len() {
                wrong(&table, format!("{name}: numbers run from 0 without gaps or twins"));
            }
        }
        for (name, rule) in &self.rules {
            for error in rule.errors.iter().filter(|error| !self.errors.contains_key(*error)) {
                wrong(&format!("rule.{name}"), format!("{name}: there is no error {error}"));
            }
        }
    }

    fn read_group(&mut self, path: &str, text: &str, list: &List, findings: &mut Vec<Finding>) {
        let Some(mut file) = EntryFile::<Entry>::read(path, text, &["title"], findings) else { return };
        let group = file.heads.remove("title").unwrap_or_default();
        for (line, name, mut entry) in file.entries {
            let mut wrong = |message| {
                findings.push(Finding::new("spec", path, line, format!("{name}: {message}")));
            };
            let origin = Origin::of(entry.fact.take(), entry.inferred.take(), entry.decided.take());
            let (signature, origin) = match (signature::parse(&entry.c), origin) {
                (Ok(signature), Ok(origin)) => (signature, origin),
                (Err(message), _) | (_, Err(message)) => {
                    wrong(message);
                    continue;
                }
            };
            if let Some(twin) = self.functions.iter().find(|function| function.name() == name) {
                wrong(format!("is twice: first in {}:{}", twin.path, twin.line));
                continue;
            }
            if signature.name != name {
                wrong(format!("the declaration is of {}", signature.name));
            }
            if let Err(message) = list.known(&origin) {
                wrong(message);
            }
            let (group, path, open) = (group.clone(), path.to_owned(), entry.open);
            let function = Function { signature, group, path, line, origin, open, entry };
            self.check_function(&function).into_iter().for_each(wrong);
            self.functions.push(function);
        }
    }

    /// What is wrong with one function.
    fn check_function(&self, function: &Function) -> Vec<String> {
        let entry = &function.entry;
        let mut wrong = Vec::new();
        let extension = function.name().starts_with("MPIRTX_");
        if extension != matches!(function.origin, Origin::Decided(_)) {
            wrong.push("MPIRTX_ functions are decided, and no others are".to_owned());
        }
        if entry.alias.is_some() && entry.appendix.is_none() {
            wrong.push("an alias is a spelling of Appendix A".to_owned());
        }
        if entry.says.is_empty() || !entry.says.ends_with('.') {
            wrong.push("says no sentence that ends with a full stop".to_owned());
        }
        for parameter in &function.signature.parameters {
            wrong.extend(self.check_parameter(entry, parameter).err());
        }
        let is_parameter =
            |name: &&String| function.signature.parameters.iter().any(|parameter| parameter.name == **name);
        let named = entry.inputs.keys().chain(entry.outputs.keys()).chain(entry.changed.keys());
        for name in named.chain(&entry.null).chain(&entry.free).filter(|name| !is_parameter(name)) {
            wrong.push(format!("there is no parameter '{name}'"));
        }
        for rule in entry.rules.iter().filter(|rule| !self.rules.contains_key(*rule)) {
            wrong.push(format!("there is no rule '{rule}'"));
        }
        let implied = self.implied(function);
        for error in entry.errors.keys() {
            if !self.errors.contains_key(error) {
                wrong.push(format!("there is no error {error}"));
            } else if implied.contains(error.as_str()) {
                wrong.push(format!("{error} follows from its rules or parameters already"));
            }
        }
        wrong
    }

    fn check_parameter(&self, entry: &Entry, parameter: &Parameter) -> Result<(), String> {
        let Parameter { name, base, constant, stars } = parameter;
        let kind = self.types.get(base).map(|kind| kind.kind.as_str());
        if kind.is_none() && !BUILT_IN.contains(&base.as_str()) {
            return Err(format!("the type {base} is not in types.toml"));
        }
        let (input, output, changed) = (
            entry.inputs.contains_key(name),
            entry.outputs.contains_key(name),
            entry.changed.contains_key(name),
        );
        if usize::from(input) + usize::from(output) + usize::from(changed) != 1 {
            return Err(format!("'{name}' stands in exactly one of in, out and inout"));
        }
        let opaque = base == "void" || kind == Some("function");
        let points_out = *stars > usize::from(*constant) + usize::from(base == "void");
        if input && *stars > 0 && !constant && !(opaque && *stars == 1) {
            return Err(format!("'{name}' goes in, and is a pointer to what can be changed"));
        }
        if !input && !points_out {
            return Err(format!("'{name}' comes out, and is no pointer"));
        }
        if entry.null.contains(name) && (output || (*stars == 0 && kind != Some("handle"))) {
            return Err(format!("'{name}' cannot be null"));
        }
        Ok(())
    }

    /// The errors that follow from a function's rules and parameters.
    fn implied(&self, function: &Function) -> BTreeSet<&str> {
        let entry = &function.entry;
        let rules = entry.rules.iter().filter_map(|rule| self.rules.get(rule));
        let mut errors: BTreeSet<&str> = rules.flat_map(|rule| &rule.errors).map(String::as_str).collect();
        errors.insert(INTERNAL);
        for parameter in &function.signature.parameters {
            let may_be_null = entry.null.contains(&parameter.name);
            let is_handle = self.types.get(&parameter.base).is_some_and(|kind| kind.kind == "handle");
            if is_handle && !entry.outputs.contains_key(&parameter.name) {
                errors.extend(["STALE_OBJECT", "INV_OBJECT", "WRONG_CLASS"]);
                let by_value = parameter.stars == 0;
                errors.extend((!may_be_null || !by_value).then_some("NULL_OBJECT"));
            }
            errors.extend((parameter.stars > 0 && !may_be_null).then_some("NULL_POINTER"));
            errors.extend(function.is_name(parameter).then_some("NAME"));
        }
        errors
    }

    /// When a function may be called, a text for each of its rules.
    pub fn rules_of(&self, function: &Function) -> Vec<&str> {
        let rules = function.entry.rules.iter().filter_map(|rule| self.rules.get(rule));
        let texts: Vec<&str> = rules.map(|rule| rule.says.as_str()).collect();
        if texts.is_empty() { vec!["at any time"] } else { texts }
    }

    /// All errors of a function, in the order of their numbers, and whether it keeps the law of the data path.
    pub fn describe(&self, function: &Function) -> (Vec<String>, bool) {
        let mut errors: BTreeSet<&str> = self.implied(function);
        errors.extend(function.entry.errors.keys().map(String::as_str));
        let mut errors: Vec<&str> = errors.into_iter().collect();
        errors.sort_by_key(|name| self.errors.get(*name).map(|error| error.number));
        (errors.into_iter().map(str::to_owned).collect(), function.entry.data_path)
    }
}
