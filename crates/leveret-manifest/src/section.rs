//! One table of the manifest, read against its schema.

use crate::schema::{Schema, unknown_key_hint};
use crate::source::{Problems, printable, quoted};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table with its place and the words by which errors name it.
pub(crate) struct Section<'t, 'i> {
    table: &'t DeTable<'i>,
    /// Where its header stands.
    pub(crate) span: Range<usize>,
    /// Such as `[[task]] "A.user"`.
    pub(crate) label: String,
}

impl<'t, 'i> Section<'t, 'i> {
    /// Takes a table and reports the keys that do not belong there.
    fn new(
        table: &'t DeTable<'i>,
        span: Range<usize>,
        schema: &'static Schema,
        problems: &mut Problems<'_>,
    ) -> Self {
        let name = table.get("name").and_then(|name| name.get_ref().as_str());
        let label = match name {
            Some(name) if schema.header.starts_with("[[") => format!("{} {}", schema.header, quoted(name)),
            _ => schema.header.to_owned(),
        };
        for key in table.keys().filter(|key| !schema.keys.contains(&key.get_ref().as_ref())) {
            problems.add(
                key.span(),
                format!("unknown key `{}` in {label}", printable(key.get_ref())),
                unknown_key_hint(key.get_ref(), schema),
            );
        }
        Self { table, span, label }
    }

    /// The value of a key, if it is there.
    pub(crate) fn value(&self, key: &str) -> Option<&'t Spanned<DeValue<'i>>> {
        self.table.get(key)
    }

    /// Where a key's value stands, or the header when it is not there.
    pub(crate) fn place(&self, key: &str) -> Range<usize> {
        self.value(key).map_or_else(|| self.span.clone(), Spanned::span)
    }

    /// Reports a key that must be there and is not.
    pub(crate) fn require(&self, key: &str, example: &str, problems: &mut Problems<'_>) {
        if self.value(key).is_none() {
            problems.add(
                self.span.clone(),
                format!("{} has no `{key}`", self.label),
                format!("add a line such as `{key} = {example}`"),
            );
        }
    }
}

/// Reports the keys of the top level that name no kind of table.
pub(crate) fn check_top_level(root: &DeTable<'_>, tables: &[&Schema], problems: &mut Problems<'_>) {
    use leveret_protocol::nearest::nearest;
    for key in root.keys() {
        let found = key.get_ref().as_ref();
        if tables.iter().any(|schema| schema.name == found) {
            continue;
        }
        let near = nearest(found, tables.iter().map(|schema| schema.name));
        let near = near.and_then(|name| tables.iter().find(|schema| schema.name == name));
        let homes: Vec<_> =
            tables.iter().filter(|schema| schema.keys.contains(&found)).map(|schema| schema.header).collect();
        let hint = match near {
            Some(schema) => format!("did you mean {}?", schema.header),
            None if !homes.is_empty() => format!("`{found}` belongs in {}", homes.join(" or ")),
            None => {
                let headers: Vec<_> = tables.iter().map(|schema| schema.header).collect();
                format!("the tables are {}", headers.join(", "))
            }
        };
        problems.add(key.span(), format!("unknown key `{}` at the top level", printable(found)), hint);
    }
}

/// The one table of a kind that is written with single brackets.
pub(crate) fn single<'t, 'i>(
    root: &'t DeTable<'i>,
    schema: &'static Schema,
    problems: &mut Problems<'_>,
) -> Option<Section<'t, 'i>> {
    let value = root.get(schema.name)?;
    match value.get_ref() {
        DeValue::Table(table) => Some(Section::new(table, value.span(), schema, problems)),
        other => {
            problems.add(
                value.span(),
                format!("`{}` must be a table, but {} was found", schema.name, kind_of(other)),
                format!("write it once, with single brackets: {}", schema.header),
            );
            None
        }
    }
}

/// All tables of a kind that is written with double brackets.
pub(crate) fn several<'t, 'i>(
    root: &'t DeTable<'i>,
    schema: &'static Schema,
    problems: &mut Problems<'_>,
) -> Vec<Section<'t, 'i>> {
    let Some(value) = root.get(schema.name) else { return Vec::new() };
    let hint =
        format!("write each {} under its own header, in double brackets: {}", schema.name, schema.header);
    let entries = match value.get_ref() {
        DeValue::Array(entries) => entries,
        DeValue::Table(table) => {
            problems.add(value.span(), format!("[{}] has single brackets", schema.name), hint);
            return vec![Section::new(table, value.span(), schema, problems)];
        }
        other => {
            problems.add(
                value.span(),
                format!("`{}` must be a list of tables, but {} was found", schema.name, kind_of(other)),
                hint,
            );
            return Vec::new();
        }
    };
    let mut sections = Vec::new();
    for entry in entries {
        match entry.get_ref() {
            DeValue::Table(table) => sections.push(Section::new(table, entry.span(), schema, problems)),
            other => problems.add(
                entry.span(),
                format!("each {} must be a table, but {} was found", schema.name, kind_of(other)),
                hint.clone(),
            ),
        }
    }
    sections
}

/// A value's kind in words, with the value where it is short.
pub(crate) fn kind_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text {}", quoted(text)),
        DeValue::Integer(number) => format!("the number {}", printable(number.as_str())),
        DeValue::Float(number) => format!("the number {}", printable(number.as_str())),
        DeValue::Boolean(value) => format!("{value}"),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
