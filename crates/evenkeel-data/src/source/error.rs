//! Why a data set cannot be had.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::error::FormatError;
use crate::folder::FolderError;

/// A data set that cannot be fetched, verified or loaded. Its text is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// No data set of this name is known.
    #[error("no data set is called `{name}`; hint: known are {known}")]
    UnknownName {
        /// The name that was asked for.
        name: String,
        /// The names that are known.
        known: String,
    },
    /// The platform gives this user no cache folder.
    #[error("no cache folder is known for this user; hint: set EVENKEEL_DATA to a folder for data sets")]
    NoCacheFolder,
    /// The cache could not be read or written.
    #[error("{path}: cannot be {action}: {reason}{hint}", path = path.display(), hint = hint(action))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: `read`, `written` or `created`.
        action: &'static str,
        /// What the operating system says.
        reason: io::Error,
    },
    /// A file in the cache is not what it should be. It is never used.
    #[error(
        "{path}: corrupt: sha256 {expected} expected, {found} found; hint: delete it or fetch {set} again",
        path = path.display()
    )]
    Corrupt {
        /// The name of the data set.
        set: String,
        /// Where the file lies.
        path: PathBuf,
        /// The checksum of the right content.
        expected: String,
        /// The checksum of what is there.
        found: String,
    },
    /// The files of a data set come from different variants of it.
    #[error(
        "{folder}: {first_file} is the {first} variant but {second_file} the {second}; hint: use files of one",
        folder = folder.display()
    )]
    MixedVariants {
        /// The folder of the data set.
        folder: PathBuf,
        /// The first file of the data set.
        first_file: &'static str,
        /// The variant of the first file.
        first: &'static str,
        /// A file of another variant.
        second_file: &'static str,
        /// The variant of that other file.
        second: &'static str,
    },
    /// Every source failed.
    #[error(
        "{set}: missing or corrupt in {folder}: {missing}; tried {tried}; hint: put {provide} into that folder, \
         or set EVENKEEL_DATA to a folder that has {set}/ with them",
        missing = missing.join(", "), folder = folder.display(), tried = list(attempts)
    )]
    Unavailable {
        /// The name of the data set.
        set: String,
        /// The files that are still missing or corrupt.
        missing: Vec<String>,
        /// Where they should lie.
        folder: PathBuf,
        /// What was tried, in order.
        attempts: Vec<Attempt>,
        /// The files that a user can supply.
        provide: String,
    },
    /// A data set that only its user can provide is not there.
    #[error("{folder}: no such folder; {instruction}", folder = folder.display())]
    NotProvided {
        /// Where it is looked for.
        folder: PathBuf,
        /// What the user has to do.
        instruction: &'static str,
    },
    /// A folder that the user provided cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A verified file that does not parse: the entry of its data set is wrong.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// A source that was tried in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The address, folder or command.
    pub source: String,
    /// Why it gave nothing.
    pub reason: String,
}

impl SourceError {
    /// Whether the input is at fault, and not the network or the disk.
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, Self::Unavailable { .. } | Self::Io { .. })
    }

    pub(super) fn io(path: &Path, action: &'static str, reason: io::Error) -> Self {
        Self::Io { path: path.to_owned(), action, reason }
    }
}

fn hint(action: &str) -> &'static str {
    match action {
        "read" => "",
        _ => "; hint: set EVENKEEL_DATA to a folder that can be written",
    }
}

fn list(attempts: &[Attempt]) -> String {
    if attempts.is_empty() {
        return "nothing (every source is switched off)".to_owned();
    }
    let each = attempts.iter().map(|Attempt { source, reason }| format!("{source} ({reason})"));
    each.collect::<Vec<_>>().join(", ")
}

/// Why one source gave nothing: its own fault, so that the next is tried, or the cache's.
#[derive(Debug, Error)]
pub(super) enum Failure {
    #[error("{0}")]
    Source(String),
    #[error(transparent)]
    Cache(#[from] SourceError),
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Source(reason)
    }
}
