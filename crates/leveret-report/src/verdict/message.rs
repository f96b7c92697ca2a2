//! Messages that did not arrive in time, traced to the end that failed.

use super::hold::{self, Silent};
use super::task::{decide, decide_instance, missed, shares, unended};
use super::{Blame, Cause, Context, Miss, Root, Stage, Subject, timeline};
use crate::record::{Event, EventKind, Fate, MessageRecord};
use leveret_types::Nanos;

/// What is found of a message.
struct Finding {
    stage: Stage,
    cause: Cause,
    blame: Blame,
    root: Option<Root>,
    evidence: Vec<String>,
    /// Of what a member did not do any more: what all of that follows from.
    origin: Option<Origin>,
    /// The run had been asked to end.
    is_unowed: bool,
}

/// Since when a member did nothing any more, and of what it was lacking first.
#[derive(Clone)]
struct Origin {
    member: u16,
    root: Root,
}

impl Finding {
    fn job(stage: Stage, cause: Cause, sentence: String) -> Self {
        Self {
            stage,
            cause,
            blame: Blame::job(),
            root: None,
            evidence: vec![sentence],
            origin: None,
            is_unowed: false,
        }
    }

    fn unowed() -> Self {
        Self { is_unowed: true, ..Self::job(Stage::Insertion, Cause::NotInserted, String::new()) }
    }

    fn unproven(stage: Stage, cause: Cause, sentence: String) -> Self {
        Self { blame: Blame::unproven(), ..Self::job(stage, cause, sentence) }
    }
}

/// Every message that did not arrive in time.
pub(super) fn misses(context: &Context<'_>) -> Vec<Miss> {
    let (mut misses, mut origins) = (Vec::new(), Vec::new());
    for (channel, record) in context.phase().channels.iter().enumerate() {
        for message in &record.messages {
            let finding = match message.fate {
                Fate::Taken | Fate::Untaken => continue,
                Fate::Late => late(context, channel, message),
                Fate::Missing => missing(context, channel, message, 0),
                Fate::NoBuffer => no_buffer(context, channel, message),
                Fate::Invalid => invalid(context, channel, message),
                Fate::NoRoom => no_room(context, channel, message),
                Fate::Corrupt => corrupt(context, channel),
                Fate::TooLong => too_long(context, channel, message),
            };
            if finding.is_unowed {
                continue;
            }
            let late_by = message.inserted.filter(|_| message.fate == Fate::Late).map(|at| at - message.due);
            origins.push(finding.origin);
            misses.push(Miss {
                phase: context.phase_number,
                subject: Subject::Channel(channel),
                name: context.index.channel_name(channel),
                instance: message.instance,
                deadline: message.due,
                late_by,
                stage: finding.stage,
                cause: finding.cause,
                party: finding.blame.party,
                unproven: finding.blame.unproven,
                culprit: finding.blame.culprit,
                root: finding.root,
                evidence: finding.evidence,
                timeline: timeline::of_message(context, channel, message),
            });
        }
    }
    have_one_root(context, &mut misses, &origins);
    misses
}

/// Of all that follows from a member's end or stop one miss is the root: that of the instance in which it was, else the first. It may show at several
/// channels at once.
fn have_one_root(context: &Context<'_>, misses: &mut [Miss], origins: &[Option<Origin>]) {
    let of = |place: &usize| origins[*place].as_ref().map(|origin| origin.member);
    let mut places: Vec<usize> = (0..misses.len()).filter(|place| of(place).is_some()).collect();
    places.sort_by_key(|place| (of(place), misses[*place].deadline, *place));
    let mut before = None;
    for place in places {
        let Some(origin) = &origins[place] else { continue };
        let Root { task, instance, .. } = origin.root;
        // One that began is a miss of its own.
        let has_begun = context.index.unended(task).is_some_and(|(unended, _)| unended == instance);
        let is_first = before.replace(origin.member) != Some(origin.member) && !has_begun;
        misses[place].root = (!is_first).then(|| origin.root.clone());
    }
}

/// The task instance that writes (or wrote) a message: task, place among its records, record.
fn sender<'a>(
    context: &Context<'a>,
    channel: usize,
    message: &MessageRecord,
) -> Option<(usize, usize, &'a crate::record::InstanceRecord)> {
    if let Some((task, instance)) = context.index.writer(channel, message.instance) {
        return context.index.instance(task, instance).map(|(place, record)| (task, place, record));
    }
    let at = message.inserted?;
    let writes = |task: &leveret_plan::Task| task.writes.iter().any(|id| id.index() == channel);
    let task = context.phase().job.tasks.iter().position(writes)?;
    context.index.running_at(task, at).map(|(place, record)| (task, place, record))
}

