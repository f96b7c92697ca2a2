//! Tasks: what runs once in every period (our extension).

use super::argument::{Argument, no_function, run_for_program};
use super::channel::{MPIRTX_Duration_metrics, durations_of};
use super::object::{changed, free, made, told, told_object};
use crate::answer::answer;
use crate::reserve::ready;
use crate::state::{check_setup, good, good_committed, with_committed_of, with_library};
use crate::types::{
    CHandle, MPIRT_Channel, MPIRT_Qos, MPIRT_Timespec, MPIRTX_Instance, MPIRTX_Task, MPIRTX_Task_function,
    NameIn, Out,
};
use leveret_runtime::objects::{Code, Handle, OverrunPolicy, TaskFunction};
use leveret_types::Nanos;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// Any core that the plan finds.
const CORE_ANY: c_int = -1;

/// What follows when a task needs more than its budget.
pub type MPIRTX_Overrun_policy = c_int;

/// What was measured of a task.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MPIRTX_Task_metrics {
    /// How long its function ran.
    pub compute: MPIRTX_Duration_metrics,
    /// From the planned start to the actual one, or, of an instance that was skipped, to when that was decided.
    pub start_lateness: MPIRTX_Duration_metrics,
    /// Instances that ran.
    pub completed: u64,
    /// Instances that ended after their window, or were skipped.
    pub missed: u64,
    /// Instances that used more than their budget.
    pub overruns: u64,
    /// Instances that were not run.
    pub skipped: u64,
}

/// The function of a task in C, as the objects call it.
fn task_function(function: MPIRTX_Task_function, argument: Argument, own: Handle) -> TaskFunction {
    Arc::new(move |planned, committed| {
        let instance =
            MPIRTX_Instance { number: planned.number, start: planned.start.0, deadline: planned.deadline.0 };
        run_for_program(committed, ("the function of the task", own), || {
            function(MPIRTX_Task::of(own), &raw const instance, argument.get());
        });
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_create(
    name: NameIn,
    function: Option<MPIRTX_Task_function>,
    argument: *mut c_void,
    qos: MPIRT_Qos,
    budget: MPIRT_Timespec,
    task: Out<MPIRTX_Task>,
) -> c_int {
    answer(|| {
        made(
            task,
            || good(qos),
            |qos| {
                name.check()?;
                let function = function.ok_or_else(|| no_function("the task runs"))?;
                let name = name.read()?;
                let argument = Argument(argument);
                with_library(|library| {
                    library
                        .world
                        .task(name, (qos, Nanos(budget)), |own| task_function(function, argument, own))
                })
            },
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_bind(task: MPIRTX_Task, channel: MPIRT_Channel) -> c_int {
    answer(|| {
        check_setup()?;
        let task = good(task)?;
        let channel = good(channel)?;
        ready()?;
        with_library(|library| library.world.bind_channel(task, channel))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_get_budget(task: MPIRTX_Task, budget: Out<MPIRT_Timespec>) -> c_int {
    answer(|| told(task, budget, |world, task| Ok(world.task_budget(task)?.0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_get_qos(task: MPIRTX_Task, qos: Out<MPIRT_Qos>) -> c_int {
    answer(|| told_object(task, qos, |world, task| world.task_qos(task)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_get_core(task: MPIRTX_Task, core: Out<c_int>) -> c_int {
    answer(|| {
        told(task, core, |world, task| match world.task_core(task)? {
            None => Ok(CORE_ANY),
            Some(core) => c_int::try_from(core).map_err(|_| Code::Internal),
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_set_core(task: MPIRTX_Task, core: c_int) -> c_int {
    answer(|| {
        changed(task, |world, task| match core {
            CORE_ANY => world.set_task_core(task, None),
            core => world.set_task_core(task, Some(u32::try_from(core).map_err(|_| Code::Argument)?)),
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_get_overrun_policy(
    task: MPIRTX_Task,
    policy: Out<MPIRTX_Overrun_policy>,
) -> c_int {
    answer(|| {
        told(task, policy, |world, task| {
            Ok(match world.task_overrun(task)?.unwrap_or_default() {
                OverrunPolicy::Skip => 0,
                OverrunPolicy::Late => 1,
                OverrunPolicy::Stop => 2,
            })
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_set_overrun_policy(
    task: MPIRTX_Task,
    policy: MPIRTX_Overrun_policy,
) -> c_int {
    answer(|| {
        changed(task, |world, task| {
            let policy = match policy {
                0 => OverrunPolicy::Skip,
                1 => OverrunPolicy::Late,
                2 => OverrunPolicy::Stop,
                _ => return Err(Code::Argument),
            };
            world.set_task_overrun(task, policy)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_get_metrics(
    task: MPIRTX_Task,
    metrics: Out<MPIRTX_Task_metrics>,
) -> c_int {
    answer(|| {
        metrics.check_after(|| good_committed(task))?;
        let found = with_committed_of(task, |committed| committed.task_metrics(task.handle()))?;
        metrics.put(MPIRTX_Task_metrics {
            compute: durations_of(found.compute),
            start_lateness: durations_of(found.start_lateness),
            completed: found.completed,
            missed: found.missed,
            overruns: found.overruns,
            skipped: found.skipped,
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Task_free(task: Out<MPIRTX_Task>) -> c_int {
    answer(|| free(task))
}
