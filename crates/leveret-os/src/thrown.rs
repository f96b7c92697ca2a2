//! What an exception of C++ says that nobody has caught, so that a report can tell it. The C++ library is asked by its binary interface
//! (Itanium C++ ABI), and only if the program has one.

use std::arch::asm;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

/// The thrown object lies behind the unwinder's part of an exception.
const OF_UNWINDER: usize = 32;
/// More of a text is not passed on.
const SAID_BYTES_MAX: usize = 1024;
/// In the tables of `std::type_info`: the function that says whether a handler of this type catches that one, the same place in libstdc++
/// (`__do_catch`) and in libc++abi (`can_catch`).
const CATCHES: usize = 4;
/// In the table of `std::exception`.
const WHAT: usize = 2;

type Table = *const *const c_void;
type ThrownType = unsafe extern "C" fn() -> *const Table;
type Catches = unsafe extern "C" fn(*const Table, *const Table, *mut *mut c_void, c_uint) -> bool;
type What = unsafe extern "C" fn(*mut c_void) -> *const c_char;
/// Gives a text on the heap, or null: the mangled name, a buffer or null, its size or null, and whether it went well.
type Demangle = unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;

/// What an exception says that is a `std::exception`, at most 1 KiB of it; the type of any other.
///
/// # Safety
/// It is one of C++, not shared, that its handler has begun with and not ended.
pub(crate) unsafe fn text_of(exception: *mut c_void) -> Option<String> {
    let (thrown_type, base) = types_of_cpp()?;
    // SAFETY: there is an exception that is being handled, so that it has a type; both types begin with their tables. A handler of
    // `std::exception` gets the address of that part of the object, and such an object begins with its table.
    unsafe {
        let thrown = thrown_type();
        let mut object = exception.byte_add(OF_UNWINDER);
        let catches: Catches = transmute((*base).add(CATCHES).read());
        if !catches(base, thrown, &raw mut object, 1) {
            return name_of(thrown);
        }
        let what: What = transmute(object.cast::<Table>().read().add(WHAT).read());
        copied(what(object))
    }
}

/// `a value of type int`.
///
/// # Safety
/// It is a type's description, which begins with its table and its name.
unsafe fn name_of(thrown: *const Table) -> Option<String> {
    // SAFETY: the caller's promise. The name that is made lies on the heap, and is this function's.
    unsafe {
        let name: *const c_char = thrown.add(1).read().cast();
        // A name that is the same in one object file only begins with a star.
        let mangled = name.add(usize::from(!name.is_null() && name.read() == b'*' as c_char));
        let mut status = 0;
        let readable = demangle().map(|demangle| demangle(mangled, null_mut(), null_mut(), &raw mut status));
        let readable = readable.filter(|readable| !readable.is_null());
        let told = copied(readable.map_or(mangled, |readable| readable.cast_const()));
        libc::free(readable.unwrap_or(null_mut()).cast());
        told.map(|name| format!("a value of type {name}"))
    }
}

/// # Safety
/// It is null, or a text that ends with a zero.
unsafe fn copied(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    Some(String::from_utf8_lossy(&text[..text.len().min(SAID_BYTES_MAX)]).into_owned())
}

/// How the C++ library tells the type of what is being handled, and the type `std::exception`.
fn types_of_cpp() -> Option<(ThrownType, *const Table)> {
    let (thrown, base): (*const c_void, *const c_void);
    // SAFETY: it reads two addresses that the linker fills in; those of weak symbols that nobody has are null.
    unsafe {
        asm!(
            ".weak __cxa_current_exception_type",
            ".weak _ZTISt9exception",
            "mov {thrown}, qword ptr [rip + __cxa_current_exception_type@GOTPCREL]",
            "mov {base}, qword ptr [rip + _ZTISt9exception@GOTPCREL]",
            thrown = out(reg) thrown,
            base = out(reg) base,
            options(nostack, pure, readonly, preserves_flags),
        );
    }
    if thrown.is_null() || base.is_null() {
        return None;
    }
    // SAFETY: of the C++ ABI's interface.
    Some((unsafe { transmute::<*const c_void, ThrownType>(thrown) }, base.cast()))
}

/// How the C++ library makes a type's name readable.
fn demangle() -> Option<Demangle> {
    let demangle: *const c_void;
    // SAFETY: as in `types_of_cpp`.
    unsafe {
        asm!(
            ".weak __cxa_demangle",
            "mov {demangle}, qword ptr [rip + __cxa_demangle@GOTPCREL]",
            demangle = out(reg) demangle,
            options(nostack, pure, readonly, preserves_flags),
        );
        // SAFETY: it is null, or what the C++ ABI declares so.
        transmute::<*const c_void, Option<Demangle>>(demangle)
    }
}
