//! CIFAR's records, and the PNG that some mirrors have instead.
#![no_main]

use evenkeel_data::cifar::{cifar10, cifar100, records_from_png};

const PIXELS: usize = 3 * 32 * 32;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&[kind, cut], rest)) = data.split_first_chunk::<2>() else { return };
    if kind == 0 {
        // A picture of another width is refused after it was decoded: most inputs have the right one.
        let small = |at: usize| rest.get(at..at + 2).is_some_and(|size| size == [0, 0]);
        if rest.len() < 24 || (small(16) && small(20)) {
            let _ = records_from_png("png", rest, &[1, 2]);
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
