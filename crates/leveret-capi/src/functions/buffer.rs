//! Buffers.

use super::object::{changed, free, made, no_handles};
use crate::answer::{answer, keep_detail, keep_remedy};
use crate::memory::Memory;
use crate::state::{check_live, good_either, with_either, with_library};
use crate::types::{CHandle, MPIRT_Buffer, MPIRT_Timespec, NameIn, Out};
use leveret_runtime::objects::{BufferDescription, Code, Committed, Dataspec, Handle, Storage, World};
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
pub unsafe extern "C" fn MPIRT_Buffer_create(
    name: NameIn,
    base: *mut c_void,
    bufsize: usize,
    dataspec: MPIRT_Dataspec,
    buffer: Out<MPIRT_Buffer>,
) -> c_int {
    answer(|| {
        made(buffer, no_handles, |()| {
            if base.is_null() {
                keep_detail(
                    "MPIRT_Buffer_create: the base is null; give the address of the buffer's memory, or MPIRT_SYSTEM_MEM_ALLOC for memory of \
                     the library's",
                );
                return Err(Code::NullPointer);
            }
            let name = name.read()?;
            let storage = memory_at(base, bufsize)?;
            let dataspec = Dataspec::of(dataspec).ok_or(Code::Dataspec)?;
            with_library(|library| {
                library.world.buffer(name, BufferDescription { size: bufsize, dataspec, storage })
            })
        })
        .inspect_err(|code| {
            if *code == Code::Bufsize {
                keep_remedy(&format!(
                    "{bufsize} bytes were given; give 1 to MPIRT_BUFSIZE_MAX, a multiple of the size of one element of the dataspec"
                ));
            }
        })
    })
}

/// Tells what is asked of a buffer: of one that is committed without a lock.
fn told<T: Copy>(
    buffer: MPIRT_Buffer,
    result: Out<T>,
    committed: impl FnOnce(&Committed, Handle) -> Result<T, Code>,
    world: impl FnOnce(&World, Handle) -> Result<T, Code>,
) -> Result<(), Code> {
    let handle = buffer.handle();
    result.check_after(|| good_either(buffer))?;
    result.put(with_either(|view| committed(view, handle), |now| world(now, handle))?)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Buffer_get_bufsize(buffer: MPIRT_Buffer, bufsize: Out<usize>) -> c_int {
    answer(|| {
        told(
            buffer,
            bufsize,
            |committed, buffer| committed.size(buffer),
            |world, buffer| world.buffer_size(buffer),
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Buffer_get_base(buffer: MPIRT_Buffer, base: Out<*mut c_void>) -> c_int {
    answer(|| {
        told(
            buffer,
            base,
            |committed, buffer| committed.address(buffer).map(std::ptr::with_exposed_provenance_mut),
            |world, buffer| world.buffer_address(buffer).map(std::ptr::with_exposed_provenance_mut),
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Buffer_get_writable(buffer: MPIRT_Buffer, writable: Out<c_int>) -> c_int {
    answer(|| {
        told(
            buffer,
            writable,
            |committed, buffer| committed.is_writable(buffer).map(c_int::from),
            |world, buffer| world.buffer_size(buffer).map(|_| 1),
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Buffer_get_label(buffer: MPIRT_Buffer, label: Out<i64>) -> c_int {
    answer(|| {
        told(buffer, label, |committed, buffer| committed.label(buffer), |world, buffer| world.label(buffer))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Buffer_set_label(buffer: MPIRT_Buffer, label: i64) -> c_int {
    answer(|| {
        let buffer = buffer.handle();
        with_either(|committed| committed.set_label(buffer, label), |world| world.set_label(buffer, label))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Buffer_free(buffer: Out<MPIRT_Buffer>) -> c_int {
    answer(|| free(buffer))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Buffer_set_bufsize(buffer: MPIRT_Buffer, bufsize: usize) -> c_int {
    answer(|| changed(buffer, |world, buffer| world.set_buffer_size(buffer, bufsize)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Buffer_set_base(buffer: MPIRT_Buffer, base: *mut c_void) -> c_int {
    answer(|| {
        changed(buffer, |world, buffer| {
            let size = world.buffer_size(buffer)?;
            world.set_buffer_storage(buffer, memory_at(base, size)?)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Buffer_get_dataspec(
    buffer: MPIRT_Buffer,
    dataspec: Out<MPIRT_Dataspec>,
) -> c_int {
    answer(|| {
        told(
            buffer,
            dataspec,
            |committed, buffer| committed.dataspec(buffer).map(|found| found as MPIRT_Dataspec),
            |world, buffer| world.buffer_dataspec(buffer).map(|found| found as MPIRT_Dataspec),
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Buffer_set_dataspec(buffer: MPIRT_Buffer, dataspec: MPIRT_Dataspec) -> c_int {
    answer(|| {
        changed(buffer, |world, buffer| {
            let dataspec = Dataspec::of(dataspec).ok_or(Code::Dataspec)?;
            world.set_buffer_dataspec(buffer, dataspec)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Buffer_get_length(buffer: MPIRT_Buffer, length: Out<usize>) -> c_int {
    answer(|| {
        told(
            buffer,
            length,
            |committed, buffer| committed.length(buffer),
            |world, buffer| world.length(buffer),
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Buffer_set_length(buffer: MPIRT_Buffer, length: usize) -> c_int {
    answer(|| {
        let buffer = buffer.handle();
        with_either(
            // While committed nothing is allocated, for a text neither.
            |committed| committed.set_length(buffer, length),
            |world| {
                world.set_length(buffer, length).inspect_err(|code| {
                    if *code == Code::Bufsize {
                        keep_remedy(&format!(
                            "{length} bytes were given; give no more than the buffer has, which MPIRT_Buffer_get_bufsize tells"
                        ));
                    }
                })
            },
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Buffer_get_instance(
    buffer: MPIRT_Buffer,
    instance: Out<u64>,
    inserted: Out<MPIRT_Timespec>,
) -> c_int {
    answer(|| {
        let handle = buffer.handle();
        instance.check_after(|| good_either(buffer))?;
        inserted.check_after(|| good_either(buffer))?;
        let (number, stamp) = with_either(
            |committed| committed.received(handle),
            // That there is such a buffer, which nothing was received into.
            |world| world.buffer_size(handle).and(Err(Code::UndefForObject)),
        )?;
        instance.put(number)?;
        inserted.put(stamp.0)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Dataspec_size(dataspec: MPIRT_Dataspec, size: Out<usize>) -> c_int {
    answer(|| {
        check_live()?;
        size.check()?;
        size.put(Dataspec::of(dataspec).ok_or(Code::Dataspec)?.size())
    })
}
