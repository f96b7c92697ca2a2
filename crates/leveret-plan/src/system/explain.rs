//! Why a system has no plan.

use super::chain::ChainPart;
use super::model::{Chain, Window};
use super::plan::PlannedChain;
use super::validate::SystemError;
use crate::network::{NetworkRefusal, Traffic};
use crate::{Refusal, RefusalKind};
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Why there is no plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SystemRefusal {
    /// The system's parts do not fit together.
    Invalid(SystemError),
    /// A host.
    Host {
        /// Its name.
        host: String,
        /// Its planner's reason.
        refusal: Box<Refusal>,
        /// Windows that the planner had chosen.
        chosen: Vec<(String, Window)>,
    },
    /// The network.
    Network {
        /// Its planner's reason.
        refusal: Box<NetworkRefusal>,
        /// What was asked of it.
        traffic: Box<Traffic>,
        /// Windows that the planner had chosen.
        chosen: Vec<(String, Window)>,
    },
    /// A chain that takes longer than it may.
    Chain {
        /// Its name.
        chain: String,
        /// Which limit.
        limit: ChainLimit,
        /// What it is.
        most: Nanos,
        /// What the chain takes.
        takes: Nanos,
        /// Whether no plan takes less; else it is what the last plan that was tried takes.
        least: bool,
        /// Where that comes from.
        parts: Vec<ChainPart>,
    },
    /// A chain whose hosts repeat together only after too many instances to look at.
    Unfollowed {
        /// Its name.
        chain: String,
    },
    /// The planner found something that the checker did not accept: a fault of ours.
    Rejected {
        /// What the checker said.
        violation: String,
    },
}

/// A limit of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChainLimit {
    /// From an event to the first output that reflects it.
    Reaction,
    /// From a reading to the last output that uses it.
    Age,
}

impl ChainLimit {
    /// What a chain declares.
    pub(super) fn of(self, chain: &Chain) -> Option<Nanos> {
        match self {
            Self::Reaction => chain.reaction,
            Self::Age => chain.age,
        }
    }

    /// What a chain takes.
    pub(super) fn takes(self, planned: PlannedChain) -> Nanos {
        match self {
            Self::Reaction => planned.reaction,
            Self::Age => planned.age,
        }
    }

    /// By how much a chain takes more than it may.
    pub(super) fn over(self, chain: &Chain, planned: PlannedChain) -> Nanos {
        self.of(chain).map_or(Nanos::ZERO, |limit| self.takes(planned).saturating_sub(limit))
    }

    /// The key of the manifest.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Reaction => "reaction",
            Self::Age => "age",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Reaction => "reaction time",
            Self::Age => "data age",
        }
    }
}

/// Refuses a chain whose parts take longer than a limit of it.
pub(super) fn refuse_chain(
    chain: &Chain,
    limit: ChainLimit,
    parts: Vec<ChainPart>,
    least: bool,
) -> Option<SystemRefusal> {
    let takes = parts.iter().fold(Nanos::ZERO, |sum, part| sum.saturating_add(part.length));
    let most = limit.of(chain).filter(|most| takes > *most)?;
    Some(SystemRefusal::Chain { chain: chain.name.clone(), limit, most, takes, least, parts })
}

/// Windows that are named one by one.
const NAMED_MAX: usize = 4;

fn chosen_words(chosen: &[(String, Window)]) -> String {
    if chosen.is_empty() {
        return String::new();
    }
    let word =
        |(name, window): &(String, Window)| format!("`{name}` [{}, {}]", window.release, window.deadline);
    let named: Vec<_> = chosen.iter().take(NAMED_MAX).map(word).collect();
    let more = match chosen.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "\nthat is so with the last windows that were tried for channels that declare none: {}{more}",
        named.join(", ")
    )
}

impl SystemRefusal {
    /// Whether there is provably no plan.
    pub fn is_proven(&self) -> bool {
        match self {
            Self::Invalid(_) => true,
            Self::Host { refusal, chosen, .. } => {
                chosen.is_empty() && !matches!(refusal.kind, RefusalKind::NotFound { .. })
            }
            Self::Network { refusal, chosen, .. } => chosen.is_empty() && refusal.is_proven(),
            Self::Chain { least, .. } => *least,
            Self::Unfollowed { .. } | Self::Rejected { .. } => false,
        }
    }

    /// What is short of time, in words: a core, a link, or what takes most of a chain.
    pub(super) fn bottleneck(&self) -> Option<String> {
        match self {
            Self::Host { host, refusal, .. } => {
                let overload = refusal.overload.as_ref().or(refusal.bottleneck.as_ref());
                let cores: BTreeSet<_> = refusal.conflict.iter().filter_map(|one| one.core).collect();
                let core = match (overload, cores.first()) {
                    (Some(overload), _) => overload.core,
                    (None, first) => first.copied().filter(|_| cores.len() == 1),
                };
                let core = core.map_or_else(|| "the cores".to_owned(), |core| format!("core {core}"));
                Some(format!("{core} of host \"{host}\""))
            }
            Self::Network { refusal, traffic, .. } => {
                refusal.bottleneck(traffic).map(|link| format!("link {}", traffic.network.link_name(link)))
            }
            Self::Chain { chain, parts, .. } => {
                let longest = parts.iter().max_by_key(|part| part.length);
                longest.map(|part| format!("{part} of chain \"{chain}\""))
            }
            Self::Invalid(_) | Self::Unfollowed { .. } | Self::Rejected { .. } => None,
        }
    }

    /// The reason, in words.
    pub fn reason(&self) -> String {
        match self {
            Self::Invalid(error) => error.to_string(),
            Self::Host { host, refusal, chosen } => {
                format!("host \"{host}\": {}{}", refusal.cause(), chosen_words(chosen))
            }
            Self::Network { refusal, traffic, chosen } => {
                format!("the network: {}{}", refusal.reason(traffic), chosen_words(chosen))
            }
            Self::Chain { chain, limit, most, takes, least, parts } => {
                let limit = limit.words();
                let takes = match (*takes == Nanos::MAX, least) {
                    (true, _) => format!("has no bound for its {limit}"),
                    (_, true) => format!("has a {limit} of at least {takes}"),
                    (_, false) => format!("has a {limit} of {takes} in the last plan that was tried"),
                };
                let listed: Vec<_> = parts.iter().map(ChainPart::to_string).collect();
                let longest = parts.iter().max_by_key(|part| part.length);
                let most_of_it = longest.map_or_else(String::new, |part| format!("; most of it is {part}"));
                format!(
                    "chain \"{chain}\" {takes}, and its limit is {most}: {}{most_of_it}",
                    listed.join(", ")
                )
            }
            Self::Unfollowed { chain } => format!(
                "chain \"{chain}\" repeats only after more instances than can be followed; make the periods of its hosts multiples of each \
                 other"
            ),
            Self::Rejected { violation } => {
                format!(
                    "the planner's own plan breaks a rule, so it is not used; please report it: {violation}"
                )
            }
        }
    }
}
