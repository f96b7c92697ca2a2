//! Words of members that are passed on to others and to the user: not too many, and none that commands a terminal.

use leveret_types::push_printable;

/// Of what a peer wrote, this much is repeated: more than a name has, and than an error about a proper message.
const REPEATED_CHARS_MAX: usize = 200;
/// Of what a member says of its own failure, or of the job's, at most so much: the cause often stands in the last line.
const OWN_WORDS_CHARS_MAX: usize = 1024;

/// A text with a peer's words in it, short enough to be passed on.
pub(super) fn cut(text: &str) -> String {
    cut_at(text, REPEATED_CHARS_MAX)
}

fn cut_at(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// What a member says of a failure, without control characters.
pub(super) fn own_words(text: &str) -> String {
    let mut shown = String::new();
    push_printable(&mut shown, cut_at(text, OWN_WORDS_CHARS_MAX).as_bytes());
    cut_at(&shown, OWN_WORDS_CHARS_MAX)
}
