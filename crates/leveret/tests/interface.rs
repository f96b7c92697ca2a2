//! The Rust interface to the MPI/RT objects, as a whole: what it offers, and what its types forbid.
#![allow(missing_docs, reason = "a test has no public interface")]

use leveret::objects::{Code, Committed, Handle, Library, World};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A public method, by its source.
struct Method {
    /// Its documentation.
    says: String,
    /// From its name to its body.
    signature: String,
}

/// By the type, then by the name.
type Methods = BTreeMap<String, BTreeMap<String, Method>>;

/// The public methods of each type, by the sources of a folder and of what lies in it.
fn methods(folder: &Path, found: &mut Methods) {
    for entry in std::fs::read_dir(folder).expect("the sources").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            methods(&path, found);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap_or_default();
        let (mut of, mut says) = (String::new(), String::new());
        let mut lines = source.lines().map(str::trim_start);
        while let Some(line) = lines.next() {
            if let Some(what) = line.strip_prefix("impl ") {
                of = what.trim_end_matches(" {").to_owned();
            }
            if let Some(sentence) = line.strip_prefix("///") {
                says += sentence;
                continue;
            }
            let method = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("pub const fn "));
            if let Some(name) = method.and_then(|method| method.split(['(', '<']).next()) {
                let mut signature = line.to_owned();
                while !signature.ends_with('{') {
                    signature += lines.next().expect("a body");
                }
                let method = Method { says: std::mem::take(&mut says), signature };
                found.entry(of.clone()).or_default().insert(name.to_owned(), method);
            } else if !line.starts_with("#[") {
                says.clear();
            }
        }
    }
}

fn all_methods() -> Methods {
    let mut found = Methods::new();
    methods(&root().join("crates/leveret-runtime/src"), &mut found);
    found
}

/// The rows of the page that says which operation in Rust is behind each function in C: the function, and the cell.
fn rows(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.lines().filter(|line| line.starts_with("| `MPIRT")).map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, function, operations, _] = cells[..] else { panic!("'{line}' has not two cells") };
        (function.trim_matches('`'), operations)
    })
}

/// What a cell names: types and their methods.
fn operations(cell: &str) -> impl Iterator<Item = (&str, &str)> {
    cell.split(", ").filter_map(|word| word.trim_matches('`').split_once("::"))
}

/// The page that says which operation in Rust is behind each function in C is whole, and every operation that it names is there.
// spec: LANG-RUST-01
#[test]
fn every_function_has_its_operation() {
    let page = text("docs/rust-and-c.md");
    let header = text("crates/leveret-capi/include/mpirt.h");
    let functions: BTreeSet<&str> = header
        .lines()
        .filter_map(|line| line.strip_prefix("int ")?.split('(').next())
        .filter(|name| name.starts_with("MPIRT"))
        .collect();
    let offered = all_methods();
    let mut listed = BTreeSet::new();
    for (function, cell) in rows(&page) {
        for (of, name) in operations(cell) {
            let is_there = offered.get(of).is_some_and(|methods| methods.contains_key(name));
            assert!(is_there || (of, name) == ("leveret", "VERSION"), "{function}: there is no {of}::{name}");
        }
        assert!(!cell.is_empty(), "{function}");
        assert!(listed.insert(function), "{function} stands twice");
    }
    assert!(functions.len() > 150, "{}", functions.len());
    let missing: Vec<_> = functions.difference(&listed).collect();
    assert!(missing.is_empty(), "docs/rust-and-c.md lacks {missing:?}");
    let unknown: Vec<_> = listed.difference(&functions).collect();
    assert!(unknown.is_empty(), "docs/rust-and-c.md has {unknown:?}, which mpirt.h has not");
}

/// The errors that each function in C gives, by the header.
fn errors_in_c(header: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut errors = BTreeSet::new();
    let mut found = BTreeMap::new();
    for line in header.lines() {
        if let Some(error) = line.trim_start_matches([' ', '*']).strip_prefix("MPIRT_ERR_") {
            errors.extend(error.split(':').next());
        }
        if let Some(name) = line.strip_prefix("int ").and_then(|line| line.split('(').next()) {
            found.insert(name, std::mem::take(&mut errors));
        }
    }
    found
}

