//! Words that may not stand in code or comments: the table of `xtask/bans.toml`.

use super::layers::Layers;
use super::{Finding, RustFile};
use crate::source::find_words;
use serde::Deserialize;

/// The table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bans {
    ban: Vec<Ban>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ban {
    name: String,
    words: Vec<String>,
    #[serde(rename = "in")]
    place: Place,
    scope: Scope,
    tiers: Option<Vec<u8>>,
    crates: Option<Vec<String>>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    explained: bool,
    instead: String,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Place {
    Code,
    Comments,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Any,
    Test,
    Shipped,
}

/// Checks one file against every ban.
pub fn check(bans: &Bans, layers: &Layers, file: &RustFile<'_>) -> Vec<Finding> {
    bans.ban
        .iter()
        .filter(|ban| ban.applies(layers, file))
        .flat_map(|ban| match ban.place {
            Place::Code => in_code(ban, file),
            Place::Comments => in_comments(ban, file),
        })
        .collect()
}

impl Ban {
    fn applies(&self, layers: &Layers, file: &RustFile<'_>) -> bool {
        let excepted = self.except.iter().any(|name| {
            *name == file.crate_name || file.path == name || file.path.starts_with(&format!("{name}/"))
        });
        let tier = layers.tier_number(&file.crate_name);
        let tier_fits =
            self.tiers.as_ref().is_none_or(|tiers| tier.is_some_and(|tier| tiers.contains(&tier)));
        let crate_fits = self.crates.as_ref().is_none_or(|crates| crates.contains(&file.crate_name));
        !excepted && tier_fits && crate_fits
    }

    fn finding(&self, file: &RustFile<'_>, line: usize, word: &str) -> Finding {
        let explained = if self.explained { " (or say on the line why it holds)" } else { "" };
        let message = format!("'{word}': {}{explained}", self.instead);
        Finding::new(&self.name, file.path, line, message).about(word)
    }
}

fn in_code(ban: &Ban, file: &RustFile<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for word in &ban.words {
        for at in file.source.find(word) {
            let line = file.source.line_of(at);
            let in_scope = match ban.scope {
                Scope::Any => true,
                Scope::Test => file.source.is_test(at),
                Scope::Shipped => !file.source.is_test(at),
            };
            if in_scope && !(ban.explained && file.source.explanation(line).is_some()) {
                findings.push(ban.finding(file, line, word));
            }
        }
    }
    findings
}

fn in_comments(ban: &Ban, file: &RustFile<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, comment) in file.source.comments.iter().enumerate() {
        for word in ban.words.iter().filter(|word| !find_words(comment, word).is_empty()) {
            findings.push(ban.finding(file, at + 1, word));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    const TABLE: &str = r#"
        [[ban]]
        name = "unwrap"
        words = [".unwrap()"]
        in = "code"
        scope = "shipped"
        except = ["xtask"]
        explained = true
        instead = "an error"

        [[ban]]
        name = "marker"
        words = ["FIXME"]
        in = "comments"
        scope = "any"
        instead = "do it"

        [[ban]]
        name = "impure"
        words = ["std::env"]
        in = "code"
        scope = "shipped"
        tiers = [0]
        instead = "an argument"
    "#;

    fn rules(crate_name: &str, text: &str) -> Vec<String> {
        let bans: Bans = toml::from_str(TABLE).expect("the table of this test is well formed");
        let layers: Layers = toml::from_str(
            "[[crate]]\nname = \"leveret-types\"\ntier = 0\n[[crate]]\nname = \"leveret-os\"\ntier = 1\n[[crate]]\nname = \"xtask\"\ntier = \"dev\"\n",
        )
        .expect("the layers of this test are well formed");
        let source = Source::new(text, false);
        let file = RustFile { path: "a.rs", crate_name: crate_name.into(), text, source };
        check(&bans, &layers, &file).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn an_unwrap_needs_an_explanation() {
        assert_eq!(rules("leveret-os", "fn a() {\n    b.unwrap();\n}\n"), ["unwrap"]);
        assert!(rules("leveret-os", "// b was set above\nlet c = b.unwrap();\n").is_empty());
        assert!(rules("xtask", "let c = b.unwrap();\n").is_empty());
        assert!(rules("leveret-os", "#[cfg(test)]\nmod tests {\n    fn a() { b.unwrap(); }\n}\n").is_empty());
    }

    #[test]
    fn markers_are_found_in_comments_only() {
        assert_eq!(rules("leveret-os", "/// FIXME later\nfn a() {}\n"), ["marker"]);
        assert!(rules("leveret-os", "let a = \"FIXME\";\n").is_empty());
    }

    #[test]
    fn purity_is_asked_of_pure_crates() {
        assert_eq!(rules("leveret-types", "use std::env;\n"), ["impure"]);
        assert!(rules("leveret-os", "use std::env;\n").is_empty());
    }
}
