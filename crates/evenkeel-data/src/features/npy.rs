//! NumPy's `.npy`: a magic number, a version, and a Python dictionary that describes the array.
//!
//! The header is read here and not by a crate: those that there are bring a parser of Python with them.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use super::Table;
use super::arrays::integers;
use super::csv_file;
use crate::numbers::{NumberType, Place};
use crate::table::{Column, TableError};

const MAGIC: &[u8] = b"\x93NUMPY";

/// No header of a plain array comes near this length.
const LONGEST_HEADER: usize = 1 << 16;

/// What the header of an array says.
pub(super) struct Header {
    /// NumPy's name of the type, such as `<f4`.
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    fortran: bool,
}

impl Header {
    pub(super) fn read(mut reader: impl Read) -> io::Result<Self> {
        let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let mut start = [0; 8];
        reader.read_exact(&mut start)?;
        if !start.starts_with(MAGIC) {
            return Err(bad("is no NumPy array"));
        }
        let mut length = [0; 4];
        // The length has two bytes in version 1, and four since.
        reader.read_exact(if start[6] == 1 { &mut length[..2] } else { &mut length })?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_HEADER {
            return Err(bad("announces a header that no plain array has"));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text)?;
        Self::parse(&String::from_utf8_lossy(&text)).ok_or_else(|| bad("its header describes no plain array"))
    }

    /// `{'descr': '<f4', 'fortran_order': False, 'shape': (8, 3), }`
    fn parse(text: &str) -> Option<Self> {
        let after = |key: &str| Some(text.split_once(&format!("'{key}':"))?.1.trim_start());
        let dtype = after("descr")?.strip_prefix('\'')?.split_once('\'')?.0.to_owned();
        let fortran = match after("fortran_order")? {
            text if text.starts_with("True") => true,
            text if text.starts_with("False") => false,
            _ => return None,
        };
        let (shape, _) = after("shape")?.strip_prefix('(')?.split_once(')')?;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        Some(Self { dtype, shape: sizes.map(|size| size.parse().ok()).collect::<Option<_>>()?, fortran })
    }

    /// The type of the numbers, the rows and the columns of a matrix; else what is wrong, and what to do.
    pub(super) fn matrix(&self) -> Result<(NumberType, usize, usize), (String, &'static str)> {
        let number = match self.dtype.as_str() {
            "<f4" => NumberType::F32,
            "<f8" => NumberType::F64,
            "<f2" => NumberType::F16,
            "|u1" | "<u1" => NumberType::U8,
            other => return Err((format!("numbers of type {other}"), "convert them: x.astype('<f4')")),
        };
        let [rows, columns] = self.shape[..] else {
            let problem = format!("{} dimensions instead of 2", self.shape.len());
            return Err((problem, "one row per example: x.reshape(len(x), -1)"));
        };
        if self.fortran && rows > 1 && columns > 1 {
            return Err((
                "columns are stored one after the other".to_owned(),
                "save np.ascontiguousarray(x)",
            ));
        }
        Ok((
            number,
            usize::try_from(rows).unwrap_or(usize::MAX),
            usize::try_from(columns).unwrap_or(usize::MAX),
        ))
    }

    /// Words or whole numbers; else what is wrong, and what to do.
    pub(super) fn column(&self, mut reader: impl Read) -> Result<Column, (String, &'static str)> {
        // Two characters, as in `<i8` and `|S5`; a damaged header may hold anything.
        let (kind, width) = self.dtype.split_at_checked(2).unwrap_or_default();
        let width: usize = width.parse().unwrap_or(0);
        let hint = "labels, tasks and splits are one-dimensional arrays of whole numbers or words";
        // Numbers have at most eight bytes, words some more.
        let widest = if matches!(kind, "|S" | "<U") { 4096 } else { 8 };
        if self.shape.len() != 1 || !(1..=widest).contains(&width) {
            return Err((format!("an array of type {} and shape {:?}", self.dtype, self.shape), hint));
        }
        let size = if kind == "<U" { 4 * width } else { width };
        // Read to the end instead of trusting the header: a false one cannot make this process large.
        let mut bytes = Vec::new();
        let read =
            reader.read_to_end(&mut bytes).map_err(|error| (error.to_string(), "write the file again"))?;
        let expected = (size as u64).saturating_mul(self.shape[0]);
        if read as u64 != expected {
            return Err((
                format!("truncated: {expected} bytes expected, {read} found"),
                "write the file again",
            ));
        }
        match kind {
            "<i" | "|i" => Ok(integers(&bytes, size, true)),
            "<u" | "|u" | "|b" => Ok(integers(&bytes, size, false)),
            "|S" => Ok(words(&bytes, size, |cell| String::from_utf8_lossy(cell).into_owned())),
            "<U" => Ok(words(&bytes, size, utf32)),
            _ => Err((format!("an array of type {}", self.dtype), hint)),
        }
    }
}

/// Cells of fixed width, filled up with zeros.
fn words(bytes: &[u8], size: usize, text: impl Fn(&[u8]) -> String) -> Column {
    let mut column = Column::default();
    column.extend(bytes.chunks_exact(size).map(|cell| text(cell).trim_end_matches('\0').to_owned()));
    column
}

fn utf32(cell: &[u8]) -> String {
    let codes = cell.as_chunks().0.iter().map(|code| u32::from_le_bytes(*code));
    codes.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// The matrix of `path`, and the columns of the CSV of the same name beside it.
pub(super) fn read(path: &Path) -> Result<Table, TableError> {
    let bad = |(problem, hint): (String, &str)| TableError::new(path, None, problem, hint);
    let unreadable = |error: io::Error| bad((error.to_string(), "is it a file that numpy.save wrote?"));
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let header = Header::read(&mut file).map_err(unreadable)?;
    let offset = file.stream_position().map_err(unreadable)?;
    let (number, rows, columns) = header.matrix().map_err(bad)?;
    let place = Place { path: path.to_owned(), offset, number, columns, rows };
    let beside = path.with_extension("csv");
    if !beside.is_file() {
        let problem = format!("{} is not there", beside.display());
        let hint = "a .npy holds no labels: put a CSV of the same name beside it, with a column label";
        return Err(bad((problem, hint)));
    }
    Ok(Table { place, annotations: csv_file::annotations(&beside)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headers_are_read_as_numpy_writes_them() {
        let header =
            Header::parse("{'descr': '<f4', 'fortran_order': False, 'shape': (8, 3), }   \n").unwrap();
        assert_eq!(
            (header.dtype.as_str(), header.shape.as_slice(), header.fortran),
            ("<f4", &[8, 3][..], false)
        );
        let scalar = Header::parse("{'descr': '|u1', 'fortran_order': True, 'shape': (), }").unwrap();
        assert_eq!((scalar.shape.len(), scalar.fortran), (0, true));
        let record = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (8,), }";
        assert!(Header::parse(record).is_none() && Header::parse("{}").is_none());
    }

    #[test]
    fn numbers_of_an_absurd_width_are_refused() {
        for (descr, bytes) in [("<i32", 32), ("|b17", 17), ("<u4096", 4096)] {
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
            let (problem, _) = Header::parse(&header).unwrap().column(&vec![1; bytes][..]).err().unwrap();
            assert!(problem.contains(descr), "{problem}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_headers_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..100), text: String) {
            let _ = Header::read(&[MAGIC, &bytes].concat()[..]);
            let _ = Header::parse(&text);
        }
    }
}