/// What an operation refuses where a function in C cannot, because it hands out an address: there the memory itself refuses, by a signal.
const REFUSED_BY_MEMORY_IN_C: [(&str, &str, Code); 1] = [("Committed", "write", Code::NotAllowed)];

/// The errors of an operation are values of one enum, whose numbers and texts are those of C (`cargo xtask spec` compares them); its
/// documentation names them, and none that the functions in C which it is behind do not give.
// spec: LANG-RUST-03
#[test]
fn errors_in_rust_are_those_of_c() {
    let header = text("crates/leveret-capi/include/mpirt.h");
    let page = text("docs/rust-and-c.md");
    let in_c = errors_in_c(&header);
    let offered = all_methods();
    let mut allowed: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (function, cell) in rows(&page) {
        for operation in operations(cell).filter(|operation| *operation != ("leveret", "VERSION")) {
            allowed.entry(operation).or_default().extend(&in_c[function]);
        }
    }
    let mut wrong = Vec::new();
    let mut named = 0;
    for ((of, name), allowed) in &allowed {
        let Method { says, signature } = &offered[*of][*name];
        let errors = says.split_once("# Errors").map(|(_, errors)| errors);
        if signature.contains("-> Result<") && errors.is_none() {
            wrong.push(format!("{of}::{name} does not say its errors"));
        }
        for code in errors.into_iter().flat_map(|errors| errors.split("[`Code::").skip(1)) {
            let code = code.split('`').next().unwrap_or_default();
            let known = Code::ALL.iter().find(|known| format!("{known:?}") == code).expect(code);
            named += 1;
            let by_memory = REFUSED_BY_MEMORY_IN_C.contains(&(of, name, *known));
            if allowed.contains(known.symbol()) == by_memory {
                wrong.push(format!("{of}::{name} gives {code}, which is no error of its functions in C"));
            }
        }
    }
    assert!(named > 50, "{named}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What everything has that has no such method of its own: a method that comes with a type would be called before these, take what it
/// takes, and not compile here.
trait Nothing {
    fn insert(&self) {}
    fn remove(&self) {}
    fn start(&self) {}
    fn wait(&self) {}
    fn test(&self) {}
    fn activate(&self) {}
    fn deactivate(&self) {}
    fn status(&self) {}
    fn metrics(&self) {}
    fn start_all(&self) {}
    fn wait_all(&self) {}
    fn test_all(&self) {}
    fn activate_all(&self) {}
    fn deactivate_all(&self) {}
    fn fire(&self) {}
    fn receptor_wait(&self) {}
    fn receptor_test(&self) {}
    fn task_metrics(&self) {}
    fn handler_metrics(&self) {}
}

impl Nothing for World {}
impl Nothing for Library {}

macro_rules! lacks {
    ($($method:ident)+) => {
        /// That it compiles shows it.
        fn lack_what_needs_a_commit(world: &World, library: &Library) {
            $(
                world.$method();
                library.$method();
            )+
        }
    };
}

lacks! {
    insert remove start wait test activate deactivate status metrics start_all wait_all test_all activate_all deactivate_all fire
    receptor_wait receptor_test task_metrics handler_metrics
}

/// What a commit gives has them all, and nothing but a commit gives that: before there is one, there is nothing to call.
// spec: LANG-RUST-02
#[test]
fn what_needs_a_commit_is_offered_by_what_a_commit_gives() {
    let _: fn(&World, &Library) = lack_what_needs_a_commit;
    let _: fn(&Library) -> Option<&std::sync::Arc<Committed>> = Library::committed;
    type Operation = fn(&Committed, Handle) -> Result<(), Code>;
    let _: [Operation; 4] = [Committed::start, Committed::activate, Committed::deactivate, Committed::fire];
    let offered = all_methods();
    // A constructor would be a way around.
    let source = text("crates/leveret-runtime/src/objects/committed/mod.rs");
    let fields = source.split("pub struct Committed {").nth(1).and_then(|rest| rest.split("\n}").next());
    let fields =
        fields.expect("the struct").lines().filter(|line| line.contains(':') && !line.contains("///"));
    for field in fields {
        assert!(field.trim_start().starts_with("pub(super) "), "{field}");
    }
    let constructors = ["new", "default", "from"];
    let of_committed = &offered["Committed"];
    assert!(constructors.iter().all(|name| !of_committed.contains_key(*name)));
}
