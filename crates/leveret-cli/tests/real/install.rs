//! What `make install` leaves serves a program in C and one in C++, by pkg-config and by CMake.

use crate::harness::{Workplace, program, turn};
use crate::suite::root;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command that must succeed; gives its output.
fn must(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn is_there(name: &str) -> bool {
    let is_there = Command::new(name).arg("--version").output().is_ok();
    if !is_there {
        println!("SKIPPED: {name} is not installed, so what is installed was not tried with it");
    }
    is_there
}

/// Installs what the tests run with. Everything lies below the folder that is given back, and nothing elsewhere.
fn installed(place: &Workplace) -> PathBuf {
    let built = program().parent().expect("a program lies in a folder");
    let prefix = place.path("prefix");
    let mut install = Command::new(built.join("xtask"));
    install.arg("install").arg("--prefix").arg(&prefix).arg("--from").arg(built).current_dir(root());
    must(&mut install);
    prefix
}

fn files(folder: &Path) -> Vec<String> {
    let listed = must(Command::new("find").arg(".").args(["-not", "-type", "d"]).current_dir(folder));
    let mut files: Vec<String> =
        listed.lines().map(|line| line.trim_start_matches("./").to_owned()).collect();
    files.sort();
    files
}

/// Makes every file system read-only to what follows, but for the folder that is its first argument, in a mount namespace of its own.
const READ_ONLY_BUT: &str = "set -e; mount --bind \"$1\" \"$1\"
    for place in $(findmnt -rno TARGET -t ext2,ext3,ext4,xfs,btrfs,overlay,tmpfs,9p,virtiofs); do
        [ \"$place\" = \"$1\" ] || mount -o remount,bind,ro \"$place\"
    done
    if touch \"$2\" 2>/dev/null; then echo \"$2 can be written\" >&2; exit 9; fi
    shift 2; exec \"$@\"";

/// Nothing but the prefix can be written, and it installs.
// spec: LANG-INSTALL-01
#[test]
fn it_installs_where_nothing_but_the_prefix_can_be_written() {
    let place = Workplace::new();
    let (prefix, outside) = (place.path("prefix"), place.path("outside"));
    std::fs::create_dir(&prefix).expect("a folder");
    if !Command::new("unshare").args(["-m", "true"]).output().is_ok_and(|output| output.status.success()) {
        println!(
            "SKIPPED: no mount namespace for this user, so it was not tried whether it writes elsewhere"
        );
        return;
    }
    let built = program().parent().expect("a program lies in a folder");
    let mut install = Command::new("unshare");
    install.args(["-m", "sh", "-c", READ_ONLY_BUT, "sh"]).arg(&prefix).arg(&outside).arg(built.join("xtask"));
    install.arg("install").arg("--prefix").arg(&prefix).arg("--from").arg(built).current_dir(root());
    must(&mut install);
    assert!(!outside.exists());
    assert_eq!(files(&prefix), files(&installed(&Workplace::new())));
}

// spec: LANG-INSTALL-01
#[test]
fn everything_lies_below_the_prefix() {
    let place = Workplace::new();
    let prefix = installed(&place);
    let version = env!("CARGO_PKG_VERSION");
    let major = version.split('.').next().expect("a version");
    let found = files(&prefix);
    let pages: Vec<&String> = found.iter().filter(|name| name.starts_with("share/man/man3/")).collect();
    let others: Vec<&str> =
        found.iter().map(String::as_str).filter(|name| !name.starts_with("share/man/")).collect();
    let mut expected = vec![
        "bin/leveret".to_owned(),
        "bin/mpirtc++".into(),
        "bin/mpirtcc".into(),
        "include/mpirt.h".into(),
        "include/mpirt.hpp".into(),
        "lib/cmake/mpirt/mpirt-config-version.cmake".into(),
        "lib/cmake/mpirt/mpirt-config.cmake".into(),
        "lib/libmpirt.a".into(),
        "lib/libmpirt.so".into(),
        format!("lib/libmpirt.so.{major}"),
        format!("lib/libmpirt.so.{version}"),
        "lib/pkgconfig/mpirt.pc".into(),
    ];
    expected.sort();
    assert_eq!(others, expected);
    // A page for each function, one for each alias, the overview, and types with constants.
    let header = std::fs::read_to_string(prefix.join("include/mpirt.h")).expect("the header");
    let functions = header.lines().filter(|line| line.starts_with("int ")).count();
    let aliases = header.split("--- Spellings").nth(1).expect("the aliases").lines();
    let aliases = aliases.filter(|line| line.starts_with("#define "));
    assert_eq!(pages.len(), functions + aliases.count() + 2);
    // A package is put elsewhere first, and finds itself where it will be.
    let built = program().parent().expect("a program lies in a folder");
    let mut staged = Command::new(built.join("xtask"));
    staged.args(["install", "--prefix", "/opt/leveret", "--from"]).arg(built);
    must(staged.arg("--destdir").arg(place.path("stage")).current_dir(root()));
    assert_eq!(files(&place.path("stage/opt/leveret")), found);
    let package =
        std::fs::read_to_string(place.path("stage/opt/leveret/lib/pkgconfig/mpirt.pc")).expect("it");
    assert!(package.starts_with("prefix=/opt/leveret\n"), "{package}");
    // `make` hands on where to.
    if is_there("make") {
        let said =
            must(Command::new("make").args(["-n", "install", "PREFIX=/opt/somewhere"]).current_dir(root()));
        assert!(said.contains("install --prefix \"/opt/somewhere\""), "{said}");
    }
}

#[test]
fn manual_pages_are_without_a_fault() {
    let place = Workplace::new();
    let manual = installed(&place).join("share/man");
    let folder = manual.join("man3");
    let commit = std::fs::read_to_string(folder.join("MPIRT_Commit.3")).expect("the page");
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS", "EXAMPLES", "SEE ALSO"] {
        assert!(commit.contains(&format!(".SH {section}\n")), "{section} is missing");
    }
    let constants = std::fs::read_to_string(folder.join("mpirt_constants.3")).expect("the page");
    let header =
        std::fs::read_to_string(root().join("crates/leveret-capi/include/mpirt.h")).expect("the header");
    let types = header.lines().skip_while(|line| !line.contains("--- Types ---"));
    for line in types.take_while(|line| !line.contains("--- Spellings")) {
        let name = line.strip_prefix("#define ").and_then(|rest| rest.split_whitespace().next());
        let Some(name) = name else { continue };
        assert!(constants.contains(name), "{name} is not on the page of constants");
    }
    for (name, means) in [
        ("MPIRT_BUFITER_FIFO_MAPPED", "uses the i\\-th at the other end"),
        ("MPIRTX_OUTCOME_PAUSED", "the other end took no part"),
        ("start_lateness", "from the planned start to the actual one"),
    ] {
        let said = constants.split_once(&format!(".TP\n.B {name}\n")).map(|(_, rest)| rest);
        assert!(
            said.is_some_and(|said| said.lines().next().is_some_and(|line| line.contains(means))),
            "{name}"
        );
    }
    let run = std::fs::read_to_string(manual.join("man1/leveret-run.1")).expect("the page of a command");
    assert!(run.contains("rounds") && run.contains(".SH \"EXIT STATUS\""), "{run}");
    if is_there("groff") {
        for page in files(&manual) {
            let mut groff = Command::new("groff");
            let output = groff
                .args(["-man", "-Tascii", "-ww"])
                .arg(manual.join(&page))
                .current_dir(&manual)
                .output()
                .expect("groff");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && said.is_empty(), "{page}: {said}");
        }
    }
    if is_there("man") {
        let mut man = Command::new("man");
        man.arg("-M").arg(&manual).args(["3", "MPIRT_Commit"]).env("MANPAGER", "cat");
        assert!(must(&mut man).contains("MPIRT_ERR_ADMISSION"));
    }
}

