//! Per-instance counts that cost no system call: the kernel keeps them on a page that the thread reads.

use leveret_memory::StampRecord;
use leveret_os::perf::ThreadPage;

/// Counts of one thread, or nothing where the kernel does not allow it.
#[derive(Default)]
pub struct Meter {
    page: Option<ThreadPage>,
    undisturbed: bool,
    switches_at_wake: u32,
    faults_at_wake: u32,
}

impl Meter {
    /// For the calling thread. Without the right to it, counts read as unknown; the reason is returned.
    pub fn for_this_thread() -> (Self, Option<String>) {
        match ThreadPage::open() {
            Ok(page) => (Self { page: Some(page), ..Self::default() }, None),
            Err(error) => (Self::default(), Some(error.to_string())),
        }
    }

    /// For virtual time, where nothing else runs: no switches, no faults.
    pub fn undisturbed() -> Self {
        Self { undisturbed: true, ..Self::default() }
    }

    /// At wake.
    #[inline]
    pub(crate) fn begin(&mut self) {
        if let Some(page) = &self.page {
            self.switches_at_wake = page.switches();
            self.faults_at_wake = page.faults() as u32;
        }
    }

    /// At the end of the instance. The fault count is the thread's total at its wake: the kernel brings it up to
    /// date when it schedules the thread in, so the faults of instance k show at the wake of instance k+1.
    #[inline]
    pub(crate) fn end(&self, record: &mut StampRecord) {
        match &self.page {
            Some(page) => {
                record.switches = page.switches().wrapping_sub(self.switches_at_wake);
                record.faults = self.faults_at_wake;
            }
            None if self.undisturbed => {}
            None => {
                record.switches = u32::MAX;
                record.faults = u32::MAX;
            }
        }
    }
}
