//! The ring into which the kernel writes records.
//!
//! ```text
//!   control page      data (a power of two)
//!   | head | tail |   | ...  read  |  record  record  rec| free ... |
//!                                  ^ tail (ours)         ^ head (the kernel's)
//! ```
//!
//! Positions only grow; the place in the buffer is the position modulo its size. A record may wrap around the
//! end. Where the ring is full the kernel drops records and says how many in a record of its own.

use super::event::{Event, Mapped, PerfError, page_bytes};
use leveret_memory::sync::{AtomicU64, Ordering};

pub(super) const RECORD_LOST: u32 = 2;
const RECORD_THROTTLE: u32 = 5;
const HEADER_BYTES: usize = 8;

/// One record: its type, its flags, and what follows the header.
pub(super) struct Record<'a> {
    pub kind: u32,
    pub flags: u16,
    pub body: &'a [u8],
}

impl Record<'_> {
    /// The 32-bit word at `offset` of the body, if the record is so long.
    pub(super) fn word(&self, offset: usize) -> Option<u32> {
        let bytes = self.body.get(offset..offset.checked_add(4)?)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    }

    /// The 64-bit word at `offset` of the body, if the record is so long.
    pub(super) fn long(&self, offset: usize) -> Option<u64> {
        let bytes = self.body.get(offset..offset.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
}

/// A mapped ring.
#[derive(Debug)]
pub(super) struct Ring {
    mapped: Mapped,
    data_offset: usize,
    data_bytes: usize,
    scratch: Vec<u8>,
    lost: u64,
}

impl Ring {
    /// Maps a ring of `data_pages` pages, or of as many halves of it as the limits allow.
    pub(super) fn map(event: &Event, data_pages: usize) -> Result<Self, PerfError> {
        let mut pages = data_pages;
        loop {
            match event.map(pages) {
                Err(_) if pages > 1 => pages /= 2,
                Err(error) => return Err(error),
                Ok(mapped) => {
                    // Before Linux 4.1 the page did not say where the data lies; it has always been the next page.
                    let (data_offset, data_bytes) = (page_bytes(), pages * page_bytes());
                    return Ok(Self { mapped, data_offset, data_bytes, scratch: Vec::new(), lost: 0 });
                }
            }
        }
    }

    /// Records that the kernel dropped or that could not be read, since the ring was opened.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// How far the kernel has written, and how far that was read.
    pub(super) fn written(&self) -> u64 {
        // SAFETY: the field lies in the mapped control page and is 8-aligned; the kernel stores to it while we
        // load, which an atomic load allows.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.mapped.page()).data_head) }.load(Ordering::Acquire)
    }

    fn tail(&self) -> &AtomicU64 {
        // SAFETY: as above; only this ring stores to the tail.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.mapped.page()).data_tail) }
    }

    /// How far it was read: what lies between this and [`written`](Self::written) waits.
    pub(super) fn read(&self) -> u64 {
        self.tail().load(Ordering::Relaxed)
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> u64 {
        self.data_bytes as u64
    }

    /// Leaves unread what waits before a position at which a record begins.
    pub(super) fn skip_to(&mut self, position: u64) {
        self.tail().store(position, Ordering::Release);
    }

    /// Hands each waiting record to `take` and frees the space. That records were lost is counted, and handed over too,
    /// since what comes after does not follow on what came before.
    pub(super) fn drain(&mut self, take: impl FnMut(&Record<'_>)) {
        self.drain_some(u64::MAX, take);
    }

    /// The same with the first of them only, of `most` bytes and the rest of the record that these end in.
    pub(super) fn drain_some(&mut self, most: u64, mut take: impl FnMut(&Record<'_>)) {
        let (read, written) = (self.read(), self.written());
        let data = Data { base: self.mapped.at(self.data_offset), bytes: self.data_bytes };
        let mut lost = 0;
        let walked = data.walk((read, written, most), &mut self.scratch, |record| match record.kind {
            RECORD_LOST => {
                lost += record.long(8).unwrap_or(1);
                take(record);
            }
            RECORD_THROTTLE => lost += 1,
            _ => take(record),
        });
        self.lost += lost + u64::from(walked.is_none());
        self.skip_to(walked.map_or(written, |bytes| read + bytes));
    }
}

/// The data part of a ring. The kernel leaves what lies between tail and head alone.
struct Data {
    base: *const u8,
    bytes: usize,
}

impl Data {
    /// Visits the records between two positions, until `most` bytes are behind it, and says how many are. `None`: what is there
    /// cannot be records.
    fn walk(
        &self,
        (tail, head, most): (u64, u64, u64),
        scratch: &mut Vec<u8>,
        mut take: impl FnMut(&Record<'_>),
    ) -> Option<u64> {
        let waiting = head.wrapping_sub(tail);
        if waiting > self.bytes as u64 {
            return None;
        }
        let mut position = 0_usize;
        let waiting = waiting as usize;
        let start = (tail % self.bytes as u64) as usize;
        while waiting - position >= HEADER_BYTES && (position as u64) < most {
            let mut header = [0; HEADER_BYTES];
            self.copy(start + position, &mut header);
            let [k0, k1, k2, k3, f0, f1, s0, s1] = header;
            let bytes = usize::from(u16::from_ne_bytes([s0, s1]));
            if bytes < HEADER_BYTES || bytes > waiting - position {
                return None;
            }
            scratch.resize(bytes - HEADER_BYTES, 0);
            self.copy(start + position + HEADER_BYTES, scratch);
            take(&Record {
                kind: u32::from_ne_bytes([k0, k1, k2, k3]),
                flags: u16::from_ne_bytes([f0, f1]),
                body: scratch,
            });
            position += bytes;
        }
        // Less than a header is no record.
        (position == waiting || position as u64 >= most).then_some(position as u64)
    }

    /// Copies from `place` (below twice the size), around the end if need be. `into` is no longer than the data.
    fn copy(&self, place: usize, into: &mut [u8]) {
        assert!(into.len() <= self.bytes, "{} B were asked of a ring of {} B", into.len(), self.bytes);
        let place = place % self.bytes;
        let (first, second) = into.split_at_mut(into.len().min(self.bytes - place));
        // SAFETY: `place + first.len()` and `second.len()` are within the data by the assertion and the minimum;
        // the kernel writes neither part until the tail has moved past it.
        unsafe {
            std::ptr::copy_nonoverlapping(self.base.add(place), first.as_mut_ptr(), first.len());
            std::ptr::copy_nonoverlapping(self.base, second.as_mut_ptr(), second.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(7_u16.to_ne_bytes());
        bytes.extend(((HEADER_BYTES + body.len()) as u16).to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    /// Walks `records` laid into a ring of 64 bytes from position `tail` on.
    fn walk(tail: u64, records: &[u8], head: u64) -> (bool, Vec<(u32, u16, Vec<u8>)>) {
        let mut buffer = [0xAA_u8; 64];
        for (index, byte) in records.iter().enumerate() {
            buffer[(tail as usize + index) % 64] = *byte;
        }
        let data = Data { base: buffer.as_ptr(), bytes: buffer.len() };
        let mut found = Vec::new();
        let walked = data.walk((tail, head, u64::MAX), &mut Vec::new(), |record| {
            found.push((record.kind, record.flags, record.body.to_vec()));
        });
        assert!(walked.is_none_or(|bytes| bytes == head.wrapping_sub(tail)));
        (walked.is_some(), found)
    }

    #[test]
    fn records_are_found_at_every_place_of_the_ring() {
        let records = [record(14, &[1; 8]), record(15, &[2; 16]), record(9, &[])].concat();
        let expected = vec![(14, 7, vec![1; 8]), (15, 7, vec![2; 16]), (9, 7, vec![])];
        for tail in (0..64).chain([u64::MAX - 63, 1 << 40]) {
            assert_eq!(walk(tail, &records, tail + records.len() as u64), (true, expected.clone()), "{tail}");
        }
    }

    #[test]
    fn a_walk_ends_with_the_record_in_which_its_bytes_do() {
        let records = [record(14, &[1; 8]), record(15, &[2; 16]), record(9, &[])].concat();
        let buffer: Vec<u8> = records.iter().copied().chain([0; 24]).collect();
        let data = Data { base: buffer.as_ptr(), bytes: buffer.len() };
        for (most, expected) in
            [(0, (0, 0)), (1, (16, 1)), (16, (16, 1)), (17, (40, 2)), (40, (40, 2)), (41, (48, 3))]
        {
            let mut found = 0;
            let walked = data.walk((0, records.len() as u64, most), &mut Vec::new(), |_| found += 1);
            assert_eq!((walked, found), (Some(expected.0), expected.1), "{most}");
        }
    }

    #[test]
    fn nonsense_ends_the_walk_and_never_reads_beyond() {
        let good = record(14, &[1; 8]);
        for bytes in [0_u16, 7, 65, u16::MAX] {
            let mut bad = good.clone();
            let mut broken = record(14, &[2; 8]);
            broken[6..8].copy_from_slice(&bytes.to_ne_bytes());
            bad.extend(broken);
            let (whole, found) = walk(60, &bad, 60 + bad.len() as u64);
            assert_eq!((whole, found.len()), (false, 1), "{bytes}");
        }
        assert_eq!(walk(0, &good, 65), (false, vec![]));
        assert_eq!(walk(10, &good, 9), (false, vec![]));
        assert_eq!(walk(0, &good, 3), (false, vec![]));
        assert_eq!(walk(5, &[], 5), (true, vec![]));
    }

    #[test]
    fn fields_beyond_a_record_are_absent() {
        let body = [1, 0, 0, 0, 2, 0, 0, 0];
        let record = Record { kind: 0, flags: 0, body: &body };
        assert_eq!(
            (record.word(0), record.word(4), record.word(5)),
            (Some(1_u32.to_le()), Some(2_u32.to_le()), None)
        );
        assert_eq!((record.long(1), record.word(usize::MAX)), (None, None));
    }
}
