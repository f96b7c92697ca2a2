//! Buffer iterators.

use super::buffer::MPIRT_Dataspec;
use super::object::free;
use crate::answer::answer;
use crate::state::{with_either, with_library};
use crate::types::{CHandle, MPIRT_Buffer, MPIRT_Bufiter, MPIRT_Container, NameIn, Out};
use leveret_runtime::objects::{BufiterPolicy, Class, Code, Dataspec, Form, Handle, Policy};
use std::ffi::c_int;

/// The order of removal.
pub type MPIRT_Bufiter_policy = c_int;

/// In the order of `mpirt.h`: every base in each form.
const BASES: [Policy; 4] = [Policy::Fifo, Policy::Lifo, Policy::Sorted, Policy::Unordered];
const FORMS: [Form; 3] = [Form::Plain, Form::Mapped, Form::Ordered];

fn policy_of(number: MPIRT_Bufiter_policy) -> Result<BufiterPolicy, Code> {
    let number = usize::try_from(number).map_err(|_| Code::Argument)?;
    let form = *FORMS.get(number / BASES.len()).ok_or(Code::Argument)?;
    Ok(BufiterPolicy { base: BASES[number % BASES.len()], form })
}

fn number_of(policy: BufiterPolicy) -> MPIRT_Bufiter_policy {
    let base = BASES.iter().position(|base| *base == policy.base).unwrap_or(0);
    let form = FORMS.iter().position(|form| *form == policy.form).unwrap_or(0);
    (form * BASES.len() + base) as MPIRT_Bufiter_policy
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_create(
    name: NameIn,
    policy: MPIRT_Bufiter_policy,
    bufsize: usize,
    dataspec: MPIRT_Dataspec,
    allowed: MPIRT_Container,
    bufiter: Out<MPIRT_Bufiter>,
) -> c_int {
    answer(|| {
        let name = name.read()?;
        let policy = policy_of(policy)?;
        let dataspec = Dataspec::of(dataspec).ok_or(Code::Dataspec)?;
        bufiter.check()?;
        let made = with_library(|library| {
            library.world.bufiter(name, policy, (bufsize, dataspec), allowed.handle())
        })?;
        bufiter.put(MPIRT_Bufiter::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_insert(bufiter: MPIRT_Bufiter, buffer: MPIRT_Buffer) -> c_int {
    answer(|| {
        let (iterator, buffer) = (bufiter.handle(), buffer.handle());
        with_either(
            |committed| committed.insert(iterator, buffer),
            |library| library.world.stock(iterator, buffer),
        )
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_remove(bufiter: MPIRT_Bufiter, buffer: Out<MPIRT_Buffer>) -> c_int {
    answer(|| {
        let iterator = bufiter.handle();
        buffer.check()?;
        let removed =
            with_either(|committed| committed.remove(iterator), |library| library.world.unstock(iterator));
        if removed == Err(Code::Empty) {
            buffer.put(MPIRT_Buffer::of(Handle::null(Class::Buffer)))?;
        }
        buffer.put(MPIRT_Buffer::of(removed?))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_free(iterator: Out<MPIRT_Bufiter>) -> c_int {
    free(iterator, Some(Class::Bufiter))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Bufiter_get_count(bufiter: MPIRT_Bufiter, count: Out<c_int>) -> c_int {
    answer(|| {
        let iterator = bufiter.handle();
        let found = with_either(
            |committed| committed.count(iterator),
            |library| library.world.bufiter_count(iterator),
        )?;
        count.put(found as c_int)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_get_policy(
    bufiter: MPIRT_Bufiter,
    policy: Out<MPIRT_Bufiter_policy>,
) -> c_int {
    answer(|| {
        let found = with_library(|library| library.world.bufiter_policy(bufiter.handle()))?;
        policy.put(number_of(found))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_get_bufsize(bufiter: MPIRT_Bufiter, bufsize: Out<usize>) -> c_int {
    answer(|| {
        let (size, _) = with_library(|library| library.world.bufiter_shape(bufiter.handle()))?;
        bufsize.put(size)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_get_dataspec(bufiter: MPIRT_Bufiter, dataspec: Out<MPIRT_Dataspec>) -> c_int {
    answer(|| {
        let (_, found) = with_library(|library| library.world.bufiter_shape(bufiter.handle()))?;
        dataspec.put(found as MPIRT_Dataspec)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_get_allowed(bufiter: MPIRT_Bufiter, allowed: Out<MPIRT_Container>) -> c_int {
    answer(|| {
        let found = with_library(|library| library.world.bufiter_allowed(bufiter.handle()))?;
        allowed.put(MPIRT_Container::of(found))
    })
}
