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
    /// Values to be tried on the whole, where `fits` tells of a part of it: the one nearest to what is declared with which the part
    /// fits, to within a 32nd of the change; the same change twice; the most. None where the part does not fit even with that.
    pub fn candidates(&self, mut fits: impl FnMut(&C) -> bool) -> Vec<i64> {
        if !fits(&(self.make)(self.most)) {
            return Vec::new();
        }
        // Between what does not fit and what does.
        let (mut no, mut yes) = (self.now, self.most);
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
        let double = self.now + (yes - self.now).saturating_mul(2);
        let double = if self.most > self.now { double.min(self.most) } else { double.max(self.most) };
        let mut values = vec![yes, double, self.most];
        values.dedup();
        values
    }

    /// A value that people would write, on the side of the change.
    fn rounded(&self, value: i64) -> i64 {
        let down = value.div_euclid(self.step) * self.step;
        if self.most > self.now && down < value { down + self.step } else { down }
    }
}
