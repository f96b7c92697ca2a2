//! `make install PREFIX=...`: the program, the C library with its header, and what finds them.
//!
//! ```text
//!   PREFIX/bin/leveret, mpirtcc, mpirtc++
//!   PREFIX/include/mpirt.h, mpirt.hpp
//!   PREFIX/lib/libmpirt.so -> libmpirt.so.0 -> libmpirt.so.0.1.0
//!   PREFIX/lib/libmpirt.a
//!   PREFIX/lib/pkgconfig/mpirt.pc
//!   PREFIX/lib/cmake/mpirt/mpirt-config.cmake, mpirt-config-version.cmake
//!   PREFIX/share/man/man1/leveret.1, and a page for each command
//!   PREFIX/share/man/man3/mpirt.3, and a page for each function
//! ```

use crate::{spec, workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where things go when nobody says.
const PREFIX: &str = "/usr/local";
const HEADERS: &str = "crates/leveret-capi/include";
/// What a static library needs beside itself. The unwinder, which is another one under `-static`, comes with the compiler.
const LIBS_PRIVATE: &str = "-lutil -lrt -lpthread -lm -ldl";

/// Builds the release, unless it was told where what it installs was built, and puts it below the prefix.
pub fn main(root: &Path, arguments: &[String]) -> Result<u8, String> {
    let Request { prefix, staged, from } = parse(arguments)?;
    let built = match from {
        Some(built) => built,
        None => build(root)?,
    };
    let place = Place { root: staged.unwrap_or_else(|| prefix.clone()) };
    put_all(root, &built, &place, &prefix)?;
    println!("installed below {}", place.root.display());
    let shown = prefix.display();
    if !prefix.starts_with("/usr") {
        println!(
            "  export PATH={shown}/bin:$PATH PKG_CONFIG_PATH={shown}/lib/pkgconfig LD_LIBRARY_PATH={shown}/lib"
        );
    }
    println!("  cc x.c $(pkg-config --cflags --libs mpirt) -o x && leveret run -n 3 ./x");
    Ok(0)
}

/// Builds the release; gives where it lies.
fn build(root: &Path) -> Result<PathBuf, String> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--profile", "dist", "--locked", "-p", "leveret-cli", "-p", "leveret-capi"])
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    if !status.success() {
        return Err("the release does not build; see above".into());
    }
    Ok(workspace::metadata(root, &["--no-deps"])?.target_directory.join("dist"))
}

fn put_all(root: &Path, built: &Path, place: &Place, prefix: &Path) -> Result<(), String> {
    let version = env!("CARGO_PKG_VERSION");
    let major = version.split('.').next().unwrap_or_default();
    let full = format!("libmpirt.so.{version}");
    place.copy(&built.join("leveret"), "bin/leveret", true)?;
    for (name, compiler) in [("mpirtcc", "MPIRT_CC:-cc"), ("mpirtc++", "MPIRT_CXX:-c++")] {
        place.script(&format!("bin/{name}"), &wrapper(&prefix.display().to_string(), compiler))?;
    }
    for header in ["mpirt.h", "mpirt.hpp"] {
        place.copy(&root.join(HEADERS).join(header), &format!("include/{header}"), false)?;
    }
    place.copy(&built.join("libmpirt.so"), &format!("lib/{full}"), true)?;
    place.link(&format!("lib/libmpirt.so.{major}"), &full)?;
    place.link("lib/libmpirt.so", &format!("libmpirt.so.{major}"))?;
    place.copy(&built.join("libmpirt.a"), "lib/libmpirt.a", false)?;
    place.write("lib/pkgconfig/mpirt.pc", &pkg_config(&prefix.display().to_string(), version))?;
    place.write("lib/cmake/mpirt/mpirt-config.cmake", CMAKE)?;
    place.write("lib/cmake/mpirt/mpirt-config-version.cmake", &cmake_version(version, major))?;
    place.pages(&built.join("leveret"))?;
    for (name, text) in spec::manual(root)? {
        place.write(&format!("share/man/man3/{name}"), &text)?;
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// Where the files will be found.
    prefix: PathBuf,
    /// Where they are put now, if that is elsewhere (packages).
    staged: Option<PathBuf>,
    /// Where they were built, if nothing is to be built now.
    from: Option<PathBuf>,
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request { prefix: PathBuf::from(PREFIX), staged: None, from: None };
    let mut destination = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value =
            || rest.next().filter(|value| !value.is_empty()).ok_or(format!("{argument} takes a folder"));
        match argument.as_str() {
            "--prefix" => request.prefix = PathBuf::from(value()?),
            "--destdir" => destination = Some(PathBuf::from(value()?)),
            "--from" => request.from = Some(PathBuf::from(value()?)),
            other => {
                return Err(format!(
                    "'{other}' is unknown; install takes --prefix DIR, --destdir DIR and --from DIR"
                ));
            }
        }
    }
    if !request.prefix.is_absolute() {
        return Err(format!("the prefix {} is not absolute; begin it with '/'", request.prefix.display()));
    }
    request.staged = destination
        .map(|destination| destination.join(request.prefix.strip_prefix("/").unwrap_or(&request.prefix)));
    Ok(request)
}

