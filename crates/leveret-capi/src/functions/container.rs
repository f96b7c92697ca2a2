//! Sets and vectors, and what all containers have.

use super::object::{free, free_if, made};
use crate::answer::answer;
use crate::state::{check_live, check_setup, with_library, with_world};
use crate::types::{
    CHandle, MPIRT_Container, MPIRT_Cset, MPIRT_Cvector, MPIRT_Object, NameIn, Out, ValuesIn,
};
use leveret_runtime::objects::{CONTAINER_MAX, Class, Code};
use std::ffi::c_int;

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Container_access_count(container: MPIRT_Container, count: Out<c_int>) -> c_int {
    answer(|| {
        let found = with_world(|world| world.count(container.handle()))?;
        count.put(c_int::try_from(found).map_err(|_| Code::Limit)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Container_free(container: Out<MPIRT_Container>) -> c_int {
    free_if(container, Class::is_container)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cset_create(name: NameIn, set: Out<MPIRT_Cset>) -> c_int {
    made(set, || {
        let name = name.read()?;
        with_library(|library| library.world.cset(name))
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
pub extern "C" fn MPIRTX_Cset_contains(set: MPIRT_Cset, object: MPIRT_Object, flag: Out<c_int>) -> c_int {
    answer(|| {
        let found = with_world(|world| world.cset_contains(set.handle(), object.handle()))?;
        flag.put(c_int::from(found))
    })
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
    made(vector, || {
        let name = name.read()?;
        let size = usize::try_from(size).map_err(|_| Code::Argument)?;
        if size > CONTAINER_MAX {
            return Err(Code::Argument);
        }
        let given = elements.read_if_given(size);
        let elements = (0..size).map(|place| given.map_or(MPIRT_Object { bits: 0 }, |given| given[place]));
        let elements: Vec<_> = elements.map(CHandle::handle).collect();
        with_library(|library| library.world.cvector(name, &elements))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cvector_get_size(vector: MPIRT_Cvector, size: Out<c_int>) -> c_int {
    answer(|| {
        let found = with_world(|world| world.cvector_size(vector.handle()))?;
        size.put(c_int::try_from(found).map_err(|_| Code::Limit)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cvector_get_element(
    vector: MPIRT_Cvector,
    index: c_int,
    element: Out<MPIRT_Object>,
) -> c_int {
    answer(|| {
        element.clear();
        check_live()?;
        with_world(|world| world.cvector_size(vector.handle()))?;
        element.check()?;
        let index = usize::try_from(index).map_err(|_| Code::Index)?;
        let found = with_world(|world| world.cvector_element(vector.handle(), index))?;
        element.put(MPIRT_Object::of(found))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cvector_set_element(
    vector: MPIRT_Cvector,
    index: c_int,
    element: MPIRT_Object,
) -> c_int {
    answer(|| {
        check_setup()?;
        // One that is negative is beyond every size.
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        with_library(|library| library.world.cvector_set_element(vector.handle(), index, element.handle()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Cvector_free(vector: Out<MPIRT_Cvector>) -> c_int {
    free(vector, Some(Class::Cvector))
}
