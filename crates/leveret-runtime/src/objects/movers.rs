//! Movers: small tasks of the library's own that serve time-driven ends which no task of the program serves. The passing of
//! time moves these ends too, and what that costs is planned and admitted like everything else.
//!
//! ```text
//!   period    |--------------------------------|
//!   window         [start .......... deadline]
//!   sender's mover [somewhere in the window  ]
//!   receiver's mover                         [as soon as the core is free, within half a period ...]
//! ```
//! A mover of single shots has its place in every round of the plan, and moves something in one.

use super::commit::Ends;
use super::committed::{Committed, Service};
use super::object::Qos;
use super::qos::QosBody;
use crate::declare::{Declarations, Lead};
use crate::session::AnyEnd;
use leveret_plan::OverrunPolicy;
use leveret_types::{NAME_BYTES_MAX, Nanos};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Processor time of a mover, whatever it moves.
const BASE: Nanos = Nanos::from_micros(10);
/// And for each end.
const FOR_AN_END: Nanos = Nanos::from_micros(5);
/// And for each KiB that it copies.
const FOR_A_KIB: Nanos = Nanos(250);

/// The receiver's mover of a single shot comes so soon after it, or within half a round where that is less.
const AFTER_A_SHOT: Nanos = Nanos::from_millis(10);

/// What is asked of one mover. Ends with one side and one window share it: they are due together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Window {
    receives: bool,
    period: Nanos,
    from: Nanos,
    until: Nanos,
}

impl Window {
    fn of(receives: bool, qos: &QosBody) -> Option<Self> {
        let Qos::Time { start, deadline, period } = qos.kind else { return None };
        let [start, deadline] = [start, deadline].map(|time| time + qos.phase);
        let room = if period == Nanos::ZERO { AFTER_A_SHOT } else { half(period) };
        let (from, until) = if receives { (deadline, deadline + room) } else { (start, deadline) };
        Some(Self { receives, period, from, until })
    }
}

fn half(period: Nanos) -> Nanos {
    Nanos((period.0 / 2).max(1))
}

/// What an end asks of its mover in each instance.
#[derive(Clone, Copy)]
pub(super) enum Load {
    /// A message of so many bytes.
    Bytes(u64),
    /// What the program says.
    Given(Nanos),
}

/// What one mover serves, what that takes, and who decides when its ends take part.
struct Mover {
    service: Service,
    /// Of the ends without a given budget.
    bytes: u64,
    /// The given budgets of others, and how many these are.
    given: Nanos,
    with_given: i64,
    leads: Vec<(u32, Lead)>,
}

impl Mover {
    /// Takes over one end.
    fn add(&mut self, load: Load) -> &mut Service {
        match load {
            Load::Bytes(bytes) => self.bytes = self.bytes.saturating_add(bytes),
            Load::Given(budget) => {
                self.given = self.given.saturating_add(budget);
                self.with_given += 1;
            }
        }
        &mut self.service
    }

    /// Processor time of one instance with so many ends.
    fn budget(&self, ends: usize) -> Nanos {
        let kibs = i64::try_from(self.bytes.div_ceil(1024)).unwrap_or(i64::MAX);
        BASE.saturating_add(self.given)
            .saturating_add(FOR_AN_END.saturating_mul(ends as i64 - self.with_given))
            .saturating_add(FOR_A_KIB.saturating_mul(kibs))
    }
}

/// The movers of one commit.
pub(super) struct Movers {
    committed: Arc<Committed>,
    by_window: BTreeMap<Window, Mover>,
}

impl Movers {
    pub(super) fn new(committed: Arc<Committed>) -> Self {
        Self { committed, by_window: BTreeMap::new() }
    }

    /// Serves what is left of a time-driven channel's ends at this member.
    pub(super) fn serve(&mut self, channel: usize, load: Load, qos: &QosBody, ends: Ends) {
        if let (Some(source), Some(window)) = (ends.source, Window::of(false, qos)) {
            self.at(window).add(load).writes.push((channel, source));
        }
        if let (Some(target), Some(window)) = (ends.target, Window::of(true, qos)) {
            self.at(window).add(load).reads.push((channel, target));
        }
    }

