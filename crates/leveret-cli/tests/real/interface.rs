//! The binary interface: `tests/mpirt/binary-interface-N.txt` says what programs count on that were linked to `libmpirt.so.N`.

use crate::harness::program;
use crate::header::{declared, header, is_ours, symbols, text};
use crate::suite::root;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// What the library of this number promises.
fn promised(number: u32) -> PathBuf {
    root().join(format!("tests/mpirt/binary-interface-{number}.txt"))
}

fn library() -> PathBuf {
    program().parent().expect("a program lies in a folder").join("libmpirt.so")
}

/// The number in the name by which programs find the library.
fn number() -> u32 {
    let output = Command::new("objdump").arg("-p").arg(library()).output().expect("objdump runs");
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let soname = listed.lines().find_map(|line| line.trim().strip_prefix("SONAME")).map(str::trim);
    let number = soname.and_then(|name| name.strip_prefix("libmpirt.so.")?.parse().ok());
    number.unwrap_or_else(|| panic!("the library is called {soname:?}"))
}

/// Words of ours in a text.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| is_ours(word)).map(str::to_owned).collect()
}

fn lines(interface: &str) -> impl Iterator<Item = &str> {
    interface.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// A program that compiles if the header keeps each line.
fn program_of(interface: &str) -> String {
    let mut source = String::from("#include <mpirt.h>\n");
    for line in lines(interface) {
        let (kind, rest) = line.split_once(' ').unwrap_or_else(|| panic!("'{line}' is not understood"));
        let parts: Vec<&str> = rest.split(' ').collect();
        let conditions = match (kind, &parts[..]) {
            // What is declared twice is declared alike; and what is used is declared at all.
            ("function", _) => {
                let name = rest.split('(').next().and_then(|start| start.split(' ').next_back());
                source += &format!("int (*used_{})(void) = (int (*)(void)){0};\n", name.unwrap_or_default());
                source += &format!("{rest};\n");
                continue;
            }
            ("type", [name, size, alignment]) => {
                vec![format!("sizeof({name}) == {size}"), format!("_Alignof({name}) == {alignment}")]
            }
            ("field", [structure, name, offset]) => {
                vec![format!("offsetof({structure}, {name}) == {offset}")]
            }
            ("value", [name, number]) => vec![format!("{name} == {number}")],
            _ => panic!("'{line}' is not understood"),
        };
        for condition in conditions {
            source += &format!("_Static_assert({condition}, \"{condition}\");\n");
        }
    }
    source
}

/// Whether the header and the library keep to every line; what the compiler says if not.
fn is_kept(interface: &str) -> Result<(), String> {
    let exported = symbols(&["-D", "--defined-only"], library());
    let called: BTreeSet<String> = lines(interface)
        .filter_map(|line| line.strip_prefix("function ")?.split('(').next()?.split(' ').next_back())
        .map(str::to_owned)
        .collect();
    if let Some(gone) = called.difference(&exported).next() {
        return Err(format!("{gone} is not exported any more"));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("interface.c");
    std::fs::write(&file, program_of(interface)).expect("a file");
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-Wall", "-Werror", "-Wno-cast-function-type", "-fsyntax-only", "-I"]);
    let output = command
        .arg(root().join("crates/leveret-capi/include"))
        .arg(file)
        .output()
        .expect("a C compiler runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// What programs that are linked to the library count on, line by line; an interface that is left behind was left for a reason.
// spec: LANG-INSTALL-04, LANG-HEADER-04, ERROR-NAMES-03, ERROR-RETURN-01, OBJECT-HANDLE-01
#[test]
fn the_name_of_the_library_stands_for_its_binary_interface() {
    let number = number();
    let present = text(promised(number));
    assert!(lines(&present).count() > 400, "{} lines", lines(&present).count());
    if let Err(said) = is_kept(&present) {
        panic!(
            "programs that were linked to libmpirt.so.{number} break; keep the line, or give the next major version: {said}"
        );
    }
    for former in 0..number {
        let kept = is_kept(&text(promised(former)));
        assert!(
            kept.is_err(),
            "libmpirt.so.{number} keeps all that libmpirt.so.{former} promised: keep its name"
        );
    }
    assert!(!promised(number + 1).exists(), "what libmpirt.so.{} promises is not this library's", number + 1);
}

/// Everything in the header that has a size, an offset, a number or a prototype has a line.
// spec: LANG-HEADER-04
#[test]
fn the_description_of_the_binary_interface_is_whole() {
    let interface = text(promised(number()));
    let known: BTreeSet<String> = lines(&interface).flat_map(words).collect();
    let header = text(header("mpirt.h"));
    // Function types, null handles, predefined objects and the header's own macros have neither size nor value.
    let of_types: BTreeSet<String> = header
        .lines()
        .filter_map(|line| match line.strip_prefix("typedef ") {
            Some(_) if line.contains('(') => None,
            // The type's own name, or, of one that stands for another, the last word.
            Some(kind) if line.contains('{') => kind.split(' ').nth(1),
            Some(kind) => kind.trim_end_matches(';').rsplit(' ').next(),
            // An enumerator stands alone in its line; a field follows its type.
            None => line.strip_prefix("    MPIRT").map(|_| line.trim()).filter(|line| !line.contains(' ')),
        })
        .flat_map(words)
        .collect();
    assert!(of_types.len() > 60, "{of_types:?}");
    let functions: BTreeSet<String> =
        declared().into_iter().filter(|name| name.starts_with("MPIRT")).collect();
    let missing: Vec<&String> = of_types.union(&functions).filter(|name| !known.contains(*name)).collect();
    assert!(missing.is_empty(), "{} lacks {missing:?}", promised(number()).display());
}

/// A size, an offset, a number, a parameter's type, a function that is gone.
#[test]
fn a_change_of_the_binary_interface_is_seen() {
    for line in [
        "type MPIRT_Buffer 4 8",
        "field MPIRTX_Status instance 4",
        "value MPIRT_ERR_EMPTY 28",
        "value MPIRT_ERR_GONE 1",
        "function int MPIRT_Channel_wait(MPIRT_Channel channel, int timeout)",
        "function int MPIRT_Channel_start(MPIRT_Channel channel, int times)",
        "function int MPIRT_Gone(void)",
    ] {
        assert!(is_kept(line).is_err(), "{line}");
    }
    for line in ["type MPIRT_Buffer 8 8", "function int MPIRT_Channel_start(MPIRT_Channel other)"] {
        assert_eq!(is_kept(line), Ok(()));
    }
}
