//! Curve files: one CSV row per evaluation, appended while the run goes on.
//!
//! ```text
//! iteration,task,task1_acc,task1_loss,gain,entropy,train_loss,seen_acc,acc_2,...,acc_K
//! ```
//!
//! The first three columns are required. The others are optional, as is each of their cells; columns may come
//! in any order and unknown ones are ignored, so the output of another tool often needs no more than a renamed
//! header. `task1_loss`, `gain`, `entropy` and `train_loss` may be `NaN` or `inf`: diverged runs write them.

mod columns;
#[cfg(fuzzing)]
pub mod fuzzing;
mod packed;
mod read;
mod write;

use std::io;
use std::path::PathBuf;

use thiserror::Error;

pub use self::packed::{is_packed, unpack};
pub use self::read::{Evaluations, read_curve, read_curve_of, read_growing_curve};
pub use self::write::{write_header, write_point};
use crate::curve::CurveFault;

/// Why a file is not a curve; shown on one line as `file:line: reason`.
#[derive(Debug, Error)]
#[error("{}{}: {fault}", path.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct CurveFileError {
    /// The file.
    pub path: PathBuf,
    /// The line at fault, from 1, where there is one.
    pub line: Option<usize>,
    /// What is wrong.
    #[source]
    pub fault: CurveFileFault,
}

/// What is wrong with a curve file.
#[derive(Debug, Error)]
pub enum CurveFileFault {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is a pipe, a folder or a device.
    #[error("not a regular file; write the curve to one first")]
    NoFile,
    /// There is no header row.
    #[error("the file is empty, a header row is needed")]
    NoHeader,
    /// A required column is missing from the header.
    #[error("the header has no column {0}")]
    MissingColumn(&'static str),
    /// Two columns share a name.
    #[error("the header has two columns {0}")]
    DuplicateColumn(String),
    /// The numbering of the `acc_k` columns has a gap.
    #[error("the header has acc_{0} but not acc_{before}", before = .0 - 1)]
    AccGap(usize),
    /// The row is not text.
    #[error("the row is not valid UTF-8")]
    NotUtf8,
    /// A row is longer or shorter than the header, like the last one of a run that was cut off.
    #[error("the row has {found} cells, the header has {expected}")]
    CellCount {
        /// Cells in the row.
        found: usize,
        /// Cells in the header.
        expected: usize,
    },
    /// A required cell is empty.
    #[error("{0} is empty")]
    EmptyCell(String),
    /// A cell is not the number it should be.
    #[error("{column} is {value:?}, not {wanted}")]
    BadCell {
        /// Column name.
        column: String,
        /// The text found, shortened.
        value: String,
        /// What belongs there.
        wanted: &'static str,
    },
    /// The rows are fine one by one, but together they are no curve.
    #[error("{0}")]
    Curve(CurveFault),
}
