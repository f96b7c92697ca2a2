//! The log of page faults of a thread.

use super::event::{
    Attributes, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, Event, PerfError, SAMPLE_ADDRESS, SAMPLE_TID,
    SAMPLE_TIME, SOFTWARE_PAGE_FAULTS, TYPE_SOFTWARE, Target, USE_CLOCK_ID,
};
use super::ring::{Record, Ring};
use leveret_types::Nanos;

/// One page fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultRecord {
    /// When.
    pub time: Nanos,
    /// Which thread.
    pub tid: u32,
    /// The address that was not there.
    pub address: u64,
}

const RECORD_SAMPLE: u32 = 9;
/// 32 KiB: a thousand faults between two drains. The data path has none, so that this is ample.
const DATA_PAGES: usize = 8;

/// Page faults that a thread took in its own code; those inside system calls are not among them.
#[derive(Debug)]
pub struct FaultLog {
    ring: Ring,
    // Keeps the event running.
    _event: Event,
}

impl FaultLog {
    /// Opens the log of a thread (0: the calling one), also of another process.
    ///
    /// # Errors
    ///
    /// [`PerfError`].
    pub fn open_thread(tid: u32) -> Result<Self, PerfError> {
        let flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | USE_CLOCK_ID;
        let mut attributes = Attributes::new(TYPE_SOFTWARE, SOFTWARE_PAGE_FAULTS, flags);
        attributes.sample_period = 1;
        attributes.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDRESS;
        let event = Event::open("the log of page faults", &attributes, Target::Thread(tid))?;
        Ok(Self { ring: Ring::map(&event, DATA_PAGES)?, _event: event })
    }

    /// Hands over the faults since the last call, in order of time.
    pub fn drain(&mut self, mut take: impl FnMut(FaultRecord)) {
        self.ring.drain(|record| {
            if let Some(fault) = fault_of(record) {
                take(fault);
            }
        });
    }

    /// Records that were lost because nobody drained in time, since the log was opened.
    pub fn lost(&self) -> u64 {
        self.ring.lost()
    }
}

/// ```text
///  | pid | tid | time | address |
/// ```
fn fault_of(record: &Record<'_>) -> Option<FaultRecord> {
    if record.kind != RECORD_SAMPLE {
        return None;
    }
    Some(FaultRecord {
        tid: record.word(4)?,
        time: Nanos(record.long(8)?.cast_signed()),
        address: record.long(16)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{PAGE_BYTES, touch};
    use super::*;
    use crate::scheduling::thread_id;
    use crate::{clock, user};
    use std::collections::BTreeSet;
    use std::sync::mpsc::channel;

    const PAGES: usize = 16;
    const BYTES: usize = PAGES * PAGE_BYTES;

    fn assert_all_found(log: &mut FaultLog, base: u64, tid: u32) {
        let mut found = Vec::new();
        log.drain(|fault| {
            if (base..base + BYTES as u64).contains(&fault.address) {
                found.push(fault);
            }
        });
        // The kernel may take a fault twice when it is interrupted on the way.
        let addresses: BTreeSet<_> = found.iter().map(|fault| fault.address).collect();
        let expected: BTreeSet<_> = (0..PAGES).map(|page| base + (page * PAGE_BYTES) as u64).collect();
        assert_eq!(addresses, expected, "{found:?}");
        assert!(found.is_sorted_by_key(|fault| fault.time));
        assert!(found.iter().all(|fault| fault.tid == tid && fault.time <= clock::now()));
        assert_eq!(log.lost(), 0);
    }

    #[test]
    fn another_threads_faults_are_seen_with_their_addresses() {
        let (tell_tid, tid) = channel();
        let (go, wait) = channel();
        let thread = std::thread::spawn(move || {
            tell_tid.send(thread_id()).unwrap();
            wait.recv().unwrap();
            touch(PAGES)
        });
        let tid = tid.recv().unwrap();
        let log = FaultLog::open_thread(tid);
        go.send(()).unwrap();
        let base = thread.join().unwrap();
        match log {
            Ok(mut log) => assert_all_found(&mut log, base, tid),
            Err(refusal) => eprintln!("SKIPPED: {refusal}"),
        }
    }

    #[test]
    fn works_without_privilege_on_the_own_thread() {
        let outcome = user::in_unprivileged_thread(|| match FaultLog::open_thread(0) {
            Ok(mut log) => {
                let base = touch(PAGES);
                assert_all_found(&mut log, base, thread_id());
            }
            Err(refusal) => eprintln!("SKIPPED: {refusal}"),
        });
        outcome.unwrap();
    }

    #[test]
    fn short_and_foreign_records_are_passed_over() {
        let body = [0_u8; 24];
        assert!(fault_of(&Record { kind: RECORD_SAMPLE, flags: 0, body: &body }).is_some());
        assert!(fault_of(&Record { kind: 14, flags: 0, body: &body }).is_none());
        assert!(fault_of(&Record { kind: RECORD_SAMPLE, flags: 0, body: &body[..23] }).is_none());
    }
}
