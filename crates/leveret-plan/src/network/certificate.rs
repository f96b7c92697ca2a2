//! What shows that there is no plan, for a checker that trusts nobody.

use super::exact::{Verdict, decide};
use super::explain::{ALONE_STEPS, NetworkRefusal, unavoidable};
use super::model::Traffic;
use super::problem::Problem;
use super::proof::Proof;
use super::watch::Watch;
use leveret_types::{LinkId, Nanos, StreamId};
use serde::{Deserialize, Serialize};

/// Why some streams have no plan together, whatever else moves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certificate {
    /// More must be on a link within a stretch of time than fits.
    Overload {
        /// The link.
        link: LinkId,
        /// Begin of the stretch.
        from: Nanos,
        /// Its end.
        to: Nanos,
        /// Whose messages.
        streams: Vec<StreamId>,
    },
    /// Streams without jitter that come together on a link, whatever their phases.
    Unison {
        /// The link.
        link: LinkId,
        /// The streams.
        streams: Vec<StreamId>,
        /// The greatest common divisor of the periods of any two of them.
        circle: Nanos,
    },
    /// Every way and order contradicts itself.
    Argument(Proof),
}

impl Certificate {
    /// The streams that it is about.
    pub fn streams(&self) -> &[StreamId] {
        match self {
            Self::Overload { streams, .. } | Self::Unison { streams, .. } => streams,
            Self::Argument(proof) => &proof.streams,
        }
    }
}

/// The certificate of a refusal; none where nothing is proven, or what is wrong is a declaration itself.
pub fn certificate(traffic: &Traffic, refusal: &NetworkRefusal) -> Option<Certificate> {
    match refusal {
        NetworkRefusal::Overload { link, from, to, streams, .. } => {
            Some(Certificate::Overload { link: *link, from: *from, to: *to, streams: streams.clone() })
        }
        NetworkRefusal::Unison { link, streams, circle, .. } => {
            Some(Certificate::Unison { link: *link, streams: streams.clone(), circle: *circle })
        }
        NetworkRefusal::Conflict { proof, .. } => Some(Certificate::Argument((**proof).clone())),
        NetworkRefusal::TooLong { stream, .. }
        | NetworkRefusal::Unending { stream, .. }
        | NetworkRefusal::Reserved { stream } => {
            let hyperperiod = traffic.validate().ok()?;
            let problem = Problem::new(traffic, hyperperiod.0).ok()?;
            if let NetworkRefusal::Unending { link, .. } = refusal
                && problem.items.iter().any(|item| {
                    item.stream == *stream
                        && unavoidable(&problem, item).iter().any(|(known, _)| LinkId(*known) == *link)
                })
            {
                let streams = vec![*stream];
                return Some(Certificate::Overload {
                    link: *link,
                    from: Nanos::ZERO,
                    to: hyperperiod,
                    streams,
                });
            }
            match decide(&problem, &[*stream], &mut ALONE_STEPS.clone(), &mut Watch::alone()) {
                Verdict::Impossible(proof) => Some(Certificate::Argument(*proof)),
                Verdict::Plan(_) | Verdict::Unknown => None,
            }
        }
        NetworkRefusal::Invalid(_)
        | NetworkRefusal::Late(_)
        | NetworkRefusal::Rejected { .. }
        | NetworkRefusal::NotFound { .. } => None,
    }
}
