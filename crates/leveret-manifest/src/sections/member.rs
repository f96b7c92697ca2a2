//! `[[member]]`.

use super::host::CORE_MAX;
use crate::model::Launch;
use crate::section::{Section, kind_of};
use crate::source::{Located, Problems, printable, quoted};
use crate::values::wrong_kind;
use leveret_protocol::declaration::MemberDeclaration;
use toml::de::DeValue;

pub(crate) struct MemberSection {
    pub(crate) name: Located<String>,
    pub(crate) core: Option<Located<u32>>,
    command: Vec<String>,
    environment: Vec<(String, String)>,
}

impl MemberSection {
    /// A member of which it is not said how it is started.
    pub(crate) fn without_program(name: Located<String>, core: Option<Located<u32>>) -> Self {
        Self { name, core, command: Vec::new(), environment: Vec::new() }
    }

    pub(crate) fn into_parts(self) -> (Launch, MemberDeclaration) {
        let name = self.name.value;
        let core = self.core.map(|core| core.value);
        let launch = Launch { member: name.clone(), command: self.command, environment: self.environment };
        (launch, MemberDeclaration { name, core })
    }
}

pub(crate) fn read(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Option<MemberSection> {
    section.require("name", "\"A\"", problems);
    section.require("command", "[\"program\"]", problems);
    let core = section.integer("core", &(0..=CORE_MAX), problems);
    let core = core.and_then(|core| u32::try_from(core).ok());
    let command = command(section, problems);
    let environment = environment(section, problems);
    Some(MemberSection {
        name: section.name("name", problems)?,
        core: core.map(|value| Located { value, span: section.place("core") }),
        command,
        environment,
    })
}

fn command(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Vec<String> {
    let example = "[\"program\", \"argument\"]";
    // Texts come back only from a list, so a single text is reported there with the remedy.
    let Some(words) = section.texts("command", example, problems) else { return Vec::new() };
    if words.first().is_none_or(|program| program.value.trim().is_empty()) {
        let message = format!("the command of {} names no program", section.label);
        problems.add(section.place("command"), message, format!("write `command = {example}`"));
    }
    for word in &words {
        check_no_nul("command", &word.value, &word.span, problems);
    }
    words.into_iter().map(|word| word.value).collect()
}

fn environment(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Vec<(String, String)> {
    let Some(value) = section.value("environment") else { return Vec::new() };
    let hint = "write `environment = { NAME = \"value\" }`";
    let DeValue::Table(table) = value.get_ref() else {
        problems.add(value.span(), wrong_kind("environment", "a table of texts", value.get_ref()), hint);
        return Vec::new();
    };
    let mut variables = Vec::new();
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("{} cannot name an environment variable", quoted(name));
            problems.add(key.span(), message, "a name is not empty and has no '='");
        }
        match value.get_ref() {
            DeValue::String(text) => {
                check_no_nul(name, text, &value.span(), problems);
                variables.push((name.to_owned(), text.to_string()));
            }
            other => {
                let message =
                    format!("`{}` must be a text, but {} was found", printable(name), kind_of(other));
                problems.add(
                    value.span(),
                    message,
                    format!("write it in quotes: `{} = \"...\"`", printable(name)),
                );
            }
        }
    }
    variables
}

/// The kernel ends arguments and variables at a NUL.
fn check_no_nul(key: &str, text: &str, span: &std::ops::Range<usize>, problems: &mut Problems<'_>) {
    if text.contains('\0') {
        problems.add(span.clone(), format!("`{}` holds a NUL character", printable(key)), "remove it");
    }
}
