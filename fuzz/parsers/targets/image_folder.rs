//! Pictures by content: each input as one, and a few of them in a folder whose other pictures are a fixed PNG.
#![no_main]

use std::cell::LazyCell;

use evenkeel_data::folder::{FolderOptions, fuzzing::image};
use evenkeel_data::fuzzing;
use evenkeel_fuzz_parsers::{Scratch, assert_one_line, one_of, tried};

/// Two by two grey pixels.
const PNG: &[u8] = include_bytes!("../corpus/image_folder/grey.png");

thread_local!(static FILES: LazyCell<[Scratch; 4]> = LazyCell::new(|| {
    let files = ["a/1.jpg", "a/2.png", "b/1", "b/2.webp"].map(|name| Scratch::new(&format!("pictures/{name}")));
    files.iter().for_each(|file| _ = file.holding(PNG));
    files
}));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // A picture that says it is large takes long; how large it may be is a test of the reader's own.
    let size =
        image::ImageReader::new(std::io::Cursor::new(data)).with_guessed_format().unwrap().into_dimensions();
    if size.is_ok_and(|(width, height)| u64::from(width) * u64::from(height) > 1 << 10) {
        return;
    }
    let plain = FolderOptions::default();
    match image(data, &plain) {
        Ok(picture) => {
            assert_eq!(picture.len(), 1);
            // Decoding takes most of the time: only some are decoded again to be made smaller.
            if one_of(16, data) {
                let small = FolderOptions { size: Some((3, 2)), channels: 1, ..plain };
                assert_eq!(image(data, &small).expect("it was decoded before").pixels().len(), 6);
            }
        }
        Err(error) => assert_one_line(&error),
    }
    if one_of(256, data) {
        FILES.with(|files| {
            let folder = files[2].holding(data).ancestors().nth(2).unwrap();
            tried(fuzzing::folder, folder);
        });
    }
});
