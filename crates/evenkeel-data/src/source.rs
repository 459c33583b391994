//! Where the files of named data sets come from, where they lie, and whether they are intact.
//!
//! Files lie unpacked in `<cache>/<data set>/`, where the cache is the folder in `EVENKEEL_DATA` or
//! `evenkeel` in the platform's cache folder. Every file is verified by SHA-256 whenever it is
//! fetched or read.
//!
//! ```no_run
//! use evenkeel_data::sets;
//! use evenkeel_data::source::{self, Quiet};
//!
//! let mnist = source::load(sets::find("mnist")?, &mut Quiet)?;
//! assert_eq!(mnist.train().len(), 60_000);
//! # Ok::<(), source::SourceError>(())
//! ```

mod cache;
mod error;
mod fetch;
#[cfg(fuzzing)]
pub mod fuzzing;
mod http;
mod load;
mod npm;
mod progress;
mod sources;
#[cfg(test)]
mod tests;
mod unpack;

use std::path::PathBuf;

pub use cache::{Cache, ENVIRONMENT, FileStatus, Presence, Status, cache_dir};
pub use error::{Attempt, SourceError};
pub use progress::{Progress, Quiet};
pub use sources::Sources;

use crate::dataset::DataSet;
use crate::sets::Entry;

/// The folder of a data set in the default cache.
pub fn path(set: &Entry) -> Result<PathBuf, SourceError> {
    Ok(Cache::open()?.path(set))
}

/// Whether a data set is ready in the default cache. See [`Cache::presence`].
pub fn presence(set: &Entry) -> Result<Presence, SourceError> {
    Cache::open()?.presence(set)
}

/// Checks every file of a data set in the default cache, without fetching any.
pub fn verify(set: &Entry) -> Result<Vec<FileStatus>, SourceError> {
    Cache::open()?.verify(set)
}

/// Fetches into the default cache what is missing or corrupt. See [`Cache::fetch`].
pub fn fetch(set: &Entry, progress: &mut dyn Progress) -> Result<(), SourceError> {
    Cache::open()?.fetch(set, progress)
}

/// Loads a data set from the default cache, fetching what is missing. See [`Cache::load`].
pub fn load(set: &Entry, progress: &mut dyn Progress) -> Result<DataSet, SourceError> {
    Cache::open()?.load(set, progress)
}
