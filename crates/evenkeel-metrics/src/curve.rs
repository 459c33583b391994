//! One seed's accuracy curve, checked once so that no metric has to.

mod builder;
mod column;
mod point;
mod points;

use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

pub use self::builder::CurveBuilder;
use self::column::Column;
pub use self::point::Point;
pub use self::points::Points;

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
/// whose length `ρ` does not divide is still evaluated at its end), longer ones are holes. A curve that is dense
/// after each switch and sparse later does not tell its interval: it has to be [known](Self::sampled).
///
/// It is kept column by column, and what was not measured takes no memory: curves of many millions of evaluations fit.
#[derive(Debug, Clone)]
pub struct Curve {
    /// Shared by curves that are made of others.
    iterations: Arc<Vec<u64>>,
    task1_acc: Vec<f64>,
    task1_loss: Column,
    gain: Column,
    entropy: Column,
    train_loss: Column,
    seen_acc: Column,
    /// Index 0 is task 2.
    task_acc: Vec<Column>,
    /// Index of the first point of every task, then the number of points.
    bounds: Vec<usize>,
    interval: u64,
}

impl PartialEq for Curve {
    /// Point by point, as the columns do not tell what was not measured.
    fn eq(&self, other: &Self) -> bool {
        self.interval == other.interval && self.points().iter().eq(other.points().iter())
    }
}

impl Curve {
    /// Checks the points and makes a curve of them.
    pub fn new(points: Vec<Point>) -> Result<Self, CurveError> {
        Self::checked(points, None)
    }

    /// Checks points of which at most `interval` iterations lie between two, and makes a curve of them.
    ///
    /// ```
    /// use evenkeel_metrics::{Curve, Point};
    /// let points: Vec<Point> = [1, 2, 3, 10, 20].map(|iteration| Point::new(iteration, 1, 50.0)).to_vec();
    /// assert!(Curve::new(points.clone()).is_err());
    /// assert_eq!(Curve::sampled(points, 10)?.interval(), 10);
    /// # Ok::<(), evenkeel_metrics::CurveError>(())
    /// ```
    pub fn sampled(points: Vec<Point>, interval: u64) -> Result<Self, CurveError> {
        Self::checked(points, Some(interval))
    }

    fn checked(points: Vec<Point>, interval: Option<u64>) -> Result<Self, CurveError> {
        let mut builder = CurveBuilder::default();
        for (index, point) in points.into_iter().enumerate() {
            builder.push(&point).map_err(|fault| CurveError { row: index + 1, fault })?;
        }
        builder.finish(interval)
    }

    /// All points, in order.
    pub fn points(&self) -> Points<'_> {
        Points::of(self)
    }

    /// The iteration of every point.
    pub fn iterations(&self) -> &[u64] {
        &self.iterations
    }

    /// The accuracy on task 1 at every point (`A_i`).
    pub fn task1_acc(&self) -> &[f64] {
        &self.task1_acc
    }

    /// The accuracy on any task (from 1) at the point of this index, where measured.
    pub fn acc_of(&self, task: usize, index: usize) -> Option<f64> {
        match task {
            0 => None,
            1 => self.task1_acc.get(index).copied(),
            _ => self.task_acc.get(task - 2)?.get(index),
        }
    }

    /// The loss on task 1 at the point of this index, where measured.
    pub fn task1_loss(&self, index: usize) -> Option<f64> {
        self.task1_loss.get(index)
    }

    /// The accuracy on all tasks seen so far at the point of this index, where measured.
    pub fn seen_acc(&self, index: usize) -> Option<f64> {
        self.seen_acc.get(index)
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
    pub fn task_ends(&self) -> impl Iterator<Item = Point> {
        self.bounds[1..].iter().map(|&end| self.point(end - 1))
    }

    /// The curve with every accuracy multiplied, as from fractions to percent.
    pub fn scaled(mut self, factor: f64) -> Result<Self, CurveError> {
        self.task1_acc.iter_mut().for_each(|value| *value *= factor);
        let others = self.task_acc.iter_mut().chain([&mut self.seen_acc]);
        others.for_each(|column| column.scale(factor));
        for (index, point) in self.points().iter().enumerate() {
            point::check_accuracies(&point).map_err(|fault| CurveError { row: index + 1, fault })?;
        }
        Ok(self)
    }

    /// The same evaluations with other task-1 accuracies, which must be percentages, one per point.
    pub(crate) fn with_task1_acc(&self, accuracies: Vec<f64>) -> Self {
        Self {
            iterations: Arc::clone(&self.iterations),
            task1_acc: accuracies,
            task1_loss: Column::default(),
            gain: Column::default(),
            entropy: Column::default(),
            train_loss: Column::default(),
            seen_acc: Column::default(),
            task_acc: vec![],
            bounds: self.bounds.clone(),
            interval: self.interval,
        }
    }

    /// The point of an index that there is.
    fn point(&self, index: usize) -> Point {
        Point {
            iteration: self.iterations[index],
            task: self.bounds.partition_point(|&start| start <= index),
            task1_acc: self.task1_acc[index],
            task1_loss: self.task1_loss.get(index),
            gain: self.gain.get(index),
            entropy: self.entropy.get(index),
            train_loss: self.train_loss.get(index),
            seen_acc: self.seen_acc.get(index),
            task_acc: self.task_acc.iter().map(|column| column.get(index)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curve, points};

    #[test]
    fn what_goes_in_comes_out() {
        let given = vec![
            Point { gain: Some(f64::NAN), ..Point::new(1, 1, 50.0) },
            Point { task1_loss: Some(0.5), task_acc: vec![None, Some(3.0)], ..Point::new(2, 1, 60.0) },
            Point { seen_acc: Some(7.0), task_acc: vec![Some(1.0), None], ..Point::new(3, 2, 70.0) },
        ];
        let curve = Curve::new(given.clone()).unwrap();
        let found: Vec<Point> = curve.points().iter().collect();
        assert!(found[0].gain.is_some_and(f64::is_nan) && found[1].gain.is_none());
        assert_eq!(found[1..], given[1..]);
        assert_eq!((curve.acc_of(3, 1), curve.acc_of(2, 1), curve.acc_of(4, 1)), (Some(3.0), None, None));
        assert_eq!(curve.points().slice(1..3).last().unwrap(), given[2]);
        let tenth = curve.scaled(0.1).unwrap();
        assert_eq!((tenth.task1_acc()[2], tenth.points().at(2).seen_acc), (70.0 * 0.1, Some(7.0 * 0.1)));
        assert_eq!(tenth.scaled(1e3).unwrap_err().row, 1);
    }

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
    fn where_the_interval_is_known_dense_evaluations_do_not_hide_it() {
        let sampled = |iterations: &[u64]| {
            let points = iterations.iter().map(|&iteration| Point::new(iteration, 1, 50.0));
            Curve::sampled(points.collect(), 10)
        };
        assert_eq!(sampled(&[1, 2, 3, 10, 20, 24]).unwrap().interval(), 10);
        let error = sampled(&[1, 2, 3, 10, 21]).unwrap_err();
        assert_eq!(error, CurveError { row: 5, fault: CurveFault::Hole { from: 10, to: 21, interval: 10 } });
        assert_eq!(sampled(&[]).unwrap_err().fault, CurveFault::Empty);
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
