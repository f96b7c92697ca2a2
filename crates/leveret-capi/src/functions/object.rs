//! What every object has.

use crate::answer::answer;
use crate::state::with_library;
use crate::types::{CHandle, MPIRT_Object, NameIn, NameOut, Out};
use leveret_runtime::objects::{Class, Code, Handle};
use std::ffi::c_int;

/// The class of an object; the numbers stand in `mpirt.h`.
pub type MPIRT_Object_type = c_int;

fn type_of(class: Class) -> MPIRT_Object_type {
    match class {
        Class::Cset => 1,
        Class::Cvector => 2,
        Class::Group => 3,
        Class::Buffer => 5,
        Class::Bufiter => 6,
        Class::Ptchannel => 7,
        Class::Qos => 14,
        Class::Trigger => 15,
        Class::Receptor => 16,
        Class::Handler => 17,
        Class::Task => 18,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Object_is_null(object: MPIRT_Object, flag: Out<c_int>) -> c_int {
    answer(|| {
        with_library(|_| Ok(()))?;
        flag.put(c_int::from(object.handle().is_null()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Object_get_object_type(object: MPIRT_Object, kind: Out<MPIRT_Object_type>) -> c_int {
    answer(|| {
        let handle = object.handle();
        let found =
            if handle.is_null() { 0 } else { type_of(with_library(|library| library.world.class(handle))?) };
        kind.put(found)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Object_get_name(object: MPIRT_Object, name: NameOut) -> c_int {
    answer(|| with_library(|library| name.put(library.world.name(object.handle())?)))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Object_set_name(object: MPIRT_Object, name: NameIn) -> c_int {
    answer(|| {
        let name = name.read()?;
        with_library(|library| library.world.set_name(object.handle(), name))
    })
}

/// Frees, and makes the handle null.
pub(super) fn free<T: CHandle>(object: Out<T>, class: Option<Class>) -> c_int {
    answer(|| {
        let handle = object.read()?.handle();
        with_library(|library| {
            let found = library.world.class(handle)?;
            if class.is_some_and(|class| class != found) {
                return Err(Code::WrongClass);
            }
            library.world.free(handle)
        })?;
        object.put(T::of(Handle::default()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Object_free(object: Out<MPIRT_Object>) -> c_int {
    free(object, None)
}
