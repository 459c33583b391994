//! `extra.csv`: what else a run recorded.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_parsers::Scratch;
use evenkeel_lab::store::recorded::read_extra;

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("extra.csv")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    FILE.with(|file| drop(read_extra(file.holding(data))));
});
