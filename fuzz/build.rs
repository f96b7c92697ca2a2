//! The calls themselves are made in C, from the table of all functions that the conformance suite has.

fn main() {
    let folders = ["../crates/leveret-capi/include", "../tests/mpirt"];
    cc::Build::new().file("c/calls.c").includes(folders).std("c11").warnings(true).compile("c_calls");
    for path in ["c/calls.c", "../tests/mpirt", "../crates/leveret-capi/include/mpirt.h"] {
        println!("cargo:rerun-if-changed={path}");
    }
}
