//! NumPy's `.npz`: arrays in a ZIP archive.

use std::fs::File;
use std::io::{Read, copy};
use std::path::Path;

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, FileReader, RECOMMENDED_BUFFER_SIZE, ZipArchive, ZipArchiveEntryWayfinder};

use super::Table;
use super::arrays::{Arrays, table};
use super::check_shape;
use super::convert::Conversion;
use super::npy::Header;
use crate::numbers::Place;
use crate::table::{Column, TableError};

const WRITE_AGAIN: &str = "is it a file that numpy.savez wrote? Write it again";

struct Npz<'a> {
    path: &'a Path,
    archive: ZipArchive<FileReader>,
    members: Vec<Member>,
}

/// An array of the archive.
struct Member {
    name: String,
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    dimensions: usize,
}

pub(super) fn read(path: &Path) -> Result<Table, TableError> {
    let bad = |problem: String| TableError::new(path, None, problem, WRITE_AGAIN);
    let file = File::open(path).map_err(|error| bad(error.to_string()))?;
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(file, &mut buffer).map_err(|error| bad(error.to_string()))?;
    let mut members = Vec::new();
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(|error| bad(error.to_string()))? {
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        if let Some(name) = name.strip_suffix(".npy") {
            let (place, method) = (entry.wayfinder(), entry.compression_method());
            members.push(Member { name: name.to_owned(), place, method, dimensions: 0 });
        }
    }
    let mut npz = Npz { path, archive, members };
    for i in 0..npz.members.len() {
        let dimensions = npz.open(&npz.members[i].name)?.0.shape.len();
        npz.members[i].dimensions = dimensions;
    }
    table(path, &mut npz)
}

impl Npz<'_> {
    /// The header of an array, and what comes after it.
    fn open(&self, name: &str) -> Result<(Header, Box<dyn Read + '_>), TableError> {
        let bad =
            |problem: String| TableError::new(self.path, None, format!("{name}: {problem}"), WRITE_AGAIN);
        let member = self.members.iter().find(|member| member.name == name);
        let member = member.ok_or_else(|| bad("is not in the archive".to_owned()))?;
        let entry = self.archive.get_entry(member.place).map_err(|error| bad(error.to_string()))?;
        let mut content: Box<dyn Read> = match member.method {
            CompressionMethod::STORE => Box::new(entry.verifying_reader(entry.reader())),
            CompressionMethod::DEFLATE => {
                Box::new(entry.verifying_reader(DeflateDecoder::new(entry.reader())))
            }
            other => return Err(bad(format!("is packed by a method that is not known ({other:?})"))),
        };
        let header = Header::read(&mut content).map_err(|error| bad(error.to_string()))?;
        Ok((header, content))
    }
}

impl Arrays for Npz<'_> {
    fn names(&self) -> Vec<(String, usize)> {
        self.members.iter().map(|member| (member.name.clone(), member.dimensions)).collect()
    }

    fn matrix(&mut self, name: &str) -> Result<Place, TableError> {
        let path = self.path;
        let bad =
            |problem: String, hint: &str| TableError::new(path, None, format!("{name}: {problem}"), hint);
        let (header, mut content) = self.open(name)?;
        let (number, rows, columns) = header.matrix().map_err(|(problem, hint)| bad(problem, hint))?;
        check_shape(path, rows, columns)?;
        let mut conversion = Conversion::of(path)?;
        let expected = (rows * number.size()) as u64 * columns as u64;
        let found =
            copy(&mut content, &mut conversion).map_err(|error| bad(error.to_string(), WRITE_AGAIN))?;
        if found != expected {
            return Err(bad(format!("truncated: {expected} bytes expected, {found} found"), WRITE_AGAIN));
        }
        conversion.finish(number, columns)
    }

    fn column(&mut self, name: &str) -> Result<Column, TableError> {
        let path = self.path;
        let (header, content) = self.open(name)?;
        let bad =
            |(problem, hint): (String, &str)| TableError::new(path, None, format!("{name}: {problem}"), hint);
        header.column(content).map_err(bad)
    }
}
