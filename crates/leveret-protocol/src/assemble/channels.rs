//! Channels: the manifest and the two ends.

use super::ChannelBinding;
use super::HINTS_MAX;
use super::errors::{Errors, listed};
use super::{MANIFEST, MemberNames, Mismatch, Property, unknown};
use crate::declaration::*;
use crate::nearest::nearest;
use leveret_plan::{Channel, Placement, Qos};
use leveret_types::{ByteSize, MemberId};
use std::collections::BTreeMap;

/// One channel's declarations from all sides.
#[derive(Default)]
struct Sides<'a> {
    manifest: Option<&'a ChannelDeclaration>,
    source: Option<(usize, &'a ChannelEndDeclaration)>,
    target: Option<(usize, &'a ChannelEndDeclaration)>,
}

impl<'a> Sides<'a> {
    fn declarations(&self, names: &MemberNames<'_>) -> Vec<(String, &'a ChannelDeclaration)> {
        let manifest = self.manifest.map(|channel| (MANIFEST.to_owned(), channel));
        let end = |end: Option<(usize, &'a ChannelEndDeclaration)>| {
            end.map(|(rank, end)| (names.side(rank), &end.channel))
        };
        manifest.into_iter().chain(end(self.source)).chain(end(self.target)).collect()
    }
}

type ChannelKey = (String, String);

fn key(channel: &ChannelDeclaration) -> ChannelKey {
    (channel.group.clone().unwrap_or_else(|| GROUP_WORLD.to_owned()), channel.name.clone())
}

fn object_of((group, name): &ChannelKey) -> String {
    format!("channel \"{name}\" of group \"{group}\"")
}

/// Collects each channel's sides, in the order of the manifest, then of the code.
fn sides<'a>(
    manifest: &'a JobDeclaration,
    code: &'a [MemberDeclarations],
    names: &MemberNames<'_>,
    errors: &mut Errors,
) -> Vec<(ChannelKey, Sides<'a>)> {
    let mut order: Vec<(ChannelKey, Sides<'a>)> = Vec::new();
    let mut place: BTreeMap<ChannelKey, usize> = BTreeMap::new();
    for channel in &manifest.channels {
        if place.insert(key(channel), order.len()).is_some() {
            errors.push(Mismatch::Twice {
                object: object_of(&key(channel)),
                left: MANIFEST.to_owned(),
                right: MANIFEST.to_owned(),
                what: "it".to_owned(),
            });
        }
        order.push((key(channel), Sides { manifest: Some(channel), ..Sides::default() }));
    }
    for (rank, declarations) in code.iter().enumerate() {
        for end in &declarations.ends {
            let key = key(&end.channel);
            let index = *place.entry(key.clone()).or_insert_with(|| {
                order.push((key.clone(), Sides::default()));
                order.len() - 1
            });
            let slot = match end.end {
                End::Source => &mut order[index].1.source,
                End::Target => &mut order[index].1.target,
            };
            if let Some((first, _)) = slot {
                errors.push(Mismatch::Twice {
                    object: object_of(&key),
                    left: names.side(*first),
                    right: names.side(rank),
                    what: format!("the {} end", end_word(end.end)),
                });
            } else {
                *slot = Some((rank, end));
            }
        }
    }
    order
}

pub(super) fn end_word(end: End) -> &'static str {
    match end {
        End::Source => "source",
        End::Target => "target",
    }
}

pub(super) fn channels(
    manifest: &JobDeclaration,
    code: &[MemberDeclarations],
    names: &MemberNames<'_>,
    groups: &BTreeMap<String, Vec<String>>,
    errors: &mut Errors,
) -> (Vec<Channel>, Vec<ChannelBinding>) {
    let mut channels = Vec::new();
    let mut bindings = Vec::new();
    let all = sides(manifest, code, names, errors);
    for (key, sides) in &all {
        let object = object_of(key);
        let context = Context { names, groups, online: !code.is_empty(), object: &object, all: &all, key };
        let (channel, binding) = channel(key, sides, &context, errors);
        channels.push(channel);
        bindings.push(binding);
    }
    (channels, bindings)
}

struct Context<'a> {
    names: &'a MemberNames<'a>,
    groups: &'a BTreeMap<String, Vec<String>>,
    online: bool,
    object: &'a str,
    all: &'a [(ChannelKey, Sides<'a>)],
    key: &'a ChannelKey,
}

