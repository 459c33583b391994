//! Small curves for the unit tests.

use crate::curve::{Curve, Point};

/// A curve evaluated after every iteration, from the task-1 accuracies of each task.
pub(crate) fn curve(tasks: &[&[f64]]) -> Curve {
    Curve::new(points(tasks)).expect("test curves are valid")
}

/// The points of [`curve`], to fill optional columns before validation.
pub(crate) fn points(tasks: &[&[f64]]) -> Vec<Point> {
    let accuracies = (1..).zip(tasks).flat_map(|(task, accs)| accs.iter().map(move |&acc| (task, acc)));
    (1..).zip(accuracies).map(|(iteration, (task, acc))| Point::new(iteration, task, acc)).collect()
}

/// Asserts that two numbers agree to `1e-9`.
#[track_caller]
pub(crate) fn assert_close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-9, "{left} is not {right}");
}
