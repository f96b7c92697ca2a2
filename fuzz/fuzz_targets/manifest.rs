//! Manifests: any bytes are a manifest, or at least one error that can be printed; and so are good manifests with changed numbers, lines, sections and names.

use crate::changes;
use leveret_manifest::parse_bytes;

const GOOD: [&str; 3] = [
    include_str!("../../examples/ring/job.toml"),
    include_str!("../../examples/tutorial/fits.toml"),
    include_str!("../../examples/best-effort/job.toml"),
];
/// What changed manifests begin with; no text does.
const CHANGED: u8 = 0xff;

pub fn run(bytes: &[u8]) {
    let changed: String;
    let bytes = match bytes {
        [CHANGED, which, rest @ ..] => {
            let good = GOOD[usize::from(*which) % GOOD.len()].to_owned();
            changed = changes::all(rest).fold(good, |text, change| change.text(&text));
            changed.as_bytes()
        }
        _ => bytes,
    };
    if let Err(errors) = parse_bytes(bytes, "job.toml") {
        assert!(!errors.is_empty(), "refused without a reason");
        for error in errors {
            let text = error.to_string();
            assert!(text.contains("job.toml"), "no place is named: {text}");
        }
    }
}
