//! `run.json`: as a file, and as a description that a worker checks whatever its checksum says.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_parsers::{Scratch, one_of};
use evenkeel_lab::store::RunRecord;

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("run/run.json")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if one_of(64, data) {
        FILE.with(|file| drop(RunRecord::read(file.holding(data).parent().unwrap())));
    }
    let Ok(record) = serde_json::from_slice::<RunRecord>(data) else { return };
    let _ = (record.spec.id(), record.spec.optimizer.to_string(), record.spec.optimizer.shown());
    if let Ok(checked) = record.spec.check() {
        assert!(!checked.folder().contains(['/', '\0']));
    }
    let again = serde_json::to_vec(&record).unwrap();
    let again: RunRecord = serde_json::from_slice(&again).expect("what was written is read");
    assert_eq!(again.spec.id(), record.spec.id());
});
