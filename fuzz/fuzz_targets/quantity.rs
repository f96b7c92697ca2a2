//! Durations and sizes as people write them: what is understood prints as a text that means the same.
#![no_main]

use leveret_types::{ByteSize, Nanos};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(duration) = text.parse::<Nanos>() {
        // The largest value prints as "never", which is for reports and not for manifests.
        assert!(duration == Nanos::MAX || duration.to_string().parse() == Ok(duration), "{duration}");
    }
    if let Ok(size) = text.parse::<ByteSize>() {
        assert_eq!(size.to_string().parse(), Ok(size));
    }
});
