//! Triggers, receptors, handlers.

use super::argument::{Argument, no_function, run_for_program};
use super::channel::{MPIRTX_Duration_metrics, durations_of, timeout_of};
use super::object::{changed, free, made, no_handles, told};
use crate::answer::answer;
use crate::state::{
    check_setup, good, good_committed, good_or_null, may_block, with_committed, with_committed_of,
    with_library, with_world,
};
use crate::types::{
    CHandle, MPIRT_Container, MPIRT_Group, MPIRT_Handler, MPIRT_Handler_function, MPIRT_Object, MPIRT_Qos,
    MPIRT_Receptor, MPIRT_Timespec, MPIRT_Trigger, MPIRTX_Event, NameIn, Out, TIME_SPEC_IGNORE,
};
use leveret_runtime::objects::{
    Code, Committed, EventKind, Firing, HandlerFunction, Library, Qos, ReceptorCombination,
    TriggerDescription,
};
use leveret_types::Nanos;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// On what a trigger fires.
pub type MPIRT_Event_kind = c_int;
/// How receptors are combined.
pub type MPIRTX_Combination = c_int;

fn event_of(firing: Firing) -> MPIRTX_Event {
    MPIRTX_Event {
        source: c_int::try_from(firing.source).unwrap_or(-1),
        number: firing.number,
        time: firing.time.map_or(TIME_SPEC_IGNORE, |time| time.0),
        pending: firing.pending,
        lost: firing.lost,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_handler_create(
    name: NameIn,
    priority: c_int,
    budget: MPIRT_Timespec,
    interval: MPIRT_Timespec,
    qos: Out<MPIRT_Qos>,
) -> c_int {
    answer(|| {
        made(qos, no_handles, |()| {
            let name = name.read()?;
            let priority = u8::try_from(priority).map_err(|_| Code::Argument)?;
            let handler = Qos::Handler { priority, budget: Nanos(budget), interval: Nanos(interval) };
            with_library(|library| library.world.qos(name, handler))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Trigger_create(
    event: NameIn,
    kind: MPIRT_Event_kind,
    source: MPIRT_Object,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    trigger: Out<MPIRT_Trigger>,
) -> c_int {
    answer(|| {
        made(
            trigger,
            || Ok((good_or_null(source)?, good(group)?, good_or_null(qos)?)),
            |(source, group, qos)| {
                event.check()?;
                let event = event.read()?;
                let kind = EventKind::of(kind).ok_or(Code::Argument)?;
                let about = TriggerDescription { kind, source, group, qos };
                with_library(|library| library.world.trigger(event, about))
            },
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Trigger_get_kind(
    trigger: MPIRT_Trigger,
    kind: Out<MPIRT_Event_kind>,
) -> c_int {
    answer(|| told(trigger, kind, |world, trigger| Ok(world.trigger_kind(trigger)? as MPIRT_Event_kind)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Trigger_get_time(
    trigger: MPIRT_Trigger,
    first: Out<MPIRT_Timespec>,
    period: Out<MPIRT_Timespec>,
) -> c_int {
    answer(|| {
        let handle = good(trigger)?;
        first.check()?;
        period.check()?;
        let (since, every) = with_world(|world| world.trigger_time(handle))?;
        first.put(since.0)?;
        period.put(every.0)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Trigger_set_time(
    trigger: MPIRT_Trigger,
    first: MPIRT_Timespec,
    period: MPIRT_Timespec,
) -> c_int {
    answer(|| changed(trigger, |world, trigger| world.trigger_times(trigger, Nanos(first), Nanos(period))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Trigger_fire(trigger: MPIRT_Trigger) -> c_int {
    answer(|| with_committed_of(trigger, |committed| committed.fire(trigger.handle())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Trigger_free(trigger: Out<MPIRT_Trigger>) -> c_int {
    answer(|| free(trigger))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Handler_create(
    name: NameIn,
    function: Option<MPIRT_Handler_function>,
    argument: *mut c_void,
    qos: MPIRT_Qos,
    handler: Out<MPIRT_Handler>,
) -> c_int {
    answer(|| {
        made(
            handler,
            || good_or_null(qos),
            |qos| {
                let function = function.ok_or_else(|| no_function("the handler runs"))?;
                let name = name.read()?;
                let argument = Argument(argument);
                let run: HandlerFunction = Arc::new(move |receptor, firing, committed| {
                    let event = event_of(firing);
                    run_for_program(committed, ("a handler of the receptor", receptor), || {
                        function(MPIRT_Receptor::of(receptor), &raw const event, argument.get());
                    });
                });
                with_library(|library| library.world.handler(name, qos, run))
            },
        )
    })
}

/// What was measured of a handler.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MPIRTX_Handler_metrics {
    /// Processor time of its runs.
    pub compute: MPIRTX_Duration_metrics,
    /// Runs beyond the budget.
    pub overruns: u64,
    /// Runs that panicked, or said that they failed.
    pub failed: u64,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Handler_get_metrics(
    handler: MPIRT_Handler,
    metrics: Out<MPIRTX_Handler_metrics>,
) -> c_int {
    answer(|| {
        metrics.check_after(|| good_committed(handler))?;
        let found = with_committed_of(handler, |committed| committed.handler_metrics(handler.handle()))?;
        metrics.put(MPIRTX_Handler_metrics {
            compute: durations_of(found.compute),
            overruns: found.overruns,
            failed: found.failed,
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Handler_fail() -> c_int {
    answer(|| with_committed(Committed::fail_handler))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Handler_free(handler: Out<MPIRT_Handler>) -> c_int {
    answer(|| free(handler))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Default_handler_set(kind: MPIRT_Event_kind, handler: MPIRT_Handler) -> c_int {
    answer(|| {
        check_setup()?;
        let handler = good_or_null(handler)?;
        let kind = EventKind::of(kind).ok_or(Code::Argument)?;
        with_library(|library| library.world.set_default_handler(kind, handler))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Receptor_create(
    event: NameIn,
    group: MPIRT_Group,
    handlers: MPIRT_Container,
    receptor: Out<MPIRT_Receptor>,
) -> c_int {
    answer(|| {
        made(
            receptor,
            || Ok((good(group)?, good_or_null(handlers)?)),
            |(group, handlers)| {
                event.check()?;
                let event = event.read()?;
                with_library(|library| library.world.receptor(event, group, handlers))
            },
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Receptor_combine(
    name: NameIn,
    combination: MPIRTX_Combination,
    parts: MPIRT_Container,
    handlers: MPIRT_Container,
    receptor: Out<MPIRT_Receptor>,
) -> c_int {
    answer(|| {
        made(
            receptor,
            || Ok((good(parts)?, good_or_null(handlers)?)),
            |members| {
                let name = name.read()?;
                let combination = ReceptorCombination::of(combination).ok_or(Code::Argument)?;
                with_library(|library| library.world.combined_receptor(name, combination, members))
            },
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Receptor_wait(receptor: MPIRT_Receptor, timeout: MPIRT_Timespec) -> c_int {
    answer(|| {
        may_block()?;
        let timeout = timeout_of(timeout, || good_committed(receptor))?;
        with_committed_of(receptor, |committed| committed.receptor_wait(receptor.handle(), timeout)).map(drop)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Receptor_get_descriptor(
    receptor: MPIRT_Receptor,
    descriptor: Out<c_int>,
) -> c_int {
    answer(|| super::object::descriptor(receptor, descriptor, Library::receptor_descriptor))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Receptor_test(receptor: MPIRT_Receptor, flag: Out<c_int>) -> c_int {
    answer(|| {
        flag.check_after(|| good_committed(receptor))?;
        let taken = with_committed_of(receptor, |committed| committed.receptor_test(receptor.handle()))?;
        flag.put(c_int::from(taken.is_some()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Receptor_get_event(
    receptor: MPIRT_Receptor,
    event: Out<MPIRTX_Event>,
) -> c_int {
    answer(|| {
        event.check_after(|| good_committed(receptor))?;
        event.put(event_of(with_committed_of(receptor, |committed| {
            committed.receptor_event(receptor.handle())
        })?))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Receptor_free(receptor: Out<MPIRT_Receptor>) -> c_int {
    answer(|| free(receptor))
}
