//! No input makes the reader panic, and every error has a place inside the input.

use leveret_manifest::{ManifestError, parse, parse_bytes};
use proptest::prelude::*;

const RING: &str = include_str!("../../../examples/ring/job.toml");

/// Pieces from which a manifest could be made, and some from which it could not.
const PIECES: [&str; 44] = [
    "[job]\n",
    "[host]\n",
    "[[member]]\n",
    "[[task]]\n",
    "[[channel]]\n",
    "[task]\n",
    "[[job]]\n",
    "name = ",
    "member = ",
    "period = ",
    "window = ",
    "budget = ",
    "reads = ",
    "writes = ",
    "source = ",
    "target = ",
    "size = ",
    "cores = ",
    "guard = ",
    "rounds = ",
    "duration = ",
    "core = ",
    "command = ",
    "environment = ",
    "qos = ",
    "perid = ",
    "\"A\"\n",
    "\"5ms\"\n",
    "\"\"\n",
    "5\n",
    "-1\n",
    "1e400\n",
    "9223372036854775808\n",
    "[\"0us\", \"75us\"]\n",
    "[\"75us\", \"0us\"]\n",
    "[0, 1]\n",
    "[]\n",
    "{ A = \"b\" }\n",
    "true\n",
    "1979-05-27\n",
    "\"ü\u{1b}\"\n",
    "[[",
    "\"",
    "= \n",
];

fn check(errors: &[ManifestError], text: &str) {
    assert!(!errors.is_empty());
    let lines = text.matches('\n').count() + 1;
    for error in errors {
        assert!(error.line >= 1 && error.line <= lines, "{error}");
        assert!(error.column >= 1 && !error.message.is_empty() && !error.hint.is_empty());
        let shown = error.to_string();
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
        assert!(shown.contains('^'));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Err(errors) = parse_bytes(&bytes, "p") {
            prop_assert!(!errors.is_empty());
            let _ = errors.iter().map(ToString::to_string).collect::<Vec<_>>();
        }
    }

    #[test]
    fn any_text(text in ".{0,120}") {
        if let Err(errors) = parse(&text, "p") {
            check(&errors, &text);
        }
    }

    #[test]
    fn any_order_of_pieces(order in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = order.iter().map(|place| PIECES[*place]).collect();
        if let Err(errors) = parse(&text, "p") {
            check(&errors, &text);
        }
    }

    #[test]
    fn a_good_manifest_with_a_piece_cut_out_or_put_in(
        cut in 0..RING.len(), length in 0_usize..60, piece in 0..PIECES.len(), put in any::<bool>(),
    ) {
        let start = RING.floor_char_boundary(cut);
        let end = RING.ceil_char_boundary((start + length).min(RING.len()));
        let middle = if put { PIECES[piece] } else { "" };
        let text = format!("{}{middle}{}", &RING[..start], &RING[end..]);
        if let Err(errors) = parse(&text, "p") {
            check(&errors, &text);
        }
    }
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let text = format!("a = {}", "[".repeat(100_000));
    check(&parse(&text, "p").unwrap_err(), &text);
}

/// Each of these made some reader slow or big once: the work must stay within a small multiple of the input.
#[test]
fn the_largest_inputs_are_refused_with_a_bounded_number_of_errors() {
    let size = leveret_manifest::MANIFEST_BYTES_MAX / 4;
    let head = "[job]\nname = \"j\"\n[[member]]\nname = \"A\"\ncommand = [\"a\"]\n";
    let line =
        |piece: &str| format!("{head}[host]\ncores = [{}]\n", piece.repeat((size - 100) / piece.len()));
    let tasks: String =
        (0..4096).map(|k| format!("[[task]]\nname=\"T{k}\"\nmember=\"B{k}\"\nreads=[\"D{k}x\"]\n")).collect();
    let channels: String =
        (0..4096).map(|k| format!("[[channel]]\nname=\"CH{k}\"\nsource=\"C{k}\"\n")).collect();
    let texts = [
        line("0, "),
        line("\"x\", "),
        line("[0], "),
        format!("{head}[host]\ncores=[0]\n{tasks}{channels}"),
        "a\n".repeat(size / 2),
        "a=[\n".repeat(size / 4),
        "[[task]]\n".repeat(size / 9),
        format!("{head}[[task]]\nname = \"T\"\nreads = [{}]\n", "\"A\", ".repeat(size / 5 - 100)),
    ];
    for text in texts {
        let errors = parse(&text, "p").unwrap_err();
        check(&errors, &text);
        assert!(errors.len() <= leveret_manifest::ERRORS_MAX + 1);
    }
    let text = " ".repeat(leveret_manifest::MANIFEST_BYTES_MAX + 1);
    assert!(parse(&text, "p").unwrap_err()[0].message.contains("the most is"));
}

#[test]
fn many_equal_errors_are_all_reported_in_the_order_of_the_file() {
    let text = format!("[job]\n{}", (0..500).map(|key| format!("wrong{key} = 1\n")).collect::<String>());
    let errors = parse(&text, "p").unwrap_err();
    let unknown: Vec<_> = errors.iter().filter(|error| error.message.contains("unknown key")).collect();
    assert_eq!(unknown.len(), 500);
    assert!(unknown.is_sorted_by_key(|error| error.line));
}

#[test]
fn line_ends_of_other_systems_change_neither_the_reading_nor_the_messages() {
    let foreign = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(parse(&foreign(RING), "p").unwrap(), parse(RING, "p").unwrap());
    let broken = RING.replace("period", "perid");
    assert_eq!(parse(&foreign(&broken), "p").unwrap_err(), parse(&broken, "p").unwrap_err());
}

#[test]
fn a_program_is_told_from_a_manifest() {
    let errors = parse_bytes(b"\x7fELF\x02\x01\x01\0 and more", "pipeline").unwrap_err();
    let said = errors.iter().map(ToString::to_string).collect::<String>();
    assert!(said.contains("this is a program") && said.contains("leveret run -n N PROGRAM"), "{said}");
    assert!(!said.contains("ELF"), "{said}");
}