    /// The service of the mover for this side and window, which moves so many bytes more and lets these ends be led. `None` without
    /// a window.
    pub(super) fn of(
        &mut self,
        receives: bool,
        qos: &QosBody,
        size: u64,
        leads: impl IntoIterator<Item = (AnyEnd, Lead)>,
    ) -> Option<&mut Service> {
        let mover = self.at(Window::of(receives, qos)?);
        mover.leads.extend(leads.into_iter().map(|(AnyEnd(end), lead)| (end, lead)));
        Some(mover.add(Load::Bytes(size)))
    }

    fn at(&mut self, window: Window) -> &mut Mover {
        self.by_window.entry(window).or_insert_with(|| Mover {
            service: Service::new(self.committed.clone()),
            bytes: 0,
            given: Nanos::ZERO,
            with_given: 0,
            leads: Vec::new(),
        })
    }

    /// Declares them, named after what they serve and the member.
    pub(super) fn declare(self, declarations: &mut Declarations, member: &str) {
        let mut names = Vec::new();
        for (window, mover) in self.by_window {
            let Window { period, from, until, .. } = window;
            let service = &mover.service;
            let reads: Vec<_> = service.reads.iter().map(|(_, target)| *target).collect();
            let reads: Vec<_> = reads.into_iter().chain(service.collectives.targets()).collect();
            let writes: Vec<_> = service.writes.iter().map(|(_, source)| *source).collect();
            let writes: Vec<_> = writes.into_iter().chain(service.collectives.sources()).collect();
            let budget = mover.budget(reads.len() + writes.len());
            let Mover { mut service, leads, .. } = mover;
            let serves = reads.iter().map(|target| target.end).chain(writes.iter().map(|source| source.end));
            let serves: Vec<String> = serves.filter_map(|end| declarations.channel_of(end)).collect();
            let name = name(&serves, window.receives, member, &names);
            names.push(name.clone());
            // What comes late is better than what does not come: the receiver can still tell by the message's stamp.
            let mut task = declarations
                .task(&name)
                .mover()
                .period(period)
                .window(from, until)
                .budget(budget)
                .overrun(OverrunPolicy::Late)
                .idle_ends()
                .in_lines(service.lines())
                .led(leads);
            if period == Nanos::ZERO {
                task = task.once();
            }
            for target in reads {
                task = task.reads(target);
            }
            for source in writes {
                task = task.writes(source);
            }
            task.body(move |context| {
                service.receive(context);
                service.send(context);
            });
        }
    }
}

/// The name of a mover says which channels it serves, and at which member: `mover of x, y from A` sends, `mover of x, y to A`
/// receives. The channels that carry a collective one have its name.
fn name(serves: &[String], receives: bool, member: &str, taken: &[String]) -> String {
    let mut channels: Vec<&str> = Vec::new();
    for channel in serves {
        let whole = channel
            .rsplit_once('[')
            .filter(|(_, edge)| edge.contains("->"))
            .map_or(&channel[..], |(whole, _)| whole);
        if !channels.contains(&whole) {
            channels.push(whole);
        }
    }
    let direction = if receives { "to" } else { "from" };
    unique(&format!("mover of {} {direction} {member}", channels.join(", ")), taken)
}

