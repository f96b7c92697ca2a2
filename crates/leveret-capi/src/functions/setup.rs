//! Init to finalize, time, errors.

use crate::answer::{answer, detail, keep_detail};
use crate::state::{self, Life, life, with_library};
use crate::types::{MPIRT_Timespec, Out, TIME_SPEC_IGNORE};
use leveret_os::clock;
use leveret_runtime::objects::{Code, Library};
use leveret_types::Nanos;
use std::ffi::{CStr, c_char, c_int};

/// How a time is meant.
pub type MPIRT_Time_mode = c_int;
/// From now.
pub const MPIRT_TIME_RELATIVE: MPIRT_Time_mode = 0;
/// Since the job's base.
pub const MPIRT_TIME_ABSOLUTE: MPIRT_Time_mode = 1;
/// A sleep without a limit looks for a commit or its end this often.
const LOOK_AGAIN: Nanos = Nanos::from_millis(10);

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Init(_argc: *mut c_int, _argv: *mut *mut *mut c_char) -> c_int {
    answer(|| {
        if state::stage() != (false, false) {
            return Err(if state::stage().1 { Code::Finalized } else { Code::AlreadyInitialized });
        }
        let mut life = life();
        match &*life {
            Life::Before => {}
            Life::Live(_) => return Err(Code::AlreadyInitialized),
            Life::After => return Err(Code::Finalized),
        }
        let library = Library::join().inspect_err(|_| {
            keep_detail("this process is no member of a job; start it with `leveret run -n N PROGRAM`");
        })?;
        state::begin(&mut life, library);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Finalize() -> c_int {
    answer(|| {
        with_library(|library| match library.committed() {
            Some(_) => Err(Code::ObjectCommitted),
            None => Ok(()),
        })?;
        while let Some(departure) = with_library(|library| library.world.begin_end())? {
            let answer = departure.run();
            with_library(|library| library.world.end_departure(&departure, answer))?;
        }
        state::end();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Is_initialized(flag: Out<c_int>) -> c_int {
    answer(|| flag.put(c_int::from(state::stage().0)))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Is_finalized(flag: Out<c_int>) -> c_int {
    answer(|| flag.put(c_int::from(state::stage().1)))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Commit() -> c_int {
    answer(|| {
        with_library(|library| {
            if let Err(code) = library.commit() {
                keep_detail(library.refusal());
                return Err(code);
            }
            if let Some(committed) = library.committed() {
                state::publish(committed.clone());
            }
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Uncommit() -> c_int {
    answer(|| end_commit(Library::uncommit))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Run() -> c_int {
    answer(|| {
        state::may_block()?;
        if !state::is_committed() {
            return Err(Code::NotCommitted);
        }
        // Without the lock, so that another thread may uncommit meanwhile.
        while !state::is_over() {
            if !state::is_committed() {
                return Ok(());
            }
            clock::sleep_until(clock::now() + LOOK_AGAIN);
        }
        match end_commit(Library::run) {
            Err(Code::NotCommitted) => Ok(()),
            ended => ended,
        }
    })
}

fn end_commit<T>(end: impl FnOnce(&mut Library) -> Result<T, Code>) -> Result<(), Code> {
    with_library(|library| {
        library.committed().ok_or(Code::NotCommitted)?;
        let ended = end(library);
        state::retract();
        ended.map(|_| ())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Sleep(mode: MPIRT_Time_mode, time: MPIRT_Timespec) -> c_int {
    answer(|| {
        state::may_block()?;
        let began_committed = state::is_committed();
        let now = clock::now();
        let limit = match mode {
            _ if time == TIME_SPEC_IGNORE => Nanos::MAX,
            MPIRT_TIME_RELATIVE if time < 0 => return Err(Code::Time),
            MPIRT_TIME_RELATIVE => now + Nanos(time),
            MPIRT_TIME_ABSOLUTE if Nanos(time) < now => return Err(Code::TimePast),
            MPIRT_TIME_ABSOLUTE => Nanos(time),
            _ => return Err(Code::Argument),
        };
        loop {
            let now = clock::now();
            if now >= limit {
                return Ok(());
            }
            if state::is_over() {
                // Before a commit there is nothing that could end but the job.
                return Err(if began_committed { Code::Uncommitted } else { Code::Agent });
            }
            match (began_committed, state::is_committed()) {
                (false, true) => return Err(Code::Committed),
                (true, false) => return Err(Code::Uncommitted),
                _ => clock::sleep_until((now + LOOK_AGAIN).min(limit)),
            }
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Get_time(time: Out<MPIRT_Timespec>) -> c_int {
    answer(|| time.put(clock::now().0))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Get_epoch(epoch: Out<MPIRT_Timespec>) -> c_int {
    answer(|| {
        let found = with_library(|library| library.epoch())?;
        epoch.put(found.0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Int64_export(time: MPIRT_Timespec, high: Out<u32>, low: Out<u32>) -> c_int {
    answer(|| {
        high.check()?;
        low.put(time as u32)?;
        high.put((time as u64 >> 32) as u32)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Error_string(error: c_int, string: Out<*const c_char>) -> c_int {
    answer(|| {
        let known = TEXTS.iter().find(|(number, _)| *number == error);
        let text = known.map_or(c"this number is no error code", |(_, text)| *text);
        string.put(text.as_ptr())?;
        known.map(|_| ()).ok_or(Code::Argument)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Error_detail(string: Out<*const c_char>) -> c_int {
    answer(|| string.put(detail()))
}

/// Every code's text, with the closing zero byte that C wants.
static TEXTS: std::sync::LazyLock<Vec<(c_int, &'static CStr)>> = std::sync::LazyLock::new(|| {
    let owned = |text: &str| {
        let text = std::ffi::CString::new(text).unwrap_or_default();
        &*Box::leak(text.into_boxed_c_str())
    };
    let codes = Code::ALL.iter().map(|code| (*code as c_int, owned(code.text())));
    [(0, c"the call did what it says")].into_iter().chain(codes).collect()
});
