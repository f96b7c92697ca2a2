//! Buffer iterators.

use super::buffer::MPIRT_Dataspec;
use super::object::{free, made, told, told_object};
use crate::answer::{answer, keep_remedy, keep_subject};
use crate::state::{good_either, good_or_null, with_either, with_library};
use crate::types::{CHandle, MPIRT_Buffer, MPIRT_Bufiter, MPIRT_Container, NameIn, Out};
use leveret_runtime::objects::{BufiterPolicy, Code, Dataspec, Form, Handle, Policy};
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
pub unsafe extern "C" fn MPIRT_Bufiter_create(
    name: NameIn,
    policy: MPIRT_Bufiter_policy,
    bufsize: usize,
    dataspec: MPIRT_Dataspec,
    allowed: MPIRT_Container,
    bufiter: Out<MPIRT_Bufiter>,
) -> c_int {
    answer(|| {
        made(
            bufiter,
            || good_or_null(allowed),
            |allowed| {
                let name = name.read()?;
                let policy = policy_of(policy)?;
                let dataspec = Dataspec::of(dataspec).ok_or(Code::Dataspec)?;
                with_library(|library| library.world.bufiter(name, policy, (bufsize, dataspec), allowed))
            },
        )
        .inspect_err(|code| {
            let is_mapped = policy_of(policy).is_ok_and(|policy| policy.form == Form::Mapped);
            if *code == Code::Argument && is_mapped {
                keep_remedy(
                    "a MAPPED policy takes the i-th buffer of the allowed container for the i-th at the other end: give a Cvector of buffers",
                );
            }
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Bufiter_insert(bufiter: MPIRT_Bufiter, buffer: MPIRT_Buffer) -> c_int {
    answer(|| {
        let (iterator, buffer) = (bufiter.handle(), buffer.handle());
        let answer = with_either(
            |committed| committed.insert(iterator, buffer),
            |world| world.stock(iterator, buffer),
        );
        answer.inspect_err(|code| {
            if *code == Code::NotAllowed {
                name_due(iterator);
            }
        })
    })
}

/// Which buffer an ORDERED iterator waits for, for whoever asks what was wrong.
#[cold]
fn name_due(iterator: Handle) {
    let due = with_either(|committed| committed.due(iterator), |world| world.bufiter_due(iterator));
    if let Ok(Some(due)) = due {
        keep_subject(due.number());
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Bufiter_remove(bufiter: MPIRT_Bufiter, buffer: Out<MPIRT_Buffer>) -> c_int {
    answer(|| {
        buffer.clear();
        let iterator = bufiter.handle();
        buffer.check_after(|| good_either(bufiter))?;
        let removed = with_either(|committed| committed.remove(iterator), |world| world.unstock(iterator))?;
        buffer.put(MPIRT_Buffer::of(removed))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Bufiter_free(iterator: Out<MPIRT_Bufiter>) -> c_int {
    answer(|| free(iterator))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Bufiter_get_count(bufiter: MPIRT_Bufiter, count: Out<c_int>) -> c_int {
    answer(|| {
        let iterator = bufiter.handle();
        count.check_after(|| good_either(bufiter))?;
        let found =
            with_either(|committed| committed.count(iterator), |world| world.bufiter_count(iterator))?;
        count.put(found as c_int)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Bufiter_get_policy(
    bufiter: MPIRT_Bufiter,
    policy: Out<MPIRT_Bufiter_policy>,
) -> c_int {
    answer(|| told(bufiter, policy, |world, iterator| world.bufiter_policy(iterator).map(number_of)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Bufiter_get_bufsize(bufiter: MPIRT_Bufiter, bufsize: Out<usize>) -> c_int {
    answer(|| told(bufiter, bufsize, |world, iterator| Ok(world.bufiter_shape(iterator)?.0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Bufiter_get_dataspec(
    bufiter: MPIRT_Bufiter,
    dataspec: Out<MPIRT_Dataspec>,
) -> c_int {
    answer(|| {
        told(bufiter, dataspec, |world, iterator| Ok(world.bufiter_shape(iterator)?.1 as MPIRT_Dataspec))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Bufiter_get_allowed(
    bufiter: MPIRT_Bufiter,
    allowed: Out<MPIRT_Container>,
) -> c_int {
    answer(|| told_object(bufiter, allowed, |world, iterator| world.bufiter_allowed(iterator)))
}