/// This name, or with a number where it is taken. What is too long is cut and leaves its mark, so that two such names stay two
/// (FNV-1a, 32 bits).
pub(super) fn unique(whole: &str, taken: &[String]) -> String {
    let digest = |digest: u32, byte: u8| (digest ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let named = |suffix: &str| match whole.len() + suffix.len() {
        0..=NAME_BYTES_MAX => format!("{whole}{suffix}"),
        _ => with_suffix(whole, &format!("~{:08x}{suffix}", whole.bytes().fold(0x811c_9dc5, digest))),
    };
    let numbered = (2..).map(|number: u32| named(&format!(" ({number})")));
    let mut names = std::iter::once(named("")).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}

/// A name cut so that its suffix fits.
fn with_suffix(member: &str, suffix: &str) -> String {
    let mut room = NAME_BYTES_MAX.saturating_sub(suffix.len()).min(member.len());
    while !member.is_char_boundary(room) {
        room -= 1;
    }
    format!("{}{suffix}", &member[..room])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::World;
    use crate::objects::keep::Kept;
    use leveret_types::MemberId;

    #[test]
    fn names_say_what_is_served_and_where() {
        let named = |serves: &[&str], receives, taken: &[&str]| {
            let [serves, taken] =
                [serves, taken].map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
            name(&serves, receives, "A", &taken)
        };
        assert_eq!(named(&["x"], true, &[]), "mover of x to A");
        assert_eq!(named(&["x", "cell/y"], false, &[]), "mover of x, cell/y from A");
        assert_eq!(named(&["sum[0->1]", "sum[call 0->2]"], false, &[]), "mover of sum from A");
        assert_eq!(named(&["x[1]"], false, &["mover of x[1] from A"]), "mover of x[1] from A (2)");
    }

    #[test]
    fn names_fit_and_stay_apart() {
        let long = "\u{e4}".repeat(NAME_BYTES_MAX);
        let mut taken = Vec::new();
        for _ in 0..12 {
            let name = name(std::slice::from_ref(&long), true, &long, &taken);
            assert!(name.len() <= NAME_BYTES_MAX && !taken.contains(&name), "{name}");
            taken.push(name);
        }
        let cut = |member| name(std::slice::from_ref(&long), true, member, &[]);
        assert!(cut("A").len() <= NAME_BYTES_MAX && cut("A").starts_with("mover of "), "{}", cut("A"));
        assert_ne!(cut("A"), cut("B"));
    }

    #[test]
    fn a_given_budget_takes_the_place_of_the_estimate_of_its_end() {
        let world = World::new(MemberId(0), &["a".to_owned()]).expect("a world");
        let committed = Arc::new(world.prepare(&Kept::default()).expect("it is empty"));
        let qos = Qos::Time { start: Nanos(10), deadline: Nanos(40), period: Nanos(100) }.into();
        let budget = |loads: &[Load]| {
            let mut movers = Movers::new(committed.clone());
            let mover = movers.at(Window::of(true, &qos).expect("it has a window"));
            for load in loads {
                mover.add(*load);
            }
            mover.budget(loads.len())
        };
        assert_eq!(budget(&[Load::Bytes(1), Load::Bytes(2048)]), Nanos(10_000 + 2 * 5_000 + 3 * 250));
        assert_eq!(budget(&[Load::Bytes(1), Load::Given(Nanos(7_000))]), Nanos(10_000 + 5_000 + 250 + 7_000));
        assert_eq!(budget(&[Load::Given(Nanos(1)), Load::Given(Nanos(2))]), Nanos(10_003));
    }

    #[test]
    fn a_sender_moves_within_the_window_and_a_receiver_after_it() {
        let qos = Qos::Time { start: Nanos(10), deadline: Nanos(40), period: Nanos(100) }.into();
        let window = |receives| Window::of(receives, &qos).map(|window| (window.from, window.until));
        assert_eq!(window(false), Some((Nanos(10), Nanos(40))));
        assert_eq!(window(true), Some((Nanos(40), Nanos(90))));
        assert!(Window::of(true, &Qos::BestEffort.into()).is_none());
        let shot = Qos::Time { start: Nanos(10), deadline: Nanos(40), period: Nanos::ZERO }.into();
        let window = |receives| Window::of(receives, &shot).map(|window| (window.from, window.until));
        assert_eq!(window(false), Some((Nanos(10), Nanos(40))));
        assert_eq!(window(true), Some((Nanos(40), Nanos(40) + AFTER_A_SHOT)));
    }
}
