//! What the words of a channel's segments are called.

use super::BUFFERS;
use crate::block::{
    BorrowedControl, Header, Participation, RingControl, SourceControl, Status, TargetControl,
};
use crate::layout::{RingPlace, SegmentLayout, ShelfPlace};
use std::mem::{offset_of, size_of};

fn of_participation(offset: usize) -> &'static str {
    match offset {
        offset if offset == offset_of!(Participation, version) => "version",
        offset if offset < offset_of!(Participation, dozing) => "copies",
        offset if offset == offset_of!(Participation, dozing) => "dozing",
        offset if offset == offset_of!(Participation, started) => "started",
        offset if offset == offset_of!(Participation, answered) => "answered",
        offset if offset == offset_of!(Participation, served) => "served",
        offset if offset == offset_of!(Participation, lacked) => "lacked",
        offset if offset == offset_of!(Participation, lacked_at) => "lacked at",
        offset if offset < offset_of!(Participation, line_1) => "checks",
        _ => "unused",
    }
}

fn of_ring(place: &RingPlace, offset: usize) -> Option<&'static str> {
    let within = offset.checked_sub(place.offset).filter(|within| *within < place.length)?;
    Some(match within {
        0 => "records pushed",
        within if within < size_of::<RingControl>() => "unused",
        _ => "record",
    })
}

/// What the word at `offset` is called in [`LIST`].
pub(super) fn name(layout: &SegmentLayout, checksum: bool, offset: usize) -> &'static str {
    let within = |start: usize, length: usize| offset.checked_sub(start).filter(|within| *within < length);
    if within(0, size_of::<Header>()).is_some() {
        return "header";
    }
    if within(layout.status, size_of::<Status>()).is_some() {
        return "status";
    }
    let payload = if checksum { "checked payload" } else { "payload" };
    for source in &layout.sources {
        if let Some(within) = within(source.control, size_of::<SourceControl>()) {
            return match within {
                within if within < size_of::<Participation>() => of_participation(within),
                within if within < offset_of!(SourceControl, line_1) => "counts",
                within if within == offset_of!(SourceControl, wake) => "wake",
                _ => "unused",
            };
        }
        if let Some(name) = of_ring(&source.ring, offset) {
            return name;
        }
        let slots = &source.slots;
        if let Some(within) = within(slots.offset, slots.length).map(|within| within % slots.stride) {
            return match within / 8 {
                0 => "sequence",
                1 => "length and check",
                2 => "stamp",
                3 if slots.payload > 24 && slots.indices > 0 => "index",
                3 if slots.payload > 24 && checksum => "checked payload",
                _ if (slots.payload..slots.payload + slots.capacity as usize).contains(&within) => payload,
                _ => "unused",
            };
        }
        let shelf = slots.shelf.as_ref();
        let of_shelf = |shelf: &ShelfPlace| {
            let within = within(shelf.offset, shelf.stride * shelf.buffers as usize)?;
            Some(if within % shelf.stride < shelf.size as usize { payload } else { "unused" })
        };
        if let Some(name) = shelf.and_then(of_shelf) {
            return name;
        }
    }
    for target in &layout.targets {
        if let Some(within) = within(target.control, size_of::<TargetControl>()) {
            return match within {
                within if within < size_of::<Participation>() => of_participation(within),
                within if within == offset_of!(TargetControl, released) => "released",
                within if within < offset_of!(TargetControl, line_1) => "counts",
                within if within == offset_of!(TargetControl, waiting) => "waiting",
                _ => "unused",
            };
        }
        if let Some(name) = of_ring(&target.ring, offset) {
            return name;
        }
        let words = size_of::<BorrowedControl>() + BUFFERS as usize * 8;
        if let Some(within) = target.borrowed.and_then(|start| within(start, words)) {
            return match within {
                0 => "returns",
                within if within < size_of::<BorrowedControl>() => "unused",
                _ => "borrowed",
            };
        }
    }
    "unused"
}
