//! `mpirt.h` and `mpirt.hpp` as files: they stand alone, name nothing of anybody else's, and say what the library has.

use crate::harness::{Workplace, program};
use crate::suite::{C, compile, root};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

pub fn header(name: &str) -> PathBuf {
    root().join("crates/leveret-capi/include").join(name)
}

pub fn text(path: PathBuf) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether a compiler is there; says what is skipped if not.
fn is_there(compiler: &str) -> bool {
    let is_there = Command::new(compiler).arg("--version").output().is_ok();
    if !is_there {
        println!("SKIPPED: {compiler} is not installed, so the headers were not compiled by it");
    }
    is_there
}

/// Compiles a source of one line after another, which must include nothing else.
fn stands_alone(compilers: &[&[&str]], ending: &str, lines: &str) {
    let place = Workplace::new();
    for compiler in compilers.iter().filter(|compiler| is_there(compiler[0])) {
        let source = place.path(&format!("alone.{ending}"));
        std::fs::write(&source, lines).expect("a file");
        compile(&place, source.to_str().expect("a path"), compiler);
    }
}

// spec: LANG-HEADER-02
#[test]
fn the_header_stands_alone_in_c_and_cpp() {
    let lines =
        "#include <mpirt.h>\nint main(void) { return MPIRT_GROUP_WORLD.bits == MPIRT_GROUP_NULL.bits; }\n";
    stands_alone(&[&["cc", "-std=c11"], &["clang", "-std=c11"]], "c", lines);
    stands_alone(&[&["c++", "-std=c++17"], &["clang++", "-std=c++17"]], "cpp", lines);
}

#[test]
fn the_cpp_header_stands_alone_with_and_without_exceptions() {
    let lines = "#include <mpirt.hpp>\nint main() { return mpirt::world() == mpirt::group_ref(); }\n";
    let compilers: [&[&str]; 4] = [
        &["c++", "-std=c++17"],
        &["c++", "-std=c++20"],
        &["c++", "-std=c++17", "-fno-exceptions", "-fno-rtti"],
        &["clang++", "-std=c++17"],
    ];
    stands_alone(&compilers, "cpp", lines);
}

