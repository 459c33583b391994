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
mod error;
mod record;
pub mod recorded;
pub mod recording;
pub mod sealed_file;
mod writer;

use std::io;
use std::path::{Path, PathBuf};

use evenkeel_data::files;
use evenkeel_metrics::{Curve, CurveFileError, Evaluations, is_packed, read_curve_of, unpack};

use self::claim::Claimed;
pub use self::error::StoreError;
use self::error::io_error;
pub use self::record::{RunRecord, Status, write_json};
use self::record::{json_file, read_record};
use self::recorded::EXTRA_FILE;
use self::writer::CURVE_FILE;
pub use self::writer::RunWriter;
use crate::program;
use crate::spec::RunSpec;

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
