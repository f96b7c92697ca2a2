//! Sets and vectors, and what all containers have.

use super::object::{changed, free, made, no_handles, told, told_object};
use crate::answer::answer;
use crate::reserve::{ready, ready_for_elements};
use crate::state::{check_setup, good, good_or_null, with_library, with_world};
use crate::types::{
    CHandle, MPIRT_Container, MPIRT_Cset, MPIRT_Cvector, MPIRT_Object, NameIn, Out, ValuesIn,
};
use leveret_runtime::objects::{CONTAINER_MAX, Code, Handle};
use std::ffi::c_int;

fn number(count: usize) -> Result<c_int, Code> {
    c_int::try_from(count).map_err(|_| Code::Limit)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_access_count(
    container: MPIRT_Container,
    count: Out<c_int>,
) -> c_int {
    answer(|| told(container, count, |world, container| world.count(container).and_then(number)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_free(container: Out<MPIRT_Container>) -> c_int {
    answer(|| free(container))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Cset_create(name: NameIn, set: Out<MPIRT_Cset>) -> c_int {
    answer(|| {
        made(set, no_handles, |()| {
            let name = name.read()?;
            with_library(|library| library.world.cset(name))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Cset_insert(set: MPIRT_Cset, object: MPIRT_Object) -> c_int {
    answer(|| {
        changed(set, |world, set| {
            let object = object.handle();
            if !object.is_null() {
                world.class(object)?;
            }
            ready()?;
            world.cset_insert(set, object)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Cset_remove(set: MPIRT_Cset, object: MPIRT_Object) -> c_int {
    answer(|| changed(set, |world, set| world.cset_remove(set, object.handle())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Cset_contains(
    set: MPIRT_Cset,
    object: MPIRT_Object,
    flag: Out<c_int>,
) -> c_int {
    answer(|| {
        let set = good(set)?;
        let object = good_or_null(object)?;
        flag.check()?;
        let found = with_world(|world| world.cset_contains(set, object))?;
        flag.put(c_int::from(found))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Cset_free(set: Out<MPIRT_Cset>) -> c_int {
    answer(|| free(set))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Cvector_create(
    name: NameIn,
    size: c_int,
    elements: ValuesIn<MPIRT_Object>,
    vector: Out<MPIRT_Cvector>,
) -> c_int {
    answer(|| {
        made(vector, no_handles, |()| {
            let name = name.read()?;
            let size = usize::try_from(size).map_err(|_| Code::Argument)?;
            if size > CONTAINER_MAX {
                return Err(Code::Argument);
            }
            ready_for_elements(size * size_of::<Handle>())?;
            let given = elements.read_if_given(size);
            let elements: Vec<Handle> = match given {
                Some(given) => given.iter().map(|element| element.handle()).collect(),
                None => vec![Handle::default(); size],
            };
            with_library(|library| library.world.cvector(name, &elements))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Cvector_get_size(vector: MPIRT_Cvector, size: Out<c_int>) -> c_int {
    answer(|| told(vector, size, |world, vector| world.cvector_size(vector).and_then(number)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Cvector_get_element(
    vector: MPIRT_Cvector,
    index: c_int,
    element: Out<MPIRT_Object>,
) -> c_int {
    answer(|| {
        told_object(vector, element, |world, vector| {
            let index = usize::try_from(index).map_err(|_| Code::Index)?;
            world.cvector_element(vector, index)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Cvector_set_element(
    vector: MPIRT_Cvector,
    index: c_int,
    element: MPIRT_Object,
) -> c_int {
    answer(|| {
        check_setup()?;
        let vector = good(vector)?;
        let element = good_or_null(element)?;
        // One that is negative is beyond every size.
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        with_library(|library| library.world.cvector_set_element(vector, index, element))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Cvector_free(vector: Out<MPIRT_Cvector>) -> c_int {
    answer(|| free(vector))
}
