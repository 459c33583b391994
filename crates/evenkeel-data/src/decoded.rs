//! A loaded data set as one file, so that decoding and hashing happen once and many processes read the result.
//!
//! The file begins with three lines of text: what it is, a header in JSON, and the checksum of that header. After them
//! come the bytes as they are in memory, all numbers little-endian: the examples, then the labels of all training and of all
//! test examples as 16-bit numbers, then the coarse labels and the tasks, each if there are any. The length of the file
//! follows from the header.
//!
//! Examples are the pixels of all training images and of all test images; or the entries of all sparse rows and where they
//! begin; or nothing, where rows of numbers stay in a file of their own, which the header names. Rows that are no images are
//! shared by both parts: the numbers of the training and of the test rows follow, and then the means and deviations of the
//! columns.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::dataset::{DataSet, TaskColumn};
use crate::error::FormatError;
use crate::examples::Examples;
use crate::files::{self, sha256};
use crate::images::{ImageShape, Images};
use crate::labelled::Labelled;
use crate::load::Loaded;
use crate::normalize::{Normalization, NormalizationError};
use crate::numbers::{Numbers, Place};
use crate::sparse::Sparse;

const MAGIC: &str = "evenkeel decoded data set 2";

/// No header comes near this length; a file of another kind may have no line end at all.
const LONGEST_LINE: u64 = 1 << 16;

/// A file of a decoded data set that cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecodedError {
    /// The file could not be written or read.
    #[error("{path}: cannot be {action}: {reason}", path = path.display())]
    Io {
        /// Where the file lies.
        path: PathBuf,
        /// What was tried: `read` or `written`.
        action: &'static str,
        /// What the operating system says.
        reason: io::Error,
    },
    /// A file of another kind, or of another version of this one.
    #[error("{path}: is not a decoded data set of this version", path = path.display())]
    Foreign {
        /// Where the file lies.
        path: PathBuf,
    },
    /// A header that is damaged, or that describes no data set.
    #[error("{path}: the header is damaged: {reason}", path = path.display())]
    Header {
        /// Where the file lies.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that is shorter or longer than its header says.
    #[error("{path}: has {found} bytes instead of {expected}", path = path.display())]
    Length {
        /// Where the file lies.
        path: PathBuf,
        /// The length that follows from the header.
        expected: u64,
        /// The length of the file.
        found: u64,
    },
    /// Images and labels that do not fit together.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A normalisation that cannot standardise anything.
    #[error(transparent)]
    Normalization(#[from] NormalizationError),
}

/// What has to be known before the bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    name: String,
    kind: Kind,
    train: u32,
    test: u32,
    classes: usize,
    coarse_classes: Option<usize>,
    tasks: Option<usize>,
    sha256: Option<String>,
}

/// What the examples are.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Kind {
    Images {
        channels: usize,
        height: usize,
        width: usize,
        /// In double precision, which holds every single-precision number exactly and is written and read exactly.
        mean: Vec<f64>,
        std: Vec<f64>,
    },
    Sparse {
        columns: usize,
        rows: u32,
        entries: u64,
    },
    Numbers(Place),
}

