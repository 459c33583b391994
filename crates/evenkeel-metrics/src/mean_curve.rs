//! The mean over seeds of accuracy curves measured at the same iterations.

use std::borrow::Borrow;

use thiserror::Error;

use crate::curve::Curve;
use crate::stats::{mean, population_sd};

/// Mean curve `Ā_i = 1/n Σ_s A_i^(s)` with the population standard deviation `σ_i` at every point.
///
/// What the paper plots, and where [`PaperReading`](crate::PaperReading) takes its metrics. The result does not
/// depend on the order of the seeds, not even in the last bit.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanCurve {
    /// `Ā_i` in `task1_acc`; all other measurements are left out.
    pub curve: Curve,
    /// `σ_i`, one per point.
    pub pm: Vec<f64>,
}

/// Why curves cannot be put together as seeds of one experiment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SeedsError {
    /// There is nothing to average.
    #[error("no curves were given")]
    NoCurves,
    /// A curve is longer or shorter than the first, like that of an unfinished run.
    #[error("curve {curve} has {points} points, the first has {expected}")]
    Length {
        /// The curve, from 1.
        curve: usize,
        /// Its number of points.
        points: usize,
        /// Points of the first curve.
        expected: usize,
    },
    /// A curve was evaluated at another iteration or in another task than the first.
    #[error("curve {curve} was evaluated differently from the first at row {row}")]
    Schedule {
        /// The curve, from 1.
        curve: usize,
        /// The first point that differs, from 1.
        row: usize,
    },
}

impl MeanCurve {
    /// Averages curves that share their iterations and tasks.
    pub fn of<C: Borrow<Curve>>(seeds: &[C]) -> Result<Self, SeedsError> {
        let first = same_schedule(seeds)?;
        let mut values = vec![0.0; seeds.len()];
        let (means, pm): (Vec<f64>, Vec<f64>) = (0..first.points().len())
            .map(|index| {
                for (value, seed) in values.iter_mut().zip(seeds) {
                    *value = seed.borrow().task1_acc()[index];
                }
                // Rounding depends on the order of addition and could move the minimum between points that tie.
                values.sort_by(f64::total_cmp);
                (mean(&values), population_sd(&values))
            })
            .unzip();
        Ok(Self { curve: first.with_task1_acc(means), pm })
    }
}

/// Checks that all curves share their iterations and tasks, and returns the first.
pub(crate) fn same_schedule<C: Borrow<Curve>>(seeds: &[C]) -> Result<&Curve, SeedsError> {
    let first = seeds.first().ok_or(SeedsError::NoCurves)?.borrow();
    for (curve, seed) in (1..).zip(seeds) {
        let seed = seed.borrow();
        let (points, expected) = (seed.points().len(), first.points().len());
        if points != expected {
            return Err(SeedsError::Length { curve, points, expected });
        }
        let other_iteration = seed.iterations().iter().zip(first.iterations()).position(|(a, b)| a != b);
        // Where one curve has gone on to the next task and the other has not.
        let ends = (1..=seed.tasks().min(first.tasks())).map(|k| [seed, first].map(|c| c.task_range(k).end));
        let other_task = ends.into_iter().find(|[a, b]| a != b).map(|[a, b]| a.min(b));
        if let Some(index) = [other_iteration, other_task].into_iter().flatten().min() {
            return Err(SeedsError::Schedule { curve, row: index + 1 });
        }
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curve;

    #[test]
    fn averages_point_by_point() {
        let seeds = [curve(&[&[90.0], &[10.0, 50.0]]), curve(&[&[70.0], &[30.0, 50.0]])];
        let mean = MeanCurve::of(&seeds).unwrap();
        assert_eq!(mean.curve, curve(&[&[80.0], &[20.0, 50.0]]));
        assert_eq!(mean.pm, [10.0, 10.0, 0.0]);
    }

    #[test]
    fn other_schedules_are_refused() {
        let first = curve(&[&[90.0], &[10.0, 50.0]]);
        let refused = |other: Curve| MeanCurve::of(&[first.clone(), other]).unwrap_err();
        assert_eq!(
            refused(curve(&[&[90.0], &[10.0]])),
            SeedsError::Length { curve: 2, points: 2, expected: 3 }
        );
        assert_eq!(refused(curve(&[&[90.0, 1.0], &[10.0]])), SeedsError::Schedule { curve: 2, row: 2 });
        assert_eq!(MeanCurve::of::<Curve>(&[]), Err(SeedsError::NoCurves));
    }
}
