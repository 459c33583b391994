//! `folder:DIR`: photographs in folders.

use super::Format;
use crate::folder::{self, FolderOptions};
use crate::options::Size;

pub(super) static ENTRY: Format = Format {
    prefix: "folder",
    usage: "folder:DIR",
    summary: "images (JPEG, PNG, WebP) in one folder per class, or train/ and val/ (or test/) with such folders",
    options: &["resize", "channels", "test_fraction"],
    load: |root, options| {
        let options = FolderOptions {
            size: options.resize.map(Size::sides),
            channels: options.channels.unwrap_or(3),
            test_fraction: Some(options.test_fraction()),
            ..FolderOptions::default()
        };
        Ok(folder::load(root, options)?)
    },
};
