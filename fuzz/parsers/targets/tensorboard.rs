//! Event files. Checksums are made to fit: a record for each length byte and what follows it; what is left comes as it is.
#![no_main]

use evenkeel_report::export::tensorboard::{is_event_file, read_scalars};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = (is_event_file(data), read_scalars(data));
    let (mut file, mut rest) = (Vec::new(), data);
    while let Some((&length, after)) = rest.split_first() {
        let Some((record, after)) = after.split_at_checked(usize::from(length)) else { break };
        evenkeel_fuzz_parsers::frame(&mut file, record);
        rest = after;
    }
    file.extend(rest);
    let _ = read_scalars(&file);
});
