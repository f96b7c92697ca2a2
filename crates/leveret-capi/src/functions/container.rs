//! Sets, vectors, groups.

use super::object::free;
use crate::answer::answer;
use crate::state::with_library;
use crate::types::{
    CHandle, MPIRT_Container, MPIRT_Cset, MPIRT_Cvector, MPIRT_Object, NameIn, Out, ValuesIn,
};
use leveret_runtime::objects::{Class, Code};
use std::ffi::c_int;

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Container_access_count(container: MPIRT_Container, count: Out<c_int>) -> c_int {
    answer(|| {
        let found = with_library(|library| library.world.count(container.handle()))?;
        count.put(c_int::try_from(found).map_err(|_| Code::Limit)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cset_create(name: NameIn, set: Out<MPIRT_Cset>) -> c_int {
    answer(|| {
        let name = name.read()?;
        set.check()?;
        let made = with_library(|library| library.world.cset(name))?;
        set.put(MPIRT_Cset::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cset_insert(set: MPIRT_Cset, object: MPIRT_Object) -> c_int {
    answer(|| with_library(|library| library.world.cset_insert(set.handle(), object.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cset_remove(set: MPIRT_Cset, object: MPIRT_Object) -> c_int {
    answer(|| with_library(|library| library.world.cset_remove(set.handle(), object.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cset_free(set: Out<MPIRT_Cset>) -> c_int {
    free(set, Some(Class::Cset))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cvector_create(
    name: NameIn,
    size: c_int,
    elements: ValuesIn<MPIRT_Object>,
    vector: Out<MPIRT_Cvector>,
) -> c_int {
    answer(|| {
        let name = name.read()?;
        let elements: Vec<_> = elements.read(size)?.iter().map(|element| element.handle()).collect();
        vector.check()?;
        let made = with_library(|library| library.world.cvector(name, &elements))?;
        vector.put(MPIRT_Cvector::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cvector_free(vector: Out<MPIRT_Cvector>) -> c_int {
    free(vector, Some(Class::Cvector))
}