impl Loaded {
    /// Writes everything to one file, which appears whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), DecodedError> {
        let write = || -> io::Result<()> {
            let mut file = files::beside(path)?;
            let mut out = BufWriter::with_capacity(1 << 20, file.as_file_mut());
            self.write(&mut out)?;
            out.flush()?;
            drop(out);
            files::publish(file, path).map(drop)
        };
        write().map_err(|reason| DecodedError::Io { path: path.to_owned(), action: "written", reason })
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let header = serde_json::to_string(&Header::of(self))?;
        writeln!(out, "{MAGIC}\n{header}\n{}", sha256(header.as_bytes()))?;
        let parts = [self.data.train(), self.data.test()];
        let [train, test] = parts.map(|part| part.parts().0);
        if !parts[0].is_images() && !Arc::ptr_eq(train, test) {
            return Err(io::Error::other("training and test rows do not lie in one matrix"));
        }
        match &**train {
            Examples::Images(_) => {
                for part in parts {
                    for i in 0..part.len() {
                        out.write_all(&part.image(i))?;
                    }
                }
            }
            Examples::Sparse(sparse) => {
                write_all(out, sparse.starts().iter().map(|start| start.to_le_bytes()))?;
                let entry = |(column, value): &(u32, f32)| [column.to_le_bytes(), value.to_le_bytes()];
                write_all(out, sparse.entries().iter().flat_map(entry))?;
                self.write_rows(out)?;
            }
            Examples::Numbers(_) => {
                self.write_rows(out)?;
                let scale = [self.normalization.mean(), self.normalization.std()];
                write_all(out, scale.concat().iter().map(|number| number.to_le_bytes()))?;
            }
        }
        let coarse = self.data.coarse().map(|coarse| [&coarse.train, &coarse.test]);
        let labels = parts.into_iter().chain(coarse.into_iter().flatten()).flat_map(Labelled::labels);
        let tasks = self.data.tasks().into_iter().flat_map(|tasks| tasks.train.iter().chain(&tasks.test));
        write_all(out, labels.chain(tasks).map(|number| number.to_le_bytes()))
    }

    /// The rows of both parts.
    fn write_rows(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = [self.data.train(), self.data.test()].map(|part| part.parts().1);
        write_all(out, rows.concat().iter().map(|row| row.to_le_bytes()))
    }

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

