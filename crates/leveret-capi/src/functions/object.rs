//! What every object has; and how objects are made, asked and freed, whatever their class.
//!
//! Of several errors the first is told: state of the library, place of the call, handles, pointers, names, values, state of
//! the objects. The helpers below keep that order.

use crate::answer::answer;
use crate::reserve::ready;
use crate::state::{check_running, check_setup, good, good_or_null, with_library, with_world};
use crate::types::{CHandle, MPIRT_Object, NameIn, NameOut, Out};
use leveret_runtime::objects::{Class, Code, Handle, Kind, Library, World};
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
        Class::BcastChannel => 8,
        Class::ScatterChannel => 9,
        Class::GatherChannel => 10,
        Class::ReduceChannel => 11,
        Class::BarrierChannel => 12,
        Class::AlltoallChannel => 13,
        Class::Qos => 14,
        Class::Trigger => 15,
        Class::Receptor => 16,
        Class::Handler => 17,
        Class::Task => 18,
        Class::Mode => 19,
        Class::ContainerIterator => 4,
    }
}

/// What a number of `mpirt.h` stands for, leaf or abstract.
pub(super) fn kind_of(number: MPIRT_Object_type) -> Option<Kind> {
    match number {
        20 => Some(Kind::Container),
        21 => Some(Kind::Channel),
        leaf => Class::ALL.into_iter().find(|class| type_of(*class) == leaf).map(Kind::Leaf),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Object_is_null(object: MPIRT_Object, flag: Out<c_int>) -> c_int {
    answer(|| {
        let handle = with_world(|_| Ok(())).and_then(|()| good_or_null(object))?;
        flag.put(c_int::from(handle.is_null()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Object_get_object_type(
    object: MPIRT_Object,
    kind: Out<MPIRT_Object_type>,
) -> c_int {
    answer(|| {
        let handle = object.handle();
        let found =
            with_world(|world| if handle.is_null() { Ok(0) } else { world.class(handle).map(type_of) })?;
        kind.put(found)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Object_get_name(object: MPIRT_Object, name: NameOut) -> c_int {
    answer(|| with_world(|world| name.put(world.name(object.handle())?)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Object_set_name(object: MPIRT_Object, name: NameIn) -> c_int {
    answer(|| {
        check_setup()?;
        let object = good(object)?;
        let name = name.read()?;
        with_library(|library| library.world.set_name(object, name))
    })
}

/// Makes an object of others, whose handles are looked at first. On every error the handle that comes out is null.
pub(super) fn made<T: CHandle, H>(
    object: Out<T>,
    handles: impl FnOnce() -> Result<H, Code>,
    make: impl FnOnce(H) -> Result<Handle, Code>,
) -> Result<(), Code> {
    object.clear();
    check_setup()?;
    let handles = handles()?;
    object.check()?;
    ready()?;
    object.put(T::of(make(handles)?))
}

/// An object that is made of no others.
pub(super) fn no_handles() -> Result<(), Code> {
    Ok(())
}

/// Tells what is asked of an object.
pub(super) fn told<O: CHandle, T: Copy>(
    object: O,
    result: Out<T>,
    look: impl FnOnce(&World, Handle) -> Result<T, Code>,
) -> Result<(), Code> {
    let handle = good(object)?;
    result.check()?;
    result.put(with_world(|world| look(world, handle))?)
}

/// The descriptor of something that is committed.
pub(super) fn descriptor<O: CHandle>(
    object: O,
    descriptor: Out<c_int>,
    make: impl FnOnce(&mut Library, Handle) -> Result<c_int, Code>,
) -> Result<(), Code> {
    check_running()?;
    let handle = good(object)?;
    descriptor.check()?;
    ready()?;
    descriptor.put(with_library(|library| make(library, handle))?)
}

/// As [`told`], of another object, whose handle is null on every error.
pub(super) fn told_object<O: CHandle, T: CHandle>(
    object: O,
    result: Out<T>,
    look: impl FnOnce(&World, Handle) -> Result<Handle, Code>,
) -> Result<(), Code> {
    result.clear();
    told(object, result, |world, handle| look(world, handle).map(T::of))
}

/// Changes an object.
pub(super) fn changed<O: CHandle>(
    object: O,
    change: impl FnOnce(&mut World, Handle) -> Result<(), Code>,
) -> Result<(), Code> {
    check_setup()?;
    let handle = good(object)?;
    with_library(|library| change(&mut library.world, handle))
}

/// Frees, and makes the handle null.
pub(super) fn free<T: CHandle>(object: Out<T>) -> Result<(), Code> {
    check_setup()?;
    let given = object.read()?;
    let handle = good(given)?;
    let mut is_begun = false;
    let mut step =
        || with_library(|library| library.world.begin_free(handle, std::mem::replace(&mut is_begun, true)));
    // Delete functions run without the lock: they may call the library.
    while let Some(departure) = step()? {
        let answer = departure.run();
        with_library(|library| library.world.end_departure(&departure, answer))?;
    }
    object.put(T::of(Handle::default()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Object_free(object: Out<MPIRT_Object>) -> c_int {
    answer(|| free(object))
}
