//! Durations and sizes as people write them: what is understood prints as a text that means the same.

use leveret_types::{ByteSize, Nanos};

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(duration) = text.parse::<Nanos>() {
        // The largest value prints as "never", which is for reports and not for manifests.
        assert!(duration == Nanos::MAX || duration.to_string().parse() == Ok(duration), "{duration}");
    }
    if let Ok(size) = text.parse::<ByteSize>() {
        assert_eq!(size.to_string().parse(), Ok(size));
    }
}
