//! Buffers.

use super::object::free;
use crate::answer::answer;
use crate::memory::Memory;
use crate::state::{with_either, with_library, with_world};
use crate::types::{CHandle, MPIRT_Buffer, MPIRT_Timespec, NameIn, Out};
use leveret_runtime::objects::{BufferDescription, Class, Code, Dataspec, Storage};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// What a buffer holds.
pub type MPIRT_Dataspec = c_int;

/// Its address says that commit provides a buffer's memory.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "as mpirt.h names it")]
pub static mpirt_system_mem_alloc: u8 = 0;

/// The memory that a base address names.
fn memory_at(base: *mut c_void, bufsize: usize) -> Result<Arc<dyn Storage>, Code> {
    if base.is_null() {
        return Err(Code::NullPointer);
    }
    // No memory reaches beyond the last address.
    if base.addr().checked_add(bufsize).is_none() {
        return Err(Code::Bufsize);
    }
    let is_system = std::ptr::eq(base.cast_const().cast(), &raw const mpirt_system_mem_alloc);
    Ok(Arc::new(if is_system {
        Memory::of_system(bufsize)
    } else {
        Memory::of_application(base.cast(), bufsize)
    }))
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
        let storage = memory_at(base, bufsize)?;
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
        let address = with_either(
            |committed| committed.address(handle),
            |library| library.world.buffer_address(handle),
        )?;
        base.put(std::ptr::with_exposed_provenance_mut(address))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_get_label(buffer: MPIRT_Buffer, label: Out<i64>) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        let found = with_either(|committed| committed.label(handle), |library| library.world.label(handle))?;
        label.put(found)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_set_label(buffer: MPIRT_Buffer, label: i64) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        with_either(
            |committed| committed.set_label(handle, label),
            |library| library.world.set_label(handle, label),
        )
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_free(buffer: Out<MPIRT_Buffer>) -> c_int {
    free(buffer, Some(Class::Buffer))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_set_bufsize(buffer: MPIRT_Buffer, bufsize: usize) -> c_int {
    answer(|| with_library(|library| library.world.set_buffer_size(buffer.handle(), bufsize)))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_set_base(buffer: MPIRT_Buffer, base: *mut c_void) -> c_int {
    answer(|| {
        with_library(|library| {
            let size = library.world.buffer_size(buffer.handle())?;
            library.world.set_buffer_storage(buffer.handle(), memory_at(base, size)?)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_get_dataspec(buffer: MPIRT_Buffer, dataspec: Out<MPIRT_Dataspec>) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        let found = with_either(
            |committed| committed.dataspec(handle),
            |library| library.world.buffer_dataspec(handle),
        )?;
        dataspec.put(found as MPIRT_Dataspec)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Buffer_set_dataspec(buffer: MPIRT_Buffer, dataspec: MPIRT_Dataspec) -> c_int {
    answer(|| {
        let dataspec = Dataspec::of(dataspec).ok_or(Code::Dataspec)?;
        with_library(|library| library.world.set_buffer_dataspec(buffer.handle(), dataspec))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Buffer_get_length(buffer: MPIRT_Buffer, length: Out<usize>) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        let found =
            with_either(|committed| committed.length(handle), |library| library.world.length(handle))?;
        length.put(found)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Buffer_set_length(buffer: MPIRT_Buffer, length: usize) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        with_either(
            |committed| committed.set_length(handle, length),
            |library| library.world.set_length(handle, length),
        )
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Buffer_get_instance(
    buffer: MPIRT_Buffer,
    instance: Out<u64>,
    inserted: Out<MPIRT_Timespec>,
) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        instance.check()?;
        inserted.check()?;
        let (number, stamp) = with_either(
            |committed| committed.received(handle),
            // That there is such a buffer, which nothing was received into.
            |library| library.world.buffer_size(handle).and(Err(Code::UndefForObject)),
        )?;
        instance.put(number)?;
        inserted.put(stamp.0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Dataspec_size(dataspec: MPIRT_Dataspec, size: Out<usize>) -> c_int {
    answer(|| {
        // Only while the library lives, as every other call.
        with_library(|_| Ok(()))?;
        size.put(Dataspec::of(dataspec).ok_or(Code::Dataspec)?.size())
    })
}