/// Compiles an example as a user would, with what pkg-config says.
fn by_pkg_config(prefix: &Path, compiler: &[&str], source: &str, target: &Path) {
    let folder = prefix.join("lib/pkgconfig");
    let flags =
        must(Command::new("pkg-config").args(["--cflags", "--libs", "mpirt"]).env("PKG_CONFIG_PATH", folder));
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).arg(root().join(source)).args(flags.split_whitespace());
    must(command.arg("-o").arg(target));
}

/// Runs a farm under the installed `leveret`, and looks at what it says.
fn farms(place: &Workplace, prefix: &Path, program: &Path) {
    farms_with(place, prefix, program, Some(prefix.join("lib")));
}

/// The same, where nobody says where the library is.
fn farms_without_help(place: &Workplace, prefix: &Path, program: &Path) {
    farms_with(place, prefix, program, None);
}

fn farms_with(place: &Workplace, prefix: &Path, program: &Path, libraries: Option<PathBuf>) {
    let mut command = Command::new(prefix.join("bin/leveret"));
    command.args(["run", "-n", "3", "--output"]).arg(place.path("out")).arg(program);
    command.env_remove("LD_LIBRARY_PATH").envs(libraries.map(|place| ("LD_LIBRARY_PATH", place)));
    let outcome = place.spawn(command).finish_alone();
    assert_eq!(outcome.code, Some(0), "{}", outcome.said());
    assert!(outcome.stdout.contains("farmer: 12 squared is 144"), "{}", outcome.said());
}

// spec: LANG-INSTALL-02
#[test]
fn programs_compile_by_pkg_config_and_run() {
    if !is_there("pkg-config") {
        return;
    }
    let _turn = turn();
    let place = Workplace::new();
    let prefix = installed(&place);
    for (compiler, source) in
        [(&["cc"][..], "examples/farm/farm.c"), (&["c++", "-std=c++17"], "examples/farm/farm.cpp")]
    {
        if is_there(compiler[0]) {
            let program = place.path("program");
            by_pkg_config(&prefix, compiler, source, &program);
            farms(&place, &prefix, &program);
        }
    }
}

