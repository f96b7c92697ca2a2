//! What the job's cores do while nothing of it runs.

/// What the job's cores do while nothing of it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleCores {
    /// They spin if that makes wake-ups on this machine much shorter, as measured before the first plan; else they sleep.
    #[default]
    Auto,
    /// They sleep, as the kernel has it.
    Sleep,
    /// They spin, at the lowest class.
    Spin,
}

impl IdleCores {
    /// The names in a manifest and on the command line.
    pub const NAMES: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("sleep", Self::Sleep), ("spin", Self::Spin)];
}
