//! The C++ interface and the spellings of Appendix A, as programs of the conformance suite.

use crate::suite::{CPP, MEMBERS, conforms, conforms_as, links};

#[test]
fn appendix_a() {
    conforms("tests/mpirt/appendix_a.c");
}

#[test]
fn cpp() {
    if links(&CPP[..1], "mpirt.hpp") {
        conforms_as("tests/mpirt/surface.cpp", &CPP, &MEMBERS, &["--rounds", "10"]);
    }
}
