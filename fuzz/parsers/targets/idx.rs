//! MNIST's format, plain and compressed.
#![no_main]

use evenkeel_data::{Normalization, idx};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = idx::labels("labels", data, 10);
    if let Ok(images) = idx::images("images", data) {
        assert_eq!(images.pixels().len(), images.len() * images.shape().len());
    }
    // Both files of a set: the first two bytes tell where the second begins.
    if let Some((head, rest)) = data.split_first_chunk::<2>() {
        let at = usize::from(u16::from_le_bytes(*head)).min(rest.len());
        let (images, labels) = rest.split_at(at);
        let files = [("a", images), ("b", labels), ("c", images), ("d", labels)];
        if let Ok(data) = idx::data_set("set", files, 10) {
            let _ = Normalization::measure(data.train());
        }
    }
});
