//! Gates as the message by which Linux is given them: `RTM_NEWQDISC` of rtnetlink(7) with the queueing discipline `taprio`, and `cbs` below it for shaped classes.
//!
//! `tc` builds that message in 1,024 bytes, so a list with more than [`TC_ENTRIES_MAX`] entries does not arrive whole. Here the message is as long as it must be, up to what the format
//! allows: an attribute's length has 16 bits, and the list is nested in the options.
//!
//! ```text
//!  nlmsghdr  length 4 | type 2 | flags 2 | sequence 4 | port 4
//!  tcmsg     family 1 | - 3 | interface 4 | handle 4 | parent 4 | info 4
//!  TCA_KIND  "taprio"
//!  TCA_OPTIONS
//!    PRIOMAP            classes 1 | class of each of 16 priorities | hardware 1 | 16 counts of 2 | 16 offsets of 2
//!    SCHED_ENTRY_LIST   by entry: GATE_MASK 4 | INTERVAL 4; without a command it sets gates
//!    SCHED_BASE_TIME 8 | SCHED_CYCLE_TIME 8 | SCHED_CLOCKID 4 or FLAGS 4
//! ```
//! All numbers are in the byte order of the machine, and attributes begin at multiples of 4 (linux/netlink.h, linux/pkt_sched.h).

use crate::classes::Priorities;
use crate::gates::{CLASSES_MAX, Gates};
use crate::taprio::class_map;
use leveret_types::Nanos;

/// So many entries `tc` passes on; what a list has more is cut.
pub const TC_ENTRIES_MAX: usize = 30;

const HEADER: usize = 16;
const RTM_NEWQDISC: u16 = 36;
/// Request, acknowledged, replace, create.
const FLAGS: u16 = 0x1 | 0x4 | 0x100 | 0x400;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const PRIOMAP: u16 = 1;
const ENTRY_LIST: u16 = 2;
const BASE_TIME: u16 = 3;
const CLOCK: u16 = 5;
const CYCLE_TIME: u16 = 8;
const TAPRIO_FLAGS: u16 = 10;
const ENTRY: u16 = 1;
const GATE_MASK: u16 = 3;
const INTERVAL: u16 = 4;
const CBS_PARAMETERS: u16 = 1;
/// `nla_type`'s flag of attributes that have others in them.
const NESTED: u16 = 1 << 15;
/// Handle of the gates: `100:`.
const HANDLE: u32 = 0x0100_0000;
const ROOT: u32 = 0xFFFF_FFFF;
const CLOCK_TAI: i32 = 11;
/// Gates are kept by the interface.
const FULL_OFFLOAD: u32 = 0x2;
/// What an attribute can hold, its own header included.
const ATTRIBUTE_MAX: usize = u16::MAX as usize;
/// Entry, mask and interval with their headers.
const ENTRY_BYTES: usize = 4 + 8 + 8;

/// Who keeps gates and shapers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keeper {
    /// The interface keeps the gates, and not the kernel by its clock.
    pub gates: bool,
    /// The interface keeps the shapers.
    pub shapers: bool,
}

/// A list that no message can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the list has {entries} entries, and Linux takes {most} at most: an attribute of its message has 64 KiB; periods that are multiples of each other make shorter lists"
)]
pub struct TooLong {
    /// Entries of the list.
    pub entries: usize,
    /// Entries that a message can hold.
    pub most: usize,
}

/// Entries that one message can hold.
pub fn entries_max() -> usize {
    // The options hold beside the list what an empty list leaves.
    (ATTRIBUTE_MAX - options(&[0; 16], 1, &[], [Nanos(0); 2], Keeper::default()).len() - 4) / ENTRY_BYTES
}