impl Context<'_> {
    /// A near name of a channel whose `end` is declared by code, and of which the manifest says nothing, and by whom: perhaps this
    /// channel by another spelling. However far the name is, it is that of the only other one that lacks just the other end.
    fn misspelt(&self, end: End) -> Option<(&str, usize)> {
        let both = |sides: &Sides<'_>| match end {
            End::Source => (sides.source.map(|(rank, _)| rank), sides.target.is_some()),
            End::Target => (sides.target.map(|(rank, _)| rank), sides.source.is_some()),
        };
        let only_in_code = self.all.iter().filter_map(|((group, name), sides)| {
            let is_candidate = *group == self.key.0 && sides.manifest.is_none() && *name != self.key.1;
            let (holder, has_other) = both(sides);
            is_candidate.then_some((name.as_str(), holder?, has_other))
        });
        let of = |near: &str| only_in_code.clone().find(|(name, ..)| *name == near);
        let near = nearest(&self.key.1, only_in_code.clone().map(|(name, ..)| name)).and_then(of);
        let mut halves = only_in_code.clone().filter(|(_, _, has_other)| !has_other);
        let only_half = halves.next().filter(|_| halves.next().is_none());
        near.or(only_half).map(|(name, holder, _)| (name, holder))
    }
}

fn channel(
    key: &ChannelKey,
    sides: &Sides<'_>,
    context: &Context<'_>,
    errors: &mut Errors,
) -> (Channel, ChannelBinding) {
    let object = context.object;
    let declarations = sides.declarations(context.names);
    let mut buffers = Property::new(object, "number of buffers");
    let mut placement = Property::new(object, "placement");
    let mut qos = Property::new(object, "quality of service");
    let mut wait = Property::new(object, "way of waiting");
    let mut slack = Property::new(object, "slack");
    let mut dataspec = Property::new(object, "dataspec");
    let mut checksum = Property::new(object, "checksum");
    for (by, declared) in &declarations {
        buffers.offer(by, declared.buffers.as_ref(), u32::to_string, errors);
        placement.offer(by, declared.placement.as_ref(), |value| format!("{value:?}").to_lowercase(), errors);
        qos.offer(by, declared.qos.as_ref(), Qos::to_string, errors);
        wait.offer(by, declared.wait.as_ref(), |value| format!("{value:?}").to_lowercase(), errors);
        slack.offer(by, declared.slack.as_ref(), u32::to_string, errors);
        dataspec.offer(by, declared.dataspec.as_ref(), String::clone, errors);
        checksum.offer(by, declared.checksum.as_ref(), bool::to_string, errors);
    }
    let source = member_of(sides, End::Source, &declarations, context, errors);
    let target = member_of(sides, End::Target, &declarations, context, errors);
    check_group(key, [source, target], context, errors);
    let size = size(sides, &declarations, object, errors);
    let placement = placement.value().unwrap_or_else(|| default_placement(sides));
    if let (Placement::Aliased, Some(impossible)) = (placement, not_aliasable(sides, context.names)) {
        errors.push(Mismatch::Impossible(format!("{object}: buffers cannot be aliased: {impossible}")));
    }
    let qos = qos.value().unwrap_or(Qos::BestEffort);
    let channel = Channel {
        name: key.1.clone(),
        group: key.0.clone(),
        // Where an end is unknown an error was noted above, and no job comes of this.
        source: source.unwrap_or(MemberId(0)),
        target: target.unwrap_or(MemberId(0)),
        size,
        buffers: buffers.value().unwrap_or(2).max(outgoing(sides, &qos)),
        placement,
        qos,
    };
    if channel.qos.service().is_some() {
        check_served(sides, &channel.qos, context, errors);
    }
    let memory =
        |end: Option<(usize, &ChannelEndDeclaration)>| end.map_or_else(Default::default, |(_, e)| e.memory);
    let binding = ChannelBinding {
        wait: wait.value().unwrap_or_default(),
        source_memory: memory(sides.source),
        target_memory: memory(sides.target),
        mapped: mapped(sides, placement, context, errors),
        checksum: checksum.value().unwrap_or(false),
    };
    (channel, binding)
}

