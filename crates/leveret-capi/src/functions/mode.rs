//! Modes: a second set of objects beside the one that runs (our extension).

use super::object::free;
use crate::answer::{answer, keep_detail};
use crate::state::{self, with_library};
use crate::types::{CHandle, MPIRT_Timespec, MPIRTX_Mode, NameIn, Out, TIME_SPEC_IGNORE};
use leveret_runtime::objects::Class;
use leveret_types::Nanos;
use std::ffi::c_int;

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Mode_open(name: NameIn, mode: Out<MPIRTX_Mode>) -> c_int {
    answer(|| {
        mode.clear();
        mode.check()?;
        let name = name.read_given()?;
        let made = with_library(|library| library.world.open_mode(name))?;
        state::beside();
        mode.put(MPIRTX_Mode::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Mode_commit(mode: MPIRTX_Mode) -> c_int {
    answer(|| {
        with_library(|library| {
            library.commit_mode(mode.handle()).inspect_err(|_| keep_detail(library.refusal()))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Mode_switch(
    mode: MPIRTX_Mode,
    earliest: MPIRT_Timespec,
    at: Out<MPIRT_Timespec>,
) -> c_int {
    answer(|| {
        at.check()?;
        let earliest = (earliest != TIME_SPEC_IGNORE).then_some(Nanos(earliest));
        let agreed = with_library(|library| {
            let agreed = library.switch_mode(mode.handle(), earliest);
            let agreed = agreed.inspect_err(|_| keep_detail(library.refusal()))?;
            if let Some(committed) = library.committed() {
                state::publish(committed.clone());
            }
            Ok(agreed)
        })?;
        at.put(agreed.0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Mode_get_current(mode: Out<MPIRTX_Mode>) -> c_int {
    answer(|| {
        mode.check()?;
        let found = with_library(|library| library.world.current_mode())?;
        mode.put(MPIRTX_Mode::of(found))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Mode_free(mode: Out<MPIRTX_Mode>) -> c_int {
    free(mode, Some(Class::Mode))
}