/// The receiver found nothing at the time, and the sender has stamped it before.
fn contradictory(context: &Context<'_>, channel: usize, message: &MessageRecord) -> Option<Finding> {
    let early = message.inserted.map(|at| message.due - at).filter(|early| *early >= Nanos::ZERO)?;
    let model = context.phase().job.channels.get(channel)?;
    let (source, target) =
        (context.index.member_name(model.source.0), context.index.member_name(model.target.0));
    let sentence = format!(
        "member {source} has stamped it {early} before it was due, and member {target} found that it was not there then: the sender was held up \
         between the stamp and the insertion, or one of the records is wrong"
    );
    Some(Finding::unproven(Stage::Arrival, Cause::Unexplained, sentence))
}

fn late(context: &Context<'_>, channel: usize, message: &MessageRecord) -> Finding {
    let is_held_up = sender(context, channel, message).is_some_and(|(_, _, record)| missed(record));
    if !is_held_up && let Some(finding) = contradictory(context, channel, message) {
        return finding;
    }
    let late_by = message.inserted.map_or(Nanos(1), |at| (at - message.due).max(Nanos(1)));
    let head = format!("inserted {late_by} after it was due");
    let Some((task, place, record)) = sender(context, channel, message) else {
        let writes = |task: &leveret_plan::Task| task.writes.iter().any(|id| id.index() == channel);
        if !context.phase().job.tasks.iter().any(writes) {
            let sentence = format!(
                "{head}: no task writes this channel, its member starts transfers when it likes; what kept it is not recorded"
            );
            return Finding::job(Stage::Insertion, Cause::LatePeer, sentence);
        }
        let sentence = format!("{head}; the sender's instance was not recorded");
        return Finding::unproven(Stage::Insertion, Cause::Unexplained, sentence);
    };
    if missed(record) {
        return follow(context, task, place, &head);
    }
    let parts = shares(context, task, place, 0);
    let name = context.index.task_name(task);
    if parts.is_empty() {
        let sentence = format!(
            "{head}, although {name} (instance {}) kept its own plan: it may run until {} and the message was due at {}",
            record.instance, record.deadline, message.due
        );
        return Finding::job(Stage::Insertion, Cause::PlanOrRuntime, sentence);
    }
    let decision = decide(parts, Some(late_by));
    let mut evidence = vec![format!("{head} by {name}, instance {}: {}", record.instance, decision.cause)];
    evidence.extend(decision.evidence);
    Finding {
        stage: decision.stage,
        cause: decision.cause,
        blame: decision.blame,
        root: decision.root,
        evidence,
        origin: None,
        is_unowed: false,
    }
}

/// A miss that follows from the miss of a task instance.
fn follow(context: &Context<'_>, task: usize, place: usize, head: &str) -> Finding {
    let name = context.index.task_name(task);
    let instance = context.phase().tasks[task].instances[place].instance;
    let unexplained = || {
        let (name, cause, blame) = (name.clone(), Cause::Unexplained, Blame::unproven());
        Root { task, name, instance, cause, blame }
    };
    let root = decide_instance(context, task, place, 0).unwrap_or_else(unexplained);
    let (cause, blame) = (root.cause, root.blame.clone());
    let sentence =
        format!("{head}: {name}, instance {instance}, did not keep its window, by: {cause} ({blame})");
    let root = Some(root);
    Finding {
        stage: Stage::Arrival,
        cause: Cause::LatePeer,
        blame,
        root,
        evidence: vec![sentence],
        origin: None,
        is_unowed: false,
    }
}

/// Longest chain of members that is followed back to its root.
const CHAIN_MAX: usize = 64;

