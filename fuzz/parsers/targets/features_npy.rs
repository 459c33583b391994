//! Features of a frozen network: a NumPy array, its labels in a CSV beside it.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_parsers::{Scratch, load};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("features.npy")));

thread_local!(static LABELS: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("features.csv")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    LABELS.with(|labels| _ = labels.holding(b"label\na\nb\na\nb\n"));
    FILE.with(|file| load("features", file.holding(data)));
});
