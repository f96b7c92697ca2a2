//! Memory that is sealed, stays present, and is not moved about.

use super::{Finding, limit, lines, sysctl};
use crate::facts::{number, value};
use crate::memory_file::{MemoryFile, MemoryFileError};
use crate::user::has_capability;
use rustix::process::Resource;
use rustix::thread::CapabilitySet;

pub(super) fn examine() -> Vec<Finding> {
    let limit_bytes = rustix::process::getrlimit(Resource::Memlock).current;
    vec![
        judge_sealed_memory(MemoryFile::create("doctor", 4096).map(|_| ())),
        judge_locking(limit_bytes, has_capability(CapabilitySet::IPC_LOCK)),
        judge_swap(value("/proc/swaps").as_deref()),
        judge_huge_pages(value("/sys/kernel/mm/transparent_hugepage/enabled").as_deref()),
        judge_compaction(number("/proc/sys/vm/compaction_proactiveness")),
    ]
}

fn judge_sealed_memory(made: Result<(), MemoryFileError>) -> Finding {
    const NAME: &str = "sealed memory files";
    match made {
        Ok(()) => Finding::ok(NAME, "one was made and sealed"),
        Err(refusal) => Finding::missing(
            NAME,
            refusal.to_string(),
            "no job can run: members share memory through such files alone",
            &["# use Linux 5.1 or later, and allow memfd_create in the container's system call filter"],
        ),
    }
}

fn judge_locking(limit_bytes: Option<u64>, capable: bool) -> Finding {
    const NAME: &str = "memory locking";
    match limit_bytes {
        _ if capable => Finding::ok(NAME, "CAP_IPC_LOCK: without limit"),
        None => Finding::ok(NAME, "without limit"),
        Some(limit_bytes) => Finding::missing(
            NAME,
            format!("at most {} KiB", limit_bytes / 1024),
            "pages beyond that may be swapped out or moved, and fault back in the middle of a task",
            &lines(&limit("memlock", "unlimited")),
        ),
    }
}

fn judge_swap(table: Option<&str>) -> Finding {
    const NAME: &str = "swap";
    const LOSS: &str =
        "pages that could not be locked may be read back from disk in the middle of a task: milliseconds";
    match table {
        // The first line is the heading.
        Some(table) if table.lines().skip(1).all(|line| line.trim().is_empty()) => Finding::ok(NAME, "off"),
        Some(table) => {
            let areas: Vec<_> =
                table.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next()).collect();
            Finding::missing(NAME, areas.join(", "), LOSS, &["sudo swapoff -a"])
        }
        None => Finding::unknown(NAME, "/proc/swaps cannot be read", LOSS, &["sudo swapoff -a"]),
    }
}

fn judge_huge_pages(choice: Option<&str>) -> Finding {
    const NAME: &str = "transparent huge pages";
    const LOSS: &str =
        "the kernel joins small pages into huge ones behind a program's back: tasks that touch them wait";
    const FIX: &[&str] = &["echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"];
    match choice {
        Some(choice) if choice.contains("[always]") => Finding::missing(NAME, "always", LOSS, FIX),
        Some(choice) => Finding::ok(NAME, choice),
        // A kernel without the setting has none.
        None => Finding::ok(NAME, "none"),
    }
}

fn judge_compaction(proactiveness: Option<i64>) -> Finding {
    const NAME: &str = "memory compaction";
    const LOSS: &str =
        "the kernel moves pages in the background: a task that touches one meanwhile faults and waits";
    match proactiveness {
        Some(0) => Finding::ok(NAME, "on demand only"),
        Some(level) => Finding::missing(
            NAME,
            format!("vm.compaction_proactiveness is {level}"),
            LOSS,
            &lines(&sysctl("vm.compaction_proactiveness = 0")),
        ),
        None => Finding::ok(NAME, "not in the background"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn sealed_memory_is_indispensable() {
        assert_eq!(judge_sealed_memory(Ok(())).state, State::Ok);
        let refused = MemoryFileError::Size { name: "doctor".into(), size: 0 };
        assert!(judge_sealed_memory(Err(refused)).loss.contains("no job can run"));
    }

    #[test]
    fn locking_is_judged_by_limit_and_capability() {
        assert_eq!(judge_locking(Some(8 << 20), true).state, State::Ok);
        assert_eq!(judge_locking(None, false).state, State::Ok);
        let limited = judge_locking(Some(8 << 20), false);
        assert_eq!(limited.found, "at most 8192 KiB");
        assert!(limited.fix.iter().any(|line| line.contains("memlock unlimited")));
    }

    #[test]
    fn swap_areas_are_named() {
        let heading = "Filename\t\t\t\tType\t\tSize\n";
        assert_eq!(judge_swap(Some(heading)).state, State::Ok);
        let on = judge_swap(Some(&format!("{heading}/dev/sda2 partition 100 0 -2\n/swapfile file 5 0 -3\n")));
        assert_eq!((on.state, on.found.as_str()), (State::Missing, "/dev/sda2, /swapfile"));
        assert_eq!(judge_swap(None).state, State::Unknown);
    }

    #[test]
    fn page_moving_is_judged() {
        assert_eq!(judge_huge_pages(Some("[always] madvise never")).state, State::Missing);
        assert_eq!(judge_huge_pages(Some("always [madvise] never")).state, State::Ok);
        assert_eq!(judge_huge_pages(None).state, State::Ok);
        assert_eq!(judge_compaction(Some(20)).state, State::Missing);
        assert_eq!(judge_compaction(Some(0)).state, State::Ok);
        assert_eq!(judge_compaction(None).state, State::Ok);
    }
}