/// A sender that had nothing to pass on: one of its own planned messages did not come. Its silence follows from the
/// root of that one.
fn starved(
    context: &Context<'_>,
    task: usize,
    record: &crate::record::InstanceRecord,
    head: &str,
    depth: usize,
) -> Option<Finding> {
    let reads = &context.phase().job.tasks.get(task)?.reads;
    reads.iter().find_map(|id| {
        let channel = id.index();
        let instance = context.index.read_by(task, record.instance, channel)?;
        let messages = &context.phase().channels.get(channel)?.messages;
        let place = messages.binary_search_by_key(&instance, |message| message.instance).ok()?;
        let input = &messages[place];
        let before = match input.fate {
            Fate::Taken | Fate::Untaken => return None,
            Fate::Late => late(context, channel, input),
            Fate::Missing => missing(context, channel, input, depth + 1),
            Fate::NoBuffer => no_buffer(context, channel, input),
            Fate::Invalid => invalid(context, channel, input),
            Fate::NoRoom => no_room(context, channel, input),
            Fate::Corrupt => corrupt(context, channel),
            Fate::TooLong => too_long(context, channel, input),
        };
        let name = context.index.channel_name(channel);
        let sentence = format!(
            "{head}: its own planned message, {name} {instance}, had not come, by: {} ({})",
            before.cause, before.blame
        );
        let root = before.root.clone().or_else(|| sender_root(context, channel, input, &before));
        Some(Finding {
            stage: Stage::Arrival,
            cause: Cause::LatePeer,
            blame: before.blame,
            root,
            evidence: vec![sentence],
            origin: before.origin,
            is_unowed: before.is_unowed,
        })
    })
}

/// The root of a message that failed at its own sender.
fn sender_root(
    context: &Context<'_>,
    channel: usize,
    message: &MessageRecord,
    finding: &Finding,
) -> Option<Root> {
    let (task, _, record) = sender(context, channel, message)?;
    let name = context.index.task_name(task);
    let (cause, blame) = (finding.cause, finding.blame.clone());
    Some(Root { task, name, instance: record.instance, cause, blame })
}

fn missing(context: &Context<'_>, channel: usize, message: &MessageRecord, depth: usize) -> Finding {
    let source = context.phase().job.channels.get(channel).map(|model| model.source.0);
    if let Some(found) = sender(context, channel, message) {
        let (task, place, record) = found;
        if missed(record) {
            return follow(context, task, place, "never inserted");
        }
        let name = context.index.task_name(task);
        let sentence = format!(
            "{name}, instance {}, ran from {} to {} and inserted nothing",
            record.instance, record.started, record.ended
        );
        if depth < CHAIN_MAX
            && let Some(finding) = starved(context, task, record, &sentence, depth)
        {
            return finding;
        }
        return Finding::job(Stage::Insertion, Cause::NotInserted, sentence);
    }
    let writer = context.index.writer(channel, message.instance);
    let records = writer.and_then(|(task, _)| context.phase().tasks.get(task));
    if source.is_some_and(|rank| hold::is_unowed(context, rank, writer, message.due)) {
        return Finding::unowed();
    }
    if let Some((task, place)) = writer.and_then(|(task, instance)| overtaken(context, task, instance)) {
        return follow(context, task, place, "never inserted");
    }
    if let Some((did, cause)) = source.and_then(|rank| silence(context, rank, writer, message.due)) {
        let sentence = format!("never inserted: the sender's {did}");
        return gone(context, (Stage::Arrival, source, writer), cause, sentence);
    }
    let lost = records.map_or(0, |task| task.records_lost);
    let sentence =
        format!("never inserted; the sender's instance was not recorded ({lost} of its records were lost)");
    Finding::unproven(Stage::Arrival, Cause::Unexplained, sentence)
}

/// The last recorded instance of a task and its place, if it was late and kept the task past what it was to have done in a later instance.
fn overtaken(context: &Context<'_>, task: usize, instance: u64) -> Option<(usize, usize)> {
    let records = &context.phase().tasks.get(task)?.instances;
    let last = records.last().filter(|last| missed(last) && last.instance < instance)?;
    (last.ended > context.index.deadline(task, instance)).then_some((task, records.len() - 1))
}

/// A message that failed because a member did nothing any more. The first instance that it lacks is the root of whatever follows.
fn gone(
    context: &Context<'_>,
    (stage, member, lacking): (Stage, Option<u16>, Option<(usize, u64)>),
    (cause, blame): (Cause, Blame),
    sentence: String,
) -> Finding {
    // One that it did later was not the last of what it did.
    let is_lacking = |(task, instance): (usize, u64)| {
        let records = context.phase().tasks.get(task).map_or(&[][..], |record| &record.instances);
        records.last().is_none_or(|last| last.instance < instance)
    };
    let member = member.map(|member| ended_for(context, member));
    let origin = member.filter(|_| lacking.is_none_or(is_lacking)).and_then(|member| {
        let root = first_lacking(context, member, (cause, &blame))?;
        Some(Origin { member, root })
    });
    Finding { stage, cause, blame, root: None, evidence: vec![sentence], origin, is_unowed: false }
}

