//! Channels: attributes, start, wait, activation, status.

use super::object::free_if;
use crate::answer::answer;
use crate::state::{may_block, with_committed, with_library, with_world};
use crate::types::{
    CHandle, MPIRT_Bufiter, MPIRT_Channel, MPIRT_Group, MPIRT_Qos, MPIRT_Timespec, NameIn, Out,
    TIME_SPEC_IGNORE,
};
use leveret_runtime::objects::{ChannelDescription, Class, Code};
use leveret_types::Nanos;
use std::ffi::c_int;

/// The state of a channel end; the enumerations are those of the objects.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MPIRTX_Status {
    /// Idle, started or active.
    pub state: c_int,
    /// How the last instance ended.
    pub outcome: c_int,
    /// The last instance that ended.
    pub instance: u64,
    /// Transfers under way.
    pub under_way: c_int,
}

/// Durations that were measured, in nanoseconds.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MPIRTX_Duration_metrics {
    /// How many.
    pub count: u64,
    /// The last.
    pub last: MPIRT_Timespec,
    /// The shortest.
    pub least: MPIRT_Timespec,
    /// The longest.
    pub greatest: MPIRT_Timespec,
    /// All together.
    pub sum: MPIRT_Timespec,
}

/// What was measured of a channel end.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MPIRTX_Channel_metrics {
    /// From insertion to arrival, at a receiving end.
    pub latency: MPIRTX_Duration_metrics,
    /// Transfers performed.
    pub completed: u64,
    /// Not performed: the sender had no buffer.
    pub no_sender_buffer: u64,
    /// Not performed: the receiver had no buffer.
    pub no_receiver_buffer: u64,
    /// Not performed: sent too late, or never.
    pub late: u64,
    /// Not performed: nonsense, or overwritten.
    pub invalid: u64,
    /// Instances without the other end.
    pub paused: u64,
    /// Copies that late binding cost.
    pub late_binding_copies: u64,
}

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
pub extern "C" fn MPIRT_Channel_get_recvinbufiter(
    channel: MPIRT_Channel,
    bufiter: Out<MPIRT_Bufiter>,
) -> c_int {
    answer(|| {
        let [found, _] = with_world(|world| world.receive_iterators(channel.handle()))?;
        bufiter.put(MPIRT_Bufiter::of(found))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_set_recvinbufiter(channel: MPIRT_Channel, bufiter: MPIRT_Bufiter) -> c_int {
    answer(|| {
        with_library(|library| {
            let [_, other] = library.world.receive_iterators(channel.handle())?;
            library.world.set_receive_iterators(channel.handle(), [bufiter.handle(), other])
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_get_recvoutbufiter(
    channel: MPIRT_Channel,
    bufiter: Out<MPIRT_Bufiter>,
) -> c_int {
    answer(|| {
        let [_, found] = with_world(|world| world.receive_iterators(channel.handle()))?;
        bufiter.put(MPIRT_Bufiter::of(found))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_set_recvoutbufiter(channel: MPIRT_Channel, bufiter: MPIRT_Bufiter) -> c_int {
    answer(|| {
        with_library(|library| {
            let [other, _] = library.world.receive_iterators(channel.handle())?;
            library.world.set_receive_iterators(channel.handle(), [other, bufiter.handle()])
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_get_qos(channel: MPIRT_Channel, qos: Out<MPIRT_Qos>) -> c_int {
    answer(|| {
        let found = with_library(|library| library.world.channel_qos(channel.handle()))?;
        qos.put(MPIRT_Qos::of(found))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_set_qos(channel: MPIRT_Channel, qos: MPIRT_Qos) -> c_int {
    answer(|| with_library(|library| library.world.set_channel_qos(channel.handle(), qos.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_get_group(channel: MPIRT_Channel, group: Out<MPIRT_Group>) -> c_int {
    answer(|| {
        let found = with_library(|library| library.world.channel_group(channel.handle()))?;
        group.put(MPIRT_Group::of(found))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Channel_get_slack(channel: MPIRT_Channel, slack: Out<c_int>) -> c_int {
    answer(|| {
        let found = with_library(|library| library.world.slack(channel.handle()))?;
        slack.put(c_int::try_from(found).map_err(|_| Code::Internal)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Channel_set_slack(channel: MPIRT_Channel, slack: c_int) -> c_int {
    answer(|| {
        // What is negative is out of range too, once the handle was looked at.
        let slack = u32::try_from(slack).unwrap_or(0);
        with_library(|library| library.world.set_slack(channel.handle(), slack))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_free(channel: Out<MPIRT_Channel>) -> c_int {
    free_if(channel, Class::is_channel)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_start(channel: MPIRT_Channel) -> c_int {
    answer(|| with_committed(|committed| committed.start(channel.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_activate(channel: MPIRT_Channel) -> c_int {
    answer(|| with_committed(|committed| committed.activate(channel.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Channel_activate_at(channel: MPIRT_Channel, period: u64) -> c_int {
    answer(|| with_committed(|committed| committed.activate_at(channel.handle(), period)))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Channel_deactivate(channel: MPIRT_Channel) -> c_int {
    answer(|| with_committed(|committed| committed.deactivate(channel.handle())))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Channel_deactivate_at(channel: MPIRT_Channel, period: u64) -> c_int {
    answer(|| with_committed(|committed| committed.deactivate_at(channel.handle(), period)))
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Channel_get_status(channel: MPIRT_Channel, status: Out<MPIRTX_Status>) -> c_int {
    answer(|| {
        status.check()?;
        let found = with_committed(|committed| committed.status(channel.handle()))?;
        status.put(MPIRTX_Status {
            state: found.state as c_int,
            outcome: found.outcome as c_int,
            instance: found.instance,
            under_way: c_int::try_from(found.under_way).unwrap_or(c_int::MAX),
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRTX_Channel_get_metrics(
    channel: MPIRT_Channel,
    metrics: Out<MPIRTX_Channel_metrics>,
) -> c_int {
    answer(|| {
        metrics.check()?;
        let found = with_committed(|committed| committed.metrics(channel.handle()))?;
        metrics.put(MPIRTX_Channel_metrics {
            latency: MPIRTX_Duration_metrics {
                count: found.latency.count,
                last: found.latency.last.0,
                least: found.latency.least.0,
                greatest: found.latency.greatest.0,
                sum: found.latency.sum.0,
            },
            completed: found.completed,
            no_sender_buffer: found.no_sender_buffer,
            no_receiver_buffer: found.no_receiver_buffer,
            late: found.late,
            invalid: found.invalid,
            paused: found.paused,
            late_binding_copies: found.late_binding_copies,
        })
    })
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
