//! Sentences with labels, a JSON object each.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_parsers::{Scratch, load};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("text.jsonl")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    FILE.with(|file| load("text", file.holding(data)));
});
