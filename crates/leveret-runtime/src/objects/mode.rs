//! Sets of objects beside the one that runs: which object is of which set, and what may be changed meanwhile.
//!
//! ```text
//!  set 0 (Commit)   |=== runs, fixed ===|--- loose: can be changed, freed, taken into a mode --->
//!  set 1 (a mode)        open | stands  |=== runs, fixed ===|--- loose ...
//! ```
//! Every object is of the set in which it was made. A mode binds its set and all that this refers to: what is loose joins it;
//! groups, qualities of service and handlers may be shared with what runs, since they are only read; and what is kept (`keep.rs`) is of
//! both sets until the switch.

use super::commit::Unfit;
use super::error::Code;
use super::handle::{Class, Handle};
use super::keep::Kept;
use super::object::Body;
use super::world::World;
use std::collections::HashSet;

/// The sets of one member while something is committed.
#[derive(Clone, Debug)]
pub(super) struct Modes {
    /// The set that runs; 0 is Commit's.
    running: u32,
    /// Its mode; null: none.
    current: Handle,
    upcoming: Option<Upcoming>,
    last: u32,
}

#[derive(Clone, Debug)]
struct Upcoming {
    set: u32,
    mode: Handle,
    /// What this thread creates belongs to it.
    thread: usize,
    is_committed: bool,
    /// What the program has said that it keeps.
    kept: Vec<Handle>,
}

impl Default for Modes {
    fn default() -> Self {
        Self { running: 0, current: Handle::null(Class::Mode), upcoming: None, last: 0 }
    }
}

impl Modes {
    fn open_here(&self) -> Option<&Upcoming> {
        self.upcoming.as_ref().filter(|mode| !mode.is_committed && mode.thread == leveret_os::thread::here())
    }

    /// The set that runs.
    pub(super) fn running(&self) -> u32 {
        self.running
    }

    /// The mode that is open takes an object over.
    pub(super) fn keep(&mut self, object: Handle) {
        if let Some(upcoming) = &mut self.upcoming
            && !upcoming.kept.contains(&object)
        {
            upcoming.kept.push(object);
        }
    }

    /// What the mode that is open takes over.
    pub(super) fn kept(&self) -> &[Handle] {
        self.upcoming.as_ref().map_or(&[], |upcoming| &upcoming.kept)
    }

    /// The set of what the calling thread creates, if it may.
    pub(super) fn set_here(&self) -> Option<u32> {
        self.open_here().map(|mode| mode.set)
    }

    /// Whether an object of this set can be changed by the calling thread.
    pub(super) fn may_change(&self, set: u32) -> bool {
        match &self.upcoming {
            Some(mode) if mode.set == set => self.open_here().is_some(),
            _ => set != self.running,
        }
    }
}

impl World {
    /// Begins a set of objects beside the one that runs: what this thread creates from here on belongs to it.
    ///
    /// # Errors
    /// [`Code::NotCommitted`], [`Code::ObjectCommitted`] while another mode is open or waits for its switch, [`Code::Name`], [`Code::Limit`].
    pub fn open_mode(&mut self, name: &str) -> Result<Handle, Code> {
        if !self.committed {
            return Err(Code::NotCommitted);
        }
        if let Some(upcoming) = &self.modes.upcoming {
            let (open, is_committed) = (self.called("mode", upcoming.mode), upcoming.is_committed);
            let why = if is_committed {
                format!("the {open} waits for its switch; switch to it with MPIRTX_Mode_switch first")
            } else {
                format!(
                    "the {open} is open; commit and switch to it, or free it with MPIRTX_Mode_free, first"
                )
            };
            return Err(self.wrong(Code::ObjectCommitted, why));
        }
        let mode = self.table.insert(name, Body::Mode)?;
        let set = self.modes.last + 1;
        self.modes.last = set;
        self.table.put_into(mode, set);
        let thread = leveret_os::thread::here();
        self.modes.upcoming = Some(Upcoming { set, mode, thread, is_committed: false, kept: Vec::new() });
        Ok(mode)
    }

    /// The mode that runs; null for the set that Commit made.
    ///
    /// # Errors
    /// [`Code::NotCommitted`].
    pub fn current_mode(&self) -> Result<Handle, Code> {
        if self.committed { Ok(self.modes.current) } else { Err(Code::NotCommitted) }
    }

    /// The set of a mode that is open.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`] of one that is committed or runs, [`Code::Argument`] of one that has run, and those of wrong handles.
    pub(super) fn open_set(&self, mode: Handle) -> Result<u32, Code> {
        self.of(mode, Class::Mode)?;
        match &self.modes.upcoming {
            _ if mode == self.modes.current => Err(Code::ObjectCommitted),
            Some(upcoming) if upcoming.mode == mode && upcoming.is_committed => Err(Code::ObjectCommitted),
            Some(upcoming) if upcoming.mode == mode => Ok(upcoming.set),
            _ => Err(Code::Argument),
        }
    }

    /// Whether a mode waits for its switch.
    pub(super) fn is_standing(&self, mode: Handle) -> Result<bool, Code> {
        self.of(mode, Class::Mode)?;
        Ok(self
            .modes
            .upcoming
            .as_ref()
            .is_some_and(|upcoming| upcoming.mode == mode && upcoming.is_committed))
    }

