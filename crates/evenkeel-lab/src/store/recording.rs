//! Runs of another program: a folder like that of our own, whose rows come from outside.
//!
//! Every row is handed to the system when it is recorded, so a program that dies loses none. There is no checkpoint: whoever goes on says
//! from which iteration, and later rows are recorded again.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use evenkeel_data::files;
use evenkeel_metrics::{Point, write_header, write_point};

use super::claim::Claim;
use super::sealed_file::{Seal, SealedFile};
use super::writer::CURVE_FILE;
use super::{RunRecord, Status, Store, StoreError, io_error, read_record, write_json};
use crate::spec::RunSpec;

/// Most characters of a name that becomes a folder.
pub const MOST_NAME: usize = 100;

/// What is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// What was trained on; runs with the same are compared with each other.
    pub benchmark: String,
    /// The method.
    pub optimizer: String,
    /// Its seed: equal seeds of two methods are pairs.
    pub seed: u64,
    /// How many tasks there will be.
    pub tasks: usize,
    /// Iterations of each, for the progress; 0 if that is not known.
    pub iterations: u64,
}

/// A run folder that this process adds rows to. Dropping it leaves an unfinished run, which can be gone on with.
pub struct Recording {
    dir: PathBuf,
    record: RunRecord,
    curve: SealedFile,
    row: Vec<u8>,
    tasks: usize,
    last: Option<(u64, usize)>,
    claim: Claim,
    begun: Instant,
}

impl Recording {
    /// Begins a run below `dir`, or goes on with it: rows after the iteration `resume` are cut off. Without `resume` all of them go.
    pub fn open(dir: &Path, described: &Described, resume: Option<u64>) -> Result<Self, StoreError> {
        for name in [&described.benchmark, &described.optimizer] {
            if !is_name(name) {
                return Err(StoreError::Name { name: name.clone() });
            }
        }
        let spec = RunSpec::recorded(
            &described.benchmark,
            &described.optimizer,
            described.seed,
            described.tasks,
            described.iterations,
        );
        let store = Store::new(dir);
        let dir = store.run_dir(&spec);
        std::fs::create_dir_all(&dir).map_err(io_error(&dir))?;
        let claim = Claim::take(&dir, None)?;
        let known = read_record(&dir, Some(&spec))?;
        if known.as_ref().is_some_and(|record| record.status != Status::Unfinished) {
            return Err(StoreError::Ended { path: dir.display().to_string() });
        }
        let path = dir.join(CURVE_FILE);
        let mut header = Vec::new();
        write_header(&mut header, described.tasks).map_err(io_error(&path))?;
        let there = match files::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(io_error(&path)(error)),
        };
        let (kept, last) = kept(&there, &header, resume.unwrap_or(0));
        let seal = Seal { bytes: kept as u64, sha256: files::sha256(&there[..kept]) };
        let mut curve = SealedFile::open(&path, &seal)?;
        if kept == 0 {
            curve.append(&header)?;
        }
        let seconds = known.map_or(0.0, |record| record.seconds);
        let record = RunRecord::new(&spec, seconds);
        write_json(&dir.join("run.json"), &record.signed())?;
        let tasks = described.tasks;
        Ok(Self { dir, record, curve, row: Vec::new(), tasks, last, claim, begun: Instant::now() })
    }

    /// The run folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Iteration and task of the last row.
    pub fn last(&self) -> Option<(u64, usize)> {
        self.last
    }

    /// Records one evaluation. A row that cannot follow the last one is refused, and nothing is written.
    pub fn append(&mut self, point: &Point) -> Result<(), StoreError> {
        self.claim.still_held()?;
        let path = || self.dir.join(CURVE_FILE);
        let bad = |fault| StoreError::Row { path: path().display().to_string(), fault };
        point.check_after(self.last).map_err(bad)?;
        self.row.clear();
        write_point(&mut self.row, point, self.tasks).map_err(|error| io_error(&path())(error))?;
        self.curve.append(&self.row)?;
        self.last = Some((point.iteration, point.task));
        Ok(())
    }

    /// Ends the run; its files are sealed.
    pub fn finish(mut self, status: Status) -> Result<(), StoreError> {
        self.claim.check()?;
        self.record.files.insert(CURVE_FILE.to_string(), self.curve.seal()?.sha256);
        self.record.status = status;
        self.record.seconds += self.begun.elapsed().as_secs_f64();
        write_json(&self.dir.join("run.json"), &self.record.signed())
    }
}

