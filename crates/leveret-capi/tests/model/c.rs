//! The C interface, called as a C program calls it: by the names and types of `mpirt.h`.

use crate::call::{Answer, Call, Interface};
// The library itself; its functions are found by their symbols.
use mpirt as _;
use std::ffi::{CString, c_char, c_int, c_void};

#[derive(Clone, Copy)]
#[repr(C)]
struct Handle {
    bits: u64,
}

#[repr(C)]
struct Status {
    state: c_int,
    outcome: c_int,
    instance: u64,
    under_way: c_int,
}

#[allow(non_upper_case_globals, reason = "as mpirt.h names them")]
unsafe extern "C" {
    static mpirt_system_mem_alloc: u8;
    static mpirt_group_world: Handle;
    static mpirt_qos_best_effort: Handle;
    fn MPIRT_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int;
    fn MPIRT_Finalize() -> c_int;
    fn MPIRT_Commit() -> c_int;
    fn MPIRT_Uncommit() -> c_int;
    fn MPIRTX_Mode_open(name: *const c_char, mode: *mut Handle) -> c_int;
    fn MPIRT_Object_free(object: *mut Handle) -> c_int;
    fn MPIRT_Buffer_create(
        name: *const c_char,
        base: *mut c_void,
        bufsize: usize,
        dataspec: c_int,
        buffer: *mut Handle,
    ) -> c_int;
    fn MPIRT_Buffer_get_base(buffer: Handle, base: *mut *mut c_void) -> c_int;
    fn MPIRT_Buffer_set_label(buffer: Handle, label: i64) -> c_int;
    fn MPIRT_Buffer_get_label(buffer: Handle, label: *mut i64) -> c_int;
    fn MPIRT_Cvector_create(
        name: *const c_char,
        size: c_int,
        elements: *const Handle,
        cvector: *mut Handle,
    ) -> c_int;
    fn MPIRT_Bufiter_create(
        name: *const c_char,
        policy: c_int,
        bufsize: usize,
        dataspec: c_int,
        allowed: Handle,
        bufiter: *mut Handle,
    ) -> c_int;
    fn MPIRT_Bufiter_insert(bufiter: Handle, buffer: Handle) -> c_int;
    fn MPIRT_Bufiter_remove(bufiter: Handle, buffer: *mut Handle) -> c_int;
    fn MPIRTX_Bufiter_get_count(bufiter: Handle, count: *mut c_int) -> c_int;
    fn MPIRT_Ptchannel_create(
        name: *const c_char,
        inbufiter: Handle,
        outbufiter: Handle,
        source: c_int,
        target: c_int,
        group: Handle,
        qos: Handle,
        channel: *mut Handle,
    ) -> c_int;
    fn MPIRTX_Channel_set_slack(channel: Handle, slack: c_int) -> c_int;
    fn MPIRT_Channel_start(channel: Handle) -> c_int;
    fn MPIRT_Channel_activate(channel: Handle) -> c_int;
    fn MPIRT_Channel_deactivate(channel: Handle) -> c_int;
    fn MPIRT_Channel_test(channel: Handle, flag: *mut c_int) -> c_int;
    fn MPIRT_Channel_wait(channel: Handle, timeout: i64) -> c_int;
    fn MPIRTX_Channel_get_status(channel: Handle, status: *mut Status) -> c_int;
}

/// What stands in a result before the call; on an error every result but a handle is still that.
const UNTOUCHED: u64 = 0x5a5a_5a5a;

/// The C interface of this process.
pub struct C(());

