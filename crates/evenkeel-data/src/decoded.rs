//! A loaded data set as one file, so that decoding and hashing happen once and many processes read the result.
//!
//! The file begins with three lines of text: what it is, a header in JSON, and the checksum of that header. After them
//! come the bytes as they are in memory: the pixels of all training images and of all test images, then their labels as
//! little-endian 16-bit numbers in the same order, then the coarse labels if there are any. The length of the file
//! follows from the header.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::dataset::DataSet;
use crate::error::FormatError;
use crate::files::{self, sha256};
use crate::images::{ImageShape, Images, Labelled};
use crate::load::Loaded;
use crate::normalize::{Normalization, NormalizationError};

const MAGIC: &str = "evenkeel decoded data set 1";

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
    channels: usize,
    height: usize,
    width: usize,
    train: u32,
    test: u32,
    classes: usize,
    coarse_classes: Option<usize>,
    /// In double precision, which holds every single-precision number exactly and is written and read exactly.
    mean: Vec<f64>,
    std: Vec<f64>,
    sha256: Option<String>,
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
        for part in parts {
            for i in 0..part.len() {
                out.write_all(part.image(i))?;
            }
        }
        let coarse = self.data.coarse().map(|coarse| [&coarse.train, &coarse.test]);
        for part in parts.into_iter().chain(coarse.into_iter().flatten()) {
            for label in part.labels() {
                out.write_all(&label.to_le_bytes())?;
            }
        }
        Ok(())
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
        let sizes = header.sizes().map_err(damaged)?;
        // Compared before anything is allocated: a false header cannot make this process large.
        let expected = start.saturating_add(sizes.total);
        if expected != found {
            return Err(DecodedError::Length { path: path.to_owned(), expected, found });
        }
        let mut take = |length: usize| -> Result<Vec<u8>, DecodedError> {
            let mut bytes = vec![0; length];
            file.read_exact(&mut bytes).map_err(failed)?;
            Ok(bytes)
        };
        let pixels = [take(sizes.train_pixels)?, take(sizes.test_pixels)?];
        let mut labels = |n: u32| -> Result<Vec<u16>, DecodedError> {
            let bytes = take(2 * n as usize)?;
            Ok(bytes.as_chunks::<2>().0.iter().map(|&label| u16::from_le_bytes(label)).collect())
        };
        let fine = [labels(header.train)?, labels(header.test)?];
        let coarse = match header.coarse_classes {
            Some(classes) => Some((labels(header.train)?, labels(header.test)?, classes)),
            None => None,
        };
        header.assemble(pixels, fine, coarse)
    }
}

/// How many bytes follow the header.
struct Sizes {
    train_pixels: usize,
    test_pixels: usize,
    total: u64,
}

impl Header {
    fn of(loaded: &Loaded) -> Self {
        let Loaded { data, normalization, sha256 } = loaded;
        let ImageShape { channels, height, width } = data.shape();
        let exact = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect();
        Self {
            name: data.name().to_owned(),
            channels,
            height,
            width,
            train: data.train().len() as u32,
            test: data.test().len() as u32,
            classes: data.classes(),
            coarse_classes: data.coarse().map(|coarse| coarse.train.classes()),
            mean: exact(normalization.mean()),
            std: exact(normalization.std()),
            sha256: sha256.clone(),
        }
    }

    /// Checks the numbers, so that nothing overflows or is out of place later.
    fn sizes(&self) -> Result<Sizes, String> {
        let most = usize::from(u16::MAX) + 1;
        if self.classes.max(self.coarse_classes.unwrap_or(0)) > most {
            return Err(format!("more than {most} classes"));
        }
        if self.mean.len() != self.channels {
            return Err(format!("{} means for {} channels", self.mean.len(), self.channels));
        }
        let image = self.channels.checked_mul(self.height).and_then(|n| n.checked_mul(self.width));
        let pixels = |n: u32| image.and_then(|image| image.checked_mul(n as usize));
        let labels = (u64::from(self.train) + u64::from(self.test))
            * if self.coarse_classes.is_some() { 4 } else { 2 };
        match (pixels(self.train), pixels(self.test)) {
            (Some(train_pixels), Some(test_pixels)) => {
                let total = (train_pixels as u64).saturating_add(test_pixels as u64).saturating_add(labels);
                Ok(Sizes { train_pixels, test_pixels, total })
            }
            _ => Err("more pixels than can be counted".to_owned()),
        }
    }

    fn assemble(
        self,
        pixels: [Vec<u8>; 2],
        fine: [Vec<u16>; 2],
        coarse: Option<(Vec<u16>, Vec<u16>, usize)>,
    ) -> Result<Loaded, DecodedError> {
        let shape = ImageShape::new(self.channels, self.height, self.width);
        let set = |pixels, labels| Labelled::new(Images::new(shape, pixels)?, labels, self.classes);
        let ([train_pixels, test_pixels], [train, test]) = (pixels, fine);
        let mut data = DataSet::new(self.name, set(train_pixels, train)?, set(test_pixels, test)?)?;
        if let Some((train, test, classes)) = coarse {
            data = data.with_coarse(train, test, classes)?;
        }
        let single = |values: Vec<f64>| values.into_iter().map(|value| value as f32).collect();
        let normalization = Normalization::new(single(self.mean), single(self.std))?;
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
        let changes: [fn(&mut Header); 9] = [
            |header| header.train = u32::MAX,
            |header| header.height = usize::MAX,
            |header| header.width = 0,
            |header| (header.channels, header.mean, header.std) = (0, vec![], vec![]),
            |header| header.classes = 600,
            |header| header.classes = usize::MAX,
            |header| header.coarse_classes = Some(2),
            |header| header.mean = vec![0.5],
            |header| header.std = vec![0.5, -1.0],
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