/// How many bytes of a curve stay: the header and the whole rows up to an iteration; and the last of them. Nothing of a file with
/// another header, or one in which a row is none.
fn kept(there: &[u8], header: &[u8], resume: u64) -> (usize, Option<(u64, usize)>) {
    if resume == 0 || !there.starts_with(header) {
        return (0, None);
    }
    let (mut kept, mut last) = (header.len(), None);
    for row in there[header.len()..].split_inclusive(|&byte| byte == b'\n') {
        let mut cells = std::str::from_utf8(row).unwrap_or_default().split(',');
        let iteration = cells.next().and_then(|cell| cell.parse::<u64>().ok());
        let task = cells.next().and_then(|cell| cell.parse::<usize>().ok());
        match iteration.zip(task) {
            Some((iteration, task)) if row.ends_with(b"\n") && iteration <= resume => {
                kept += row.len();
                last = Some((iteration, task));
            }
            _ => break,
        }
    }
    (kept, last)
}

/// Whether a name can be that of a folder on every system.
fn is_name(name: &str) -> bool {
    let fine = |c: char| c.is_alphanumeric() || "-_.+ ".contains(c);
    let dots = name.chars().all(|c| c == '.' || c == ' ');
    !dots && name.chars().count() <= MOST_NAME && name.chars().all(fine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Folders, Runs};

    fn described(seed: u64) -> Described {
        Described { benchmark: "mine".into(), optimizer: "my rule".into(), seed, tasks: 2, iterations: 3 }
    }

    fn point(iteration: u64) -> Point {
        Point { task_acc: vec![Some(7.5)], ..Point::new(iteration, 1 + (iteration as usize - 1) / 3, 90.0) }
    }

    #[test]
    fn a_run_that_was_killed_goes_on_without_a_torn_row_and_counts_when_it_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut recording = Recording::open(folder.path(), &described(0), None).unwrap();
        (1..=4).for_each(|i| recording.append(&point(i)).unwrap());
        let curve = recording.dir().join(CURVE_FILE);
        drop(recording);
        let whole = std::fs::read(&curve).unwrap();
        std::fs::write(&curve, &whole[..whole.len() - 3]).unwrap();
        let mut recording = Recording::open(folder.path(), &described(0), Some(u64::MAX)).unwrap();
        assert_eq!(recording.last(), Some((3, 1)));
        let error = recording.append(&point(3)).unwrap_err().to_string();
        assert!(error.ends_with("iteration 3 does not come after 3"), "{error}");
        (4..=6).for_each(|i| recording.append(&point(i)).unwrap());
        assert!(matches!(
            Recording::open(folder.path(), &described(0), None),
            Err(StoreError::Locked { .. })
        ));
        recording.finish(Status::Done).unwrap();
        assert!(matches!(Recording::open(folder.path(), &described(0), None), Err(StoreError::Ended { .. })));

        let runs = Runs::load(&Folders::read(&[folder.path().to_path_buf()]).runs);
        assert_eq!(runs.lineups[0].groups[0].name, "my rule");
        assert_eq!(runs.lineups[0].groups[0].finished[0].curve.points().len(), 6);
        std::fs::write(&curve, &whole).unwrap();
        let runs = Runs::load(&Folders::read(&[folder.path().to_path_buf()]).runs);
        assert!(runs.damaged(), "a changed curve is not counted");
    }

    #[test]
    fn names_cannot_leave_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "..", "../x", "a/b", "a\\b", "a\nb", &"x".repeat(101)] {
            let described = Described { optimizer: name.to_string(), ..described(0) };
            let error = Recording::open(folder.path(), &described, None).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains("not a name for a folder")), "{name:?}");
        }
    }
}
