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

/// Share of its final accuracy at which a task counts as learnt.
pub const LEARNT_FRACTION: f64 = 0.9;

/// Iterations from the start of each task `k = 2..K` to the first evaluation at which the accuracy on it is at least `fraction` of what
/// it is at the task's end. A task that ends with accuracy 0 counts with its whole length.
///
/// `None` if a task was not evaluated throughout its own training: what is missing may come first.
pub fn times_to_learn(curve: &Curve, fraction: f64) -> Option<Vec<u64>> {
    let time = |k: usize| {
        let (range, iterations) = (curve.task_range(k), curve.iterations());
        let accuracies: Vec<f64> =
            range.clone().map(|index| curve.acc_of(k, index)).collect::<Option<_>>()?;
        let last = *accuracies.last()?;
        // Without a final accuracy above 0 the last evaluation is the first that counts.
        let learnt = accuracies.iter().position(|accuracy| last > 0.0 && *accuracy >= fraction * last);
        let index = range.start + learnt.unwrap_or(accuracies.len() - 1);
        Some(iterations[index] - iterations[range.start - 1])
    };
    (2..=curve.tasks()).map(time).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curve, points};

    #[test]
    fn a_task_is_learnt_when_it_first_reaches_most_of_its_final_accuracy() {
        let mut points = points(&[&[90.0], &[1.0, 1.0, 1.0], &[1.0, 1.0]]);
        for (point, acc) in points[1..].iter_mut().zip([20.0, 72.0, 80.0]) {
            point.task_acc = vec![Some(acc)];
        }
        for point in &mut points[4..] {
            point.task_acc = vec![Some(80.0), Some(0.0)];
        }
        let of = |points: Vec<crate::Point>| times_to_learn(&Curve::new(points).unwrap(), LEARNT_FRACTION);
        assert_eq!(of(points.clone()), Some(vec![2, 2]));
        points[1].task_acc.clear();
        assert_eq!(of(points), None);
        assert_eq!(times_to_learn(&curve(&[&[90.0]]), LEARNT_FRACTION), Some(vec![]));
    }

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
