//! Early checks: declarations that contradict themselves or each other, before any planning.

mod sporadic;

use crate::explain::{Change, Declaration, Length, Remedy, culprits};
use crate::windows::{activations, hyperperiod, periods};
use crate::words;
use crate::{Channel, CoreChoice, Costs, Job, Qos, Task};
use leveret_types::{
    BUFFERS_MAX, CHANNELS_MAX, ChannelId, INSTANCES_MAX, MEMBERS_MAX, MESSAGE_BYTES_MAX, MemberId,
    NAME_BYTES_MAX, Nanos, TASKS_MAX,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Longest period, instant, cost or hyperperiod that is accepted, in nanoseconds (about 104 days). Below it no
/// sum in the planner can overflow, and every instant is exact in JSON.
pub const TIME_NS_MAX: i64 = 1 << 53;

/// A declaration that cannot be meant as written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeclarationError {
    /// The object at fault, as in "task `B.user`".
    pub object: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
    /// The declarations that contradict each other.
    pub involved: Vec<Declaration>,
    /// Changes that might repair it; the planner keeps those that do.
    pub repairs: Vec<Remedy>,
}

impl fmt::Display for DeclarationError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}; {}", self.object, self.problem, self.remedy)
    }
}

/// Checks every declaration by itself and against those it names.
///
/// # Errors
/// All that was found, in the order of the model; each names its object and the remedy.
pub fn validate(job: &Job) -> Result<(), Vec<DeclarationError>> {
    let mut errors = every_error(job);
    if errors.0.is_empty() {
        errors.hyperperiod(job);
    }
    if errors.0.is_empty() { Ok(()) } else { Err(errors.0) }
}

/// As many errors as [`validate`] finds, without telling them.
pub(crate) fn error_count(job: &Job) -> usize {
    let errors = every_error(job);
    if errors.0.is_empty() { usize::from(!has_room(job)) } else { errors.0.len() }
}

/// Whether the table is short enough; every declaration by itself is sound here.
fn has_room(job: &Job) -> bool {
    hyperperiod(job).is_none_or(|length| length <= TIME_NS_MAX && activations(job, length) <= INSTANCES_MAX)
}

/// All but the hyperperiod.
fn every_error(job: &Job) -> Errors {
    let mut errors = Errors(Vec::new());
    errors.sizes(job);
    errors.costs(&job.costs);
    errors.cores(job);
    errors.names(job);
    for task in &job.tasks {
        errors.task(job, task);
    }
    for (index, channel) in job.channels.iter().enumerate() {
        errors.channel(job, index, channel);
    }
    errors.sporadics(job);
    errors
}

struct Errors(Vec<DeclarationError>);

impl Errors {
    fn add(&mut self, object: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(DeclarationError {
            object: object.into(),
            problem: problem.into(),
            remedy: remedy.into(),
            involved: Vec::new(),
            repairs: Vec::new(),
        });
    }

    fn involving(&mut self, involved: impl IntoIterator<Item = Declaration>, repairs: Vec<Remedy>) {
        if let Some(error) = self.0.last_mut() {
            error.involved.extend(involved);
            error.repairs.extend(repairs);
        }
    }

    fn sizes(&mut self, job: &Job) {
        let counts = [
            ("members", job.members.len(), MEMBERS_MAX),
            ("tasks", job.tasks.len(), TASKS_MAX),
            ("channels", job.channels.len(), CHANNELS_MAX),
            ("cores", job.cores.len(), usize::from(u16::MAX)),
        ];
        for (what, count, limit) in counts {
            if count > limit {
                self.add(
                    job_words(job),
                    format!("has {count} {what}"),
                    format!("split it into jobs of at most {limit} {what}"),
                );
            }
        }
    }