/// Runs a compiler of ours on an example.
fn by_wrapper(prefix: &Path, compiler: &str, arguments: &[&str], (source, target): (&str, &Path)) -> String {
    let mut command = Command::new(prefix.join("bin").join(compiler));
    must(command.args(arguments).arg(root().join(source)).arg("-o").arg(target))
}

/// Nothing but the compiler's name is needed, neither to build nor to run.
// spec: LANG-INSTALL-05
#[test]
fn compilers_of_ours_need_no_flags() {
    let _turn = turn();
    let place = Workplace::new();
    let prefix = installed(&place);
    for (compiler, options, source) in [
        ("mpirtcc", &[][..], "examples/farm/farm.c"),
        ("mpirtc++", &["-std=c++17"], "examples/farm/farm.cpp"),
    ] {
        let (program, object) = (place.path("program"), place.path("object.o"));
        by_wrapper(&prefix, compiler, options, (source, &program));
        farms_without_help(&place, &prefix, &program);
        by_wrapper(&prefix, compiler, &[options, &["-c", "-Werror"]].concat(), (source, &object));
        assert!(object.is_file());
        let shown = by_wrapper(&prefix, compiler, &["-show"], (source, Path::new("x y")));
        assert!(shown.ends_with(&format!("-Wl,-rpath,{}/lib -lmpirt\n", prefix.display())), "{shown}");
        assert!(
            shown.contains(&format!("-I{}/include", prefix.display())) && !shown.contains("-show"),
            "{shown}"
        );
    }
    // Another compiler, and what it says of a wrong program is its own.
    let mut command = Command::new(prefix.join("bin/mpirtcc"));
    let output = command.arg("no-such-file.c").env("MPIRT_CC", "cc -DX").output().expect("it starts");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-file.c"));
}

/// With `-static` nothing is looked for at run time, by the compilers of ours and by pkg-config.
// spec: LANG-INSTALL-06
#[test]
fn a_static_program_needs_no_library() {
    let _turn = turn();
    let place = Workplace::new();
    let prefix = installed(&place);
    let program = place.path("program");
    let needs_nothing = |program: &Path| {
        let listed = must(Command::new("objdump").arg("-p").arg(program));
        assert!(!listed.contains("NEEDED") && !listed.contains("INTERP"), "{listed}");
    };
    for (compiler, options, source) in [
        ("mpirtcc", &["-static"][..], "examples/farm/farm.c"),
        ("mpirtc++", &["-static", "-std=c++17"], "examples/farm/farm.cpp"),
    ] {
        by_wrapper(&prefix, compiler, options, (source, &program));
        needs_nothing(&program);
        farms_without_help(&place, &prefix, &program);
    }
    if is_there("pkg-config") {
        let flags = must(
            Command::new("pkg-config")
                .args(["--static", "--cflags", "--libs", "mpirt"])
                .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")),
        );
        let mut command = Command::new("cc");
        command.arg("-static").arg(root().join("examples/farm/farm.c")).args(flags.split_whitespace());
        must(command.arg("-o").arg(&program));
        needs_nothing(&program);
        farms_without_help(&place, &prefix, &program);
    }
}

const PROJECT: &str = "\
cmake_minimum_required(VERSION 3.13)
project(farm C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(mpirt REQUIRED)
add_executable(shared-c ${EXAMPLES}/farm/farm.c)
target_link_libraries(shared-c mpirt::mpirt)
add_executable(shared-cpp ${EXAMPLES}/farm/farm.cpp)
target_link_libraries(shared-cpp mpirt::mpirt)
add_executable(static-c ${EXAMPLES}/farm/farm.c)
target_link_libraries(static-c mpirt::mpirt_static)
";

// spec: LANG-INSTALL-03
#[test]
fn a_cmake_project_finds_the_package() {
    if !is_there("cmake") || !is_there("c++") {
        return;
    }
    let _turn = turn();
    let place = Workplace::new();
    let prefix = installed(&place);
    let (source, build) = (place.path("project"), place.path("build"));
    std::fs::create_dir(&source).expect("a folder");
    std::fs::write(source.join("CMakeLists.txt"), PROJECT).expect("a file");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&source).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    let examples = root().join("examples").canonicalize().expect("the examples");
    must(configure.arg(format!("-DEXAMPLES={}", examples.display())));
    must(Command::new("cmake").arg("--build").arg(&build));
    for name in ["shared-c", "shared-cpp", "static-c"] {
        farms(&place, &prefix, &build.join(name));
        let listed = must(Command::new("objdump").arg("-p").arg(build.join(name)));
        assert_eq!(listed.contains("libmpirt.so"), name != "static-c", "{name}: {listed}");
    }
}

/// A program finds the library by its name with the major version, and none of another version.
#[test]
fn the_name_that_programs_keep_has_the_major_version() {
    let library = program().parent().expect("a program lies in a folder").join("libmpirt.so");
    let listed = must(Command::new("objdump").arg("-p").arg(library));
    let major = env!("CARGO_PKG_VERSION_MAJOR");
    let soname = listed.lines().find_map(|line| line.trim().strip_prefix("SONAME")).map(str::trim);
    assert_eq!(soname, Some(format!("libmpirt.so.{major}").as_str()));
}