impl C {
    /// `MPIRT_Init`.
    pub fn join() -> Self {
        // SAFETY: both may be null.
        let code = unsafe { MPIRT_Init(std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(code, 0, "MPIRT_Init");
        Self(())
    }

    /// `MPIRT_Finalize`.
    pub fn leave(self) {
        // SAFETY: it takes nothing.
        assert_eq!(unsafe { MPIRT_Finalize() }, 0, "MPIRT_Finalize");
    }
}

/// The answer of a function whose result is a handle, which is null on error.
fn handle_from(call: impl FnOnce(*mut Handle) -> c_int) -> Answer {
    let mut made = Handle { bits: UNTOUCHED };
    let code = call(&raw mut made);
    assert!(code == 0 || made.bits == 0, "on error {code} the handle is {:#x}", made.bits);
    Answer { code, values: [made.bits, 0, 0, 0] }
}

/// The answer of a function whose result is a number, which stays as it is on error.
fn number_from(call: impl FnOnce(*mut c_int) -> c_int) -> Answer {
    let mut number = UNTOUCHED as c_int;
    let code = call(&raw mut number);
    if code == 0 {
        return Answer::value(number as u64);
    }
    assert_eq!(number, UNTOUCHED as c_int, "on error {code}");
    Answer::code(code)
}

fn handle(bits: u64) -> Handle {
    Handle { bits }
}

fn base_of(buffer: u64) -> Result<*mut u64, c_int> {
    let mut base = std::ptr::null_mut();
    // SAFETY: the result has a place.
    match unsafe { MPIRT_Buffer_get_base(handle(buffer), &raw mut base) } {
        0 => Ok(base.cast()),
        code => Err(code),
    }
}

impl Interface for C {
    fn call(&mut self, call: &Call) -> Answer {
        match call {
            Call::Buffer { .. }
            | Call::Vector(_)
            | Call::Iterator { .. }
            | Call::Channel { .. }
            | Call::Mode => create(call),
            Call::Start(_)
            | Call::Activate(_)
            | Call::Deactivate(_)
            | Call::Test(_)
            | Call::Wait(..)
            | Call::Status(_) => of_channel(call),
            Call::Free(object) => {
                let mut object = handle(*object);
                // SAFETY: the handle has a place.
                Answer::code(unsafe { MPIRT_Object_free(&raw mut object) })
            }
            // SAFETY: it takes nothing.
            Call::Commit => Answer::code(unsafe { MPIRT_Commit() }),
            // SAFETY: it takes nothing.
            Call::Uncommit => Answer::code(unsafe { MPIRT_Uncommit() }),
            Call::Insert { iterator, buffer } => {
                // SAFETY: any numbers may be handles.
                Answer::code(unsafe { MPIRT_Bufiter_insert(handle(*iterator), handle(*buffer)) })
            }
            Call::Remove(iterator) => handle_from(|made| {
                // SAFETY: the result has a place.
                unsafe { MPIRT_Bufiter_remove(handle(*iterator), made) }
            }),
            Call::Count(iterator) => {
                // SAFETY: the result has a place.
                number_from(|number| unsafe { MPIRTX_Bufiter_get_count(handle(*iterator), number) })
            }
            Call::SetLabel(buffer, label) => {
                // SAFETY: any number may be a handle.
                Answer::code(unsafe { MPIRT_Buffer_set_label(handle(*buffer), *label) })
            }
            Call::Label(buffer) => {
                let mut label = 0_i64;
                // SAFETY: the result has a place.
                let code = unsafe { MPIRT_Buffer_get_label(handle(*buffer), &raw mut label) };
                Answer { code, values: [label as u64, 0, 0, 0] }
            }
            Call::Write(buffer, number) => match base_of(*buffer) {
                Ok(base) => {
                    // SAFETY: the buffer is committed, has 8 bytes at least, begins at a line, and is the program's.
                    unsafe { base.write(*number) };
                    Answer::default()
                }
                Err(code) => Answer::code(code),
            },
            Call::Read(buffer) => match base_of(*buffer) {
                // SAFETY: as for a write.
                Ok(base) => Answer::value(unsafe { base.read() }),
                Err(code) => Answer::code(code),
            },
            Call::End => Answer::default(),
        }
    }
}

fn create(call: &Call) -> Answer {
    let unnamed = std::ptr::null();
    match call {
        Call::Buffer { size, dataspec } => handle_from(|made| {
            // SAFETY: the base is the one that stands for memory of the library's own, and the result has a place.
            unsafe {
                let base = (&raw const mpirt_system_mem_alloc).cast_mut().cast();
                MPIRT_Buffer_create(unnamed, base, *size as usize, *dataspec, made)
            }
        }),
        Call::Mode => handle_from(|made| {
            // SAFETY: the name ends, and the result has a place.
            unsafe { MPIRTX_Mode_open(c"mode".as_ptr(), made) }
        }),
        Call::Vector(members) => handle_from(|made| {
            let members: Vec<Handle> = members.iter().map(|member| handle(*member)).collect();
            // SAFETY: there are so many members, and the result has a place.
            unsafe { MPIRT_Cvector_create(unnamed, members.len() as c_int, members.as_ptr(), made) }
        }),
        Call::Iterator { policy, size, dataspec, allowed } => handle_from(|made| {
            // SAFETY: the result has a place.
            unsafe {
                MPIRT_Bufiter_create(unnamed, *policy, *size as usize, *dataspec, handle(*allowed), made)
            }
        }),
        Call::Channel { name, iterators: [input, output], slack } => {
            let name = CString::new(name.as_str()).expect("a name without zeros");
            let made = handle_from(|made| {
                // SAFETY: the name ends within the limit, and the result has a place.
                unsafe {
                    let (group, qos) = (mpirt_group_world, mpirt_qos_best_effort);
                    MPIRT_Ptchannel_create(
                        name.as_ptr(),
                        handle(*input),
                        handle(*output),
                        0,
                        1,
                        group,
                        qos,
                        made,
                    )
                }
            });
            let code = match made.code {
                // SAFETY: any number may be a handle.
                0 => unsafe { MPIRTX_Channel_set_slack(handle(made.values[0]), *slack) },
                code => code,
            };
            Answer { code, ..made }
        }
        other => unreachable!("{other:?} creates nothing"),
    }
}

fn of_channel(call: &Call) -> Answer {
    match call {
        // SAFETY: any number may be a handle.
        Call::Start(channel) => Answer::code(unsafe { MPIRT_Channel_start(handle(*channel)) }),
        // SAFETY: any number may be a handle.
        Call::Activate(channel) => Answer::code(unsafe { MPIRT_Channel_activate(handle(*channel)) }),
        // SAFETY: any number may be a handle.
        Call::Deactivate(channel) => Answer::code(unsafe { MPIRT_Channel_deactivate(handle(*channel)) }),
        // SAFETY: the result has a place.
        Call::Test(channel) => number_from(|flag| unsafe { MPIRT_Channel_test(handle(*channel), flag) }),
        Call::Wait(channel, timeout) => {
            // SAFETY: any number may be a handle.
            Answer::code(unsafe { MPIRT_Channel_wait(handle(*channel), *timeout) })
        }
        Call::Status(channel) => {
            let mut status = Status { state: -1, outcome: -1, instance: 0, under_way: -1 };
            // SAFETY: the result has a place.
            match unsafe { MPIRTX_Channel_get_status(handle(*channel), &raw mut status) } {
                0 => Answer {
                    code: 0,
                    values: [
                        status.state as u64,
                        status.outcome as u64,
                        status.instance,
                        status.under_way as u64,
                    ],
                },
                code => Answer::code(code),
            }
        }
        other => unreachable!("{other:?} is about no channel"),
    }
}
