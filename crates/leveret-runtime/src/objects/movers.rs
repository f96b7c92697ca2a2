//! Movers: small tasks of the library's own that serve time-driven ends which no task of the program serves. The passing of
//! time moves these ends too, and what that costs is planned and admitted like everything else.
//!
//! ```text
//!   period    |--------------------------------|
//!   window         [start .......... deadline]
//!   sender's mover [somewhere in the window  ]
//!   receiver's mover                         [as soon as the core is free, within half a period ...]
//! ```

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
        let (from, until) = if receives { (deadline, deadline + half(period)) } else { (start, deadline) };
        Some(Self { receives, period, from, until })
    }
}

fn half(period: Nanos) -> Nanos {
    Nanos((period.0 / 2).max(1))
}

/// What one mover serves, how many bytes it moves, and who decides when its ends take part.
struct Mover {
    service: Service,
    bytes: u64,
    leads: Vec<(u32, Lead)>,
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
    pub(super) fn serve(&mut self, channel: usize, size: u64, qos: &QosBody, ends: Ends) {
        if let (Some(source), Some(window)) = (ends.source, Window::of(false, qos)) {
            self.at(window, size).service.writes.push((channel, source));
        }
        if let (Some(target), Some(window)) = (ends.target, Window::of(true, qos)) {
            self.at(window, size).service.reads.push((channel, target));
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
        let mover = self.at(Window::of(receives, qos)?, size);
        mover.leads.extend(leads.into_iter().map(|(AnyEnd(end), lead)| (end, lead)));
        Some(&mut mover.service)
    }

    fn at(&mut self, window: Window, size: u64) -> &mut Mover {
        let fresh = || Mover { service: Service::new(self.committed.clone()), bytes: 0, leads: Vec::new() };
        let mover = self.by_window.entry(window).or_insert_with(fresh);
        mover.bytes = mover.bytes.saturating_add(size);
        mover
    }

    /// Declares them, named after the member.
    pub(super) fn declare(self, declarations: &mut Declarations, member: &str) {
        for (number, (window, mover)) in self.by_window.into_iter().enumerate() {
            let Mover { mut service, bytes, leads } = mover;
            let Window { period, from, until, .. } = window;
            let reads: Vec<_> = service.reads.iter().map(|(_, target)| *target).collect();
            let reads: Vec<_> = reads.into_iter().chain(service.collectives.targets()).collect();
            let writes: Vec<_> = service.writes.iter().map(|(_, source)| *source).collect();
            let writes: Vec<_> = writes.into_iter().chain(service.collectives.sources()).collect();
            let ends = (reads.len() + writes.len()) as i64;
            let budget = BASE.saturating_add(FOR_AN_END.saturating_mul(ends)).saturating_add(
                FOR_A_KIB.saturating_mul(i64::try_from(bytes.div_ceil(1024)).unwrap_or(i64::MAX)),
            );
            // What comes late is better than what does not come: the receiver can still tell by the message's stamp.
            let mut task = declarations
                .task(&name(member, number))
                .period(period)
                .window(from, until)
                .budget(budget)
                .overrun(OverrunPolicy::Late)
                .idle_ends()
                .in_lines(service.lines())
                .led(leads);
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

fn name(member: &str, number: usize) -> String {
    with_suffix(member, &format!(":mover-{number}"))
}

/// A name that no other member uses; the suffix begins with a colon, which keeps it apart from those that programs use by habit.
pub(super) fn with_suffix(member: &str, suffix: &str) -> String {
    let mut room = NAME_BYTES_MAX.saturating_sub(suffix.len()).min(member.len());
    while !member.is_char_boundary(room) {
        room -= 1;
    }
    format!("{}{suffix}", &member[..room])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_and_end_in_their_number() {
        assert_eq!(name("3", 0), "3:mover-0");
        let long = "\u{e4}".repeat(NAME_BYTES_MAX);
        let name = name(&long, 12);
        assert!(name.len() <= NAME_BYTES_MAX && name.ends_with(":mover-12"), "{name}");
    }

    #[test]
    fn a_sender_moves_within_the_window_and_a_receiver_after_it() {
        let qos = Qos::Time { start: Nanos(10), deadline: Nanos(40), period: Nanos(100) }.into();
        let window = |receives| Window::of(receives, &qos).map(|window| (window.from, window.until));
        assert_eq!(window(false), Some((Nanos(10), Nanos(40))));
        assert_eq!(window(true), Some((Nanos(40), Nanos(90))));
        assert!(Window::of(true, &Qos::BestEffort.into()).is_none());
    }
}
