//! Features of a frozen network: tensors behind a header of JSON.
#![no_main]

use std::cell::LazyCell;

use evenkeel_data::fuzzing::features;
use evenkeel_fuzz_parsers::{Scratch, tried};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("features.safetensors")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    FILE.with(|file| tried(features::safetensors, file.holding(data)));
});
