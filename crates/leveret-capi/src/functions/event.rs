//! Triggers, receptors, handlers.

use super::channel::MPIRTX_Duration_metrics;
use super::object::free;
use crate::answer::answer;
use crate::state::{in_task, may_block, with_committed, with_library};
use crate::types::{
    CHandle, MPIRT_Container, MPIRT_Group, MPIRT_Handler, MPIRT_Handler_function, MPIRT_Object, MPIRT_Qos,
    MPIRT_Receptor, MPIRT_Timespec, MPIRT_Trigger, MPIRTX_Event, NameIn, Out, TIME_SPEC_IGNORE,
};
use leveret_runtime::objects::{
    Class, Code, EventKind, Firing, HandlerFunction, Qos, ReceptorCombination, TriggerDescription,
};
use leveret_types::Nanos;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// On what a trigger fires.
pub type MPIRT_Event_kind = c_int;
/// How receptors are combined.
pub type MPIRTX_Combination = c_int;

/// Longer than any job.
const FOREVER: Nanos = Nanos::from_secs(1 << 32);

/// What C hands over to its handler; the library only passes it on.
struct Argument(*mut c_void);

// SAFETY: the pointer is never followed here; the header says that the function gets it on a library thread.
unsafe impl Send for Argument {}
// SAFETY: as above.
unsafe impl Sync for Argument {}

