//! What the calling thread has been through, by the kernel's own account.
//!
//! One system call into memory of the caller's: it allocates nothing, opens nothing and touches no page that was not
//! touched before, so that the reading does not show in the counts.

/// Faults and switches of a thread since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadUsage {
    /// Page faults, in its own code and in the kernel's on its behalf.
    pub faults: u64,
    /// Times it gave up the core.
    pub switches_voluntary: u64,
    /// Times the core was taken from it.
    pub switches_involuntary: u64,
}

/// The usage of the calling thread.
pub fn of_this_thread() -> ThreadUsage {
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is writable and lives through the call, which fails for a wrong address or selector only; then
    // it stays zero.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    ThreadUsage {
        faults: usage.ru_minflt.cast_unsigned() + usage.ru_majflt.cast_unsigned(),
        switches_voluntary: usage.ru_nvcsw.cast_unsigned(),
        switches_involuntary: usage.ru_nivcsw.cast_unsigned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::perf::testing::touch;
    use leveret_types::Nanos;

    #[test]
    fn faults_and_sleeps_are_counted_and_reading_costs_none() {
        std::thread::spawn(|| {
            of_this_thread();
            let before = of_this_thread();
            for _ in 0..100 {
                of_this_thread();
            }
            assert_eq!(of_this_thread().faults, before.faults);
            touch(16);
            assert!(of_this_thread().faults >= before.faults + 16);
            // A thread that is preempted on its way into the sleep may find its time over.
            while of_this_thread().switches_voluntary == before.switches_voluntary {
                clock::sleep_until(clock::now() + Nanos::from_micros(100));
            }
        })
        .join()
        .unwrap();
    }
}
