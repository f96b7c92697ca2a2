//! What this machine lacks for real time, each with the lines that fix it.
//!
//! Rights are really tried, on a scratch thread, rather than derived from settings. Judging is apart from asking,
//! so that every judgement is tested with values this machine does not have.

mod evidence;
mod machine;
mod memory;
mod rights;

use crate::facts::Facts;
use serde::{Deserialize, Serialize};

/// How something stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As real time wants it.
    Ok,
    /// Not so; see the loss and the fix.
    Missing,
    /// It could not be found out.
    Unknown,
}

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// What was looked at.
    pub name: String,
    /// How it stands.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What is lost where it is missing; empty when nothing is.
    pub loss: String,
    /// Shell lines that fix it, in order; empty where nothing can or need be done.
    pub fix: Vec<String>,
}

impl Finding {
    fn ok(name: &str, found: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            state: State::Ok,
            found: found.into(),
            loss: String::new(),
            fix: Vec::new(),
        }
    }

    fn missing(name: &str, found: impl Into<String>, loss: &str, fix: &[&str]) -> Self {
        Self::other(State::Missing, name, found.into(), loss, fix)
    }

    fn unknown(name: &str, found: impl Into<String>, loss: &str, fix: &[&str]) -> Self {
        Self::other(State::Unknown, name, found.into(), loss, fix)
    }

    fn other(state: State, name: &str, found: String, loss: &str, fix: &[&str]) -> Self {
        let fix = fix.iter().map(|line| (*line).to_owned()).collect();
        Self { name: name.to_owned(), state, found, loss: loss.to_owned(), fix }
    }
}

/// Looks at everything, in a fixed order. Changes nothing on the machine.
pub fn examine() -> Vec<Finding> {
    let facts = Facts::gather();
    let mut findings = rights::examine(&facts);
    findings.extend(machine::examine(&facts));
    findings.extend(memory::examine());
    findings.extend(evidence::examine());
    findings
}

/// Adds words to the kernel's command line on Debian and its relatives.
fn boot_with(words: &str) -> Vec<String> {
    vec![
        format!("sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{words} /' /etc/default/grub"),
        "sudo update-grub && sudo reboot".to_owned(),
    ]
}

/// Sets a kernel setting now and at every boot.
fn sysctl(setting: &str) -> Vec<String> {
    vec![format!("echo '{setting}' | sudo tee -a /etc/sysctl.d/90-leveret.conf && sudo sysctl --system")]
}

fn lines(owned: &[String]) -> Vec<&str> {
    owned.iter().map(String::as_str).collect()
}

/// Gives a group a limit; takes a new login.
fn limit(item: &str, value: &str) -> Vec<String> {
    vec![
        "sudo groupadd -f realtime && sudo usermod -aG realtime \"$USER\"".to_owned(),
        format!("echo '@realtime - {item} {value}' | sudo tee -a /etc/security/limits.d/90-leveret.conf"),
        "# log out and in again".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANUAL: &str = include_str!("../../../docs/doctor.md");

    fn check(findings: &[Finding]) {
        let mut names: Vec<_> = findings.iter().map(|finding| &finding.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), findings.len(), "two findings of one name");
        for finding in findings {
            assert!(!finding.found.is_empty(), "{finding:?}");
            assert_eq!(finding.state == State::Ok, finding.loss.is_empty(), "{finding:?}");
            assert!(finding.state != State::Ok || finding.fix.is_empty(), "{finding:?}");
            assert!(
                MANUAL.contains(&format!("\n### {}\n", finding.name)),
                "the manual lacks {}",
                finding.name
            );
        }
    }

    #[test]
    fn every_finding_is_whole_and_in_the_manual() {
        let findings = examine();
        check(&findings);
        let text = serde_json::to_string(&findings).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Finding>>(&text).unwrap(), findings);
        assert_eq!(MANUAL.matches("\n### ").count(), findings.len(), "the manual has a section too many");
    }

    #[test]
    fn an_ordinary_user_gets_the_same_list_with_more_to_fix() {
        let as_user = crate::user::in_unprivileged_thread(examine).unwrap();
        check(&as_user);
        let as_self = examine();
        let names =
            |findings: &[Finding]| findings.iter().map(|finding| finding.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&as_user), names(&as_self));
        for (user, own) in as_user.iter().zip(&as_self) {
            assert!(own.state == State::Ok || user.state != State::Ok, "{user:?} {own:?}");
        }
    }
}