/// As many messages as the sender can have under way; what has windows has its buffers by the plan.
fn outgoing(sides: &Sides<'_>, qos: &Qos) -> u32 {
    let declared = sides.source.and_then(|(_, end)| end.outgoing).unwrap_or(0);
    if matches!(qos, Qos::TimeDriven { .. }) { 0 } else { declared }
}

/// What is served at a priority is moved by the library at both ends, or its bound would be nobody's promise.
fn check_served(sides: &Sides<'_>, qos: &Qos, context: &Context<'_>, errors: &mut Errors) {
    for (rank, end) in [sides.source, sides.target].into_iter().flatten() {
        if !end.served {
            errors.push(Mismatch::Impossible(format!(
                "{}: it is {}, so the library moves its messages at both ends, but the code of {} moves its {} end by itself; declare \
                 that end {AS_OBJECT}, or make the channel best effort",
                context.object,
                kind_of(qos),
                context.names.side(rank),
                end_word(end.end)
            )));
        }
    }
}

/// How an end is declared that the library serves.
const AS_OBJECT: &str = "as an object (`leveret::objects` or `mpirt.h`)";

/// The kind of a quality of service that is served at a priority, as the manifest calls it.
fn kind_of(qos: &Qos) -> &'static str {
    if matches!(qos, Qos::EventDriven { .. }) { "event-driven" } else { "priority-driven" }
}

/// The member at one end: as the manifest names it, as the ends name each other, and as the code shows it.
fn member_of(
    sides: &Sides<'_>,
    end: End,
    declarations: &[(String, &ChannelDeclaration)],
    context: &Context<'_>,
    errors: &mut Errors,
) -> Option<MemberId> {
    let word = end_word(end);
    let mut property = Property::new(context.object, word);
    for (by, declared) in declarations {
        let named = if end == End::Source { &declared.source } else { &declared.target };
        property.offer(by, named.as_ref(), |name| format!("\"{name}\""), errors);
    }
    let holder = if end == End::Source { sides.source } else { sides.target };
    if let Some((rank, _)) = holder {
        let name = context.names.names.get(rank).map(|name| (*name).to_owned());
        property.offer(
            &format!("{} (which declares that end)", context.names.side(rank)),
            name.as_ref(),
            |name| format!("\"{name}\""),
            errors,
        );
    }
    let owner = property.value();
    if context.online && holder.is_none() {
        let other = if end == End::Source { sides.target } else { sides.source };
        let near = if errors.len() < HINTS_MAX { context.misspelt(end) } else { None };
        let near = near.map_or_else(String::new, |(near, holder)| {
            format!(", or did you mean \"{near}\", whose {word} end {} declares?", context.names.side(holder))
        });
        let owner = owner.as_ref().map_or_else(
            || "the code of the member that should hold it".to_owned(),
            |name| format!("the code of member \"{name}\""),
        );
        let is_served = declarations.iter().filter_map(|(_, declared)| declared.qos.as_ref());
        let is_served = is_served.map(Qos::service).any(|service| service.is_some());
        let how = if is_served { format!(", {AS_OBJECT}") } else { String::new() };
        errors.push(Mismatch::Unmatched {
            object: context.object.to_owned(),
            present: other.map_or_else(|| MANIFEST.to_owned(), |(rank, _)| context.names.side(rank)),
            has: other
                .map_or_else(|| "it".to_owned(), |(_, other)| format!("the {} end", end_word(other.end))),
            lacks: word.to_owned(),
            owner: owner + &how + &near,
        });
    } else if owner.is_none() {
        errors.push(Mismatch::Open {
            object: context.object.to_owned(),
            property: word.to_owned(),
            owner: "the member that holds it".to_owned(),
        });
    }
    owner.and_then(|name| context.names.find(&name, context.object, errors))
}

fn check_group(key: &ChannelKey, ends: [Option<MemberId>; 2], context: &Context<'_>, errors: &mut Errors) {
    let Some(members) = context.groups.get(&key.0) else {
        // Groups are declared in code; without it any group may still come.
        if !context.online {
            return;
        }
        unknown((context.object, "group", &key.0), context.groups.keys().map(String::as_str), errors);
        return;
    };
    for end in ends.into_iter().flatten() {
        let name = context.names.names.get(end.index()).copied().unwrap_or("?");
        if !members.iter().any(|member| member == name) {
            errors.push(Mismatch::Impossible(format!(
                "{}: member \"{name}\" is not in the group; its members are {}",
                context.object,
                listed(members.iter().map(String::as_str))
            )));
        }
    }
}

