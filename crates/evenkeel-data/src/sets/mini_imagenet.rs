//! mini-ImageNet: photographs that every user has to bring.

use super::entry::{Entry, Origin};
use crate::folder::{self, FolderOptions};
use crate::normalize::Normalization;

const CLASSES: usize = 50;

pub(super) static ENTRY: Entry = Entry {
    name: "mini-imagenet",
    summary: "25,000 + 5,000 photographs, 84×84 RGB, the first 50 classes; bring your own images",
    classes: CLASSES,
    sparse: false,
    normalization: Normalization::imagenet,
    origin: Origin::Provided {
        instruction: "mini-ImageNet cannot be downloaded: put train/ and val/ there, each with one folder of images per class (500 and 100), or one \
                      folder of 600 per class",
        read: |root| {
            let options =
                FolderOptions { size: Some((84, 84)), classes: Some(CLASSES), ..FolderOptions::default() };
            folder::load(root, options)
        },
    },
};
