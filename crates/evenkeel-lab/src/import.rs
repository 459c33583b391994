//! Logs of other programs as curves.
//!
//! A format reads a log into [`LoggedRun`]s: named series of numbers, each at a step. [`Roles`] says which series is the accuracy on which
//! task, by what the user says or by names that are known; [`Timeline`] says when each task began; [`curve`] puts them together.

mod avalanche_csv;
mod avalanche_text;
pub mod curve;
mod roles;
mod tensorboard;
mod timeline;
mod wandb;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use self::roles::Roles;
pub use self::timeline::{Timeline, When};

/// A series of numbers, each at its step.
pub type Series = BTreeMap<u64, f64>;

/// What a program logged of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoggedRun {
    /// Its name: that of the log, or within it.
    pub name: String,
    /// Everything that was logged, by name.
    pub series: BTreeMap<String, Series>,
    /// Where steps only count evaluations: the task in which each was made, from 1, and when.
    pub counted: Option<BTreeMap<u64, (usize, When)>>,
    /// Whether the program is known to write accuracies between 0 and 1.
    pub fraction: bool,
    /// What a reader of its curve must know.
    pub notes: Vec<String>,
}

/// A kind of log.
pub struct LogFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Whether a log is one of these, by its name and first bytes; a folder has no bytes.
    pub recognises: fn(&Path, &[u8]) -> bool,
    /// Reads the runs of a log.
    pub read: fn(&Path) -> Result<Vec<LoggedRun>, ImportError>,
}

/// Every format, in the order in which a log is compared with them.
pub static FORMATS: [&LogFormat; 4] =
    [&avalanche_csv::FORMAT, &avalanche_text::FORMAT, &tensorboard::FORMAT, &wandb::FORMAT];

/// Why a log is no curve.
#[derive(Debug, Error)]
#[error("{path}: {problem}", path = path.display())]
pub struct ImportError {
    /// The log.
    pub path: PathBuf,
    /// What is wrong with it, and what to do.
    pub problem: String,
}

impl ImportError {
    fn new(path: &Path, problem: impl Into<String>) -> Self {
        Self { path: path.to_owned(), problem: problem.into() }
    }
}

/// The runs of a log, in the format of that name or in the one that it looks like.
pub fn read(path: &Path, format: Option<&str>) -> Result<Vec<LoggedRun>, ImportError> {
    let names = || FORMATS.map(|format| format.name).join(", ");
    let found = if let Some(name) = format {
        FORMATS.iter().find(|format| format.name == name)
    } else {
        let head = head(path)?;
        FORMATS.iter().find(|format| (format.recognises)(path, &head))
    };
    match found {
        Some(format) => (format.read)(path),
        None => Err(ImportError::new(
            path,
            format!("is no log that is known; --from says which it is: {}", names()),
        )),
    }
}

/// The beginning of a file.
fn head(path: &Path) -> Result<Vec<u8>, ImportError> {
    let failed = |error: std::io::Error| ImportError::new(path, error.to_string());
    if path.is_dir() {
        return Ok(vec![]);
    }
    let mut head = Vec::new();
    std::fs::File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut head)).map_err(failed)?;
    Ok(head)
}

/// The first line of a file that is text.
fn first_line(head: &[u8]) -> Option<&str> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok().map(|line| line.trim_start_matches('\u{feff}').trim_end())
}

/// What a log is called.
fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
