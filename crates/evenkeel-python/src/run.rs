//! Experiments from Python: the runner of the command, its events as calls, Ctrl-C as an exception.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use evenkeel_lab::cli::embedded::{self, EmbeddedError};
use evenkeel_lab::run::runner::Event;
use evenkeel_lab::spec::RunSpec;
use evenkeel_lab::store::Status;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// How often Python is asked whether Ctrl-C was pressed.
const POLL: Duration = Duration::from_millis(50);

/// Of a run: its number, how many there are, name, seed, what happened, iterations done and in all, accuracy on task 1.
type Update = (usize, usize, String, u64, String, u64, u64, Option<f64>);

/// Does what `evenkeel run ARGUMENTS` does. `progress` is called with every [`Update`]. Gives the folder of the results.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    arguments: Vec<String>,
    again: Vec<OsString>,
    progress: Py<PyAny>,
) -> PyResult<PathBuf> {
    evenkeel_lab::program::started_by(again);
    let stop = AtomicBool::new(false);
    let (sender, mut updates) = mpsc::channel();
    std::thread::scope(|scope| {
        let (stop, arguments) = (&stop, &arguments);
        let work = scope.spawn(move || {
            embedded::run(arguments, stop, &mut |specs, iterations, event| {
                // The receiver outlives this thread.
                let _ = sender.send(update(specs, iterations, event));
            })
        });
        let mut raised = None;
        loop {
            let receiver = &mut updates;
            match py.detach(move || receiver.recv_timeout(POLL)) {
                Ok(update) if raised.is_none() => raised = progress.call1(py, update).err(),
                Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if raised.is_none() {
                raised = py.check_signals().err();
            }
            if raised.is_some() {
                // Every run saves its state; then the exception goes on its way.
                stop.store(true, Ordering::Relaxed);
            }
        }
        let ran = py.detach(|| work.join());
        if let Some(error) = raised {
            return Err(error);
        }
        let ran = ran.map_err(|_| PyRuntimeError::new_err("the runner panicked; see above"))?;
        ran.map(|ran| ran.dir).map_err(|error| match error {
            EmbeddedError::BadInput(text) => PyValueError::new_err(text),
            EmbeddedError::Failed(text) => PyRuntimeError::new_err(text),
        })
    })
}

fn update(specs: &[RunSpec], iterations: &[u64], event: Event) -> Update {
    let (index, what, done, accuracy) = match event {
        Event::Started(index) => (index, "started".to_string(), 0, None),
        Event::Progress(index, report) => {
            (index, "running".to_string(), report.iteration, Some(report.task1_acc))
        }
        Event::Elsewhere(index) => (index, "another process works on it".to_string(), 0, None),
        Event::Ended(index, Status::Diverged { iteration, reason }) => {
            (index, format!("diverged at {iteration}: {reason}"), iterations[index], None)
        }
        Event::Ended(index, _) => (index, "done".to_string(), iterations[index], None),
        Event::Failed(index, failure) => (index, format!("failed: {}", failure.message), 0, None),
        Event::Stopped(index) => (index, "stopped".to_string(), 0, None),
    };
    let spec = &specs[index];
    (index, specs.len(), spec.optimizer.name.clone(), spec.seed, what, done, iterations[index], accuracy)
}
