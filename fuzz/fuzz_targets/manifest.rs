//! Manifests: any bytes are a manifest, or at least one error that can be printed.
#![no_main]

use leveret_manifest::parse_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(errors) = parse_bytes(bytes, "job.toml") {
        assert!(!errors.is_empty(), "refused without a reason");
        for error in errors {
            let text = error.to_string();
            assert!(text.contains("job.toml"), "no place is named: {text}");
        }
    }
});
