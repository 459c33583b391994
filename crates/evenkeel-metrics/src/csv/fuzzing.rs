//! What `fuzz/run` reaches of the reader of curves: a file in memory.

use std::io::Cursor;

use super::{CurveFileError, Evaluations, read};
use crate::curve::Curve;

/// The curve of a file, of which the last line may still be being written.
pub fn curve(bytes: &[u8], growing: bool) -> Result<Curve, CurveFileError> {
    read::parse(&mut Cursor::new(bytes), Evaluations { growing, interval: None })
        .map_err(|(line, fault)| CurveFileError { path: "curve.csv".into(), line, fault })
}
