//! One operation on all members of a container, and containers made of containers.

use super::channel::timeout_of;
use super::object::{MPIRT_Object_type, kind_of, made};
use crate::answer::{answer, keep_subject};
use crate::reserve::ready_for_elements;
use crate::state::{check_setup, good, good_or_null, may_block, with_committed_of, with_library};
use crate::types::{CHandle, MPIRT_Channel, MPIRT_Container, MPIRT_Qos, MPIRT_Timespec, NameIn, Out};
use leveret_runtime::objects::{CONTAINER_MAX, Code, Handle, Outcome};
use std::ffi::c_int;

/// How an instance of a channel ended; the numbers stand in `mpirt.h`.
pub type MPIRTX_Outcome = c_int;

/// Says of which container it is that it reaches too much.
fn told_of<T>(container: MPIRT_Container, answer: Result<T, Code>) -> Result<T, Code> {
    answer.inspect_err(|code| {
        if *code == Code::Limit {
            keep_subject(container.handle().number());
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_start(container: MPIRT_Container) -> c_int {
    answer(|| {
        with_committed_of(container, |committed| told_of(container, committed.start_all(container.handle())))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_wait(container: MPIRT_Container, timeout: MPIRT_Timespec) -> c_int {
    answer(|| {
        may_block()?;
        with_committed_of(container, |committed| {
            committed.container_check(container.handle())?;
            told_of(container, committed.wait_all(container.handle(), timeout_of(timeout, || Ok(()))?))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_test(container: MPIRT_Container, flag: Out<c_int>) -> c_int {
    answer(|| {
        with_committed_of(container, |committed| {
            committed.container_check(container.handle())?;
            flag.check()?;
            flag.put(c_int::from(told_of(container, committed.test_all(container.handle()))?))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Container_wait_any(
    container: MPIRT_Container,
    timeout: MPIRT_Timespec,
    channel: Out<MPIRT_Channel>,
    outcome: Out<MPIRTX_Outcome>,
) -> c_int {
    answer(|| {
        channel.clear();
        may_block()?;
        with_committed_of(container, |committed| {
            committed.container_check(container.handle())?;
            channel.check().and(outcome.check())?;
            let timeout = timeout_of(timeout, || Ok(()))?;
            let (found, how) = told_of(container, committed.wait_any(container.handle(), timeout))?;
            outcome.put(how as MPIRTX_Outcome)?;
            channel.put(MPIRT_Channel::of(found))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Container_test_any(
    container: MPIRT_Container,
    flag: Out<c_int>,
    channel: Out<MPIRT_Channel>,
    outcome: Out<MPIRTX_Outcome>,
) -> c_int {
    answer(|| {
        channel.clear();
        with_committed_of(container, |committed| {
            committed.container_check(container.handle())?;
            flag.check().and(channel.check()).and(outcome.check())?;
            let found = told_of(container, committed.test_any(container.handle()))?;
            flag.put(c_int::from(found.is_some()))?;
            let (found, how) = found.unwrap_or((Handle::default(), Outcome::None));
            outcome.put(how as MPIRTX_Outcome)?;
            channel.put(MPIRT_Channel::of(found))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_activate(container: MPIRT_Container) -> c_int {
    answer(|| {
        with_committed_of(container, |committed| {
            told_of(container, committed.activate_all(container.handle()))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_deactivate(container: MPIRT_Container) -> c_int {
    answer(|| {
        with_committed_of(container, |committed| {
            told_of(container, committed.deactivate_all(container.handle()))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_set_qos(container: MPIRT_Container, qos: MPIRT_Qos) -> c_int {
    answer(|| {
        check_setup()?;
        let container = good(container)?;
        let qos = good_or_null(qos)?;
        with_library(|library| library.world.container_set_qos(container, qos))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_flatten(
    container: MPIRT_Container,
    name: NameIn,
    result: Out<MPIRT_Container>,
) -> c_int {
    answer(|| {
        made(
            result,
            || good(container),
            |container| {
                let name = name.read()?;
                ready_for_elements(CONTAINER_MAX * size_of::<Handle>())?;
                with_library(|library| library.world.flatten(name, container))
            },
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Container_filter(
    container: MPIRT_Container,
    kind: MPIRT_Object_type,
    name: NameIn,
    result: Out<MPIRT_Container>,
) -> c_int {
    answer(|| {
        made(
            result,
            || good(container),
            |container| {
                let name = name.read()?;
                let kind = kind_of(kind).ok_or(Code::Argument)?;
                ready_for_elements(CONTAINER_MAX * size_of::<Handle>())?;
                with_library(|library| library.world.filter(name, container, kind))
            },
        )
    })
}