/// What a compiler says of a line, of which it makes nothing; `None` if it has no objection.
fn objection(compiler: &str, standard: &str, line: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("objected.cpp");
    std::fs::write(&source, line).expect("a file");
    let mut command = Command::new(compiler);
    command.args([standard, "-fsyntax-only", "-I"]).arg(root().join("crates/leveret-capi/include"));
    let output = command.arg(&source).output().expect("the compiler runs");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Not by the hundreds of errors of what the language does not know.
#[test]
fn the_cpp_header_says_which_standard_it_needs() {
    for compiler in ["c++", "clang++"].into_iter().filter(|compiler| is_there(compiler)) {
        for standard in ["-std=c++98", "-std=c++11", "-std=c++14"] {
            let objection = objection(compiler, standard, "#include <mpirt.hpp>\n");
            let said = objection.unwrap_or_else(|| panic!("{compiler} {standard} compiles it"));
            let first = said.lines().find(|line| line.contains("error")).unwrap_or_default();
            assert!(first.contains("mpirt.hpp needs C++17 or later: compile with -std=c++17"), "{said}");
            // As the text promises.
            assert_eq!(self::objection(compiler, standard, "#include <mpirt.h>\n"), None);
        }
    }
}

pub fn symbols(arguments: &[&str], file: PathBuf) -> BTreeSet<String> {
    let output = Command::new("nm").args(arguments).arg(&file).output().expect("nm runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.split_whitespace().next_back()).map(str::to_owned).collect()
}

/// The names that the header declares: functions and predefined objects.
pub fn declared() -> BTreeSet<String> {
    let text = text(header("mpirt.h"));
    let functions = text.lines().filter_map(|line| line.strip_prefix("int ")?.split('(').next());
    let objects = text.lines().filter_map(|line| line.strip_prefix("extern const ")?.split(' ').nth(1));
    functions.chain(objects.map(|name| name.trim_end_matches(';'))).map(str::to_owned).collect()
}

// spec: LANG-HEADER-03
#[test]
fn the_library_exports_what_the_header_declares() {
    let library = program().parent().expect("a program lies in a folder").join("libmpirt.so");
    let exported = symbols(&["-D", "--defined-only"], library);
    assert_eq!(exported, declared());
}

/// Beside the functions of the list a program in C++ needs the language's own libraries only.
// spec: LANG-CPP-ONLY-01
#[test]
fn the_cpp_header_calls_nothing_but_the_functions_of_the_c_header() {
    if !is_there("c++") {
        return;
    }
    let place = Workplace::new();
    let built = compile(&place, "examples/farm/farm.cpp", &["c++", "-std=c++17"]);
    let needed = symbols(&["-D", "--undefined-only"], built);
    let of_the_layer: BTreeSet<&String> =
        needed.iter().filter(|name| name.to_lowercase().starts_with("mpirt")).collect();
    let declared = declared();
    assert!(of_the_layer.len() > 10, "{of_the_layer:?}");
    assert!(of_the_layer.iter().all(|name| declared.contains(*name)), "{of_the_layer:?}");
    let includes = text(header("mpirt.hpp"));
    let includes = includes.lines().filter_map(|line| line.strip_prefix("#include <"));
    let foreign: Vec<&str> = includes.filter(|name| name.contains(".h") && *name != "mpirt.h>").collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

/// The macros that a source defines after its inclusions.
fn macros(source: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("macros.c");
    std::fs::write(&file, source).expect("a file");
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-E", "-dM", "-I"]).arg(root().join("crates/leveret-capi/include")).arg(&file);
    let output = command.output().expect("a C compiler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.strip_prefix("#define ")?.split([' ', '(']).next());
    names.map(str::to_owned).collect()
}

pub fn is_ours(name: &str) -> bool {
    ["MPIRT_", "MPIRTX_", "mpirt_"].iter().any(|prefix| name.starts_with(prefix))
}

// spec: LANG-HEADER-05
#[test]
fn the_header_defines_no_name_of_anybody_else() {
    let system = macros("#include <stddef.h>\n#include <stdint.h>\n");
    let foreign: Vec<String> = macros("#include <mpirt.h>\n").difference(&system).cloned().collect();
    let foreign: Vec<&String> = foreign.iter().filter(|name| !is_ours(name)).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    assert!(declared().iter().all(|name| is_ours(name)), "{:?}", declared());
    let types = text(header("mpirt.h"));
    for line in types.lines().filter(|line| line.starts_with("typedef ") || line.starts_with("} ")) {
        let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        assert!(words.any(is_ours), "{line}");
    }
    // The name that a type is used by is the last word, and enumerators are names of everybody's.
    let mut is_enumeration = false;
    for line in types.lines() {
        let named = if line.starts_with("typedef ") || line.starts_with("} ") {
            is_enumeration = line.starts_with("typedef enum ") && !line.ends_with(';');
            let is_type = line.ends_with(';') && !line.contains('(');
            is_type.then(|| line.trim_end_matches(';').rsplit(' ').next().unwrap_or_default())
        } else {
            let name = line.trim_start().split([' ', ',']).next().unwrap_or_default();
            (is_enumeration && name.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(name)
        };
        assert!(named.is_none_or(is_ours), "{line}");
    }
}

/// As the thesis spells them, whether the library does or not.
// spec: LANG-ALIAS-01
#[test]
fn every_spelling_of_appendix_a_links() {
    let folder = root().join("spec/mpirt/functions");
    let mut spellings = BTreeSet::new();
    for file in std::fs::read_dir(folder).expect("the list").filter_map(Result::ok) {
        let list = text(file.path());
        for entry in list.split("\n[").filter(|entry| entry.contains("\nappendix = ")) {
            let name = entry.trim_start_matches('[').split(']').next().unwrap_or_default();
            let alias = entry.lines().find_map(|line| line.strip_prefix("alias = "));
            spellings.insert(alias.unwrap_or(name).trim_matches('"').to_owned());
        }
    }
    assert!(spellings.len() > 40, "{spellings:?}");
    let calls: Vec<String> = spellings.iter().map(|name| format!("(int (*)(void)){name},")).collect();
    let place = Workplace::new();
    let file = place.path("spellings.c");
    let source = format!(
        "#include <mpirt.h>\nint (*calls[])(void) = {{\n{}\n}};\nint main(void) {{ return calls[0] == 0; }}\n",
        calls.join("\n")
    );
    std::fs::write(&file, source).expect("a file");
    compile(&place, file.to_str().expect("a path"), &[&C[..], &["-Wno-cast-function-type"]].concat());
}

/// What the manual pages show compiles.
#[test]
fn examples_of_the_manual_compile() {
    let folder = root().join("spec/mpirt/examples");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the examples") {
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I"]);
        command.arg(root().join("crates/leveret-capi/include")).arg(entry.expect("a file").path());
        let output = command.output().expect("a C compiler runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        count += 1;
    }
    assert!(count > 0);
}
