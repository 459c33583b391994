//! A log of Avalanche's words as a curve.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_lab::import;
use evenkeel_fuzz_parsers::Scratch;

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("log.txt")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&how, log)) = data.split_first() else { return };
    FILE.with(|file| import("avalanche-text", file.holding(log), how));
});