impl Argument {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

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
pub extern "C" fn MPIRTX_Qos_handler_create(
    name: NameIn,
    priority: c_int,
    budget: MPIRT_Timespec,
    interval: MPIRT_Timespec,
    qos: Out<MPIRT_Qos>,
) -> c_int {
    answer(|| {
        let name = name.read()?;
        qos.check()?;
        let priority = u8::try_from(priority).map_err(|_| Code::Argument)?;
        let handler = Qos::Handler { priority, budget: Nanos(budget), interval: Nanos(interval) };
        let made = with_library(|library| library.world.qos(name, handler))?;
        qos.put(MPIRT_Qos::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Trigger_create(
    event: NameIn,
    kind: MPIRT_Event_kind,
    source: MPIRT_Object,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    trigger: Out<MPIRT_Trigger>,
) -> c_int {
    answer(|| {
        let event = event.read_given()?;
        trigger.check()?;
        let kind = EventKind::of(kind).ok_or(Code::Argument)?;
        let (source, group, qos) = (source.handle(), group.handle(), qos.handle());
        let about = TriggerDescription { kind, source, group, qos };
        let made = with_library(|library| library.world.trigger(event, about))?;
        trigger.put(MPIRT_Trigger::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Trigger_set_time(
    trigger: MPIRT_Trigger,
    first: MPIRT_Timespec,
    period: MPIRT_Timespec,
) -> c_int {
    answer(|| {
        with_library(|library| library.world.trigger_times(trigger.handle(), Nanos(first), Nanos(period)))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Trigger_fire(trigger: MPIRT_Trigger) -> c_int {
    answer(|| with_committed(|committed| committed.fire(trigger.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Trigger_free(trigger: Out<MPIRT_Trigger>) -> c_int {
    free(trigger, Some(Class::Trigger))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Handler_create(
    name: NameIn,
    function: Option<MPIRT_Handler_function>,
    argument: *mut c_void,
    qos: MPIRT_Qos,
    handler: Out<MPIRT_Handler>,
) -> c_int {
    answer(|| {
        let name = name.read()?;
        let function = function.ok_or(Code::NullPointer)?;
        handler.check()?;
        let argument = Argument(argument);
        let run: HandlerFunction = Arc::new(move |receptor, firing, committed| {
            let event = event_of(firing);
            in_task(committed, || function(MPIRT_Receptor::of(receptor), &raw const event, argument.get()));
        });
        let made = with_library(|library| library.world.handler(name, qos.handle(), run))?;
        handler.put(MPIRT_Handler::of(made))
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
    /// Runs that panicked.
    pub failed: u64,
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Handler_get_metrics(
    handler: MPIRT_Handler,
    metrics: Out<MPIRTX_Handler_metrics>,
) -> c_int {
    answer(|| {
        metrics.check()?;
        let found = with_committed(|committed| committed.handler_metrics(handler.handle()))?;
        metrics.put(MPIRTX_Handler_metrics {
            compute: MPIRTX_Duration_metrics {
                count: found.compute.count,
                last: found.compute.last.0,
                least: found.compute.least.0,
                greatest: found.compute.greatest.0,
                sum: found.compute.sum.0,
            },
            overruns: found.overruns,
            failed: found.failed,
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Handler_free(handler: Out<MPIRT_Handler>) -> c_int {
    free(handler, Some(Class::Handler))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Default_handler_set(kind: MPIRT_Event_kind, handler: MPIRT_Handler) -> c_int {
    answer(|| {
        let kind = EventKind::of(kind).ok_or(Code::Argument)?;
        with_library(|library| library.world.set_default_handler(kind, handler.handle()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Receptor_create(
    event: NameIn,
    group: MPIRT_Group,
    handlers: MPIRT_Container,
    receptor: Out<MPIRT_Receptor>,
) -> c_int {
    answer(|| {
        let event = event.read_given()?;
        receptor.check()?;
        let made = with_library(|library| library.world.receptor(event, group.handle(), handlers.handle()))?;
        receptor.put(MPIRT_Receptor::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Receptor_combine(
    name: NameIn,
    combination: MPIRTX_Combination,
    parts: MPIRT_Container,
    handlers: MPIRT_Container,
    receptor: Out<MPIRT_Receptor>,
) -> c_int {
    answer(|| {
        let name = name.read()?;
        receptor.check()?;
        let combination = ReceptorCombination::of(combination).ok_or(Code::Argument)?;
        let members = (parts.handle(), handlers.handle());
        let made = with_library(|library| library.world.combined_receptor(name, combination, members))?;
        receptor.put(MPIRT_Receptor::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Receptor_wait(receptor: MPIRT_Receptor, timeout: MPIRT_Timespec) -> c_int {
    answer(|| {
        let timeout = match timeout {
            TIME_SPEC_IGNORE => FOREVER,
            timeout if timeout < 0 => return Err(Code::Time),
            timeout => Nanos(timeout).min(FOREVER),
        };
        may_block()?;
        with_committed(|committed| committed.receptor_wait(receptor.handle(), timeout)).map(drop)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Receptor_test(receptor: MPIRT_Receptor, flag: Out<c_int>) -> c_int {
    answer(|| {
        flag.check()?;
        let taken = with_committed(|committed| committed.receptor_test(receptor.handle()))?;
        flag.put(c_int::from(taken.is_some()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Receptor_get_event(receptor: MPIRT_Receptor, event: Out<MPIRTX_Event>) -> c_int {
    answer(|| {
        event.check()?;
        event.put(event_of(with_committed(|committed| committed.receptor_event(receptor.handle()))?))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Receptor_free(receptor: Out<MPIRT_Receptor>) -> c_int {
    free(receptor, Some(Class::Receptor))
}

/// The handle of an object as that of a class.
fn cast<T: CHandle>(object: MPIRT_Object, class: Class, out: Out<T>) -> c_int {
    answer(|| {
        let handle = object.handle();
        let found = with_library(|library| library.world.class(handle))?;
        if found != class {
            return Err(Code::WrongClass);
        }
        out.put(T::of(handle))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_trigger(object: MPIRT_Object, trigger: Out<MPIRT_Trigger>) -> c_int {
    cast(object, Class::Trigger, trigger)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_receptor(object: MPIRT_Object, receptor: Out<MPIRT_Receptor>) -> c_int {
    cast(object, Class::Receptor, receptor)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Object_as_handler(object: MPIRT_Object, handler: Out<MPIRT_Handler>) -> c_int {
    cast(object, Class::Handler, handler)
}