    /// The code of an operation on what is committed, which knows the objects as they were then: one that was made since, for a mode, is not
    /// committed.
    pub fn code_beside(&self, code: Code, object: Handle) -> Code {
        match code {
            Code::InvObject | Code::NotCommitted | Code::StaleObject if self.committed => {
                self.table.get(object).err().unwrap_or(Code::NotCommitted)
            }
            code => code,
        }
    }

    /// Why an object can not be used now though something is committed, and what to do: it is of a mode that does not run yet, or of
    /// what a mode has taken over from. `None` of an object that runs, and of none.
    pub fn why_beside(&self, object: Handle) -> Option<String> {
        let known = self.table.get(object).ok().filter(|_| self.committed)?;
        let set = self.table.set_of(object).filter(|set| *set != self.modes.running)?;
        let class = known.body.class();
        let what =
            if class.is_channel() { "channel".to_owned() } else { format!("{class:?}").to_lowercase() };
        let what = self.called(&what, object);
        Some(match &self.modes.upcoming {
            Some(mode) if mode.set == set => {
                let of = self.called("mode", mode.mode);
                if mode.is_committed {
                    format!(
                        "the {what} is of the {of}, which waits for its switch; switch to it with MPIRTX_Mode_switch first"
                    )
                } else {
                    format!(
                        "the {what} is of the {of}, which is open; commit that with MPIRTX_Mode_commit, and switch to it with \
                         MPIRTX_Mode_switch, first"
                    )
                }
            }
            _ => format!(
                "the {what} is not of the {}, which runs; a mode goes on with what MPIRTX_Mode_keep names before it is committed, and \
                 MPIRT_Commit after MPIRT_Uncommit binds all objects again",
                self.called("mode", self.modes.current)
            ),
        })
    }

    /// The objects of a set and all that they refer to, for commit: the others keep their places and are not bound.
    ///
    /// # Errors
    /// [`Code::Argument`] with a sentence, when something belongs to what runs.
    pub(super) fn of_set(&self, set: u32, kept: &Kept) -> Result<Self, Unfit> {
        let mut members: HashSet<Handle> = HashSet::new();
        let of_set = |handle: &Handle| self.table.set_of(*handle) == Some(set);
        let mut open: Vec<Handle> = self.table.all().map(|(handle, _)| handle).filter(of_set).collect();
        open.extend(kept.objects());
        while let Some(next) = open.pop() {
            let Some(object) = self.table.referred(next) else { continue };
            let class = object.body.class();
            if matches!(class, Class::Mode | Class::ContainerIterator) || members.contains(&next) {
                continue;
            }
            let is_read_only = matches!(class, Class::Group | Class::Qos | Class::Handler);
            let is_shared = is_read_only || kept.contains(next);
            if !is_shared && self.table.set_of(next) == Some(self.modes.running) {
                let may_be_kept =
                    matches!(class, Class::Ptchannel | Class::Task | Class::Trigger | Class::Receptor);
                return Err(Unfit {
                    code: Code::Argument,
                    detail: format!(
                        "{} belongs to what runs, and an object of the mode uses it; {}",
                        self.called(&format!("{class:?}"), next),
                        if may_be_kept { "keep it, or make another" } else { "make another" }
                    ),
                });
            }
            members.insert(next);
            open.extend(object.body.references());
            if let Body::Bufiter(iterator) = &object.body {
                open.extend(&iterator.stocked);
            }
        }
        let mut view = self.snapshot();
        view.table.restrict(|handle| handle.is_predefined() || members.contains(&handle));
        view.check_kept(kept)?;
        Ok(view)
    }

    /// A mode is committed; `view` is what [`World::of_set`] gave for it.
    pub(super) fn stands(&mut self, set: u32, view: &Self) {
        for (handle, _) in view.table.all() {
            if self.table.set_of(handle) != Some(self.modes.running) {
                self.table.put_into(handle, set);
            }
        }
        if let Some(upcoming) = &mut self.modes.upcoming {
            upcoming.is_committed = true;
        }
    }

    /// The mode that waited is what runs; what it shares with the set before stays fixed.
    pub(super) fn take_over(&mut self, view: &Self) {
        let Some(Upcoming { set, mode, .. }) = self.modes.upcoming.take() else { return };
        self.modes.running = set;
        self.modes.current = mode;
        for (handle, _) in view.table.all() {
            self.table.put_into(handle, set);
        }
    }

    /// The mode that waited will not run: its objects are loose.
    pub(super) fn give_up_mode(&mut self) {
        self.modes.upcoming = None;
    }

    /// A handle was freed: an open mode of that handle is closed.
    pub(super) fn mode_freed(&mut self, mode: Handle) {
        self.modes.upcoming.take_if(|upcoming| upcoming.mode == mode && !upcoming.is_committed);
    }

    /// Nothing is committed any more: all objects are alike.
    pub(super) fn end_modes(&mut self) {
        self.modes = Modes::default();
        self.table.put_all_into(0);
    }
}
