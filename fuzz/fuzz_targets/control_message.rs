//! Control messages in both directions: what is understood is encoded to bytes that mean the same.

use leveret_protocol::control::{decode_from_member, decode_to_member, encode};

pub fn run(bytes: &[u8]) {
    if let Ok(message) = decode_to_member(bytes) {
        let again = decode_to_member(&encode(&message)).expect("what we encode we understand");
        assert_eq!(encode(&again), encode(&message));
    }
    if let Ok(message) = decode_from_member(bytes) {
        let again = decode_from_member(&encode(&message)).expect("what we encode we understand");
        assert_eq!(encode(&again), encode(&message));
    }
}
