//! The `evenkeel` command inside the package.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs a command; the first argument is the name of the program. Gives its exit code.
///
/// `again` is the command that starts this program once more: for its workers.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>, again: Vec<OsString>) -> u8 {
    evenkeel_lab::program::started_by(again);
    py.detach(|| {
        let code = evenkeel_lab::cli::main_with(arguments);
        // An exit code does not tell its number.
        (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(1)
    })
}
