//! What a thread can learn about itself without a system call.
//!
//! The kernel keeps a page per perf event that its owner may map. When the thread is put on a core, the kernel
//! adds the event to that core and updates the page, under a sequence word that grows by 2. So the word counts how
//! often the thread was put on a core, the count on the page is that of the last time, and all of it is an
//! ordinary load (some 30 processor cycles), which the data path can afford before and after each instance.

use super::event::{
    Attributes, ControlPage, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, Event, Mapped, PerfError,
    SOFTWARE_PAGE_FAULTS, SOFTWARE_TASK_CLOCK, TYPE_SOFTWARE, Target,
};
use leveret_types::Nanos;
use std::marker::PhantomData;

/// The kernel's pages about the thread that opened them; only that thread reads them.
#[derive(Debug)]
pub struct ThreadPage {
    clock_page: Mapped,
    fault_page: Mapped,
    lock_at_open: u32,
    _events: [Event; 2],
    // The pages are updated on the owner's way back to its own code: elsewhere a reading may be torn.
    _not_send: PhantomData<*const ()>,
}

impl ThreadPage {
    /// Opens the pages of the calling thread.
    ///
    /// # Errors
    ///
    /// [`PerfError`].
    pub fn open() -> Result<Self, PerfError> {
        let flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
        let open = |name, config| {
            Event::open(name, &Attributes::new(TYPE_SOFTWARE, config, flags), Target::Thread(0))
        };
        let clock = open("the processor time", SOFTWARE_TASK_CLOCK)?;
        let faults = open("the count of page faults", SOFTWARE_PAGE_FAULTS)?;
        let (clock_page, fault_page) = (clock.map(0)?, faults.map(0)?);
        let lock_at_open = lock(clock_page.page());
        Ok(Self { clock_page, fault_page, lock_at_open, _events: [clock, faults], _not_send: PhantomData })
    }

    /// How often the thread was put on a core since the page was opened (modulo 2^31). Unchanged between two
    /// readings: it kept its core in between.
    #[inline]
    pub fn switches(&self) -> u32 {
        lock(self.clock_page.page()).wrapping_sub(self.lock_at_open) / 2
    }

    /// Page faults of the thread's own code since the page was opened, as of the last time that it was put on a core.
    #[inline]
    pub fn faults(&self) -> u64 {
        // SAFETY: the page is mapped while `self` lives; the kernel changes the field only while this thread is
        // not in its own code, so that one volatile load is whole.
        unsafe { (&raw const (*self.fault_page.page()).offset).read_volatile() }.cast_unsigned()
    }

    /// Processor time of the thread since the page was opened, as of the last time that it was put on a core.
    #[inline]
    pub fn cpu_time_at_schedule_in(&self) -> Nanos {
        // SAFETY: as in `faults`.
        let running = unsafe { (&raw const (*self.clock_page.page()).time_running).read_volatile() };
        Nanos(running.cast_signed())
    }
}

#[inline]
fn lock(page: *const ControlPage) -> u32 {
    // SAFETY: every caller passes a page that is mapped; the field is aligned, and a volatile load of 32 bits is
    // whole.
    unsafe { (&raw const (*page).lock).read_volatile() }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, give_up_the_core};
    use super::*;
    use crate::scheduling::{allowed_cores, pin};
    use crate::{clock, user};

    fn check_one_thread() {
        let page = match ThreadPage::open() {
            Ok(page) => page,
            Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
        };
        give_up_the_core();
        let sum = || testing::switches().0 + testing::switches().1;
        let (by_page, by_kernel) = (page.switches(), sum());
        for _ in 0..10 {
            give_up_the_core();
        }
        let (by_page, by_kernel) = (u64::from(page.switches() - by_page), sum() - by_kernel);
        // A switch may fall between the two readings, at either end.
        assert!(by_kernel >= 10 && by_page.abs_diff(by_kernel) <= 4, "page {by_page}, kernel {by_kernel}");

        let faults = page.faults();
        testing::touch(16);
        give_up_the_core();
        assert!(page.faults() >= faults + 16, "{faults} {}", page.faults());

        let (before, at_start) = (page.cpu_time_at_schedule_in(), clock::thread_cpu_time());
        while clock::thread_cpu_time() - at_start < Nanos::from_micros(500) {}
        give_up_the_core();
        let (spent, at_most) = (page.cpu_time_at_schedule_in() - before, clock::thread_cpu_time());
        assert!(spent >= Nanos::from_micros(400) && spent <= at_most, "{spent} of {at_most}");
    }

    #[test]
    fn a_thread_reads_its_switches_faults_and_time() {
        std::thread::spawn(|| {
            pin(allowed_cores()[0]).unwrap();
            check_one_thread();
        })
        .join()
        .unwrap();
    }

    #[test]
    fn so_it_does_without_privilege() {
        user::in_unprivileged_thread(check_one_thread).unwrap();
    }
}
