//! The log of births: which process began which process or thread, what each is called, and that it ended.

use super::event::{
    Attributes, COMM, Event, PerfError, SAMPLE_CPU, SAMPLE_ID_ALL, SAMPLE_TID, SAMPLE_TIME, SOFTWARE_DUMMY,
    TASK, TYPE_SOFTWARE, Target, USE_CLOCK_ID,
};
use super::ring::{Record, Ring};
use crate::clock;
use leveret_types::Nanos;

const NAME: &str = "the log of births";
/// 128 KiB: some 600 processes that begin, change into another program and end between two drains.
const DATA_PAGES: usize = 32;
const RECORD_COMM: u32 = 3;
const RECORD_EXIT: u32 = 4;
/// Of a name: it came with `execve`.
const FLAG_EXEC: u16 = 1 << 13;
const RECORD_FORK: u32 = 7;
/// Of the identity that follows each record: `| pid | tid | time | core | - |`.
const IDENTITY_BYTES: usize = 24;

/// What happened to a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Birth {
    /// It began.
    Began {
        /// Its process; of a process that began, its own number.
        process: u32,
        /// The process that began it.
        by: u32,
        /// The thread of that process that did.
        by_thread: u32,
    },
    /// It got this name.
    Named {
        /// Which.
        name: String,
        /// Whether it became another program with it.
        is_program: bool,
    },
    /// It ended.
    Ended,
}

/// Of which thread, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BirthRecord {
    /// When.
    pub time: Nanos,
    /// Which thread.
    pub thread: u32,
    /// What.
    pub what: Birth,
}

/// The births on all cores: whoever begins a process may do so from anywhere. A process that begins none costs nothing.
#[derive(Debug)]
pub struct BirthLog {
    rings: Vec<(Ring, Event)>,
    /// Records that came while the rings were read: what they follow on may not have been.
    early: Vec<BirthRecord>,
}

impl BirthLog {
    /// Opens the log on these cores.
    ///
    /// # Errors
    ///
    /// [`PerfError`].
    pub fn open(cores: &[u32]) -> Result<Self, PerfError> {
        let open = |core: &u32| {
            let flags = TASK | COMM | SAMPLE_ID_ALL | USE_CLOCK_ID;
            let mut attributes = Attributes::new(TYPE_SOFTWARE, SOFTWARE_DUMMY, flags);
            attributes.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU;
            let event = Event::open(NAME, &attributes, Target::Core(*core))?;
            Ok((Ring::map(&event, DATA_PAGES)?, event))
        };
        let rings: Result<Vec<_>, PerfError> = cores.iter().map(open).collect();
        Ok(Self { rings: rings?, early: Vec::new() })
    }

    /// What has happened since the last call, in order of time; nothing that followed on what is left out.
    pub fn drain(&mut self) -> Vec<BirthRecord> {
        let until = clock::now();
        let mut found = std::mem::take(&mut self.early);
        for (ring, _) in &mut self.rings {
            ring.drain(|record| found.extend(birth_of(record)));
        }
        found.sort_by_key(|record| record.time);
        self.early = found.split_off(found.partition_point(|record| record.time <= until));
        found
    }

    /// Records that were lost because nobody drained in time, since the log was opened.
    pub fn lost(&self) -> u64 {
        self.rings.iter().map(|(ring, _)| ring.lost()).sum()
    }
}

/// ```text
///  a birth, an end:  | pid | parent's pid | tid | parent's tid | time | identity |
///  a name:           | pid | tid | name, ends in zeros | identity |
/// ```
fn birth_of(record: &Record<'_>) -> Option<BirthRecord> {
    let time = |offset: usize| record.long(offset).map(|time| Nanos(time.cast_signed()));
    match record.kind {
        RECORD_FORK => {
            let what =
                Birth::Began { process: record.word(0)?, by: record.word(4)?, by_thread: record.word(12)? };
            Some(BirthRecord { time: time(16)?, thread: record.word(8)?, what })
        }
        RECORD_COMM => {
            let identity = record.body.len().checked_sub(IDENTITY_BYTES)?;
            let name = record.body.get(8..identity)?.split(|byte| *byte == 0).next().unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            let what = Birth::Named { name, is_program: record.flags & FLAG_EXEC != 0 };
            Some(BirthRecord { time: time(identity + 8)?, thread: record.word(4)?, what })
        }
        RECORD_EXIT => Some(BirthRecord { time: time(16)?, thread: record.word(8)?, what: Birth::Ended }),
        // The ring counts what was lost.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Spawn, spawn};
    use crate::scheduling::{allowed_cores, process_id, thread_id};

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn named(name: &str) -> Birth {
        Birth::Named { name: name.to_owned(), is_program: true }
    }

    #[test]
    fn births_and_names_are_read_as_the_kernel_writes_them() {
        let of = |kind: u32, body: &[u8]| birth_of(&Record { kind, flags: FLAG_EXEC, body });
        let identity = words(&[5, 6, 9, 0, 1, 0]);
        let birth = [words(&[70, 60, 71, 61, 8, 0]), identity.clone()].concat();
        let began = Birth::Began { process: 70, by: 60, by_thread: 61 };
        assert_eq!(of(RECORD_FORK, &birth), Some(BirthRecord { time: Nanos(8), thread: 71, what: began }));
        let name = [words(&[70, 71]), b"sleep\0\0\0".to_vec(), identity].concat();
        let expected = BirthRecord { time: Nanos(9), thread: 71, what: named("sleep") };
        assert_eq!(of(RECORD_COMM, &name), Some(expected));
        let ended = BirthRecord { time: Nanos(8), thread: 71, what: Birth::Ended };
        assert_eq!(of(RECORD_EXIT, &birth), Some(ended));
        for length in 0..24 {
            assert_eq!(of(RECORD_FORK, &birth[..length]), None, "{length}");
            assert_eq!(of(RECORD_COMM, &name[..length]), None, "{length}");
        }
    }

    #[test]
    fn a_child_that_has_ended_is_known_by_who_began_it() {
        let mut log = match BirthLog::open(&allowed_cores()) {
            Ok(log) => log,
            Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
        };
        let mut what = Spawn::new("/bin/sh");
        what.args = vec!["-c".into(), "/bin/true; exit 0".into()];
        let child = spawn(what).unwrap();
        child.pidfd.wait().unwrap();
        let thread = std::thread::spawn(thread_id).join().unwrap();
        let found = log.drain();
        if log.lost() > 0 {
            return eprintln!("SKIPPED: others began too many processes meanwhile");
        }
        let births: Vec<(u32, u32, u32)> = found
            .iter()
            .filter_map(|record| match record.what {
                Birth::Began { process, by, .. } => Some((record.thread, process, by)),
                Birth::Named { .. } | Birth::Ended => None,
            })
            .collect();
        let ours = process_id();
        assert!(births.contains(&(child.pid, child.pid, ours)), "{births:?}");
        assert!(births.contains(&(thread, ours, ours)), "{births:?}");
        let grandchild = births.iter().find(|(_, _, by)| *by == child.pid);
        let (grandchild, ..) = grandchild.expect("sh began true");
        let is_true = |record: &BirthRecord| record.thread == *grandchild && record.what == named("true");
        assert!(found.iter().any(is_true), "{found:?}");
        assert!(found.iter().any(|record| record.thread == *grandchild && record.what == Birth::Ended));
        assert!(found.is_sorted_by_key(|record| record.time));
    }
}
