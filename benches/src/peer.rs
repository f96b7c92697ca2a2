//! Children that take orders, and how the foreign ones are built.

use crate::BenchError;
use crate::harness::Measured;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Nothing that is asked of a child takes longer than this beyond the round itself.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running child. It sleeps between rounds.
pub struct Peer {
    /// What it said it is.
    pub version: String,
    name: String,
    process: Child,
    orders: Option<ChildStdin>,
    answers: Receiver<String>,
}

/// Several cases may use one child, never at the same time.
pub type SharedPeer = Rc<RefCell<Peer>>;

impl Peer {
    /// Starts a child and waits until it is ready.
    pub fn start(name: &str, command: &mut Command) -> Result<SharedPeer, BenchError> {
        let missing = |reason: String| BenchError::Missing { subject: name.to_owned(), reason };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| {
            missing(format!("{} does not start: {error}", command.get_program().display()))
        })?;
        let (sender, answers) = channel();
        let output = process.stdout.take();
        let errors = process.stderr.take();
        std::thread::spawn(move || {
            let lines =
                output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok));
            lines.for_each(|line| _ = sender.send(line));
            let mut last =
                errors.into_iter().flat_map(|errors| BufReader::new(errors).lines().map_while(Result::ok));
            if let Some(line) = last.find(|line| !line.trim().is_empty() && !line.starts_with("---")) {
                _ = sender.send(format!("error {line}"));
            }
        });
        let orders = process.stdin.take();
        let mut peer = Self { version: String::new(), name: name.to_owned(), process, orders, answers };
        let line = peer.answer(Duration::ZERO)?;
        match line.strip_prefix("ready ") {
            Some(version) => peer.version = version.split_whitespace().collect::<Vec<_>>().join(" "),
            None => return Err(missing(line)),
        }
        Ok(Rc::new(RefCell::new(peer)))
    }

    /// Runs one round.
    pub fn round(&mut self, kind: &str, size: usize, duration: Duration) -> Result<Measured, BenchError> {
        self.order(kind, size, duration)?;
        let line = self.answer(duration)?;
        Measured::parse(&line).ok_or_else(|| BenchError::Round { subject: self.name.clone(), reason: line })
    }

    /// Asks for a round.
    pub fn order(&mut self, kind: &str, size: usize, duration: Duration) -> Result<(), BenchError> {
        let order = format!("go {kind} {size} {}\n", duration.as_millis().max(1));
        let written = match self.orders.as_mut() {
            Some(orders) => orders.write_all(order.as_bytes()).map_err(|error| error.to_string()),
            None => Err("takes no orders".to_owned()),
        };
        written.map_err(|error| {
            // A child that is gone may have said why.
            let said = self.answers.recv_timeout(PATIENCE).ok();
            let reason = said.map_or(error.clone(), |said| format!("{error}; {said}"));
            BenchError::Round { subject: self.name.clone(), reason }
        })
    }

    /// The next line of a round that takes so long.
    pub fn answer(&mut self, duration: Duration) -> Result<String, BenchError> {
        let patience = PATIENCE + duration;
        self.answers.recv_timeout(patience).map_err(|_| BenchError::Missing {
            subject: self.name.clone(),
            reason: format!("no answer within {} s", patience.as_secs()),
        })
    }
}

impl Drop for Peer {
    /// The end of its input ends a child; one that does not listen is ended.
    fn drop(&mut self) {
        self.orders = None;
        for _ in 0..200 {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Where the foreign children's sources lie.
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// Where the foreign children are built: beside this program.
pub fn build_folder() -> Result<PathBuf, BenchError> {
    let program = std::env::current_exe()?;
    let folder = program.parent().unwrap_or(Path::new(".")).join("peers");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Compiles a child written in C; the name of the result carries the compiler's.
pub fn compile(compiler: &str, source: &str) -> Result<PathBuf, BenchError> {
    compile_with(compiler, &sources().join(source), &[])
}

/// Compiles a program over `mpirt.h`, against the library that was built with this program.
pub fn compile_mpirt(compiler: &str, source: &str) -> Result<PathBuf, BenchError> {
    let folder = build_folder()?;
    let library = folder.with_file_name("libmpirt.so");
    if !library.is_file() {
        let reason =
            format!("{} is not built; cargo build --profile dist -p leveret-capi", library.display());
        return Err(BenchError::Missing { subject: "libmpirt".to_owned(), reason });
    }
    // Programs look for it by its name with the major version, as it would be installed.
    let named = folder.join(concat!("libmpirt.so.", env!("CARGO_PKG_VERSION_MAJOR")));
    // Benchmarks run side by side in tests: what one makes appears at once for the others.
    let made = folder.join(format!("libmpirt.so.{}", std::process::id()));
    _ = std::fs::remove_file(&made);
    std::os::unix::fs::symlink(&library, &made)?;
    std::fs::rename(&made, &named)?;
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = match source.contains('/') {
        true => workspace.join(source),
        false => sources().join(source),
    };
    let include = format!("-I{}", workspace.join("crates/leveret-capi/include").display());
    let place = library.parent().unwrap_or(Path::new(".")).display().to_string();
    let run_path = format!("-Wl,-rpath,{}", folder.display());
    compile_with(compiler, &path, &[&include, "-L", &place, "-lmpirt", &run_path])
}

fn compile_with(compiler: &str, source: &Path, further: &[&str]) -> Result<PathBuf, BenchError> {
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let target = build_folder()?.join(format!("{name}-{compiler}"));
    let missing = |reason: String| BenchError::Missing { subject: format!("{name}.c ({compiler})"), reason };
    let made = target.with_extension(std::process::id().to_string());
    let output = Command::new(compiler)
        .args(["-O3", "-Wall", "-o"])
        .arg(&made)
        .arg(source)
        .args(further)
        .output()
        .map_err(|error| missing(format!("{compiler} does not start: {error}")))?;
    if output.status.success() {
        std::fs::rename(&made, &target)?;
        return Ok(target);
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(missing(errors.lines().next().unwrap_or("the compiler failed").to_owned()))
}
