//! A run's record as bytes: what lies in `record.leveret` beside the report.
//!
//! ```text
//!  offset  0        8          12           20                  20+length
//!          | magic  | version  | length     | payload (postcard) | CRC-32 |
//!          | 8 B    | u32 LE   | u64 LE     | length B           | u32 LE |
//! ```
//!
//! The check sum covers version, length and payload. Memory stays within a constant factor of the input: every
//! element of the payload takes at least one byte, and sequences are not reserved beyond a bounded first step.

use crate::record::RunRecord;

/// First bytes of a stored run.
pub const MAGIC: [u8; 8] = *b"LVRTRUN1";
/// Version of the payload's layout; any change of [`RunRecord`] raises it.
pub const RECORD_VERSION: u32 = 16;
/// Longest payload that is read, in bytes.
pub const PAYLOAD_BYTES_MAX: u64 = 1 << 32;

const HEADER_BYTES: usize = 20;
const CHECKSUM_BYTES: usize = 4;

/// Why bytes are not a stored run, or a record could not be stored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StorageError {
    /// Fewer bytes than a header and a check sum.
    #[error(
        "the run's record ends after {found} bytes, before its header of {expected} bytes is complete; the file was truncated: run the job again"
    )]
    TooShort {
        /// Bytes needed at least.
        expected: usize,
        /// Bytes there are.
        found: usize,
    },
    /// The magic is missing.
    #[error(
        "bytes 0 to 7 are not \"LVRTRUN1\": this is not the record of a run; name a directory that `leveret run` wrote"
    )]
    NotARun,
    /// Written by another version.
    #[error(
        "byte 8: the record has version {found}, this program reads version {known}; use the program that wrote it, or run the job again"
    )]
    Version {
        /// Version found.
        found: u32,
        /// Version known.
        known: u32,
    },
    /// The stated length is not what follows.
    #[error(
        "byte 12: the header states a payload of {stated} bytes, {found} follow; the file was truncated or appended to: copy it again or run the job again"
    )]
    Length {
        /// Length in the header.
        stated: u64,
        /// Bytes between header and check sum.
        found: u64,
    },
    /// The payload was changed.
    #[error(
        "byte {place}: the check sum is {found:#010x}, the content gives {expected:#010x}; the file is damaged: copy it again or run the job again"
    )]
    Checksum {
        /// Where the check sum lies.
        place: usize,
        /// What the content gives.
        expected: u32,
        /// What the file says.
        found: u32,
    },
    /// The payload is whole but no record.
    #[error(
        "the payload (from byte 20) is not a run's record: {reason}; the writer was faulty or of another version: run the job again"
    )]
    Malformed {
        /// The decoder's reason.
        reason: String,
    },
    /// More than [`PAYLOAD_BYTES_MAX`].
    #[error("the record takes {found} bytes, the limit is {limit}; run fewer rounds")]
    TooLarge {
        /// Bytes needed.
        found: u64,
        /// [`PAYLOAD_BYTES_MAX`].
        limit: u64,
    },
}

