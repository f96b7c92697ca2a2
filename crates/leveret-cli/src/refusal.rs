//! The refusal of a network: its conflicts and what would resolve them, as printed and for programs.

use crate::network::{self, Sought, would_fit};
use crate::output::Paint;
use leveret_manifest::NetworkManifest;
use leveret_plan::network::{
    ChangeFields, NetworkConflict, NetworkExplanation, NetworkRefusal, NetworkRemedy, Traffic, TrafficError,
    explain_network,
};
use serde::Serialize;

/// All that is told of a refusal, with at most so many remedies for each conflict.
pub fn explained(
    manifest: &NetworkManifest,
    refusal: NetworkRefusal,
    sought: Sought,
    remedies: usize,
) -> NetworkExplanation {
    explain_network(&manifest.traffic, refusal, sought.effort, remedies)
}

/// A refusal for people, with changes that would fit.
pub fn render(manifest: &NetworkManifest, told: &NetworkExplanation, paint: Paint) -> String {
    let traffic = &manifest.traffic;
    let is_refused = |conflict: &NetworkConflict| {
        conflict.refusal.is_proven() || matches!(conflict.refusal, NetworkRefusal::Late(_))
    };
    let refused = told.conflicts.iter().any(is_refused);
    let word = if refused { "refused" } else { network::NOT_FOUND };
    let is_open = |one: &NetworkConflict| matches!(one.refusal, NetworkRefusal::NotFound { .. });
    let further = if told.conflicts.iter().any(is_open) { network::SEARCH_FURTHER } else { "" };
    let mut text = format!("{}: network \"{}\"\n", paint.red(word), manifest.name);
    match &told.conflicts[..] {
        [one] => {
            text += &format!("  {}\n", one.reason(traffic));
            let advice: Vec<_> = one.remedies.iter().map(|remedy| remedy.words(traffic)).collect();
            text += further;
            if refused || !advice.is_empty() {
                text += &would_fit(&advice);
            }
        }
        several => {
            let count = several.len() + told.more;
            text += &format!("  {count} conflicts; all of them have to be resolved:\n");
            for (index, one) in several.iter().enumerate() {
                let reason = one.reason(traffic).replace('\n', "\n   ");
                text += &format!("  {}. {reason}\n{}", index + 1, resolves(one, traffic));
            }
            text += "  Each change was planned without what those conflicts name that remain after it: once they are resolved, it may take more.\n";
            text += further;
        }
    }
    if told.more > 0 {
        text += &format!("  and {} more, which are listed when these are resolved.\n", told.more);
    }
    if told.together {
        text += "The first change of each, made together, would fit.\n";
    }
    if refused && !told.is_complete && told.conflicts.iter().any(|one| !one.refusal.streams().is_empty()) {
        text += "Whether there are further conflicts is not known: no plan was found of the channels that are not named.\n";
    }
    text
}

/// What resolves one of several conflicts.
fn resolves(conflict: &NetworkConflict, traffic: &Traffic) -> String {
    let Some(first) = conflict.remedies.first() else {
        return "     No single change that was tried resolves it.\n".to_owned();
    };
    let are_alike = conflict.remedies.iter().all(|other| other.remain == first.remain);
    let head = if are_alike { format!("; {}", remaining(first.remain)) } else { String::new() };
    let mut text = format!("     Any one of these resolves it{head}:\n");
    for remedy in &conflict.remedies {
        let tail = if are_alike { String::new() } else { format!("; {}", remaining(remedy.remain)) };
        text += &format!("       - {}{tail}\n", remedy.words(traffic));
    }
    text
}

fn remaining(count: usize) -> String {
    match count {
        0 => "no other remains".to_owned(),
        1 => "1 other remains".to_owned(),
        more => format!("{more} others remain"),
    }
}

/// A change for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Remedy {
    /// In words.
    pub sentence: String,
    /// In numbers.
    #[serde(flatten)]
    pub change: ChangeFields,
}

/// A change of a network for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Resolved {
    #[serde(flatten)]
    remedy: Remedy,
    /// Whether one step less provably does not do.
    least: bool,
    /// Conflicts that remain after it.
    remaining: usize,
}

/// A conflict for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Conflict {
    reason: String,
    /// Whether it is proven.
    infeasible: bool,
    /// Channels that do not go together.
    streams: Vec<String>,
    /// Whether without any one of them the others have a plan.
    minimal: bool,
    /// The link that is short of time.
    bottleneck: Option<String>,
    /// Single changes that resolve it, each planned.
    remedies: Vec<Resolved>,
}

/// A refusal for programs; the first conflict once more where there was always one.
#[derive(Clone, Debug, Serialize)]
pub struct Refused {
    /// Whether it is known that there is no plan.
    infeasible: bool,
    reason: Option<String>,
    /// Channels of the first conflict.
    streams: Vec<String>,
    /// Changes that resolve the first conflict.
    remedies: Vec<Resolved>,
    /// The conflicts that are told.
    conflicts: Vec<Conflict>,
    /// How many more were found.
    more: usize,
    /// Whether the channels that are not named have a plan.
    complete: bool,
    /// Whether the first changes of all conflicts together were planned.
    together: bool,
}

impl Refused {
    /// Of an explanation; of none: admitted.
    pub fn new(traffic: &Traffic, told: Option<&NetworkExplanation>) -> Self {
        let conflicts: Vec<_> = told
            .map_or(&[][..], |told| &told.conflicts)
            .iter()
            .map(|one| Conflict::new(traffic, one))
            .collect();
        let first = conflicts.first();
        Self {
            infeasible: conflicts.iter().any(|one| one.infeasible),
            reason: first.map(|one| one.reason.clone()),
            streams: first.map_or_else(Vec::new, |one| one.streams.clone()),
            remedies: first.map_or_else(Vec::new, |one| one.remedies.clone()),
            more: told.map_or(0, |told| told.more),
            complete: told.is_none_or(|told| told.is_complete),
            together: told.is_some_and(|told| told.together),
            conflicts,
        }
    }
}

impl Conflict {
    fn new(traffic: &Traffic, conflict: &NetworkConflict) -> Self {
        let refusal = &conflict.refusal;
        let streams = match refusal {
            NetworkRefusal::Late(late) => vec![traffic.flows[late.flow].name.clone()],
            NetworkRefusal::Invalid(TrafficError::Stream { name, .. }) => vec![name.clone()],
            other => other.streams().iter().map(|stream| traffic.name(*stream).to_owned()).collect(),
        };
        let resolved = |remedy: &NetworkRemedy| Resolved {
            remedy: Remedy { sentence: remedy.words(traffic), change: remedy.change.fields(traffic) },
            least: remedy.is_least,
            remaining: remedy.remain,
        };
        Self {
            reason: conflict.reason(traffic),
            infeasible: refusal.is_proven(),
            streams,
            minimal: conflict.is_minimal,
            bottleneck: refusal.bottleneck(traffic).map(|link| traffic.network.link_name(link)),
            remedies: conflict.remedies.iter().map(resolved).collect(),
        }
    }
}
