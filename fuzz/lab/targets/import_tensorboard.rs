//! An event file as a curve. Checksums are made to fit: a record for each length byte and what follows it.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_lab::import;
use evenkeel_fuzz_parsers::{Scratch, frame};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("events.out.tfevents.1")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&how, mut rest)) = data.split_first() else { return };
    let mut log = Vec::new();
    while let Some((&length, after)) = rest.split_first() {
        let Some((record, after)) = after.split_at_checked(usize::from(length)) else { break };
        frame(&mut log, record);
        rest = after;
    }
    log.extend(rest);
    FILE.with(|file| import("tensorboard", file.holding(&log), how));
});
