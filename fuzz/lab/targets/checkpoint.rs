//! A checkpoint: as it is, behind the first line that makes it one, and with a checksum that fits.
#![no_main]

use evenkeel_lab::run::checkpoint::{Checkpoint, CheckpointError, sealed};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = Checkpoint::parse(data, "abc");
    let _ = Checkpoint::parse(&[b"evenkeel checkpoint 2\n", data].concat(), "abc");
    if let Some(whole) = sealed(data) {
        match Checkpoint::parse(&whole, "abc") {
            Ok(_) | Err(CheckpointError::OtherSpec { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
});
