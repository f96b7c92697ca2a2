//! The operations of reductions: element by element, over bytes in the machine's order. Integers wrap around; floating point follows
//! IEEE 754, with the minimum and maximum of its 2019 edition (NaN wins, -0 is below +0), so that the result does not depend on
//! what the processor makes of equal operands.

use super::object::Dataspec;

/// How a reduction combines two elements; the numbers are those of `MPIRT_Op`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
pub enum Operation {
    /// Their sum.
    Sum = 0,
    /// Their product.
    Product = 1,
    /// The lesser.
    Min = 2,
    /// The greater.
    Max = 3,
    /// 1 if both are not 0, else 0.
    LogicalAnd = 4,
    /// 1 if one of them is not 0, else 0.
    LogicalOr = 5,
    /// 1 if just one of them is not 0, else 0.
    LogicalXor = 6,
    /// Bit by bit.
    BitAnd = 7,
    /// Bit by bit.
    BitOr = 8,
    /// Bit by bit.
    BitXor = 9,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 10] = [
        Self::Sum,
        Self::Product,
        Self::Min,
        Self::Max,
        Self::LogicalAnd,
        Self::LogicalOr,
        Self::LogicalXor,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
    ];

    /// The operation of this number.
    pub fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| *operation as i32 == number)
    }

    /// As reports and refusals call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Min => "minimum",
            Self::Max => "maximum",
            Self::LogicalAnd => "logical and",
            Self::LogicalOr => "logical or",
            Self::LogicalXor => "logical exclusive or",
            Self::BitAnd => "bitwise and",
            Self::BitOr => "bitwise or",
            Self::BitXor => "bitwise exclusive or",
        }
    }

    /// Whether elements of this type can be combined so.
    pub const fn fits(self, dataspec: Dataspec) -> bool {
        let (is_arithmetic, is_logical) = match self {
            Self::Sum | Self::Product | Self::Min | Self::Max => (true, false),
            Self::LogicalAnd | Self::LogicalOr | Self::LogicalXor => (false, true),
            Self::BitAnd | Self::BitOr | Self::BitXor => (false, false),
        };
        match dataspec {
            Dataspec::Char => false,
            Dataspec::Byte => !is_arithmetic && !is_logical,
            Dataspec::Logical => is_logical,
            Dataspec::Float | Dataspec::Double | Dataspec::Float32 | Dataspec::Float64 => is_arithmetic,
            // The product of two instants is none, and their bits mean nothing.
            Dataspec::Time => is_arithmetic && !matches!(self, Self::Product),
            Dataspec::Int
            | Dataspec::Int8
            | Dataspec::Int16
            | Dataspec::Int32
            | Dataspec::Int64
            | Dataspec::Uint8
            | Dataspec::Uint16
            | Dataspec::Uint32
            | Dataspec::Uint64 => true,
        }
    }

    /// Makes each element of `into` the result of it and the element of `from` in the same place. Elements beyond the shorter of
    /// the two stay, and so do all where the operation does not fit the type.
    pub fn combine(self, dataspec: Dataspec, into: &mut [u8], from: &[u8]) {
        if !self.fits(dataspec) {
            return;
        }
        match dataspec {
            Dataspec::Int | Dataspec::Int32 | Dataspec::Logical => integers::<i32, 4>(self, into, from),
            Dataspec::Float | Dataspec::Float32 => floats::<f32, 4>(self, into, from),
            Dataspec::Double | Dataspec::Float64 => floats::<f64, 8>(self, into, from),
            Dataspec::Time | Dataspec::Int64 => integers::<i64, 8>(self, into, from),
            Dataspec::Int8 => integers::<i8, 1>(self, into, from),
            Dataspec::Int16 => integers::<i16, 2>(self, into, from),
            Dataspec::Char | Dataspec::Byte | Dataspec::Uint8 => integers::<u8, 1>(self, into, from),
            Dataspec::Uint16 => integers::<u16, 2>(self, into, from),
            Dataspec::Uint32 => integers::<u32, 4>(self, into, from),
            Dataspec::Uint64 => integers::<u64, 8>(self, into, from),
        }
    }
}

/// One loop an operation, without a branch inside: the compiler makes vectors of it.
#[inline(always)]
fn each<const BYTES: usize>(
    into: &mut [u8],
    from: &[u8],
    mut combine: impl FnMut([u8; BYTES], [u8; BYTES]) -> [u8; BYTES],
) {
    let (into, _) = into.as_chunks_mut::<BYTES>();
    let (from, _) = from.as_chunks::<BYTES>();
    for (into, from) in into.iter_mut().zip(from) {
        *into = combine(*into, *from);
    }
}

