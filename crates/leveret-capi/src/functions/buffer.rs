//! Buffers and buffer iterators.

use super::object::free;
use crate::answer::answer;
use crate::memory::Memory;
use crate::state::{is_committed, with_committed, with_library, with_world};
use crate::types::{CHandle, MPIRT_Buffer, MPIRT_Bufiter, MPIRT_Container, NameIn, Out};
use leveret_runtime::objects::{BufferDescription, Class, Code, Dataspec, Policy, Storage};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// What a buffer holds.
pub type MPIRT_Dataspec = c_int;
/// The order of removal.
pub type MPIRT_Bufiter_policy = c_int;

/// Its address says that commit provides a buffer's memory.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "as mpirt.h names it")]
pub static mpirt_system_mem_alloc: u8 = 0;

fn policy_of(number: MPIRT_Bufiter_policy) -> Result<Policy, Code> {
    Ok(match number {
        0 => Policy::Fifo,
        1 => Policy::Lifo,
        2 => Policy::Sorted,
        3 => Policy::Unordered,
        8 => Policy::Ordered,
        _ => return Err(Code::Argument),
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_create(
    name: NameIn,
    base: *mut c_void,
    bufsize: usize,
    dataspec: MPIRT_Dataspec,
    buffer: Out<MPIRT_Buffer>,
) -> c_int {
    answer(|| {
        let name = name.read()?;
        let dataspec = Dataspec::of(dataspec).ok_or(Code::Dataspec)?;
        buffer.check()?;
        if base.is_null() {
            return Err(Code::NullPointer);
        }
        // No memory reaches beyond the last address.
        if base.addr().checked_add(bufsize).is_none() {
            return Err(Code::Bufsize);
        }
        let is_system = std::ptr::eq(base.cast_const().cast(), &raw const mpirt_system_mem_alloc);
        let memory =
            if is_system { Memory::of_system(bufsize) } else { Memory::of_application(base.cast(), bufsize) };
        let storage: Arc<dyn Storage> = Arc::new(memory);
        let made = with_library(|library| {
            library.world.buffer(name, BufferDescription { size: bufsize, dataspec, storage })
        })?;
        buffer.put(MPIRT_Buffer::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_get_bufsize(buffer: MPIRT_Buffer, bufsize: Out<usize>) -> c_int {
    answer(|| {
        let found = with_world(|world| world.buffer_size(buffer.handle()))?;
        bufsize.put(found)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_get_base(buffer: MPIRT_Buffer, base: Out<*mut c_void>) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        let address = if is_committed() {
            with_committed(|committed| committed.address(handle))?
        } else {
            with_library(|library| library.world.buffer_address(handle))?
        };
        base.put(std::ptr::with_exposed_provenance_mut(address))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_get_label(buffer: MPIRT_Buffer, label: Out<i64>) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        let found = if is_committed() {
            with_committed(|committed| committed.label(handle))?
        } else {
            with_library(|library| library.world.label(handle))?
        };
        label.put(found)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_set_label(buffer: MPIRT_Buffer, label: i64) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        if is_committed() {
            with_committed(|committed| committed.set_label(handle, label))
        } else {
            with_library(|library| library.world.set_label(handle, label))
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_free(buffer: Out<MPIRT_Buffer>) -> c_int {
    free(buffer, Some(Class::Buffer))
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
        if is_committed() {
            with_committed(|committed| committed.insert(iterator, buffer))
        } else {
            with_library(|library| library.world.stock(iterator, buffer))
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_remove(bufiter: MPIRT_Bufiter, buffer: Out<MPIRT_Buffer>) -> c_int {
    answer(|| {
        let iterator = bufiter.handle();
        buffer.check()?;
        let removed = if is_committed() {
            with_committed(|committed| committed.remove(iterator))?
        } else {
            with_library(|library| library.world.unstock(iterator))?
        };
        buffer.put(MPIRT_Buffer::of(removed))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bufiter_free(iterator: Out<MPIRT_Bufiter>) -> c_int {
    free(iterator, Some(Class::Bufiter))
}
