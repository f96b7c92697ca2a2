//! What a member prints, cut into lines that carry its name.

use leveret_types::push_printable;

/// A longer line is passed on in pieces of this size, so that no member makes the agent grow.
const LINE_BYTES_MAX: usize = 4096;

/// One stream of one member. A line is passed on once it is whole, too long, or the last.
pub(crate) struct Lines {
    name: String,
    partial: Vec<u8>,
    /// Of this line a piece was passed on already.
    is_continued: bool,
}

impl Lines {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), partial: Vec::new(), is_continued: false }
    }

    /// Appends what can be passed on now that these bytes have come.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut String) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if let Some(end) = piece.strip_suffix(b"\n") {
                self.take(end, out);
                if self.partial.ends_with(b"\r") {
                    self.partial.pop();
                }
                self.pass_on(out);
                self.is_continued = false;
            } else {
                self.take(piece, out);
            }
        }
    }

    /// Appends what is left at the end of the stream.
    pub(crate) fn finish(&mut self, out: &mut String) {
        if !self.partial.is_empty() {
            self.pass_on(out);
        }
    }

    fn take(&mut self, mut bytes: &[u8], out: &mut String) {
        while self.partial.len() + bytes.len() > LINE_BYTES_MAX {
            let (first, rest) = bytes.split_at(LINE_BYTES_MAX - self.partial.len());
            self.partial.extend_from_slice(first);
            let kept = self.partial.split_off(whole_characters(&self.partial));
            self.pass_on(out);
            self.is_continued = true;
            self.partial = kept;
            bytes = rest;
        }
        self.partial.extend_from_slice(bytes);
    }

    fn pass_on(&mut self, out: &mut String) {
        out.push('[');
        out.push_str(&self.name);
        out.push_str(if self.is_continued { "]+ " } else { "] " });
        push_printable(out, &self.partial);
        out.push('\n');
        self.partial.clear();
    }
}

/// How many of the bytes can go on without cutting a character at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    let starts = |byte: &u8| *byte & 0b1100_0000 != 0b1000_0000;
    match bytes.iter().rposition(starts) {
        // A character has four bytes at most; what is longer is none.
        Some(last) if last > 0 && bytes.len() - last < 4 && std::str::from_utf8(&bytes[last..]).is_err() => {
            last
        }
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out when the bytes arrive in pieces of this size.
    fn passed_on(bytes: &[u8], piece: usize) -> String {
        let (mut lines, mut out) = (Lines::new("A"), String::new());
        for piece in bytes.chunks(piece) {
            lines.feed(piece, &mut out);
        }
        lines.finish(&mut out);
        out
    }

    #[test]
    fn each_line_carries_the_name_however_it_arrives() {
        let bytes = "one\n\ntwo ä\r\nthe \x1b[2Jlast".as_bytes();
        for piece in 1..=bytes.len() {
            assert_eq!(
                passed_on(bytes, piece),
                "[A] one\n[A] \n[A] two ä\n[A] the \\x1b[2Jlast\n",
                "{piece}"
            );
        }
        assert_eq!(passed_on(b"", 1), "");
        assert_eq!(passed_on(b"\n", 1), "[A] \n");
    }

    #[test]
    fn a_partial_line_waits_for_its_rest() {
        let (mut lines, mut out) = (Lines::new("A"), String::new());
        lines.feed(b"half", &mut out);
        assert_eq!(out, "");
        lines.feed(b" and half\nno", &mut out);
        assert_eq!(out, "[A] half and half\n");
    }

    #[test]
    fn a_long_line_goes_on_in_pieces_and_takes_no_more_memory() {
        let bytes = "ä".repeat(LINE_BYTES_MAX * 5);
        for piece in [1, 1000, LINE_BYTES_MAX, bytes.len()] {
            let out = passed_on(format!("x{bytes}\nnext").as_bytes(), piece);
            let lines: Vec<&str> = out.lines().collect();
            assert_eq!(lines.len(), 12, "{piece}");
            assert!(lines[0].starts_with("[A] x") && lines[11] == "[A] next", "{piece}");
            assert!(lines[1..11].iter().all(|line| line.starts_with("[A]+ ä")), "{piece}");
            let text: String =
                lines[..11].iter().map(|line| line.split_once(' ').map_or("", |(_, text)| text)).collect();
            assert_eq!(text, format!("x{bytes}"), "{piece}");
        }
        let (mut lines, mut out) = (Lines::new("A"), String::new());
        lines.feed(&[0x80; 100_000], &mut out);
        assert!(lines.partial.capacity() <= 2 * LINE_BYTES_MAX);
    }
}
