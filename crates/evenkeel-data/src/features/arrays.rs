//! Named arrays of one file, as `.npz` and `.safetensors` have them.

use std::path::Path;

use super::Table;
use crate::numbers::Place;
use crate::table::{Annotations, Column, TableError};

/// Names under which the numbers, the labels, the tasks and the split are looked for.
const FEATURES: [&str; 5] = ["features", "x", "X", "data", "embeddings"];
const LABELS: [&str; 4] = ["label", "labels", "y", "targets"];
const TASKS: [&str; 2] = ["task", "tasks"];
const SPLITS: [&str; 2] = ["split", "splits"];

/// A file of named arrays.
pub(super) trait Arrays {
    /// The name and the number of dimensions of every array.
    fn names(&self) -> Vec<(String, usize)>;
    /// A matrix, to be read row by row.
    fn matrix(&mut self, name: &str) -> Result<Place, TableError>;
    /// An array of words or whole numbers.
    fn column(&mut self, name: &str) -> Result<Column, TableError>;
}

/// The table that the arrays of a file make.
pub(super) fn table(path: &Path, arrays: &mut impl Arrays) -> Result<Table, TableError> {
    let names = arrays.names();
    let first = |wanted: &[&str]| {
        wanted
            .iter()
            .find(|wanted| names.iter().any(|(name, _)| name == *wanted))
            .map(|name| (*name).to_owned())
    };
    let matrices: Vec<&String> = names.iter().filter(|(_, dims)| *dims == 2).map(|(name, _)| name).collect();
    let only = (matrices.len() == 1).then(|| matrices[0].clone());
    let found = || names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let missing = |what: &str, hint: String| {
        TableError::new(path, None, format!("no {what} among its arrays ({})", found()), hint)
    };
    let features = first(&FEATURES)
        .or(only)
        .ok_or_else(|| missing("features", format!("call the matrix {}", FEATURES.join(" or "))))?;
    let label = first(&LABELS)
        .ok_or_else(|| missing("labels", format!("call the array of labels {}", LABELS.join(" or "))))?;
    let mut optional = |wanted: &[&str]| first(wanted).map(|name| arrays.column(&name)).transpose();
    let (task, split) = (optional(&TASKS)?, optional(&SPLITS)?);
    let annotations = Annotations { label: arrays.column(&label)?, task, split };
    Ok(Table { place: arrays.matrix(&features)?, annotations })
}

/// Whole numbers of so many bytes each, at most eight, as cells.
pub(super) fn integers(bytes: &[u8], size: usize, signed: bool) -> Column {
    let mut column = Column::default();
    for bytes in bytes.chunks_exact(size.max(1)) {
        let negative = signed && bytes.last().is_some_and(|top| top & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        column.push(&i128::from_le_bytes(wide).to_string());
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_any_width_have_their_sign() {
        assert_eq!(integers(&[255, 1], 1, true).names(), ["-1", "1"]);
        assert_eq!(integers(&[255, 1], 1, false).names(), ["255", "1"]);
        assert_eq!(integers(&(-7_i64).to_le_bytes(), 8, true).names(), ["-7"]);
        assert_eq!(integers(&u64::MAX.to_le_bytes(), 8, false).names(), ["18446744073709551615"]);
    }
}
