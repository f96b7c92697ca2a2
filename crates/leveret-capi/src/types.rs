//! C types, and how names and pointers come in: each pointer's type says what a caller in C promises of it. All of them may
//! be null.

use crate::answer::keep_remedy;
use leveret_runtime::objects::{Class, Code, Handle};
use leveret_types::NAME_BYTES_MAX;
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int, c_void};

/// A C type that is a handle.
pub(crate) trait CHandle: Copy {
    /// Whether objects of this class have handles of this type.
    fn accepts(class: Class) -> bool;
    /// As the objects know it.
    fn handle(self) -> Handle;
    /// As C keeps it; every null handle is zero.
    fn of(handle: Handle) -> Self;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident of $accepts:expr;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            #[repr(C)]
            pub struct $name {
                /// Class, generation, place.
                pub bits: u64,
            }

            impl CHandle for $name {
                fn accepts(class: Class) -> bool {
                    $accepts(class)
                }

                fn handle(self) -> Handle {
                    Handle::from_number(self.bits)
                }

                fn of(handle: Handle) -> Self {
                    Self { bits: if handle.is_null() { 0 } else { handle.number() } }
                }
            }
        )+
    };
}

handles! {
    /// Any object.
    MPIRT_Object of |_| true;
    /// A set, a vector or a group.
    MPIRT_Container of Class::is_container;
    /// An unordered set of references.
    MPIRT_Cset of |class| class == Class::Cset;
    /// An array of references.
    MPIRT_Cvector of |class| class == Class::Cvector;
    /// An ordered set of members of the job.
    MPIRT_Group of |class| class == Class::Group;
    /// A walk over a container.
    MPIRT_Container_iterator of |class| class == Class::ContainerIterator;
    /// Storage for a message.
    MPIRT_Buffer of |class| class == Class::Buffer;
    /// An ordered store of buffers at a channel end.
    MPIRT_Bufiter of |class| class == Class::Bufiter;
    /// One end of a channel.
    MPIRT_Channel of Class::is_channel;
    /// A quality of service.
    MPIRT_Qos of |class| class == Class::Qos;
    /// A periodic computation.
    MPIRTX_Task of |class| class == Class::Task;
    /// A second set of objects, to switch to.
    MPIRTX_Mode of |class| class == Class::Mode;
    /// What fires an event.
    MPIRT_Trigger of |class| class == Class::Trigger;
    /// What takes the firings of an event.
    MPIRT_Receptor of |class| class == Class::Receptor;
    /// What runs at a firing.
    MPIRT_Handler of |class| class == Class::Handler;
}

/// Every member of the job.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "as mpirt.h names it")]
pub static mpirt_group_world: MPIRT_Group = MPIRT_Group { bits: Handle::GROUP_WORLD.number() };

/// No promise.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "as mpirt.h names it")]
pub static mpirt_qos_best_effort: MPIRT_Qos = MPIRT_Qos { bits: Handle::BEST_EFFORT.number() };

/// Nanoseconds: an instant or a duration.
pub type MPIRT_Timespec = i64;

/// No time limit.
pub const TIME_SPEC_IGNORE: MPIRT_Timespec = i64::MIN;

/// One instance of a task.
#[repr(C)]
pub struct MPIRTX_Instance {
    /// Counted from the epoch.
    pub number: u64,
    /// Its planned start, on the job's clock.
    pub start: MPIRT_Timespec,
    /// The end of its window, on the job's clock.
    pub deadline: MPIRT_Timespec,
}

/// The body of a task.
pub type MPIRTX_Task_function = extern "C-unwind" fn(MPIRTX_Task, *const MPIRTX_Instance, *mut c_void);

/// A firing as a receptor gets it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MPIRTX_Event {
    /// The rank of who fired, in the event's group.
    pub source: c_int,
    /// Counts the firings of its trigger, from 0.
    pub number: u64,
    /// When it was, on the job's clock; [`TIME_SPEC_IGNORE`] when that is not known any more.
    pub time: MPIRT_Timespec,
    /// How many more are pending.
    pub pending: u64,
    /// Of how many the time was not known any more.
    pub lost: u64,
}

/// The body of a handler.
pub type MPIRT_Handler_function = extern "C-unwind" fn(MPIRT_Receptor, *const MPIRTX_Event, *mut c_void);

/// A name that comes in; null is the empty one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct NameIn(*const c_char);

impl NameIn {
    /// An error when it is null, of a name that must be there.
    pub(crate) fn check(self) -> Result<(), Code> {
        if self.0.is_null() {
            keep_remedy("give a name");
            return Err(Code::NullPointer);
        }
        Ok(())
    }

