//! Init to finalize, time, errors.

use crate::answer::{OF_A_CHILD, answer, detail, keep_detail, keep_remedy};
use crate::reserve::{self, ready_for_commit, without_memory};
use crate::state::{
    self, Life, check_live, check_setup, good, is_committed, life, with_committed, with_library,
};
use crate::types::{MPIRT_Group, MPIRT_Timespec, MessageIn, Out, TIME_SPEC_IGNORE};
use leveret_memory::sync::{AtomicBool, Ordering};
use leveret_os::clock::{self, MonotonicClock};
use leveret_os::said::say;
use leveret_runtime::objects::{
    CONTAINER_MAX, CONTAINERS_REACH_MAX, Code, Committed, Handle, Library, World,
};
use leveret_types::{Clock, ClockState, Nanos};
use std::ffi::{c_char, c_int};
use std::num::NonZeroU8;

/// How a time is meant.
pub type MPIRT_Time_mode = c_int;
/// From now.
pub const MPIRT_TIME_RELATIVE: MPIRT_Time_mode = 0;
/// Since the job's base.
pub const MPIRT_TIME_ABSOLUTE: MPIRT_Time_mode = 1;
/// A sleep without a limit looks for a commit or its end this often.
const LOOK_AGAIN: Nanos = Nanos::from_millis(10);

const BEFORE_THE_EPOCH: &str = "MPIRT_Sleep until an instant that has passed, and that lies before the epoch of what is committed. What MPIRT_Commit \
     returns is an error code (MPIRT_SUCCESS is 0), and not the epoch as in sources for HARE: take that from MPIRTX_Get_epoch";