    fn costs(&mut self, costs: &Costs) {
        let named = [
            ("guard", costs.guard),
            ("switch", costs.switch),
            ("preemption", costs.preemption),
            ("publish", costs.publish),
            ("copy_per_kib", costs.copy_per_kib),
            ("clock_error", costs.clock_error),
        ];
        for (name, value) in named {
            if value.0 < 0 {
                self.add("costs", format!("{name} is {value}"), format!("write {name} = \"0us\" or more"));
            }
            self.too_long("costs", name, value);
        }
        if costs.utilisation_permille == 0 || costs.utilisation_permille > 1000 {
            self.add(
                "costs",
                format!("utilisation_permille is {}", costs.utilisation_permille),
                "write a share of a core between 1 and 1000 thousandths",
            );
        }
    }

    fn too_long(&mut self, object: &str, name: &str, value: Nanos) {
        if value.0 > TIME_NS_MAX {
            self.add(object, format!("{name} is {value}"), format!("write at most {}", Nanos(TIME_NS_MAX)));
        }
    }

    fn cores(&mut self, job: &Job) {
        let mut sorted = job.cores.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            self.add(job_words(job), format!("lists core {} twice", pair[0]), "list each core once");
        }
        if job.cores.is_empty() && !job.tasks.is_empty() {
            self.add(
                job_words(job),
                "has tasks but no cores",
                "list the cores it may use, such as cores = [0, 1]",
            );
        }
    }

    fn names(&mut self, job: &Job) {
        self.name("job", &job.name);
        let mut seen = BTreeMap::new();
        let members = job.members.iter().map(|member| ("member", "", member.name.as_str()));
        let sporadics = job.sporadics.iter().map(|sporadic| &sporadic.name);
        let tasks = job.tasks.iter().map(|task| &task.name).chain(sporadics);
        let tasks = tasks.map(|name| ("task", "", name.as_str()));
        let channels =
            job.channels.iter().map(|channel| ("channel", channel.group.as_str(), channel.name.as_str()));
        for (kind, group, name) in members.chain(tasks).chain(channels) {
            self.name(kind, name);
            if kind == "channel" {
                self.name("group", group);
            }
            let count = seen.entry((kind, group, name)).or_insert(0_usize);
            *count += 1;
            if *count == 2 {
                let place = if group.is_empty() { String::new() } else { format!(" in group `{group}`") };
                self.add(
                    format!("{kind} `{name}`"),
                    format!("is declared more than once{place}"),
                    "give each its own name",
                );
            }
        }
    }

    fn name(&mut self, kind: &str, name: &str) {
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
            self.add(
                format!("{kind} `{}`", name.escape_debug().take(NAME_BYTES_MAX).collect::<String>()),
                format!("has a name of {} bytes, or one with control characters", name.len()),
                format!("name it with 1 to {NAME_BYTES_MAX} bytes of printable text"),
            );
        }
    }

    fn task(&mut self, job: &Job, task: &Task) {
        let object = format!("task `{}`", task.name);
        if task.member.index() >= job.members.len() {
            self.add(
                &object,
                format!("belongs to {}, which does not exist", task.member),
                "name a declared member",
            );
        }
        if let CoreChoice::Pinned(core) = task.core
            && !job.cores.contains(&core)
        {
            self.add(
                &object,
                format!(
                    "is pinned to core {core}, which is not among the job's {}",
                    words::cores(&job.cores)
                ),
                "pin it to one of them, or add the core to the job",
            );
        }
        self.period(&object, task.period);
        self.span(&object, task.release, task.deadline);
        if task.budget.0 <= 0 {
            self.add(&object, format!("has a budget of {}", task.budget), "give it a budget above 0");
        } else if task.release >= Nanos::ZERO && task.budget > task.deadline - task.release {
            let window = task.deadline - task.release;
            self.add(
                &object,
                format!("has a budget of {} but a window of only {window}", task.budget),
                format!(
                    "widen the window to more than {}, since costs come on top, or lower the budget",
                    task.budget
                ),
            );
            self.involving([Declaration::task(job, task)], Vec::new());
        }
        self.ends(job, task, &task.reads, "reads");
        self.ends(job, task, &task.writes, "writes");
    }

    fn period(&mut self, object: &str, period: Nanos) {
        if period.0 <= 0 {
            self.add(object, format!("has a period of {period}"), "give it a period above 0");
        }
        self.too_long(object, "period", period);
    }

    fn span(&mut self, object: &str, release: Nanos, deadline: Nanos) {
        if release.0 < 0 {
            self.add(object, format!("has a release of {release}"), "write a release of 0 or later");
        }
        if release >= deadline {
            self.add(
                object,
                format!("is released at {release} but due at {deadline}"),
                "let the release come before the deadline",
            );
        }
        self.too_long(object, "deadline", deadline);
    }

    /// The channels that a task reads or writes.
    fn ends(&mut self, job: &Job, task: &Task, ends: &[ChannelId], verb: &str) {
        let object = format!("task `{}`", task.name);
        for (place, id) in ends.iter().enumerate() {
            let Some(channel) = job.channels.get(id.index()) else {
                self.add(&object, format!("{verb} {id}, which does not exist"), "name a declared channel");
                continue;
            };
            let name = channel_words(channel);
            if ends[..place].contains(id) {
                self.add(&object, format!("{verb} {name} twice"), "list each channel once");
            }
            let (owner, end) =
                if verb == "reads" { (channel.target, "to") } else { (channel.source, "from") };
            if owner != task.member {
                self.add(
                    &object,
                    format!(
                        "of {} {verb} {name}, which goes {end} {}",
                        member_words(job, task.member),
                        member_words(job, owner)
                    ),
                    "only the member at that end of a channel may use it",
                );
            }
            if verb == "writes" {
                self.writer_period(job, task, *id, channel);
            }
        }
    }

    fn writer_period(&mut self, job: &Job, task: &Task, id: ChannelId, channel: &Channel) {
        let Qos::TimeDriven { period, .. } = channel.qos else { return };
        if period == task.period {
            return;
        }
        self.add(
            format!("task `{}`", task.name),
            format!(
                "has a period of {} but writes {}, whose period is {period}: a message is due in every period",
                task.period,
                channel_words(channel)
            ),
            "give both the same period",
        );
        let (writer, conduit) = (Declaration::task(job, task), Declaration::channel(job, id.index()));
        self.involving(
            [writer.clone(), conduit.clone()],
            vec![
                Change::Period { object: writer.object, from: task.period, to: period }.into(),
                Change::Period { object: conduit.object, from: period, to: task.period }.into(),
            ],
        );
    }

    fn channel(&mut self, job: &Job, index: usize, channel: &Channel) {
        let object = channel_words(channel);
        for (end, member) in [("source", channel.source), ("target", channel.target)] {
            if member.index() >= job.members.len() {
                self.add(
                    &object,
                    format!("has {end} {member}, which does not exist"),
                    "name a declared member",
                );
            }
        }
        if channel.size.0 == 0 || channel.size.0 > MESSAGE_BYTES_MAX {
            self.add(
                &object,
                format!("has messages of {}", channel.size),
                format!("choose a size from 1 B to {}", leveret_types::ByteSize(MESSAGE_BYTES_MAX)),
            );
        }
        if channel.buffers > BUFFERS_MAX {
            self.add(
                &object,
                format!("asks for {} buffers", channel.buffers),
                format!("ask for at most {BUFFERS_MAX}"),
            );
        }
        self.transfer(job, index, channel);
        let writers: Vec<&Task> =
            job.tasks.iter().filter(|task| task.writes.iter().any(|id| id.index() == index)).collect();
        if let [first, second, ..] = writers[..] {
            self.add(
                &object,
                format!("is written by both `{}` and `{}`", first.name, second.name),
                "let one task write it, or declare a channel for each",
            );
            self.involving([Declaration::task(job, first), Declaration::task(job, second)], Vec::new());
        }
    }

    fn transfer(&mut self, job: &Job, index: usize, channel: &Channel) {
        let Qos::TimeDriven { period, release, deadline, .. } = channel.qos else { return };
        let object = channel_words(channel);
        self.period(&object, period);
        self.span(&object, release, deadline);
        let least = job.costs.publish + job.costs.clock_error;
        if release.0 >= 0 && release < deadline && deadline - release < least {
            self.add(
                &object,
                format!("has a window of {}, but a transfer takes {least}", deadline - release),
                format!("set its deadline to {} or later", release + least),
            );
            self.involving([Declaration::channel(job, index)], Vec::new());
        }
    }

    /// The hyperperiod; every declaration by itself is sound here.
    fn hyperperiod(&mut self, job: &Job) {
        if has_room(job) {
            return;
        }
        let length = Length::of(periods(job));
        let mut over = Vec::new();
        let most = Nanos(TIME_NS_MAX);
        let found = match length.round.and_then(|round| i64::try_from(round).ok()) {
            Some(round) => format!("only after {}", Nanos(round)),
            None => "only after more than 292 years".to_owned(),
        };
        if length.is_too_long() {
            over.push(match length.round {
                Some(round) => format!("{} times the {most} that may be", times(round, TIME_NS_MAX)),
                None => format!("far beyond the {most} that may be"),
            });
        }
        if length.is_too_full() {
            over.push(match length.instances {
                i128::MAX => {
                    format!("with more instances of tasks and transfers than the {INSTANCES_MAX} that may be")
                }
                count => format!(
                    "with {count} instances of tasks and transfers, {} times the {INSTANCES_MAX} that may be",
                    times(count, INSTANCES_MAX as i64)
                ),
            });
        }
        let culprits = culprits(job);
        self.add(
            job_words(job),
            format!(
                "the table would repeat {found}, {}, because of {}",
                over.join(" and "),
                periods_told(&culprits)
            ),
            "choose periods that are multiples of one another",
        );
        self.involving(culprits, Vec::new());
    }
}

