//! A member's ends of events: its triggers, and what its receptors read.

use crate::binding::{Admitted, BindError};
use leveret_memory::sync::{AtomicBool, Ordering};
use leveret_memory::{
    EventSpec, FiringReader, FiringWriter, ListenerReader, ListenerWriter, OwnSegment, PeerSegment,
    TriggerSpec, after_firing,
};
use leveret_os::futex;
use leveret_protocol::assemble::EventBinding;
use leveret_protocol::declaration::EventDeclarations;
use leveret_types::{EventId, FIRINGS_KEPT, MemberId, Nanos};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The firing end of an event, for every thread of this member.
pub struct TriggerEnd {
    writer: FiringWriter,
    listeners: Vec<ListenerReader>,
    /// Somebody of this member waits who is no receptor.
    attended: AtomicBool,
}

impl TriggerEnd {
    /// Whether the event has no receptor anywhere.
    pub(crate) fn is_unheard(&self) -> bool {
        self.listeners.is_empty()
    }

    /// From here on a firing wakes whoever sleeps on it, though the event has no receptor.
    pub(crate) fn attend(&self) {
        self.attended.store(true, Ordering::Release);
    }

    /// How often it has fired.
    pub(crate) fn fired(&self) -> u64 {
        self.writer.fired()
    }

    /// Fires, and gives the firing's number. Allocates nothing, waits for nobody, and makes one system call if somebody sleeps until
    /// it comes.
    #[inline]
    pub(crate) fn fire(&self, now: Nanos) -> u64 {
        let number = self.writer.fire(now);
        after_firing();
        if self.attended.load(Ordering::Relaxed) || self.listeners.iter().any(ListenerReader::is_waiting) {
            // It can fail only for an address that is not mapped, and this one is.
            let _ = futex::wake_at(self.writer.futex_word_address(), u32::MAX);
        }
        number
    }
}

/// One trigger as a receptor reads it.
#[derive(Clone)]
pub(crate) struct FiringSource {
    pub(crate) reader: FiringReader,
    /// Who fires.
    pub(crate) member: MemberId,
    /// The rank of who fires in the event's group.
    pub(crate) rank: u16,
    /// Firings of a higher one are delivered first.
    pub(crate) priority: u8,
}

/// What a receptor reads.
pub(crate) struct ReceptorEnd {
    pub(crate) sources: Vec<FiringSource>,
    pub(crate) listener: Arc<ListenerWriter>,
}

/// A member's ends of events, in the order of its declarations.
#[derive(Default)]
pub struct EventEnds {
    pub(crate) triggers: Vec<(TriggerEnd, FiringSource)>,
    pub(crate) receptors: Vec<ReceptorEnd>,
}

/// What a member's segment holds of events.
pub(crate) fn spec(events: &[EventBinding], member: MemberId) -> EventSpec {
    let triggers = events.iter().flat_map(|event| &event.triggers).filter(|trigger| trigger.member == member);
    let listened = events.iter().enumerate().filter(|(_, event)| event.listeners.contains(&member));
    EventSpec {
        triggers: triggers.map(|trigger| TriggerSpec { trigger: trigger.id, kept: FIRINGS_KEPT }).collect(),
        listeners: listened.map(|(place, _)| EventBinding::id(place)).collect(),
    }
}

/// The members with which `member` shares an event, itself included when it fires.
pub(crate) fn peers(events: &[EventBinding], member: MemberId) -> BTreeSet<MemberId> {
    let mut peers = BTreeSet::new();
    for event in events {
        if event.listeners.contains(&member) {
            peers.extend(event.triggers.iter().map(|trigger| trigger.member));
        }
        if event.triggers.iter().any(|trigger| trigger.member == member) {
            peers.extend(event.listeners.iter().copied().chain([member]));
        }
    }
    peers
}

/// Binds a member's declarations of events to its own segment and to its peers'.
pub(crate) fn bind(
    admitted: &Admitted<'_>,
    member: MemberId,
    declared: &EventDeclarations,
    own: &mut OwnSegment,
    attach: impl Fn(MemberId) -> Result<PeerSegment, BindError>,
) -> Result<EventEnds, BindError> {
    let events = &admitted.assembled.events;
    let segments: BTreeMap<MemberId, PeerSegment> = peers(events, member)
        .into_iter()
        .map(|peer| Ok((peer, attach(peer)?)))
        .collect::<Result<_, BindError>>()?;
    let near = leveret_os::clock::now();
    let missing = |what: String| BindError::NotDeclared(what);
    let sources = |event: &EventBinding, only: Option<u32>| -> Result<Vec<FiringSource>, BindError> {
        let chosen = event
            .triggers
            .iter()
            .filter(|trigger| only.is_none_or(|place| trigger.member == member && trigger.place == place));
        let source = |trigger: &leveret_protocol::assemble::TriggerBinding| {
            let segment = segments.get(&trigger.member).ok_or(BindError::PeerMissing(trigger.member))?;
            let reader = segment.trigger(trigger.id, near);
            Ok(FiringSource {
                reader: reader.ok_or_else(|| missing(format!("{}", trigger.id)))?,
                member: trigger.member,
                rank: trigger.rank,
                priority: trigger.priority,
            })
        };
        chosen.map(source).collect()
    };
    let find = |name: &str, group: &str| -> Result<(EventId, &EventBinding), BindError> {
        let place = events.iter().position(|event| event.name == name && event.group == group);
        let place = place.ok_or_else(|| missing(format!("the event \"{name}\"")))?;
        Ok((EventBinding::id(place), &events[place]))
    };
    let mut ends = EventEnds::default();
    for (place, trigger) in declared.triggers.iter().enumerate() {
        let (id, event) = find(&trigger.event, &trigger.group)?;
        let bound = event.triggers.iter().find(|bound| bound.member == member && bound.place == place as u32);
        let bound = bound.ok_or_else(|| missing(format!("a trigger of \"{}\"", trigger.event)))?;
        let writer = own.take_trigger(bound.id).ok_or_else(|| missing(format!("{} twice", bound.id)))?;
        let listener = |peer: &MemberId| segments.get(peer).and_then(|segment| segment.listener(id));
        let listeners =
            event.listeners.iter().map(|peer| listener(peer).ok_or(BindError::PeerMissing(*peer)));
        let end = TriggerEnd {
            writer,
            listeners: listeners.collect::<Result<_, _>>()?,
            attended: AtomicBool::new(false),
        };
        let source = sources(event, Some(place as u32))?.pop();
        ends.triggers.push((end, source.ok_or_else(|| missing(format!("{}", bound.id)))?));
    }
    let mut listening: BTreeMap<EventId, Arc<ListenerWriter>> = BTreeMap::new();
    for receptor in &declared.receptors {
        let (id, event) = find(&receptor.event, &receptor.group)?;
        let listener = match listening.get(&id) {
            Some(listener) => listener.clone(),
            None => Arc::new(own.take_listener(id).ok_or_else(|| missing(format!("a listener of {id}")))?),
        };
        listening.insert(id, listener.clone());
        ends.receptors.push(ReceptorEnd { sources: sources(event, None)?, listener });
    }
    Ok(ends)
}
