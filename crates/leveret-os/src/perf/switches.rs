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
use std::collections::VecDeque;

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
/// 1 MiB: some 5,000 switches.
const CORE_DATA_PAGES: usize = 256;
/// 16 MiB for the logs of all cores together, where they are few: a tenth of a second of threads that wake each other all the time.
const ALL_DATA_PAGES: usize = 4096;
/// 32 KiB: some 500 switches of one thread between two drains, within what an ordinary user may lock.
const THREAD_DATA_PAGES: usize = 8;

/// What comes between two readings is read at once up to this: some 300 switches, in some 50 us.
const FEW_BYTES: u64 = 64 << 10;
/// Read of what came before the instant since when switches are asked for: some 2,500, among them that with which a late thread left its core.
const BEFORE_BYTES: u64 = 512 << 10;

/// How far the kernel had written at an instant: a record begins there.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Nanos,
    position: u64,
}

/// Context switches of a core or of a thread.
#[derive(Debug)]
pub struct SwitchLog {
    core: Option<u32>,
    ring: Ring,
    /// Readings since the first switch that waits.
    marks: VecDeque<Mark>,
    /// The time of a switch after which records were lost, until somebody asks.
    lost_since: Option<Nanos>,
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
    /// Every switch on a core, whoever it concerns; one of `cores` logs, which share some memory.
    ///
    /// # Errors
    ///
    /// [`PerfError`]; [`open_thread`](Self::open_thread) takes less privilege.
    pub fn open_core(core: u32, cores: usize) -> Result<Self, PerfError> {
        // The tracepoint knows threads by their numbers in the first process namespace only.
        let pages = (ALL_DATA_PAGES / cores.max(1) + 1).next_power_of_two() / 2;
        if threads_of::are_all_visible()
            && let Ok(log) = Self::open_tracepoint(core, pages.max(CORE_DATA_PAGES))
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
    fn open_tracepoint(core: u32, pages: usize) -> Result<Self, PerfError> {
        let layout = Layout::read()?;
        let id = tracepoint_id(scheduled::NAME, scheduled::ID_PATH)?;
        let flags = CONTEXT_SWITCH | SAMPLE_ID_ALL | USE_CLOCK_ID;
        let mut attributes = Attributes::new(TYPE_TRACEPOINT, id, flags);
        attributes.sample_period = 1;
        attributes.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_RAW;
        let event = Event::open("the log of context switches", &attributes, Target::Core(core))?;
        let ring = Ring::map(&event, pages)?;
        Ok(Self::new(Target::Core(core), event, ring, Some(layout)))
    }

    fn open(target: Target, data_pages: usize) -> Result<Self, PerfError> {
        let flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | CONTEXT_SWITCH | SAMPLE_ID_ALL | USE_CLOCK_ID;
        let mut attributes = Attributes::new(TYPE_SOFTWARE, SOFTWARE_DUMMY, flags);
        attributes.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU;
        let event = Event::open("the log of context switches", &attributes, target)?;
        let ring = Ring::map(&event, data_pages)?;
        Ok(Self::new(target, event, ring, None))
    }

    fn new(target: Target, event: Event, ring: Ring, layout: Option<Layout>) -> Self {
        let marks = VecDeque::new();
        let core = if let Target::Core(core) = target { Some(core) } else { None };
        Self { core, ring, marks, lost_since: None, last: None, layout, sampled: None, _event: event }
    }

    /// Hands over the switches since the last call, in order of time.
    pub fn drain(&mut self, take: impl FnMut(SwitchRecord)) {
        self.read_some(u64::MAX, take);
    }

    /// The same while they are few, or where those since `wanted` are asked for. Else they wait in the log, where it knows names and ranks as they were,
    /// and the oldest are left out once it is half full: threads that wake each other all the time make hundreds of thousands in a second,
    /// and to read them takes a core as long as several messages. Returns until when any were left out.
    pub fn read(
        &mut self,
        now: Nanos,
        wanted: Option<Nanos>,
        take: impl FnMut(SwitchRecord),
    ) -> Option<Nanos> {
        if self.layout.is_none() {
            self.drain(take);
            return None;
        }
        let written = self.ring.written();
        let before = self.marks.back().map_or(self.ring.read(), |mark| mark.position);
        let is_few = written.wrapping_sub(before) <= FEW_BYTES;
        self.marks.push_back(Mark { at: now, position: written });
        let is_older = |mark: &Mark, since| mark.at <= since && written - mark.position >= BEFORE_BYTES;
        let half = self.ring.bytes() / 2;
        let left_out = match wanted {
            Some(since) => self.marks.iter().rfind(|mark| is_older(mark, since)).copied(),
            None if written.wrapping_sub(self.ring.read()) > half => {
                // However much came since the last reading, it stays.
                let mut earlier = self.marks.iter().rev().skip(1).rev();
                let fits = |mark: &&Mark| written - mark.position <= half;
                earlier.find(fits).or(self.marks.iter().rev().nth(1)).copied()
            }
            None => None,
        };
        if let Some(mark) = left_out {
            self.ring.skip_to(mark.position);
            (self.last, self.sampled) = (None, None);
        }
        let most = match (wanted, is_few) {
            (Some(_), _) => u64::MAX,
            (None, true) => FEW_BYTES,
            (None, false) => 0,
        };
        self.read_some(most, take);
        let read = self.ring.read();
        self.marks.retain(|mark| mark.position > read);
        left_out.map(|mark| mark.at)
    }

    fn read_some(&mut self, most: u64, mut take: impl FnMut(SwitchRecord)) {
        let (last, layout, sampled) = (&mut self.last, self.layout, &mut self.sampled);
        let lost_since = &mut self.lost_since;
        self.ring.drain_some(most, |record| {
            if let Some(sample) = layout.and_then(|layout| layout.switch_of(record)) {
                *sampled = Some(sample);
                return;
            }
            if record.kind == RECORD_LOST {
                *lost_since = lost_since.or(last.map(|last| last.time));
                (*last, *sampled) = (None, None);
            }
            if let Some(switch) = switch_of(record).and_then(|switch| follow(last, record, switch)) {
                take(with_sample(switch, sampled.take()));
            }
        });
    }

    /// The core that it is the log of; `None` where it is a thread's.
    pub fn core(&self) -> Option<u32> {
        self.core
    }

    /// When the first of the records was lost that were found lost since the last call, where that is known.
    pub fn lost_since(&mut self) -> Option<Nanos> {
        self.lost_since.take()
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
            let mut log = match SwitchLog::open_core(core, 1) {
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

    /// Opens the log of the first core for the calling thread, which it pins there.
    fn open_here(pages: usize) -> Result<SwitchLog, PerfError> {
        let core = allowed_cores()[0];
        pin(core).unwrap();
        SwitchLog::open_tracepoint(core, pages)
    }

    /// How often this thread left its core in what a reading hands over.
    fn departures(log: &mut SwitchLog, wanted: Option<Nanos>) -> (u64, Option<Nanos>) {
        let (mut left, this) = (0, thread_id());
        let left_out = log.read(clock::now(), wanted, |switch| left += u64::from(switch.tid_from == this));
        (left, left_out)
    }

    #[test]
    fn many_switches_wait_until_they_are_asked_for() {
        std::thread::spawn(|| {
            let mut log = match open_here(ALL_DATA_PAGES) {
                Ok(log) => log,
                Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
            };
            let before = testing::switches();
            (0..10).for_each(|_| testing::give_up_the_core());
            // More where others took the core meanwhile.
            let first = departures(&mut log, None).0;
            assert!(first >= 10, "few are handed over at once");
            let since = clock::now();
            (0..1000).for_each(|_| testing::give_up_the_core());
            assert_eq!(departures(&mut log, None), (0, None), "a thousand wait");
            // The rest is read little by little once there is little more.
            let few = departures(&mut log, None).0;
            assert!((1..1000).contains(&few), "{few} of a thousand at once");
            let left = || testing::switches().0 - before.0 + (testing::switches().1 - before.1);
            // It may leave its core while it reads, too.
            let begun = left();
            let asked = departures(&mut log, Some(since));
            let ended = left();
            assert_eq!(asked.1, None, "nothing is left out of a log with room");
            let told = first + few + asked.0;
            assert!(
                told + 4 >= begun && told <= ended + 4,
                "{first}, {few} and {} of {begun} to {ended}",
                asked.0
            );
            assert_eq!(log.lost(), 0);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn the_oldest_switches_are_left_out_where_the_log_fills_up() {
        std::thread::spawn(|| {
            let mut log = match open_here(128) {
                Ok(log) => log,
                Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
            };
            let mut readings = Vec::new();
            let mut left_out = Vec::new();
            for _ in 0..12 {
                (0..500).for_each(|_| testing::give_up_the_core());
                readings.push(clock::now());
                let (left, until) = departures(&mut log, None);
                assert_eq!(left, 0);
                left_out.extend(until);
            }
            // Up to a reading, and a later one each time.
            let last = *left_out.last().expect("six thousand switches are more than half of half a megabyte");
            assert!(left_out.is_sorted() && last < readings[11], "{left_out:?}");
            // What came after is there, and nothing before.
            let first = readings.iter().position(|at| *at >= last).unwrap();
            let since = (readings.len() - first) as u64 * 500;
            let (left, _) = departures(&mut log, Some(last));
            assert!((since..since + 100).contains(&left), "{left} of {since} since {last}");
            assert_eq!(log.lost(), 0);
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
        let refusal = user::in_unprivileged_thread(|| SwitchLog::open_core(0, 1).map(|_| ())).unwrap();
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
