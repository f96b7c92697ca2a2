//! What `main` prints of an error that it returns.
//!
//! `fn main() -> Result<(), JoinError>` prints the error by `Debug`. The derived form (`NotAMember("LEVERET_SOCKET")`)
//! tells a user nothing, so `Debug` of the errors that end up there is the sentence of `Display`, remedy included.

use crate::{CommitError, DeclarationError, JoinError, SendRefusal, StartError, WaitError};
use std::fmt;

macro_rules! debug_is_display {
    ($($error:ty),*) => {$(
        impl fmt::Debug for $error {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, out)
            }
        }
    )*};
}

debug_is_display!(JoinError, CommitError, DeclarationError, SendRefusal, StartError, WaitError);

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_protocol::control::RefusalCause;

    #[test]
    fn what_main_returns_is_readable() {
        let join = JoinError::NotAMember("LEVERET_SOCKET");
        assert!(format!("{join:?}").ends_with("start it with `leveret run JOB.toml`"), "{join:?}");
        let (cause, mismatches) = (RefusalCause::Unfit, Vec::new());
        let refused = CommitError::Refused { reason: "none".to_owned(), cause, mismatches };
        assert_eq!(format!("{refused:?}"), "the commit was refused; `leveret run` says why");
        let boxed: Box<dyn std::error::Error> = Box::new(StartError::TooLong { length: 9, most: 8 });
        assert!(format!("{boxed:?}").ends_with("declare a larger size"), "{boxed:?}");
        for error in [&WaitError::TimedOut as &dyn std::error::Error, &SendRefusal::AlreadySent] {
            assert_eq!(format!("{error:?}"), error.to_string());
        }
    }
}
