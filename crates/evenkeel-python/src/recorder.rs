//! Rows of anyone's training loop as a run folder.

use std::path::PathBuf;

use evenkeel_lab::store::recording::{Described, Recording};
use evenkeel_lab::store::{Status, StoreError};
use evenkeel_metrics::Point;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Files that are at fault are the caller's to mend; the rest is the system's.
pub(crate) fn raised(error: StoreError) -> PyErr {
    if error.is_bad_input() {
        PyValueError::new_err(error.to_string())
    } else {
        PyOSError::new_err(error.to_string())
    }
}

/// The compiled half of `evenkeel.Recorder`.
#[pyclass(module = "evenkeel._evenkeel")]
pub(crate) struct Recorder {
    recording: Option<Recording>,
    folder: PathBuf,
}

impl Recorder {
    fn recording(&mut self) -> PyResult<&mut Recording> {
        self.recording.as_mut().ok_or_else(|| PyRuntimeError::new_err("this recorder is closed"))
    }
}

#[pymethods]
impl Recorder {
    #[new]
    #[pyo3(signature = (folder, benchmark, optimizer, seed, tasks, iterations, resume))]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        benchmark: String,
        optimizer: String,
        seed: u64,
        tasks: usize,
        iterations: u64,
        resume: Option<u64>,
    ) -> PyResult<Self> {
        let described = Described { benchmark, optimizer, seed, tasks, iterations };
        let recording = py.detach(|| Recording::open(&folder, &described, resume)).map_err(raised)?;
        let folder = recording.dir().to_path_buf();
        Ok(Self { recording: Some(recording), folder })
    }

    /// The run folder.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// The last iteration that is recorded; 0 before the first.
    #[getter]
    fn iteration(&mut self) -> PyResult<u64> {
        Ok(self.recording()?.last().map_or(0, |(iteration, _)| iteration))
    }

    /// Whether nothing more can be recorded.
    #[getter]
    fn closed(&self) -> bool {
        self.recording.is_none()
    }

    /// Appends one row.
    #[pyo3(signature = (iteration, task, accuracies, loss, gain, entropy, train_loss, seen))]
    fn log(
        &mut self,
        iteration: u64,
        task: usize,
        accuracies: Vec<Option<f64>>,
        loss: Option<f64>,
        gain: Option<f64>,
        entropy: Option<f64>,
        train_loss: Option<f64>,
        seen: Option<f64>,
    ) -> PyResult<()> {
        let recording = self.recording()?;
        let mut accuracies = accuracies.into_iter();
        let first = accuracies.next().flatten();
        let first = first.ok_or_else(|| PyValueError::new_err("accuracies: that on task 1 is needed"))?;
        let point = Point {
            task1_loss: loss,
            gain,
            entropy,
            train_loss,
            seen_acc: seen,
            task_acc: accuracies.collect(),
            ..Point::new(iteration, task, first)
        };
        recording.append(&point).map_err(raised)
    }

    /// Ends the run: done, or diverged if there is a reason.
    #[pyo3(signature = (diverged))]
    fn finish(&mut self, py: Python<'_>, diverged: Option<String>) -> PyResult<()> {
        let iteration = self.iteration()?;
        let Some(recording) = self.recording.take() else { return Ok(()) };
        let status = match diverged {
            None => Status::Done,
            Some(reason) => Status::Diverged { iteration, reason },
        };
        py.detach(|| recording.finish(status)).map_err(raised)
    }

    /// Leaves the run unfinished.
    fn leave(&mut self) {
        self.recording = None;
    }
}
