//! What children leave behind: processes whose parent ended before them.
//!
//! The kernel gives an orphan to the nearest ancestor that asked for it (`PR_SET_CHILD_SUBREAPER`), or else to init. An
//! adopter thus reaches whatever its children ever started, in whatever session or process group it hid: whoever leaves
//! the tree by its parent's end arrives here.

use crate::clock;
use crate::threads_of::{environment, has_environment};
use leveret_types::Nanos;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::collections::{BTreeMap, BTreeSet};

/// Between two looks at processes that were killed and have not ended yet.
const LOOK_AGAIN: Nanos = Nanos(500_000);
/// A process changes into another program within this.
const CHANGES_WITHIN: Nanos = Nanos::from_millis(200);

/// A process that was left behind.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Orphan {
    /// Its process id.
    pub pid: u32,
    /// Its name, at most 15 bytes.
    pub name: String,
}

/// This process adopts the orphans among its descendants until this is dropped.
#[derive(Debug)]
pub struct Adoption {
    /// Children that were there before, as when a shell with jobs in the background becomes this process.
    before: BTreeSet<u32>,
    session: u32,
}

impl Adoption {
    /// From now on. `None` where the kernel does not offer it; orphans then go to init.
    pub fn begin() -> Option<Self> {
        let adopter = rustix::process::getpid();
        let session = own_session()?;
        let before = children().into_iter().map(|child| child.orphan.pid).collect();
        rustix::process::set_child_subreaper(Some(adopter)).ok()?;
        Some(Self { before, session })
    }

    /// Reaps orphans that have ended; `is_own` tells which children somebody else waits for.
    pub fn reap(&self, is_own: impl Fn(u32) -> bool) {
        while let Some(pid) = next_ended() {
            // One that is waited for hides those behind it until it was reaped.
            if is_own(pid.as_raw_nonzero().get().cast_unsigned()) || !reap(pid) {
                return;
            }
        }
    }

    /// An orphan that was started with this value of a variable of its environment. One without any environment may just be changing into
    /// another program, when the kernel shows none: it is looked at again for a while.
    pub fn find(&self, variable: &str, value: &str) -> Option<u32> {
        let limit = clock::now() + CHANGES_WITHIN;
        loop {
            let left = children().into_iter().filter(|child| !self.before.contains(&child.orphan.pid));
            let left: Vec<u32> = left.map(|child| child.orphan.pid).collect();
            let is_meant = |pid: &&u32| environment(**pid, [variable])[0].as_deref() == Some(value);
            if let Some(found) = left.iter().find(is_meant) {
                return Some(*found);
            }
            if left.iter().all(|pid| has_environment(*pid)) || clock::now() > limit {
                return None;
            }
            clock::sleep_until(clock::now() + LOOK_AGAIN);
        }
    }

    /// Kills every orphan, and whoever becomes one by that, until nobody is left or `within` has passed. To be called when
    /// the children proper have ended. Returns who was killed, and who has not ended all the same.
    ///
    /// Spared is who was a child before, and who is of this process's own session: the children's descendants, being of
    /// another session, can never come into it.
    pub fn end(&self, within: Nanos) -> (Vec<Orphan>, Vec<Orphan>) {
        let limit = clock::now() + within;
        let mut killed: BTreeMap<u32, Orphan> = BTreeMap::new();
        loop {
            self.reap(|_| false);
            if !has_children() {
                return (killed.into_values().collect(), Vec::new());
            }
            let mut left = children();
            left.retain(|child| child.session != self.session && !self.before.contains(&child.orphan.pid));
            if left.is_empty() {
                return (killed.into_values().collect(), Vec::new());
            }
            if clock::now() > limit {
                return (
                    killed.into_values().collect(),
                    left.into_iter().map(|child| child.orphan).collect(),
                );
            }
            for child in left {
                // The id of a child stands for it until this process has reaped it.
                if let Some(pid) = i32::try_from(child.orphan.pid).ok().and_then(Pid::from_raw)
                    && rustix::process::kill_process(pid, Signal::KILL).is_ok()
                {
                    killed.entry(child.orphan.pid).or_insert(child.orphan);
                }
            }
            clock::sleep_until(clock::now() + LOOK_AGAIN);
        }
    }
}

impl Drop for Adoption {
    fn drop(&mut self) {
        // Orphans go to init again; that this fails is not foreseen, and would matter to nobody.
        let _ = rustix::process::set_child_subreaper(None);
    }
}

/// The session of this process as `/proc` tells that of others: 0 when its leader is outside this process namespace, as in
/// a container. (`rustix` takes a session of 0 for impossible.)
fn own_session() -> Option<u32> {
    // SAFETY: takes a number and returns one.
    u32::try_from(unsafe { libc::getsid(0) }).ok()
}

/// A child that has ended and waits to be reaped. (`rustix` does not tell which one it was.)
fn next_ended() -> Option<Pid> {
    // SAFETY: all zeroes is a valid `siginfo_t`.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `siginfo_t` into `found`.
    let answer = unsafe {
        libc::waitid(libc::P_ALL, 0, &raw mut found, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT)
    };
    // SAFETY: after an answer for a child, or none, which leaves the zero, the field holds an id.
    (answer == 0).then(|| unsafe { found.si_pid() }).and_then(Pid::from_raw)
}

fn has_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(rustix::process::waitid(WaitId::All, look), Err(Errno::CHILD))
}

fn reap(pid: Pid) -> bool {
    let taken = rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    matches!(taken, Ok(Some(_)))
}

struct Found {
    orphan: Orphan,
    session: u32,
}

/// The children of this process, as `/proc` has them; those that have ended and wait to be reaped are none.
fn children() -> Vec<Found> {
    let own = rustix::process::getpid().as_raw_nonzero().get().cast_unsigned();
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // | id | (name) | state | parent | group | session | ...; the name may hold anything, so the last bracket ends it.
            let (head, rest) = stat.rsplit_once(')')?;
            let name = head.split_once('(')?.1.to_owned();
            let mut fields = rest.split_ascii_whitespace();
            let state = fields.next()?;
            let parent: u32 = fields.next()?.parse().ok()?;
            let session = fields.nth(1)?.parse().ok()?;
            (parent == own && state != "Z").then_some(Found { orphan: Orphan { pid, name }, session })
        })
        .collect()
}
