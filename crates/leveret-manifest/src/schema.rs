//! Which keys stand where. Unknown keys are matched against this table.

use crate::network::NETWORK_TABLES;
use leveret_protocol::nearest::nearest;

/// One kind of table of the manifest.
pub(crate) struct Schema {
    /// How it is written, such as `[[task]]`.
    pub(crate) header: &'static str,
    /// Its name at the top level.
    pub(crate) name: &'static str,
    /// Its keys, in the order of the reference.
    pub(crate) keys: &'static [&'static str],
}

pub(crate) const JOB: Schema = Schema {
    header: "[job]",
    name: "job",
    keys: &["name", "policy", "rounds", "duration", "scheduling", "record-limit"],
};

pub(crate) const HOST: Schema = Schema {
    header: "[host]",
    name: "host",
    keys: &[
        "cores",
        "guard",
        "switch",
        "preemption",
        "publish",
        "copy-per-kib",
        "utilisation-permille",
        "idle",
    ],
};

pub(crate) const MEMBER: Schema =
    Schema { header: "[[member]]", name: "member", keys: &["name", "command", "core", "environment"] };

pub(crate) const TASK: Schema = Schema {
    header: "[[task]]",
    name: "task",
    keys: &[
        "name",
        "member",
        "period",
        "window",
        "budget",
        "reads",
        "writes",
        "core",
        "preemptible",
        "overrun",
        "priority",
        "event",
        "interval",
        "deadline",
    ],
};

pub(crate) const CHANNEL: Schema = Schema {
    header: "[[channel]]",
    name: "channel",
    keys: &[
        "name",
        "group",
        "source",
        "target",
        "period",
        "window",
        "size",
        "buffers",
        "placement",
        "missing",
        "wait",
        "checksum",
        "qos",
        "priority",
        "interval",
        "deadline",
        "start-event",
        "completion-event",
    ],
};

/// Every kind of table.
pub(crate) const ALL: [&Schema; 5] = [&JOB, &HOST, &MEMBER, &TASK, &CHANNEL];

/// What people write who think of another system, and the key that says it here.
const SYNONYMS: [(&str, &str); 16] = [
    ("args", "command"),
    ("cmd", "command"),
    ("cpu", "core"),
    ("cpus", "cores"),
    ("deadline", "reaction"),
    ("env", "environment"),
    ("exec", "command"),
    ("from", "source"),
    ("latency", "reaction"),
    ("offset", "window"),
    ("phase", "window"),
    ("release", "window"),
    ("runtime", "budget"),
    ("start", "window"),
    ("to", "target"),
    ("wcet", "budget"),
];

/// The remedy for a key that `keys` does not hold.
pub(crate) fn unknown_key_hint(found: &str, schema: &Schema) -> String {
    if let Some(near) = nearest(found, schema.keys.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    let synonym = SYNONYMS.iter().find(|(word, _)| *word == found.to_lowercase()).map(|(_, key)| *key);
    match synonym.filter(|key| schema.keys.contains(key)) {
        Some("window") => {
            return "write `window = [\"RELEASE\", \"DEADLINE\"]`, both from the start of the period"
                .to_owned();
        }
        Some("reaction") => {
            return "write `reaction`, from an event to what follows of it, or `age`, of the data at the end"
                .to_owned();
        }
        Some(key) => return format!("the key for this is `{key}`"),
        None => {}
    }
    let tables: &[&Schema] =
        if ALL.iter().any(|one| std::ptr::eq(one.keys, schema.keys)) { &ALL } else { &NETWORK_TABLES };
    let elsewhere: Vec<_> =
        tables.iter().filter(|other| other.keys.contains(&found)).map(|other| other.header).collect();
    if !elsewhere.is_empty() {
        return format!("`{found}` belongs in {}", elsewhere.join(" or "));
    }
    format!("the keys of {} are {}", schema.header, schema.keys.join(", "))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_fingers_is_recognised() {
        assert_eq!(unknown_key_hint("perid", &TASK), "did you mean `period`?");
        assert_eq!(unknown_key_hint("Budget", &TASK), "did you mean `budget`?");
    }

    #[test]
    fn a_key_of_another_table_is_named_with_it() {
        assert_eq!(unknown_key_hint("size", &TASK), "`size` belongs in [[channel]]");
    }

    #[test]
    fn words_of_other_systems_are_translated() {
        assert!(unknown_key_hint("release", &TASK).contains("window = [\"RELEASE\""));
        assert_eq!(unknown_key_hint("wcet", &TASK), "the key for this is `budget`");
    }

    #[test]
    fn anything_else_lists_the_keys() {
        assert!(unknown_key_hint("colour-of-the-sky", &JOB).contains("name, policy, rounds"));
    }

    #[test]
    fn the_reference_describes_every_key() {
        described("docs/manifest.md", &ALL);
    }

    /// A reference lists exactly these keys, in this order.
    pub(crate) fn described(page: &str, tables: &[&Schema]) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
        let text = std::fs::read_to_string(path).unwrap();
        for schema in tables {
            let heading = format!("## `{}`\n", schema.header);
            let section = text.split(&heading).nth(1).unwrap_or_else(|| panic!("no section {heading}"));
            let rows = section.split("\n## ").next().unwrap().lines();
            let keys: Vec<_> = rows
                .filter_map(|row| row.strip_prefix("| `"))
                .filter_map(|row| row.split('`').next())
                .collect();
            assert_eq!(keys, schema.keys, "{}", schema.header);
        }
    }
}
