//! Decoded images under the checksum of what they were decoded from.
//!
//! The key covers the place, label, length and content of every file and what is done with them, so an entry never grows old: other images
//! are another entry. An entry that is damaged, as its own checksum tells, is made anew.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::scan::Listing;
use super::{FolderError, FolderOptions};
use crate::dataset::DataSet;
use crate::files::hex;
use crate::load::{Loaded, fingerprint};
use crate::normalize::Normalization;
use crate::source::cache_dir;

/// Changes with the decoder or what is done with its pixels.
const VERSION: &str = "evenkeel decoded images 1";

/// Where the images of a listing lie, or would.
pub(super) fn place(
    folder: &Path,
    root: &Path,
    listing: &Listing,
    options: &FolderOptions,
) -> Result<PathBuf, FolderError> {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        // With its length: the end of one part is not the begin of the next.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(VERSION.as_bytes());
    add(format!("{:?} {}", options.size, options.channels).as_bytes());
    for (part, files) in [("train", &listing.train), ("test", &listing.test)] {
        add(part.as_bytes());
        for (path, label) in files {
            add(path.strip_prefix(root).unwrap_or(path).as_os_str().as_encoded_bytes());
            add(&label.to_le_bytes());
            let content = std::fs::read(path).map_err(|error| FolderError::Undecodable {
                path: path.clone(),
                reason: error.to_string(),
            })?;
            add(&content);
        }
    }
    Ok(folder.join(format!("{}.images", hex(&hash.finalize()))))
}

/// The folder for such files; `None` where there can be none, and images are decoded every time.
pub(super) fn folder() -> Option<PathBuf> {
    // Tests leave the user's folder alone.
    let root = if cfg!(test) { std::env::temp_dir().join("evenkeel-test") } else { cache_dir().ok()? };
    let folder = root.join("converted");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder)
}

/// What lies there, if it is whole.
pub(super) fn read(place: &Path, name: &str) -> Option<DataSet> {
    let Loaded { data, sha256, .. } = Loaded::read(place).ok()?;
    if sha256? != fingerprint(&data) {
        return None;
    }
    DataSet::new(name, data.train().clone(), data.test().clone()).ok()
}

/// Puts images there. Without room they are decoded again the next time, and nothing else is lost.
pub(super) fn write(place: &Path, data: &DataSet) {
    let channels = data.shape().channels;
    // Images have their scale from elsewhere.
    let Ok(normalization) = Normalization::new(vec![0.0; channels], vec![1.0; channels]) else { return };
    let entry = Loaded { data: data.clone(), normalization, sha256: Some(fingerprint(data)) };
    let _ = entry.save(place);
}
