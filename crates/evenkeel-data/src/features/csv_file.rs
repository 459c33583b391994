//! Features, or only what is known about them, in CSV with a header.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use csv::{Reader, StringRecord};

use super::convert::Conversion;
use super::{Table, check_shape};
use crate::numbers::NumberType;
use crate::table::{Annotations, Column, LABEL, SPLIT, TASK, TableError, csv_problem};

const HINT: &str = "the first line names the columns: label, optionally task and split, and one per feature";

/// Which column is which.
struct Layout {
    label: usize,
    task: Option<usize>,
    split: Option<usize>,
    features: Vec<usize>,
}

fn open(path: &Path) -> Result<(Reader<BufReader<File>>, Layout), TableError> {
    let bad = |problem: String| TableError::new(path, None, problem, HINT);
    let file = File::open(path).map_err(|error| bad(error.to_string()))?;
    let mut reader = csv::ReaderBuilder::new().from_reader(BufReader::with_capacity(1 << 20, file));
    let header = reader.headers().map_err(|error| bad(error.to_string()))?;
    let at = |name: &str| header.iter().position(|column| column.trim() == name);
    let label = at(LABEL).ok_or_else(|| bad(format!("has no column called {LABEL}")))?;
    let (task, split) = (at(TASK), at(SPLIT));
    let annotation = |column: &usize| *column == label || Some(*column) == task || Some(*column) == split;
    let features = (0..header.len()).filter(|column| !annotation(column)).collect();
    Ok((reader, Layout { label, task, split, features }))
}

impl Layout {
    fn annotate(&self, record: &StringRecord, into: &mut Annotations) -> Result<(), String> {
        let cell = |at: usize, name: &str| {
            let cell = record.get(at).map(str::trim).filter(|cell| !cell.is_empty());
            cell.ok_or_else(|| format!("its {name} is missing"))
        };
        into.label.push(cell(self.label, LABEL)?);
        for (at, name, column) in [(self.task, TASK, &mut into.task), (self.split, SPLIT, &mut into.split)] {
            if let Some(at) = at {
                column.get_or_insert_with(Column::default).push(cell(at, name)?);
            }
        }
        Ok(())
    }
}

/// The columns `label`, `task` and `split`; others are passed over.
pub(super) fn annotations(path: &Path) -> Result<Annotations, TableError> {
    let (mut reader, layout) = open(path)?;
    let mut annotations = Annotations::default();
    for (row, record) in reader.records().enumerate() {
        let bad = |problem: String| TableError::new(path, Some(row), problem, HINT);
        let record = record.map_err(|error| bad(csv_problem(&error)))?;
        layout.annotate(&record, &mut annotations).map_err(bad)?;
    }
    Ok(annotations)
}

/// Every other column is a feature.
pub(super) fn read(path: &Path) -> Result<Table, TableError> {
    let (mut reader, layout) = open(path)?;
    check_shape(path, 1, layout.features.len())?;
    let mut conversion = Conversion::of(path)?;
    let mut annotations = Annotations::default();
    let mut numbers = Vec::with_capacity(layout.features.len());
    for (row, record) in reader.records().enumerate() {
        let bad = |problem: String| TableError::new(path, Some(row), problem, HINT);
        let record = record.map_err(|error| bad(csv_problem(&error)))?;
        layout.annotate(&record, &mut annotations).map_err(bad)?;
        numbers.clear();
        for &at in &layout.features {
            let cell = record.get(at).unwrap_or_default().trim();
            let number: f32 =
                cell.parse().map_err(|_| bad(format!("'{cell}' in column {} is no number", at + 1)))?;
            numbers.push(number);
        }
        conversion.push(&numbers)?;
    }
    let place = conversion.finish(NumberType::F32, layout.features.len())?;
    Ok(Table { place, annotations })
}
