//! A log of a chart of Weights & Biases as a curve.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_lab::import;
use evenkeel_fuzz_parsers::Scratch;

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("log.csv")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&how, log)) = data.split_first() else { return };
    FILE.with(|file| import("wandb", file.holding(log), how));
});
