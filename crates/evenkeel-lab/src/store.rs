//! Run directories: what was asked, what came out, and what is needed to go on.
//!
//! ```text
//! DIR/ngm-sgd-seed0-0123456789ab/
//!     run.json        spec, status, version, machine
//!     curve.csv       one row an evaluation, append-only
//!     extra.csv       what else was asked for: curvature, training accuracy
//!     checkpoint.bin  only while the run is unfinished
//!     lock            held by the process that works on the run
//! ```

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use evenkeel_metrics::{Point, write_header, write_point};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::atomic_file;
use crate::checkpoint::{Checkpoint, CheckpointError, Header};
use crate::extra::{EXTRA_FILE, ExtraWriter};
use crate::machine::Machine;
use crate::spec::RunSpec;

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
}

impl StoreError {
    /// Whether the files are at fault and not the system: exit code 2.
    pub fn is_bad_input(&self) -> bool {
        match self {
            StoreError::BadRun { .. } | StoreError::OtherRun { .. } => true,
            StoreError::Checkpoint { error, .. } => !matches!(error, CheckpointError::Io(_)),
            StoreError::Io { .. } | StoreError::Locked { .. } => false,
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
    /// Where it ran.
    pub machine: Machine,
    /// Seconds of training, all restarts together.
    pub seconds: f64,
}

impl RunRecord {
    fn new(spec: &RunSpec, seconds: f64) -> Self {
        Self {
            id: spec.id(),
            spec: spec.clone(),
            status: Status::Unfinished,
            version: env!("CARGO_PKG_VERSION").to_string(),
            machine: Machine::here(),
            seconds,
        }
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
}

/// A run directory, as a reader sees it.
#[derive(Debug)]
pub struct StoredRun {
    /// The folder.
    pub path: PathBuf,
    /// Its `run.json`.
    pub record: RunRecord,
}

impl StoredRun {
    /// The curve file.
    pub fn curve_path(&self) -> PathBuf {
        self.path.join("curve.csv")
    }

    /// The file of what else was asked for.
    pub fn extra_path(&self) -> PathBuf {
        self.path.join(EXTRA_FILE)
    }

    /// Whether a process works on it now.
    pub fn is_locked(&self) -> bool {
        is_locked(&self.path)
    }
}

impl Store {
    /// The store in that folder, which need not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Creates the folder, so that a wrong path is known before anything is computed.
    pub fn create(&self) -> Result<(), StoreError> {
        std::fs::create_dir_all(&self.dir).map_err(io_error(&self.dir))?;
        atomic_file::in_folder(&self.dir).map(drop).map_err(io_error(&self.dir))
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
            let file = json_file(&path, &RunRecord::new(spec, 0.0)).map_err(io_error(&path))?;
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

    /// All runs in the folder, by folder name. Folders without `run.json` are not runs.
    pub fn runs(&self) -> Result<Vec<StoredRun>, StoreError> {
        let mut runs = Vec::new();
        for entry in std::fs::read_dir(&self.dir).map_err(io_error(&self.dir))? {
            let path = entry.map_err(io_error(&self.dir))?.path();
            if let Some(record) = read_record(&path, None)? {
                runs.push(StoredRun { path, record });
            }
        }
        runs.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(runs)
    }
}

fn read_record(run_dir: &Path, expected: Option<&RunSpec>) -> Result<Option<RunRecord>, StoreError> {
    let path = run_dir.join("run.json");
    let text = match std::fs::read(&path) {
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
    Ok(Some(record))
}

/// A run directory that this process works on. Dropping it releases the lock.
pub struct RunWriter {
    dir: PathBuf,
    record: RunRecord,
    curve: BufWriter<File>,
    extra: ExtraWriter,
    tasks: usize,
    _lock: File,
}

impl RunWriter {
    /// Locks the run, and brings its curve back to the last checkpoint (or to the beginning).
    ///
    /// `None` if the run is finished already: another process may have done so in the meantime.
    pub fn open(
        dir: &Path,
        spec: &RunSpec,
        tasks: usize,
    ) -> Result<Option<(Self, Option<Checkpoint>)>, StoreError> {
        std::fs::create_dir_all(dir).map_err(io_error(dir))?;
        let lock = lock(dir)?;
        let known = read_record(dir, Some(spec))?;
        sweep(dir);
        if known.as_ref().is_some_and(|record| record.status != Status::Unfinished) {
            // Left over if the process that finished the run was killed at its very end.
            let _ = std::fs::remove_file(dir.join("checkpoint.bin"));
            return Ok(None);
        }
        let path = dir.join("checkpoint.bin");
        let checkpoint = Checkpoint::load(&path, &spec.id())
            .map_err(|error| StoreError::Checkpoint { path: path.display().to_string(), error })?;

        let path = dir.join("curve.csv");
        let mut curve = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(io_error(&path))?;
        let length = curve.metadata().map_err(io_error(&path))?.len();
        // Rows after the checkpoint are done again, a torn last one among them. A curve that is shorter than its
        // checkpoint says (a machine that lost power) cannot be continued, nor one of a program that rounds differently:
        // begin again.
        let usable =
            |header: &Header| header.curve_bytes <= length && header.made_by == Header::this_program();
        let checkpoint = checkpoint.filter(|checkpoint| usable(&checkpoint.header));
        let keep = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.header.curve_bytes);
        curve.set_len(keep).map_err(io_error(&path))?;
        curve.seek(SeekFrom::Start(keep)).map_err(io_error(&path))?;

        let path = dir.join(EXTRA_FILE);
        let done = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.header.iteration);
        let extra = ExtraWriter::open(&path, done).map_err(io_error(&path))?;

        let seconds = checkpoint.as_ref().map_or(0.0, |checkpoint| checkpoint.header.seconds);
        let record = RunRecord::new(spec, seconds);
        let mut writer =
            Self { dir: dir.to_path_buf(), record, curve: BufWriter::new(curve), extra, tasks, _lock: lock };
        writer.write_record()?;
        if keep == 0 {
            let path = dir.join("curve.csv");
            let result = write_header(&mut writer.curve, tasks).and_then(|()| writer.curve.flush());
            result.map_err(io_error(&path))?;
        }
        Ok(Some((writer, checkpoint)))
    }

    /// Seconds of training before this process took over.
    pub fn seconds_before(&self) -> f64 {
        self.record.seconds
    }

    /// Appends one row and hands it to the system, so that a crash of this process loses nothing.
    pub fn append(&mut self, point: &Point) -> Result<(), StoreError> {
        let path = self.dir.join("curve.csv");
        write_point(&mut self.curve, point, self.tasks)
            .and_then(|()| self.curve.flush())
            .map_err(io_error(&path))
    }

    /// Appends one value to `extra.csv`.
    pub fn append_extra(
        &mut self,
        iteration: u64,
        task: usize,
        quantity: &str,
        value: f64,
    ) -> Result<(), StoreError> {
        let path = self.dir.join(EXTRA_FILE);
        self.extra.append(iteration, task, quantity, value).map_err(io_error(&path))
    }

    /// Saves the state after `iteration`; the curve is on disk before it.
    pub fn checkpoint(
        &mut self,
        iteration: u64,
        seconds: f64,
        state: (Vec<u8>, Vec<u8>),
    ) -> Result<(), StoreError> {
        let path = self.dir.join(EXTRA_FILE);
        self.extra.sync().map_err(io_error(&path))?;
        let path = self.dir.join("curve.csv");
        let sync = |curve: &mut BufWriter<File>| -> io::Result<u64> {
            curve.flush()?;
            curve.get_ref().sync_data()?;
            curve.stream_position()
        };
        let curve_bytes = sync(&mut self.curve).map_err(io_error(&path))?;
        let path = self.dir.join("checkpoint.bin");
        let checkpoint = Checkpoint::new(&self.record.id, iteration, curve_bytes, seconds, state);
        checkpoint.save(&path).map_err(io_error(&path))
    }

    /// Marks the run as ended; its checkpoint is not needed any more.
    pub fn finish(mut self, status: Status, seconds: f64) -> Result<(), StoreError> {
        let path = self.dir.join(EXTRA_FILE);
        self.extra.sync().map_err(io_error(&path))?;
        let path = self.dir.join("curve.csv");
        self.curve.flush().and_then(|()| self.curve.get_ref().sync_data()).map_err(io_error(&path))?;
        self.record.status = status;
        self.record.seconds = seconds;
        self.write_record()?;
        let path = self.dir.join("checkpoint.bin");
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(&path)(error)),
            _ => Ok(()),
        }
    }

    fn write_record(&self) -> Result<(), StoreError> {
        write_json(&self.dir.join("run.json"), &self.record)
    }
}

fn lock(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join("lock");
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(io_error(&path))?;
    // A reader that asks whether the run is locked holds the lock itself for a moment: ask again before giving up.
    for _ in 0..5 {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::Error(error)) => return Err(io_error(&path)(error)),
        }
    }
    Err(StoreError::Locked { path: dir.display().to_string() })
}

/// Removes temporary files of a process that was killed while it wrote one. Only under the lock.
fn sweep(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(atomic_file::PREFIX) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether a process works on the run in `dir` now.
pub fn is_locked(dir: &Path) -> bool {
    File::open(dir.join("lock"))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Writes JSON to a temporary file, syncs it and renames it into place.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    let write = || atomic_file::publish(json_file(path, value)?, path);
    write().map(drop).map_err(io_error(path))
}

/// A temporary file beside `path`.
fn json_file<T: Serialize>(path: &Path, value: &T) -> io::Result<tempfile::NamedTempFile> {
    let mut file = atomic_file::beside(path)?;
    serde_json::to_writer_pretty(&mut file, value)?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    Ok(file)
}
