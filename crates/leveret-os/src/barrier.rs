//! One memory barrier in all members at once, for a thread that is about to sleep: who stores before it sleeps for nobody need then not
//! order anything. It costs an interrupt on each core that runs a member, and nothing for threads that do not run.

use leveret_memory::sync::{AtomicBool, Ordering};
use std::ffi::c_int;

/// `enum membarrier_cmd` of `linux/membarrier.h`, since Linux 4.16.
const GLOBAL_EXPEDITED: c_int = 1 << 1;
const REGISTER_GLOBAL_EXPEDITED: c_int = 1 << 2;

static HAS_JOINED: AtomicBool = AtomicBool::new(false);

fn membarrier(command: c_int) -> bool {
    // SAFETY: the call takes no memory, and with these commands changes nothing but the order in which memory is seen.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0_u32, 0) == 0 }
}

/// This process is one of those in which the barrier is, from now on. Where the kernel refuses that nothing is lost but time.
pub fn join() {
    if membarrier(REGISTER_GLOBAL_EXPEDITED) {
        HAS_JOINED.store(true, Ordering::Release);
    }
}

/// When this returns, each thread of a process that has joined has passed a full barrier since the call; says whether there was one.
pub fn in_all_members() -> bool {
    HAS_JOINED.load(Ordering::Acquire) && membarrier(GLOBAL_EXPEDITED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_joined_has_the_barrier() {
        assert!(!in_all_members(), "nobody has joined");
        join();
        assert_eq!(in_all_members(), membarrier(REGISTER_GLOBAL_EXPEDITED), "as the kernel has it");
    }
}
