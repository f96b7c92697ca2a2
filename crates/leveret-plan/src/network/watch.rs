//! What others may know of a search while it goes on, and how they end it.

/// Steps between two questions: some tenths of a millisecond.
const ASKED_EVERY: u64 = 4_096;

/// Counts the steps of a search of all kinds, and asks from time to time whether it should go on.
pub(super) struct Watch<'w> {
    made: u64,
    asked: u64,
    go_on: Option<&'w mut dyn FnMut(u64) -> bool>,
    is_ended: bool,
}

impl<'w> Watch<'w> {
    /// Asks, with the steps made so far.
    pub(super) fn new(go_on: &'w mut dyn FnMut(u64) -> bool) -> Self {
        Self { made: 0, asked: 0, go_on: Some(go_on), is_ended: false }
    }

    /// Nobody wants to know.
    pub(super) fn alone() -> Self {
        Self { made: 0, asked: 0, go_on: None, is_ended: false }
    }

    /// Whether to go on after so many steps more.
    pub(super) fn goes_on(&mut self, steps: u64) -> bool {
        self.made += steps;
        if self.made - self.asked >= ASKED_EVERY && !self.is_ended {
            self.asked = self.made;
            self.is_ended = self.go_on.as_mut().is_some_and(|go_on| !go_on(self.made));
        }
        !self.is_ended
    }

    /// Whether somebody has ended the search.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// All steps so far.
    pub(super) fn made(&self) -> u64 {
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::{ASKED_EVERY, Watch};

    #[test]
    fn it_asks_seldom_and_ends_for_good() {
        let mut asked = Vec::new();
        let mut go_on = |made: u64| {
            asked.push(made);
            made < 3 * ASKED_EVERY
        };
        let mut watch = Watch::new(&mut go_on);
        let went_on: Vec<bool> = (0..5).map(|_| watch.goes_on(ASKED_EVERY - 1)).collect();
        assert_eq!(went_on, [true, true, true, false, false]);
        assert!(watch.is_ended() && watch.made() == 5 * (ASKED_EVERY - 1));
        assert_eq!(asked, [2 * (ASKED_EVERY - 1), 4 * (ASKED_EVERY - 1)]);
    }

    #[test]
    fn where_nobody_asks_it_goes_on() {
        let mut watch = Watch::alone();
        assert!(watch.goes_on(u64::MAX / 2) && !watch.is_ended());
    }
}
