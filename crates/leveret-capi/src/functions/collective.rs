//! Channels of a whole group: creation. All else is as with every channel.

use super::object::made;
use crate::state::with_library;
use crate::types::{CHandle, MPIRT_Bufiter, MPIRT_Channel, MPIRT_Group, MPIRT_Qos, NameIn, Out};
use leveret_runtime::objects::{Code, CollectiveDescription, CollectiveKind, Handle, Operation};
use std::ffi::c_int;

/// An operation of a reduction; the numbers stand in `mpirt.h`.
pub type MPIRT_Op = c_int;

fn create(name: NameIn, description: CollectiveDescription, channel: Out<MPIRT_Channel>) -> c_int {
    create_if(name, channel, || Ok(description))
}

fn create_if(
    name: NameIn,
    channel: Out<MPIRT_Channel>,
    description: impl FnOnce() -> Result<CollectiveDescription, Code>,
) -> c_int {
    made(channel, || {
        let name = name.read()?;
        let description = description()?;
        with_library(|library| library.world.collective(name, description))
    })
}

fn rank(root: c_int) -> u32 {
    // No group has as many members.
    u32::try_from(root).unwrap_or(u32::MAX)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Bcast_channel_create(
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
    let description = CollectiveDescription {
        kind: CollectiveKind::Broadcast,
        sends: [inbufiter.handle(), outbufiter.handle()],
        receives: [recvinbufiter.handle(), recvoutbufiter.handle()],
        root: rank(root),
        group: group.handle(),
        qos: qos.handle(),
    };
    create(name, description, channel)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Scatter_channel_create(
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
    let description = CollectiveDescription {
        kind: CollectiveKind::Scatter,
        sends: [inbufiter.handle(), outbufiter.handle()],
        receives: [recvinbufiter.handle(), recvoutbufiter.handle()],
        root: rank(root),
        group: group.handle(),
        qos: qos.handle(),
    };
    create(name, description, channel)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Gather_channel_create(
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
    let description = CollectiveDescription {
        kind: CollectiveKind::Gather,
        sends: [inbufiter.handle(), outbufiter.handle()],
        receives: [recvinbufiter.handle(), recvoutbufiter.handle()],
        root: rank(root),
        group: group.handle(),
        qos: qos.handle(),
    };
    create(name, description, channel)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Reduce_channel_create(
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
    create_if(name, channel, || {
        Ok(CollectiveDescription {
            kind: CollectiveKind::Reduce(Operation::of(op).ok_or(Code::Operation)?),
            sends: [inbufiter.handle(), outbufiter.handle()],
            receives: [recvinbufiter.handle(), recvoutbufiter.handle()],
            root: rank(root),
            group: group.handle(),
            qos: qos.handle(),
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Barrier_channel_create(
    name: NameIn,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    let description = CollectiveDescription {
        kind: CollectiveKind::Barrier,
        sends: [Handle::default(); 2],
        receives: [Handle::default(); 2],
        root: 0,
        group: group.handle(),
        qos: qos.handle(),
    };
    create(name, description, channel)
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIRT_Alltoall_channel_create(
    name: NameIn,
    inbufiter: MPIRT_Bufiter,
    outbufiter: MPIRT_Bufiter,
    recvinbufiter: MPIRT_Bufiter,
    recvoutbufiter: MPIRT_Bufiter,
    group: MPIRT_Group,
    qos: MPIRT_Qos,
    channel: Out<MPIRT_Channel>,
) -> c_int {
    let description = CollectiveDescription {
        kind: CollectiveKind::Alltoall,
        sends: [inbufiter.handle(), outbufiter.handle()],
        receives: [recvinbufiter.handle(), recvoutbufiter.handle()],
        root: 0,
        group: group.handle(),
        qos: qos.handle(),
    };
    create(name, description, channel)
}
