//! What a mirror or a registry sends: a gzip-compressed file, or an archive of them.
#![no_main]

use evenkeel_data::source::fuzzing::{file, members};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(content) = file(data, 1000) {
        assert!(content.len() <= 1000);
    }
    for (name, content) in members(data, &[("a.bin", 1000), ("b", 10)]) {
        assert!(name < 2 && content.len() <= [1000, 10][name]);
    }
});