/// The messages that set a port's gates and then its shapers, for the interface with this number. `base` is when a hyperperiod starts.
///
/// # Errors
/// A list that no message can hold.
pub fn messages(
    gates: &Gates,
    priorities: &Priorities,
    interface: u32,
    base: Nanos,
    keeper: Keeper,
) -> Result<Vec<Vec<u8>>, TooLong> {
    let most = entries_max();
    if gates.entries.len() > most {
        return Err(TooLong { entries: gates.entries.len(), most });
    }
    let times = [base + gates.offset, gates.cycle];
    let entries: Vec<_> = gates.entries.iter().map(|entry| (entry.open, entry.length)).collect();
    let options = options(&class_map(gates, priorities), gates.classes(), &entries, times, keeper);
    let mut all = vec![message(1, interface, [HANDLE, ROOT], b"taprio\0", &options)];
    for one in &gates.beside {
        let Some(credit) = one.shaper else { continue };
        let class = gates.class_beside(one.class) as u32;
        let kilobits = |bits: u64| i32::try_from(bits).unwrap_or(i32::MAX);
        let most = credit.most.and_then(|most| i32::try_from(most).ok()).unwrap_or(i32::MAX);
        let least = i32::try_from(credit.least).map_or(i32::MIN, |least| -least);
        let (idle, send) =
            (kilobits(credit.idle_slope.0 / 1000), -kilobits(credit.send_slope.0.div_ceil(1000)));
        let mut parameters = vec![u8::from(keeper.shapers), 0, 0, 0];
        parameters.extend([most, least, idle, send].into_iter().flat_map(i32::to_ne_bytes));
        let mut options = Vec::new();
        attribute(&mut options, CBS_PARAMETERS, &parameters);
        all.push(message(1 + all.len() as u32, interface, [0, HANDLE | (class + 1)], b"cbs\0", &options));
    }
    Ok(all)
}

fn message(
    sequence: u32,
    interface: u32,
    [handle, parent]: [u32; 2],
    kind: &[u8],
    options: &[u8],
) -> Vec<u8> {
    let mut all = Vec::with_capacity(HEADER + 20 + options.len() + 24);
    all.extend([0; 4]);
    all.extend(RTM_NEWQDISC.to_ne_bytes());
    all.extend(FLAGS.to_ne_bytes());
    all.extend(sequence.to_ne_bytes());
    all.extend([0; 4]);
    all.extend([0; 4]);
    all.extend([interface, handle, parent, 0].into_iter().flat_map(u32::to_ne_bytes));
    attribute(&mut all, TCA_KIND, kind);
    attribute(&mut all, TCA_OPTIONS | NESTED, options);
    let length = all.len() as u32;
    all[..4].copy_from_slice(&length.to_ne_bytes());
    all
}

/// The options of the gates: `times` are when the list first begins and how long it is.
fn options(
    map: &[u8; 16],
    classes: usize,
    entries: &[(u8, Nanos)],
    times: [Nanos; 2],
    keeper: Keeper,
) -> Vec<u8> {
    let mut all = Vec::with_capacity(entries.len() * ENTRY_BYTES + 160);
    let classes = classes.min(CLASSES_MAX);
    let mut queues = vec![classes as u8];
    queues.extend(map);
    queues.push(0);
    // One transmit queue for each class, of its number.
    let of_class = |index: usize, value: u16| if index < classes { value } else { 0 };
    queues.extend((0..16).flat_map(|index| of_class(index, 1).to_ne_bytes()));
    queues.extend((0..16).flat_map(|index| of_class(index, index as u16).to_ne_bytes()));
    attribute(&mut all, PRIOMAP, &queues);
    let mut list = Vec::with_capacity(entries.len() * ENTRY_BYTES);
    for (open, length) in entries {
        let mut entry = Vec::with_capacity(ENTRY_BYTES - 4);
        attribute(&mut entry, GATE_MASK, &u32::from(*open).to_ne_bytes());
        attribute(&mut entry, INTERVAL, &u32::try_from(length.0).unwrap_or(u32::MAX).to_ne_bytes());
        attribute(&mut list, ENTRY | NESTED, &entry);
    }
    attribute(&mut all, ENTRY_LIST | NESTED, &list);
    attribute(&mut all, BASE_TIME, &times[0].0.to_ne_bytes());
    attribute(&mut all, CYCLE_TIME, &times[1].0.to_ne_bytes());
    match keeper.gates {
        true => attribute(&mut all, TAPRIO_FLAGS, &FULL_OFFLOAD.to_ne_bytes()),
        false => attribute(&mut all, CLOCK, &CLOCK_TAI.to_ne_bytes()),
    }
    all
}

/// Appends an attribute, and what it lacks to a multiple of 4 bytes.
fn attribute(all: &mut Vec<u8>, kind: u16, content: &[u8]) {
    // Whoever calls has counted what a list takes; all else is short.
    let length = u16::try_from(content.len() + 4).unwrap_or(u16::MAX);
    all.extend(length.to_ne_bytes());
    all.extend(kind.to_ne_bytes());
    all.extend(content);
    all.resize(all.len().next_multiple_of(4), 0);
}
