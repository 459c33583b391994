//! Accuracy on all tasks seen so far while new ones are learnt: what a user of the network meets all the time, not only at the ends.

use crate::curve::Curve;
use crate::stats::mean;

/// Iterations after a switch that count as its beginning.
pub const BEGINNING: u64 = 50;

/// Accuracy on all seen tasks, averaged over the iterations of tasks from the second on:
/// `1/N Σ_{i in tasks ≥ 2} A(D_1 ∪ … ∪ D_{k(i)}, i)`, in percent.
///
/// A point stands for the iterations since the evaluation before it. `None` for a single task, or if an evaluation lacks the accuracy on all
/// seen tasks: a mean over the rest, the ends of tasks perhaps, would be too kind.
pub fn online(curve: &Curve) -> Option<f64> {
    let (sum, iterations) = (2..=curve.tasks()).try_fold((0.0, 0.0), |(sum, iterations), k| {
        let (more, length) = weighted(curve, k, u64::MAX)?;
        Some((sum + more, iterations + length))
    })?;
    (iterations > 0.0).then(|| sum / iterations)
}

/// Accuracy on all seen tasks over the first `length` iterations after a switch (all of a shorter task), mean over switches.
///
/// `None` as for [`online`], and if nothing was evaluated in that time after a switch.
pub fn after_switches(curve: &Curve, length: u64) -> Option<f64> {
    let of_switch = |k: usize| {
        let (sum, iterations) = weighted(curve, k, length)?;
        (iterations > 0.0).then(|| sum / iterations)
    };
    let means: Vec<f64> = (2..=curve.tasks()).map(of_switch).collect::<Option<_>>()?;
    (!means.is_empty()).then(|| mean(&means))
}

/// Sum over the evaluations of task `k` within `length` iterations of its start, each weighed by the iterations that it stands for; and
/// the sum of those.
fn weighted(curve: &Curve, k: usize, length: u64) -> Option<(f64, f64)> {
    let (range, iterations) = (curve.task_range(k), curve.iterations());
    let start = iterations[range.start.checked_sub(1)?];
    let mut sums = (0.0, 0.0);
    for index in range.filter(|&index| iterations[index] - start <= length) {
        let weight = (iterations[index] - iterations[index - 1]) as f64;
        sums = (sums.0 + weight * curve.seen_acc(index)?, sums.1 + weight);
    }
    Some(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Point;
    use crate::testing::{assert_close, curve, points};

    #[test]
    fn means_run_over_the_tasks_after_the_first() {
        let mut points = points(&[&[90.0], &[1.0, 1.0, 1.0], &[1.0]]);
        for (point, seen) in points.iter_mut().zip([0.0, 40.0, 60.0, 80.0, 100.0]) {
            point.seen_acc = Some(seen);
        }
        let curve = Curve::new(points.clone()).unwrap();
        assert_close(online(&curve).unwrap(), 70.0);
        assert_close(after_switches(&curve, 2).unwrap(), 75.0);
        assert_close(after_switches(&curve, BEGINNING).unwrap(), 80.0);
        points[2].seen_acc = None;
        assert_eq!(online(&Curve::new(points).unwrap()), None);
    }

    #[test]
    fn a_point_weighs_the_iterations_that_it_stands_for() {
        let rows = [(10, 1, 0.0), (20, 2, 30.0), (25, 2, 90.0)];
        let point =
            |(iteration, task, seen)| Point { seen_acc: Some(seen), ..Point::new(iteration, task, 1.0) };
        let curve = Curve::new(rows.map(point).to_vec()).unwrap();
        assert_close(online(&curve).unwrap(), (10.0 * 30.0 + 5.0 * 90.0) / 15.0);
        assert_close(after_switches(&curve, 10).unwrap(), 30.0);
        // Nothing was evaluated so soon.
        assert_eq!(after_switches(&curve, 9), None);
    }

    #[test]
    fn what_was_not_measured_is_absent_and_not_zero() {
        let curve = curve(&[&[90.0], &[50.0, 60.0]]);
        assert_eq!((online(&curve), after_switches(&curve, BEGINNING)), (None, None));
        assert_eq!(online(&crate::testing::curve(&[&[90.0, 80.0]])), None);
    }
}
