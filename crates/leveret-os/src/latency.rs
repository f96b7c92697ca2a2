//! Keeping processors out of deep idle states.
//!
//! A processor in a deep idle state takes tens of microseconds to wake, which makes every planned start late by
//! as much. While some process holds `/dev/cpu_dma_latency` open with 0 written into it, processors idle in the
//! shallowest state only (Linux, `Documentation/power/pm_qos_interface.rst`).

use crate::Failure;
use rustix::fs::{Mode, OFlags};
use std::os::fd::OwnedFd;

/// Where the kernel takes the wish.
pub const DEVICE: &str = "/dev/cpu_dma_latency";

/// The lines that let a user hold idle states off until the next boot: the group need not exist.
const FIX: &str = "sudo groupadd -f realtime && sudo usermod -aG realtime \"$USER\" && \
                   sudo chgrp realtime /dev/cpu_dma_latency && sudo chmod g+rw /dev/cpu_dma_latency";

/// Why idle states could not be held off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum IdleStatesError {
    /// The device could not be opened or written.
    #[error(
        "holding {DEVICE} at 0: {0}; starts will be late by the time a processor needs to leave a deep idle \
         state (tens of microseconds); `{FIX}` gives you the right until the next boot, from your next login on; \
         `leveret doctor` gives the line that lasts"
    )]
    Refused(Failure),
}

/// Processors stay out of deep idle states while this lives.
#[derive(Debug)]
pub struct IdleStatesHeld {
    _device: OwnedFd,
}

impl IdleStatesHeld {
    /// Holds `/dev/cpu_dma_latency` at 0 microseconds.
    ///
    /// # Errors
    ///
    /// [`IdleStatesError::Refused`] when the device is absent or not writable by this user.
    pub fn hold() -> Result<Self, IdleStatesError> {
        let refused = |call| move |errno| IdleStatesError::Refused(Failure::new(call, errno));
        let device = rustix::fs::open(DEVICE, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(refused("open"))?;
        let zero_microseconds = 0_i32.to_ne_bytes();
        rustix::io::write(&device, &zero_microseconds).map_err(refused("write"))?;
        Ok(Self { _device: device })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_or_says_what_is_lost() {
        match IdleStatesHeld::hold() {
            Ok(held) => {
                let mut now = [0_u8; 4];
                rustix::io::pread(&held._device, &mut now, 0).unwrap();
                assert_eq!(i32::from_ne_bytes(now), 0);
            }
            Err(refusal) => {
                eprintln!("SKIPPED: holding idle states: {refusal}");
                assert!(refusal.to_string().contains("starts will be late"));
            }
        }
    }

    #[test]
    fn an_ordinary_user_is_told_the_remedy() {
        let refusal = crate::user::in_unprivileged_thread(|| IdleStatesHeld::hold().map(|_| ())).unwrap();
        match refusal {
            Err(refusal) => {
                let text = refusal.to_string();
                let places: Vec<_> =
                    ["groupadd -f realtime", "usermod -aG realtime", "chgrp realtime", "chmod g+rw"]
                        .map(|step| text.find(step).unwrap_or_else(|| panic!("no {step}: {text}")))
                        .into();
                assert!(places.is_sorted(), "a step comes before what it needs: {text}");
            }
            Ok(()) => eprintln!("SKIPPED: this machine lets everybody write {DEVICE}"),
        }
    }
}
