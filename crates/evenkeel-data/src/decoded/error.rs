//! Why a decoded data set cannot be written or read.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::error::FormatError;
use crate::normalize::NormalizationError;

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