/// The record as bytes.
///
/// # Errors
/// [`StorageError::TooLarge`] beyond [`PAYLOAD_BYTES_MAX`]; [`StorageError::Malformed`] if the encoder fails.
pub fn encode(record: &RunRecord) -> Result<Vec<u8>, StorageError> {
    let mut bytes = Vec::with_capacity(1 << 16);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&RECORD_VERSION.to_le_bytes());
    bytes.extend_from_slice(&[0; 8]);
    let mut bytes = postcard::to_extend(record, bytes)
        .map_err(|error| StorageError::Malformed { reason: error.to_string() })?;
    let length = (bytes.len() - HEADER_BYTES) as u64;
    if length > PAYLOAD_BYTES_MAX {
        return Err(StorageError::TooLarge { found: length, limit: PAYLOAD_BYTES_MAX });
    }
    bytes[12..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32(&bytes[MAGIC.len()..]);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// The record that `bytes` hold.
///
/// # Errors
/// One variant per way in which the bytes can be wrong; none panics, whatever the input.
pub fn decode(bytes: &[u8]) -> Result<RunRecord, StorageError> {
    let found = bytes.len();
    if !bytes.starts_with(&MAGIC) && found >= MAGIC.len() {
        return Err(StorageError::NotARun);
    }
    let expected = HEADER_BYTES + CHECKSUM_BYTES;
    if found < expected {
        return Err(StorageError::TooShort { expected, found });
    }
    let (content, checksum) = bytes.split_at(found - CHECKSUM_BYTES);
    let version = u32::from_le_bytes(array(&content[8..12]));
    if version != RECORD_VERSION {
        return Err(StorageError::Version { found: version, known: RECORD_VERSION });
    }
    let stated = u64::from_le_bytes(array(&content[12..HEADER_BYTES]));
    let payload = &content[HEADER_BYTES..];
    if stated != payload.len() as u64 || stated > PAYLOAD_BYTES_MAX {
        return Err(StorageError::Length { stated, found: payload.len() as u64 });
    }
    let (expected, found) = (crc32(&content[MAGIC.len()..]), u32::from_le_bytes(array(checksum)));
    if expected != found {
        return Err(StorageError::Checksum { place: content.len(), expected, found });
    }
    let (record, rest) = postcard::take_from_bytes(payload)
        .map_err(|error| StorageError::Malformed { reason: error.to_string() })?;
    if !rest.is_empty() {
        return Err(StorageError::Malformed { reason: format!("{} bytes are left over", rest.len()) });
    }
    Ok(record)
}

/// The bytes as an array; missing ones are zero (callers pass the right length).
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(bytes) {
        *to = *from;
    }
    out
}

/// CRC-32 as in IEEE 802.3 (reflected, polynomial 0xEDB88320).
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| (crc >> 8) ^ CRC_TABLE[usize::from((crc as u8) ^ byte)])
}

const CRC_TABLE: [u32; 256] = crc_table();

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0xEDB8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Ring, ring};
    use proptest::prelude::*;

    fn stored() -> Vec<u8> {
        encode(&ring(&Ring { rounds: 20, ..Ring::default() })).unwrap()
    }

    #[test]
    fn check_sum_is_the_standard_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_record_round_trips() {
        let record = ring(&Ring { rounds: 50, ..Ring::default() });
        assert_eq!(decode(&encode(&record).unwrap()).unwrap(), record);
    }

    #[test]
    fn every_truncation_is_named() {
        let bytes = stored();
        for length in 0..bytes.len() {
            let error = decode(&bytes[..length]).unwrap_err();
            assert!(
                matches!(error, StorageError::TooShort { .. } | StorageError::Length { .. }),
                "{length}: {error}"
            );
        }
    }

    #[test]
    fn every_changed_byte_is_found() {
        let mut bytes = stored();
        for place in 0..bytes.len() {
            bytes[place] ^= 0x55;
            assert!(decode(&bytes).is_err(), "change at {place} went unseen");
            bytes[place] ^= 0x55;
        }
    }

    #[test]
    fn a_hostile_length_with_a_right_check_sum_is_refused() {
        let mut content = Vec::from(MAGIC);
        content.extend_from_slice(&RECORD_VERSION.to_le_bytes());
        content.extend_from_slice(&11_u64.to_le_bytes());
        content.extend_from_slice(&[0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]);
        let checksum = crc32(&content[8..]);
        content.extend_from_slice(&checksum.to_le_bytes());
        assert!(matches!(decode(&content), Err(StorageError::Malformed { .. })));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn arbitrary_payloads_never_panic(payload in proptest::collection::vec(any::<u8>(), 0..512)) {
            let mut bytes = Vec::from(MAGIC);
            bytes.extend_from_slice(&RECORD_VERSION.to_le_bytes());
            bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&payload);
            let checksum = crc32(&bytes[8..]);
            bytes.extend_from_slice(&checksum.to_le_bytes());
            let _ = decode(&bytes);
        }
    }
}
