//! The tracepoint `sched:sched_switch`: as the log of switches, with names, ranks and states as they were.

use super::event::{field, tracepoint_file};
use super::ring::Record;
use super::switches::{Left, SwitchRecord, UNKNOWN_THREAD};
use super::{PerfError, timers::RECORD_SAMPLE};
use crate::Failure;
use leveret_types::Nanos;
use rustix::io::Errno;

pub(super) const NAME: &str = "sched:sched_switch";
pub(super) const ID_PATH: &str = "events/sched/sched_switch/id";
const FORMAT_PATH: &str = "events/sched/sched_switch/format";
/// Where a sample's raw part begins: after | pid | tid | time | core | - | size |.
pub(super) const RAW: usize = 28;
pub(super) const COMM_BYTES: usize = 16;

/// Where the fields lie, which differs between kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    from_name: usize,
    from: usize,
    from_priority: usize,
    from_state: usize,
    to_name: usize,
    to: usize,
    to_priority: usize,
}

impl Layout {
    pub(super) fn read() -> Result<Self, PerfError> {
        let text = tracepoint_file(NAME, FORMAT_PATH)?;
        let failure = Failure::new("read", Errno::BADMSG);
        Self::parse(&text).ok_or(PerfError::Tracepoint { name: NAME, failure })
    }

    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str, bytes: usize| field(text, name, bytes);
        Some(Self {
            from_name: field("prev_comm", COMM_BYTES)?,
            from: field("prev_pid", 4)?,
            from_priority: field("prev_prio", 4)?,
            from_state: field("prev_state", 8)?,
            to_name: field("next_comm", COMM_BYTES)?,
            to: field("next_pid", 4)?,
            to_priority: field("next_prio", 4)?,
        })
    }

    /// ```text
    ///  | pid | tid | time | core | - | size | raw ... |
    /// ```
    pub(super) fn switch_of(self, record: &Record<'_>) -> Option<SwitchRecord> {
        if record.kind != RECORD_SAMPLE {
            return None;
        }
        let word = |offset: usize| record.word(RAW + offset);
        let rank = |offset: usize| Some(rank_of(word(offset)?.cast_signed()));
        let name = |offset: usize| record.body.get(RAW + offset..RAW + offset + COMM_BYTES)?.try_into().ok();
        let left = left_by(record.long(RAW + self.from_state)?);
        Some(SwitchRecord {
            time: Nanos(record.long(8)?.cast_signed()),
            core: record.word(16)?,
            tid_from: word(self.from)?,
            tid_to: word(self.to)?,
            pid_to: UNKNOWN_THREAD,
            preempted: left == Left::Runnable,
            left,
            from_rank: Some(rank(self.from_priority)?),
            to_rank: Some(rank(self.to_priority)?),
            from_name: Some(name(self.from_name)?),
            to_name: Some(name(self.to_name)?),
        })
    }
}

/// The kernel's priority as a rank: 0 for ordinary scheduling, 1 to 99 real time, 100 for `SCHED_DEADLINE`.
fn rank_of(priority: i32) -> u8 {
    match priority {
        ..0 => 100,
        0..99 => (99 - priority) as u8,
        _ => 0,
    }
}

/// The bits that the tracepoint prints as S, D, T, t, X, Z, P and I; none of them is R.
fn left_by(state: u64) -> Left {
    match state & 0xff {
        0 => Left::Runnable,
        0x02 => Left::Uninterruptible,
        0x04 => Left::Stopped,
        0x08 => Left::Traced,
        0x10 | 0x20 => Left::Ended,
        _ => Left::Asleep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: sched_switch\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
        \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\
        \tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n";

    fn body(state: u64, from_priority: i32, to_priority: i32) -> Vec<u8> {
        let mut body = [81_u32; 2].map(u32::to_ne_bytes).concat();
        body.extend(5_u64.to_ne_bytes());
        body.extend([3_u32, 0, 68].map(u32::to_ne_bytes).concat());
        body.extend([0; 8]);
        body.extend(b"sh\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        body.extend(81_u32.to_ne_bytes());
        body.extend(from_priority.to_ne_bytes());
        body.extend(state.to_ne_bytes());
        body.extend(b"hog\0\0\0\0\0\0\0\0\0\0\0\0\0");
        body.extend(71_u32.to_ne_bytes());
        body.extend(to_priority.to_ne_bytes());
        body
    }

    #[test]
    fn a_switch_has_names_ranks_and_states_as_they_were() {
        let layout = Layout::parse(FORMAT).unwrap();
        let of = |body: &[u8]| layout.switch_of(&Record { kind: RECORD_SAMPLE, flags: 0, body });
        let found = of(&body(0x100, 120, 49)).unwrap();
        assert_eq!((found.time, found.core, found.tid_from, found.tid_to), (Nanos(5), 3, 81, 71));
        assert_eq!((found.preempted, found.left), (true, Left::Runnable));
        assert_eq!((found.from_rank, found.to_rank), (Some(0), Some(50)));
        let names = (found.name_from(), found.name_to());
        assert_eq!(names, (Some("sh".to_owned()), Some("hog".to_owned())));
        let states = [1, 2, 4, 8, 0x20].map(|state| of(&body(state, -1, 0)).unwrap().left);
        assert_eq!(states, [Left::Asleep, Left::Uninterruptible, Left::Stopped, Left::Traced, Left::Ended]);
        assert_eq!(
            of(&body(1, -1, 0)).map(|found| (found.from_rank, found.to_rank)),
            Some((Some(100), Some(99)))
        );
        for length in 0..body(0, 0, 0).len() {
            assert_eq!(of(&body(0, 0, 0)[..length]), None, "{length}");
        }
    }

    #[test]
    fn a_format_without_a_field_is_not_guessed() {
        assert_eq!(Layout::parse(&FORMAT.replace("prev_prio", "x")), None);
        let shifted = FORMAT.replace("offset:60", "offset:64");
        assert_ne!(Layout::parse(&shifted), Layout::parse(FORMAT));
    }
}
