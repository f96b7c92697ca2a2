//! Which limit a call has come to: what there would be too many of, how many, and how many there can be.

use super::error::Code;
use super::handle::Handle;
use super::world::World;
use std::fmt;

/// A limit that the last call that answered [`Code::Limit`] has come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LimitReached {
    /// What there would be too many of, and where.
    pub what: String,
    /// How many there would be.
    pub wanted: usize,
    /// How many there can be.
    pub allowed: usize,
    /// What to do about it.
    pub remedy: &'static str,
}

impl fmt::Display for LimitReached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, wanted, allowed, remedy } = self;
        write!(out, "{what}: there would be {wanted}, and there can be {allowed}; {remedy}")
    }
}

impl World {
    /// What the last call that answered [`Code::Limit`] has come to; once.
    pub fn limit_reached(&mut self) -> Option<LimitReached> {
        self.limit.take()
    }

    /// An error when `wanted` is more than there can be.
    pub(super) fn keep_to(
        &mut self,
        (wanted, allowed): (usize, usize),
        remedy: &'static str,
        what: impl FnOnce(&Self) -> String,
    ) -> Result<(), Code> {
        if wanted <= allowed {
            return Ok(());
        }
        self.limit = Some(LimitReached { what: what(self), wanted, allowed, remedy });
        Err(Code::Limit)
    }

    /// What the last call that answered this code has to say beyond it; once.
    pub fn why(&mut self, code: Code) -> Option<String> {
        self.why.take().filter(|(told, _)| *told == code).map(|(_, why)| why)
    }

    /// This code, of which more is to be said: what was given, and what can be.
    pub(super) fn wrong(&mut self, code: Code, why: String) -> Code {
        self.why = Some((code, why));
        code
    }

    /// An object as a text names it: by its name, or else by its number among those of its class, in the order of their creation where none
    /// was freed.
    pub(super) fn called(&self, what: &str, handle: Handle) -> String {
        match self.table.referred(handle) {
            Some(object) if !object.name.is_empty() => return format!("{what} \"{}\"", object.name),
            _ => {}
        }
        let mut of_class = self.table.all().filter(|(other, _)| other.class() == handle.class());
        match of_class.position(|(other, _)| other == handle) {
            Some(before) => format!("{what} number {}, which has no name,", before + 1),
            None => format!("{what} without a name"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::attributes::KEYS_MAX;
    use crate::objects::{BufferDescription, Dataspec, OwnedStorage, Policy, ReceptorCombination};
    use leveret_types::{BUFFERS_MAX, MemberId};
    use std::sync::Arc;

    fn world() -> World {
        World::new(MemberId(0), &["zero".to_owned()]).expect("a world")
    }

    fn buffer(world: &mut World, size: usize) -> Handle {
        let storage = Arc::new(OwnedStorage::new(size));
        world.buffer("b", BufferDescription { size, dataspec: Dataspec::Byte, storage }).expect("a buffer")
    }

    fn said(world: &mut World) -> String {
        let said = world.limit_reached().expect("a limit was reached").to_string();
        assert_eq!(world.limit_reached(), None, "it is told once");
        said
    }

    // spec: ERROR-DETAIL-04
    #[test]
    fn a_limit_is_told_with_what_is_too_many_and_how_many() {
        let mut world = world();
        let mut code = world.cset("one");
        while code.is_ok() {
            code = world.cset("one more");
        }
        assert_eq!(code, Err(Code::Limit));
        let text = said(&mut world);
        assert!(text.contains("objects: there would be 65537, and there can be 65536; free"), "{text}");

        for _ in 0..KEYS_MAX {
            world.keyval(None).expect("there is room");
        }
        assert_eq!(world.keyval(None), Err(Code::Limit));
        let text = said(&mut world);
        assert!(
            text.starts_with("keys of attributes: there would be 65537, and there can be 65536"),
            "{text}"
        );
    }

    #[test]
    fn too_large_an_allowed_set_and_too_deep_a_combination_are_told() {
        let mut world = world();
        let buffers =
            |world: &mut World, count: u32| -> Vec<Handle> { (0..count).map(|_| buffer(world, 8)).collect() };
        let members = buffers(&mut world, BUFFERS_MAX + 1);
        let many = world.cvector("many", &members).expect("there is room");
        let made = world.bufiter("wide", Policy::Fifo, (8, Dataspec::Byte), many);
        assert_eq!(made, Err(Code::Limit));
        let text = said(&mut world);
        assert!(
            text.contains("\"many\"") && text.contains("there would be 4097, and there can be 4096"),
            "{text}"
        );

        // Without an allowed set it is the commit that counts, of all buffers that fit.
        world.bufiter("open", Policy::Fifo, (8, Dataspec::Byte), Handle::default()).expect("there is room");
        let unfit = world.bind(&crate::objects::keep::Kept::default()).err().expect("it does not fit");
        assert_eq!(unfit.code, Code::Limit);
        for words in ["\"open\"", "\"zero\"", "4097", "4096", "8 bytes"] {
            assert!(unfit.detail.contains(words), "{words}: {}", unfit.detail);
        }

        let mut deep =
            world.receptor("event", Handle::GROUP_WORLD, Handle::default()).expect("there is room");
        let made = loop {
            let parts = world.cvector("parts", &[deep]).expect("there is room");
            match world.combined_receptor("deep", ReceptorCombination::Any, (parts, Handle::default())) {
                Ok(made) => deep = made,
                Err(code) => break code,
            }
        };
        assert_eq!(made, Code::Limit);
        let text = said(&mut world);
        assert!(
            text.contains("\"deep\"") && text.contains("there would be 17, and there can be 16"),
            "{text}"
        );
    }
}
