//! What `fuzz/run` reaches of features: each format by itself.

use std::path::Path;

use super::{Table, csv_file, npy, npz, parquet_file, safetensors_file};
use crate::load::{LoadError, Loaded};
use crate::options::DataOptions;

/// Features in CSV.
pub fn csv(path: &Path) -> Result<Loaded, LoadError> {
    loaded(csv_file::read(path)?, path, path)
}

/// Features in a NumPy array.
pub fn npy(path: &Path) -> Result<Loaded, LoadError> {
    loaded(npy::read(path)?, path, &path.with_extension("csv"))
}

/// Features in an archive of NumPy arrays.
pub fn npz(path: &Path) -> Result<Loaded, LoadError> {
    loaded(npz::read(path)?, path, path)
}

/// Features in Parquet.
pub fn parquet(path: &Path) -> Result<Loaded, LoadError> {
    loaded(parquet_file::read(path)?, path, path)
}

/// Features in tensors.
pub fn safetensors(path: &Path) -> Result<Loaded, LoadError> {
    loaded(safetensors_file::read(path)?, path, path)
}

fn loaded(table: Table, path: &Path, labels: &Path) -> Result<Loaded, LoadError> {
    Loaded::measured(table.into_data_set(path, labels, &DataOptions::default())?)
}
