//! Features of a frozen network: a NumPy array, its labels in a CSV beside it.
#![no_main]

use std::cell::LazyCell;

use evenkeel_data::fuzzing::features;
use evenkeel_fuzz_parsers::{Scratch, tried};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("features.npy")));

thread_local!(static LABELS: LazyCell<()> = LazyCell::new(|| {
    Scratch::new("features.csv").holding(b"label\na\nb\na\nb\n");
}));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    LABELS.with(|labels| **labels);
    FILE.with(|file| tried(features::npy, file.holding(data)));
});
