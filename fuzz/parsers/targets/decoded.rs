//! Data that a command has decoded for its workers: a header with a checksum, which is made to fit, then bytes.
#![no_main]

use std::cell::LazyCell;

use evenkeel_data::{Loaded, files};
use evenkeel_fuzz_parsers::Scratch;

thread_local!(static FILE: LazyCell<Scratch> = LazyCell::new(|| Scratch::new("decoded")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(2, |byte| *byte == b'\n');
    let (header, rest) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let checksum = files::sha256(header);
    let whole = [b"evenkeel decoded data set 2\n", header, b"\n", checksum.as_bytes(), b"\n", rest].concat();
    FILE.with(|file| drop(Loaded::read(file.holding(&whole))));
});
