//! Errors as the user sees them: one line on stderr, and an exit code that says whose fault it is.

use std::io;
use std::process::ExitCode;

use evenkeel_data::LoadError;
use evenkeel_metrics::CurveFileError;

use crate::analysis::own_curves::OwnCurvesError;
use crate::import::ImportError;
use crate::run::prepare::PrepareError;
use crate::run::train::TrainError;
use crate::say;
use crate::spec::ExperimentError;
use crate::store::StoreError;

/// Bad input: a wrong argument, a malformed file.
pub(super) const BAD_INPUT: u8 = 2;
/// Everything else that fails.
pub(super) const FAILURE: u8 = 1;

/// Input that a command refuses, where no library error says so.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct BadInput(pub(super) String);

/// Prints the error and gives its exit code.
pub(super) fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that closed the pipe (`| head`) is no error.
    if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    say::error(format_args!("error: {}", told_once(error)));
    ExitCode::from(if is_bad_input(error) { BAD_INPUT } else { FAILURE })
}

/// An error and its causes; one that only repeats what is said already is left out.
pub(super) fn told_once(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// The exit code after tables that name damaged runs instead of counting them.
pub(super) fn failure_if(damaged: bool) -> ExitCode {
    if damaged { ExitCode::from(FAILURE) } else { ExitCode::SUCCESS }
}

pub(super) fn is_bad_input(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<BadInput>()
            || cause.is::<ExperimentError>()
            || cause.is::<CurveFileError>()
            || cause.is::<OwnCurvesError>()
            || cause.is::<ImportError>()
            || cause.downcast_ref::<StoreError>().is_some_and(StoreError::is_bad_input)
            || cause.downcast_ref::<LoadError>().is_some_and(LoadError::is_bad_input)
            || cause.downcast_ref::<PrepareError>().is_some_and(PrepareError::is_bad_input)
            || cause.downcast_ref::<TrainError>().is_some_and(|error| match error {
                TrainError::Store(error) => error.is_bad_input(),
                TrainError::State(_) | TrainError::Optimizer(_) => true,
                TrainError::Probe(_) | TrainError::Weights(_) => false,
            })
    })
}
