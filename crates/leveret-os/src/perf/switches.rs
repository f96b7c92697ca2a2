//! The log of context switches: who left a core, who came, and whether the one that left still wanted to run.

use super::event::{
    Attributes, CONTEXT_SWITCH, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, Event, PerfError, SAMPLE_CPU,
    SAMPLE_ID_ALL, SAMPLE_RAW, SAMPLE_TID, SAMPLE_TIME, SOFTWARE_DUMMY, TYPE_SOFTWARE, TYPE_TRACEPOINT,
    Target, USE_CLOCK_ID, tracepoint_id,
};
use super::ring::{RECORD_LOST, Record, Ring};
use super::scheduled::{self, COMM_BYTES, Layout};
use crate::threads_of;
use leveret_types::Nanos;

/// In place of a thread id: the log does not know.
pub const UNKNOWN_THREAD: u32 = u32::MAX;

/// In what state a thread left its core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// It wanted to go on.
    Runnable,
    /// It waits for something; a signal would wake it.
    Asleep,
    /// It waits for something, and no signal wakes it: for the kernel's own work, or frozen.
    Uninterruptible,
    /// A signal stopped it.
    Stopped,
    /// A debugger did.
    Traced,
    /// It ended.
    Ended,
    /// The log does not say.
    Unknown,
}

/// A change of the running thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchRecord {
    /// When.
    pub time: Nanos,
    /// On which core.
    pub core: u32,
    /// Who left: 0 is the idle task, [`UNKNOWN_THREAD`] somebody that this log does not see.
    pub tid_from: u32,
    /// Who came, likewise.
    pub tid_to: u32,
    /// The process of the one that came; [`UNKNOWN_THREAD`] where the log does not know it.
    pub pid_to: u32,
    /// Whether the one that left was still runnable.
    pub preempted: bool,
    /// The same in full, where the log knows it.
    pub left: Left,
    /// The rank of the one that left, at that time and whoever lent it: 0 for ordinary scheduling, 1 to 99 real time, 100
    /// for `SCHED_DEADLINE`; `None` where the log does not know it.
    pub from_rank: Option<u8>,
    /// The rank of the one that came, likewise.
    pub to_rank: Option<u8>,
    /// The name of the one that left, likewise: it may have become another program since it came.
    pub from_name: Option<[u8; COMM_BYTES]>,
    /// The name of the one that came, likewise.
    pub to_name: Option<[u8; COMM_BYTES]>,
}

impl SwitchRecord {
    /// The name of the one that left, where the log knows it.
    pub fn name_from(&self) -> Option<String> {
        self.from_name.map(text)
    }

    /// The name of the one that came, where the log knows it.
    pub fn name_to(&self) -> Option<String> {
        self.to_name.map(text)
    }
}

