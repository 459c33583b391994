//! The folder where verified files lie.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{Failure, SourceError};
use super::sources::Sources;
use crate::files;
use crate::sets::{Entry, FileSpec, Origin, Variant};

/// The environment variable that names the folder for data sets.
pub const ENVIRONMENT: &str = "EVENKEEL_DATA";

/// Where data sets lie: `EVENKEEL_DATA` if it is set, else `evenkeel` in the platform's cache folder.
pub fn cache_dir() -> Result<PathBuf, SourceError> {
    choose(
        std::env::var_os(ENVIRONMENT),
        directories::BaseDirs::new().map(|base| base.cache_dir().to_owned()),
    )
}

fn choose(wanted: Option<OsString>, platform: Option<PathBuf>) -> Result<PathBuf, SourceError> {
    let wanted = wanted.filter(|folder| !folder.is_empty()).map(PathBuf::from);
    wanted.or(platform.map(|base| base.join("evenkeel"))).ok_or(SourceError::NoCacheFolder)
}

/// A folder of data sets, one sub-folder each, and the sources that fill it.
///
/// Files are read only if their SHA-256 is right, every time. They appear under their name
/// in one step, so processes that fetch at the same time cannot spoil each other's work.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    pub(super) sources: Sources,
}

impl Cache {
    /// The default folder ([`cache_dir`]) with the default sources.
    pub fn open() -> Result<Self, SourceError> {
        Ok(Self::at(cache_dir()?))
    }

    /// Another folder. It is created when something is fetched.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), sources: Sources::default() }
    }

    /// The same folder with other sources.
    #[must_use]
    pub fn with_sources(mut self, sources: Sources) -> Self {
        self.sources = sources;
        self
    }

    /// The folder of one data set.
    pub fn path(&self, set: &Entry) -> PathBuf {
        self.root.join(set.name)
    }

    /// Checks every file of a data set, without fetching any.
    ///
    /// The list is empty where no checksums are known: for data sets that are drawn or that the user provides.
    pub fn verify(&self, set: &Entry) -> Result<Vec<FileStatus>, SourceError> {
        let folder = self.path(set);
        let status = |spec: &FileSpec| {
            let path = folder.join(spec.name);
            let status = match read(&path)? {
                None => Status::Missing,
                Some(content) => match identify(spec, &content) {
                    Ok(variant) => Status::Ok { variant: variant.label },
                    Err(Mismatch { expected, found }) => Status::Corrupt { expected, found },
                },
            };
            Ok(FileStatus { path, status })
        };
        set.files().iter().map(status).collect()
    }

    /// Whether a data set is ready to be loaded, and what to do if it is not.
    pub fn presence(&self, set: &Entry) -> Result<Presence, SourceError> {
        match set.origin {
            Origin::Drawn(_) => return Ok(Presence::Drawn),
            // An empty folder provides nothing.
            Origin::Provided { .. }
                if fs::read_dir(self.path(set)).is_ok_and(|mut entries| entries.next().is_some()) =>
            {
                return Ok(Presence::Here);
            }
            Origin::Provided { .. } => return Ok(Presence::NotProvided),
            Origin::Download(_) => {}
        }
        let files = self.verify(set)?;
        let any = |wanted: fn(&Status) -> bool| files.iter().any(|file| wanted(&file.status));
        Ok(if any(|status| matches!(status, Status::Corrupt { .. })) {
            Presence::Corrupt
        } else if any(|status| matches!(status, Status::Missing)) {
            Presence::Missing
        } else {
            Presence::Here
        })
    }

    /// Content and variant of a file, or `None` if it is missing.
    pub(super) fn read_verified(
        &self,
        entry: &Entry,
        spec: &FileSpec,
    ) -> Result<Option<(Vec<u8>, &'static str)>, SourceError> {
        let path = self.path(entry).join(spec.name);
        let Some(content) = read(&path)? else { return Ok(None) };
        match identify(spec, &content) {
            Ok(variant) => Ok(Some((content, variant.label))),
            Err(Mismatch { expected, found }) => {
                Err(SourceError::Corrupt { set: entry.name.to_owned(), path, expected, found })
            }
        }
    }

    /// Creates the folder of a data set and makes sure that it can be written.
    pub(super) fn prepare(&self, entry: &Entry) -> Result<(), SourceError> {
        let folder = self.path(entry);
        fs::create_dir_all(&folder).map_err(|e| SourceError::io(&folder, "created", e))?;
        let probe = tempfile::Builder::new().prefix(".probe-").tempfile_in(&folder);
        probe.map(drop).map_err(|e| SourceError::io(&folder, "written", e))
    }

    /// Verifies `content` and puts it under its name, complete or not at all.
    pub(super) fn install(&self, entry: &Entry, spec: &FileSpec, content: &[u8]) -> Result<(), Failure> {
        if let Err(Mismatch { expected, found }) = identify(spec, content) {
            let name = spec.name;
            return Err(format!("{name} is corrupt: sha256 {expected} expected, {found} found").into());
        }
        let path = self.path(entry).join(spec.name);
        files::write(&path, content).map_err(|e| SourceError::io(&path, "written", e))?;
        files::sync_folder_of(&path);
        Ok(())
    }
}

