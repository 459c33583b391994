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
mod write;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use self::columns::Columns;
pub use self::write::{write_header, write_point};
use crate::curve::{Curve, CurveFault};

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

/// Reads and validates one curve.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("curve.csv");
/// std::fs::write(&path, "iteration,task,task1_acc\n1,1,98.5\n2,2,71.25\n")?;
/// assert_eq!(evenkeel_metrics::read_curve(&path)?.tasks(), 2);
///
/// std::fs::write(&path, "iteration,task,task1_acc\n1,1,98.5\n2,2,\n")?;
/// let error = evenkeel_metrics::read_curve(&path).unwrap_err();
/// assert!(error.to_string().ends_with("curve.csv:3: task1_acc is empty"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_curve(path: &Path) -> Result<Curve, CurveFileError> {
    let error = |(line, fault)| CurveFileError { path: path.to_owned(), line, fault };
    let bytes = fs::read(path).map_err(|fault| error((None, fault.into())))?;
    parse(&bytes).map_err(error)
}

/// Reads the curve of a run that may still go on: a last line without a line end is not read, it is being written.
pub fn read_growing_curve(path: &Path) -> Result<Curve, CurveFileError> {
    let error = |(line, fault)| CurveFileError { path: path.to_owned(), line, fault };
    let bytes = fs::read(path).map_err(|fault| error((None, fault.into())))?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    parse(&bytes[..whole]).map_err(error)
}

/// Parses the contents of a curve file; on failure tells the line, where there is one.
fn parse(bytes: &[u8]) -> Result<Curve, (Option<usize>, CurveFileFault)> {
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(::csv::Trim::All)
        .from_reader(bytes);
    let mut columns = None;
    let mut points = Vec::new();
    let mut starts = Vec::new();
    loop {
        let start = reader.position().byte() as usize;
        let at = |fault| (Some(line_at(bytes, start)), fault);
        let mut record = ::csv::StringRecord::new();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(at(csv_fault(error))),
        }
        match &columns {
            None => columns = Some(Columns::of(&record).map_err(at)?),
            Some(columns) => {
                points.push(columns.point(&record).map_err(at)?);
                starts.push(start);
            }
        }
    }
    if columns.is_none() {
        return Err((None, CurveFileFault::NoHeader));
    }
    Curve::new(points).map_err(|error| {
        let start = error.row.checked_sub(1).and_then(|index| starts.get(index));
        (start.map(|&start| line_at(bytes, start)), CurveFileFault::Curve(error.fault))
    })
}

/// Line number of the record read from byte `start` on.
fn line_at(bytes: &[u8], start: usize) -> usize {
    // The reader's own count lags behind after blank lines and CRLF, which it skips only with the next record.
    let (before, after) = bytes.split_at(start.min(bytes.len()));
    let skipped = after.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    1 + before.iter().chain(skipped).filter(|&&byte| byte == b'\n').count()
}

fn csv_fault(error: ::csv::Error) -> CurveFileFault {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => CurveFileFault::Io(error),
        // Memory is no source of I/O errors and rows may have any length, which leaves the encoding.
        _ => CurveFileFault::NotUtf8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Point;

    fn failure(text: &str) -> String {
        let (line, fault) = parse(text.as_bytes()).unwrap_err();
        CurveFileError { path: "x.csv".into(), line, fault }.to_string()
    }

    #[test]
    fn columns_may_come_in_any_order_beside_others() {
        let text = "acc_2, note ,task1_acc,task,iteration,entropy\n,a,90,1,1,inf\n45.5,\"b,c\", 80 ,2,2,\n";
        let curve = parse(text.as_bytes()).unwrap();
        let expected = [
            Point { entropy: Some(f64::INFINITY), task_acc: vec![None], ..Point::new(1, 1, 90.0) },
            Point { task_acc: vec![Some(45.5)], ..Point::new(2, 2, 80.0) },
        ];
        assert_eq!(curve.points(), expected);
    }

    #[test]
    fn line_ends_blanks_and_a_byte_order_mark_do_not_matter() {
        let plain = parse(b"iteration,task,task1_acc\n1,1,90\n2,2,80\n").unwrap();
        let odd = "\u{feff}\"iteration\",\"task\",\"task1_acc\"  \r\n\r\n1,1,90 \r\n2,2,80";
        assert_eq!(parse(odd.as_bytes()).unwrap(), plain);
    }

    #[test]
    fn failures_name_file_line_and_reason() {
        let head = "iteration,task,task1_acc,gain,seen_acc";
        let cases = [
            ("", "x.csv: the file is empty, a header row is needed"),
            ("\r\n\niteration,task\n", "x.csv:3: the header has no column task1_acc"),
            ("task,task,iteration,task1_acc\n", "x.csv:1: the header has two columns task"),
            ("task,iteration,task1_acc,acc_2,acc_4\n", "x.csv:1: the header has acc_4 but not acc_3"),
            (&format!("{head}\n"), "x.csv: the curve has no points"),
            (&format!("{head}\n1,1,90,,\n2,1,91\n"), "x.csv:3: the row has 3 cells, the header has 5"),
            (&format!("{head}\r\n1,1,90,,\r\n2,1,,,\r\n"), "x.csv:3: task1_acc is empty"),
            (&format!("{head}\n\n\n1.5,1,90,,\n"), "x.csv:4: iteration is \"1.5\", not a whole number"),
            (&format!("{head}\n1,1,90,high,\n"), "x.csv:2: gain is \"high\", not a number"),
            (&format!("{head}\n1,1,NaN,,\n"), "x.csv:2: task1_acc is NaN, outside 0..=100"),
            (&format!("{head}\n1,1,90,NaN,inf\n"), "x.csv:2: seen_acc is inf, outside 0..=100"),
            (&format!("{head}\r\n1,1,9,,\r\n1,1,9,,\r\n"), "x.csv:3: iteration 1 does not come after 1"),
        ];
        for (text, expected) in cases {
            assert_eq!(failure(text), expected);
        }
    }

    #[test]
    fn a_row_that_is_being_written_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("curve.csv");
        fs::write(&path, "iteration,task,task1_acc\n1,1,98.5\n2,1,9").unwrap();
        assert_eq!(read_growing_curve(&path).unwrap().points().len(), 1);
        assert_eq!(read_curve(&path).unwrap().points().len(), 2);
    }

    #[test]
    fn an_unreadable_file_is_one_line_too() {
        let shown = read_curve(Path::new("no/such/curve.csv")).unwrap_err().to_string();
        assert!(shown.starts_with("no/such/curve.csv: ") && !shown.contains('\n'), "{shown}");
    }

    #[test]
    fn a_row_that_is_not_text_is_named() {
        let (line, fault) = parse(b"iteration,task,task1_acc\n1,1,90\n2,1,\xff\n").unwrap_err();
        assert_eq!((line, fault.to_string()), (Some(3), "the row is not valid UTF-8".to_owned()));
    }
}
