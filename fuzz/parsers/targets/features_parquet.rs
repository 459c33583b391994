//! Features of a frozen network: columns in Parquet.
#![no_main]

use std::cell::LazyCell;

use evenkeel_data::fuzzing::features;
use evenkeel_fuzz_parsers::{Scratch, tried};

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("features.parquet")));

libfuzzer_sys::fuzz_target!(init: only_ours_are_findings(), |data: &[u8]| {
    FILE.with(|file| tried(features::parquet, file.holding(data)));
});

/// The crate panics on some damaged files, which the reader expects and catches.
fn only_ours_are_findings() {
    std::panic::set_hook(Box::new(|panic| {
        if !panic.location().is_some_and(|place| place.file().contains("/parquet-")) {
            eprintln!("{panic}");
            std::process::abort();
        }
    }));
}
