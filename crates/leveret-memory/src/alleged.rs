//! What a peer wrote is an allegation until it is validated.

/// A value read from a peer's segment. It gives out nothing until it passed a check.
#[derive(Clone, Copy)]
#[must_use = "what a peer wrote is to be checked"]
pub struct Alleged<T>(T);

impl<T> Alleged<T> {
    /// Marks `value` as read from a peer.
    #[inline(always)]
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Gives out the value when `check` accepts it.
    #[inline(always)]
    pub fn checked(self, check: impl FnOnce(&T) -> bool) -> Option<T> {
        check(&self.0).then_some(self.0)
    }

    /// Gives out the value where every value of the type is harmless: it is stored, compared or shown, and never
    /// used as an index, a length or a count of iterations.
    #[inline(always)]
    pub fn any_value(self) -> T {
        self.0
    }
}

impl<T: PartialEq> Alleged<T> {
    /// `Ok` when it is `expected`; otherwise what was found.
    #[inline(always)]
    pub fn must_be(self, expected: T) -> Result<T, T> {
        if self.0 == expected { Ok(self.0) } else { Err(self.0) }
    }
}

impl<T: PartialOrd> Alleged<T> {
    /// The value when it is at most `limit`.
    #[inline(always)]
    pub fn at_most(self, limit: T) -> Option<T> {
        self.checked(|value| *value <= limit)
    }
}
