//! Walks over containers.

use super::object::{free, made};
use crate::answer::answer;
use crate::state::{check_setup, with_library};
use crate::types::{CHandle, MPIRT_Container, MPIRT_Container_iterator, MPIRT_Object, NameIn, Out};
use leveret_runtime::objects::Class;
use std::ffi::c_int;

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Container_iterator_create(
    name: NameIn,
    container: MPIRT_Container,
    iterator: Out<MPIRT_Container_iterator>,
) -> c_int {
    made(iterator, || {
        let name = name.read();
        with_library(|library| {
            // The handle's error comes before the name's.
            library.world.count(container.handle())?;
            library.world.container_iterator(name?, container.handle())
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Container_iterator_next(
    iterator: MPIRT_Container_iterator,
    object: Out<MPIRT_Object>,
) -> c_int {
    answer(|| {
        object.clear();
        check_setup()?;
        with_library(|library| {
            library.world.container_iterator_check(iterator.handle())?;
            object.check()?;
            let next = library.world.container_iterator_next(iterator.handle())?;
            object.put(MPIRT_Object::of(next))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Container_iterator_reset(iterator: MPIRT_Container_iterator) -> c_int {
    answer(|| with_library(|library| library.world.container_iterator_reset(iterator.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Container_iterator_free(iterator: Out<MPIRT_Container_iterator>) -> c_int {
    free(iterator, Some(Class::ContainerIterator))
}
