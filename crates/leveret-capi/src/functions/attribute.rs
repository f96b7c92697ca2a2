//! Keys and attributes. Delete functions run without the library's lock, so they may call it.

use crate::answer::{answer, keep_detail};
use crate::reserve::ready;
use crate::state::{check_setup, good, with_library};
use crate::types::{CHandle, MPIRT_Object, Out};
use leveret_os::contained::contained;
use leveret_runtime::objects::{Code, DeleteFunction, Handle, Keyval, Value};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// No key.
const KEYVAL_INVALID: c_int = -1;

/// Called when an attribute goes away.
pub type MPIRT_Delete_function = extern "C-unwind" fn(MPIRT_Object, c_int, *mut c_void, *mut c_void) -> c_int;

/// What a program in C stores; the library only keeps it.
struct Pointer(*mut c_void);

// SAFETY: the pointer is never followed here; the program gets it back on whatever thread asks for it.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

impl Pointer {
    fn get(&self) -> *mut c_void {
        self.0
    }

    /// As it was stored; null if a program in Rust has stored something else.
    fn of(value: &Value) -> *mut c_void {
        value.downcast_ref().map_or(std::ptr::null_mut(), Self::get)
    }
}

fn delete_function(function: MPIRT_Delete_function, extra: Pointer) -> DeleteFunction {
    Arc::new(move |object, key, value| {
        let mut answer = 0;
        let returned = contained(|| {
            answer = function(MPIRT_Object::of(object), key.number(), Pointer::of(value), extra.get());
        });
        if returned == Ok(()) && answer == 0 {
            return Ok(());
        }
        let code = if returned.is_ok() { Code::of(answer) } else { None };
        // Whatever the number means elsewhere: here it is the program that has said it.
        let said = match (returned, code) {
            (Err(_), _) => {
                "has ended its thread (pthread_exit or a cancellation) or thrown an exception, and the thread goes on; it must return".to_owned()
            }
            (_, Some(code)) => format!("refuses with {answer} (MPIRT_ERR_{})", code.symbol()),
            _ => format!("gave {answer}, which is no error code; it should give MPIRT_SUCCESS or one"),
        };
        keep_detail(&format!(
            "the program's delete function of key {} {said}: the attribute stays, and nothing else was done",
            key.number()
        ));
        Err(code.unwrap_or(Code::Argument))
    })
}

fn good_of_setup(object: MPIRT_Object) -> Result<Handle, Code> {
    check_setup()?;
    good(object)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Keyval_create(
    function: Option<MPIRT_Delete_function>,
    extra: *mut c_void,
    keyval: Out<c_int>,
) -> c_int {
    answer(|| {
        check_setup()?;
        keyval.check()?;
        ready()?;
        let function = function.map(|function| delete_function(function, Pointer(extra)));
        let made = with_library(|library| library.world.keyval(function))?;
        keyval.put(made.number())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Keyval_free(keyval: Out<c_int>) -> c_int {
    answer(|| {
        check_setup()?;
        let key = Keyval::from_number(keyval.read()?);
        with_library(|library| library.world.keyval_free(key))?;
        keyval.put(KEYVAL_INVALID)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Object_put_attr(
    object: MPIRT_Object,
    keyval: c_int,
    value: *mut c_void,
) -> c_int {
    answer(|| {
        let (object, key) = (good_of_setup(object)?, Keyval::from_number(keyval));
        ready()?;
        let value: Value = Arc::new(Pointer(value));
        while let Some(departure) =
            with_library(|library| library.world.store_attribute(object, key, &value))?
        {
            let answer = departure.run();
            with_library(|library| library.world.end_departure(&departure, answer))?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Object_get_attr(
    object: MPIRT_Object,
    keyval: c_int,
    value: Out<*mut c_void>,
    flag: Out<c_int>,
) -> c_int {
    answer(|| {
        let (object, key) = (good_of_setup(object)?, Keyval::from_number(keyval));
        value.check()?;
        flag.check()?;
        let found = with_library(|library| library.world.attribute(object, key))?;
        if let Some(found) = &found {
            value.put(Pointer::of(found))?;
        }
        flag.put(c_int::from(found.is_some()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Object_delete_attr(object: MPIRT_Object, keyval: c_int) -> c_int {
    answer(|| {
        let (object, key) = (good_of_setup(object)?, Keyval::from_number(keyval));
        let departure = with_library(|library| library.world.begin_departure(object, key))?;
        let answer = departure.run();
        with_library(|library| library.world.end_departure(&departure, answer))
    })
}
