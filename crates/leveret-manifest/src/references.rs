//! That every name used is declared, and used in its role.

use crate::sections::{ChannelSection, MemberSection, Parts, TaskSection};
use crate::source::{Located, Problems, quoted};
use leveret_plan::CoreChoice;
use leveret_protocol::nearest::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// With more declared names than this, a hint does not list them.
const LISTED_NAMES_MAX: usize = 8;

/// What is declared, by name.
struct Names<'a> {
    members: BTreeSet<&'a str>,
    channels: BTreeMap<&'a str, Vec<&'a ChannelSection>>,
}

impl<'a> Names<'a> {
    fn new(members: &'a [MemberSection], channels: &'a [ChannelSection]) -> Self {
        let mut by_name: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for channel in channels {
            by_name.entry(channel.name.value.as_str()).or_default().push(channel);
        }
        Self { members: members.iter().map(|member| member.name.value.as_str()).collect(), channels: by_name }
    }
}

/// Checks all references of the manifest.
pub(crate) fn check(parts: &Parts, problems: &mut Problems<'_>) {
    let names = Names::new(&parts.members, &parts.channels);
    for member in &parts.members {
        if let Some(core) = &member.core {
            check_core(core, parts, problems);
        }
    }
    for channel in &parts.channels {
        for end in [&channel.source, &channel.target].into_iter().flatten() {
            check_member(end, &names, problems);
        }
    }
    for task in &parts.tasks {
        if let Some(member) = &task.member {
            check_member(member, &names, problems);
        }
        if let Some(Located { value: CoreChoice::Pinned(core), span }) = &task.core {
            check_core(&Located { value: *core, span: span.clone() }, parts, problems);
        }
        check_ends(task, true, &names, problems);
        check_ends(task, false, &names, problems);
    }
}

fn check_member(used: &Located<String>, names: &Names<'_>, problems: &mut Problems<'_>) {
    if !names.members.contains(used.value.as_str()) && !problems.is_full() {
        let message = format!("there is no member {}", quoted(&used.value));
        let hint = remedy(&used.value, names.members.iter().copied(), "[[member]]");
        problems.add(used.span.clone(), message, hint);
    }
}

fn check_core(used: &Located<u32>, parts: &Parts, problems: &mut Problems<'_>) {
    if let Some(cores) = &parts.cores
        && !cores.contains(&used.value)
    {
        let listed: Vec<_> = cores.iter().map(u32::to_string).collect();
        problems.add(
            used.span.clone(),
            format!("core {} is not one of the job's cores", used.value),
            format!("use one of {}, or add {} to `cores` in [host]", listed.join(", "), used.value),
        );
    }
}

/// The channels that one task reads or writes: declared, with the task's member at that end, each once.
fn check_ends(task: &TaskSection, reads: bool, names: &Names<'_>, problems: &mut Problems<'_>) {
    let mut seen = BTreeMap::new();
    for name in if reads { &task.reads } else { &task.writes } {
        if problems.is_full() {
            return;
        }
        if let Some(first) = seen.insert(name.value.as_str(), &name.span) {
            let message = format!("channel {} is listed twice", quoted(&name.value));
            problems.add_related(name.span.clone(), message, "remove one", (first, "the first is here"));
            continue;
        }
        match names.channels.get(name.value.as_str()) {
            None => {
                let message = format!("there is no channel {}", quoted(&name.value));
                let hint = remedy(&name.value, names.channels.keys().copied(), "[[channel]]");
                problems.add(name.span.clone(), message, hint);
            }
            Some(named) => check_role(task, reads, name, named, names, problems),
        }
    }
}

/// That a task reads or writes a channel whose end its own member holds. `named` are the channels of that name, one
/// per group. An end that the manifest leaves open is checked at commit.
fn check_role(
    task: &TaskSection,
    reads: bool,
    name: &Located<String>,
    named: &[&ChannelSection],
    names: &Names<'_>,
    problems: &mut Problems<'_>,
) {
    let Some(member) = &task.member else { return };
    let mut holder = None;
    for channel in named {
        match if reads { &channel.target } else { &channel.source } {
            Some(end) if end.value != member.value => holder = holder.or(Some(&end.value)),
            _ => return,
        }
    }
    let Some(holder) = holder else { return };
    // A member that is not declared is told by itself; which end it would hold, nobody knows.
    if ![&member.value, holder].iter().all(|name| names.members.contains(name.as_str())) {
        return;
    }
    let (verb, end) = if reads { ("reads", "target") } else { ("writes", "source") };
    let (channel, holder, member) = (quoted(&name.value), quoted(holder), quoted(&member.value));
    problems.add(
        name.span.clone(),
        format!("{} {verb} channel {channel}, whose {end} is {holder}, not {member}", task.label),
        format!("a task {verb} only channels whose {end} is its own member"),
    );
}

fn remedy<'a>(found: &str, names: impl ExactSizeIterator<Item = &'a str> + Clone, header: &str) -> String {
    if let Some(near) = nearest(found, names.clone()) {
        return format!("did you mean {}?", quoted(near));
    }
    match names.len() {
        1..=LISTED_NAMES_MAX => {
            let listed: Vec<_> = names.map(quoted).collect();
            format!("declare it under {header}, or use one of {}", listed.join(", "))
        }
        _ => format!("declare it under {header}"),
    }
}