/// A program that does so does it in a loop.
static HAS_WARNED: AtomicBool = AtomicBool::new(false);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Init(_argc: *mut c_int, _argv: *mut *mut *mut c_char) -> c_int {
    answer(|| {
        if state::is_child() {
            keep_detail(&format!("MPIRT_Init: {OF_A_CHILD}"));
            return Err(Code::Agent);
        }
        let (mut life, _uncancelled) = life();
        match &*life {
            Life::Before => {}
            Life::Live(_) => return Err(Code::AlreadyInitialized),
            Life::After => return Err(Code::Finalized),
        }
        state::prepare().and_then(|()| crate::answer::prepare())?;
        reserve::prepare()
            .inspect_err(|_| keep_detail("MPIRT_Init: there is not even memory to keep in reserve"))?;
        let library = Library::join().map_err(|error| {
            keep_detail(&format!("MPIRT_Init: {error}"));
            Code::from(error)
        })?;
        state::begin(&mut life, library);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Finalize() -> c_int {
    answer(|| {
        with_library(|library| match library.committed() {
            Some(_) => Err(Code::ObjectCommitted),
            None => Ok(()),
        })?;
        while let Some(departure) = with_library(|library| library.world.begin_end())? {
            let answer = departure.run();
            with_library(|library| library.world.end_departure(&departure, answer))?;
        }
        state::end(|library| library.leave().inspect_err(|_| keep_detail(library.refusal())))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Abort(code: c_int, message: MessageIn) -> c_int {
    answer(|| {
        let aborter = state::aborter()?;
        let Some(code) = u8::try_from(code).ok().and_then(NonZeroU8::new) else {
            keep_remedy(&format!(
                "the code {code} was given; give one from 1 to 255, with which `leveret run` ends"
            ));
            return Err(Code::Argument);
        };
        aborter.abort(code, &message.read())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Fail(reason: MessageIn) -> c_int {
    answer(|| {
        check_setup()?;
        with_library(|library| library.give_up(&reason.read()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Is_initialized(flag: Out<c_int>) -> c_int {
    answer(|| flag.put(c_int::from(state::stage().0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Is_finalized(flag: Out<c_int>) -> c_int {
    answer(|| flag.put(c_int::from(state::stage().1)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Commit() -> c_int {
    answer(|| with_library(|library| commit(library, None)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Commit_group(group: MPIRT_Group) -> c_int {
    answer(|| {
        check_setup()?;
        let group = good(group)?;
        with_library(|library| commit(library, Some(group)))
    })
}

/// Commits with the members of a group, or with all.
fn commit(library: &mut Library, group: Option<Handle>) -> Result<(), Code> {
    // The same text on every member.
    let explained = |library: &mut Library, answer: Result<(), Code>| {
        answer.inspect_err(|_| keep_detail(library.refusal()))
    };
    // What is committed already is told by the commit.
    if library.committed().is_none()
        && let Err(code) = ready_for_commit(&library.world)
    {
        // The others are there, or will be: they must hear of it.
        return without_memory(|| {
            let declined = library.decline(group, code);
            explained(library, Err(declined))
        });
    }
    let answer = match group {
        Some(group) => library.commit_group(group),
        None => library.commit(),
    };
    explained(library, answer)?;
    if let Some(committed) = library.committed() {
        state::publish(committed.clone());
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Uncommit() -> c_int {
    answer(|| end_commit(Library::uncommit))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Uncommit_group(group: MPIRT_Group) -> c_int {
    answer(|| {
        check_setup()?;
        if !state::is_committed() {
            return Err(Code::NotCommitted);
        }
        let group = good(group)?;
        with_library(|library| {
            library.is_committed_with(group).inspect_err(|code| {
                if *code == Code::Argument {
                    keep_detail(&format!("MPIRTX_Uncommit_group: {}", library.told_together()));
                }
            })
        })?;
        end_commit(Library::uncommit)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Run() -> c_int {
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
        match end_commit(Library::run_to_end) {
            Err(Code::NotCommitted) => Ok(()),
            ended => ended,
        }
    })
}

fn end_commit<T>(end: impl FnOnce(&mut Library) -> Result<T, Code>) -> Result<(), Code> {
    with_library(|library| {
        library.committed().ok_or(Code::NotCommitted)?;
        let ended = end(library).inspect_err(|_| keep_detail(library.refusal()));
        state::retract();
        ended.map(|_| ())
    })
}

/// An absolute time has passed. One before the epoch was reckoned from something else, such as what `MPIRT_Commit` returns.
fn past(time: Nanos) -> Code {
    if with_committed(Committed::epoch).is_ok_and(|epoch| time < epoch) {
        keep_detail(BEFORE_THE_EPOCH);
        if !HAS_WARNED.swap(true, Ordering::Relaxed) {
            say(&["leveret: warning: ", BEFORE_THE_EPOCH]);
        }
    }
    Code::TimePast
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Sleep(mode: MPIRT_Time_mode, time: MPIRT_Timespec) -> c_int {
    answer(|| {
        state::may_block()?;
        let began = state::commits();
        let now = clock::now();
        let limit = match mode {
            MPIRT_TIME_RELATIVE | MPIRT_TIME_ABSOLUTE if time == TIME_SPEC_IGNORE => Nanos::MAX,
            MPIRT_TIME_RELATIVE if time < 0 => return Err(Code::Time),
            MPIRT_TIME_RELATIVE => now.saturating_add(Nanos(time)),
            MPIRT_TIME_ABSOLUTE if Nanos(time) < now => return Err(past(Nanos(time))),
            MPIRT_TIME_ABSOLUTE => Nanos(time),
            _ => return Err(Code::Argument),
        };
        loop {
            let now = clock::now();
            if now >= limit {
                return Ok(());
            }
            if state::commits() != began {
                return Err(if began.is_committed { Code::Uncommitted } else { Code::Committed });
            }
            if state::is_over() {
                // Before a commit there is nothing that could end but the job.
                return Err(if began.is_committed { Code::Uncommitted } else { Code::Agent });
            }
            clock::sleep_until((now + LOOK_AGAIN).min(limit));
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Get_time(time: Out<MPIRT_Timespec>) -> c_int {
    answer(|| {
        check_live()?;
        time.put(clock::now().0)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Get_time_resolution(resolution: Out<MPIRT_Timespec>) -> c_int {
    answer(|| {
        check_live()?;
        resolution.put(clock::resolution().0)
    })
}

/// The state of the clock.
pub type MPIRTX_Clock_state = c_int;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Get_clock(
    error: Out<MPIRT_Timespec>,
    clock_state: Out<MPIRTX_Clock_state>,
) -> c_int {
    answer(|| {
        check_live()?;
        error.check()?;
        clock_state.check()?;
        let reading = MonotonicClock.now();
        error.put(reading.error().0)?;
        clock_state.put(match reading.state {
            ClockState::Free => 0,
            ClockState::Locked => 1,
            ClockState::Holdover => 2,
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Get_version(
    major: Out<c_int>,
    minor: Out<c_int>,
    patch: Out<c_int>,
) -> c_int {
    answer(|| {
        let places = [major, minor, patch];
        places.into_iter().try_for_each(Out::check)?;
        places.into_iter().zip(VERSION).try_for_each(|(place, number)| place.put(number))
    })
}

/// The package's version: major, minor, patch.
const VERSION: [c_int; 3] = [
    number(env!("CARGO_PKG_VERSION_MAJOR")),
    number(env!("CARGO_PKG_VERSION_MINOR")),
    number(env!("CARGO_PKG_VERSION_PATCH")),
];

const fn number(digits: &str) -> c_int {
    let digits = digits.as_bytes();
    let (mut number, mut place) = (0, 0);
    while place < digits.len() {
        number = number * 10 + (digits[place] - b'0') as c_int;
        place += 1;
    }
    number
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Get_epoch(epoch: Out<MPIRT_Timespec>) -> c_int {
    answer(|| {
        epoch.check_after(|| with_committed(|_| Ok(())))?;
        epoch.put(with_committed(Committed::epoch)?.0)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Int64_export(time: MPIRT_Timespec, high: Out<u32>, low: Out<u32>) -> c_int {
    answer(|| {
        high.check()?;
        low.put(time as u32)?;
        high.put((time as u64 >> 32) as u32)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Error_string(error: c_int, string: Out<*const c_char>) -> c_int {
    answer(|| {
        let text = match (error, Code::of(error)) {
            (0, _) => Ok(c"the call did what it says"),
            (_, Some(code)) => Ok(code.c_text()),
            _ => Err(Code::Argument),
        };
        string.put(text.unwrap_or(c"this number is no error code").as_ptr())?;
        text.map(|_| ())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Error_detail(string: Out<*const c_char>) -> c_int {
    answer(|| {
        string.check()?;
        string.put(detail(|code, number, out| {
            let handle = Handle::from_number(number);
            if code == Code::NotCommitted {
                let why = with_library(|library| Ok(library.world.why_beside(handle)));
                return match why.ok().flatten() {
                    Some(why) => out.write_str(&why).map(|()| true),
                    None => out.write_str(code.text()).map(|()| false),
                };
            }
            out.write_str(code.text())?;
            let is_of_container = code == Code::Limit;
            out.write_str(if is_of_container { ": the container " } else { ": the buffer " })?;
            let mut named = Ok(());
            let mut tell_name = |world: &World| {
                if let Ok(name) = world.name(handle)
                    && !name.is_empty()
                {
                    named = write!(out, "\"{name}\" ");
                }
                Ok(())
            };
            // Without the library there is no name either.
            let _ = if is_committed() {
                with_committed(|committed| tell_name(committed.world()))
            } else {
                with_library(|library| tell_name(&library.world))
            };
            named?;
            write!(out, "with the handle {number:#x} ")?;
            if is_of_container {
                write!(
                    out,
                    "reaches more than {CONTAINER_MAX} channels, or all containers together more than {CONTAINERS_REACH_MAX}"
                )
            } else {
                out.write_str("is due")
            }
            .map(|()| false)
        }))
    })
}
