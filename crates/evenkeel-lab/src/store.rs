//! Run directories: what was asked, what came out, and what is needed to go on.
//!
//! ```text
//! DIR/ngm-sgd-seed0-0123456789ab/
//!     run.json        spec, status, version, machine; once it has ended, checksums of the other files
//!     curve.csv       one row per evaluation, append-only; once the run has ended, `gzip` may make it curve.csv.gz
//!     extra.csv       what else was asked for: curvature, training accuracy
//!     checkpoint.bin  only while the run is unfinished: the state, and checksums of both files up to it
//!     lock            held by the process that works on the run
//!     lease.json      only while a process works on the run: which, for other machines
//! ```

pub mod claim;
pub mod recorded;
pub mod recording;
pub mod sealed_file;
mod writer;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use evenkeel_data::files;
use evenkeel_metrics::{Curve, CurveFault, CurveFileError, Evaluations, is_packed, read_curve_of, unpack};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::claim::Claimed;
use self::recorded::EXTRA_FILE;
use self::recording::MOST_NAME;
use crate::program;
use crate::run::checkpoint::CheckpointError;
use crate::run::machine::Machine;
use crate::spec::RunSpec;
use writer::CURVE_FILE;
pub use writer::RunWriter;

/// Why a run directory cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file system refuses (full, read-only, not there).
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// `run.json` is not one.
    #[error("{path}: not a run description ({reason})")]
    BadRun {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// `run.json` describes another run.
    #[error("{path}: describes another run; the folder was renamed or edited")]
    OtherRun {
        /// The file.
        path: String,
    },
    /// A file is not what this program wrote.
    #[error("{path}: {reason}; {hint}")]
    Damaged {
        /// The file.
        path: String,
        /// How that shows.
        reason: String,
        /// What to do.
        hint: &'static str,
    },
    /// The checkpoint cannot be used.
    #[error("{path}: {error}")]
    Checkpoint {
        /// The file.
        path: String,
        /// Why.
        error: CheckpointError,
    },
    /// Another process works on this run.
    #[error("{path}: another process works on this run")]
    Locked {
        /// The folder.
        path: String,
    },
    /// The run has ended, and nothing can be added to it.
    #[error("{path}: this run has ended; take another seed or folder, or delete it")]
    Ended {
        /// The folder.
        path: String,
    },
    /// A row that cannot follow the last one of a curve.
    #[error("{path}: {fault}")]
    Row {
        /// The file.
        path: String,
        /// What is wrong with it.
        fault: CurveFault,
    },
    /// A name that cannot be that of a folder.
    #[error(
        "{name:?}: not a name for a folder; use letters, digits, '-', '_', '.', '+' and spaces, at most {MOST_NAME}"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Another process has taken this run over.
    #[error(
        "{path}: taken over by another process, as this one had not been heard of for too long; nothing was saved"
    )]
    Lost {
        /// The folder.
        path: String,
    },
}

