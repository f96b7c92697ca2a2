//! What is known of one iterator without a look at it: which buffers are in it, and which may leave next.

use leveret_runtime::objects::Code;

/// The order of removal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    Fifo,
    Lifo,
    Sorted,
    Unordered,
}

impl Base {
    /// In the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Fifo, Self::Lifo, Self::Sorted, Self::Unordered];
}

/// How a buffer suits an iterator by its size and type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    Right,
    OtherSize,
    OtherDataspec,
}

/// A buffer is a number of the oracle's.
#[derive(Clone, Debug)]
pub struct Store {
    base: Base,
    /// Inserted in the order of the allowed set.
    is_ordered: bool,
    /// Null: any of the right shape.
    allowed: Option<Vec<usize>>,
    /// With their labels, in the order of insertion.
    inside: Vec<(usize, i64)>,
    /// Which place of the allowed set is due.
    due: usize,
}

impl Store {
    pub fn new(base: Base, is_ordered: bool, allowed: Option<Vec<usize>>) -> Self {
        Self { base, is_ordered, allowed, inside: Vec::new(), due: 0 }
    }

    pub fn len(&self) -> usize {
        self.inside.len()
    }

    pub fn has(&self, buffer: usize) -> bool {
        self.inside.iter().any(|(inside, _)| *inside == buffer)
    }

    /// Inserts, if that is right to do; `is_used`: the buffer is in an iterator or a transfer.
    pub fn insert(&mut self, (buffer, shape): (usize, Shape), label: i64, is_used: bool) -> Result<(), Code> {
        match &self.allowed {
            Some(allowed) if !allowed.contains(&buffer) => return Err(Code::NotAllowed),
            None if shape == Shape::OtherSize => return Err(Code::Bufsize),
            None if shape == Shape::OtherDataspec => return Err(Code::Dataspec),
            _ if is_used => return Err(Code::BufferInUse),
            _ => {}
        }
        if let Some(allowed) = self.allowed.as_ref().filter(|_| self.is_ordered) {
            if allowed[self.due] != buffer {
                return Err(Code::NotAllowed);
            }
            self.due = (self.due + 1) % allowed.len();
        }
        self.put(buffer, label);
        Ok(())
    }

    /// As the library does it, of a buffer that is right.
    pub fn put(&mut self, buffer: usize, label: i64) {
        self.inside.push((buffer, label));
    }

    /// Whether this buffer may leave next; UNORDERED gives any.
    pub fn gives(&self, buffer: usize) -> bool {
        match self.base {
            Base::Unordered => self.has(buffer),
            _ => self.next().is_some_and(|place| self.inside[place].0 == buffer),
        }
    }

    fn next(&self) -> Option<usize> {
        match self.base {
            Base::Fifo | Base::Unordered => (!self.inside.is_empty()).then_some(0),
            Base::Lifo => self.inside.len().checked_sub(1),
            // Of the lowest the first.
            Base::Sorted => (0..self.inside.len()).min_by_key(|place| self.inside[*place].1),
        }
    }

    /// Takes out the next.
    pub fn take(&mut self) -> Option<usize> {
        let place = self.next()?;
        Some(self.inside.remove(place).0)
    }

    /// Takes out this one.
    pub fn take_out(&mut self, buffer: usize) {
        self.inside.retain(|(inside, _)| *inside != buffer);
    }

    /// After a removal while nothing is committed: where what is left is the first of the order, the order goes on after it.
    pub fn go_on_after_the_first(&mut self) {
        if self.may_be_committed() {
            self.due = self.inside.len() % self.allowed.as_ref().map_or(1, Vec::len);
        }
    }

    /// Whether what is in can be committed: of an ORDERED iterator, the first of its order.
    pub fn may_be_committed(&self) -> bool {
        let Some(allowed) = self.allowed.as_ref().filter(|_| self.is_ordered) else { return true };
        self.inside.iter().zip(allowed).all(|((inside, _), due)| inside == due)
    }

    /// After an uncommit.
    pub fn clear(&mut self) {
        self.inside.clear();
        self.due = 0;
    }
}
