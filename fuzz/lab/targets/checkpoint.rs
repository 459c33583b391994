//! A checkpoint: as it is, and behind the first line that makes it one.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_parsers::Scratch;
use evenkeel_lab::run::checkpoint::Checkpoint;

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("checkpoint.bin")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    FILE.with(|file| {
        let _ = Checkpoint::load(file.holding(data), "abc");
        let whole = [b"evenkeel checkpoint 2\n", data].concat();
        let _ = Checkpoint::load(file.holding(&whole), "abc");
    });
});