/// How many times as many as there may be, with a digit where it says something.
fn times(count: i128, most: i64) -> String {
    let tenths = count.saturating_mul(10) / i128::from(most);
    if tenths < 100 { format!("{}.{}", tenths / 10, tenths % 10) } else { (tenths / 10).to_string() }
}

/// Most declarations that are told by name.
const TOLD_MAX: usize = 8;

/// "the periods of task `a` (7ms) and task `b` (11ms)".
fn periods_told(culprits: &[Declaration]) -> String {
    let told = |one: &Declaration| format!("{} ({})", one.object, one.period);
    let mut names: Vec<String> = culprits.iter().take(TOLD_MAX).map(told).collect();
    if culprits.len() > TOLD_MAX {
        names.push(format!("{} more", culprits.len() - TOLD_MAX));
    }
    match &names[..] {
        [one] => format!("the period of {one} and how much has it"),
        [all @ .., last] => format!("the periods of {} and {last}", all.join(", ")),
        [] => "the periods".to_owned(),
    }
}

fn job_words(job: &Job) -> String {
    format!("job `{}`", job.name.escape_debug().take(NAME_BYTES_MAX).collect::<String>())
}

fn member_words(job: &Job, member: MemberId) -> String {
    job.members
        .get(member.index())
        .map_or_else(|| member.to_string(), |found| format!("member `{}`", found.name))
}

/// "channel `ab`", or with its group where that is not the world.
pub(crate) fn channel_words(channel: &Channel) -> String {
    format!("channel `{}`", channel_name(channel))
}

/// A channel's name; with its group where that is not the world.
pub(crate) fn channel_name(channel: &Channel) -> String {
    if channel.group == "world" {
        channel.name.clone()
    } else {
        format!("{}/{}", channel.group, channel.name)
    }
}