struct Place {
    root: PathBuf,
}

impl Place {
    fn make(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.root.join(name);
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(|error| {
            format!(
                "{}: {error}; choose a place that you may write: make install PREFIX=$HOME/.local",
                folder.display()
            )
        })?;
        Ok(path)
    }

    /// A running program keeps the file that it was started from: a new one takes its name.
    fn put(&self, name: &str, fill: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), String> {
        let path = self.make(name)?;
        let fresh = path.with_extension("new");
        let placed = fill(&fresh).and_then(|()| fs::rename(&fresh, &path));
        placed.map_err(|error| {
            let _ = fs::remove_file(&fresh);
            format!("{}: {error}", path.display())
        })
    }

    fn copy(&self, source: &Path, name: &str, executable: bool) -> Result<(), String> {
        use std::os::unix::fs::PermissionsExt;
        self.put(name, |fresh| {
            fs::copy(source, fresh)?;
            fs::set_permissions(fresh, fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))
        })
    }

    /// The program writes the pages of its commands itself.
    fn pages(&self, program: &Path) -> Result<(), String> {
        let folder = self.root.join("share/man/man1");
        let output = Command::new(program).arg("manual").arg(&folder).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{} manual: {}", program.display(), String::from_utf8_lossy(&output.stderr).trim_end()))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        self.put(name, |fresh| fs::write(fresh, text))
    }

    fn script(&self, name: &str, text: &str) -> Result<(), String> {
        use std::os::unix::fs::PermissionsExt;
        self.put(name, |fresh| {
            fs::write(fresh, text)?;
            fs::set_permissions(fresh, fs::Permissions::from_mode(0o755))
        })
    }

    fn link(&self, name: &str, to: &str) -> Result<(), String> {
        self.put(name, |fresh| {
            match fs::remove_file(fresh) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            std::os::unix::fs::symlink(to, fresh)
        })
    }
}

/// A compiler that finds the header and the library; the program finds the library at run time too.
fn wrapper(prefix: &str, compiler: &str) -> String {
    WRAPPER
        .replace("PREFIX", &prefix.replace('\'', "'\\''"))
        .replace("COMPILER", compiler)
        .replace("LIBS", LIBS_PRIVATE)
}

const WRAPPER: &str = "\
#!/bin/sh
# Compiles and links as the compiler that it stands for, with what a program of libmpirt needs.
#   -show    prints the command instead
#   -static  links libmpirt, and all else, statically
prefix='PREFIX'
show= static= link=yes count=$#
while [ $count -gt 0 ]; do
  argument=$1 count=$((count - 1))
  shift
  case $argument in
    -show) show=echo; continue ;;
    -static) static=yes ;;
    -c | -S | -E | -M | -MM | -fsyntax-only | --version) link= ;;
  esac
  set -- \"$@\" \"$argument\"
