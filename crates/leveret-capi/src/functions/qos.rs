//! Qualities of service. A handler's is made in `event.rs`.

use super::object::{free, made, no_handles, told};
use crate::answer::{answer, keep_detail, keep_remedy};
use crate::state::{good, with_library, with_world};
use crate::types::{CHandle, MPIRT_Qos, MPIRT_Timespec, NameIn, NameOut, Out, TIME_SPEC_IGNORE};
use leveret_runtime::objects::{Code, MissingPolicy, PRIORITY_MAX, Qos};
use leveret_types::Nanos;
use std::ffi::c_int;

/// The kind of a QoS; the numbers stand in `mpirt.h`.
pub type MPIRTX_Qos_kind = c_int;
/// What the receiver sees of a miss; the numbers stand in `mpirt.h`.
pub type MPIRTX_Miss_policy = c_int;

const POLICIES: [MissingPolicy; 3] = [MissingPolicy::Skip, MissingPolicy::HoldLast, MissingPolicy::Stop];

/// A time that may be left open.
fn given(time: MPIRT_Timespec) -> Option<Nanos> {
    (time != TIME_SPEC_IGNORE).then_some(Nanos(time))
}

fn shown(time: Option<Nanos>) -> MPIRT_Timespec {
    time.map_or(TIME_SPEC_IGNORE, |time| time.0)
}

/// What is wrong with a priority, in a call that fails.
fn priority_told(code: Code, priority: c_int) {
    if code == Code::Argument && !(1..=c_int::from(PRIORITY_MAX)).contains(&priority) {
        keep_remedy(&format!(
            "the priority {priority} was given; give one from 1, the least urgent, to {PRIORITY_MAX}"
        ));
    }
}

/// What is negative or too great is out of range too.
fn priority_of(priority: c_int) -> u8 {
    u8::try_from(priority).unwrap_or(0)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Qos_channel_time_create(
    name: NameIn,
    start: MPIRT_Timespec,
    deadline: MPIRT_Timespec,
    period: MPIRT_Timespec,
    qos: Out<MPIRT_Qos>,
) -> c_int {
    answer(|| {
        made(qos, no_handles, |()| {
            let [start, deadline, period] = [start, deadline, period].map(Nanos);
            let name = name.read()?;
            with_library(|library| library.world.qos(name, Qos::Time { start, deadline, period })).inspect_err(
                |code| {
                    if *code == Code::Time {
                        keep_detail(&format!(
                            "MPIRT_Qos_channel_time_create: a start of {start}, a deadline of {deadline} and a period of {period} make \
                             no window; start at 0 or later, let the deadline lie after the start and within the period, or give a \
                             period of 0 for one window at an absolute time"
                        ));
                    }
                },
            )
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Qos_channel_event_create(
    name: NameIn,
    start_event: NameIn,
    completion_event: NameIn,
    qos: Out<MPIRT_Qos>,
) -> c_int {
    answer(|| {
        made(qos, no_handles, |()| {
            let name = name.read()?;
            let (start, completion) = (start_event.read()?, completion_event.read()?);
            with_library(|library| library.world.event_qos(name, Some(start), Some(completion)))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Qos_channel_priority_create(
    name: NameIn,
    priority: c_int,
    qos: Out<MPIRT_Qos>,
) -> c_int {
    answer(|| {
        made(qos, no_handles, |()| {
            let name = name.read()?;
            let kind = Qos::Priority { priority: priority_of(priority) };
            with_library(|library| library.world.qos(name, kind))
        })
        .inspect_err(|code| priority_told(*code, priority))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_get_kind(qos: MPIRT_Qos, kind: Out<MPIRTX_Qos_kind>) -> c_int {
    answer(|| {
        let found = with_world(|world| world.qos_kind(qos.handle()))?;
        kind.put(match found {
            Qos::BestEffort => 0,
            Qos::Time { .. } => 1,
            Qos::Event { .. } => 2,
            Qos::Priority { .. } => 3,
            Qos::Handler { .. } => 4,
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_get_time(
    qos: MPIRT_Qos,
    start: Out<MPIRT_Timespec>,
    deadline: Out<MPIRT_Timespec>,
    period: Out<MPIRT_Timespec>,
) -> c_int {
    answer(|| {
        let qos = good(qos)?;
        let places = [start, deadline, period];
        places.iter().try_for_each(|place| place.check())?;
        let found = with_world(|world| world.qos_time(qos))?;
        places.into_iter().zip(found).try_for_each(|(place, time)| place.put(time.0))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_get_events(
    qos: MPIRT_Qos,
    start_event: NameOut,
    completion_event: NameOut,
) -> c_int {
    answer(|| {
        let qos = good(qos)?;
        start_event.check()?;
        completion_event.check()?;
        with_world(|world| {
            let [start, completion] = world.qos_events(qos)?;
            start_event.put(start)?;
            completion_event.put(completion)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_get_priority(qos: MPIRT_Qos, priority: Out<c_int>) -> c_int {
    answer(|| told(qos, priority, |world, qos| world.qos_priority(qos).map(c_int::from)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_set_priority(qos: MPIRT_Qos, priority: c_int) -> c_int {
    answer(|| {
        with_library(|library| library.world.set_qos_priority(qos.handle(), priority_of(priority)))
            .inspect_err(|code| priority_told(*code, priority))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_get_phase(qos: MPIRT_Qos, phase: Out<MPIRT_Timespec>) -> c_int {
    answer(|| told(qos, phase, |world, qos| world.phase(qos).map(|phase| phase.0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_set_phase(qos: MPIRT_Qos, phase: MPIRT_Timespec) -> c_int {
    answer(|| with_library(|library| library.world.set_phase(qos.handle(), Nanos(phase))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_get_miss_policy(
    qos: MPIRT_Qos,
    policy: Out<MPIRTX_Miss_policy>,
) -> c_int {
    answer(|| {
        told(qos, policy, |world, qos| {
            let found = world.miss_policy(qos)?;
            let number = POLICIES.iter().position(|policy| *policy == found).ok_or(Code::Internal)?;
            c_int::try_from(number).map_err(|_| Code::Internal)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_set_miss_policy(qos: MPIRT_Qos, policy: MPIRTX_Miss_policy) -> c_int {
    answer(|| {
        let known = usize::try_from(policy).ok().and_then(|number| POLICIES.get(number).copied());
        with_library(|library| {
            // The handle is looked at before the number, and that before the state of the object.
            library.world.miss_policy(qos.handle())?;
            library.world.set_miss_policy(qos.handle(), known.ok_or(Code::Argument)?)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_get_deadline(qos: MPIRT_Qos, deadline: Out<MPIRT_Timespec>) -> c_int {
    answer(|| told(qos, deadline, |world, qos| world.qos_deadline(qos).map(shown)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_set_deadline(qos: MPIRT_Qos, deadline: MPIRT_Timespec) -> c_int {
    answer(|| with_library(|library| library.world.set_qos_deadline(qos.handle(), given(deadline))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_get_interval(qos: MPIRT_Qos, interval: Out<MPIRT_Timespec>) -> c_int {
    answer(|| told(qos, interval, |world, qos| world.qos_interval(qos).map(shown)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Qos_set_interval(qos: MPIRT_Qos, interval: MPIRT_Timespec) -> c_int {
    answer(|| with_library(|library| library.world.set_qos_interval(qos.handle(), given(interval))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Qos_free(qos: Out<MPIRT_Qos>) -> c_int {
    answer(|| free(qos))
}
