//! Operations against an oracle that computes in wider numbers.

use super::*;
use proptest::prelude::*;

const INTEGERS: [(Dataspec, u32, bool); 10] = [
    (Dataspec::Int, 32, true),
    (Dataspec::Int8, 8, true),
    (Dataspec::Int16, 16, true),
    (Dataspec::Int32, 32, true),
    (Dataspec::Int64, 64, true),
    (Dataspec::Time, 64, true),
    (Dataspec::Uint8, 8, false),
    (Dataspec::Uint16, 16, false),
    (Dataspec::Uint32, 32, false),
    (Dataspec::Uint64, 64, false),
];

/// The lowest bits of a number, as one that has just so many.
fn wrapped(value: i128, bits: u32, has_sign: bool) -> i128 {
    let low = value & ((1 << bits) - 1);
    if has_sign && low >> (bits - 1) & 1 == 1 { low - (1 << bits) } else { low }
}

fn expected(operation: Operation, a: i128, b: i128) -> i128 {
    let truth = i128::from;
    match operation {
        Operation::Sum => a + b,
        Operation::Product => a.wrapping_mul(b),
        Operation::Min => a.min(b),
        Operation::Max => a.max(b),
        Operation::LogicalAnd => truth(a != 0 && b != 0),
        Operation::LogicalOr => truth(a != 0 || b != 0),
        Operation::LogicalXor => truth((a != 0) != (b != 0)),
        Operation::BitAnd => a & b,
        Operation::BitOr => a | b,
        Operation::BitXor => a ^ b,
    }
}

fn bytes(values: &[i128], bits: u32) -> Vec<u8> {
    let size = bits as usize / 8;
    values.iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()).collect()
}

/// Numbers among which the edges are as frequent as the middle.
fn number() -> impl Strategy<Value = i128> {
    let edge =
        prop_oneof![Just(0_i128), Just(1), Just(-1), Just(i128::from(i64::MAX)), Just(i128::from(i64::MIN))];
    prop_oneof![edge, any::<i64>().prop_map(i128::from), (-300..300_i128)]
}

proptest! {
    // spec: COLLECTIVE-REDUCE-04
    #[test]
    #[cfg(target_endian = "little")]
    fn integers_wrap_around(
        which in 0..INTEGERS.len(),
        operation in 0..Operation::ALL.len(),
        pairs in prop::collection::vec((number(), number()), 0..40),
    ) {
        let ((dataspec, bits, has_sign), operation) = (INTEGERS[which], Operation::ALL[operation]);
        prop_assume!(operation.fits(dataspec));
        let of = |value: i128| wrapped(value, bits, has_sign);
        let left: Vec<i128> = pairs.iter().map(|(left, _)| of(*left)).collect();
        let right: Vec<i128> = pairs.iter().map(|(_, right)| of(*right)).collect();
        let mut found = bytes(&left, bits);
        operation.combine(dataspec, &mut found, &bytes(&right, bits));
        let wanted: Vec<i128> =
            left.iter().zip(&right).map(|(a, b)| of(expected(operation, *a, *b))).collect();
        prop_assert_eq!(found, bytes(&wanted, bits), "{:?} of {:?}", operation, dataspec);
    }

    // spec: COLLECTIVE-REDUCE-04
    #[test]
    fn floating_point_adds_and_multiplies_as_the_language_does(pairs in prop::collection::vec((any::<f64>(), any::<f64>()), 1..20)) {
        let left: Vec<u8> = pairs.iter().flat_map(|(left, _)| left.to_ne_bytes()).collect();
        let right: Vec<u8> = pairs.iter().flat_map(|(_, right)| right.to_ne_bytes()).collect();
        for (operation, wanted) in [
            (Operation::Sum, pairs.iter().map(|(a, b)| a + b).collect::<Vec<f64>>()),
            (Operation::Product, pairs.iter().map(|(a, b)| a * b).collect()),
        ] {
            let mut found = left.clone();
            operation.combine(Dataspec::Float64, &mut found, &right);
            for (found, wanted) in found.as_chunks::<8>().0.iter().zip(wanted) {
                let found = f64::from_ne_bytes(*found);
                prop_assert!(found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan());
            }
        }
    }
}

// spec: COLLECTIVE-REDUCE-04
#[test]
fn the_minimum_and_maximum_of_floating_point_do_not_depend_on_the_order() {
    let combined = |operation: Operation, a: f32, b: f32| {
        let mut into = a.to_ne_bytes();
        operation.combine(Dataspec::Float, &mut into, &b.to_ne_bytes());
        f32::from_ne_bytes(into)
    };
    for (a, b, least, greatest) in [(-0.0, 0.0, -0.0, 0.0), (0.0, -0.0, -0.0, 0.0), (1.0, -2.0, -2.0, 1.0)] {
        let (a, b, least, greatest): (f32, f32, f32, f32) = (a, b, least, greatest);
        assert_eq!(combined(Operation::Min, a, b).to_bits(), least.to_bits(), "{a} {b}");
        assert_eq!(combined(Operation::Max, a, b).to_bits(), greatest.to_bits(), "{a} {b}");
    }
    for operation in [Operation::Min, Operation::Max, Operation::Sum] {
        assert!(combined(operation, f32::NAN, 1.0).is_nan() && combined(operation, 1.0, f32::NAN).is_nan());
    }
    assert_eq!(combined(Operation::Max, f32::NEG_INFINITY, f32::MIN), f32::MIN);
}

// spec: COLLECTIVE-REDUCE-02
#[test]
fn a_type_allows_what_has_a_meaning_for_it() {
    let allowed =
        |dataspec: Dataspec| Operation::ALL.into_iter().filter(|operation| operation.fits(dataspec)).count();
    assert_eq!(allowed(Dataspec::Int), 10);
    assert_eq!(allowed(Dataspec::Uint8), 10);
    assert_eq!(allowed(Dataspec::Double), 4);
    assert_eq!(allowed(Dataspec::Logical), 3);
    assert_eq!(allowed(Dataspec::Byte), 3);
    assert_eq!(allowed(Dataspec::Time), 3);
    assert_eq!(allowed(Dataspec::Char), 0);
    let mut untouched = *b"ab";
    Operation::Sum.combine(Dataspec::Char, &mut untouched, b"cd");
    assert_eq!(&untouched, b"ab");
    for operation in Operation::ALL {
        assert_eq!(Operation::of(operation as i32), Some(operation));
    }
    assert_eq!(Operation::of(10), None);
}
