//! A matrix of numbers in a file, read row by row.
//!
//! Nothing but the rows of a batch is ever in memory, so that a file may be larger than it. The operating system keeps what
//! is read often.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use half::f16;
use serde::{Deserialize, Serialize};

/// How a number is stored; all are little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberType {
    /// Single precision.
    F32,
    /// Double precision, rounded to single when it is read.
    F64,
    /// Half precision.
    F16,
    /// Bytes.
    U8,
}

impl NumberType {
    /// Bytes per number.
    pub const fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
            Self::F16 => 2,
            Self::U8 => 1,
        }
    }

    /// Appends the numbers that `bytes` hold.
    fn decode(self, bytes: &[u8], out: &mut Vec<f32>) {
        match self {
            Self::F32 => out.extend(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b))),
            Self::F64 => out.extend(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32)),
            Self::F16 => out.extend(bytes.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b).to_f32())),
            Self::U8 => out.extend(bytes.iter().map(|b| f32::from(*b))),
        }
    }
}

/// Where the rows of a matrix lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Where its first row begins.
    pub offset: u64,
    /// How its numbers are stored.
    pub number: NumberType,
    /// Numbers per row.
    pub columns: usize,
    /// The number of rows.
    pub rows: usize,
}

impl Place {
    fn row_bytes(&self) -> u64 {
        (self.columns * self.number.size()) as u64
    }

    /// The length that the file has at least.
    pub fn end(&self) -> u64 {
        self.row_bytes().saturating_mul(self.rows as u64).saturating_add(self.offset)
    }
}

/// Rows of numbers that stay in their file.
#[derive(Debug)]
pub struct Numbers {
    place: Place,
    file: File,
}

impl Numbers {
    /// Opens the file; it must be long enough for all rows.
    pub fn open(place: Place) -> io::Result<Self> {
        let file = File::open(&place.path)?;
        let (found, needed) = (file.metadata()?.len(), place.end());
        if found < needed {
            let message = format!("truncated: {needed} bytes expected, {found} found");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        Ok(Self { place, file })
    }

    /// Where the rows lie.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The file that they lie in.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// The bytes of some rows, as they are stored.
    ///
    /// # Panics
    /// If the file cannot be read any more: it could when it was opened.
    pub fn bytes(&self, first: usize, rows: usize) -> Vec<u8> {
        let mut bytes = vec![0; rows * self.place.row_bytes() as usize];
        let offset = self.place.offset + first as u64 * self.place.row_bytes();
        if let Err(error) = read_at(&self.file, &mut bytes, offset) {
            panic!("{}: cannot be read any more: {error}", self.place.path.display());
        }
        bytes
    }

    /// Appends some rows, as numbers.
    pub fn append(&self, first: usize, rows: usize, out: &mut Vec<f32>) {
        self.place.number.decode(&self.bytes(first, rows), out);
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                bytes = &mut bytes[n..];
                offset += n as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8], number: NumberType, columns: usize, rows: usize) -> io::Result<Numbers> {
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(file.path(), [b"head", bytes].concat())?;
        // The file is deleted when this returns; what is open stays readable.
        Numbers::open(Place { path: file.path().to_owned(), offset: 4, number, columns, rows })
    }

    #[test]
    fn every_type_gives_its_numbers_row_by_row() {
        let values = [0.5_f32, -2.0, 3.0, 100.0, 0.25, 7.0];
        let stored: [(NumberType, Vec<u8>); 3] = [
            (NumberType::F32, values.iter().flat_map(|v| v.to_le_bytes()).collect()),
            (NumberType::F64, values.iter().flat_map(|v| f64::from(*v).to_le_bytes()).collect()),
            (NumberType::F16, values.iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect()),
        ];
        for (number, bytes) in stored {
            let matrix = numbers(&bytes, number, 2, 3).unwrap();
            let mut out = vec![9.0];
            matrix.append(1, 2, &mut out);
            assert_eq!(out, [9.0, 3.0, 100.0, 0.25, 7.0], "{number:?}");
        }
        let mut out = Vec::new();
        numbers(&[1, 2, 255, 4], NumberType::U8, 2, 2).unwrap().append(1, 1, &mut out);
        assert_eq!(out, [255.0, 4.0]);
    }

    #[test]
    fn a_file_that_is_too_short_is_refused_when_it_is_opened() {
        let error = numbers(&[0; 23], NumberType::F32, 2, 3).unwrap_err().to_string();
        assert_eq!(error, "truncated: 28 bytes expected, 27 found");
        let huge = Place {
            path: "x".into(),
            offset: u64::MAX,
            number: NumberType::F64,
            columns: 1 << 40,
            rows: usize::MAX,
        };
        assert_eq!(huge.end(), u64::MAX);
    }
}
