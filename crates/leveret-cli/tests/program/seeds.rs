//! The files that fuzzing starts from (`fuzz/seeds`) are what the program writes now; `BLESS=1 cargo test -p leveret-cli` writes them anew.

use crate::{is_blessing, outcome, root, shown};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A seed, and the arguments by which the program writes it, but for its place.
const SEEDS: [(&str, &[&str]); 5] = [
    ("network_plan/two-cells.json", &["plan", "examples/network/two-cells.toml", "--output"]),
    ("system_plan/cell.json", &["plan", "examples/system/job.toml", "--output"]),
    ("certificate/overload.json", &["explain", "fuzz/seeds/network_manifest/overload.toml", "--certificate"]),
    ("certificate/unison.json", &["explain", "fuzz/seeds/network_manifest/unison.toml", "--certificate"]),
    ("certificate/argument.json", &["explain", "fuzz/seeds/network_manifest/argument.toml", "--certificate"]),
];

/// Manifests that are refused, written by hand, and why.
const REFUSED: [(&str, &str); 3] = [
    ("overload", "they need 230.72us of it between 117.36us and 323us, and it has 205.64us"),
    ("unison", "without jitter, so that each keeps its place in every 100us"),
    ("argument", "Every way and order was looked at (5 steps of argument)"),
];

/// Bytes that a target takes for changes of its good files; from these it learns that there are such.
const CHANGES: [(&str, &[u8]); 8] = [
    ("manifest/changed", &[0xff, 1, 0, 5, 0, 0, 1, 0]),
    ("network_manifest/changed-network", &[0xff, 0, 0, 5, 0, 0, 1, 0]),
    ("network_manifest/changed-system", &[0xff, 1, 0, 5, 0, 0, 1, 0]),
    ("network_plan/changed", &[0, 0, 9, 0, 0, 1, 0]),
    ("system_plan/changed", &[0, 9, 0, 0, 1, 0]),
    ("certificate/changed", &[2, 0, 9, 0, 0, 1, 0]),
    ("tsnkit_files/changed", &[0xff, 1, 9, 0, 0, 1, 0]),
    ("tsnkit_files/changed-schedule", &[0xff, 130, 9, 0, 0, 1, 0]),
];
/// Bytes of the target `session`: its network and so many channels, then their bytes and those of changes.
const SESSION: (usize, u8, usize) = (2, 6, 6 * 7 + 8 * 9);

/// Compares a seed with what should stand there, or writes it.
fn compare(seed: &str, content: &[u8]) {
    let path = root().join("fuzz/seeds").join(seed);
    if is_blessing() {
        fs::create_dir_all(path.parent().expect("it lies in a folder")).unwrap();
        fs::write(&path, content).unwrap();
    } else {
        let found = fs::read(&path).unwrap_or_default();
        assert!(found == content, "{} is not what the program writes now", path.display());
    }
}

#[test]
fn seeds_of_changes_are_as_listed() {
    for (seed, bytes) in CHANGES {
        compare(seed, bytes);
    }
    for kind in [1, 0x29, 0x43] {
        let (head, channels, rest) = SESSION;
        let mut bytes = vec![kind, channels];
        bytes.extend((0..rest).map(|place| (place * 37 + usize::from(kind)) as u8));
        assert_eq!(bytes.len(), head + rest);
        compare(&format!("session/walk-{kind}"), &bytes);
    }
}

#[test]
fn seeds_are_what_the_program_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    for (seed, arguments) in SEEDS {
        let written = folder.path().join("seed");
        let (_, said, code) = outcome(&[arguments, &[shown(&written)]].concat());
        // What is refused has a certificate.
        assert_eq!(code, Some(i32::from(arguments[0] == "explain")), "{seed}: {said}");
        compare(seed, &fs::read(&written).unwrap());
    }
}

/// All files of the collection's example and of its schedule, with `---` between them.
#[test]
fn the_collection_s_files_are_a_seed_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let files = ["examples/network/topology.csv", "examples/network/streams.csv"];
    let (job, plan, prefix) = (at("job.toml"), at("plan.json"), at("cell"));
    let steps: [&[&str]; 3] = [
        &["import", "tsnkit", files[0], files[1], "--output", shown(&job)],
        &["plan", shown(&job), "--output", shown(&plan)],
        &["export", "tsnkit", shown(&plan), shown(&job), "--output", shown(&prefix)],
    ];
    for step in steps {
        let (_, said, code) = outcome(step);
        assert_eq!(code, Some(0), "{said}");
    }
    let read = |path: &Path| fs::read_to_string(path).expect("it was written");
    let declared = files.map(|file| read(&root().join(file)));
    compare("tsnkit_files/declared.csv", declared.join("---\n").as_bytes());
    let schedule = ["GCL", "OFFSET", "QUEUE", "ROUTE"].map(|end| read(&at(&format!("cell-{end}.csv"))));
    compare(
        "tsnkit_files/with-a-schedule.csv",
        [&declared[..], &schedule[..]].concat().join("---\n").as_bytes(),
    );
}

/// Each is refused for what it is there for: a target that begins with them would otherwise not come to certificates of that kind.
#[test]
fn refused_manifests_are_refused_for_what_they_are_named_after() {
    for (name, reason) in REFUSED {
        let manifest = format!("fuzz/seeds/network_manifest/{name}.toml");
        let (said, also, code) = outcome(&["check", &manifest]);
        assert_eq!(code, Some(1), "{said}{also}");
        assert!(format!("{said}{also}").contains(reason), "{name}: {said}{also}");
        let certificate = fs::read_to_string(root().join(format!("fuzz/seeds/certificate/{name}.json")));
        let kind = format!("{{\n  \"{name}\": ");
        assert!(certificate.expect("it has a certificate").starts_with(&kind), "{name}: another kind");
    }
}

/// What lies among the seeds of these targets is compared with something.
#[test]
fn no_seed_is_left_out() {
    let listed = SEEDS.iter().map(|(seed, _)| *seed).chain(CHANGES.iter().map(|(seed, _)| *seed));
    let refused = REFUSED.iter().map(|(name, _)| format!("network_manifest/{name}.toml"));
    let listed: BTreeSet<String> = listed.map(str::to_owned).chain(refused).collect();
    let mut found = BTreeSet::new();
    for target in ["certificate", "manifest", "network_manifest", "network_plan", "system_plan"] {
        for entry in fs::read_dir(root().join("fuzz/seeds").join(target)).expect("a folder") {
            let name = entry.expect("a file").file_name();
            found.insert(format!("{target}/{}", name.to_str().expect("a plain name")));
        }
    }
    let of_others = |seed: &&String| !found.contains(*seed) && !seed.starts_with("tsnkit_files/");
    assert_eq!(found.difference(&listed).next(), None, "compared with nothing");
    assert_eq!(listed.iter().find(of_others), None, "not there");
}
