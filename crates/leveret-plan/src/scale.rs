//! The least change of a number with which something fits.

/// One number that may change: from what is declared to the most.
pub(crate) struct Scale<C> {
    /// The change to a value.
    pub make: Box<dyn Fn(i64) -> C>,
    /// What is declared.
    pub now: i64,
    /// The value that helps most.
    pub most: i64,
    /// Values between which nothing is sought.
    pub step: i64,
}

impl<C: Clone + 'static> Scale<C> {
    /// A change without degrees.
    pub fn fixed(change: C) -> Self {
        Self { make: Box::new(move |_| change.clone()), now: 0, most: 1, step: 1 }
    }
}

impl<C> Scale<C> {
    /// The change nearest to what is declared with which the whole fits, to within a 32nd of it. `part` tells of what the whole does not fit
    /// without, which is quicker: the least with which that fits is where the whole is tried from on. None where even the most does not do.
    pub fn least(&self, mut part: impl FnMut(&C) -> bool, mut whole: impl FnMut(&C) -> bool) -> Option<C> {
        if !part(&(self.make)(self.most)) {
            return None;
        }
        let first = self.between(self.now, self.most, &mut part);
        let change = (self.make)(first);
        if whole(&change) {
            return Some(change);
        }
        if first == self.most || !whole(&(self.make)(self.most)) {
            return None;
        }
        // Twice as much, and again, until it fits.
        let (mut no, mut yes) = (first, self.now);
        while yes != self.most {
            yes = self.now.saturating_add((no - self.now).saturating_mul(2));
            yes = if self.most > self.now { yes.min(self.most) } else { yes.max(self.most) };
            if yes == self.most || whole(&(self.make)(yes)) {
                break;
            }
            no = yes;
        }
        Some((self.make)(self.between(no, yes, &mut whole)))
    }

    /// A value nearer to `no`, which does not fit, than `yes`, which does.
    fn between(&self, mut no: i64, mut yes: i64, fits: &mut impl FnMut(&C) -> bool) -> i64 {
        let near = |no: i64, yes: i64| (yes - no).abs() <= self.step.max((yes - self.now).abs() / 32);
        while !near(no, yes) {
            let middle = self.rounded(no + (yes - no) / 2);
            if middle == no || middle == yes {
                break;
            }
            if fits(&(self.make)(middle)) {
                yes = middle;
            } else {
                no = middle;
            }
        }
        yes
    }

    /// A value that people would write, on the side of the change.
    fn rounded(&self, value: i64) -> i64 {
        let down = value.div_euclid(self.step) * self.step;
        if self.most > self.now && down < value { down + self.step } else { down }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_found_fits_and_little_less_does_not(
            now in 0..100_000_i64, most in 0..100_000_i64, part in 0..100_000_i64, more in 0..50_000_i64,
        ) {
            let scale = Scale { make: Box::new(|value| value), now, most, step: 10 };
            let far = |value: i64| (value - now).abs();
            let whole = part + more;
            let found = scale.least(|value| far(*value) >= part, |value| far(*value) >= whole);
            prop_assert_eq!(found.is_some(), far(most) >= whole);
            if let Some(found) = found {
                prop_assert!(far(found) >= whole && far(found) <= far(most));
                prop_assert!(far(found) <= whole + (far(found) / 32).max(10) + 10, "{} for {}", far(found), whole);
            }
        }
    }
}
