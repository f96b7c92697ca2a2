//! Modes: a second set of objects beside the one that runs (our extension).

use super::object::{free, made};
use crate::answer::{answer, keep_detail};
use crate::reserve::{ready_for_commit, without_memory};
use crate::state::{self, check_running, good, with_library};
use crate::types::{MPIRT_Object, MPIRT_Timespec, MPIRTX_Mode, NameIn, Out, TIME_SPEC_IGNORE};
use leveret_runtime::objects::{Code, Library};
use leveret_types::Nanos;
use std::ffi::c_int;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Mode_open(name: NameIn, mode: Out<MPIRTX_Mode>) -> c_int {
    answer(|| {
        made(mode, check_running, |()| {
            name.check()?;
            let name = name.read()?;
            let made = with_library(|library| library.world.open_mode(name))?;
            state::beside();
            Ok(made)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Mode_keep(mode: MPIRTX_Mode, object: MPIRT_Object) -> c_int {
    answer(|| {
        check_running()?;
        let (mode, object) = (good(mode)?, good(object)?);
        with_library(|library| {
            library.world.keep(mode, object).inspect_err(|code| {
                let why = (*code == Code::UndefForObject).then(|| library.world.why_not_kept(object));
                why.flatten().into_iter().for_each(|why| keep_detail(&why));
            })
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Mode_commit(mode: MPIRTX_Mode) -> c_int {
    answer(|| {
        check_running()?;
        let mode = good(mode)?;
        with_library(|library| match ready_for_commit(&library.world) {
            Ok(()) => library.commit_mode(mode).inspect_err(|_| explain(library)),
            Err(code) => without_memory(|| {
                let declined = library.decline_mode(mode, code);
                explain(library);
                Err(declined)
            }),
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Mode_switch(
    mode: MPIRTX_Mode,
    earliest: MPIRT_Timespec,
    at: Out<MPIRT_Timespec>,
) -> c_int {
    answer(|| {
        check_running()?;
        let mode = good(mode)?;
        at.check()?;
        let earliest = (earliest != TIME_SPEC_IGNORE).then_some(Nanos(earliest));
        let agreed = with_library(|library| {
            let agreed = library.switch_mode(mode, earliest);
            let agreed = agreed.inspect_err(|_| explain(library))?;
            if let Some(committed) = library.committed() {
                state::publish(committed.clone());
            }
            Ok(agreed)
        })?;
        at.put(agreed.0)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Mode_get_current(mode: Out<MPIRTX_Mode>) -> c_int {
    answer(|| made(mode, check_running, |()| with_library(|library| library.world.current_mode())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Mode_free(mode: Out<MPIRTX_Mode>) -> c_int {
    answer(|| free(mode))
}

/// What the library says beyond the code, if it does.
fn explain(library: &Library) {
    if !library.refusal().is_empty() {
        keep_detail(library.refusal());
    }
}
