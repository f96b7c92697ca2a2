//! Channels and their quality of service.

use super::object::free;
use crate::answer::answer;
use crate::state::{may_block, with_committed, with_library, with_world};
use crate::types::{
    CHandle, MPIRT_Bufiter, MPIRT_Channel, MPIRT_Group, MPIRT_Qos, MPIRT_Timespec, NameIn, Out,
    TIME_SPEC_IGNORE,
};
use leveret_runtime::objects::{ChannelDescription, Class, Code, Qos};
use leveret_types::Nanos;
use std::ffi::c_int;

/// Longer than any job.
const FOREVER: Nanos = Nanos::from_secs(1 << 32);

/// How long a call may block.
pub(super) fn timeout_of(timeout: MPIRT_Timespec) -> Result<Nanos, Code> {
    match timeout {
        TIME_SPEC_IGNORE => Ok(FOREVER),
        timeout if timeout < 0 => Err(Code::Time),
        timeout => Ok(Nanos(timeout).min(FOREVER)),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Qos_channel_time_create(
    name: NameIn,
    start: MPIRT_Timespec,
    deadline: MPIRT_Timespec,
    period: MPIRT_Timespec,
    qos: Out<MPIRT_Qos>,
) -> c_int {
    answer(|| {
        let name = name.read()?;
        qos.check()?;
        let time = Qos::Time { start: Nanos(start), deadline: Nanos(deadline), period: Nanos(period) };
        let made = with_library(|library| library.world.qos(name, time))?;
        qos.put(MPIRT_Qos::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Qos_free(qos: Out<MPIRT_Qos>) -> c_int {
    free(qos, Some(Class::Qos))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Ptchannel_create(
    name: NameIn,
    inbufiter: MPIRT_Bufiter,
    outbufiter: MPIRT_Bufiter,
    source: c_int,
    target: c_int,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    answer(|| {
        let name = name.read()?;
        channel.check()?;
        let rank = |rank: c_int| u32::try_from(rank).map_err(|_| Code::InvRank);
        let description = ChannelDescription {
            input: inbufiter.handle(),
            output: outbufiter.handle(),
            source: rank(source)?,
            target: rank(target)?,
            group: group.handle(),
            qos: qos.handle(),
        };
        let made = with_library(|library| library.world.ptchannel(name, description))?;
        channel.put(MPIRT_Channel::of(made))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_get_inbufiter(channel: MPIRT_Channel, bufiter: Out<MPIRT_Bufiter>) -> c_int {
    answer(|| {
        let [found, _] = with_world(|world| world.iterators(channel.handle()))?;
        bufiter.put(MPIRT_Bufiter::of(found))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_set_inbufiter(channel: MPIRT_Channel, bufiter: MPIRT_Bufiter) -> c_int {
    answer(|| {
        with_library(|library| {
            let [_, other] = library.world.iterators(channel.handle())?;
            library.world.set_iterators(channel.handle(), [bufiter.handle(), other])
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_get_outbufiter(channel: MPIRT_Channel, bufiter: Out<MPIRT_Bufiter>) -> c_int {
    answer(|| {
        let [_, found] = with_world(|world| world.iterators(channel.handle()))?;
        bufiter.put(MPIRT_Bufiter::of(found))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_set_outbufiter(channel: MPIRT_Channel, bufiter: MPIRT_Bufiter) -> c_int {
    answer(|| {
        with_library(|library| {
            let [other, _] = library.world.iterators(channel.handle())?;
            library.world.set_iterators(channel.handle(), [other, bufiter.handle()])
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_free(channel: Out<MPIRT_Channel>) -> c_int {
    free(channel, Some(Class::Ptchannel))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_start(channel: MPIRT_Channel) -> c_int {
    answer(|| with_committed(|committed| committed.start(channel.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_test(channel: MPIRT_Channel, flag: Out<c_int>) -> c_int {
    answer(|| {
        flag.check()?;
        let complete = with_committed(|committed| committed.test(channel.handle()))?;
        flag.put(c_int::from(complete))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_wait(channel: MPIRT_Channel, timeout: MPIRT_Timespec) -> c_int {
    answer(|| {
        let timeout = timeout_of(timeout)?;
        may_block()?;
        with_committed(|committed| committed.wait(channel.handle(), timeout))
    })
}
