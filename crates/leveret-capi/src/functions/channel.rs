//! Channels: attributes, start, wait, activation, status.

use super::collective::MPIRT_Op;
use super::object::{changed, free, made, told, told_object};
use crate::answer::answer;
use crate::state::{
    check_setup, good, good_committed, good_or_null, may_block, with_committed, with_committed_of,
    with_library,
};
use crate::types::{
    CHandle, MPIRT_Bufiter, MPIRT_Channel, MPIRT_Group, MPIRT_Qos, MPIRT_Timespec, NameIn, Out,
    TIME_SPEC_IGNORE,
};
use leveret_runtime::objects::{ChannelDescription, Code, Durations, Library};
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

pub(super) fn durations_of(found: Durations) -> MPIRTX_Duration_metrics {
    MPIRTX_Duration_metrics {
        count: found.count,
        last: found.last.0,
        least: found.least.0,
        greatest: found.greatest.0,
        sum: found.sum.0,
    }
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

/// How long a call may block; `before` has errors that come before that of the timeout.
pub(super) fn timeout_of<T>(
    timeout: MPIRT_Timespec,
    before: impl FnOnce() -> Result<T, Code>,
) -> Result<Nanos, Code> {
    match timeout {
        TIME_SPEC_IGNORE => Ok(FOREVER),
        timeout if timeout < 0 => before().and(Err(Code::Time)),
        timeout => Ok(Nanos(timeout).min(FOREVER)),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Ptchannel_create(
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
        made(
            channel,
            || Ok(([good_or_null(inbufiter)?, good_or_null(outbufiter)?], good(group)?, good_or_null(qos)?)),
            |([input, output], group, qos)| {
                name.check()?;
                let name = name.read()?;
                let rank = |rank: c_int| u32::try_from(rank).map_err(|_| Code::InvRank);
                let (source, target) = (rank(source)?, rank(target)?);
                let description = ChannelDescription { input, output, source, target, group, qos };
                with_library(|library| library.world.ptchannel(name, description))
            },
        )
    })
}

/// Sets one of a channel's iterators; the other stays.
fn set_iterator(channel: MPIRT_Channel, bufiter: MPIRT_Bufiter, place: usize) -> Result<(), Code> {
    check_setup()?;
    let channel = good(channel)?;
    let iterator = good_or_null(bufiter)?;
    with_library(|library| {
        let mut iterators = library.world.iterators(channel)?;
        iterators[place] = iterator;
        library.world.set_iterators(channel, iterators)
    })
}

/// As [`set_iterator`], of those that a member receives into which also sends.
fn set_receive_iterator(channel: MPIRT_Channel, bufiter: MPIRT_Bufiter, place: usize) -> Result<(), Code> {
    check_setup()?;
    let channel = good(channel)?;
    let iterator = good_or_null(bufiter)?;
    with_library(|library| {
        let mut iterators = library.world.receive_iterators(channel)?;
        iterators[place] = iterator;
        library.world.set_receive_iterators(channel, iterators)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_get_inbufiter(
    channel: MPIRT_Channel,
    bufiter: Out<MPIRT_Bufiter>,
) -> c_int {
    answer(|| told_object(channel, bufiter, |world, channel| Ok(world.iterators(channel)?[0])))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_set_inbufiter(
    channel: MPIRT_Channel,
    bufiter: MPIRT_Bufiter,
) -> c_int {
    answer(|| set_iterator(channel, bufiter, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_get_outbufiter(
    channel: MPIRT_Channel,
    bufiter: Out<MPIRT_Bufiter>,
) -> c_int {
    answer(|| told_object(channel, bufiter, |world, channel| Ok(world.iterators(channel)?[1])))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_set_outbufiter(
    channel: MPIRT_Channel,
    bufiter: MPIRT_Bufiter,
) -> c_int {
    answer(|| set_iterator(channel, bufiter, 1))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_get_recvinbufiter(
    channel: MPIRT_Channel,
    bufiter: Out<MPIRT_Bufiter>,
) -> c_int {
    answer(|| told_object(channel, bufiter, |world, channel| Ok(world.receive_iterators(channel)?[0])))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_set_recvinbufiter(
    channel: MPIRT_Channel,
    bufiter: MPIRT_Bufiter,
) -> c_int {
    answer(|| set_receive_iterator(channel, bufiter, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_get_recvoutbufiter(
    channel: MPIRT_Channel,
    bufiter: Out<MPIRT_Bufiter>,
) -> c_int {
    answer(|| told_object(channel, bufiter, |world, channel| Ok(world.receive_iterators(channel)?[1])))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_set_recvoutbufiter(
    channel: MPIRT_Channel,
    bufiter: MPIRT_Bufiter,
) -> c_int {
    answer(|| set_receive_iterator(channel, bufiter, 1))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_get_qos(channel: MPIRT_Channel, qos: Out<MPIRT_Qos>) -> c_int {
    answer(|| told_object(channel, qos, |world, channel| world.channel_qos(channel)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_set_qos(channel: MPIRT_Channel, qos: MPIRT_Qos) -> c_int {
    answer(|| {
        check_setup()?;
        let channel = good(channel)?;
        let qos = good_or_null(qos)?;
        with_library(|library| library.world.set_channel_qos(channel, qos))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_get_group(channel: MPIRT_Channel, group: Out<MPIRT_Group>) -> c_int {
    answer(|| told_object(channel, group, |world, channel| world.channel_group(channel)))
}

/// A rank as C has it.
fn rank_of(rank: u32) -> Result<c_int, Code> {
    c_int::try_from(rank).map_err(|_| Code::Internal)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_source(channel: MPIRT_Channel, source: Out<c_int>) -> c_int {
    answer(|| told(channel, source, |world, channel| rank_of(world.channel_ends(channel)?[0])))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_target(channel: MPIRT_Channel, target: Out<c_int>) -> c_int {
    answer(|| told(channel, target, |world, channel| rank_of(world.channel_ends(channel)?[1])))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_root(channel: MPIRT_Channel, root: Out<c_int>) -> c_int {
    answer(|| told(channel, root, |world, channel| rank_of(world.channel_root(channel)?)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_operation(
    channel: MPIRT_Channel,
    operation: Out<MPIRT_Op>,
) -> c_int {
    answer(|| told(channel, operation, |world, channel| Ok(world.channel_operation(channel)? as MPIRT_Op)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_slack(channel: MPIRT_Channel, slack: Out<c_int>) -> c_int {
    answer(|| {
        told(channel, slack, |world, channel| {
            c_int::try_from(world.slack(channel)?).map_err(|_| Code::Internal)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_set_slack(channel: MPIRT_Channel, slack: c_int) -> c_int {
    answer(|| changed(channel, |world, channel| world.set_slack(channel, slack)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_polling(channel: MPIRT_Channel, polls: Out<c_int>) -> c_int {
    answer(|| told(channel, polls, |world, channel| world.polling(channel).map(c_int::from)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_set_polling(channel: MPIRT_Channel, polls: c_int) -> c_int {
    answer(|| changed(channel, |world, channel| world.set_polling(channel, polls != 0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_checksum(channel: MPIRT_Channel, checksum: Out<c_int>) -> c_int {
    answer(|| told(channel, checksum, |world, channel| world.checksum(channel).map(c_int::from)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_set_checksum(channel: MPIRT_Channel, checksum: c_int) -> c_int {
    answer(|| changed(channel, |world, channel| world.set_checksum(channel, checksum != 0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_mover_budget(
    channel: MPIRT_Channel,
    budget: Out<MPIRT_Timespec>,
) -> c_int {
    answer(|| {
        told(channel, budget, |world, channel| {
            Ok(world.mover_budget(channel)?.map_or(TIME_SPEC_IGNORE, |budget| budget.0))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_set_mover_budget(
    channel: MPIRT_Channel,
    budget: MPIRT_Timespec,
) -> c_int {
    answer(|| {
        let budget = (budget != TIME_SPEC_IGNORE).then_some(Nanos(budget));
        changed(channel, |world, channel| world.set_mover_budget(channel, budget))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_free(channel: Out<MPIRT_Channel>) -> c_int {
    answer(|| free(channel))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_start(channel: MPIRT_Channel) -> c_int {
    answer(|| with_committed_of(channel, |committed| committed.start(channel.handle())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_activate(channel: MPIRT_Channel) -> c_int {
    answer(|| with_committed_of(channel, |committed| committed.activate(channel.handle())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_activate_at(channel: MPIRT_Channel, period: u64) -> c_int {
    answer(|| with_committed_of(channel, |committed| committed.activate_at(channel.handle(), period)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_deactivate(channel: MPIRT_Channel) -> c_int {
    answer(|| with_committed_of(channel, |committed| committed.deactivate(channel.handle())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_deactivate_at(channel: MPIRT_Channel, period: u64) -> c_int {
    answer(|| with_committed_of(channel, |committed| committed.deactivate_at(channel.handle(), period)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_status(
    channel: MPIRT_Channel,
    status: Out<MPIRTX_Status>,
) -> c_int {
    answer(|| {
        status.check_after(|| good_committed(channel))?;
        let found = with_committed_of(channel, |committed| committed.status(channel.handle()))?;
        status.put(MPIRTX_Status {
            state: found.state as c_int,
            outcome: found.outcome as c_int,
            instance: found.instance,
            under_way: c_int::try_from(found.under_way).unwrap_or(c_int::MAX),
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_metrics(
    channel: MPIRT_Channel,
    metrics: Out<MPIRTX_Channel_metrics>,
) -> c_int {
    answer(|| {
        metrics.check_after(|| good_committed(channel))?;
        let found = with_committed_of(channel, |committed| committed.metrics(channel.handle()))?;
        metrics.put(MPIRTX_Channel_metrics {
            latency: durations_of(found.latency),
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
pub unsafe extern "C" fn MPIRT_Channel_test(channel: MPIRT_Channel, flag: Out<c_int>) -> c_int {
    answer(|| {
        flag.check_after(|| good_committed(channel))?;
        let complete = with_committed_of(channel, |committed| committed.test(channel.handle()))?;
        flag.put(c_int::from(complete))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Channel_get_descriptor(
    channel: MPIRT_Channel,
    descriptor: Out<c_int>,
) -> c_int {
    answer(|| super::object::descriptor(channel, descriptor, Library::channel_descriptor))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Channel_wait(channel: MPIRT_Channel, timeout: MPIRT_Timespec) -> c_int {
    answer(|| {
        if let Err(code) = may_block() {
            // A task may wait for what it serves itself: that is there, or missed.
            let is_own = with_committed(|committed| Ok(committed.is_of_this_task(channel.handle())));
            is_own.ok().filter(|is_own| *is_own).ok_or(code)?;
        }
        let timeout = timeout_of(timeout, || good_committed(channel))?;
        with_committed_of(channel, |committed| committed.wait(channel.handle(), timeout))
    })
}
