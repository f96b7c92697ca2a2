//! Everything that is made of a run's record: whatever the record says, each output is made, and what is said to be
//! JSON is JSON.
//!
//! Bytes of the input replace bytes of a good record, since hardly any others are a record.

use leveret_report::record::RunRecord;
use leveret_report::storage::encode;
use leveret_report::synthetic::{Ring, ring};
use leveret_report::{Report, html, json, learn, text, trace, why};
use serde_json::Value;
use std::sync::OnceLock;

/// Magic, version and length before the payload, check sum behind it.
const HEADER_BYTES: usize = 20;
const CHECKSUM_BYTES: usize = 4;
/// Bytes before the changes: which output is made, of which task or channel, and of which instance.
const QUESTION_BYTES: usize = 2;

fn good_payload() -> &'static [u8] {
    static PAYLOAD: OnceLock<Vec<u8>> = OnceLock::new();
    PAYLOAD.get_or_init(|| {
        let bytes = encode(&ring(&Ring { rounds: 3, ..Ring::default() })).expect("a good record is encoded");
        bytes[HEADER_BYTES..bytes.len() - CHECKSUM_BYTES].to_vec()
    })
}

fn changed(changes: &[u8]) -> Option<RunRecord> {
    let mut payload = good_payload().to_vec();
    for change in changes.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % payload.len();
        payload[place] = change[2];
    }
    postcard::from_bytes(&payload).ok()
}

/// Asks why, of one task and one channel of each phase, by the names that the record gives.
fn ask(report: &Report<'_>, which: u8, instance: u64) {
    for phase in &report.record.phases {
        let tasks: Vec<&str> = phase.job.tasks.iter().map(|task| task.name.as_str()).collect();
        let channels: Vec<&str> = phase.job.channels.iter().map(|channel| channel.name.as_str()).collect();
        for names in [tasks, channels] {
            if let Some(name) = names.get(usize::from(which) % names.len().max(1)) {
                let _any = why::why(report, name, instance);
            }
        }
    }
}

pub fn run(bytes: &[u8]) {
    let (question, changes) = bytes.split_at(bytes.len().min(QUESTION_BYTES));
    let [output, instance] = question else { return };
    let Some(record) = changed(changes) else { return };
    let report = Report::of(&record);
    // One output at a time: the page is drawn for as long as all the others are written.
    match output % 6 {
        0 => drop((report.conclusion(), text::table(&report))),
        1 => drop(serde_json::from_str::<Value>(&json::text(&report)).expect("the report is JSON")),
        2 => drop(serde_json::from_str::<Value>(&trace::text(&report)).expect("the trace is JSON")),
        3 => assert!(html::page(&report).trim_end().ends_with("</html>"), "the page is whole"),
        4 => {
            let proposals = learn::propose(&report, learn::Options::default());
            drop((learn::table(&proposals), learn::toml(&proposals), learn::json(&proposals)));
        }
        _ => ask(&report, output / 6, u64::from(*instance)),
    }
}
