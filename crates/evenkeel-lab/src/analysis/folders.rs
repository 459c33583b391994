//! What lies in the folders of a report: runs, outcomes of experiments, and files that cannot be used.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use evenkeel_data::files::hex;
use evenkeel_report::Section;
use sha2::{Digest, Sha256};

use super::own_curves::{OwnCurves, OwnSource};
use crate::spec::optimizers;
use crate::store::{RunRecord, StoredRun};

/// The section that `evenkeel reproduce` writes.
const OUTCOME: &str = "outcome.json";

/// How deep below a named folder is looked: `runs/`, `runs/split-mnist/`, a run.
const DEPTH: usize = 3;

/// The contents of folders.
#[derive(Debug, Default)]
pub struct Folders {
    /// Runs, optimizers in the order of `evenkeel list`, then by name and seed.
    pub runs: Vec<StoredRun>,
    /// Sections of finished experiments.
    pub outcomes: Vec<Section>,
    /// Curves of other programs.
    pub own: Vec<OwnCurves>,
    /// Their files.
    own_files: Vec<PathBuf>,
    /// Files that are left out, and why.
    pub problems: Vec<String>,
}

impl Folders {
    /// Reads all descriptions below `dirs`. What cannot be read is a problem to be shown, not an error.
    pub fn read(dirs: &[PathBuf]) -> Self {
        let mut folders = Self::default();
        for dir in dirs {
            folders.visit(dir, DEPTH);
        }
        sort(&mut folders.runs);
        folders
    }

    /// As [`read`](Self::read), with curves of other programs.
    pub fn read_with(dirs: &[PathBuf], own: &[OwnSource]) -> Self {
        let mut folders = Self::read(dirs);
        for source in own {
            folders.own_files.extend(source.files().unwrap_or_default());
            match source.read() {
                Ok(curves) => folders.own.push(curves),
                Err(error) => folders.problems.push(error.to_string()),
            }
        }
        folders
    }

    /// With curves that are in memory beside what lies here.
    #[must_use]
    pub fn with_own(mut self, own: Vec<OwnCurves>) -> Self {
        self.own.extend(own);
        self
    }

    fn visit(&mut self, dir: &Path, depth: usize) {
        match RunRecord::read(dir) {
            Ok(Some(record)) => return self.runs.push(StoredRun { path: dir.to_path_buf(), record }),
            Ok(None) => {}
            Err(error) => return self.problems.push(error.to_string()),
        }
        let outcome = dir.join(OUTCOME);
        if outcome.is_file() {
            match read_outcome(&outcome) {
                Ok(section) => self.outcomes.push(section),
                Err(reason) => self.problems.push(format!("{}: {reason}", outcome.display())),
            }
        }
        if depth == 0 {
            return;
        }
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) => return self.problems.push(format!("{}: {error}", dir.display())),
        };
        let mut folders: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        for folder in folders {
            self.visit(&folder, depth - 1);
        }
    }

    /// A name for the present state of the files: another one as soon as a point is added.
    pub fn version(&self) -> String {
        let mut hash = Sha256::new();
        let mut stat = |path: &Path| {
            if let Ok(metadata) = path.metadata() {
                let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                let line = format!("{} {} {:?}\n", path.display(), metadata.len(), modified);
                hash.update(line.as_bytes());
            }
        };
        for run in &self.runs {
            stat(&run.curve_path());
            stat(&run.path.join("run.json"));
        }
        self.own_files.iter().for_each(|path| stat(path));
        for section in &self.outcomes {
            hash.update(serde_json::to_vec(section).unwrap_or_default());
        }
        for problem in &self.problems {
            hash.update(problem.as_bytes());
        }
        hex(&hash.finalize()[..8])
    }
}

/// Optimizers in the order of `evenkeel list`, then by name, then by seed.
pub fn sort(runs: &mut [StoredRun]) {
    runs.sort_by_cached_key(|run| {
        let spec = &run.record.spec;
        let name = spec.optimizer.name.clone();
        (spec.benchmark.clone(), optimizers::rank(&name), name, spec.seed)
    });
}

fn read_outcome(path: &Path) -> Result<Section, String> {
    let text = std::fs::read(path).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| format!("not the outcome of an experiment ({error})"))
}
