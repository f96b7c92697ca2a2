//! What the kernel logged of each core lately. A thread that is kept from its core leaves no stamp until it is given back, so what is read now may be
//! asked for much later.

use leveret_os::perf::SwitchRecord;
use leveret_types::Nanos;
use std::collections::{BTreeMap, VecDeque};

/// Records that are remembered of all cores together: 3 MiB of switches.
const MOST: usize = 1 << 16;
/// Longer than this nothing is remembered: threads' numbers are used again.
const MEMORY: Nanos = Nanos::from_secs(600);
/// Records that are looked through for a thread's last one, of all cores together.
const LOOKED_BACK: usize = 1 << 13;

/// A record of what happened on a core.
pub(crate) trait Logged: Copy {
    fn at(&self) -> Nanos;
    fn core(&self) -> u32;
}

impl Logged for SwitchRecord {
    fn at(&self) -> Nanos {
        self.time
    }

    fn core(&self) -> u32 {
        self.core
    }
}

/// A timer interrupt.
impl Logged for (Nanos, u32) {
    fn at(&self) -> Nanos {
        self.0
    }

    fn core(&self) -> u32 {
        self.1
    }
}

/// Of one core, in order of time.
struct OfCore<T> {
    records: VecDeque<T>,
    /// When the last was that is forgotten.
    forgotten: Nanos,
}

impl<T: Logged> OfCore<T> {
    fn new() -> Self {
        Self { records: VecDeque::new(), forgotten: Nanos(i64::MIN) }
    }

    fn first_from(&self, at: Nanos) -> usize {
        self.records.partition_point(|record| record.at() < at)
    }

    fn forget(&mut self, count: usize) {
        let last = self.records.drain(..count).last();
        self.forgotten = last.map_or(self.forgotten, |last| last.at());
    }
}

/// Records by core. Those of a core that makes many do not drive out those of a core that a single thread has for long.
pub(crate) struct Recent<T> {
    cores: BTreeMap<u32, OfCore<T>>,
}

impl<T: Logged> Recent<T> {
    pub(crate) fn new() -> Self {
        Self { cores: BTreeMap::new() }
    }

    /// Takes in what has just come. Logs of threads may meet on one core, and are read one after the other: only the last records there can
    /// come after the first of these.
    pub(crate) fn insert(&mut self, fresh: Vec<T>) {
        let mut by_core: BTreeMap<u32, Vec<T>> = BTreeMap::new();
        for record in fresh {
            by_core.entry(record.core()).or_default().push(record);
        }
        for (core, mut fresh) in by_core {
            let rest = &mut self.cores.entry(core).or_insert_with(OfCore::new).records;
            let first = fresh.iter().map(Logged::at).min().unwrap_or(Nanos::MAX);
            fresh.extend(rest.drain(rest.partition_point(|each| each.at() <= first)..));
            fresh.sort_by_key(Logged::at);
            rest.extend(fresh);
        }
    }

    /// All of an interval.
    pub(crate) fn within(&self, from: Nanos, until: Nanos) -> impl Iterator<Item = &T> {
        self.cores.values().flat_map(move |of_core| {
            let first = of_core.first_from(from);
            of_core.records.range(first..).take_while(move |record| record.at() <= until)
        })
    }

    /// The last of each core before `at`.
    pub(crate) fn last_before(&self, at: Nanos) -> impl Iterator<Item = &T> {
        self.cores
            .values()
            .filter_map(move |of_core| of_core.records.get(of_core.first_from(at).checked_sub(1)?))
    }

    /// The last of any core before `at` that is as wanted.
    pub(crate) fn last_such(&self, at: Nanos, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let far = LOOKED_BACK / self.cores.len().max(1);
        let found = self.cores.values().filter_map(|of_core| {
            let before = of_core.records.range(..of_core.first_from(at));
            before.rev().take(far).find(|record| is_wanted(record))
        });
        found.max_by_key(|record| record.at()).copied()
    }

    /// Up to when what followed on `from` is forgotten, if any of it is: of one core or, where that is not known, of any.
    pub(crate) fn forgotten_until(&self, from: Nanos, core: Option<u32>) -> Option<Nanos> {
        let cores = self.cores.iter().filter(|(number, _)| core.is_none_or(|core| core == **number));
        cores.map(|(_, of_core)| of_core.forgotten).max().filter(|last| *last >= from)
    }

    /// Forgets all of a core up to an instant after its last record: what came in between is not known.
    pub(crate) fn forget_core(&mut self, core: u32, until: Nanos) {
        let of_core = self.cores.entry(core).or_insert_with(OfCore::new);
        of_core.records.clear();
        of_core.forgotten = of_core.forgotten.max(until);
    }

