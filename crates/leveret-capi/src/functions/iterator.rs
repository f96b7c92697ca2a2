//! Walks over containers.

use super::object::{changed, free, made};
use crate::answer::answer;
use crate::state::{check_setup, good, with_library};
use crate::types::{CHandle, MPIRT_Container, MPIRT_Container_iterator, MPIRT_Object, NameIn, Out};
use std::ffi::c_int;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_iterator_create(
    name: NameIn,
    container: MPIRT_Container,
    iterator: Out<MPIRT_Container_iterator>,
) -> c_int {
    answer(|| {
        made(
            iterator,
            || good(container),
            |container| {
                let name = name.read()?;
                with_library(|library| library.world.container_iterator(name, container))
            },
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_iterator_next(
    iterator: MPIRT_Container_iterator,
    object: Out<MPIRT_Object>,
) -> c_int {
    answer(|| {
        object.clear();
        check_setup()?;
        let iterator = good(iterator)?;
        object.check()?;
        let next = with_library(|library| library.world.container_iterator_next(iterator))?;
        object.put(MPIRT_Object::of(next))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_iterator_reset(iterator: MPIRT_Container_iterator) -> c_int {
    answer(|| changed(iterator, |world, iterator| world.container_iterator_reset(iterator)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_iterator_free(iterator: Out<MPIRT_Container_iterator>) -> c_int {
    answer(|| free(iterator))
}
