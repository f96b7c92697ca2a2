//! How many files this process may have open.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Raises the limit as far as the user may, and returns it; `None` where there is none.
pub fn raise_limit() -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    if setrlimit(Resource::Nofile, limit).is_ok() { limit.maximum } else { before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_to_what_is_allowed() {
        let allowed = raise_limit();
        assert_eq!(getrlimit(Resource::Nofile).current, allowed);
        assert_eq!(raise_limit(), allowed);
    }
}