/// What all integers can, wrapping around.
trait Integer<const BYTES: usize>: Copy + Ord {
    const ZERO: Self;
    const ONE: Self;
    fn of(bytes: [u8; BYTES]) -> Self;
    fn bytes(self) -> [u8; BYTES];
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;

    fn is_true(self) -> bool {
        self != Self::ZERO
    }

    fn truth(truth: bool) -> Self {
        if truth { Self::ONE } else { Self::ZERO }
    }
}

macro_rules! integer {
    ($($kind:ty, $bytes:literal;)+) => {
        $(
            impl Integer<$bytes> for $kind {
                const ZERO: Self = 0;
                const ONE: Self = 1;
                fn of(bytes: [u8; $bytes]) -> Self { Self::from_ne_bytes(bytes) }
                fn bytes(self) -> [u8; $bytes] { self.to_ne_bytes() }
                fn sum(self, other: Self) -> Self { self.wrapping_add(other) }
                fn product(self, other: Self) -> Self { self.wrapping_mul(other) }
                fn and(self, other: Self) -> Self { self & other }
                fn or(self, other: Self) -> Self { self | other }
                fn xor(self, other: Self) -> Self { self ^ other }
            }
        )+
    };
}

integer! {
    i8, 1; i16, 2; i32, 4; i64, 8;
    u8, 1; u16, 2; u32, 4; u64, 8;
}

fn integers<T: Integer<BYTES>, const BYTES: usize>(operation: Operation, into: &mut [u8], from: &[u8]) {
    macro_rules! each {
        ($left:ident, $right:ident, $result:expr) => {
            each::<BYTES>(into, from, |left, right| {
                let ($left, $right) = (T::of(left), T::of(right));
                T::bytes($result)
            })
        };
    }
    match operation {
        Operation::Sum => each!(a, b, a.sum(b)),
        Operation::Product => each!(a, b, a.product(b)),
        Operation::Min => each!(a, b, a.min(b)),
        Operation::Max => each!(a, b, a.max(b)),
        Operation::LogicalAnd => each!(a, b, T::truth(a.is_true() & b.is_true())),
        Operation::LogicalOr => each!(a, b, T::truth(a.is_true() | b.is_true())),
        Operation::LogicalXor => each!(a, b, T::truth(a.is_true() ^ b.is_true())),
        Operation::BitAnd => each!(a, b, a.and(b)),
        Operation::BitOr => each!(a, b, a.or(b)),
        Operation::BitXor => each!(a, b, a.xor(b)),
    }
}

/// What both floating-point types can.
trait Float<const BYTES: usize>: Copy + PartialOrd {
    fn of(bytes: [u8; BYTES]) -> Self;
    fn bytes(self) -> [u8; BYTES];
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    fn is_negative(self) -> bool;
    fn is_number(self) -> bool;

    /// NaN if one is NaN.
    fn lesser(self, other: Self) -> Self {
        if !self.is_number() || !other.is_number() {
            self.sum(other)
        } else if self < other || self == other && self.is_negative() {
            self
        } else {
            other
        }
    }

    fn greater(self, other: Self) -> Self {
        if !self.is_number() || !other.is_number() {
            self.sum(other)
        } else if self > other || self == other && !self.is_negative() {
            self
        } else {
            other
        }
    }
}

macro_rules! float {
    ($($kind:ty, $bytes:literal;)+) => {
        $(
            impl Float<$bytes> for $kind {
                fn of(bytes: [u8; $bytes]) -> Self { Self::from_ne_bytes(bytes) }
                fn bytes(self) -> [u8; $bytes] { self.to_ne_bytes() }
                fn sum(self, other: Self) -> Self { self + other }
                fn product(self, other: Self) -> Self { self * other }
                fn is_negative(self) -> bool { self.is_sign_negative() }
                fn is_number(self) -> bool { !self.is_nan() }
            }
        )+
    };
}

float! { f32, 4; f64, 8; }

fn floats<T: Float<BYTES>, const BYTES: usize>(operation: Operation, into: &mut [u8], from: &[u8]) {
    macro_rules! each {
        ($left:ident, $right:ident, $result:expr) => {
            each::<BYTES>(into, from, |left, right| {
                let ($left, $right) = (T::of(left), T::of(right));
                T::bytes($result)
            })
        };
    }
    match operation {
        Operation::Sum => each!(a, b, a.sum(b)),
        Operation::Product => each!(a, b, a.product(b)),
        Operation::Min => each!(a, b, a.lesser(b)),
        Operation::Max => each!(a, b, a.greater(b)),
        // They fit no floating point.
        Operation::LogicalAnd
        | Operation::LogicalOr
        | Operation::LogicalXor
        | Operation::BitAnd
        | Operation::BitOr
        | Operation::BitXor => {}
    }
}

#[cfg(test)]
#[path = "reduction_tests.rs"]
mod tests;
