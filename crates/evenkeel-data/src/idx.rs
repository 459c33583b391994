//! The IDX format of MNIST and its relatives, plain or gzip-compressed.
//!
//! A header of big-endian 32-bit numbers (magic, count and, for images, rows and columns), then
//! the bytes. Whether a file is compressed is seen from its content, not from its name.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::dataset::DataSet;
use crate::error::{FormatError, Problem};
use crate::files::NamedBytes;
use crate::images::{ImageShape, Images};
use crate::labelled::Labelled;

/// The four files of a data set, under the names that MNIST gave them.
pub const FILES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

const IMAGES: u32 = 2051;
const LABELS: u32 = 2049;

/// No known IDX data set comes near this many bytes of content.
const LIMIT: u64 = 1 << 31;

/// Reads grey images (magic number 2051). `name` is used in errors.
///
/// ```
/// let file = [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 7, 9];
/// let images = evenkeel_data::idx::images("two-pixels", &file)?;
/// assert_eq!(images.image(0), [7, 9]);
/// # Ok::<(), evenkeel_data::FormatError>(())
/// ```
pub fn images(name: &str, bytes: &[u8]) -> Result<Images, FormatError> {
    let ([_, height, width], pixels) =
        content(bytes, IMAGES).map_err(|problem| FormatError::new(name, problem))?;
    Images::new(ImageShape::new(1, height, width), pixels).map_err(|e| FormatError::new(name, e.problem))
}

/// Reads labels (magic number 2049) that must lie below `classes`. `name` is used in errors.
pub fn labels(name: &str, bytes: &[u8], classes: usize) -> Result<Vec<u16>, FormatError> {
    let ([_], labels) = content(bytes, LABELS).map_err(|problem| FormatError::new(name, problem))?;
    if let Some(index) = labels.iter().position(|&label| usize::from(label) >= classes) {
        let label = u16::from(labels[index]);
        return Err(FormatError::new(name, Problem::LabelOutOfRange { label, index, classes }));
    }
    Ok(labels.into_iter().map(u16::from).collect())
}

/// Reads an image file and its label file, each given as name and bytes.
pub fn labelled(
    image_file: NamedBytes<'_>,
    label_file: NamedBytes<'_>,
    classes: usize,
) -> Result<Labelled, FormatError> {
    let images = images(image_file.0, image_file.1)?;
    let labels = labels(label_file.0, label_file.1, classes)?;
    Labelled::new(images, labels, classes)
        .map_err(|e| FormatError::new(&format!("{} with {}", image_file.0, label_file.0), e.problem))
}

/// Reads a data set from four files in the order of [`FILES`].
pub fn data_set(
    name: impl Into<String>,
    files: [NamedBytes<'_>; 4],
    classes: usize,
) -> Result<DataSet, FormatError> {
    let [train_images, train_labels, test_images, test_labels] = files;
    let train = labelled(train_images, train_labels, classes)?;
    DataSet::new(name, train, labelled(test_images, test_labels, classes)?)
}

/// Header fields and content of a file whose header has `D` sizes after the magic number.
fn content<const D: usize>(bytes: &[u8], magic: u32) -> Result<([usize; D], Vec<u8>), Problem> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        parse(MultiGzDecoder::new(bytes), magic)
    } else {
        parse(bytes, magic)
    }
}

fn parse<const D: usize>(mut file: impl Read, magic: u32) -> Result<([usize; D], Vec<u8>), Problem> {
    let header_length = 4 * (1 + D as u64);
    let mut header = Vec::new();
    read(file.by_ref().take(header_length), &mut header)?;
    if header.len() as u64 != header_length {
        return Err(Problem::Truncated { expected: header_length, found: header.len() as u64 });
    }
    let mut fields = header.as_chunks::<4>().0.iter().map(|&field| u32::from_be_bytes(field));
    let found = fields.next().unwrap_or_default();
    if found != magic {
        return Err(Problem::WrongMagic { expected: magic, found });
    }
    let sizes: [u32; D] = std::array::from_fn(|_| fields.next().unwrap_or_default());
    let length = sizes.iter().try_fold(1u64, |n, &size| n.checked_mul(u64::from(size)));
    let Some(length) = length.filter(|&length| length <= LIMIT) else {
        let what = sizes.map(|size| size.to_string()).join("×") + " bytes";
        return Err(Problem::TooLarge { what, limit: LIMIT });
    };
    // The vector grows with what is really there: a false header cannot make it large.
    let mut content = Vec::new();
    read(file.take(length + 1), &mut content)?;
    match (content.len() as u64).cmp(&length) {
        std::cmp::Ordering::Equal => Ok((sizes.map(|size| size as usize), content)),
        std::cmp::Ordering::Greater => Err(Problem::TrailingBytes { expected: header_length + length }),
        std::cmp::Ordering::Less => Err(Problem::Truncated {
            expected: header_length + length,
            found: header_length + content.len() as u64,
        }),
    }
}

