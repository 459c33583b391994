//! Arrays to curves.

use evenkeel_metrics::{Curve, CurveBuilder, Point};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// One curve as Python hands it over; what was not measured is NaN.
#[derive(FromPyObject)]
pub(crate) struct Arrays<'py> {
    /// Iterations, over all tasks.
    #[pyo3(item)]
    iteration: PyReadonlyArray1<'py, i64>,
    /// Tasks, from 1.
    #[pyo3(item)]
    task: PyReadonlyArray1<'py, i64>,
    /// A column per task, in percent.
    #[pyo3(item)]
    accuracies: PyReadonlyArray2<'py, f64>,
    /// Loss on task 1, gain, entropy, training loss and accuracy on all seen tasks.
    #[pyo3(item)]
    named: [Option<PyReadonlyArray1<'py, f64>>; 5],
}

impl Arrays<'_> {
    /// The curve; `name` is for messages.
    pub(crate) fn curve(&self, name: &str) -> PyResult<Curve> {
        let bad = |reason: String| PyValueError::new_err(format!("{name}: {reason}"));
        let (iteration, task) = (self.iteration.as_array(), self.task.as_array());
        let accuracies = self.accuracies.as_array();
        let rows = iteration.len();
        let named = self.named.each_ref().map(|column| column.as_ref().map(PyReadonlyArray1::as_array));
        let equal = task.len() == rows
            && accuracies.nrows() == rows
            && named.iter().flatten().all(|column| column.len() == rows);
        if !equal || accuracies.ncols() == 0 {
            return Err(bad("every column needs a value for every iteration".to_string()));
        }
        let mut builder = CurveBuilder::default();
        for row in 0..rows {
            let measured = |value: f64| (!value.is_nan()).then_some(value);
            let whole = |value: i64, what: &str| {
                usize::try_from(value).map_err(|_| bad(format!("row {}: {what} {value}", row + 1)))
            };
            let first = measured(accuracies[[row, 0]])
                .ok_or_else(|| bad(format!("row {}: no accuracy on task 1", row + 1)))?;
            let [task1_loss, gain, entropy, train_loss, seen_acc] =
                named.each_ref().map(|column| column.as_ref().and_then(|column| measured(column[row])));
            let others = (1..accuracies.ncols()).map(|column| measured(accuracies[[row, column]]));
            let point = Point {
                task1_loss,
                gain,
                entropy,
                train_loss,
                seen_acc,
                task_acc: others.collect(),
                ..Point::new(whole(iteration[row], "iteration")? as u64, whole(task[row], "task")?, first)
            };
            builder.push(&point).map_err(|fault| bad(format!("row {}: {fault}", row + 1)))?;
        }
        builder.finish(None).map_err(|error| bad(error.to_string()))
    }
}
