//! How much a refusal may do for its explanation.

/// Steps that an explanation may take, counted in instances and gaps looked at, so that its answer does not depend on the machine.
/// A search that ends at its bound says so in the refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExplainBudget {
    /// For the smallest set that conflicts.
    pub conflict: u64,
    /// For changes that would fit.
    pub changes: u64,
}

impl ExplainBudget {
    /// For an answer that nobody will read: what is suspected, and no change.
    pub const NONE: Self = Self { conflict: 0, changes: 0 };
}

impl Default for ExplainBudget {
    fn default() -> Self {
        Self { conflict: 20_000_000, changes: 30_000_000 }
    }
}
