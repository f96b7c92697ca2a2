//! Priorities in Rust: two channels under load. As `priorities.c`, which explains it, and with the same output:
//! `leveret run -n 2 priorities`.

use leveret::Nanos;
use leveret::objects::{
    BufferDescription, ChannelDescription, Code, Committed, Dataspec, EventKind, Handle, Library,
    OwnedStorage, Policy, Qos, TriggerDescription,
};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

const LOGS: usize = 8;
const ALARMS: usize = 4;
const BYTES: usize = size_of::<i64>();
/// Alarms are messages from this number on.
const FIRST_ALARM: i64 = 1000;
const PATIENCE: Nanos = Nanos::from_secs(10);

fn main() -> ExitCode {
    match priorities() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("priorities: {error}");
            ExitCode::FAILURE
        }
    }
}

fn iterator(library: &mut Library) -> Result<Handle, Code> {
    library.world.bufiter("", Policy::Fifo, (BYTES, Dataspec::Int64), Handle::default())
}

fn buffer(library: &mut Library) -> Result<Handle, Code> {
    let storage = Arc::new(OwnedStorage::new(BYTES));
    library.world.buffer("", BufferDescription { size: BYTES, dataspec: Dataspec::Int64, storage })
}

/// As many messages as there are may wait at the receiver.
fn channel(
    library: &mut Library,
    (name, priority): (&str, u8),
    [input, output]: [Handle; 2],
) -> Result<Handle, Code> {
    let qos = library.world.qos(name, Qos::Priority { priority })?;
    let (source, target, group) = (0, 1, Handle::GROUP_WORLD);
    let description = ChannelDescription { input, output, source, target, group, qos };
    let channel = library.world.ptchannel(name, description)?;
    library.world.set_slack(channel, LOGS as u32)?;
    Ok(channel)
}

/// Fires "arrived" for each message of a channel.
fn watch(library: &mut Library, source: Handle) -> Result<(), Code> {
    let (kind, group, qos) = (EventKind::Completion, Handle::GROUP_WORLD, Handle::default());
    library.world.trigger("arrived", TriggerDescription { kind, source, group, qos }).map(|_| ())
}

fn send(committed: &Committed, iterator: Handle, buffer: Handle, number: i64) -> Result<(), Code> {
    committed.write(buffer, |bytes| bytes.copy_from_slice(&number.to_ne_bytes()))?;
    committed.insert(iterator, buffer)
}

fn priorities() -> Result<(), Box<dyn Error>> {
    let mut library = Library::join()?;
    let is_sender = library.world.rank().index() == 0;
    let size = library.world.group_size(Handle::GROUP_WORLD)?;
    if size != 2 {
        return Err(format!("it has 2 members, not {size}; start it with -n 2").into());
    }
    let own = &mut library;
    let (logs, end, output, gone) = (iterator(own)?, iterator(own)?, iterator(own)?, iterator(own)?);
    // The receiver's buffers are for both.
    let alarms = if is_sender { iterator(own)? } else { logs };
    let of_logs = channel(own, ("logs", 5), [logs, output])?;
    let of_alarms = channel(own, ("alarms", 40), [alarms, output])?;
    // The least urgent of all: when it has come, everything else lies there.
    let of_end = channel(own, ("end", 1), [end, gone])?;
    let buffers: Vec<Handle> = (0..LOGS + ALARMS).map(|_| buffer(own)).collect::<Result<_, _>>()?;
    let last = buffer(own)?;
    let mut arrived = Handle::default();
    if !is_sender {
        own.world.stock(end, last)?;
        watch(own, of_logs)?;
        watch(own, of_alarms)?;
        arrived = own.world.receptor("arrived", Handle::GROUP_WORLD, Handle::default())?;
    }

    library.commit().map_err(|code| format!("{code}\n{}", library.refusal()))?;
    let committed = library.committed().ok_or(Code::NotCommitted)?.clone();
    for channel in [of_logs, of_alarms, of_end] {
        committed.activate(channel)?;
    }
    let mut received = Vec::new();
    if is_sender {
        for (place, buffer) in buffers.iter().enumerate() {
            match place.checked_sub(LOGS) {
                None => send(&committed, logs, *buffer, place as i64 + 1)?,
                Some(number) => send(&committed, alarms, *buffer, FIRST_ALARM + number as i64 + 1)?,
            }
        }
        send(&committed, end, last, 0)?;
    }
    committed.wait(of_end, PATIENCE)?;
    for buffer in buffers.iter().filter(|_| !is_sender) {
        committed.insert(logs, *buffer)?;
        committed.receptor_wait(arrived, PATIENCE)?;
        let mut number = [0; BYTES];
        committed.read(committed.remove(output)?, |bytes| number.copy_from_slice(bytes))?;
        received.push(i64::from_ne_bytes(number));
    }
    library.uncommit()?;
    for number in received {
        match number - FIRST_ALARM {
            alarm if alarm > 0 => println!("receiver: alarm {alarm}"),
            _ => println!("receiver: log {number}"),
        }
    }
    Ok(())
}
