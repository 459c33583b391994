//! Features of a frozen network: numbers with labels in CSV.
#![no_main]

use std::cell::LazyCell;

use evenkeel_data::fuzzing::features;
use evenkeel_fuzz_parsers::{Scratch, tried};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("features.csv")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    FILE.with(|file| tried(features::csv, file.holding(data)));
});
