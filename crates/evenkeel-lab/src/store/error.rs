//! Why a run directory cannot be used.

use std::io;
use std::path::Path;

use evenkeel_metrics::CurveFault;
use thiserror::Error;

use super::recording::MOST_NAME;
use crate::run::checkpoint::CheckpointError;

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

pub(super) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
    |error| StoreError::Io { path: path.display().to_string(), error }
}
