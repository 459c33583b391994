//! How well the newest task is learnt, which the task-1 curve cannot show.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::stats::mean;

/// Accuracy at the task ends on the newest task and on all tasks seen.
///
/// With `A(D_j, k)` the accuracy on the test set of task `j` at the end of task `k`:
///
/// ```text
/// new-task-ACC = 1/(K−1) Σ_{k=2..K} A(D_k, k)
/// seen-ACC     = A(D_1 ∪ … ∪ D_K, K)
/// ```
///
/// A method that never moves has no stability gap, so these belong beside the paper's metrics. (The paper's
/// avg-ACC read with `D_k` inside the sum would be new-task-ACC with the first task.) Values are in percent, and `None`
/// where the curve lacks the column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plasticity {
    /// `A(D_k, k)` for `k = 1..K`; the first is `E_1`.
    pub new_task: Vec<Option<f64>>,
    /// `A(D_1 ∪ … ∪ D_k, k)` for `k = 1..K`.
    pub seen: Vec<Option<f64>>,
    /// new-task-ACC, over the tasks after the first; `None` if one of them is missing or there is none.
    pub new_task_acc: Option<f64>,
    /// seen-ACC at the end of the last task.
    pub seen_acc: Option<f64>,
}

impl Plasticity {
    /// Reads the accuracies at the task ends of a curve.
    pub fn of(curve: &Curve) -> Self {
        let new_task: Vec<Option<f64>> = curve.task_ends().map(|end| end.acc_of(end.task)).collect();
        let seen: Vec<Option<f64>> = curve.task_ends().map(|end| end.seen_acc).collect();
        Self {
            new_task_acc: new_task[1..]
                .iter()
                .copied()
                .collect::<Option<Vec<f64>>>()
                .filter(|later| !later.is_empty())
                .map(|later| mean(&later)),
            seen_acc: seen.last().copied().flatten(),
            new_task,
            seen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curve, points};

    #[test]
    fn each_task_is_read_at_its_own_end() {
        let mut points = points(&[&[50.0, 90.0], &[70.0, 80.0], &[60.0]]);
        points[2].task_acc = vec![Some(10.0)];
        points[3].task_acc = vec![Some(75.0), None];
        points[4].task_acc = vec![Some(20.0), Some(60.0)];
        points[4].seen_acc = Some(55.0);
        let plasticity = Plasticity::of(&Curve::new(points).unwrap());
        assert_eq!(plasticity.new_task, [Some(90.0), Some(75.0), Some(60.0)]);
        assert_eq!(plasticity.new_task_acc, Some(67.5));
        assert_eq!(plasticity.seen, [None, None, Some(55.0)]);
        assert_eq!(plasticity.seen_acc, Some(55.0));
    }

    #[test]
    fn missing_columns_give_none() {
        let plasticity = Plasticity::of(&curve(&[&[90.0], &[80.0]]));
        assert_eq!(plasticity.new_task, [Some(90.0), None]);
        assert_eq!((plasticity.new_task_acc, plasticity.seen_acc), (None, None));
    }
}
