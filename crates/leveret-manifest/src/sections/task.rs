//! `[[task]]`.

use super::host::CORE_MAX;
use crate::section::Section;
use crate::source::{Located, Problems};
use crate::values::{DURATION_MAX, integer_value};
use leveret_plan::{CoreChoice, OverrunPolicy};
use leveret_protocol::declaration::TaskDeclaration;
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
}

impl TaskSection {
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
    let name = section.name("name", problems)?;
    Some(TaskSection { name, label: section.label.clone(), member, core, reads, writes, declaration })
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
