//! Known data sets: where they come from, where they lie, and whether they are intact.
//!
//! Files lie unpacked in `<cache>/<data set>/`, where the cache is the folder in `EVENKEEL_DATA` or
//! `evenkeel` in the platform's cache folder. Every file is verified by SHA-256 whenever it is
//! fetched or read.
//!
//! ```no_run
//! use evenkeel_data::source::{self, Catalogue, Quiet};
//!
//! let mnist = source::load(Catalogue::Mnist, &mut Quiet)?;
//! assert_eq!(mnist.train().len(), 60_000);
//! # Ok::<(), source::SourceError>(())
//! ```

mod cache;
mod catalogue;
mod error;
mod fetch;
mod http;
mod load;
mod npm;
mod progress;
mod sources;
#[cfg(test)]
mod tests;
mod unpack;

use std::path::PathBuf;

pub use cache::{Cache, ENVIRONMENT, FileStatus, Status, cache_dir};
pub use catalogue::{Catalogue, FileSpec, Variant};
pub use error::{Attempt, SourceError};
pub use progress::{Progress, Quiet};
pub use sources::Sources;

use crate::dataset::DataSet;

/// The folder of a data set in the default cache.
pub fn path(set: Catalogue) -> Result<PathBuf, SourceError> {
    Ok(Cache::open()?.path(set))
}

/// Checks every file of a data set in the default cache, without fetching any.
pub fn verify(set: Catalogue) -> Result<Vec<FileStatus>, SourceError> {
    Cache::open()?.verify(set)
}

/// Fetches into the default cache what is missing or corrupt. See [`Cache::fetch`].
pub fn fetch(set: Catalogue, progress: &mut dyn Progress) -> Result<(), SourceError> {
    Cache::open()?.fetch(set, progress)
}

/// Loads a data set from the default cache, fetching what is missing. See [`Cache::load`].
pub fn load(set: Catalogue, progress: &mut dyn Progress) -> Result<DataSet, SourceError> {
    Cache::open()?.load(set, progress)
}