/// For a member that ended since the run was being ended: whose death that was for.
fn ended_for(context: &Context<'_>, member: u16) -> u16 {
    let events = &context.phase().events;
    let is_its =
        |event: &&Event| matches!(event.kind, EventKind::MemberEnded { member: of, .. } if of == member);
    let Some(ended) = events.iter().find(is_its) else { return member };
    let died = events.iter().find_map(|event| match event.kind {
        EventKind::MemberDied { member, .. } if event.at <= ended.at => Some(member),
        _ => None,
    });
    died.unwrap_or(member)
}

/// The first instance that a member which did nothing any more has not run: of its tasks the one that was due first.
fn first_lacking(context: &Context<'_>, member: u16, (cause, blame): (Cause, &Blame)) -> Option<Root> {
    let phase = context.phase();
    let own = phase.job.tasks.iter().enumerate().filter(|(_, task)| task.member.0 == member);
    let next = own.filter_map(|(task, _)| hold::next_of(context.phase(), task));
    let (task, _, instance) = next.min_by_key(|(task, planned, _)| (*planned, *task))?;
    if let Some((root, _)) = unended(context, task).filter(|(root, _)| root.instance == instance) {
        return Some(root);
    }
    let name = context.index.task_name(task);
    Some(Root { task, name, instance, cause, blame: blame.clone() })
}

/// Why a member did nothing at `due` that it was to do then, in the instance `lacking` of one of its tasks: in words, and what that is. It had died,
/// or stood still.
fn silence(
    context: &Context<'_>,
    member: u16,
    lacking: Option<(usize, u64)>,
    due: Nanos,
) -> Option<(String, (Cause, Blame))> {
    let died = hold::death(context, member);
    if let Some((_, words)) = died.as_ref().filter(|(at, _)| *at <= due) {
        return Some((words.clone(), (Cause::PeerDied, Blame::job())));
    }
    if let Some(hold) = hold::stopped(context, member, due) {
        return Some((hold.words, (hold.cause, hold.blame)));
    }
    let (task, instance) = lacking?;
    let last = context.phase().tasks.get(task)?.instances.last();
    if last.is_some_and(|last| last.instance >= instance) {
        return None;
    }
    if let Some((root, at)) = unended(context, task).filter(|(root, _)| root.instance <= instance) {
        let words = format!("instance {} of {} began at {at} and never ended", root.instance, root.name);
        return Some((words, (Cause::LatePeer, root.blame)));
    }
    let (_, from, first) = hold::next_of(context.phase(), task)?;
    if let Some(hold) = hold::of(context, Silent { task, from, has_begun: false }) {
        return Some((hold.words, (hold.cause, hold.blame)));
    }
    let (at, words) = died?;
    // A death is noticed after it happened; whoever dies much later was kept by something else until then.
    Some(match at <= from + hold::DYING {
        true => {
            let words = format!("{words}, and recorded no instance from {first} on");
            (words, (Cause::PeerDied, Blame::job()))
        }
        false => {
            let words = format!(
                "member recorded no instance from {first} on, for a reason that is not known; {words}"
            );
            (words, (Cause::Unexplained, Blame::unproven()))
        }
    })
}

fn no_buffer(context: &Context<'_>, channel: usize, message: &MessageRecord) -> Finding {
    let model = context.phase().job.channels.get(channel);
    let head = "not inserted for want of a free buffer: the receiver had not given one back";
    let buffers =
        context.phase().plan.channels.get(channel).map_or(1, |planned| u64::from(planned.buffers.max(1)));
    let readers = (1..=buffers)
        .filter_map(|back| context.index.last_reader(channel, message.instance.checked_sub(back)?));
    let target = model.map(|model| model.target.0);
    let (mut late, mut lacking, mut known, mut unknown) = (None, None, 0_u64, 0_u64);
    for (task, instance) in readers {
        match context.index.instance(task, instance) {
            Some((place, record)) if missed(record) => late = Some((task, place)),
            Some(_) => known += 1,
            None => (lacking, unknown) = (lacking.or(Some((task, instance))), unknown + 1),
        }
    }
    let is_unowed = target.is_some_and(|rank| hold::is_unowed(context, rank, lacking, message.due));
    if late.is_none() && unknown > 0 && is_unowed {
        return Finding::unowed();
    }
    let silence = target.and_then(|rank| silence(context, rank, lacking, message.due));
    match (late, silence) {
        (None, Some((did, cause))) | (Some(_), Some((did, cause @ (Cause::PeerDied, _)))) => {
            gone(context, (Stage::Taking, target, lacking), cause, format!("{head}; its {did}"))
        }
        (Some((task, place)), _) => Finding { stage: Stage::Taking, ..follow(context, task, place, head) },
        (None, None) if unknown > 0 => {
            let sentence = format!(
                "{head}; {unknown} of the {buffers} instances that had its buffers are not recorded, so nobody knows whether they were late"
            );
            Finding::unproven(Stage::Taking, Cause::LatePeer, sentence)
        }
        (None, None) if known == 0 => {
            let reads = |task: &leveret_plan::Task| task.reads.iter().any(|id| id.index() == channel);
            if context.phase().job.tasks.iter().any(reads) {
                let sentence = format!("{head}; which instances had its {buffers} buffers is not known");
                return Finding::unproven(Stage::Taking, Cause::LatePeer, sentence);
            }
            let sentence = format!(
                "{head}; no task reads this channel, its member takes messages when it likes: {buffers} buffer(s) do not suffice or it holds \
                 them too long"
            );
            Finding::job(Stage::Taking, Cause::LatePeer, sentence)
        }
        (None, None) => {
            let sentence = format!(
                "{head}, although its task kept its windows: {buffers} buffer(s) do not suffice or it holds them too long"
            );
            Finding::job(Stage::Taking, Cause::LatePeer, sentence)
        }
    }
}

