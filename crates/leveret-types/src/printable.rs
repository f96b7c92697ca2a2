//! Text of other programs, fit to be shown: nothing in it commands a terminal.

use std::fmt::Write;

/// Appends bytes as text of one line: UTF-8 and tabs stay, everything else that does not print is written as an escape such as `\x1b` or
/// `\u{9b}`.
pub fn push_printable(out: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            push(out, char);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
}

/// A text of several lines, each as [`push_printable`] writes it.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if char == '\n' { out.push(char) } else { push(&mut out, char) }
    }
    out
}

fn push(out: &mut String, char: char) {
    // A write into a string cannot fail.
    let _ = match char {
        '\t' => out.write_char(char),
        '\r' => out.write_str("\\r"),
        '\n' => out.write_str("\\n"),
        '\0'..='\x7f' if char.is_control() => write!(out, "\\x{:02x}", u32::from(char)),
        _ if char.is_control() || reorders(char) => write!(out, "\\u{{{:x}}}", u32::from(char)),
        _ => out.write_char(char),
    };
}

/// Whether it changes the order or the lines in which what follows is shown.
fn reorders(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> String {
        let mut out = String::new();
        push_printable(&mut out, bytes);
        out
    }

    #[test]
    fn text_stays_and_commands_do_not() {
        assert_eq!(shown("a\tb äöü 漢字 🦀".as_bytes()), "a\tb äöü 漢字 🦀");
        assert_eq!(shown(b"\x1b[31mred\x1b[0m\x07\x7f\0"), "\\x1b[31mred\\x1b[0m\\x07\\x7f\\x00");
        assert_eq!(shown("\u{9b}2J\u{85}\u{202e}".as_bytes()), "\\u{9b}2J\\u{85}\\u{202e}");
        // A single byte that some terminals take for the C1 command, and a character that was cut.
        assert_eq!(shown(b"\x9b2J \xf0\x9f"), "\\x9b2J \\xf0\\x9f");
        assert_eq!(shown(b"50 %\r51 %\n"), "50 %\\r51 %\\n");
        assert_eq!(printable("one\ntwo\x1b\r\n"), "one\ntwo\\x1b\\r\n");
    }

    #[test]
    fn no_byte_and_no_character_gets_through_as_a_command() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let chars: String = ('\0'..=char::MAX).collect();
        for text in [shown(&all), shown(chars.as_bytes()), printable(&chars).replace('\n', "")] {
            assert!(!text.chars().any(|char| (char.is_control() && char != '\t') || reorders(char)));
        }
    }
}
