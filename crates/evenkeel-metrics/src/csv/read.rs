//! Reading curve files, and telling where they are wrong.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::columns::Columns;
use super::packed::{is_packed, unpack};
use super::{CurveFileError, CurveFileFault};
use crate::curve::{Curve, CurveBuilder};

/// Reads and validates one curve; a file whose name ends in `.gz` is unpacked first.
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
    read_curve_of(path, Evaluations::default())
}

/// Reads the curve of a run that may still go on: a last line without a line end is not read, it is being written.
pub fn read_growing_curve(path: &Path) -> Result<Curve, CurveFileError> {
    read_curve_of(path, Evaluations { growing: true, interval: None })
}

/// What is known of a curve before its file is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evaluations {
    /// The run may still go on: a last line without a line end is not read, it is being written.
    pub growing: bool,
    /// The longest that may lie between two evaluations, in iterations; if it is not known, the most frequent is.
    pub interval: Option<u64>,
}

/// Reads and validates a curve of which something is known.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("curve.csv");
/// use evenkeel_metrics::{Evaluations, read_curve_of};
/// std::fs::write(&path, "iteration,task,task1_acc\n1,1,50\n2,1,60\n3,1,70\n10,1,80\n")?;
/// assert!(read_curve_of(&path, Evaluations::default()).is_err());
/// let known = Evaluations { interval: Some(10), ..Evaluations::default() };
/// assert_eq!(read_curve_of(&path, known)?.points().len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_curve_of(path: &Path, known: Evaluations) -> Result<Curve, CurveFileError> {
    let error = |(line, fault)| CurveFileError { path: path.to_owned(), line, fault };
    let failed = |fault: io::Error| error((None, fault.into()));
    // A named pipe would be waited for, perhaps for ever, and can be read only once.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(error((None, CurveFileFault::NoFile)));
    }
    if is_packed(path) {
        return parse(&mut io::Cursor::new(unpack(path).map_err(failed)?), known).map_err(error);
    }
    parse(&mut File::open(path).map_err(failed)?, known).map_err(error)
}

/// The length of a file up to its last line end.
fn whole_lines(file: &mut (impl Read + Seek)) -> io::Result<u64> {
    const BLOCK: u64 = 1 << 12;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        file.by_ref().take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Parses a curve file row by row, so that its text is never in memory; on failure tells the line, where there is one.
pub(super) fn parse(
    file: &mut (impl Read + Seek),
    known: Evaluations,
) -> Result<Curve, (Option<usize>, CurveFileFault)> {
    let length = if known.growing { whole_lines(file) } else { file.seek(SeekFrom::End(0)) };
    let length = length.map_err(|error| (None, error.into()))?;
    let mut builder = CurveBuilder::default();
    let fault = match read_rows(file, length, &mut builder) {
        Ok(()) => match builder.finish(known.interval) {
            Ok(curve) => return Ok(curve),
            Err(error) => (error.row.checked_sub(1).map(Place::Row), CurveFileFault::Curve(error.fault)),
        },
        Err(fault) => fault,
    };
    let line = fault.0.map(|place| line_of(file, length, place)).transpose();
    Err(line.map_or_else(|error| (None, error.into()), |line| (line, fault.1)))
}

/// Where in a file something is wrong.
#[derive(Clone, Copy)]
enum Place {
    /// In what is read from this byte on.
    Byte(u64),
    /// In this row below the header, from 0.
    Row(usize),
}

fn reader<R: Read>(file: R) -> ::csv::Reader<R> {
    ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(::csv::Trim::All)
        .buffer_capacity(1 << 16)
        .from_reader(file)
}

fn read_rows(
    file: &mut (impl Read + Seek),
    length: u64,
    builder: &mut CurveBuilder,
) -> Result<(), (Option<Place>, CurveFileFault)> {
    file.seek(SeekFrom::Start(0)).map_err(|error| (None, error.into()))?;
    let mut reader = reader(file.take(length));
    let mut columns = None;
    let mut record = ::csv::StringRecord::new();
    loop {
        let start = reader.position().byte();
        let at = |fault| (Some(Place::Byte(start)), fault);
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(at(csv_fault(error))),
        }
        match &columns {
            None => columns = Some(Columns::of(&record).map_err(at)?),
            Some(columns) => {
                let point = columns.point(&record).map_err(at)?;
                builder.push(&point).map_err(|fault| at(CurveFileFault::Curve(fault)))?;
            }
        }
    }
    if columns.is_some() { Ok(()) } else { Err((None, CurveFileFault::NoHeader)) }
}

/// The line number of a place. The file is read once more: only files with faults need it.
fn line_of(file: &mut (impl Read + Seek), length: u64, place: Place) -> io::Result<usize> {
    file.seek(SeekFrom::Start(0))?;
    let start = match place {
        Place::Byte(start) => start,
        Place::Row(row) => {
            let mut reader = reader(file.by_ref().take(length));
            let mut record = ::csv::ByteRecord::new();
            // The header comes before the first row.
            for _ in 0..=row {
                reader.read_byte_record(&mut record).map_err(io::Error::from)?;
            }
            reader.position().byte()
        }
    };
    // The reader's own count lags behind after blank lines and CRLF, which it skips only with the next record.
    file.seek(SeekFrom::Start(0))?;
    let (mut line, mut at) = (1, 0);
    for byte in BufReader::new(file.take(length)).bytes() {
        let byte = byte?;
        if at >= start && !matches!(byte, b'\r' | b'\n') {
            break;
        }
        line += usize::from(byte == b'\n');
        at += 1;
    }
    Ok(line)
}

fn csv_fault(error: ::csv::Error) -> CurveFileFault {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => CurveFileFault::Io(error),
        // Rows may have any length, which leaves the encoding.
        _ => CurveFileFault::NotUtf8,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::curve::Point;

    fn parse(bytes: &[u8]) -> Result<Curve, (Option<usize>, CurveFileFault)> {
        super::parse(&mut io::Cursor::new(bytes), Evaluations::default())
    }

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
        assert_eq!(curve.points().iter().collect::<Vec<_>>(), expected);
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

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("curve.csv");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), folder.path()] {
            let shown = read_curve(path).unwrap_err().to_string();
            assert_eq!(
                shown,
                format!("{}: not a regular file; write the curve to one first", path.display())
            );
        }
    }

    #[test]
    fn a_row_that_is_not_text_is_named() {
        let (line, fault) = parse(b"iteration,task,task1_acc\n1,1,90\n2,1,\xff\n").unwrap_err();
        assert_eq!((line, fault.to_string()), (Some(3), "the row is not valid UTF-8".to_owned()));
    }
}