impl StoreError {
    /// Whether the files are at fault and not the system: exit code 2.
    pub fn is_bad_input(&self) -> bool {
        match self {
            StoreError::BadRun { .. }
            | StoreError::OtherRun { .. }
            | StoreError::Damaged { .. }
            | StoreError::Ended { .. }
            | StoreError::Row { .. }
            | StoreError::Name { .. } => true,
            StoreError::Checkpoint { error, .. } => !matches!(error, CheckpointError::Io(_)),
            StoreError::Io { .. } | StoreError::Locked { .. } | StoreError::Lost { .. } => false,
        }
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
    |error| StoreError::Io { path: path.display().to_string(), error }
}

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
    fn new(spec: &RunSpec, seconds: f64) -> Self {
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
    fn signed(&self) -> Self {
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

/// A folder of runs.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
    kernels: Option<String>,
}

/// A run directory, as a reader sees it.
#[derive(Debug)]
pub struct StoredRun {
    /// The folder.
    pub path: PathBuf,
    /// Its `run.json`.
    pub record: RunRecord,
}

/// What a folder of runs holds.
#[derive(Debug, Default)]
pub struct StoredRuns {
    /// Its runs, by folder name.
    pub runs: Vec<StoredRun>,
    /// Runs whose description is none, and why.
    pub unreadable: Vec<StoreError>,
}

impl StoredRun {
    /// The curve file; if only a compressed one is there, that.
    pub fn curve_path(&self) -> PathBuf {
        stored(&self.path, CURVE_FILE)
    }

    /// The curve of a run that has ended.
    pub fn curve(&self) -> Result<Curve, CurveFileError> {
        self.read_curve(false)
    }

    /// The curve so far, without a row that is being written.
    pub fn growing_curve(&self) -> Result<Curve, CurveFileError> {
        self.read_curve(true)
    }

    fn read_curve(&self, growing: bool) -> Result<Curve, CurveFileError> {
        // Evaluations that are dense first and sparse later do not tell the interval themselves.
        let interval = self.record.spec.settings.eval_schedule.map(|[_, every]| every);
        read_curve_of(&self.curve_path(), Evaluations { growing, interval })
    }

    /// The file of what else was asked for.
    pub fn extra_path(&self) -> PathBuf {
        stored(&self.path, EXTRA_FILE)
    }

    /// Whether a process works on it now, or did until a moment ago on another machine.
    pub fn is_claimed(&self) -> bool {
        Claimed::look(&self.path) != Claimed::Free
    }

    /// Checks every file of a run that has ended against its record; one that goes on has nothing to check yet.
    pub fn check_files(&self) -> Result<(), StoreError> {
        if self.record.status == Status::Unfinished {
            return Ok(());
        }
        for (name, expected) in &self.record.files {
            let path = stored(&self.path, name);
            let found = if is_packed(&path) {
                unpack(&path).map(|text| files::sha256(&text))
            } else {
                sealed_file::sha256_of(&path)
            };
            let reason = match found {
                Ok(found) if found == *expected => continue,
                Ok(_) => "was changed after the run had ended".to_string(),
                Err(error) => error.to_string(),
            };
            let hint = "delete the folder of this run, and the same command makes it again";
            return Err(StoreError::Damaged { path: path.display().to_string(), reason, hint });
        }
        Ok(())
    }
}

impl Store {
    /// The store in that folder, which need not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), kernels: None }
    }

    /// Runs are described for these kernels instead of those of this process.
    #[must_use]
    pub fn with_kernels(mut self, kernels: Option<String>) -> Self {
        self.kernels = kernels;
        self
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Creates the folder, so that a wrong path is known before anything is computed.
    pub fn create(&self) -> Result<(), StoreError> {
        std::fs::create_dir_all(&self.dir).map_err(io_error(&self.dir))?;
        files::in_folder(&self.dir).map(drop).map_err(io_error(&self.dir))
    }

    /// Folder of a run.
    pub fn run_dir(&self, spec: &RunSpec) -> PathBuf {
        self.dir.join(spec.folder())
    }

    /// The record of a run, if it was begun.
    pub fn record(&self, spec: &RunSpec) -> Result<Option<RunRecord>, StoreError> {
        read_record(&self.run_dir(spec), Some(spec))
    }

    /// Whether a run still has something to do.
    pub fn is_pending(&self, spec: &RunSpec) -> Result<bool, StoreError> {
        Ok(self.record(spec)?.is_none_or(|record| record.status == Status::Unfinished))
    }

    /// Writes the description of a run that has none, so that a worker can be pointed to its folder.
    pub fn describe(&self, spec: &RunSpec) -> Result<PathBuf, StoreError> {
        let dir = self.run_dir(spec);
        if self.record(spec)?.is_none() {
            std::fs::create_dir_all(&dir).map_err(io_error(&dir))?;
            let path = dir.join("run.json");
            let mut record = RunRecord::new(spec, 0.0);
            if let Some(kernels) = &self.kernels {
                record.machine.kernels = program::with_library(kernels);
            }
            let file = json_file(&path, &record.signed()).map_err(io_error(&path))?;
            // Never over a record that another process has written in the meantime.
            match file.persist_noclobber(&path) {
                Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(io_error(&path)(error.error));
                }
                _ => {}
            }
        }
        Ok(dir)
    }

    /// Describes several runs, for workers that come later.
    pub fn describe_all(&self, specs: &[RunSpec]) -> Result<(), StoreError> {
        specs.iter().try_for_each(|spec| self.describe(spec).map(drop))
    }

    /// All runs in the folder. Folders without `run.json` are not runs; one that cannot be read hides no other.
    pub fn runs(&self) -> Result<StoredRuns, StoreError> {
        let mut found = StoredRuns::default();
        for entry in std::fs::read_dir(&self.dir).map_err(io_error(&self.dir))? {
            let path = entry.map_err(io_error(&self.dir))?.path();
            match read_record(&path, None) {
                Ok(Some(record)) => found.runs.push(StoredRun { path, record }),
                Ok(None) => {}
                Err(error) => found.unreadable.push(error),
            }
        }
        found.runs.sort_by(|a, b| a.path.cmp(&b.path));
        found.unreadable.sort_by_cached_key(ToString::to_string);
        Ok(found)
    }
}

/// A file of a run; if it was compressed after the run had ended, what gzip made of it.
fn stored(run_dir: &Path, name: &str) -> PathBuf {
    let (plain, packed) = (run_dir.join(name), run_dir.join(format!("{name}.gz")));
    if packed.exists() && !plain.exists() { packed } else { plain }
}

fn read_record(run_dir: &Path, expected: Option<&RunSpec>) -> Result<Option<RunRecord>, StoreError> {
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
fn json_file<T: Serialize>(path: &Path, value: &T) -> io::Result<tempfile::NamedTempFile> {
    let mut file = files::beside(path)?;
    serde_json::to_writer_pretty(&mut file, value)?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    Ok(file)
}
