//! Channels of a whole group: creation. All else is as with every channel.

use super::object::made;
use crate::answer::answer;
use crate::state::{good, good_or_null, with_library};
use crate::types::{CHandle, MPIRT_Bufiter, MPIRT_Channel, MPIRT_Group, MPIRT_Qos, NameIn, Out};
use leveret_runtime::objects::{Code, CollectiveDescription, CollectiveKind, Handle, Operation};
use std::ffi::c_int;

/// An operation of a reduction; the numbers stand in `mpirt.h`.
pub type MPIRT_Op = c_int;

/// The iterators of a member that sends and receives, and what else a channel is made of.
struct Parts {
    sends: [MPIRT_Bufiter; 2],
    receives: [MPIRT_Bufiter; 2],
    group: MPIRT_Group,
    qos: MPIRT_Qos,
}

fn create(
    name: NameIn,
    parts: &Parts,
    channel: Out<MPIRT_Channel>,
    kind_and_root: impl FnOnce() -> Result<(CollectiveKind, u32), Code>,
) -> Result<(), Code> {
    made(
        channel,
        || {
            let pair = |[one, other]: [MPIRT_Bufiter; 2]| -> Result<_, Code> {
                Ok([good_or_null(one)?, good_or_null(other)?])
            };
            Ok((pair(parts.sends)?, pair(parts.receives)?, good(parts.group)?, good_or_null(parts.qos)?))
        },
        |(sends, receives, group, qos)| {
            name.check()?;
            let name = name.read()?;
            let (kind, root) = kind_and_root()?;
            let description = CollectiveDescription { kind, sends, receives, root, group, qos };
            with_library(|library| library.world.collective(name, description))
        },
    )
}

fn rank(root: c_int) -> u32 {
    // No group has as many members.
    u32::try_from(root).unwrap_or(u32::MAX)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Bcast_channel_create(
    name: NameIn,
    inbufiter: MPIRT_Bufiter,
    outbufiter: MPIRT_Bufiter,
    recvinbufiter: MPIRT_Bufiter,
    recvoutbufiter: MPIRT_Bufiter,
    root: c_int,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    let parts =
        Parts { sends: [inbufiter, outbufiter], receives: [recvinbufiter, recvoutbufiter], group, qos };
    answer(|| create(name, &parts, channel, || Ok((CollectiveKind::Broadcast, rank(root)))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Scatter_channel_create(
    name: NameIn,
    inbufiter: MPIRT_Bufiter,
    outbufiter: MPIRT_Bufiter,
    recvinbufiter: MPIRT_Bufiter,
    recvoutbufiter: MPIRT_Bufiter,
    root: c_int,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    let parts =
        Parts { sends: [inbufiter, outbufiter], receives: [recvinbufiter, recvoutbufiter], group, qos };
    answer(|| create(name, &parts, channel, || Ok((CollectiveKind::Scatter, rank(root)))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Gather_channel_create(
    name: NameIn,
    inbufiter: MPIRT_Bufiter,
    outbufiter: MPIRT_Bufiter,
    recvinbufiter: MPIRT_Bufiter,
    recvoutbufiter: MPIRT_Bufiter,
    root: c_int,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    let parts =
        Parts { sends: [inbufiter, outbufiter], receives: [recvinbufiter, recvoutbufiter], group, qos };
    answer(|| create(name, &parts, channel, || Ok((CollectiveKind::Gather, rank(root)))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Reduce_channel_create(
    name: NameIn,
    inbufiter: MPIRT_Bufiter,
    outbufiter: MPIRT_Bufiter,
    recvinbufiter: MPIRT_Bufiter,
    recvoutbufiter: MPIRT_Bufiter,
    op: MPIRT_Op,
    root: c_int,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    let parts =
        Parts { sends: [inbufiter, outbufiter], receives: [recvinbufiter, recvoutbufiter], group, qos };
    answer(|| {
        create(name, &parts, channel, || {
            Ok((CollectiveKind::Reduce(Operation::of(op).ok_or(Code::Operation)?), rank(root)))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Barrier_channel_create(
    name: NameIn,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    let none = MPIRT_Bufiter::of(Handle::default());
    let parts = Parts { sends: [none; 2], receives: [none; 2], group, qos };
    answer(|| create(name, &parts, channel, || Ok((CollectiveKind::Barrier, 0))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Alltoall_channel_create(
    name: NameIn,
    inbufiter: MPIRT_Bufiter,
    outbufiter: MPIRT_Bufiter,
    recvinbufiter: MPIRT_Bufiter,
    recvoutbufiter: MPIRT_Bufiter,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    let parts =
        Parts { sends: [inbufiter, outbufiter], receives: [recvinbufiter, recvoutbufiter], group, qos };
    answer(|| create(name, &parts, channel, || Ok((CollectiveKind::Alltoall, 0))))
}
