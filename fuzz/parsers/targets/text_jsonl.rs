//! Sentences with labels, a JSON object each.
#![no_main]

use std::cell::LazyCell;

use evenkeel_data::fuzzing::text;
use evenkeel_fuzz_parsers::{Scratch, tried};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("text.jsonl")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    FILE.with(|file| tried(text, file.holding(data)));
});
