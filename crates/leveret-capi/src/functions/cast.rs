//! Handles in the type of another class, and whether two are one.

use crate::answer::answer;
use crate::state::{good, good_or_null, with_world};
use crate::types::{
    CHandle, MPIRT_Buffer, MPIRT_Bufiter, MPIRT_Channel, MPIRT_Container, MPIRT_Cset, MPIRT_Cvector,
    MPIRT_Group, MPIRT_Handler, MPIRT_Object, MPIRT_Qos, MPIRT_Receptor, MPIRT_Trigger, MPIRTX_Task, Out,
};
use leveret_runtime::objects::Code;
use std::ffi::c_int;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_compare(
    first: MPIRT_Object,
    second: MPIRT_Object,
    same: Out<c_int>,
) -> c_int {
    answer(|| {
        with_world(|_| Ok(()))?;
        let (first, second) = (good_or_null(first)?, good_or_null(second)?);
        let is_same = first == second || first.is_null() && second.is_null();
        same.put(c_int::from(is_same))
    })
}

fn cast<T: CHandle>(object: MPIRT_Object, result: Out<T>) -> Result<(), Code> {
    result.clear();
    let handle = good(object)?;
    let class = with_world(|world| world.class(handle))?;
    if !T::accepts(class) {
        return Err(Code::WrongClass);
    }
    result.put(T::of(handle))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_container(
    object: MPIRT_Object,
    container: Out<MPIRT_Container>,
) -> c_int {
    answer(|| cast(object, container))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_cset(object: MPIRT_Object, set: Out<MPIRT_Cset>) -> c_int {
    answer(|| cast(object, set))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_cvector(object: MPIRT_Object, vector: Out<MPIRT_Cvector>) -> c_int {
    answer(|| cast(object, vector))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_group(object: MPIRT_Object, group: Out<MPIRT_Group>) -> c_int {
    answer(|| cast(object, group))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_buffer(object: MPIRT_Object, buffer: Out<MPIRT_Buffer>) -> c_int {
    answer(|| cast(object, buffer))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_bufiter(
    object: MPIRT_Object,
    bufiter: Out<MPIRT_Bufiter>,
) -> c_int {
    answer(|| cast(object, bufiter))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_channel(
    object: MPIRT_Object,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    answer(|| cast(object, channel))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_qos(object: MPIRT_Object, qos: Out<MPIRT_Qos>) -> c_int {
    answer(|| cast(object, qos))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_task(object: MPIRT_Object, task: Out<MPIRTX_Task>) -> c_int {
    answer(|| cast(object, task))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_trigger(
    object: MPIRT_Object,
    trigger: Out<MPIRT_Trigger>,
) -> c_int {
    answer(|| cast(object, trigger))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_receptor(
    object: MPIRT_Object,
    receptor: Out<MPIRT_Receptor>,
) -> c_int {
    answer(|| cast(object, receptor))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Object_as_handler(
    object: MPIRT_Object,
    handler: Out<MPIRT_Handler>,
) -> c_int {
    answer(|| cast(object, handler))
}
