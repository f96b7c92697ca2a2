//! The standard atomics with a counter before each operation, for builds with debug assertions. They lie in memory as those do.

use super::steps::step;
use core::sync::atomic::{self, Ordering};
use std::fmt;

/// What every atomic can.
macro_rules! counted {
    ($name:ident $(<$of:ident>)?, $value:ty) => {
        impl $(<$of>)? $name $(<$of>)? {
            /// With a first value.
            pub const fn new(value: $value) -> Self {
                Self(atomic::$name::new(value))
            }

            /// As that of the standard library.
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                step();
                self.0.load(order)
            }

            /// As that of the standard library.
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                step();
                self.0.store(value, order);
            }

            /// As that of the standard library.
            #[inline]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                step();
                self.0.swap(value, order)
            }

            /// As that of the standard library.
            ///
            /// # Errors
            /// What was there, when that was not the current value.
            #[inline]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                step();
                self.0.compare_exchange(current, new, success, failure)
            }

            /// As that of the standard library, in its steps: a load, and an exchange until one succeeds.
            ///
            /// # Errors
            /// What was there, when the function gives nothing for it.
            #[inline]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut found = self.load(fetch);
                while let Some(next) = update(found) {
                    match self.compare_exchange(found, next, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(other) => found = other,
                    }
                }
                Err(found)
            }

            /// As that of the standard library.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// As that of the standard library.
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }
        }

        impl $(<$of>)? fmt::Debug for $name $(<$of>)? {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, out)
            }
        }

        impl $(<$of>)? From<$value> for $name $(<$of>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

/// What those of integers can besides.
macro_rules! counted_integer {
    ($($name:ident, $value:ty;)+) => {
        $(
            /// As that of the standard library.
            #[derive(Default)]
            #[repr(transparent)]
            pub struct $name(atomic::$name);

            counted!($name, $value);

            impl $name {
                /// As that of the standard library.
                ///
                /// # Safety
                /// As there.
                pub const unsafe fn from_ptr<'a>(place: *mut $value) -> &'a Self {
                    // SAFETY: the caller's promise, and the type is the standard one in memory.
                    unsafe { &*place.cast::<Self>() }
                }

                counted_integer!(@ $value, fetch_add fetch_sub fetch_max fetch_min fetch_or fetch_and);
            }
        )+
    };
    (@ $value:ty, $($method:ident)+) => {
        $(
            /// As that of the standard library.
            #[inline]
            pub fn $method(&self, value: $value, order: Ordering) -> $value {
                step();
                self.0.$method(value, order)
            }
        )+
    };
}

counted_integer! {
    AtomicI32, i32; AtomicI64, i64;
    AtomicU8, u8; AtomicU32, u32; AtomicU64, u64; AtomicUsize, usize;
}

/// As that of the standard library.
#[derive(Default)]
#[repr(transparent)]
pub struct AtomicBool(atomic::AtomicBool);

counted!(AtomicBool, bool);

/// As that of the standard library.
#[repr(transparent)]
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>);

counted!(AtomicPtr<T>, *mut T);
