//! The list of mutants that no test kills. A line reads `AREA MUTANT -- REASON`. Empty lines and lines that begin with `#` are skipped.

use super::Outcomes;
use std::collections::BTreeSet;

/// Where the list lies.
pub const PATH: &str = "xtask/mutants-survivors.txt";

/// What the list accepts, each with its area.
pub struct Survivors(BTreeSet<(String, String)>);

impl Survivors {
    /// Reads the list.
    ///
    /// # Errors
    /// The first line that is not well formed, or stands there twice.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut listed = BTreeSet::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{PATH}:{}", index + 1);
            let (entry, reason) =
                line.split_once(" -- ").ok_or(format!("{place}: no reason; write ` -- REASON`"))?;
            let (area, mutant) = entry.split_once(' ').ok_or(format!("{place}: no area"))?;
            if reason.trim().is_empty() {
                return Err(format!("{place}: the reason is empty"));
            }
            if !listed.insert((area.to_owned(), mutant.trim().to_owned())) {
                return Err(format!("{place}: the same mutant stands there twice"));
            }
        }
        Ok(Self(listed))
    }
}

/// What is wrong with the list, or with the tests, after a run.
pub fn judge(area: &str, survivors: &Survivors, outcomes: &Outcomes) -> Vec<String> {
    let is_listed = |name: &String| survivors.0.contains(&(area.to_owned(), name.clone()));
    let unlisted = outcomes.survived.iter().filter(|name| !is_listed(name));
    let mut findings: Vec<String> = unlisted
        .map(|name| format!("{area}: survives: {name}\n  write a test that fails with it, or list it in {PATH} with a reason"))
        .collect();
    for (_, name) in survivors.0.iter().filter(|(of, _)| of == area) {
        if outcomes.killed.contains(name) {
            findings.push(format!("{area}: killed: {name}\n  remove its line from {PATH}"));
        } else if outcomes.is_whole && !outcomes.known.contains(name) {
            findings.push(format!(
                "{area}: there is no such mutant any more: {name}\n  remove its line from {PATH}"
            ));
        }
    }
    if outcomes.known.is_empty() {
        findings.push(format!("{area}: there is no mutant in what was asked for: nothing was tried"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(killed: &[&str], survived: &[&str]) -> Outcomes {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let known = set(&[killed, survived].concat());
        Outcomes { killed: set(killed), survived: set(survived), known, is_whole: false }
    }

    #[test]
    fn the_list_only_shrinks() {
        let list = Survivors::parse("# why\n\nmemory a.rs: x #1 -- no difference\nmemory a.rs: y #1 -- r\n");
        let list = list.expect("well formed");
        assert_eq!(judge("memory", &list, &outcomes(&["a.rs: z #1"], &["a.rs: x #1"])), [""; 0]);
        let found = judge("memory", &list, &outcomes(&["a.rs: x #1"], &["a.rs: z #1"]));
        assert!(found[0].contains("survives: a.rs: z #1") && found[1].contains("killed: a.rs: x #1"));
        assert_eq!(judge("checker", &list, &outcomes(&["a.rs: x #1"], &[])), [""; 0], "of another area");
    }

    #[test]
    fn what_is_listed_or_asked_for_in_vain_is_found() {
        let list = Survivors::parse("memory a.rs: x #1 -- r").expect("well formed");
        let part = outcomes(&["a.rs: z #1"], &[]);
        assert_eq!(judge("memory", &list, &part), [""; 0], "it may be in another part");
        let whole = Outcomes { is_whole: true, ..part };
        assert!(judge("memory", &list, &whole)[0].contains("no such mutant any more: a.rs: x #1"));
        assert!(judge("memory", &list, &outcomes(&[], &[]))[0].contains("nothing was tried"));
    }

    #[test]
    fn every_line_has_a_reason() {
        for wrong in ["memory a.rs: x", "memory a.rs: x -- ", "memory -- r", "m a -- r\nm a -- r"] {
            assert!(Survivors::parse(wrong).is_err(), "{wrong}");
        }
    }
}