fn write_all<const N: usize>(out: &mut impl Write, numbers: impl Iterator<Item = [u8; N]>) -> io::Result<()> {
    numbers.into_iter().try_for_each(|number| out.write_all(&number))
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
    fn of(loaded: &Loaded) -> Self {
        let Loaded { data, normalization, sha256 } = loaded;
        let exact = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect();
        let kind = match &**data.train().parts().0 {
            Examples::Images(_) => {
                let ImageShape { channels, height, width } = data.shape();
                let (mean, std) = (exact(normalization.mean()), exact(normalization.std()));
                Kind::Images { channels, height, width, mean, std }
            }
            Examples::Sparse(sparse) => Kind::Sparse {
                columns: sparse.columns(),
                rows: sparse.rows() as u32,
                entries: sparse.entries().len() as u64,
            },
            Examples::Numbers(numbers) => Kind::Numbers(numbers.place().clone()),
        };
        Self {
            name: data.name().to_owned(),
            kind,
            train: data.train().len() as u32,
            test: data.test().len() as u32,
            classes: data.classes(),
            coarse_classes: data.coarse().map(|coarse| coarse.train.classes()),
            tasks: data.tasks().map(|tasks| tasks.tasks),
            sha256: sha256.clone(),
        }
    }

    /// How many bytes follow; checks the numbers, so that nothing overflows or is out of place later.
    fn length(&self) -> Result<u64, String> {
        let most = usize::from(u16::MAX) + 1;
        if self.classes.max(self.coarse_classes.unwrap_or(0)) > most {
            return Err(format!("more than {most} classes"));
        }
        let examples = u64::from(self.train) + u64::from(self.test);
        let content = match &self.kind {
            Kind::Images { channels, height, width, mean, .. } => {
                if mean.len() != *channels {
                    return Err(format!("{} means for {channels} channels", mean.len()));
                }
                let image = channels.checked_mul(*height).and_then(|n| n.checked_mul(*width));
                image.and_then(|image| examples.checked_mul(image as u64))
            }
            Kind::Sparse { rows, entries, .. } => {
                entries.checked_mul(8).and_then(|n| n.checked_add(8 * (u64::from(*rows) + 1) + 4 * examples))
            }
            Kind::Numbers(place) => {
                (place.columns as u64).checked_mul(8).and_then(|n| n.checked_add(4 * examples))
            }
        };
        let columns = 1 + u64::from(self.coarse_classes.is_some()) + u64::from(self.tasks.is_some());
        let total = content.and_then(|content| content.checked_add(2 * examples * columns));
        total
            .filter(|total| usize::try_from(*total).is_ok())
            .ok_or_else(|| "more bytes than can be counted".to_owned())
    }

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A data set of 2 × 1 × 3 images with coarse labels, and numbers that decimals cannot hold exactly.
    fn loaded(with_coarse: bool) -> Loaded {
        let set = |n: u8| {
            let pixels = (0..6 * n).map(|p| p.wrapping_mul(37)).collect();
            let labels = (0..n).map(|i| u16::from(i) * 100).collect();
            Labelled::new(Images::new(ImageShape::new(2, 1, 3), pixels).unwrap(), labels, 700).unwrap()
        };
        let mut data = DataSet::new("a name\nwith “all” \\ kinds", set(7), set(3)).unwrap();
        if with_coarse {
            data = data.with_coarse(vec![0, 1, 2, 3, 4, 0, 1], vec![4, 3, 2], 5).unwrap();
        }
        let normalization =
            Normalization::new(vec![0.1, 1.0 / 3.0], vec![0.3081, f32::MIN_POSITIVE]).unwrap();
        Loaded { data, normalization, sha256: with_coarse.then(|| sha256(b"x")) }
    }

    fn same(a: &Labelled, b: &Labelled) -> bool {
        (a.shape(), a.classes(), a.labels()) == (b.shape(), b.classes(), b.labels())
            && (0..a.len()).all(|i| a.image(i) == b.image(i))
    }

    fn saved(loaded: &Loaded) -> Vec<u8> {
        let mut bytes = Vec::new();
        loaded.write(&mut bytes).unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Loaded, DecodedError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Loaded::read(file.path())
    }

    #[test]
    fn what_is_read_is_what_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("decoded");
        for with_coarse in [false, true] {
            let before = loaded(with_coarse);
            before.save(&path).unwrap();
            let after = Loaded::read(&path).unwrap();
            assert_eq!(after.data.name(), before.data.name());
            assert!(
                same(after.data.train(), before.data.train()) && same(after.data.test(), before.data.test())
            );
            assert_eq!((after.normalization, &after.sha256), (before.normalization, &before.sha256));
            match (after.data.coarse(), before.data.coarse()) {
                (Some(a), Some(b)) => assert!(same(&a.train, &b.train) && same(&a.test, &b.test)),
                (a, b) => assert!(a.is_none() && b.is_none()),
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn rows_and_tasks_come_back_too() {
        let mut sparse = Sparse::new(9);
        for row in [&[(1, 0.5), (8, -2.0)][..], &[], &[(4, 1.5)]] {
            sparse.push(row);
        }
        let content: Vec<u8> = (0..12_u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let number = crate::numbers::NumberType::F32;
        let place = Place { path: file.path().to_owned(), offset: 0, number, columns: 4, rows: 3 };
        let numbers = Numbers::open(place).unwrap();
        let scale = Normalization::of_columns(vec![0.1; 4], vec![1.0 / 3.0; 4]).unwrap();
        for (examples, normalization) in
            [(Examples::from(sparse), Normalization::none()), (numbers.into(), scale)]
        {
            let all = Labelled::new(examples, vec![0, 1, 0], 2).unwrap();
            let data = DataSet::new("rows", all.select(&[2, 0]), all.select(&[1])).unwrap();
            let column = TaskColumn { train: vec![1, 0], test: vec![1], tasks: 2 };
            let before =
                Loaded { data: data.with_tasks(column).unwrap(), normalization, sha256: Some("x".into()) };
            let after = read(&saved(&before)).unwrap();
            assert!(
                same(after.data.train(), before.data.train()) && same(after.data.test(), before.data.test())
            );
            assert_eq!(
                (after.data.tasks(), &after.normalization),
                (before.data.tasks(), &before.normalization)
            );
            let good = saved(&after);
            assert!(read(&good[..good.len() - 1]).is_err());
        }
    }

    #[test]
    fn rows_of_two_matrices_are_not_mixed_up() {
        let set = |value: f32| {
            let mut sparse = Sparse::new(2);
            sparse.push(&[(1, value)]);
            Labelled::new(sparse, vec![0], 1).unwrap()
        };
        let data = DataSet::new("two", set(1.0), set(2.0)).unwrap();
        let two = Loaded { data, normalization: Normalization::none(), sha256: None };
        assert!(two.write(&mut Vec::new()).is_err());
    }

    #[test]
    fn a_selection_is_saved_as_it_is_seen() {
        let data = loaded(false).data;
        let data = DataSet::new("some", data.train().select(&[5, 2]), data.test().select(&[1])).unwrap();
        let after = read(&saved(&Loaded { data: data.clone(), ..loaded(false) })).unwrap();
        assert!(same(after.data.train(), data.train()) && same(after.data.test(), data.test()));
    }

    #[test]
    fn other_files_are_refused_by_kind() {
        let good = saved(&loaded(true));
        assert!(matches!(read(b"").unwrap_err(), DecodedError::Foreign { .. }));
        assert!(matches!(read(&vec![b'x'; 200_000]).unwrap_err(), DecodedError::Foreign { .. }));
        let cut = read(&good[..good.len() - 1]).unwrap_err().to_string();
        assert!(cut.ends_with(&format!("has {} bytes instead of {}", good.len() - 1, good.len())), "{cut}");
        let longer = [&good[..], b"x"].concat();
        assert!(matches!(read(&longer).unwrap_err(), DecodedError::Length { .. }));
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Loaded::read(&folder.path().join("gone")).unwrap_err(), DecodedError::Io { .. }));
        assert!(loaded(true).save(&folder.path().join("no/folder")).is_err());
    }

    /// A file whose header is consistent with its checksum, whatever it says.
    fn with_header(change: impl FnOnce(&mut Header)) -> Result<Loaded, DecodedError> {
        let mut header = Header::of(&loaded(true));
        change(&mut header);
        let header = serde_json::to_string(&header).unwrap();
        let good = saved(&loaded(true));
        let end = good.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(2).unwrap().0;
        let lines = format!("{MAGIC}\n{header}\n{}\n", sha256(header.as_bytes()));
        read(&[lines.as_bytes(), &good[end + 1..]].concat())
    }

    #[test]
    fn a_header_that_lies_is_refused_before_anything_is_allocated() {
        assert!(with_header(|_| {}).is_ok());
        let images = |header: &mut Header, shape: [usize; 3], scale: [Vec<f64>; 2]| {
            let ([channels, height, width], [mean, std]) = (shape, scale);
            header.kind = Kind::Images { channels, height, width, mean, std };
        };
        assert!(with_header(|header| images(header, [2, 1, 3], [vec![0.1, 0.2], vec![0.5, 1.0]])).is_ok());
        let changes: [&dyn Fn(&mut Header); 11] = [
            &|header| header.train = u32::MAX,
            &|header| images(header, [2, usize::MAX, 3], [vec![0.1, 0.2], vec![0.5, 1.0]]),
            &|header| images(header, [2, 1, 0], [vec![0.1, 0.2], vec![0.5, 1.0]]),
            &|header| images(header, [0, 1, 3], [vec![], vec![]]),
            &|header| header.classes = 600,
            &|header| header.classes = usize::MAX,
            &|header| header.coarse_classes = Some(2),
            &|header| images(header, [2, 1, 3], [vec![0.5], vec![0.5, 1.0]]),
            &|header| images(header, [2, 1, 3], [vec![0.1, 0.2], vec![0.5, -1.0]]),
            &|header| header.kind = Kind::Sparse { columns: 3, rows: u32::MAX, entries: u64::MAX },
            &|header| header.tasks = Some(3),
        ];
        for (i, change) in changes.into_iter().enumerate() {
            assert!(with_header(change).is_err(), "change {i}");
        }
    }

    proptest! {
        #[test]
        fn cut_files_are_always_refused(cut: prop::sample::Index, with_coarse: bool) {
            let good = saved(&loaded(with_coarse));
            prop_assert!(read(&good[..cut.index(good.len())]).is_err());
        }

        #[test]
        fn a_flipped_bit_in_the_header_is_always_seen(at: prop::sample::Index, bit in 0u8..8) {
            let mut bytes = saved(&loaded(true));
            let start = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(2).unwrap().0;
            bytes[at.index(start)] ^= 1 << bit;
            prop_assert!(read(&bytes).is_err());
        }

        #[test]
        fn a_flipped_bit_anywhere_never_panics(at: prop::sample::Index, bit in 0u8..8) {
            let mut bytes = saved(&loaded(true));
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Ok(Loaded { data, .. }) = read(&bytes) {
                prop_assert_eq!(data.train().len() + data.test().len(), 10);
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), lines: bool) {
            let bytes = if lines { [MAGIC.as_bytes(), b"\n", &bytes].concat() } else { bytes };
            prop_assert!(read(&bytes).is_err());
        }
    }
}
