//! The C++ interface and the spellings of Appendix A, as programs of the conformance suite.

use crate::mpirt::conforms_as;
use std::process::Command;

/// Whether programs that a compiler makes with these flags link here; says what is skipped if not.
pub fn links(compiler: &[&str], what: &str) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).arg(&source).arg("-o").arg(folder.path().join("empty"));
    let is_there = command.output().is_ok_and(|output| output.status.success());
    if !is_there {
        println!("SKIPPED: {} makes no program here, so {what} was not tried", compiler.join(" "));
    }
    is_there
}

#[test]
fn appendix_a() {
    conforms_as("tests/mpirt/appendix_a.c", &["cc", "-std=c11"], &[]);
}

#[test]
fn cpp() {
    if links(&["c++"], "mpirt.hpp") {
        conforms_as("tests/mpirt/surface.cpp", &["c++", "-std=c++17"], &["--rounds", "10"]);
    }
}

#[test]
fn cpp_under_the_address_sanitizer() {
    let compiler = ["c++", "-std=c++17", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    if links(&compiler[..3], "mpirt.hpp under AddressSanitizer") {
        conforms_as("tests/mpirt/surface.cpp", &compiler, &["--rounds", "10"]);
    }
}
