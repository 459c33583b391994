//! Rows of numbers with labels, as a frozen network gives them.
//!
//! | file | the numbers | label, task and split |
//! |---|---|---|
//! | `x.npy` | the matrix | columns of `x.csv` beside it |
//! | `x.npz` | the array `features` (or the only matrix) | the arrays `label` (or `labels`, `y`), `task`, `split` |
//! | `x.safetensors` | as in `.npz` | as in `.npz` |
//! | `x.csv`, `x.parquet` | every other column | the columns `label`, `task`, `split` |
//!
//! Matrices of `.npy`, `.safetensors` stay where they are and are read row by row; others are converted once into a matrix of
//! single precision in the cache folder.

mod arrays;
mod convert;
mod csv_file;
#[cfg(fuzzing)]
pub mod fuzzing;
mod npy;
mod npz;
mod parquet_file;
mod safetensors_file;

use std::path::Path;

use crate::dataset::DataSet;
use crate::labelled::Labelled;
use crate::numbers::{Numbers, Place};
use crate::options::DataOptions;
use crate::table::{Annotations, TableError};

/// More columns are no features of a network, but a matrix that lies on its side.
const MOST_COLUMNS: usize = 1 << 16;

/// Rows that are checked at once.
const ROWS_AT_ONCE: usize = 256;

const HINT: &str = "features: takes .npy, .npz, .safetensors, .parquet or .csv";

/// A matrix and what is known about its rows.
struct Table {
    place: Place,
    annotations: Annotations,
}

/// Reads the file in the format that its name ends with.
pub(crate) fn load(path: &Path, options: &DataOptions) -> Result<DataSet, TableError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if !path.is_file() {
        let problem = if path.exists() { "is no file" } else { "is not there" };
        return Err(TableError::new(path, None, problem, HINT));
    }
    let table = match extension.as_str() {
        "npy" => npy::read(path)?,
        "npz" => npz::read(path)?,
        "safetensors" => safetensors_file::read(path)?,
        "parquet" | "pq" => parquet_file::read(path)?,
        "csv" => csv_file::read(path)?,
        _ => return Err(TableError::new(path, None, format!("'.{extension}' is not a known format"), HINT)),
    };
    // A .npy has its labels in a file of their own.
    let labels = if extension == "npy" { &path.with_extension("csv") } else { path };
    table.into_data_set(path, labels, options)
}

impl Table {
    fn into_data_set(self, path: &Path, labels: &Path, options: &DataOptions) -> Result<DataSet, TableError> {
        let Self { place, annotations } = self;
        check_shape(path, place.rows, place.columns)?;
        let labelled = annotations.label.codes().len();
        if labelled != place.rows {
            let problem = format!("{} rows of numbers but {labelled} labels", place.rows);
            return Err(TableError::new(path, None, problem, "give every row one label"));
        }
        let others = [("task", &annotations.task), ("split", &annotations.split)];
        for (name, column) in others.into_iter().filter_map(|(name, column)| Some((name, column.as_ref()?))) {
            let found = column.codes().len();
            if found != place.rows {
                let problem = format!("{} rows of numbers but {found} entries of {name}", place.rows);
                return Err(TableError::new(
                    path,
                    None,
                    problem,
                    format!("give every row one {name}, or none"),
                ));
            }
        }
        let rows = place.rows;
        let numbers = Numbers::open(place).map_err(|error| {
            TableError::new(path, None, error.to_string(), "the file was cut short: write it again")
        })?;
        check_finite(path, &numbers)?;
        let all = Labelled::new(numbers, vec![0; rows], 1)?;
        annotations.assemble(labels, format!("features:{}", path.display()), &all, options.test_fraction())
    }
}

fn check_shape(path: &Path, rows: usize, columns: usize) -> Result<(), TableError> {
    let bad = |problem: String, hint: &str| Err(TableError::new(path, None, problem, hint));
    if columns == 0 || rows == 0 {
        return bad(format!("{rows} rows of {columns} numbers"), "one row per example, with its features");
    }
    if columns > MOST_COLUMNS {
        return bad(
            format!("{columns} columns, more than the {MOST_COLUMNS} supported"),
            "rows are examples: transpose the matrix if it lies on its side, or project the features",
        );
    }
    if u32::try_from(rows).is_err() {
        return bad(format!("{rows} rows, more than can be counted"), "split the file");
    }
    Ok(())
}

fn check_finite(path: &Path, numbers: &Numbers) -> Result<(), TableError> {
    let (rows, columns) = (numbers.place().rows, numbers.place().columns);
    let mut values = Vec::new();
    for first in (0..rows).step_by(ROWS_AT_ONCE) {
        values.clear();
        numbers.append(first, ROWS_AT_ONCE.min(rows - first), &mut values);
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let problem = format!("column {} is {}", at % columns + 1, values[at]);
            let hint = "remove or replace what is not a finite number (in single precision) before training";
            return Err(TableError::new(path, Some(first + at / columns), problem, hint));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
