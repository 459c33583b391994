//! `lease.json`: who works on a run.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_parsers::Scratch;
use evenkeel_lab::store::claim::Claimed;

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("leased/lease.json")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    FILE.with(|file| drop(Claimed::look(file.holding(data).parent().unwrap())));
});
