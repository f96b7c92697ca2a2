//! Tasks: what runs once in every period (our extension).

use super::object::free;
use crate::answer::answer;
use crate::state::{in_task, with_library};
use crate::types::{
    CHandle, MPIRT_Channel, MPIRT_Qos, MPIRT_Timespec, MPIRTX_Instance, MPIRTX_Task, MPIRTX_Task_function,
    NameIn, Out,
};
use leveret_runtime::objects::{Class, Code};
use leveret_types::Nanos;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// What C hands over to its task's function; the library only passes it on.
struct Argument(*mut c_void);

// SAFETY: the pointer is never followed here; the header says that the function gets it on the task's thread.
unsafe impl Send for Argument {}
// SAFETY: as above.
unsafe impl Sync for Argument {}

impl Argument {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Task_create(
    name: NameIn,
    function: Option<MPIRTX_Task_function>,
    argument: *mut c_void,
    qos: MPIRT_Qos,
    budget: MPIRT_Timespec,
    task: Out<MPIRTX_Task>,
) -> c_int {
    answer(|| {
        let name = name.read()?;
        let function = function.ok_or(Code::NullPointer)?;
        task.check()?;
        let argument = Argument(argument);
        let made = with_library(|library| {
            library.world.task(name, (qos.handle(), Nanos(budget)), |own| {
                Arc::new(move |planned, committed| {
                    let instance = MPIRTX_Instance {
                        number: planned.number,
                        start: planned.start.0,
                        deadline: planned.deadline.0,
                    };
                    in_task(committed, || {
                        function(MPIRTX_Task::of(own), &raw const instance, argument.get())
                    });
                })
            })
        })?;
        task.put(MPIRTX_Task::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Task_bind(task: MPIRTX_Task, channel: MPIRT_Channel) -> c_int {
    answer(|| with_library(|library| library.world.bind_channel(task.handle(), channel.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Task_free(task: Out<MPIRTX_Task>) -> c_int {
    free(task, Some(Class::Task))
}
