//! The raw limit and the peers: built where possible, started, named as missing otherwise.

use crate::BenchError;
use crate::peer::{Peer, SharedPeer, build_folder, compile, sources};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Ours: this program in another role.
pub fn leveret(cores: [usize; 2]) -> Result<SharedPeer, BenchError> {
    let mut command = Command::new(std::env::current_exe()?);
    Peer::start("leveret", command.args(["child", "round-trip"]).args(cores.map(|core| core.to_string())))
}

/// The machine alone, in C.
pub fn raw(cores: [usize; 2]) -> Result<SharedPeer, BenchError> {
    Peer::start("raw", Command::new(compile("cc", "raw.c")?).args(cores.map(|core| core.to_string())))
}

/// MPICH, as Debian packs it.
pub fn mpich(cores: [usize; 2]) -> Result<SharedPeer, BenchError> {
    let program = compile("mpicc.mpich", "mpi_pingpong.c")?;
    mpi("MPICH", &program, Command::new("mpiexec.mpich").args(["-n", "2"]), cores)
}

/// Open MPI, as Debian packs it. The ranks pin themselves; root is allowed because containers run as root. Its shared-memory transport is
/// named, since it may find another that is slower.
pub fn open_mpi(cores: [usize; 2]) -> Result<SharedPeer, BenchError> {
    let program = compile("mpicc.openmpi", "mpi_pingpong.c")?;
    let mut launcher = Command::new("mpiexec.openmpi");
    launcher.args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]);
    launcher.args(["--mca", "mpi_yield_when_idle", "0", "--mca", "pml", "ob1", "--mca", "btl", "self,vader"]);
    launcher.args(["-n", "2"]);
    mpi("Open MPI", &program, &mut launcher, cores)
}

/// Both ranks open one named pipe, through which rank 0 passes the orders on.
fn mpi(
    name: &str,
    program: &Path,
    launcher: &mut Command,
    cores: [usize; 2],
) -> Result<SharedPeer, BenchError> {
    let pipe: PathBuf = program.with_extension(format!("{}.pipe", std::process::id()));
    _ = std::fs::remove_file(&pipe);
    let made = Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        let reason = format!("mkfifo could not make {}", pipe.display());
        return Err(BenchError::Missing { subject: name.to_owned(), reason });
    }
    let peer = Peer::start(name, launcher.arg(program).args(cores.map(|core| core.to_string())).arg(&pipe));
    _ = std::fs::remove_file(&pipe);
    peer
}

/// iceoryx2, from crates.io.
pub fn iceoryx2(cores: [usize; 2], only_if_built: bool) -> Result<SharedPeer, BenchError> {
    packaged("iceoryx2", cores, only_if_built)
}

/// Aeron, its sources from crates.io.
pub fn aeron(cores: [usize; 2], only_if_built: bool) -> Result<SharedPeer, BenchError> {
    packaged("Aeron", cores, only_if_built)
}

/// A peer in Rust. It is a package of its own, so that the workspace does not carry its dependencies;
/// a smoke run uses it only when it was built before.
fn packaged(name: &str, cores: [usize; 2], only_if_built: bool) -> Result<SharedPeer, BenchError> {
    let package = name.to_lowercase();
    let folder = build_folder()?.join(&package);
    let program = folder.join(format!("release/leveret-bench-peer-{package}"));
    let missing = |reason: String| BenchError::Missing { subject: name.to_owned(), reason };
    if only_if_built && !program.exists() {
        return Err(missing("not built; a run without --smoke builds it".to_owned()));
    }
    if !only_if_built {
        let mut build = Command::new("cargo");
        build.args(["build", "--release", "--locked", "--quiet", "--manifest-path"]);
        build.arg(sources().join(&package).join("Cargo.toml")).arg("--target-dir").arg(&folder);
        // Where `make bench` puts it; without it the system's is taken.
        let cmake = sources().join("../../target/peers/cmake/bin/cmake");
        if cmake.is_file() {
            build.env("CMAKE", cmake);
        }
        let built = build.stdin(Stdio::null()).output();
        let built = built.map_err(|error| missing(format!("cargo does not start: {error}")))?;
        if !built.status.success() {
            let errors = String::from_utf8_lossy(&built.stderr).into_owned();
            let first = errors.lines().find(|line| line.starts_with("error")).unwrap_or("the build failed");
            return Err(missing(first.to_owned()));
        }
    }
    Peer::start(name, Command::new(program).args(cores.map(|core| core.to_string())))
}
