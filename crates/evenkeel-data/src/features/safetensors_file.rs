//! `.safetensors`: a header in JSON, then the tensors one after the other.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::Table;
use super::arrays::{Arrays, integers, table};
use crate::numbers::{NumberType, Place};
use crate::table::{Column, TableError};

/// No header comes near this length.
const LONGEST_HEADER: u64 = 100 << 20;

const WRITE_AGAIN: &str = "is it a .safetensors file? Write it again";

struct Tensors<'a> {
    path: &'a Path,
    file: File,
    /// Where the tensors begin.
    start: u64,
    metadata: Metadata,
}

pub(super) fn read(path: &Path) -> Result<Table, TableError> {
    let bad = |problem: String| TableError::new(path, None, problem, WRITE_AGAIN);
    let mut file = File::open(path).map_err(|error| bad(error.to_string()))?;
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|error| bad(error.to_string()))?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_HEADER {
        return Err(bad(format!("announces a header of {length} bytes")));
    }
    // Only the header: the crate's own reader wants the whole file in memory.
    let mut header = Vec::new();
    (&file).take(length).read_to_end(&mut header).map_err(|error| bad(error.to_string()))?;
    let metadata: Metadata = serde_json::from_slice(&header).map_err(|error| bad(error.to_string()))?;
    let (start, found) = (8 + length, file.metadata().map_or(0, |metadata| metadata.len()));
    let expected = start.saturating_add(metadata.data_len() as u64);
    if found < expected {
        return Err(bad(format!("truncated: {expected} bytes expected, {found} found")));
    }
    table(path, &mut Tensors { path, file, start, metadata })
}

impl Tensors<'_> {
    fn info(&self, name: &str) -> Result<TensorInfo, TableError> {
        let missing = || TableError::new(self.path, None, format!("no tensor {name}"), WRITE_AGAIN);
        self.metadata.info(name).cloned().ok_or_else(missing)
    }
}

impl Arrays for Tensors<'_> {
    fn names(&self) -> Vec<(String, usize)> {
        let mut names: Vec<(String, usize)> =
            self.metadata.tensors().into_iter().map(|(name, info)| (name, info.shape.len())).collect();
        names.sort_unstable();
        names
    }

    fn matrix(&mut self, name: &str) -> Result<Place, TableError> {
        let info = self.info(name)?;
        let bad = |problem: String, hint: &str| {
            TableError::new(self.path, None, format!("{name}: {problem}"), hint)
        };
        let number = match info.dtype {
            Dtype::F32 => NumberType::F32,
            Dtype::F64 => NumberType::F64,
            Dtype::F16 => NumberType::F16,
            Dtype::U8 => NumberType::U8,
            other => return Err(bad(format!("numbers of type {other:?}"), "convert them: x.float()")),
        };
        let [rows, columns] = info.shape[..] else {
            let problem = format!("{} dimensions instead of 2", info.shape.len());
            return Err(bad(problem, "one row per example: x.flatten(1)"));
        };
        let offset = self.start.saturating_add(info.data_offsets.0 as u64);
        Ok(Place { path: self.path.to_owned(), offset, number, columns, rows })
    }

    fn column(&mut self, name: &str) -> Result<Column, TableError> {
        let info = self.info(name)?;
        let bad = |problem: String, hint: &str| {
            TableError::new(self.path, None, format!("{name}: {problem}"), hint)
        };
        let (size, signed) = match info.dtype {
            Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => (info.dtype.bitsize() / 8, true),
            Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 | Dtype::BOOL => {
                (info.dtype.bitsize() / 8, false)
            }
            other => {
                return Err(bad(
                    format!("labels of type {other:?}"),
                    "labels, tasks and splits are whole numbers here",
                ));
            }
        };
        if info.shape.len() != 1 {
            return Err(bad(format!("{} dimensions instead of 1", info.shape.len()), "one number per row"));
        }
        let (from, to) = info.data_offsets;
        let length = info.shape[0].checked_mul(size).filter(|length| to.checked_sub(from) == Some(*length));
        let length = length.ok_or_else(|| bad("its size and its place disagree".to_owned(), WRITE_AGAIN))?;
        let mut bytes = vec![0; length];
        let mut read = || {
            self.file.seek(SeekFrom::Start(self.start + from as u64))?;
            self.file.read_exact(&mut bytes)
        };
        read().map_err(|error| TableError::new(self.path, None, format!("{name}: {error}"), WRITE_AGAIN))?;
        Ok(integers(&bytes, size, signed))
    }
}
