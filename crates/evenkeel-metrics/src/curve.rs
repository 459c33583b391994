//! One seed's accuracy curve, checked once so that no metric has to.

use std::collections::HashMap;
use std::ops::Range;

use thiserror::Error;

/// One evaluation of the network: a row of the curve file.
///
/// Only the first three fields are needed for the paper's metrics; the rest is `None` or empty where it was
/// not measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Training iterations done so far, counted over all tasks (`i`).
    pub iteration: u64,
    /// Task being trained, from 1 (`k`).
    pub task: usize,
    /// Accuracy on the test set of task 1, in percent (`A_i`).
    pub task1_acc: f64,
    /// Cross-entropy on the test set of task 1. Not finite if the run diverged.
    pub task1_loss: Option<f64>,
    /// Neural gain after the iteration (`g`).
    pub gain: Option<f64>,
    /// Mean output entropy of the batch in nats (`H`).
    pub entropy: Option<f64>,
    /// Training loss of the batch.
    pub train_loss: Option<f64>,
    /// Accuracy on the union of the test sets of all tasks seen so far, in percent.
    pub seen_acc: Option<f64>,
    /// Accuracy on the test sets of tasks 2, 3, …, in percent: index 0 is task 2.
    pub task_acc: Vec<Option<f64>>,
}

impl Point {
    /// A point with the required fields; everything else counts as not measured.
    pub fn new(iteration: u64, task: usize, task1_acc: f64) -> Self {
        Self {
            iteration,
            task,
            task1_acc,
            task1_loss: None,
            gain: None,
            entropy: None,
            train_loss: None,
            seen_acc: None,
            task_acc: Vec::new(),
        }
    }

    /// Accuracy on the test set of any task (from 1), where measured.
    pub fn acc_of(&self, task: usize) -> Option<f64> {
        match task {
            0 => None,
            1 => Some(self.task1_acc),
            _ => self.task_acc.get(task - 2).copied().flatten(),
        }
    }
}

/// Why a list of points is not a curve, and at which point.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("row {row}: {fault}")]
pub struct CurveError {
    /// The offending point, from 1; 0 for an empty curve.
    pub row: usize,
    /// What is wrong with it.
    pub fault: CurveFault,
}

/// What is wrong with a point.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CurveFault {
    /// A curve needs at least one point.
    #[error("the curve has no points")]
    Empty,
    /// Iterations must strictly increase.
    #[error("iteration {iteration} does not come after {previous}")]
    IterationOrder {
        /// Iteration of the point before.
        previous: u64,
        /// Iteration of this point.
        iteration: u64,
    },
    /// Two successive points are further apart than the evaluation interval, so a minimum may be missing.
    #[error("nothing was evaluated between iterations {from} and {to}, yet the interval is {interval}")]
    Hole {
        /// Last iteration before the hole; 0 when the start of the curve is missing.
        from: u64,
        /// First iteration after the hole.
        to: u64,
        /// The curve's evaluation interval (`ρ`).
        interval: u64,
    },
    /// Tasks start at 1 and go up one at a time.
    #[error("task {task} cannot follow task {previous}")]
    TaskOrder {
        /// Task of the point before; 0 at the first point.
        previous: usize,
        /// Task of this point.
        task: usize,
    },
    /// Accuracies are percentages.
    #[error("{column} is {value}, outside 0..=100")]
    Accuracy {
        /// Column name as in the curve file.
        column: String,
        /// The value found.
        value: f64,
    },
}

/// A validated accuracy curve of one seed.
///
/// Holding one guarantees: there is a point; iterations strictly increase; tasks run 1, 2, …, `K`; accuracies
/// are within 0..=100; and no evaluation is missing, so that a minimum over the points can be trusted.
///
/// The evaluation interval `ρ` is the most frequent step between successive iterations, the first one being
/// the step from iteration 0; of equally frequent steps it is the longest. Shorter steps are fine (a task
/// whose length `ρ` does not divide is still evaluated at its end), longer ones are holes.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    points: Vec<Point>,
    /// Index of the first point of every task, then the number of points.
    bounds: Vec<usize>,
    interval: u64,
}

impl Curve {
    /// Checks the points and makes a curve of them.
    pub fn new(points: Vec<Point>) -> Result<Self, CurveError> {
        let mut bounds = Vec::new();
        for (index, point) in points.iter().enumerate() {
            let at = |fault| CurveError { row: index + 1, fault };
            let previous = index.checked_sub(1).map(|before| &points[before]);
            if let Some(previous) = previous.filter(|previous| previous.iteration >= point.iteration) {
                let (previous, iteration) = (previous.iteration, point.iteration);
                return Err(at(CurveFault::IterationOrder { previous, iteration }));
            }
            let previous_task = previous.map_or(0, |previous| previous.task);
            if Some(point.task) == previous_task.checked_add(1) {
                bounds.push(index);
            } else if point.task != previous_task || index == 0 {
                return Err(at(CurveFault::TaskOrder { previous: previous_task, task: point.task }));
            }
            check_accuracies(point).map_err(at)?;
        }
        bounds.push(points.len());
        let interval = evaluation_interval(&points)?;
        Ok(Self { points, bounds, interval })
    }

