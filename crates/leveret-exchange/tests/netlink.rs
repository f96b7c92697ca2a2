//! The messages that set gates are whole: what a reader of the format takes out of them is what the plan says.

mod common;

use common::{LARGEST, planned};
use leveret_exchange::classes::{Priorities, priorities};
use leveret_exchange::gates::{Entry, Gates, gates};
use leveret_exchange::netlink::{Keeper, TC_ENTRIES_MAX, entries_max, messages};
use leveret_exchange::taprio;
use leveret_types::{LinkId, Nanos};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Attributes by kind, in order; as linux/netlink.h lays them out.
fn attributes(mut bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = usize::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
        let kind = u16::from_ne_bytes([bytes[2], bytes[3]]) & 0x3fff;
        assert!((4..=bytes.len()).contains(&length), "{length} of {}", bytes.len());
        found.push((kind, &bytes[4..length]));
        bytes = &bytes[length.div_ceil(4) * 4..];
    }
    found
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn long(bytes: &[u8]) -> i64 {
    i64::from_ne_bytes(bytes.try_into().expect("eight bytes"))
}

/// What a message says: interface, handle, parent, kind, options by kind.
struct Read<'a> {
    places: [u32; 3],
    kind: &'a [u8],
    options: BTreeMap<u16, &'a [u8]>,
}

fn read(message: &[u8]) -> Read<'_> {
    assert_eq!(word(message, 0) as usize, message.len(), "the length of the message");
    assert_eq!(u16::from_ne_bytes([message[4], message[5]]), 36, "RTM_NEWQDISC");
    assert_eq!(u16::from_ne_bytes([message[6], message[7]]), 0x505, "replace or create, acknowledged");
    let all: BTreeMap<_, _> = attributes(&message[36..]).into_iter().collect();
    let options = attributes(all[&2]).into_iter().collect();
    Read { places: [word(message, 20), word(message, 24), word(message, 28)], kind: all[&1], options }
}

/// Entries of the list in a message.
fn entries(read: &Read<'_>) -> Vec<Entry> {
    let one = |(kind, entry): (u16, &[u8])| {
        assert_eq!(kind, 1);
        let of: BTreeMap<_, _> = attributes(entry).into_iter().collect();
        let length = Nanos(i64::from(word(of[&4], 0)));
        Entry { open: u8::try_from(word(of[&3], 0)).expect("eight gates"), length }
    };
    attributes(read.options[&2]).into_iter().map(one).collect()
}

/// A port with so many entries.
fn long_list(count: usize) -> Gates {
    let entry = |index: usize| Entry { open: (index % 7 + 1) as u8, length: Nanos(1_000 + index as i64) };
    let entries: Vec<_> = (0..count).map(entry).collect();
    Gates {
        link: LinkId(0),
        beside: Vec::new(),
        is_crowded: false,
        queues: vec![0, 1],
        cycle: Nanos(entries.iter().map(|entry| entry.length.0).sum()),
        offset: Nanos(77),
        entries,
        guard: Nanos(12_336),
        short: 0,
    }
}

fn set(gates: &Gates) -> Vec<Vec<u8>> {
    messages(gates, &Priorities::default(), 7, Nanos(1_000_000), Keeper::default()).expect("it fits")
}

#[test]
fn thousands_of_entries_arrive_whole() {
    for count in [1, TC_ENTRIES_MAX, TC_ENTRIES_MAX + 1, 280, 2_000, 3_000, entries_max()] {
        let gates = long_list(count);
        let all = set(&gates);
        let read = read(&all[0]);
        assert_eq!((all.len(), read.kind), (1, &b"taprio\0"[..]));
        assert_eq!(read.places, [7, 0x0100_0000, 0xffff_ffff]);
        assert_eq!(entries(&read), gates.entries, "{count}");
        assert_eq!([long(read.options[&3]), long(read.options[&8])], [1_000_077, gates.cycle.0]);
        assert_eq!(word(read.options[&5], 0), 11, "CLOCK_TAI");
    }
}

#[test]
fn a_list_that_no_message_holds_is_refused_with_both_numbers() {
    let most = entries_max();
    assert!((3_200..3_300).contains(&most), "64 KiB of 20 bytes each: {most}");
    let refusal = messages(&long_list(most + 1), &Priorities::default(), 7, Nanos(0), Keeper::default());
    let refusal = refusal.expect_err("too long").to_string();
    assert!(refusal.contains(&(most + 1).to_string()) && refusal.contains(&most.to_string()), "{refusal}");
}

#[test]
fn what_the_interface_keeps_has_no_clock() {
    let keeper = Keeper { gates: true, shapers: true };
    let all = messages(&long_list(3), &Priorities::default(), 7, Nanos(0), keeper).expect("it fits");
    let read = read(&all[0]);
    assert_eq!(word(read.options[&10], 0), 2);
    assert!(!read.options.contains_key(&5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The entries, classes and shapers of random plans; and a script leaves to `tc` only what `tc` passes on.
    #[test]
    fn messages_and_scripts_say_what_the_gates_are((traffic, plan) in planned()) {
        let Ok(all) = gates(&traffic, &plan, LARGEST) else { return Ok(()) };
        let given = priorities(&traffic, &plan);
        for port in &all {
            let sent = messages(port, &given, 3, Nanos(5), Keeper::default()).expect("short");
            let first = read(&sent[0]);
            prop_assert_eq!(entries(&first), port.entries.clone());
            let map = first.options[&1];
            prop_assert_eq!(map.len(), 82);
            prop_assert_eq!(usize::from(map[0]), port.classes());
            for (priority, class) in port.by_priority(&given).into_iter().enumerate() {
                prop_assert_eq!(usize::from(map[1 + priority]), class);
            }
            let shaped: Vec<_> = port.beside.iter().filter(|one| one.shaper.is_some()).collect();
            prop_assert_eq!(sent.len(), 1 + shaped.len());
            for (one, message) in shaped.into_iter().zip(&sent[1..]) {
                let cbs = read(message);
                prop_assert_eq!(cbs.kind, b"cbs\0");
                prop_assert_eq!(cbs.places[2] as usize, 0x0100_0000 + port.class_beside(one.class) + 1);
                let credit = one.shaper.expect("it is shaped");
                prop_assert_eq!(u64::from(word(cbs.options[&1], 12)), credit.idle_slope.0 / 1000);
            }
        }
        for (_, script) in taprio::write(&traffic, &all, &given, LARGEST) {
            for command in script.split("\ntc qdisc").skip(1) {
                prop_assert!(command.matches("sched-entry").count() <= TC_ENTRIES_MAX);
            }
        }
    }
}
