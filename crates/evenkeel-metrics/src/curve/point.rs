//! One evaluation, as people and files speak of it.

use super::CurveFault;

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

    /// Whether it may be the next point of a curve: `before` has iteration and task of the last one, if there is one.
    ///
    /// ```
    /// use evenkeel_metrics::Point;
    /// assert!(Point::new(8, 2, 91.5).check_after(Some((7, 1))).is_ok());
    /// let error = Point::new(7, 2, 91.5).check_after(Some((7, 1))).unwrap_err();
    /// assert_eq!(error.to_string(), "iteration 7 does not come after 7");
    /// ```
    pub fn check_after(&self, before: Option<(u64, usize)>) -> Result<(), CurveFault> {
        let (iteration, task) = (self.iteration, self.task);
        if let Some((previous, _)) = before.filter(|&(previous, _)| previous >= iteration) {
            return Err(CurveFault::IterationOrder { previous, iteration });
        }
        let previous = before.map_or(0, |(_, task)| task);
        let is_new = Some(task) == previous.checked_add(1);
        if !is_new && (task != previous || before.is_none()) {
            return Err(CurveFault::TaskOrder { previous, task });
        }
        check_accuracies(self)
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

/// Accuracies are percentages.
pub(super) fn check_accuracies(point: &Point) -> Result<(), CurveFault> {
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
