//! Features in Parquet: a column per feature, or one column of lists.

use std::fs::File;
use std::panic::catch_unwind;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::convert::Conversion;
use super::{Table, check_shape};
use crate::numbers::NumberType;
use crate::table::{Annotations, Column, LABEL, SPLIT, TASK, TableError};

const HINT: &str =
    "columns label, optionally task and split, and the features: a column each, or one column of lists";

/// Reads the file. The crate panics on some damaged files: that, too, is an error of the file.
pub(super) fn read(path: &Path) -> Result<Table, TableError> {
    catch_unwind(|| read_rows(path)).unwrap_or_else(|_| {
        Err(TableError::new(path, None, "is damaged: its pages cannot be decoded", "write the file again"))
    })
}

fn read_rows(path: &Path) -> Result<Table, TableError> {
    let bad = |row: Option<usize>, problem: String| TableError::new(path, row, problem, HINT);
    let file = File::open(path).map_err(|error| bad(None, error.to_string()))?;
    let reader = SerializedFileReader::new(file).map_err(|error| {
        bad(None, format!("cannot be read (only uncompressed and Snappy files can): {error}"))
    })?;
    let schema = reader.metadata().file_metadata().schema();
    check_shape(path, 1, schema.get_fields().len())?;
    if !schema.get_fields().iter().any(|field| field.name() == LABEL) {
        return Err(bad(None, format!("has no column called {LABEL}")));
    }
    let rows = reader.get_row_iter(None).map_err(|error| bad(None, error.to_string()))?;
    let mut conversion = Conversion::of(path)?;
    let mut annotations = Annotations::default();
    let mut columns = None;
    let mut numbers = Vec::new();
    for (row, record) in rows.enumerate() {
        let record = record.map_err(|error| bad(Some(row), error.to_string()))?;
        numbers.clear();
        for (name, field) in record.get_column_iter() {
            let known = match name.as_str() {
                LABEL => Some(&mut annotations.label),
                TASK => Some(annotations.task.get_or_insert_with(Column::default)),
                SPLIT => Some(annotations.split.get_or_insert_with(Column::default)),
                _ => None,
            };
            match known {
                Some(column) => {
                    let cell = cell(field).ok_or_else(|| {
                        bad(Some(row), format!("its {name} is missing, or neither a word nor a whole number"))
                    })?;
                    column.push(&cell);
                }
                None => append(field, &mut numbers)
                    .map_err(|what| bad(Some(row), format!("column {name} is {what}, and no number")))?,
            }
        }
        let expected = *columns.get_or_insert(numbers.len());
        if numbers.len() != expected {
            return Err(bad(
                Some(row),
                format!("has {} features, but the rows before it {expected}", numbers.len()),
            ));
        }
        conversion.push(&numbers)?;
    }
    let columns = columns.unwrap_or(0);
    Ok(Table { place: conversion.finish(NumberType::F32, columns)?, annotations })
}

/// A word or a whole number.
fn cell(field: &Field) -> Option<String> {
    match field {
        Field::Str(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Field::Bytes(bytes) => bytes.as_utf8().ok().map(String::from),
        Field::Bool(_)
        | Field::Byte(_)
        | Field::Short(_)
        | Field::Int(_)
        | Field::Long(_)
        | Field::UByte(_)
        | Field::UShort(_)
        | Field::UInt(_)
        | Field::ULong(_) => Some(field.to_string()),
        _ => None,
    }
}

/// The numbers of a field, which may be a list; else what it is.
fn append(field: &Field, numbers: &mut Vec<f32>) -> Result<(), String> {
    numbers.push(match field {
        Field::Float(number) => *number,
        Field::Double(number) => *number as f32,
        Field::Float16(number) => number.to_f32(),
        Field::Byte(number) => f32::from(*number),
        Field::UByte(number) => f32::from(*number),
        Field::Short(number) => f32::from(*number),
        Field::UShort(number) => f32::from(*number),
        Field::Int(number) => *number as f32,
        Field::UInt(number) => *number as f32,
        Field::Long(number) => *number as f32,
        Field::ULong(number) => *number as f32,
        Field::ListInternal(list) => {
            return list.elements().iter().try_for_each(|field| append(field, numbers));
        }
        Field::Null => return Err("missing".to_owned()),
        other => return Err(format!("'{other}'")),
    });
    Ok(())
}
