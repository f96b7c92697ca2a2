//! What the reference shows is true.

use std::path::Path;

fn reference() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manifest.md")).unwrap()
}

#[test]
fn every_manifest_in_the_reference_is_without_errors() {
    let text = reference();
    let blocks: Vec<_> =
        text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        if let Err(errors) = leveret_manifest::parse(block, "docs/manifest.md") {
            panic!("{}\n{block}", errors[0]);
        }
    }
}

#[test]
fn the_reference_shows_an_error_as_it_is_printed() {
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/manifests/unknown-key.expected");
    let printed = std::fs::read_to_string(expected).unwrap().replace("unknown-key.toml", "job.toml");
    assert!(reference().contains(&printed), "docs/manifest.md should show\n{printed}");
}