    /// Forgets what is too much or too old: of the core with the most records the oldest.
    pub(crate) fn forget(&mut self, now: Nanos) {
        for of_core in self.cores.values_mut() {
            of_core.forget(of_core.first_from(now - MEMORY));
        }
        let count =
            |cores: &BTreeMap<u32, OfCore<T>>| cores.values().map(|each| each.records.len()).sum::<usize>();
        while let surplus @ 1.. = count(&self.cores).saturating_sub(MOST) {
            let Some(fullest) = self.cores.values_mut().max_by_key(|each| each.records.len()) else { return };
            fullest.forget(surplus.min(fullest.records.len() / 8 + 1));
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.cores.values().flat_map(|of_core| &of_core.records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORES: [u32; 2] = [0, 1];

    fn times(recent: &Recent<(Nanos, u32)>, from: i64, until: i64) -> Vec<(i64, u32)> {
        recent.within(Nanos(from), Nanos(until)).map(|(at, core)| (at.0, *core)).collect()
    }

    /// What was left unread may have been anything: who had the core last is not known.
    #[test]
    fn nothing_is_known_of_a_core_before_what_was_left_unread() {
        let mut recent = Recent::new();
        recent.insert([(1, 0), (2, 1), (3, 0)].map(|(at, core)| (Nanos(at), core)).to_vec());
        recent.forget_core(0, Nanos(10));
        recent.insert([(12, 0), (13, 1)].map(|(at, core)| (Nanos(at), core)).to_vec());
        assert_eq!(times(&recent, 0, 20), [(12, 0), (2, 1), (13, 1)]);
        let before: Vec<_> = recent.last_before(Nanos(11)).copied().collect();
        assert_eq!(before, [(Nanos(2), 1)]);
        assert_eq!(recent.forgotten_until(Nanos(9), Some(0)), Some(Nanos(10)));
        assert_eq!(recent.forgotten_until(Nanos(9), None), Some(Nanos(10)));
        assert_eq!(recent.forgotten_until(Nanos(9), Some(1)), None);
        assert_eq!(recent.forgotten_until(Nanos(11), Some(0)), None);
    }

    #[test]
    fn records_of_several_logs_come_into_order() {
        let mut recent = Recent::new();
        recent.insert([1, 4, 6].map(|at| (Nanos(at), 0)).to_vec());
        recent.insert([(9, 0), (5, 0), (7, 0), (2, 1)].map(|(at, core)| (Nanos(at), core)).to_vec());
        recent.insert(Vec::new());
        assert_eq!(times(&recent, 4, 7), [(4, 0), (5, 0), (6, 0), (7, 0)]);
        assert_eq!(times(&recent, 0, 9).len(), 7);
        let before: Vec<_> = recent.last_before(Nanos(6)).copied().collect();
        assert_eq!(before, [(Nanos(5), 0), (Nanos(2), 1)]);
        assert_eq!(recent.last_such(Nanos(6), |(at, _)| at.0 % 2 == 0), Some((Nanos(4), 0)));
        assert_eq!(recent.last_such(Nanos(2), |(at, _)| at.0 % 2 == 0), None);
    }

    #[test]
    fn a_busy_core_drives_out_its_own_records_alone() {
        let mut recent = Recent::new();
        recent.insert(vec![(Nanos(5), 0)]);
        for turn in 1..=4 {
            recent.insert((0..MOST as i64 / 2).map(|at| (Nanos(turn * 100_000 + at), 1)).collect());
            recent.forget(Nanos(500_000));
        }
        assert!(recent.iter().count() <= MOST);
        assert_eq!(times(&recent, 0, 99_999), [(5, 0)]);
        assert_eq!(recent.forgotten_until(Nanos(0), Some(0)), None);
        let last = recent.forgotten_until(Nanos(0), Some(1)).expect("too many");
        assert!(recent.last_such(last + Nanos(1), |(_, core)| *core == 1).is_none());
        assert!(!times(&recent, last.0 + 1, last.0 + 1).is_empty());
        assert_eq!(recent.forgotten_until(last, None), Some(last));
        assert_eq!(recent.forgotten_until(last + Nanos(1), None), None);
    }

    #[test]
    fn what_is_old_is_forgotten() {
        let mut recent = Recent::new();
        recent.insert(CORES.map(|core| (Nanos(i64::from(core)), core)).to_vec());
        recent.forget(MEMORY + Nanos(1));
        assert_eq!(times(&recent, 0, 9), [(1, 1)]);
        assert_eq!(recent.forgotten_until(Nanos(0), None), Some(Nanos(0)));
    }
}
