//! What can be wrong with the bytes of a data set.

use thiserror::Error;

/// A file, or a set of images and labels, that does not hold what its format promises.
///
/// Its text is one line: the file, then the problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {problem}")]
pub struct FormatError {
    /// The file (or the data set) that was read.
    pub file: String,
    /// What is wrong with it.
    pub problem: Problem,
}

impl FormatError {
    pub(crate) fn new(file: &str, problem: Problem) -> Self {
        Self { file: file.to_owned(), problem }
    }
}

/// The reason behind a [`FormatError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file ends before its content does.
    #[error("truncated: {expected} bytes expected, {found} found")]
    Truncated {
        /// Bytes that the header (or the format) announces.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The first four bytes name another kind of file.
    #[error("wrong magic number: {expected} expected, {found} found")]
    WrongMagic {
        /// The magic number of the wanted format.
        expected: u32,
        /// The number in the file.
        found: u32,
    },
    /// There are bytes after the announced content.
    #[error("trailing bytes after the {expected} that belong there")]
    TrailingBytes {
        /// Bytes that the header announces.
        expected: u64,
    },
    /// The header announces more than any supported data set holds.
    #[error("the header announces {what}, more than the {limit} supported")]
    TooLarge {
        /// The announced shape.
        what: String,
        /// The limit that it exceeds.
        limit: u64,
    },
    /// Images with no pixels.
    #[error("an image size of {channels}×{height}×{width} has no pixels")]
    EmptyImage {
        /// The number of channels announced.
        channels: usize,
        /// The height announced.
        height: usize,
        /// The width announced.
        width: usize,
    },
    /// The file length is no multiple of the record length.
    #[error("{found} bytes are not a whole number of {record}-byte records")]
    PartialRecord {
        /// The length of one record in bytes.
        record: usize,
        /// The length of the file in bytes.
        found: usize,
    },
    /// The pixels do not fill a whole number of images.
    #[error("{found} pixels are not a whole number of {image}-pixel images")]
    PartialImage {
        /// The number of pixels of one image.
        image: usize,
        /// The number of pixels given.
        found: usize,
    },
    /// A label that no class has.
    #[error("label {label} of example {index} is out of range: there are {classes} classes")]
    LabelOutOfRange {
        /// The label that is too large.
        label: u16,
        /// The position of its example.
        index: usize,
        /// Number of classes.
        classes: usize,
    },
    /// Images and labels differ in number.
    #[error("{images} images but {labels} labels")]
    CountMismatch {
        /// Number of images.
        images: usize,
        /// Number of labels.
        labels: usize,
    },
    /// Two parts of one data set disagree.
    #[error("its parts disagree: {0}")]
    Inconsistent(String),
    /// Compressed data, an image or JSON that cannot be decoded.
    #[error("cannot be decoded: {0}")]
    Undecodable(String),
}

/// Any text as one line: words of others may hold line ends, and characters that move a cursor.
pub(crate) fn one_line(text: &impl ToString) -> String {
    let text = text.to_string();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
