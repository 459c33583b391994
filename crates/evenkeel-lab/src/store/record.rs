//! `run.json`: what a run is and how far it is, with a checksum of itself.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use evenkeel_data::files;
use serde::{Deserialize, Serialize};

use super::error::{StoreError, io_error};
use crate::program;
use crate::run::machine::Machine;
use crate::spec::RunSpec;

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "status")]
pub enum Status {
    /// Described or begun. Whether a process is at it right now tells the lock.
    Unfinished,
    /// All iterations done.
    Done,
    /// The loss became NaN or infinite.
    Diverged {
        /// The iteration at which it did.
        iteration: u64,
        /// What was not finite.
        reason: String,
    },
}

/// The contents of `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Id of the spec.
    pub id: String,
    /// What is run.
    pub spec: RunSpec,
    /// How far it is.
    #[serde(flatten)]
    pub status: Status,
    /// Version of evenkeel.
    pub version: String,
    /// Commit of the program that ended it, or works on it.
    #[serde(default)]
    pub commit: String,
    /// Commits of other programs that did a part of it before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begun_by: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// Seconds of training, all restarts together.
    pub seconds: f64,
    /// SHA-256 of the other files of a run that has ended, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// SHA-256 of this record without this line. A description that nobody has worked on may lack it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    sha256: String,
}

impl RunRecord {
    pub(super) fn new(spec: &RunSpec, seconds: f64) -> Self {
        Self {
            id: spec.id(),
            spec: spec.clone(),
            status: Status::Unfinished,
            version: program::VERSION.to_string(),
            commit: program::COMMIT.to_string(),
            begun_by: Vec::new(),
            machine: Machine::here(),
            seconds,
            files: BTreeMap::new(),
            sha256: String::new(),
        }
    }

    fn checksum(&self) -> String {
        let unsigned = Self { sha256: String::new(), ..self.clone() };
        files::sha256(&serde_json::to_vec(&unsigned).expect("a record is plain data"))
    }

    /// The record with its checksum, as it is written.
    pub(super) fn signed(&self) -> Self {
        Self { sha256: self.checksum(), ..self.clone() }
    }

    /// Whether it is as it was written.
    fn is_whole(&self) -> bool {
        let bare = self.sha256.is_empty() && self.status == Status::Unfinished;
        bare || self.sha256 == self.checksum()
    }

    /// The record in a run directory.
    pub fn read(run_dir: &Path) -> Result<Option<Self>, StoreError> {
        read_record(run_dir, None)
    }
}

/// The record in a run directory; `expected` says of which run it has to be.
pub(super) fn read_record(
    run_dir: &Path,
    expected: Option<&RunSpec>,
) -> Result<Option<RunRecord>, StoreError> {
    let path = run_dir.join("run.json");
    let text = match files::read(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(io_error(&path)(error)),
    };
    let record: RunRecord = serde_json::from_slice(&text).map_err(|error| StoreError::BadRun {
        path: path.display().to_string(),
        reason: error.to_string(),
    })?;
    if record.id != record.spec.id() || expected.is_some_and(|spec| *spec != record.spec) {
        return Err(StoreError::OtherRun { path: path.display().to_string() });
    }
    if !record.is_whole() {
        return Err(StoreError::Damaged {
            path: path.display().to_string(),
            reason: "was changed since it was written".to_string(),
            hint: "delete the folder of this run, and the same command makes it again",
        });
    }
    Ok(Some(record))
}

/// Writes JSON to a temporary file, syncs it and renames it into place.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    let write = || files::publish(json_file(path, value)?, path);
    write().map(drop).map_err(io_error(path))
}

/// A temporary file beside `path`.
pub(super) fn json_file<T: Serialize>(path: &Path, value: &T) -> io::Result<tempfile::NamedTempFile> {
    let mut file = files::beside(path)?;
    serde_json::to_writer_pretty(&mut file, value)?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    Ok(file)
}
