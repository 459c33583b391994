//! CIFAR's records, and the PNG that some mirrors have instead.
#![no_main]

use evenkeel_data::cifar::{cifar10, cifar100, records_from_png};
use evenkeel_fuzz_parsers::assert_one_line;

const PIXELS: usize = 3 * 32 * 32;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&[kind, cut], rest)) = data.split_first_chunk::<2>() else { return };
    if kind == 0 {
        // A picture of another width is refused after it was decoded, and a high one takes long: most inputs are none of that.
        let below = |at: usize, limit: [u8; 4]| rest.get(at..at + 4).is_none_or(|size| size < &limit[..]);
        if below(16, [0, 0, 8, 0]) && below(20, [0, 0, 0, 8]) {
            match records_from_png("png", rest, &[1, 2]) {
                Ok(records) => assert_eq!(records.len(), 2 * (1 + PIXELS)),
                Err(error) => assert_one_line(&error),
            }
        }
        return;
    }
    // A record for each byte, or pair of bytes, with pixels of one value; cut short at the end.
    let labels = 1 + usize::from(kind % 2);
    let mut records: Vec<u8> = Vec::new();
    for label in rest.chunks(labels).take(4) {
        records.extend(label);
        records.resize(records.len() + PIXELS, cut);
    }
    records.truncate(records.len().saturating_sub(usize::from(cut >> 4)));
    let _ = if labels == 1 {
        cifar10(&[("a", &records), ("b", rest)], ("c", &records))
    } else {
        cifar100(("a", &records), ("b", &records))
    };
});