    pub(crate) fn read<'a>(self) -> Result<&'a str, Code> {
        let Self(name) = self;
        if name.is_null() {
            return Ok("");
        }
        let mut length = 0;
        // SAFETY: a caller in C promises a text with an end within the limit, or as many bytes; read one after the other.
        while unsafe { *name.add(length) } != 0 {
            length += 1;
            if length >= NAME_BYTES_MAX {
                return Err(Code::Name);
            }
        }
        // SAFETY: the loop ended at the closing zero byte.
        let text = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Code::Name)?;
        if text.chars().any(char::is_control) { Err(Code::Name) } else { Ok(text) }
    }
}

/// A text for people, of any length and any bytes; null is the empty one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct MessageIn(*const c_char);

impl MessageIn {
    /// More is not read.
    const BYTES_MAX: usize = 1024;

    /// Whatever is no UTF-8 is replaced.
    pub(crate) fn read<'a>(self) -> Cow<'a, str> {
        let Self(text) = self;
        if text.is_null() {
            return Cow::Borrowed("");
        }
        let mut length = 0;
        // SAFETY: a caller in C promises a text with an end; read one after the other.
        while length < Self::BYTES_MAX && unsafe { *text.add(length) } != 0 {
            length += 1;
        }
        // SAFETY: so many bytes were read just now.
        String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text.cast(), length) })
    }
}

/// Room for a name and its closing zero byte, [`NAME_BYTES_MAX`] bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct NameOut(*mut c_char);

impl NameOut {
    /// An error when it is null, for calls that must not have an effect then.
    pub(crate) fn check(self) -> Result<(), Code> {
        if self.0.is_null() { Err(Code::NullPointer) } else { Ok(()) }
    }

    pub(crate) fn put(self, name: &str) -> Result<(), Code> {
        let Self(target) = self;
        if target.is_null() {
            return Err(Code::NullPointer);
        }
        // SAFETY: names are shorter than the limit, for which a caller in C promises room.
        unsafe {
            target.copy_from_nonoverlapping(name.as_ptr().cast(), name.len());
            *target.add(name.len()) = 0;
        }
        Ok(())
    }
}

/// Where a result goes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// An error when it is null, for calls that must not have an effect then.
    pub(crate) fn check(self) -> Result<(), Code> {
        if self.0.is_null() { Err(Code::NullPointer) } else { Ok(()) }
    }

    /// As [`Out::check`], after what has an error before that one; nothing of it is done while there is a place.
    #[inline]
    pub(crate) fn check_after<U>(self, before: impl FnOnce() -> Result<U, Code>) -> Result<(), Code> {
        if self.0.is_null() { before().and(Err(Code::NullPointer)) } else { Ok(()) }
    }

    pub(crate) fn put(self, value: T) -> Result<(), Code> {
        if self.0.is_null() {
            return Err(Code::NullPointer);
        }
        // SAFETY: not null, so a caller in C promises that it is writable.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Null, until there is something to put; for every error that may follow.
    pub(crate) fn clear(self)
    where
        T: CHandle,
    {
        if !self.0.is_null() {
            // SAFETY: not null, so a caller in C promises that it is writable.
            unsafe { self.0.write(T::of(Handle::default())) };
        }
    }
}

impl<T: Copy> Out<T> {
    /// Several results, for which a caller in C promises room.
    pub(crate) fn put_all(self, values: &[T]) -> Result<(), Code> {
        if values.is_empty() {
            return Ok(());
        }
        self.check()?;
        // SAFETY: not null, so a caller in C promises room for as many as it asked for.
        unsafe { self.0.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Ok(())
    }

    /// What stands there, for a handle that is to be freed.
    pub(crate) fn read(self) -> Result<T, Code> {
        if self.0.is_null() {
            return Err(Code::NullPointer);
        }
        // SAFETY: not null, so a caller in C promises that it is initialised.
        Ok(unsafe { self.0.read() })
    }
}

/// The values of an array that comes in.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct ValuesIn<T>(*const T);

impl<T> ValuesIn<T> {
    /// So many values; `None` when the pointer is null.
    pub(crate) fn read_if_given<'a>(self, count: usize) -> Option<&'a [T]> {
        // SAFETY: not null, so a caller in C promises so many values.
        (!self.0.is_null()).then(|| unsafe { std::slice::from_raw_parts(self.0, count) })
    }

    /// An error when it is null, and there are to be values.
    pub(crate) fn check(self, count: c_int) -> Result<(), Code> {
        if self.0.is_null() && count != 0 { Err(Code::NullPointer) } else { Ok(()) }
    }

    pub(crate) fn read<'a>(self, count: c_int) -> Result<&'a [T], Code> {
        let count = usize::try_from(count).map_err(|_| Code::Argument)?;
        if count == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            return Err(Code::NullPointer);
        }
        // SAFETY: not null, so a caller in C promises so many values.
        Ok(unsafe { std::slice::from_raw_parts(self.0, count) })
    }
}
