//! A folder of pictures by content: the input is one of them, the others are a fixed PNG.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_parsers::{Scratch, load};

/// Two by two grey pixels.
const PNG: &[u8] = include_bytes!("../corpus/image_folder/grey.png");

thread_local!(static FILES: LazyCell<[Scratch; 4]> = LazyCell::new(|| {
    let files = ["a/1.jpg", "a/2.png", "b/1", "b/2.webp"].map(|name| Scratch::new(&format!("pictures/{name}")));
    files.iter().for_each(|file| _ = file.holding(PNG));
    files
}));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // A picture that says it is large takes long; how large it may be is the decoder's own limit.
    let size =
        image::ImageReader::new(std::io::Cursor::new(data)).with_guessed_format().unwrap().into_dimensions();
    if size.is_ok_and(|(width, height)| u64::from(width) * u64::from(height) > 1 << 10) {
        return;
    }
    FILES.with(|files| {
        let folder = files[2].holding(data).ancestors().nth(2).unwrap();
        load("folder", folder);
    });
});
