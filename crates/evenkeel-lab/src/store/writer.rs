//! Writing to a run directory, by one process at a time.

use std::io;
use std::path::{Path, PathBuf};

use evenkeel_data::files;
use evenkeel_metrics::{Point, write_header, write_point};

use super::claim::Claim;
use super::recorded::{EXTRA_FILE, ExtraWriter};
use super::sealed_file::{SealedFile, sha256_of};
use super::{RunRecord, Status, StoreError, io_error, read_record, write_json};
use crate::program;
use crate::run::checkpoint::{Checkpoint, Header};
use crate::run::weights;
use crate::spec::RunSpec;

/// Name of the curve in a run directory.
pub(super) const CURVE_FILE: &str = "curve.csv";

/// A run directory that this process works on. Dropping it gives it back.
pub struct RunWriter {
    dir: PathBuf,
    record: RunRecord,
    curve: SealedFile,
    extra: ExtraWriter,
    tasks: usize,
    claim: Claim,
}

impl RunWriter {
    /// Claims the run, and brings its curve back to the last checkpoint (or to the beginning). `dead` is the token of a
    /// lease that is known to be a dead machine's.
    ///
    /// `None` if the run is finished already: another process may have done so in the meantime.
    pub fn open(
        dir: &Path,
        spec: &RunSpec,
        tasks: usize,
        dead: Option<&str>,
    ) -> Result<Option<(Self, Option<Checkpoint>)>, StoreError> {
        std::fs::create_dir_all(dir).map_err(io_error(dir))?;
        let claim = Claim::take(dir, dead)?;
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

        let path = dir.join(CURVE_FILE);
        let length = path.metadata().map_or(0, |metadata| metadata.len());
        // Rows after the checkpoint are done again, a torn last one among them. A curve that is shorter than its
        // checkpoint says (a machine that lost power) cannot be continued, nor one of a program that rounds differently:
        // begin again.
        let usable =
            |header: &Header| header.curve.bytes <= length && header.made_by == Header::this_program();
        let checkpoint = checkpoint.filter(|checkpoint| usable(&checkpoint.header));
        let (curve, extra) =
            checkpoint.as_ref().map(|c| (c.header.curve.clone(), c.header.extra.clone())).unwrap_or_default();
        let begins = curve.bytes == 0;
        let curve = SealedFile::open(&path, &curve)?;
        let extra = ExtraWriter::open(&dir.join(EXTRA_FILE), &extra)?;

        let seconds = checkpoint.as_ref().map_or(0.0, |checkpoint| checkpoint.header.seconds);
        let mut record = RunRecord::new(spec, seconds);
        if let Some(checkpoint) = &checkpoint {
            record.begun_by = known.map(|known| known.begun_by).unwrap_or_default();
            let before = &checkpoint.header.commit;
            if before != program::COMMIT && !record.begun_by.contains(before) {
                record.begun_by.push(before.clone());
            }
        }
        let mut writer = Self { dir: dir.to_path_buf(), record, curve, extra, tasks, claim };
        writer.write_record()?;
        if begins {
            let mut header = Vec::new();
            write_header(&mut header, tasks).map_err(io_error(&path))?;
            writer.curve.append(&header)?;
        }
        Ok(Some((writer, checkpoint)))
    }

    /// Seconds of training before this process took over.
    pub fn seconds_before(&self) -> f64 {
        self.record.seconds
    }

    /// Appends one row and hands it to the system, so that a crash of this process loses nothing.
    pub fn append(&mut self, point: &Point) -> Result<(), StoreError> {
        self.claim.still_held()?;
        let mut row = Vec::new();
        write_point(&mut row, point, self.tasks).map_err(io_error(&self.dir.join(CURVE_FILE)))?;
        self.curve.append(&row)
    }

    /// Appends one value to `extra.csv`.
    pub fn append_extra(
        &mut self,
        iteration: u64,
        task: usize,
        quantity: &str,
        value: f64,
    ) -> Result<(), StoreError> {
        self.extra.append(iteration, task, quantity, value)
    }

    /// Saves the state after `iteration`; the curve is on disk before it.
    pub fn checkpoint(
        &mut self,
        iteration: u64,
        seconds: f64,
        state: (Vec<u8>, Vec<u8>),
    ) -> Result<(), StoreError> {
        self.claim.check()?;
        let (curve, extra) = (self.curve.seal()?, self.extra.seal()?);
        let path = self.dir.join("checkpoint.bin");
        let checkpoint = Checkpoint::new(&self.record.id, iteration, (curve, extra), seconds, state);
        checkpoint.save(&path).map_err(io_error(&path))
    }

    /// Marks the run as ended; its checkpoint is not needed any more.
    pub fn finish(mut self, status: Status, seconds: f64) -> Result<(), StoreError> {
        self.claim.check()?;
        self.record.files.insert(CURVE_FILE.to_string(), self.curve.seal()?.sha256);
        if let Some(extra) = self.extra.seal_if_any()? {
            self.record.files.insert(EXTRA_FILE.to_string(), extra.sha256);
        }
        let weights = self.dir.join(weights::FILE);
        if weights.exists() {
            let sha256 = sha256_of(&weights).map_err(io_error(&weights))?;
            self.record.files.insert(weights::FILE.to_string(), sha256);
        }
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
        write_json(&self.dir.join("run.json"), &self.record.signed())
    }
}

/// Removes temporary files of a process that was killed while it wrote one. Only under a claim.
fn sweep(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(files::PREFIX) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
