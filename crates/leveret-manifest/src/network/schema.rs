//! Which keys stand where in the manifest of a network.

use crate::schema::{Schema, TASK};

pub(super) const JOB: Schema = Schema { header: "[job]", name: "job", keys: &["name"] };

pub(super) const NETWORK: Schema = Schema {
    header: "[network]",
    name: "network",
    keys: &["clock-error", "whole-cycles", "payload-max", "payload-min", "overhead"],
};

pub(super) const HOST: Schema = Schema {
    header: "[[host]]",
    name: "host",
    keys: &[
        "name",
        "cores",
        "guard",
        "switch",
        "preemption",
        "publish",
        "copy-per-kib",
        "utilisation-permille",
    ],
};

pub(super) const SWITCH: Schema =
    Schema { header: "[[switch]]", name: "switch", keys: &["name", "cut-through"] };

pub(super) const LINK: Schema = Schema {
    header: "[[link]]",
    name: "link",
    keys: &[
        "ends",
        "rate",
        "propagation",
        "processing",
        "queues",
        "preemption",
        "one-way",
        "reserved",
        "shaping",
    ],
};

pub(super) const CHANNEL: Schema = Schema {
    header: "[[channel]]",
    name: "channel",
    keys: &[
        "name",
        "source",
        "target",
        "targets",
        "period",
        "window",
        "size",
        "latency",
        "jitter",
        "copies",
        "way",
        "ways",
        "qos",
        "priority",
        "interval",
        "burst",
        "deadline",
        "buffers",
        "placement",
        "missing",
        "wait",
        "checksum",
        "start-event",
        "completion-event",
    ],
};

pub(super) const MEMBER: Schema =
    Schema { header: "[[member]]", name: "member", keys: &["name", "host", "core"] };

pub(super) const CHAIN: Schema =
    Schema { header: "[[chain]]", name: "chain", keys: &["name", "path", "reaction", "age"] };

/// Every kind of table.
pub(crate) const NETWORK_TABLES: [&Schema; 9] =
    [&JOB, &NETWORK, &HOST, &SWITCH, &LINK, &CHANNEL, &MEMBER, &TASK, &CHAIN];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_describes_every_key() {
        crate::schema::tests::described("docs/network-manifest.md", &NETWORK_TABLES);
    }
}
