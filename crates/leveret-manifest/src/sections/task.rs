//! `[[task]]`.

use super::host::CORE_MAX;
use crate::section::Section;
use crate::source::{Located, Problems};
use crate::values::{DURATION_MAX, integer_value};
use leveret_plan::{CoreChoice, OverrunPolicy, PRIORITY_MAX};
use leveret_protocol::declaration::{GROUP_WORLD, SporadicDeclaration, TaskDeclaration};
use leveret_types::Nanos;
use toml::de::DeValue;

pub(crate) struct TaskSection {
    pub(crate) name: Located<String>,
    /// How errors name it.
    pub(crate) label: String,
    pub(crate) member: Option<Located<String>>,
    pub(crate) core: Option<Located<CoreChoice>>,
    pub(crate) reads: Vec<Located<String>>,
    pub(crate) writes: Vec<Located<String>>,
    declaration: TaskDeclaration,
    /// Of a task without a period: it has a priority.
    sporadic: Option<SporadicDeclaration>,
}

impl TaskSection {
    /// Whether it runs beside the time table.
    pub(crate) fn is_sporadic(&self) -> bool {
        self.sporadic.is_some()
    }

    /// The processor that it names, if any.
    pub(crate) fn pinned(&self) -> Option<Located<u32>> {
        let core = self.core.as_ref()?;
        match core.value {
            CoreChoice::Pinned(number) => Some(Located { value: number, span: core.span.clone() }),
            CoreChoice::Any => None,
        }
    }

    /// The member's name and what is declared of work beside the time table.
    pub(crate) fn into_sporadic(self) -> (String, SporadicDeclaration) {
        let member = self.member.map(|member| member.value).unwrap_or_default();
        let core = self.core.map(|core| core.value);
        (member, SporadicDeclaration { name: self.name.value, core, ..self.sporadic.unwrap_or_default() })
    }

    /// The member's name and what is declared.
    pub(crate) fn into_declaration(self) -> (String, TaskDeclaration) {
        let member = self.member.map(|member| member.value).unwrap_or_default();
        let values = |list: Vec<Located<String>>| list.into_iter().map(|name| name.value).collect();
        let declaration = TaskDeclaration {
            name: self.name.value,
            core: self.core.map(|core| core.value),
            reads: values(self.reads),
            writes: values(self.writes),
            ..self.declaration
        };
        (member, declaration)
    }
}

pub(crate) fn read(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Option<TaskSection> {
    section.require("name", "\"A.user\"", problems);
    section.require("member", "\"A\"", problems);
    let policies =
        [("skip", OverrunPolicy::Skip), ("late", OverrunPolicy::Late), ("stop", OverrunPolicy::Stop)];
    let positive = Nanos(1)..=DURATION_MAX;
    let window = section.window(problems);
    let declaration = TaskDeclaration {
        period: section.duration("period", &positive, problems),
        release: window.map(|(release, _)| release),
        deadline: window.map(|(_, deadline)| deadline),
        budget: section.duration("budget", &positive, problems),
        preemptible: section.boolean("preemptible", problems),
        overrun: section.choice("overrun", &policies, problems),
        ..TaskDeclaration::default()
    };
    let member = section.text("member", problems);
    let core = core(section, problems);
    let reads = section.texts("reads", "[\"AB\"]", problems).unwrap_or_default();
    let writes = section.texts("writes", "[\"AB\"]", problems).unwrap_or_default();
    let sporadic = sporadic(section, declaration.budget, problems);
    let name = section.name("name", problems)?;
    Some(TaskSection {
        name,
        label: section.label.clone(),
        member,
        core,
        reads,
        writes,
        declaration,
        sporadic,
    })
}

/// A priority makes a task one that runs beside the time table, once for each firing of an event.
fn sporadic(
    section: &Section<'_, '_>,
    budget: Option<Nanos>,
    problems: &mut Problems<'_>,
) -> Option<SporadicDeclaration> {
    let has_priority = section.value("priority").is_some();
    let (foreign, message, hint): (&[&str], _, _) = if has_priority {
        let message = format!("means nothing for {}, which has a priority", section.label);
        let keys = &["period", "window", "reads", "writes", "preemptible", "overrun"];
        (keys, message, "remove this key, or remove `priority`")
    } else {
        let message = format!("is for tasks with a priority, and {} has none", section.label);
        let hint = "add a `priority`, or write `window = [\"RELEASE\", \"DEADLINE\"]` and a `period`";
        (&["event", "interval", "deadline"], message, hint)
    };
    for key in foreign.iter().filter(|key| section.value(key).is_some()) {
        problems.add(section.place(key), format!("`{key}` {message}"), hint);
    }
    let priority = section.integer("priority", &(1..=u64::from(PRIORITY_MAX)), problems);
    let event = section.name("event", problems).map(|event| (GROUP_WORLD.to_owned(), event.value));
    let times = if has_priority { served_times(section, problems) } else { return None };
    Some(SporadicDeclaration {
        event,
        priority: priority.and_then(|priority| u8::try_from(priority).ok()),
        interval: times[0],
        deadline: times[1],
        budget,
        ..SporadicDeclaration::default()
    })
}

/// Interval and deadline of what is served beside the time table.
pub(super) fn served_times(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> [Option<Nanos>; 2] {
    let times =
        ["interval", "deadline"].map(|key| section.duration(key, &(Nanos(1)..=DURATION_MAX), problems));
    if section.value("deadline").is_some() && section.value("interval").is_none() {
        let message =
            format!("{} has a deadline, but says nothing of how often it may be started", section.label);
        problems.add(
            section.place("deadline"),
            message,
            "add its smallest `interval`, such as `interval = \"10ms\"`",
        );
    }
    times
}

/// A processor number or `"any"`.
fn core(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Option<Located<CoreChoice>> {
    let value = section.value("core")?;
    let choice = match value.get_ref() {
        DeValue::String(_) => section.choice("core", &[("any", CoreChoice::Any)], problems)?,
        _ => {
            let core = integer_value("core", value, &(0..=CORE_MAX), problems)?;
            CoreChoice::Pinned(u32::try_from(core).ok()?)
        }
    };
    Some(Located { value: choice, span: value.span() })
}