fn read(mut file: impl Read, out: &mut Vec<u8>) -> Result<(), Problem> {
    file.read_to_end(out).map(drop).map_err(|e| Problem::Undecodable(e.to_string()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;

    use super::*;

    fn image_file(n: u32, h: u32, w: u32) -> Vec<u8> {
        let mut file: Vec<u8> = [IMAGES, n, h, w].iter().flat_map(|x| x.to_be_bytes()).collect();
        file.extend((0..n * h * w).map(|p| p as u8));
        file
    }

    fn label_file(labels: &[u8]) -> Vec<u8> {
        let mut file: Vec<u8> = [LABELS, labels.len() as u32].iter().flat_map(|x| x.to_be_bytes()).collect();
        file.extend(labels);
        file
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn plain_and_compressed_files_give_the_same_images() {
        let plain = images("a", &image_file(3, 2, 4)).unwrap();
        assert_eq!((plain.len(), plain.height(), plain.width()), (3, 2, 4));
        assert_eq!(images("a", &gzip(&image_file(3, 2, 4))).unwrap(), plain);
        assert_eq!(labels("b", &gzip(&label_file(&[0, 9])), 10).unwrap(), [0, 9]);
    }

    #[test]
    fn short_and_long_files_are_refused() {
        let file = image_file(3, 2, 4);
        let error = images("a", &file[..file.len() - 1]).unwrap_err();
        assert_eq!(error.to_string(), "a: truncated: 40 bytes expected, 39 found");
        assert_eq!(images("a", &[]).unwrap_err().problem, Problem::Truncated { expected: 16, found: 0 });
        let longer = [&file[..], &[0]].concat();
        assert_eq!(images("a", &longer).unwrap_err().problem, Problem::TrailingBytes { expected: 40 });
        assert!(images("a", &gzip(&longer)).is_err());
        let packed = gzip(&file);
        let error = images("a", &packed[..packed.len() - 9]).unwrap_err();
        assert!(matches!(error.problem, Problem::Undecodable(_)));
    }

    #[test]
    fn labels_are_not_images() {
        let error = images("a", &[label_file(&[1; 20])].concat()).unwrap_err();
        assert_eq!(error.to_string(), "a: wrong magic number: 2051 expected, 2049 found");
    }

    #[test]
    fn an_absurd_header_is_refused_before_anything_is_allocated() {
        let huge: Vec<u8> = [IMAGES, u32::MAX, u32::MAX, 28].iter().flat_map(|x| x.to_be_bytes()).collect();
        assert!(matches!(images("a", &huge).unwrap_err().problem, Problem::TooLarge { .. }));
        let large: Vec<u8> = [IMAGES, 1 << 20, 28, 28].iter().flat_map(|x| x.to_be_bytes()).collect();
        assert!(matches!(images("a", &large).unwrap_err().problem, Problem::Truncated { .. }));
        let flat: Vec<u8> = [IMAGES, 5, 0, 28].iter().flat_map(|x| x.to_be_bytes()).collect();
        assert!(matches!(images("a", &flat).unwrap_err().problem, Problem::EmptyImage { .. }));
    }

    #[test]
    fn labels_are_checked_and_counted() {
        let error = labels("b", &label_file(&[0, 1, 10]), 10).unwrap_err();
        assert_eq!(error.to_string(), "b: label 10 of example 2 is out of range: there are 10 classes");
        let (a, b) = (image_file(3, 1, 1), label_file(&[0, 1]));
        let error = labelled(("a", &a), ("b", &b), 10).unwrap_err();
        assert_eq!(error.to_string(), "a with b: 3 images but 2 labels");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = images("a", &bytes);
            let _ = labels("a", &bytes, 10);
            let _ = images("a", &gzip(&bytes));
        }

        #[test]
        fn damaged_files_never_panic(at in 0usize..40, byte: u8, cut in 0usize..41, packed: bool) {
            let mut file = image_file(3, 2, 4);
            if packed {
                file = gzip(&file);
            }
            let at = at % file.len();
            file[at] = byte;
            file.truncate(cut);
            if let Ok(images) = images("a", &file) {
                prop_assert_eq!(images.pixels().len(), images.len() * images.shape().len());
            }
        }
    }
}