done
if [ -n \"$link\" ] && [ -n \"$static\" ]; then
  set -- \"$@\" \"$prefix/lib/libmpirt.a\" LIBS
elif [ -n \"$link\" ]; then
  set -- \"$@\" \"-L$prefix/lib\" \"-Wl,-rpath,$prefix/lib\" -lmpirt
fi
exec $show ${COMPILER} \"-I$prefix/include\" \"$@\"
";

fn pkg_config(prefix: &str, version: &str) -> String {
    format!(
        "prefix={prefix}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\nName: mpirt\n\
         Description: MPI/RT-style objects over Leveret\nVersion: {version}\nCflags: -I${{includedir}}\n\
         Libs: -L${{libdir}} -lmpirt\nLibs.private: {LIBS_PRIVATE}\n"
    )
}

/// A target for the shared library, and one for the static one.
const CMAKE: &str = "\
get_filename_component(_mpirt_prefix \"${CMAKE_CURRENT_LIST_DIR}/../../..\" ABSOLUTE)
if(NOT TARGET mpirt::mpirt)
  add_library(mpirt::mpirt SHARED IMPORTED)
  set_target_properties(mpirt::mpirt PROPERTIES
    IMPORTED_LOCATION \"${_mpirt_prefix}/lib/libmpirt.so\"
    INTERFACE_INCLUDE_DIRECTORIES \"${_mpirt_prefix}/include\")
endif()
if(NOT TARGET mpirt::mpirt_static)
  add_library(mpirt::mpirt_static STATIC IMPORTED)
  set_target_properties(mpirt::mpirt_static PROPERTIES
    IMPORTED_LOCATION \"${_mpirt_prefix}/lib/libmpirt.a\"
    INTERFACE_LINK_LIBRARIES \"util;rt;pthread;m;dl\"
    INTERFACE_INCLUDE_DIRECTORIES \"${_mpirt_prefix}/include\")
endif()
unset(_mpirt_prefix)
";

fn cmake_version(version: &str, major: &str) -> String {
    format!(
        "set(PACKAGE_VERSION \"{version}\")\nif(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n  \
         set(PACKAGE_VERSION_COMPATIBLE FALSE)\nelseif(PACKAGE_FIND_VERSION_MAJOR STREQUAL \"{major}\")\n  \
         set(PACKAGE_VERSION_COMPATIBLE TRUE)\nelse()\n  set(PACKAGE_VERSION_COMPATIBLE FALSE)\nendif()\n\
         if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n  set(PACKAGE_VERSION_EXACT TRUE)\nendif()\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Result<Request, String> {
        parse(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_package_is_staged_and_names_where_it_will_be() {
        let request = asked(&["--prefix", "/usr", "--destdir", "/tmp/package"]).expect("right");
        assert_eq!(request.prefix, Path::new("/usr"));
        assert_eq!(request.staged.as_deref(), Some(Path::new("/tmp/package/usr")));
        assert!(pkg_config("/usr", "1.2.3").starts_with("prefix=/usr\n"));
    }

    #[test]
    fn wrong_arguments_are_told() {
        assert!(asked(&["--prefix", "here"]).is_err_and(|error| error.contains("not absolute")));
        assert!(asked(&["--prefix", ""]).is_err_and(|error| error.contains("takes a folder")));
        assert!(asked(&["--where"]).is_err_and(|error| error.contains("unknown")));
    }

    #[test]
    fn links_and_files_replace_what_was_there() {
        let folder = std::env::temp_dir().join(format!("leveret-install-{}", std::process::id()));
        let place = Place { root: folder.clone() };
        for text in ["first", "second"] {
            place.write("lib/file", text).expect("written");
            place.link("lib/link", "file").expect("linked");
            assert_eq!(fs::read_to_string(folder.join("lib/link")).ok().as_deref(), Some(text));
        }
        let _ = fs::remove_dir_all(folder);
    }
}
