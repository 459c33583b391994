//! The folder where verified files lie.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::catalogue::{Catalogue, Entry, FileSpec, Variant};
use super::error::{Failure, SourceError};
use super::sources::Sources;

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
    pub fn path(&self, set: Catalogue) -> PathBuf {
        self.folder(set.entry())
    }

    /// Checks every file of a data set, without fetching any.
    pub fn verify(&self, set: Catalogue) -> Result<Vec<FileStatus>, SourceError> {
        self.verify_entry(set.entry())
    }

    pub(super) fn folder(&self, entry: &Entry) -> PathBuf {
        self.root.join(entry.name)
    }

    pub(super) fn verify_entry(&self, entry: &Entry) -> Result<Vec<FileStatus>, SourceError> {
        let folder = self.folder(entry);
        entry
            .files
            .iter()
            .map(|spec| {
                let path = folder.join(spec.name);
                let status = match read(&path)? {
                    None => Status::Missing,
                    Some(content) => match identify(spec, &content) {
                        Ok(variant) => Status::Ok { variant: variant.label },
                        Err(Mismatch { expected, found }) => Status::Corrupt { expected, found },
                    },
                };
                Ok(FileStatus { path, status })
            })
            .collect()
    }

    /// Content and variant of a file, or `None` if it is missing.
    pub(super) fn read_verified(
        &self,
        entry: &Entry,
        spec: &FileSpec,
    ) -> Result<Option<(Vec<u8>, &'static str)>, SourceError> {
        let path = self.folder(entry).join(spec.name);
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
        let folder = self.folder(entry);
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
        let folder = self.folder(entry);
        let path = folder.join(spec.name);
        write(&folder, &path, content).map_err(|e| SourceError::io(&path, "written", e).into())
    }
}

/// What [`Cache::verify`] found for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// The file.
    pub path: PathBuf,
    /// Its state.
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
    let found = sha256(content);
    spec.variants.iter().find(|variant| variant.sha256 == found).ok_or_else(|| {
        let expected: Vec<_> = spec.variants.iter().map(|variant| variant.sha256).collect();
        Mismatch { expected: expected.join(" or "), found }
    })
}

pub(super) fn sha256(content: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(content).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, SourceError> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(SourceError::io(path, "read", e)),
    }
}

fn write(folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".part-");
    // Temporary files are private by default, but a cache may be shared; the umask still applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    // Makes the new name itself durable where the platform can; the content already is.
    if let Ok(folder) = fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
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
    fn checksums_are_those_of_the_standard() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
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
