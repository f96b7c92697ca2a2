//! The record of a run, as a killed or hostile member may have left it: every file is refused or assessed.
//!
//! The check sum would stop nearly every input at the door, so the payload is also decoded without it: bytes of the
//! input replace bytes of a good record.

use leveret_report::record::RunRecord;
use leveret_report::storage::{decode, encode};
use leveret_report::synthetic::{Ring, ring};
use leveret_report::verdict::assess;
use std::sync::OnceLock;

/// Magic, version and length before the payload, check sum behind it.
const HEADER_BYTES: usize = 20;
const CHECKSUM_BYTES: usize = 4;

fn good_payload() -> &'static [u8] {
    static PAYLOAD: OnceLock<Vec<u8>> = OnceLock::new();
    PAYLOAD.get_or_init(|| {
        let bytes = encode(&ring(&Ring { rounds: 8, ..Ring::default() })).expect("a good record is encoded");
        bytes[HEADER_BYTES..bytes.len() - CHECKSUM_BYTES].to_vec()
    })
}

pub fn run(bytes: &[u8]) {
    drop(decode(bytes));
    let mut payload = good_payload().to_vec();
    for change in bytes.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % payload.len();
        payload[place] = change[2];
    }
    if let Ok(record) = postcard::from_bytes::<RunRecord>(&payload) {
        drop(assess(&record));
    }
}
