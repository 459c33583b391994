//! Reading a data set.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use super::header::{Header, Kind};
use super::{DecodedError, MAGIC};
use crate::dataset::{DataSet, TaskColumn};
use crate::examples::Examples;
use crate::files::sha256;
use crate::images::{ImageShape, Images};
use crate::labelled::Labelled;
use crate::load::Loaded;
use crate::normalize::Normalization;
use crate::numbers::Numbers;
use crate::sparse::Sparse;

/// No header comes near this length; a file of another kind may have no line end at all.
const LONGEST_LINE: u64 = 1 << 16;

impl Loaded {
    /// Reads what [`Loaded::save`] wrote.
    ///
    /// Files of another kind and files that were cut short are refused. The bytes after the header are not hashed again.
    ///
    /// ```
    /// use evenkeel_data::{Loaded, Normalization, digits};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("digits");
    /// let loaded = Loaded { data: digits(20, 10, 0), normalization: Normalization::mnist(), sha256: None };
    /// loaded.save(&path)?;
    /// assert_eq!(Loaded::read(&path)?.data.train().image(7), loaded.data.train().image(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: &Path) -> Result<Self, DecodedError> {
        let failed = |reason| DecodedError::Io { path: path.to_owned(), action: "read", reason };
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?.len();
        let mut file = BufReader::with_capacity(1 << 16, file);
        let [magic, header, checksum] =
            [line(&mut file), line(&mut file), line(&mut file)].map(|line| line.map_err(failed));
        if magic? != MAGIC.as_bytes() {
            return Err(DecodedError::Foreign { path: path.to_owned() });
        }
        let header = header?;
        let damaged = |reason| DecodedError::Header { path: path.to_owned(), reason };
        if checksum? != sha256(&header).as_bytes() {
            return Err(damaged("its checksum does not match".to_owned()));
        }
        let start = (MAGIC.len() + header.len() + 64 + 3) as u64;
        let header: Header = serde_json::from_slice(&header).map_err(|e| damaged(e.to_string()))?;
        let length = header.length().map_err(damaged)?;
        // Compared before anything is allocated: a false header cannot make this process large.
        let expected = start.saturating_add(length);
        if expected != found {
            return Err(DecodedError::Length { path: path.to_owned(), expected, found });
        }
        let mut bytes = Bytes { file, failed: &failed };
        header.assemble(&mut bytes)
    }
}

/// What follows the header, part by part.
struct Bytes<'a, R> {
    file: R,
    failed: &'a dyn Fn(io::Error) -> DecodedError,
}

impl<R: Read> Bytes<'_, R> {
    fn take(&mut self, length: usize) -> Result<Vec<u8>, DecodedError> {
        let mut bytes = vec![0; length];
        self.file.read_exact(&mut bytes).map_err(self.failed)?;
        Ok(bytes)
    }

    /// So many numbers of `N` bytes.
    fn numbers<const N: usize, T>(&mut self, n: usize, of: fn([u8; N]) -> T) -> Result<Vec<T>, DecodedError> {
        Ok(self.take(N * n)?.as_chunks().0.iter().map(|bytes| of(*bytes)).collect())
    }

    /// A number for each training example and for each test example.
    fn both<const N: usize, T>(
        &mut self,
        header: &Header,
        of: fn([u8; N]) -> T,
    ) -> Result<[Vec<T>; 2], DecodedError> {
        Ok([self.numbers(header.train as usize, of)?, self.numbers(header.test as usize, of)?])
    }
}

impl Header {
    fn assemble<R: Read>(self, bytes: &mut Bytes<'_, R>) -> Result<Loaded, DecodedError> {
        let read = match &self.kind {
            Kind::Images { channels, height, width, mean, std } => {
                let shape = ImageShape::new(*channels, *height, *width);
                let mut images = |n: u32| -> Result<(Arc<Examples>, Vec<u32>), DecodedError> {
                    let images = Images::new(shape, bytes.take(shape.len() * n as usize)?)?;
                    Ok((Arc::new(images.into()), (0..n).collect()))
                };
                let parts = [images(self.train)?, images(self.test)?];
                let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
                (parts, Normalization::new(single(mean), single(std))?)
            }
            Kind::Sparse { columns, rows, entries } => {
                let starts = bytes.numbers(*rows as usize + 1, u64::from_le_bytes)?;
                let entry = |bytes: [u8; 8]| {
                    let [a, b, c, d, value @ ..] = bytes;
                    (u32::from_le_bytes([a, b, c, d]), f32::from_le_bytes(value))
                };
                let entries = bytes.numbers(*entries as usize, entry)?;
                let sparse: Arc<Examples> = Arc::new(Sparse::from_parts(*columns, starts, entries)?.into());
                let rows = bytes.both(&self, u32::from_le_bytes)?;
                (rows.map(|rows| (Arc::clone(&sparse), rows)), Normalization::none())
            }
            Kind::Numbers(place) => {
                let columns = place.columns;
                let numbers = Numbers::open(place.clone()).map_err(bytes.failed)?;
                let numbers: Arc<Examples> = Arc::new(numbers.into());
                let rows = bytes.both(&self, u32::from_le_bytes)?;
                let mean = bytes.numbers(columns, f32::from_le_bytes)?;
                let std = bytes.numbers(columns, f32::from_le_bytes)?;
                (rows.map(|rows| (Arc::clone(&numbers), rows)), Normalization::of_columns(mean, std)?)
            }
        };
        let ([train, test], normalization) = read;
        let [train_labels, test_labels] = bytes.both(&self, u16::from_le_bytes)?;
        let set = |(examples, rows), labels| Labelled::of_rows(examples, rows, labels, self.classes);
        let mut data = DataSet::new(self.name.clone(), set(train, train_labels)?, set(test, test_labels)?)?;
        if let Some(classes) = self.coarse_classes {
            let [train, test] = bytes.both(&self, u16::from_le_bytes)?;
            data = data.with_coarse(train, test, classes)?;
        }
        if let Some(tasks) = self.tasks {
            let [train, test] = bytes.both(&self, u16::from_le_bytes)?;
            data = data.with_tasks(TaskColumn { train, test, tasks })?;
        }
        Ok(Loaded { data, normalization, sha256: self.sha256 })
    }
}

/// The next line without its end; cut off where it is longer than any line of a header.
fn line(file: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    file.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(line)
}
