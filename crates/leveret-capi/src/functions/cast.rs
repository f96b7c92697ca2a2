//! Handles in the type of another class, and whether two are one.

use crate::answer::answer;
use crate::state::{check_live, with_world};
use crate::types::{
    CHandle, MPIRT_Buffer, MPIRT_Bufiter, MPIRT_Channel, MPIRT_Container, MPIRT_Cset, MPIRT_Cvector,
    MPIRT_Group, MPIRT_Object, MPIRT_Qos, MPIRTX_Task, Out,
};
use leveret_runtime::objects::{Class, Code, Handle};
use std::ffi::c_int;

/// A live handle, or null.
fn live(object: MPIRT_Object) -> Result<Handle, Code> {
    let handle = object.handle();
    if !handle.is_null() {
        with_world(|world| world.class(handle))?;
    }
    Ok(handle)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_compare(
    first: MPIRT_Object,
    second: MPIRT_Object,
    same: Out<c_int>,
) -> c_int {
    answer(|| {
        check_live()?;
        let (first, second) = (live(first)?, live(second)?);
        let is_same = first == second || first.is_null() && second.is_null();
        same.put(c_int::from(is_same))
    })
}

fn cast<T: CHandle>(object: MPIRT_Object, result: Out<T>, is_right: impl Fn(Class) -> bool) -> c_int {
    answer(|| {
        result.clear();
        check_live()?;
        let handle = object.handle();
        let class = with_world(|world| world.class(handle))?;
        if is_right(class) { result.put(T::of(handle)) } else { Err(Code::WrongClass) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_container(object: MPIRT_Object, container: Out<MPIRT_Container>) -> c_int {
    cast(object, container, Class::is_container)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_cset(object: MPIRT_Object, set: Out<MPIRT_Cset>) -> c_int {
    cast(object, set, |class| class == Class::Cset)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_cvector(object: MPIRT_Object, vector: Out<MPIRT_Cvector>) -> c_int {
    cast(object, vector, |class| class == Class::Cvector)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_group(object: MPIRT_Object, group: Out<MPIRT_Group>) -> c_int {
    cast(object, group, |class| class == Class::Group)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_buffer(object: MPIRT_Object, buffer: Out<MPIRT_Buffer>) -> c_int {
    cast(object, buffer, |class| class == Class::Buffer)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_bufiter(object: MPIRT_Object, bufiter: Out<MPIRT_Bufiter>) -> c_int {
    cast(object, bufiter, |class| class == Class::Bufiter)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_channel(object: MPIRT_Object, channel: Out<MPIRT_Channel>) -> c_int {
    cast(object, channel, Class::is_channel)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_qos(object: MPIRT_Object, qos: Out<MPIRT_Qos>) -> c_int {
    cast(object, qos, |class| class == Class::Qos)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_task(object: MPIRT_Object, task: Out<MPIRTX_Task>) -> c_int {
    cast(object, task, |class| class == Class::Task)
}
