//! `cargo xtask bench [NAME]`: installs the peers that it can, then runs the benchmarks. `cargo xtask bench-plan` is the one of the
//! planner of networks, whose peers are Python packages.

use std::path::Path;
use std::process::Command;

/// A program that a benchmark runs beside ours, and the Debian packages that bring it.
struct Peer {
    name: &'static str,
    program: &'static str,
    /// What it is built with, of packages that bring no program.
    headers: &'static [&'static str],
    packages: &'static [&'static str],
}

impl Peer {
    fn is_there(&self) -> bool {
        is_installed(self.program) && self.headers.iter().all(|header| Path::new(header).is_file())
    }
}

const PEERS: &[Peer] = &[
    Peer { name: "cyclictest", program: "cyclictest", headers: &[], packages: &["rt-tests"] },
    Peer { name: "stress-ng", program: "stress-ng", headers: &[], packages: &["stress-ng"] },
    Peer { name: "MPICH", program: "mpicc.mpich", headers: &[], packages: &["mpich", "libmpich-dev"] },
    Peer {
        name: "Open MPI",
        program: "mpicc.openmpi",
        headers: &[],
        packages: &["openmpi-bin", "libopenmpi-dev"],
    },
    // What Aeron is built with, beside the CMake of `make_cmake`.
    Peer {
        name: "Aeron",
        program: "clang",
        headers: &["/usr/include/bsd/string.h", "/usr/include/uuid/uuid.h"],
        packages: &["clang", "libclang-dev", "libbsd-dev", "uuid-dev"],
    },
];
/// Aeron's own build asks for a newer one than Debian 12 has.
const CMAKE: &str = "cmake==4.1.2";

/// Runs one benchmark, or all. Further arguments go to it unchanged.
pub fn main(root: &Path, arguments: &[String]) -> Result<u8, String> {
    install_peers();
    make_cmake(root);
    build_beside(root, "-p leveret-capi -p leveret --lib --example ring-objects")?;
    measure(root, arguments)
}

/// Runs the benchmark of the planner of networks. Further arguments go to it unchanged.
pub fn plan(root: &Path, arguments: &[String]) -> Result<u8, String> {
    make_python(root);
    build_beside(root, "-p leveret-cli --bin leveret")?;
    measure(root, &[&["network-plan".to_owned()], arguments].concat())
}

fn measure(root: &Path, arguments: &[String]) -> Result<u8, String> {
    let status = Command::new("cargo")
        .args(["run", "--profile", "dist", "--locked", "--package", "leveret-benches", "--"])
        .args(arguments)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo could not start: {error}"))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Builds what the benchmarks look for beside themselves.
fn build_beside(root: &Path, what: &str) -> Result<(), String> {
    let arguments = ["build", "--profile", "dist", "--locked"];
    let status = Command::new("cargo").args(arguments).args(what.split(' ')).current_dir(root).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("cargo build {what} fails; see above")),
        Err(error) => Err(format!("cargo could not start: {error}")),
    }
}

/// A Python with the tsnkit collection and the solver z3, where it can be made; the benchmark names what it does not find.
#[allow(clippy::disallowed_methods, reason = "the user may name another Python")]
fn make_python(root: &Path) {
    let folder = root.join("target/peers/tsnkit");
    let python = folder.join("bin/python");
    let requirements = root.join("benches/peers/tsnkit_requirements.txt");
    if std::env::var_os("LEVERET_TSNKIT_PYTHON").is_some() || folder.join("bin/z3").is_file() {
        return;
    }
    println!("installing peers: tsnkit and z3 into {}", folder.display());
    let folder = folder.to_string_lossy().into_owned();
    run_quietly("python3", &["-m", "venv", &folder]);
    let (python, requirements) = (python.to_string_lossy(), requirements.to_string_lossy());
    run_quietly(&python, &["-m", "pip", "install", "--quiet", "--requirement", &requirements]);
}

/// The CMake that builds Aeron; the benchmark looks for it there, and names what fails without.
fn make_cmake(root: &Path) {
    let folder = root.join("target/peers/cmake");
    if folder.join("bin/cmake").is_file() {
        return;
    }
    println!("installing peers: {CMAKE} into {}", folder.display());
    run_quietly("python3", &["-m", "venv", &folder.to_string_lossy()]);
    let python = folder.join("bin/python");
    run_quietly(&python.to_string_lossy(), &["-m", "pip", "install", "--quiet", CMAKE]);
}

/// Installs the missing peers where that is possible, and names those that stay missing.
fn install_peers() {
    let missing: Vec<&Peer> = PEERS.iter().filter(|peer| !peer.is_there()).collect();
    let packages: Vec<&str> = missing.iter().flat_map(|peer| peer.packages).copied().collect();
    if packages.is_empty() {
        return;
    }
    let by_hand = format!("apt-get install --no-install-recommends {}", packages.join(" "));
    if is_installed("apt-get") && is_root() {
        println!("installing peers: {}", packages.join(" "));
        // One failing package must not keep the others out, hence one call each.
        run_quietly("apt-get", &["-qq", "update"]);
        for peer in &missing {
            let arguments = ["-qq", "install", "--yes", "--no-install-recommends"];
            run_quietly("apt-get", &[&arguments[..], peer.packages].concat());
        }
    }
    for peer in missing.iter().filter(|peer| !peer.is_there()) {
        println!("missing peer: {} (as root: {by_hand})", peer.name);
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Whether a program of this name lies in the search path.
#[allow(clippy::disallowed_methods, reason = "the search path is what is asked about")]
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// The result shows in whether the program is there afterwards.
fn run_quietly(program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdout(std::process::Stdio::null());
    if let Err(error) = command.status() {
        println!("{program} could not start: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_up_in_the_path() {
        assert!(is_installed("sh"));
        assert!(!is_installed("no-such-program-here"));
    }
}
