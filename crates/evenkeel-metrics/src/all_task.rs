//! Worst-case metrics over the test sets of all tasks, not only the first.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::metrics::worst_case;
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
            for point in &curve.points()[curve.task_range(k)] {
                for (task, lowest) in (1..).zip(&mut lowest) {
                    *lowest = lowest.min(point.acc_of(task)?);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metrics;
    use crate::curve::Point;
    use crate::testing::{assert_close, curve, points};

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
