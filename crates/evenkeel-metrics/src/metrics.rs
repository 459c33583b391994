//! The paper's stability-gap metrics of one curve.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::curve::Curve;
use crate::stats::mean;

/// The metrics of one task-1 accuracy curve (paper, appendix "Evaluation metrics").
///
/// With `E_k` the accuracy at the end of task `k` and `m_k` the minimum within task `k`:
///
/// ```text
/// avg-ACC     = 1/K     Σ_{k=1..K} E_k
/// avg-min-ACC = 1/(K−1) Σ_{k=2..K} m_k
/// WC-ACC      = E_K / K + (1 − 1/K) avg-min-ACC
/// SG_k        = (E_{k−1} − m_k) / E_{k−1}
/// avg-SG      = 1/(K−1) Σ_{k=2..K} SG_k
/// ```
///
/// The paper writes `D_k` inside its sums, but its tables follow from the test set of task 1 throughout; for
/// the metrics over the test sets of all tasks see [`AllTask`](crate::AllTask).
///
/// Accuracies are in percent, stability gaps are fractions. `SG_k` is negative when task 1 only ever improves.
/// It is relative to `E_{k−1}`, so it is undefined (`None`) when that is 0: nothing was left to lose. Then
/// `avg_sg` is `None` as well, because a mean over the remaining transitions would flatter such a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// `E_k` for `k = 1..K`.
    pub ends: Vec<f64>,
    /// `m_k` for `k = 2..K`.
    pub minima: Vec<f64>,
    /// Iteration at which `m_k` is first reached, for `k = 2..K`.
    pub minimum_iterations: Vec<u64>,
    /// avg-ACC.
    pub avg_acc: f64,
    /// avg-min-ACC.
    pub avg_min_acc: f64,
    /// WC-ACC.
    pub wc_acc: f64,
    /// `SG_k` for `k = 2..K`; `None` where `E_{k−1} = 0`.
    pub sg: Vec<Option<f64>>,
    /// avg-SG; `None` if any `SG_k` is.
    pub avg_sg: Option<f64>,
}

/// Why a curve has no metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MetricsError {
    /// Minima and gaps belong to transitions, and one task has none.
    #[error("the curve covers one task only, so it has no transition to measure")]
    SingleTask,
}

impl Metrics {
    /// Measures a curve of at least two tasks.
    pub fn of(curve: &Curve) -> Result<Self, MetricsError> {
        let tasks = curve.tasks();
        if tasks < 2 {
            return Err(MetricsError::SingleTask);
        }
        let ends: Vec<f64> = curve.task_ends().map(|end| end.task1_acc).collect();
        let lowest = minimum_indices(curve);
        let minima: Vec<f64> = lowest.iter().map(|&index| curve.task1_acc()[index]).collect();
        let sg: Vec<Option<f64>> =
            ends.iter().zip(&minima).map(|(&end, &min)| stability_gap(end, min)).collect();
        let avg_min_acc = mean(&minima);
        Ok(Self {
            avg_acc: mean(&ends),
            avg_min_acc,
            wc_acc: worst_case(ends[tasks - 1], avg_min_acc, tasks),
            avg_sg: sg.iter().copied().collect::<Option<Vec<f64>>>().map(|all| mean(&all)),
            minimum_iterations: lowest.iter().map(|&index| curve.iterations()[index]).collect(),
            ends,
            minima,
            sg,
        })
    }
}

/// The least accuracy, in percent, of which a share can be lost: one right answer in a hundred thousand million. A share of less is a
/// number without a meaning, or none at all.
pub const LEAST_ACCURACY: f64 = 1e-9;

/// Stability gap of one transition, `SG_k = (E_{k−1} − m_k) / E_{k−1}`; `None` if `E_{k−1}` is zero, or below [`LEAST_ACCURACY`].
pub fn stability_gap(end: f64, minimum: f64) -> Option<f64> {
    (end >= LEAST_ACCURACY).then(|| (end - minimum) / end)
}

/// Worst-case accuracy, `A_new / K + (1 − 1/K) min-ACC`: the newest accuracy weighs as much as any other task.
pub fn worst_case(newest: f64, min_acc: f64, tasks: usize) -> f64 {
    let share = 1.0 / tasks as f64;
    share * newest + (1.0 - share) * min_acc
}

/// Index of the first lowest point of each task from the second on.
pub(crate) fn minimum_indices(curve: &Curve) -> Vec<usize> {
    let acc = |index: &usize| curve.task1_acc()[*index];
    // A curve has no task without points, so every range yields its minimum.
    (2..=curve.tasks())
        .filter_map(|k| curve.task_range(k).min_by(|left, right| acc(left).total_cmp(&acc(right))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, curve};

    #[test]
    fn a_hand_computed_curve() {
        let metrics = Metrics::of(&curve(&[&[50.0, 80.0], &[40.0, 20.0, 60.0], &[45.0, 90.0]])).unwrap();
        assert_eq!(metrics.ends, [80.0, 60.0, 90.0]);
        assert_eq!(metrics.minima, [20.0, 45.0]);
        assert_eq!(metrics.minimum_iterations, [4, 6]);
        assert_close(metrics.avg_acc, 230.0 / 3.0);
        assert_close(metrics.avg_min_acc, 32.5);
        assert_close(metrics.wc_acc, 30.0 + 65.0 / 3.0);
        assert_eq!(metrics.sg, [Some(0.75), Some(0.25)]);
        assert_eq!(metrics.avg_sg, Some(0.5));
    }

    #[test]
    fn the_first_of_equal_minima_counts() {
        let metrics = Metrics::of(&curve(&[&[80.0], &[50.0, 30.0, 30.0, 60.0]])).unwrap();
        assert_eq!(metrics.minimum_iterations, [3]);
    }

    #[test]
    fn an_improving_curve_has_a_negative_gap() {
        let metrics = Metrics::of(&curve(&[&[80.0], &[84.0, 88.0]])).unwrap();
        assert_close(metrics.avg_sg.unwrap(), -0.05);
    }

    #[test]
    fn a_gap_from_zero_is_undefined() {
        let metrics = Metrics::of(&curve(&[&[80.0], &[0.0], &[10.0]])).unwrap();
        assert_eq!(metrics.sg, [Some(1.0), None]);
        assert_eq!(metrics.avg_sg, None);
        assert_close(metrics.avg_acc, 30.0);
    }

    #[test]
    fn a_gap_from_next_to_nothing_is_undefined_and_not_infinite() {
        let metrics = Metrics::of(&curve(&[&[1e-320], &[50.0]])).unwrap();
        assert_eq!((metrics.avg_sg, metrics.sg), (None, vec![None]));
        assert!(stability_gap(LEAST_ACCURACY, 100.0).is_some_and(|gap| gap < -1e10 && gap.is_finite()));
        assert_eq!(stability_gap(LEAST_ACCURACY / 2.0, 100.0), None);
    }

    #[test]
    fn one_task_has_no_transition() {
        assert_eq!(Metrics::of(&curve(&[&[1.0, 2.0]])), Err(MetricsError::SingleTask));
    }
}
