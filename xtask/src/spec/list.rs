//! The requirements: one table an entry, one file a group.

use crate::tidy::Finding;
use crate::workspace::TrackedFile;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// The requirements in the order of files and lines, and the sources that they may name.
#[derive(Default)]
pub struct List {
    /// Every requirement.
    pub requirements: Vec<Requirement>,
    sources: Vec<Source>,
}

/// One sentence that a test can show.
pub struct Requirement {
    /// Its stable name.
    pub id: String,
    /// Title of its group.
    pub group: String,
    /// The file with the entry.
    pub path: String,
    /// Line of the entry, from 1.
    pub line: usize,
    /// The sentence.
    pub says: String,
    /// Why it is required.
    pub origin: Origin,
    /// No test shows it yet.
    pub open: bool,
}

/// Where an entry comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The source says so.
    Fact(String),
    /// It follows from the source as we read it.
    Inferred(String),
    /// The sources are silent, or several; we chose.
    Decided(String),
}

impl Origin {
    /// The one of the three that an entry has.
    pub fn of(
        fact: Option<String>,
        inferred: Option<String>,
        decided: Option<String>,
    ) -> Result<Self, String> {
        match (fact, inferred, decided) {
            (Some(source), None, None) => Ok(Self::Fact(source)),
            (None, Some(source), None) => Ok(Self::Inferred(source)),
            (None, None, Some(source)) => Ok(Self::Decided(source)),
            _ => Err("an entry has exactly one of `fact`, `inferred` and `decided`".into()),
        }
    }

    /// `fact`, `inferred` or `decided`, and the source.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Fact(source) => ("fact", source),
            Self::Inferred(source) => ("inferred", source),
            Self::Decided(source) => ("decided", source),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    says: String,
    fact: Option<String>,
    inferred: Option<String>,
    decided: Option<String>,
    #[serde(default)]
    open: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sources {
    source: Vec<Source>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    title: String,
    #[allow(dead_code, reason = "for whoever reads the file")]
    about: String,
    #[allow(dead_code, reason = "for whoever reads the file")]
    address: Option<String>,
}

impl List {
    /// Reads `sources.toml` and the files of `requirements/` below `folder`.
    pub fn read(files: &[TrackedFile], folder: &str, findings: &mut Vec<Finding>) -> Self {
        let mut list = Self::default();
        let sources = format!("{folder}sources.toml");
        match texts(files, &sources).next() {
            Some((path, text)) => match toml::from_str::<Sources>(text) {
                Ok(sources) => list.sources = sources.source,
                Err(error) => findings.push(syntax(path, text, &error)),
            },
            None => findings.push(Finding::new("spec", &sources, 0, "does not exist".into())),
        }
        for (path, text) in texts(files, &format!("{folder}requirements/")) {
            list.read_group(path, text, findings);
        }
        list
    }

    fn read_group(&mut self, path: &str, text: &str, findings: &mut Vec<Finding>) {
        let Some(mut file) = EntryFile::<Entry>::read(path, text, &["title", "prefix"], findings) else {
            return;
        };
        let prefix = file.heads.remove("prefix").unwrap_or_default();
        let group = file.heads.remove("title").unwrap_or_default();
        for (line, id, entry) in file.entries {
            let mut wrong = |message| findings.push(Finding::new("spec", path, line, message));
            if !is_id(&id, &prefix) {
                wrong(format!("'{id}' is no id of this file: {prefix}-WORD-NN, in upper case"));
            }
            if let Some(first) = self.requirements.iter().find(|requirement| requirement.id == id) {
                wrong(format!("{id} is twice: first in {}:{}", first.path, first.line));
                continue;
            }
            if entry.says.trim().is_empty() || !entry.says.ends_with('.') {
                wrong(format!("{id} says no sentence that ends with a full stop"));
            }
            let origin = match Origin::of(entry.fact, entry.inferred, entry.decided) {
                Ok(origin) => origin,
                Err(message) => {
                    wrong(format!("{id}: {message}"));
                    continue;
                }
            };
            if let Err(message) = self.known(&origin) {
                wrong(format!("{id}: {message}"));
            }
            let (group, path) = (group.clone(), path.to_owned());
            let (says, open) = (entry.says, entry.open);
            self.requirements.push(Requirement { id, group, path, line, says, origin, open });
        }
    }

    /// Whether the source is one of the list.
    pub fn known(&self, origin: &Origin) -> Result<(), String> {
        let (_, text) = origin.parts();
        let is_known = |source: &Source| {
            text.strip_prefix(source.title.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
        };
        if self.sources.iter().any(is_known) {
            return Ok(());
        }
        Err(format!("'{text}' begins with no title of sources.toml"))
    }
}

/// `PREFIX-WORD-NN`, with any number of words.
fn is_id(id: &str, prefix: &str) -> bool {
    let Some(words) = id.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let Some((words, number)) = words.rsplit_once('-') else { return false };
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    words.split('-').all(is_word) && number.len() == 2 && number.bytes().all(|c| c.is_ascii_digit())
}

/// The text files at or below a path.
pub fn texts<'a>(files: &'a [TrackedFile], path: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let path = path.to_owned();
    files
        .iter()
        .filter(move |file| file.path.starts_with(&path))
        .filter_map(|file| Some((file.path.as_str(), file.text()?)))
}

/// A file of entries: some texts at its head, then a table for each entry.
pub struct EntryFile<T> {
    /// The texts at the head, by their names.
    pub heads: BTreeMap<String, String>,
    /// Line, name and content of each entry, in the order of lines.
    pub entries: Vec<(usize, String, T)>,
}

impl<T: DeserializeOwned> EntryFile<T> {
    /// Takes a file apart. Entries that are not understood are findings, and left out.
    pub fn read(path: &str, text: &str, heads: &[&str], findings: &mut Vec<Finding>) -> Option<Self> {
        let mut table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                findings.push(syntax(path, text, &error));
                return None;
            }
        };
        let mut file = Self { heads: BTreeMap::new(), entries: Vec::new() };
        for head in heads {
            match table.remove(*head) {
                Some(toml::Value::String(value)) => drop(file.heads.insert((*head).to_owned(), value)),
                _ => {
                    let message = format!("the file does not begin with `{head} = \"...\"`");
                    findings.push(Finding::new("spec", path, 1, message));
                }
            }
        }
        for (name, value) in table {
            let line = line_of(text, &name);
            match value.try_into() {
                Ok(entry) => file.entries.push((line, name, entry)),
                Err(error) => {
                    let message = format!("{name}: {}", error.message());
                    findings.push(Finding::new("spec", path, line, message));
                }
            }
        }
        file.entries.sort_by_key(|(line, ..)| *line);
        Some(file)
    }
}

/// The line on which the table of this name begins, or 1.
pub fn line_of(text: &str, name: &str) -> usize {
    let header = format!("[{name}]");
    text.lines().position(|line| line.trim_end() == header).map_or(1, |at| at + 1)
}

/// What the TOML parser has to say.
pub fn syntax(path: &str, text: &str, error: &toml::de::Error) -> Finding {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    Finding::new("spec", path, line, error.message().to_owned())
}
