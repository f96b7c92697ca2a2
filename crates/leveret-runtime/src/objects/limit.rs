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
    pub fn called(&self, what: &str, handle: Handle) -> String {
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

/// As [`World::called`], of what does not exist yet, or is told by its place besides.
pub(super) fn name_or_none(what: &str, name: &str) -> String {
    if name.is_empty() { format!("{what} without a name") } else { format!("{what} \"{name}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::attributes::KEYS_MAX;
    use crate::objects::keep::Kept;
    use crate::objects::{
        BufferDescription, BufiterPolicy, ChannelDescription, Dataspec, Form, OwnedStorage, Policy, Qos,
        ReceptorCombination, TaskFunction,
    };
    use leveret_types::{BUFFERS_MAX, MemberId, Nanos};
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

    // spec: ERROR-DETAIL-04
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
        let unfit = world.bind(&Kept::default()).err().expect("it does not fit");
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

    const SHOT: Qos = Qos::Time { start: Nanos(3), deadline: Nanos(4), period: Nanos::ZERO };

    /// A world with a channel that has a name, and a second one that has none.
    fn with_channel(
        [source, target]: [u32; 2],
        qos: Qos,
        iterator: impl FnOnce(&mut World) -> Handle,
    ) -> (World, Handle) {
        let mut world = World::new(MemberId(0), &["zero".to_owned(), "one".to_owned()]).expect("a world");
        let form = BufiterPolicy { base: Policy::Fifo, form: Form::Plain };
        let named = world.bufiter("i", form, (8, Dataspec::Byte), Handle::default()).expect("there is room");
        let (group, qos) = (Handle::GROUP_WORLD, world.qos("q", qos).expect("it is a window"));
        let named = ChannelDescription {
            input: named,
            output: named,
            source: 1,
            target: 0,
            group,
            qos: Handle::default(),
        };
        world.ptchannel("named", named).expect("there is room");
        let input = iterator(&mut world);
        let unnamed = ChannelDescription { input, output: input, source, target, group, qos };
        let made = world.ptchannel("", unnamed).expect("there is room");
        (world, made)
    }

    fn plain(world: &mut World) -> Handle {
        world.bufiter("", Policy::Fifo, (8, Dataspec::Byte), Handle::default()).expect("there is room")
    }

    /// One that says in which order its only buffer is.
    fn mapped(world: &mut World) -> Handle {
        let only = buffer(world, 8);
        let allowed = world.cvector("", &[only]).expect("there is room");
        let policy = BufiterPolicy { base: Policy::Fifo, form: Form::Mapped };
        let made = world.bufiter("", policy, (8, Dataspec::Byte), allowed).expect("there is room");
        let back = ChannelDescription {
            input: made,
            output: made,
            source: 1,
            target: 0,
            group: Handle::GROUP_WORLD,
            qos: Handle::default(),
        };
        world.ptchannel("back", back).expect("there is room");
        made
    }

    fn is_said(detail: &str, words: &str) {
        assert!(detail.contains(words), "{words}: {detail}");
        assert!(!detail.contains("\"\""), "a name of no letters: {detail}");
    }

    #[test]
    fn a_channel_without_a_name_is_told_by_its_number() {
        let best_effort = Qos::BestEffort;
        let cases = [
            (
                with_channel([0, 1], best_effort, |_| Handle::default()),
                "2, which has no name, has no input iterator",
            ),
            (with_channel([0, 0], best_effort, plain), "2, which has no name, has no iterator; set one with"),
            (with_channel([0, 0], SHOT, plain), "2, which has no name, is a single shot"),
            (
                with_channel([0, 1], best_effort, mapped),
                "3, which has no name, is MAPPED or ORDERED, and that of a channel in the other",
            ),
        ];
        for ((world, _), words) in cases {
            let unfit = world.bind(&Kept::default()).err().expect("it does not fit");
            is_said(&unfit.detail, &format!("the channel number {words}"));
        }
        let (world, looping) = with_channel([0, 0], best_effort, plain);
        let why = world.why_not_kept(looping).expect("it goes from a member to itself");
        is_said(&why, "Ptchannel number 2, which has no name, goes from a member to itself");
    }

    #[test]
    fn an_iterator_and_a_task_without_a_name_are_told_too() {
        let mut world = world();
        for _ in 0..=BUFFERS_MAX {
            buffer(&mut world, 8);
        }
        plain(&mut world);
        let unfit = world.bind(&Kept::default()).err().expect("it does not fit");
        is_said(
            &unfit.detail,
            "the iterator number 1, which has no name, at member \"zero\" takes any buffer",
        );
        let qos = world.qos("shot", SHOT).expect("it is a window");
        let idle = |_| -> TaskFunction { Arc::new(|_, _| {}) };
        assert_eq!(world.task("", (qos, Nanos(1)), idle), Err(Code::Time));
        let why = world.why(Code::Time).expect("it says why");
        is_said(&why, "the task without a name has a QoS without a period");
    }
}
