//! Why a folder of images cannot be read.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::error::FormatError;

/// A folder of images that is not laid out, or not filled, as it should be.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A folder that cannot be listed.
    #[error("{path}: cannot be read: {reason}", path = path.display())]
    Io {
        /// The folder that was looked into.
        path: PathBuf,
        /// What the operating system says.
        reason: io::Error,
    },
    /// A folder without class folders.
    #[error(
        "{path}: holds no folders; hint: put one folder per class there, or train/ and val/ with them",
        path = path.display()
    )]
    NoClasses {
        /// The folder that was looked into.
        path: PathBuf,
    },
    /// `train/` without `val/` or `test/`.
    #[error("{path}: has train/ but neither val/ nor test/; hint: put test images there, or all class folders directly into one folder", path = path.display())]
    NoTest {
        /// The folder that was looked into.
        path: PathBuf,
    },
    /// Training and test folders hold different classes.
    #[error(
        "{path}: class {class} is not in both train/ and its test folder; hint: to split classes by file \
         name, put all class folders directly into one folder",
        path = path.display()
    )]
    ClassMismatch {
        /// The folder that holds both.
        path: PathBuf,
        /// A class that is in one of them only.
        class: String,
    },
    /// Fewer classes than asked for.
    #[error("{path}: has {found} classes, but {wanted} are asked for", path = path.display())]
    TooFewClasses {
        /// The folder that was looked into.
        path: PathBuf,
        /// The number of classes asked for.
        wanted: usize,
        /// The number of classes found.
        found: usize,
    },
    /// Fewer images than asked for.
    #[error("{path}: has {found} images (JPEG, PNG, WebP), but {wanted} are needed; hint: with folder:DIR two per class suffice, and test_fraction says how many test", path = path.display())]
    TooFewImages {
        /// The folder of the class.
        path: PathBuf,
        /// The number of images needed.
        wanted: usize,
        /// The number of images found.
        found: usize,
    },
    /// A file that is no image.
    #[error("{path}: cannot be decoded: {reason}; hint: replace or remove it", path = path.display())]
    Undecodable {
        /// The file that was opened.
        path: PathBuf,
        /// What the decoder says.
        reason: String,
    },
    /// An image of another size than those before it.
    #[error(
        "{path}: is {}×{} (height × width), but {}×{} is expected; hint: give a size to resize all to, such as resize=84",
        found.0, found.1, expected.0, expected.1, path = path.display()
    )]
    Size {
        /// The file that was opened.
        path: PathBuf,
        /// Height and width of the images before.
        expected: (u32, u32),
        /// Height and width of this one.
        found: (u32, u32),
    },
    /// Images and labels that do not fit together.
    #[error(transparent)]
    Format(#[from] FormatError),
}
