//! The binary formats of CIFAR-10 and CIFAR-100.
//!
//! A CIFAR-10 record is one label byte, then 1024 red, 1024 green and 1024 blue bytes, each plane
//! row by row. A CIFAR-100 record has two label bytes, coarse then fine.

use image::ImageFormat;

use crate::dataset::DataSet;
use crate::error::{FormatError, Problem, one_line};
use crate::files::NamedBytes;
use crate::images::{ImageShape, Images};
use crate::labelled::Labelled;

const SHAPE: ImageShape = ImageShape::new(3, 32, 32);
const PLANE: usize = 32 * 32;
const PIXELS: usize = 3 * PLANE;

/// Reads CIFAR-10 from its training files (five in the original) and its test file.
pub fn cifar10(train: &[NamedBytes<'_>], test: NamedBytes<'_>) -> Result<DataSet, FormatError> {
    let read = |files: &[NamedBytes<'_>]| {
        let (pixels, [labels]) = records(files, [10])?;
        Labelled::new(Images::new(SHAPE, pixels)?, labels, 10)
    };
    DataSet::new("cifar10", read(train)?, read(&[test])?)
}

/// Reads CIFAR-100 with its 100 fine and 20 coarse classes.
///
/// Files that hold only some of the classes are fine.
pub fn cifar100(train: NamedBytes<'_>, test: NamedBytes<'_>) -> Result<DataSet, FormatError> {
    let read = |file: NamedBytes<'_>| {
        let (pixels, [coarse, fine]) = records(&[file], [20, 100])?;
        Ok((Labelled::new(Images::new(SHAPE, pixels)?, fine, 100)?, coarse))
    };
    let ((train, coarse_train), (test, coarse_test)) = (read(train)?, read(test)?);
    DataSet::new("cifar100", train, test)?.with_coarse(coarse_train, coarse_test, 20)
}

/// Pixels of all records, and one list for each of the `L` label bytes of a record.
fn records<const L: usize>(
    files: &[NamedBytes<'_>],
    classes: [usize; L],
) -> Result<(Vec<u8>, [Vec<u16>; L]), FormatError> {
    let record = L + PIXELS;
    let total: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut pixels = Vec::with_capacity(total / record * PIXELS);
    let mut labels = [const { Vec::new() }; L];
    for &(name, bytes) in files {
        if bytes.is_empty() {
            let problem = Problem::Truncated { expected: record as u64, found: 0 };
            return Err(FormatError::new(name, problem));
        }
        if !bytes.len().is_multiple_of(record) {
            return Err(FormatError::new(name, Problem::PartialRecord { record, found: bytes.len() }));
        }
        for (index, record) in bytes.chunks_exact(record).enumerate() {
            for ((list, &label), &classes) in labels.iter_mut().zip(record).zip(&classes) {
                let label = u16::from(label);
                if usize::from(label) >= classes {
                    return Err(FormatError::new(name, Problem::LabelOutOfRange { label, index, classes }));
                }
                list.push(label);
            }
            pixels.extend_from_slice(&record[L..]);
        }
    }
    Ok((pixels, labels))
}

/// Turns CIFAR-10 images that are stored as the rows of a lossless RGB PNG into binary records.
///
/// The picture is 1024 pixels wide (one image, row-major) and has one row per label.
pub fn records_from_png(name: &str, png: &[u8], labels: &[u8]) -> Result<Vec<u8>, FormatError> {
    let problem = |problem| FormatError::new(name, problem);
    let picture = image::load_from_memory_with_format(png, ImageFormat::Png)
        .map_err(|e| problem(Problem::Undecodable(one_line(&e))))?;
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    if width != PLANE {
        let text = format!("{width} pixels in a row instead of {PLANE}");
        return Err(problem(Problem::Inconsistent(text)));
    }
    if height != labels.len() {
        return Err(problem(Problem::CountMismatch { images: height, labels: labels.len() }));
    }
    let rgb = picture.into_rgb8().into_raw();
    let mut out = Vec::with_capacity(labels.len() * (1 + PIXELS));
    for (row, &label) in rgb.chunks_exact(PIXELS).zip(labels) {
        out.push(label);
        for channel in 0..3 {
            out.extend(row.iter().skip(channel).step_by(3));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn record(labels: &[u8], value: u8) -> Vec<u8> {
        let mut record = labels.to_vec();
        record.extend((0..PIXELS).map(|i| value.wrapping_add((i / PLANE) as u8)));
        record
    }

    #[test]
    fn records_are_read_in_order_over_all_files() {
        let (a, b) = ([record(&[3], 1), record(&[9], 5)].concat(), record(&[0], 7));
        let data = cifar10(&[("a", &a), ("b", &b)], ("t", &b)).unwrap();
        assert_eq!(data.train().labels(), [3, 9, 0]);
        assert_eq!(data.shape(), SHAPE);
        let image = data.train().image(1);
        assert_eq!((image[0], image[PLANE], image[PIXELS - 1]), (5, 6, 7));
    }

    #[test]
    fn both_labels_of_cifar100_are_kept() {
        let file = [record(&[19, 99], 0), record(&[4, 0], 0)].concat();
        let data = cifar100(("a", &file), ("b", &file)).unwrap();
        assert_eq!(data.train().labels(), [99, 0]);
        assert_eq!(data.coarse().unwrap().test.labels(), [19, 4]);
        assert_eq!((data.classes(), data.coarse().unwrap().test.classes()), (100, 20));
    }

    #[test]
    fn damaged_records_are_refused() {
        let good = record(&[3], 1);
        let error = cifar10(&[("a", &good[1..])], ("t", &good)).unwrap_err().to_string();
        assert_eq!(error, "a: 3072 bytes are not a whole number of 3073-byte records");
        let error = cifar10(&[("a", &good)], ("t", &record(&[10], 0))).unwrap_err().to_string();
        assert_eq!(error, "t: label 10 of example 0 is out of range: there are 10 classes");
        assert!(cifar10(&[("a", &good)], ("t", &[])).is_err());
        assert!(cifar100(("a", &record(&[20, 0], 0)), ("b", &record(&[0, 0], 0))).is_err());
    }

    #[test]
    fn a_png_of_rows_becomes_records() {
        let picture = image::RgbImage::from_fn(1024, 2, |x, y| image::Rgb([x as u8, y as u8, 200]));
        let mut png = Cursor::new(Vec::new());
        picture.write_to(&mut png, ImageFormat::Png).unwrap();
        let png = png.into_inner();
        let out = records_from_png("p", &png, &[7, 8]).unwrap();
        assert_eq!(out.len(), 2 * 3073);
        assert_eq!((out[3073], out[3073 + 6], out[3073 + 1 + 1024], out[3073 + 1 + 2048]), (8, 5, 1, 200));
        assert!(records_from_png("p", &png, &[7]).is_err());
        assert!(records_from_png("p", &png[..40], &[7, 8]).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..7000)) {
            let _ = cifar10(&[("a", &bytes)], ("b", &bytes));
            let _ = cifar100(("a", &bytes), ("b", &bytes));
            let _ = records_from_png("a", &bytes, &[1]);
        }
    }
}
