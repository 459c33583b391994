//! `folder:DIR`: photographs of one size in folders.

use super::Format;
use crate::folder::{self, FolderOptions};

pub(super) static ENTRY: Format = Format {
    prefix: "folder",
    usage: "folder:DIR",
    summary: "images of one size (JPEG, PNG) in one folder per class, or train/ and val/ with such folders",
    load: |root| Ok(folder::load(root, FolderOptions::default())?),
};
