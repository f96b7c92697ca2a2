//! Names by class: `MPIRT_CLASS_get_name` and `MPIRT_CLASS_set_name`.

use crate::answer::answer;
use crate::state::{check_setup, good, with_library, with_world};
use crate::types::{
    CHandle, MPIRT_Buffer, MPIRT_Bufiter, MPIRT_Channel, MPIRT_Container, MPIRT_Container_iterator,
    MPIRT_Cset, MPIRT_Cvector, MPIRT_Group, MPIRT_Handler, MPIRT_Qos, MPIRT_Receptor, MPIRT_Trigger,
    MPIRTX_Mode, MPIRTX_Task, NameIn, NameOut,
};
use leveret_runtime::objects::Code;
use std::ffi::c_int;

fn get<O: CHandle>(object: O, name: NameOut) -> Result<(), Code> {
    let handle = good(object)?;
    with_world(|world| name.put(world.name(handle)?))
}

fn set<O: CHandle>(object: O, name: NameIn) -> Result<(), Code> {
    check_setup()?;
    let handle = good(object)?;
    let name = name.read()?;
    with_library(|library| library.world.set_name(handle, name))
}

macro_rules! names {
    ($(get $get:ident set $set:ident of $handle:ty;)+) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $get(object: $handle, name: NameOut) -> c_int {
                answer(|| get(object, name))
            }

            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $set(object: $handle, name: NameIn) -> c_int {
                answer(|| set(object, name))
            }
        )+
    };
}

names! {
    get MPIRT_Container_get_name set MPIRT_Container_set_name of MPIRT_Container;
    get MPIRT_Cset_get_name set MPIRT_Cset_set_name of MPIRT_Cset;
    get MPIRT_Cvector_get_name set MPIRT_Cvector_set_name of MPIRT_Cvector;
    get MPIRT_Group_get_name set MPIRT_Group_set_name of MPIRT_Group;
    get MPIRT_Buffer_get_name set MPIRT_Buffer_set_name of MPIRT_Buffer;
    get MPIRT_Bufiter_get_name set MPIRT_Bufiter_set_name of MPIRT_Bufiter;
    get MPIRT_Channel_get_name set MPIRT_Channel_set_name of MPIRT_Channel;
    get MPIRT_Qos_get_name set MPIRT_Qos_set_name of MPIRT_Qos;
    get MPIRT_Container_iterator_get_name set MPIRT_Container_iterator_set_name of MPIRT_Container_iterator;
    get MPIRT_Trigger_get_name set MPIRT_Trigger_set_name of MPIRT_Trigger;
    get MPIRT_Receptor_get_name set MPIRT_Receptor_set_name of MPIRT_Receptor;
    get MPIRT_Handler_get_name set MPIRT_Handler_set_name of MPIRT_Handler;
    get MPIRTX_Task_get_name set MPIRTX_Task_set_name of MPIRTX_Task;
    get MPIRTX_Mode_get_name set MPIRTX_Mode_set_name of MPIRTX_Mode;
}