/// The ends must agree; the manifest's size is the most they may ask for.
fn size(
    sides: &Sides<'_>,
    declarations: &[(String, &ChannelDeclaration)],
    object: &str,
    errors: &mut Errors,
) -> ByteSize {
    let most = sides.manifest.and_then(|channel| channel.size);
    let within = most.map_or_else(String::new, |most| format!(" (the manifest allows at most {most})"));
    let mut size = Property::new(object, "size");
    let of_ends = || declarations.iter().filter(|(by, _)| by != MANIFEST);
    for (by, declared) in of_ends() {
        size.offer(by, declared.size.as_ref(), |size| format!("{size}{within}"), errors);
    }
    match (size.value(), most) {
        (Some(size), Some(most)) if size > most => {
            let asks = of_ends().filter(|(_, declared)| declared.size == Some(size));
            let asks: Vec<&str> = asks.map(|(by, _)| by.as_str()).collect();
            errors.push(Mismatch::Impossible(format!(
                "{object}: the manifest allows a size of at most {most}, and the code of {} asks for {size}; raise `size` in the manifest, or \
                 ask for less at both ends",
                asks.join(" and ")
            )));
            size
        }
        (Some(size), _) | (None, Some(size)) => size,
        (None, None) => {
            errors.push(Mismatch::Open {
                object: object.to_owned(),
                property: "size".to_owned(),
                owner: "either end".to_owned(),
            });
            ByteSize(0)
        }
    }
}

fn default_placement(sides: &Sides<'_>) -> Placement {
    let ends = [sides.source, sides.target];
    let aliasable = ends
        .iter()
        .all(|end| end.is_some_and(|(_, end)| end.memory == BufferMemory::System && end.policy.is_mapped()));
    // Buffers that programs provide are the same at both ends only if there are as many.
    let allowed = ends.map(|end| end.and_then(|(_, end)| end.allowed));
    if aliasable && allowed[0] == allowed[1] { Placement::Aliased } else { Placement::Separate }
}

/// How many buffers of the programs' belong to each other. MAPPED promises it, so it is an error when that cannot be; ORDERED
/// at both ends says it by the order, so that a message need not name its buffer unless they are aliased.
fn mapped(sides: &Sides<'_>, placement: Placement, context: &Context<'_>, errors: &mut Errors) -> u32 {
    let [Some(source), Some(target)] = [sides.source, sides.target] else { return 0 };
    let is_promised = |(_, end): (usize, &ChannelEndDeclaration)| {
        end.policy == IteratorPolicy::FifoMapped && end.allowed.is_some()
    };
    let allowed = |(_, end): (usize, &ChannelEndDeclaration)| {
        if end.policy.is_mapped() { end.allowed } else { None }
    };
    if !is_promised(source) && !is_promised(target) {
        return if placement == Placement::Aliased { allowed(source).unwrap_or(0) } else { 0 };
    }
    if let (Some(left), Some(right)) = (allowed(source), allowed(target))
        && left == right
    {
        return left;
    }
    let show = |end| match allowed(end) {
        Some(count) => format!("mapped, {count} of them"),
        None => "not mapped".to_owned(),
    };
    errors.push(Mismatch::Differs {
        object: context.object.to_owned(),
        property: "set of allowed buffers".to_owned(),
        left_side: context.names.side(source.0),
        left: show(source),
        right_side: context.names.side(target.0),
        right: show(target),
    });
    0
}

/// Why the buffers of the two ends cannot be one (design section 10.8), if so.
fn not_aliasable(sides: &Sides<'_>, names: &MemberNames<'_>) -> Option<String> {
    if let [Some((left, source)), Some((right, target))] = [sides.source, sides.target]
        && source.allowed != target.allowed
    {
        let [left, right] = [left, right].map(|rank| names.side(rank));
        return Some(format!("{left} and {right} have different numbers of buffers; give both as many"));
    }
    [sides.source, sides.target].into_iter().flatten().find_map(|(rank, end)| {
        let side = names.side(rank);
        if end.memory == BufferMemory::Application {
            Some(format!("{side} brings its own memory; declare system memory at both ends"))
        } else if !end.policy.is_mapped() {
            Some(format!(
                "{side} declares a plain FIFO iterator; declare a mapped or ordered one at both ends"
            ))
        } else {
            None
        }
    })
}