/// The program keeps its receiving end stocked with buffers, or does not; a task of its own that missed its window a moment
/// ago may have been about to put one back.
fn no_room(context: &Context<'_>, channel: usize, message: &MessageRecord) -> Finding {
    let phase = context.phase();
    let Some(model) = phase.job.channels.get(channel) else {
        return Finding::job(Stage::Taking, Cause::NoRoom, "the receiver had no empty buffer".to_owned());
    };
    let name = context.index.member_name(model.target.0);
    let head =
        format!("it was there in time, but member {name} had no empty buffer in its end's input iterator");
    let since = match model.qos {
        leveret_plan::Qos::TimeDriven { period, .. } => message.due - period.saturating_mul(2),
        _ => message.due,
    };
    let own = phase.job.tasks.iter().enumerate().filter(|(_, task)| task.member == model.target);
    for (task, _) in own {
        let Some(records) = phase.tasks.get(task).map(|record| &record.instances) else { continue };
        let recent = records.iter().enumerate().rev();
        let recent = recent.skip_while(|(_, record)| record.planned > message.due);
        let mut recent = recent.take_while(|(_, record)| record.planned >= since);
        if let Some((place, _)) = recent.find(|(_, record)| missed(record)) {
            return Finding { stage: Stage::Taking, ..follow(context, task, place, &head) };
        }
    }
    let sentence = format!("{head}; give it more buffers, or let it put them back sooner");
    Finding::job(Stage::Taking, Cause::NoRoom, sentence)
}

fn invalid(context: &Context<'_>, channel: usize, message: &MessageRecord) -> Finding {
    let sentence = format!(
        "the segment of member {} held a sequence word, index or length that cannot be right; the message ({} bytes stated) \
         was not used",
        sender_name(context, channel),
        message.size
    );
    Finding::job(Stage::Arrival, Cause::CorruptSegment, sentence)
}

/// The length is the program's, whoever else was late.
fn too_long(context: &Context<'_>, channel: usize, message: &MessageRecord) -> Finding {
    let most = context.phase().job.channels.get(channel).map_or(0, |model| model.size.0);
    let who = match sender(context, channel, message) {
        Some((task, _, record)) => {
            format!("{}, instance {}", context.index.task_name(task), record.instance)
        }
        None => format!("member {}", sender_name(context, channel)),
    };
    let sentence = format!(
        "{who}, sent {} B, and the channel carries at most {most} B: the message was refused, and none took its place; declare a larger \
         size, or look at what the send returns",
        message.size
    );
    Finding::job(Stage::Insertion, Cause::TooLong, sentence)
}

fn corrupt(context: &Context<'_>, channel: usize) -> Finding {
    let sentence = format!(
        "its bytes do not sum up to the checksum that member {} sent with it: something in that member wrote into the message \
         after it was sent; the message was not used",
        sender_name(context, channel)
    );
    Finding::job(Stage::Arrival, Cause::CorruptPayload, sentence)
}

fn sender_name(context: &Context<'_>, channel: usize) -> String {
    let model = context.phase().job.channels.get(channel);
    model.map_or_else(|| "unknown".to_owned(), |model| context.index.member_name(model.source.0))
}
