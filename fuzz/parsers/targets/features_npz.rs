//! Features of a frozen network: NumPy arrays in a ZIP archive.
#![no_main]

use std::cell::LazyCell;

use evenkeel_data::fuzzing::features;
use evenkeel_fuzz_parsers::{Scratch, tried};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("features.npz")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    FILE.with(|file| tried(features::npz, file.holding(data)));
});
