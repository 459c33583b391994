//! Worst-case metrics over the test sets of all tasks, not only the first.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::metrics::{stability_gap, worst_case};
use crate::stats::mean;

/// min-ACC and WC-ACC of continual evaluation (De Lange, van de Ven and Tuytelaars, "Continual evaluation for
/// lifelong learning: identifying the stability gap", ICLR 2023).
///
/// With `A(D_i, n)` the accuracy on the test set of task `i` after iteration `n`, and `t_k` the last iteration
/// of task `k`:
///
/// ```text
/// min-ACC_k = 1/(k−1) Σ_{i<k} min_{t_i < n ≤ t_k} A(D_i, n)
/// WC-ACC_k  = A(D_k, t_k) / k + (1 − 1/k) min-ACC_k
/// ```
///
/// The paper's avg-min-ACC differs: it follows task 1 alone and takes one minimum per later task. Both agree
/// for two tasks; their WC-ACC still differ there, because the newest accuracy here is on the newest task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AllTask {
    /// min-ACC at the end of each task, `k = 2..K`.
    pub min_acc: Vec<f64>,
    /// WC-ACC at the end of each task, `k = 2..K`.
    pub wc_acc: Vec<f64>,
}

impl AllTask {
    /// Measures a curve whose columns `acc_2..acc_K` are filled.
    ///
    /// `None` for a single task, or if a value that the minima need is missing: every finished task at every
    /// later evaluation, and every task at its own end. A minimum over the rest would be too kind.
    pub fn of(curve: &Curve) -> Option<Self> {
        let last = curve.tasks();
        if last < 2 {
            return None;
        }
        let mut metrics = Self { min_acc: Vec::new(), wc_acc: Vec::new() };
        // Minimum so far of each finished task.
        let mut lowest: Vec<f64> = Vec::new();
        for (k, end) in (1..).zip(curve.task_ends()) {
            for index in curve.task_range(k) {
                for (task, lowest) in (1..).zip(&mut lowest) {
                    *lowest = lowest.min(curve.acc_of(task, index)?);
                }
            }
            if k >= 2 {
                let min_acc = mean(&lowest);
                metrics.min_acc.push(min_acc);
                metrics.wc_acc.push(worst_case(end.acc_of(k)?, min_acc, k));
            }
            lowest.push(f64::INFINITY);
        }
        Some(metrics)
    }
}

/// The gap of every old task at every switch: for each switch `k−1 → k` those of the tasks `i < k`,
/// `SG_{i,k} = (E_{i,k−1} − m_{i,k}) / E_{i,k−1}`, with `E` the accuracy on the test set of task `i` at the end of task `k−1`
/// and `m` its minimum within task `k`. For `i = 1` it is the paper's gap.
///
/// `None` as for [`AllTask::of`], and where a task has no accuracy to lose.
pub fn old_task_gaps(curve: &Curve) -> Option<Vec<Vec<f64>>> {
    if curve.tasks() < 2 {
        return None;
    }
    let ends: Vec<_> = curve.task_ends().collect();
    let gap = |task: usize, k: usize| {
        let before = ends[k - 2].acc_of(task)?;
        let within = curve.task_range(k).map(|index| curve.acc_of(task, index));
        let lowest = within.into_iter().try_fold(f64::INFINITY, |m, a| Some(a?.min(m)))?;
        stability_gap(before, lowest)
    };
    (2..=curve.tasks()).map(|k| (1..k).map(|task| gap(task, k)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metrics;
    use crate::curve::Point;
    use crate::testing::{assert_close, curve, points};

    #[test]
    fn every_old_task_has_its_gap_at_every_switch() {
        let gaps = old_task_gaps(&Curve::new(filled()).unwrap()).unwrap();
        assert_eq!(gaps.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
        assert_close(gaps[0][0], 60.0 / 90.0);
        // Task 1 falls from 60 to 40, task 2 from 80 to 20.
        assert_close(gaps[1][0], 20.0 / 60.0);
        assert_close(gaps[1][1], 60.0 / 80.0);
        let mut missing = filled();
        missing[3].task_acc[0] = None;
        assert_eq!(old_task_gaps(&Curve::new(missing).unwrap()), None);
        assert_eq!(old_task_gaps(&curve(&[&[90.0, 80.0]])), None);
    }

    fn filled() -> Vec<Point> {
        let mut points = points(&[&[90.0], &[30.0, 60.0], &[40.0, 50.0]]);
        // Task 2 is still being learnt at its own first point, so nothing is needed there.
        points[2].task_acc = vec![Some(80.0), None];
        points[3].task_acc = vec![Some(20.0), Some(1.0)];
        points[4].task_acc = vec![Some(70.0), Some(85.0)];
        points
    }

    #[test]
    fn minima_run_from_the_end_of_each_task() {
        let metrics = AllTask::of(&Curve::new(filled()).unwrap()).unwrap();
        assert_eq!(metrics.min_acc, [30.0, 25.0]);
        assert_close(metrics.wc_acc[0], 80.0 / 2.0 + 30.0 / 2.0);
        assert_close(metrics.wc_acc[1], 85.0 / 3.0 + 25.0 * 2.0 / 3.0);
    }

    #[test]
    fn a_task_end_is_not_part_of_its_own_minimum() {
        let mut points = points(&[&[50.0], &[60.0, 70.0]]);
        points[2].task_acc = vec![Some(90.0)];
        assert_eq!(AllTask::of(&Curve::new(points).unwrap()).unwrap().min_acc, [60.0]);
    }

    #[test]
    fn two_tasks_agree_with_the_task_one_minimum() {
        let mut points = filled();
        points.truncate(3);
        let curve = Curve::new(points).unwrap();
        assert_close(AllTask::of(&curve).unwrap().min_acc[0], Metrics::of(&curve).unwrap().avg_min_acc);
    }

    #[test]
    fn one_missing_value_is_enough_for_none() {
        let mut points = filled();
        points[3].task_acc[0] = None;
        assert_eq!(AllTask::of(&Curve::new(points).unwrap()), None);
        assert_eq!(AllTask::of(&curve(&[&[90.0], &[80.0]])), None);
        assert_eq!(AllTask::of(&curve(&[&[90.0]])), None);
    }
}
