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

/// The public methods of each type, by the sources of a folder and of what lies in it.
fn methods(folder: &Path, found: &mut BTreeMap<String, BTreeSet<String>>) {
    for entry in std::fs::read_dir(folder).expect("the sources").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            methods(&path, found);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap_or_default();
        let mut of = String::new();
        for line in source.lines() {
            if let Some(what) = line.trim_start().strip_prefix("impl ") {
                of = what.trim_end_matches(" {").to_owned();
            }
            let line = line.trim_start();
            let method = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("pub const fn "));
            if let Some(name) = method.and_then(|method| method.split(['(', '<']).next()) {
                found.entry(of.clone()).or_default().insert(name.to_owned());
            }
        }
    }
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
    let mut offered = BTreeMap::new();
    methods(&root().join("crates/leveret-runtime/src/objects"), &mut offered);
    let mut rows = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `MPIRT")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, function, operations, _] = cells[..] else { panic!("'{line}' has not two cells") };
        for operation in operations.split(", ").map(|word| word.trim_matches('`')) {
            let Some((of, name)) = operation.split_once("::") else { continue };
            let is_there = offered.get(of).is_some_and(|methods| methods.contains(name));
            assert!(is_there || operation == "leveret::VERSION", "{line}: there is no {operation}");
        }
        assert!(!operations.is_empty(), "{line}");
        assert_eq!(rows.insert(function.trim_matches('`'), operations), None, "{function} stands twice");
    }
    let listed: BTreeSet<&str> = rows.keys().copied().collect();
    assert!(functions.len() > 150, "{}", functions.len());
    let missing: Vec<_> = functions.difference(&listed).collect();
    assert!(missing.is_empty(), "docs/rust-and-c.md lacks {missing:?}");
    let unknown: Vec<_> = listed.difference(&functions).collect();
    assert!(unknown.is_empty(), "docs/rust-and-c.md has {unknown:?}, which mpirt.h has not");
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
    let mut offered = BTreeMap::new();
    methods(&root().join("crates/leveret-runtime/src/objects"), &mut offered);
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
    assert!(constructors.iter().all(|name| !of_committed.contains(*name)), "{of_committed:?}");
}
