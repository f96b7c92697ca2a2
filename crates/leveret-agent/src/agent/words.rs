//! Words of members that are passed on to others and to the user: not too many, and none that commands a terminal.

use leveret_protocol::control::FromMember;
use leveret_protocol::declaration::{MemberDeclarations, Unfit};
use leveret_protocol::mode::ModeRequest;
use leveret_types::{printable, push_printable};

/// Longest quotation of a peer's text: longer than a name, and than an error about a well-formed message.
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

/// Truncates a member's label and failure reason, which are sent to all other members.
pub(super) fn bound(message: &mut FromMember) {
    match message {
        FromMember::Declare { declarations, .. } | FromMember::DeclareGroup { declarations, .. } => {
            of_declarations(declarations);
        }
        FromMember::Mode(ModeRequest::Declare { name, declarations, .. }) => {
            *name = cut(name);
            of_declarations(declarations);
        }
        FromMember::Withdraw { unfit, .. } => of_unfit(unfit),
        _ => {}
    }
}

fn of_declarations(declarations: &mut MemberDeclarations) {
    declarations.label = cut(&declarations.label);
    declarations.unfit.iter_mut().for_each(of_unfit);
}

/// One sentence a line.
fn of_unfit(unfit: &mut Unfit) {
    unfit.reason = cut_at(&printable(&cut_at(&unfit.reason, OWN_WORDS_CHARS_MAX)), OWN_WORDS_CHARS_MAX);
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_types::Generation;

    #[test]
    fn however_much_a_member_says_others_are_told_little() {
        let text = || "\u{1b}[2J".repeat(1_000_000);
        let unfit = || Unfit { code: 7, reason: text() };
        let declarations =
            || MemberDeclarations { label: text(), unfit: Some(unfit()), ..MemberDeclarations::default() };
        let generation = Generation(1);
        let messages = [
            FromMember::Declare { attempt: 0, declarations: declarations() },
            FromMember::DeclareGroup { members: Vec::new(), declarations: declarations() },
            FromMember::Mode(ModeRequest::Declare {
                beside: generation,
                attempt: 0,
                name: text(),
                declarations: Box::new(declarations()),
            }),
            FromMember::Withdraw { generation, unfit: unfit() },
        ];
        for mut message in messages {
            bound(&mut message);
            let bytes = leveret_protocol::control::encode(&message);
            assert!(bytes.len() < 10_000, "{} B", bytes.len());
        }
        let mut short = FromMember::Withdraw {
            generation,
            unfit: Unfit { code: 7, reason: "out of memory\nin a thread".to_owned() },
        };
        let before = short.clone();
        bound(&mut short);
        assert_eq!(short, before);
        assert_eq!(own_words("a\u{1b}b"), "a\\x1bb");
    }
}