fn text(bytes: [u8; COMM_BYTES]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

const RECORD_SWITCH: u32 = 14;
const RECORD_SWITCH_CORE_WIDE: u32 = 15;
const FLAG_OUT: u16 = 1 << 13;
const FLAG_OUT_PREEMPTED: u16 = 1 << 14;
/// 1 MiB: some 12,000 switches between two drains, a second of a busy core.
const CORE_DATA_PAGES: usize = 256;
/// 32 KiB: some 500 switches of one thread between two drains, within what an ordinary user may lock.
const THREAD_DATA_PAGES: usize = 8;

/// Context switches of a core or of a thread.
#[derive(Debug)]
pub struct SwitchLog {
    ring: Ring,
    /// The last switch handed over, to know its second telling by.
    last: Option<SwitchRecord>,
    /// How to read samples of the tracepoint, where that is what is logged.
    layout: Option<Layout>,
    /// The last sample, whose record is still to come.
    sampled: Option<SwitchRecord>,
    // Keeps the event running.
    _event: Event,
}

impl SwitchLog {
    /// Every switch on a core, whoever it concerns.
    ///
    /// # Errors
    ///
    /// [`PerfError`]; [`open_thread`](Self::open_thread) takes less privilege.
    pub fn open_core(core: u32) -> Result<Self, PerfError> {
        // The tracepoint knows threads by their numbers in the first process namespace only.
        if threads_of::are_all_visible()
            && let Ok(log) = Self::open_tracepoint(core)
        {
            return Ok(log);
        }
        Self::open(Target::Core(core), CORE_DATA_PAGES)
    }

    /// The switches of one thread (0: the calling one): that it left and came, not who took its place.
    ///
    /// # Errors
    ///
    /// [`PerfError`].
    pub fn open_thread(tid: u32) -> Result<Self, PerfError> {
        Self::open(Target::Thread(tid), THREAD_DATA_PAGES)
    }

    /// The plain log, each of whose records comes after a sample of the tracepoint with what that knows more. The samples alone would have
    /// holes: the kernel leaves them out in threads whose count of nested events it has got wrong.
    fn open_tracepoint(core: u32) -> Result<Self, PerfError> {
        let layout = Layout::read()?;
        let id = tracepoint_id(scheduled::NAME, scheduled::ID_PATH)?;
        let flags = CONTEXT_SWITCH | SAMPLE_ID_ALL | USE_CLOCK_ID;
        let mut attributes = Attributes::new(TYPE_TRACEPOINT, id, flags);
        attributes.sample_period = 1;
        attributes.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_RAW;
        let event = Event::open("the log of context switches", &attributes, Target::Core(core))?;
        let ring = Ring::map(&event, CORE_DATA_PAGES)?;
        Ok(Self { ring, last: None, layout: Some(layout), sampled: None, _event: event })
    }

    fn open(target: Target, data_pages: usize) -> Result<Self, PerfError> {
        let flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | CONTEXT_SWITCH | SAMPLE_ID_ALL | USE_CLOCK_ID;
        let mut attributes = Attributes::new(TYPE_SOFTWARE, SOFTWARE_DUMMY, flags);
        attributes.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU;
        let event = Event::open("the log of context switches", &attributes, target)?;
        Ok(Self {
            ring: Ring::map(&event, data_pages)?,
            last: None,
            layout: None,
            sampled: None,
            _event: event,
        })
    }

    /// Hands over the switches since the last call, in order of time.
    pub fn drain(&mut self, mut take: impl FnMut(SwitchRecord)) {
        let (last, layout, sampled) = (&mut self.last, self.layout, &mut self.sampled);
        self.ring.drain(|record| {
            if let Some(sample) = layout.and_then(|layout| layout.switch_of(record)) {
                *sampled = Some(sample);
                return;
            }
            if record.kind == RECORD_LOST {
                (*last, *sampled) = (None, None);
            }
            if let Some(switch) = switch_of(record).and_then(|switch| follow(last, record, switch)) {
                take(with_sample(switch, sampled.take()));
            }
        });
    }

    /// Records that were lost because nobody drained in time, since the log was opened.
    pub fn lost(&self) -> u64 {
        self.ring.lost()
    }
}

/// The switch as it follows on the one before; `None` when that told it already.
///
/// A thread that has ended has no number left when it leaves its core for the last time: the log says -1. On a
/// core that was watched without a hole it is the one that came last.
fn follow(
    last: &mut Option<SwitchRecord>,
    record: &Record<'_>,
    mut switch: SwitchRecord,
) -> Option<SwitchRecord> {
    let core_wide = record.kind == RECORD_SWITCH_CORE_WIDE;
    if let Some(last) = last.filter(|_| core_wide) {
        let same = |tid| last.tid_from == tid || last.tid_from == UNKNOWN_THREAD || tid == UNKNOWN_THREAD;
        if record.flags & FLAG_OUT == 0 && last.tid_to == switch.tid_to && same(switch.tid_from) {
            return None;
        }
        if switch.tid_from == UNKNOWN_THREAD {
            switch.tid_from = last.tid_to;
        }
    }
    *last = Some(switch);
    Some(switch)
}

/// The switch with what the sample before it knows more, if that is of the same switch.
fn with_sample(switch: SwitchRecord, sample: Option<SwitchRecord>) -> SwitchRecord {
    let same = |sample: &SwitchRecord| {
        let left = sample.tid_from == switch.tid_from || switch.tid_from == UNKNOWN_THREAD;
        left && sample.tid_to == switch.tid_to && sample.core == switch.core
    };
    sample.filter(same).map_or(switch, |sample| SwitchRecord {
        time: switch.time,
        pid_to: switch.pid_to,
        ..sample
    })
}

/// ```text
///  core-wide:   | other pid | other tid |  pid | tid | time | core | - |
///  of a thread:                         |  pid | tid | time | core | - |
/// ```
///
/// A core-wide switch is told twice, by the one that leaves and by the one that comes. The first says it all, but
/// some of the kernel's own threads leave without a word; then the second is all there is.
fn switch_of(record: &Record<'_>) -> Option<SwitchRecord> {
    let leaves = record.flags & FLAG_OUT != 0;
    let (identity, other) = match record.kind {
        RECORD_SWITCH => (0, [UNKNOWN_THREAD; 2]),
        RECORD_SWITCH_CORE_WIDE => (8, [record.word(0)?, record.word(4)?]),
        _ => return None,
    };
    let this = [record.word(identity)?, record.word(identity + 4)?];
    let ([_, tid_from], [pid_to, tid_to]) = if leaves { (this, other) } else { (other, this) };
    Some(SwitchRecord {
        time: Nanos(record.long(identity + 8)?.cast_signed()),
        core: record.word(identity + 16)?,
        tid_from,
        tid_to,
        pid_to,
        preempted: leaves && record.flags & FLAG_OUT_PREEMPTED != 0,
        left: if leaves && record.flags & FLAG_OUT_PREEMPTED != 0 { Left::Runnable } else { Left::Unknown },
        from_rank: None,
        to_rank: None,
        from_name: None,
        to_name: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use crate::scheduling::{allowed_cores, pin, thread_id};
    use crate::{clock, user};

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn a_sample_adds_to_its_own_switch_alone() {
        let plain = SwitchRecord {
            time: Nanos(9),
            core: 0,
            tid_from: 81,
            tid_to: 71,
            pid_to: 70,
            preempted: false,
            left: Left::Unknown,
            from_rank: None,
            to_rank: None,
            from_name: None,
            to_name: None,
        };
        let sample = SwitchRecord { time: Nanos(5), left: Left::Traced, to_rank: Some(50), ..plain };
        assert_eq!(with_sample(plain, Some(sample)), SwitchRecord { time: Nanos(9), ..sample });
        for other in [
            SwitchRecord { tid_to: 72, ..sample },
            SwitchRecord { tid_from: 82, ..sample },
            SwitchRecord { core: 1, ..sample },
        ] {
            assert_eq!(with_sample(plain, Some(other)), plain);
        }
        assert_eq!(with_sample(plain, None), plain);
    }

    #[test]
    fn both_forms_of_the_record_are_understood() {
        let time = 5_u64.to_ne_bytes();
        let mut body = words(&[70, 71, 80, 81]);
        body.extend(time);
        body.extend(words(&[3, 0]));
        let preempted = FLAG_OUT | FLAG_OUT_PREEMPTED;
        let core_wide = |flags| switch_of(&Record { kind: RECORD_SWITCH_CORE_WIDE, flags, body: &body });
        let expected = SwitchRecord {
            time: Nanos(5),
            core: 3,
            tid_from: 81,
            tid_to: 71,
            pid_to: 70,
            preempted: true,
            left: Left::Runnable,
            from_rank: None,
            to_rank: None,
            from_name: None,
            to_name: None,
        };
        assert_eq!(core_wide(preempted), Some(expected));
        assert_eq!(
            core_wide(FLAG_OUT),
            Some(SwitchRecord { preempted: false, left: Left::Unknown, ..expected })
        );
        let expected = SwitchRecord { left: Left::Unknown, ..expected };
        let came = SwitchRecord { tid_from: 71, tid_to: 81, pid_to: 80, preempted: false, ..expected };
        assert_eq!(core_wide(0), Some(came));
        let of_thread = |flags| switch_of(&Record { kind: RECORD_SWITCH, flags, body: &body[8..] });
        let left =
            SwitchRecord { tid_to: UNKNOWN_THREAD, pid_to: UNKNOWN_THREAD, left: Left::Runnable, ..expected };
        assert_eq!(of_thread(preempted), Some(left));
        let came =
            SwitchRecord { tid_from: UNKNOWN_THREAD, tid_to: 81, pid_to: 80, preempted: false, ..expected };
        assert_eq!(of_thread(0), Some(came));
        assert_eq!(switch_of(&Record { kind: 9, flags: FLAG_OUT, body: &body }), None);
        for length in 0..body.len() - 4 {
            let short = Record { kind: RECORD_SWITCH_CORE_WIDE, flags: FLAG_OUT, body: &body[..length] };
            assert_eq!(switch_of(&short), None, "{length}");
        }
    }

    #[test]
    fn a_thread_that_ended_keeps_its_number_until_the_core_is_another_s() {
        let bytes = |other: u32, this: u32, time: u64| {
            let mut body = words(&[1, other, 1, this]);
            body.extend(time.to_ne_bytes());
            body.extend(words(&[0, 0]));
            body
        };
        let mut last = None;
        let mut told = Vec::new();
        // 7 comes, ends, and leaves to 8 without a number; each switch is told twice. Then 8 leaves to 9.
        let records = [
            (7, 5, FLAG_OUT, 1),
            (5, 7, 0, 1),
            (8, UNKNOWN_THREAD, FLAG_OUT, 2),
            (UNKNOWN_THREAD, 8, 0, 2),
            (9, 8, FLAG_OUT, 3),
        ];
        for (other, this, flags, time) in records {
            let body = bytes(other, this, time);
            let record = Record { kind: RECORD_SWITCH_CORE_WIDE, flags, body: &body };
            told.extend(switch_of(&record).and_then(|switch| follow(&mut last, &record, switch)));
        }
        let pairs: Vec<(u32, u32)> = told.iter().map(|switch| (switch.tid_from, switch.tid_to)).collect();
        assert_eq!(pairs, [(5, 7), (7, 8), (8, 9)]);
    }

    struct Slept {
        /// The log's records of this thread.
        found: Vec<SwitchRecord>,
        /// Times that it surely gave up its core while the log was open.
        left_at_least: u64,
        /// The same and what came before and after, when the thread may have waited for a lock of the kernel's.
        left_at_most: u64,
    }

    /// Gives up the core `count` times and reads the log.
    fn sleeps(log: &mut SwitchLog, count: usize) -> Slept {
        let (before, _) = testing::switches();
        for _ in 0..count {
            testing::give_up_the_core();
        }
        let left_at_least = testing::switches().0 - before;
        let (mut found, this) = (Vec::new(), thread_id());
        log.drain(|switch| {
            if switch.tid_from == this || switch.tid_to == this {
                found.push(switch);
            }
        });
        Slept { found, left_at_least, left_at_most: testing::switches().0 }
    }

    /// The log tells as many voluntary departures of this thread as there were.
    fn assert_agrees(slept: &Slept) {
        let left = |switch: &&SwitchRecord| switch.tid_from == thread_id() && !switch.preempted;
        let left = slept.found.iter().filter(left).count() as u64;
        let expected = slept.left_at_least..=slept.left_at_most;
        assert!(expected.contains(&left), "{left} of {expected:?}: {:?}", slept.found);
    }

    #[test]
    fn a_sleeping_thread_is_seen_leaving_and_coming_on_its_core() {
        std::thread::spawn(|| {
            let core = allowed_cores()[0];
            pin(core).unwrap();
            let before = clock::now();
            let mut log = match SwitchLog::open_core(core) {
                Ok(log) => log,
                Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
            };
            let slept = sleeps(&mut log, 20);
            let after = clock::now();
            assert!(slept.left_at_least >= 20);
            if log.lost() == 0 {
                assert_agrees(&slept);
            }
            let found = slept.found;
            assert!(found.iter().all(|switch| switch.core == core));
            assert!(found.iter().all(|switch| switch.time >= before && switch.time <= after));
            assert!(found.is_sorted_by_key(|switch| switch.time));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn without_privilege_a_thread_can_still_watch_itself() {
        let outcome = user::in_unprivileged_thread(|| match SwitchLog::open_thread(0) {
            Ok(mut log) => {
                let slept = sleeps(&mut log, 5);
                assert_agrees(&slept);
                let came = slept.found.iter().filter(|switch| switch.tid_to == thread_id()).count() as u64;
                assert!(came >= slept.left_at_least, "{:?}", slept.found);
            }
            Err(refusal) => eprintln!("SKIPPED: {refusal}"),
        });
        outcome.unwrap();
        let refusal = user::in_unprivileged_thread(|| SwitchLog::open_core(0).map(|_| ())).unwrap();
        match refusal {
            Err(refusal) => assert!(refusal.to_string().contains("kernel.perf_event_paranoid"), "{refusal}"),
            Ok(()) => eprintln!("SKIPPED: everybody may watch cores here"),
        }
    }

    #[test]
    fn an_overfull_log_says_how_much_it_lost() {
        std::thread::spawn(|| {
            let mut log = match SwitchLog::open(Target::Thread(0), 1) {
                Ok(log) => log,
                Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
            };
            // One page holds some hundred records. The loss is told by the next record that fits.
            let before = testing::switches();
            let found = sleeps(&mut log, 400).found.len() as u64 + sleeps(&mut log, 1).found.len() as u64;
            let after = testing::switches();
            let left = after.0 - before.0 + (after.1 - before.1);
            assert!(log.lost() > 0, "nothing was lost of {found}");
            // Each switch is told twice. One against the thread's will may fall between log and account.
            let expected = 2 * left;
            assert!(
                (found + log.lost()).abs_diff(expected) <= 8,
                "{found} found, {} lost of {expected}",
                log.lost()
            );
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_thread_that_is_gone_is_an_error() {
        // Larger than the kernel's largest id.
        let gone = 4_194_305_u32;
        let message = SwitchLog::open_thread(gone).unwrap_err().to_string();
        assert!(message.contains(&gone.to_string()), "{message}");
    }
}
