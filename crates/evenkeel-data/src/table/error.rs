//! What can be wrong with a user's file of examples.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::error::{FormatError, one_line};

/// A file of examples that cannot be used: where, why, and what to do. Its text is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// Something is wrong with the file, or with one row of it.
    #[error("{file}: {row}{problem}; hint: {hint}", file = file.display(), row = row_text(*row))]
    Content {
        /// The file that was read.
        file: PathBuf,
        /// The row, counted from 0 and without a header.
        row: Option<usize>,
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// Examples and labels that do not fit together.
    #[error(transparent)]
    Format(#[from] FormatError),
}

impl TableError {
    /// An error about a file, or about one row (from 0) of it.
    pub fn new(file: &Path, row: Option<usize>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        let mut problem = problem.into();
        // It may quote a cell.
        if problem.contains(char::is_control) {
            problem = one_line(&problem);
        }
        Self::Content { file: file.to_owned(), row, problem, hint: hint.into() }
    }
}

/// Rows are counted from 1 for people.
fn row_text(row: Option<usize>) -> String {
    row.map_or(String::new(), |row| format!("row {}: ", row + 1))
}

/// What is wrong with a row of CSV, without its position, which the row says.
pub(crate) fn csv_problem(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("has {len} cells, but the header has {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}
