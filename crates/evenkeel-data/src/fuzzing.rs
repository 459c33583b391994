//! What `fuzz/run` reaches of the readers of a user's files: by themselves, so that a target holds no more than its own format.

use std::path::Path;

pub use crate::features::fuzzing as features;
use crate::folder::{self, FolderOptions};
use crate::load::{LoadError, Loaded};
use crate::options::DataOptions;
use crate::text_file;

/// Sentences in CSV or JSON Lines.
pub fn text(path: &Path) -> Result<Loaded, LoadError> {
    Loaded::measured(text_file::load(path, &DataOptions::default())?)
}

/// Images in a folder.
pub fn folder(path: &Path) -> Result<Loaded, LoadError> {
    let options = FolderOptions { test_fraction: Some(0.5), ..FolderOptions::default() };
    Loaded::measured(folder::load(path, options)?)
}