    /// All points, in order.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Number of tasks that have points (`K`). An unfinished run has fewer than it was planned for.
    pub fn tasks(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Iterations between two evaluations (`ρ`).
    pub fn interval(&self) -> u64 {
        self.interval
    }

    /// Indices of the points of task `k`, from 1; empty if there is no such task.
    pub fn task_range(&self, k: usize) -> Range<usize> {
        match (k.checked_sub(1).and_then(|before| self.bounds.get(before)), self.bounds.get(k)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        }
    }

    /// The last point of every task, `k = 1..K`.
    pub fn task_ends(&self) -> impl Iterator<Item = &Point> {
        self.bounds[1..].iter().map(|&end| &self.points[end - 1])
    }

    /// The same evaluations with other task-1 accuracies, which must be percentages, one per point.
    pub(crate) fn with_task1_acc(&self, accuracies: &[f64]) -> Self {
        let points = self.points.iter().zip(accuracies);
        let points = points.map(|(point, &acc)| Point::new(point.iteration, point.task, acc)).collect();
        Self { points, bounds: self.bounds.clone(), interval: self.interval }
    }
}

fn check_accuracies(point: &Point) -> Result<(), CurveFault> {
    let fine = |value: f64| (0.0..=100.0).contains(&value);
    let bad = |column: String, value| Err(CurveFault::Accuracy { column, value });
    if !fine(point.task1_acc) {
        return bad("task1_acc".into(), point.task1_acc);
    }
    if let Some(value) = point.seen_acc.filter(|&value| !fine(value)) {
        return bad("seen_acc".into(), value);
    }
    for (task, value) in (2..).zip(&point.task_acc) {
        if let Some(value) = value.filter(|&value| !fine(value)) {
            return bad(format!("acc_{task}"), value);
        }
    }
    Ok(())
}

/// The most frequent step, after checking that no step is longer.
fn evaluation_interval(points: &[Point]) -> Result<u64, CurveError> {
    // Counting the step from iteration 0 keeps short runs right: with `ρ = 10` and tasks of 15 iterations the
    // points 10, 15, 25, 30 alone would suggest an interval of 5.
    let before = std::iter::once(0).chain(points.iter().map(|point| point.iteration));
    let steps: Vec<(u64, u64)> = before.zip(points).map(|(from, point)| (from, point.iteration)).collect();

    let mut counts = HashMap::<u64, usize>::new();
    for (from, to) in steps.iter().filter(|(from, to)| from < to) {
        *counts.entry(to - from).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(step, count)| (count, step));
    let interval = match (most, points.len()) {
        (Some((step, _)), _) => step,
        (None, 0) => return Err(CurveError { row: 0, fault: CurveFault::Empty }),
        // A single evaluation before training.
        (None, _) => 1,
    };
    match steps.iter().position(|(from, to)| to - from > interval) {
        Some(index) => {
            let (from, to) = steps[index];
            Err(CurveError { row: index + 1, fault: CurveFault::Hole { from, to, interval } })
        }
        None => Ok(interval),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curve, points};

    fn at(iterations: &[u64]) -> Result<Curve, CurveError> {
        Curve::new(iterations.iter().map(|&iteration| Point::new(iteration, 1, 50.0)).collect())
    }

    #[test]
    fn tasks_are_contiguous_ranges() {
        let curve = curve(&[&[1.0, 2.0], &[3.0], &[4.0, 5.0, 6.0]]);
        assert_eq!(curve.tasks(), 3);
        assert_eq!([1, 2, 3].map(|k| curve.task_range(k)), [0..2, 2..3, 3..6]);
        assert_eq!([0, 4, usize::MAX].map(|k| curve.task_range(k)), [0..0, 0..0, 0..0]);
        assert_eq!(curve.task_ends().map(|end| end.task1_acc).collect::<Vec<_>>(), [2.0, 3.0, 6.0]);
    }

    #[test]
    fn a_hole_names_its_two_iterations() {
        let error = at(&[1, 2, 3, 7, 8]).unwrap_err();
        assert_eq!(error, CurveError { row: 4, fault: CurveFault::Hole { from: 3, to: 7, interval: 1 } });
        let error = at(&[30, 40, 50]).unwrap_err();
        assert_eq!(error, CurveError { row: 1, fault: CurveFault::Hole { from: 0, to: 30, interval: 10 } });
    }

    #[test]
    fn a_short_step_at_a_task_end_is_no_hole() {
        assert_eq!(at(&[10, 20, 25, 35, 45, 50]).unwrap().interval(), 10);
        assert_eq!(at(&[10, 15, 25, 30]).unwrap().interval(), 10);
        assert_eq!(at(&[0, 10, 20]).unwrap().interval(), 10);
        assert_eq!(at(&[0]).unwrap().interval(), 1);
        assert_eq!(at(&[u64::MAX]).unwrap().interval(), u64::MAX);
    }

    #[test]
    fn bad_points_are_refused_with_their_row() {
        assert_eq!(Curve::new(vec![]).unwrap_err().fault, CurveFault::Empty);
        let error = at(&[1, 2, 2]).unwrap_err();
        assert_eq!((error.row, error.fault), (3, CurveFault::IterationOrder { previous: 2, iteration: 2 }));

        for (tasks, row, previous) in
            [([2, 2, 2], 1, 0), ([0, 1, 1], 1, 0), ([1, 2, 1], 3, 2), ([1, 1, 3], 3, 1)]
        {
            let points = (1..).zip(tasks).map(|(iteration, task)| Point::new(iteration, task, 1.0)).collect();
            let error = Curve::new(points).unwrap_err();
            assert_eq!(
                (error.row, error.fault),
                (row, CurveFault::TaskOrder { previous, task: tasks[row - 1] })
            );
        }
        for value in [f64::NAN, f64::INFINITY, -0.1, 100.1] {
            assert_eq!(Curve::new(vec![Point::new(1, 1, value)]).unwrap_err().row, 1);
            let mut points = points(&[&[1.0, 2.0]]);
            points[1].task_acc = vec![None, Some(value)];
            let error = Curve::new(points).unwrap_err();
            assert_eq!(error.row, 2);
            assert!(error.to_string().contains("acc_3"), "{error}");
        }
    }
}