/// Whether a data set is ready to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is drawn on the spot and needs no files.
    Drawn,
    /// Its files are there, and those with known checksums are intact.
    Here,
    /// Files are missing, and fetching gets them.
    Missing,
    /// Files are corrupt, and fetching replaces them.
    Corrupt,
    /// Its folder is missing, and only the user can provide it.
    NotProvided,
}

/// What [`Cache::verify`] found for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// Where the file should lie.
    pub path: PathBuf,
    /// Whether it is there and intact.
    pub status: Status,
}

/// The state of a file in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Its checksum is right.
    Ok {
        /// Which accepted content it has: `original`, or a named cut.
        variant: &'static str,
    },
    /// It is not there.
    Missing,
    /// Its checksum is wrong.
    Corrupt {
        /// The checksum of the original.
        expected: String,
        /// The checksum of what is there.
        found: String,
    },
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok { variant } => write!(f, "ok ({variant})"),
            Self::Missing => f.write_str("missing"),
            Self::Corrupt { expected, found } => {
                write!(f, "corrupt: sha256 {expected} expected, {found} found")
            }
        }
    }
}

struct Mismatch {
    expected: String,
    found: String,
}

fn identify<'s>(spec: &'s FileSpec, content: &[u8]) -> Result<&'s Variant, Mismatch> {
    let found = files::sha256(content);
    spec.variants.iter().find(|variant| variant.sha256 == found).ok_or_else(|| {
        let expected: Vec<_> = spec.variants.iter().map(|variant| variant.sha256).collect();
        Mismatch { expected: expected.join(" or "), found }
    })
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, SourceError> {
    match files::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(SourceError::io(path, "read", e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_comes_before_the_platform() {
        let choose = |wanted: Option<&str>, platform: Option<&str>| {
            choose(wanted.map(OsString::from), platform.map(PathBuf::from)).map_err(|e| e.to_string())
        };
        assert_eq!(choose(Some("/data"), Some("/cache")), Ok("/data".into()));
        assert_eq!(choose(Some(""), Some("/cache")), Ok("/cache/evenkeel".into()));
        assert_eq!(choose(None, Some("/cache")), Ok("/cache/evenkeel".into()));
        assert!(choose(None, None).unwrap_err().contains("hint: set EVENKEEL_DATA"));
    }

    #[test]
    fn two_variants_are_told_apart() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let variant = |label, sha256| Variant { label, size: 3, sha256 };
        let variants = Box::leak(Box::new([variant("original", abc), variant("cut", empty)]));
        let spec = FileSpec { name: "f", variants };
        assert_eq!(identify(&spec, b"abc").map(|v| v.label).ok(), Some("original"));
        assert_eq!(identify(&spec, b"").map(|v| v.label).ok(), Some("cut"));
        let mismatch = identify(&spec, b"abd").err().map(|m| m.expected);
        assert_eq!(mismatch, Some(format!("{abc} or {empty}")));
    }
}
