//! Gives the shared library its name with the major version, by which programs that were linked to it find it; and keeps it loaded for
//! good, since threads that have used it give things back to it when they end.

fn main() {
    let major = env!("CARGO_PKG_VERSION_MAJOR");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmpirt.so.{major}");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
