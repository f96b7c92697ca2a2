//! Names: what they may hold, and that each stands once.

use crate::section::Section;
use crate::source::{Located, Problems, quoted};
use leveret_types::NAME_BYTES_MAX;
use std::collections::BTreeMap;
use std::ops::Range;

impl Section<'_, '_> {
    /// A name; reported when it breaks the rules, but yielded all the same so that references to it hold.
    pub(crate) fn name(&self, key: &str, problems: &mut Problems<'_>) -> Option<Located<String>> {
        let name = self.text(key, problems)?;
        check_name(key, &name, problems);
        Some(name)
    }
}

fn check_name(key: &str, name: &Located<String>, problems: &mut Problems<'_>) {
    let text = &name.value;
    let rule = "a name has letters (a-z, A-Z), digits, '.', '_' and '-', and starts with a letter or a digit";
    if text.is_empty() {
        problems.add(name.span.clone(), format!("the {key} is empty"), rule);
    } else if text.len() > NAME_BYTES_MAX {
        let message = format!("the {key} has {} bytes; the most is {NAME_BYTES_MAX}", text.len());
        problems.add(name.span.clone(), message, "choose a shorter one");
    } else if let Some(bad) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || "._-".contains(*c))) {
        let shown = if bad.is_control() { bad.escape_default().to_string() } else { bad.to_string() };
        problems.add(name.span.clone(), format!("the {key} {} holds '{shown}'", quoted(text)), rule);
    } else if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        problems.add(name.span.clone(), format!("the {key} {} starts with a sign", quoted(text)), rule);
    }
}

/// Finds names that stand twice.
pub(crate) struct Unique {
    kind: &'static str,
    seen: BTreeMap<String, Range<usize>>,
}

impl Unique {
    pub(crate) fn new(kind: &'static str) -> Self {
        Self { kind, seen: BTreeMap::new() }
    }

    /// Notes a name; `key` is what must differ, which is more than the name where names live in groups.
    pub(crate) fn note(&mut self, key: String, name: &Located<String>, problems: &mut Problems<'_>) {
        match self.seen.get(&key) {
            Some(first) => problems.add_related(
                name.span.clone(),
                format!("two {}s are named {}", self.kind, quoted(&name.value)),
                "give one of them another name",
                (first, "the first is here"),
            ),
            None => {
                self.seen.insert(key, name.span.clone());
            }
        }
    }
}
