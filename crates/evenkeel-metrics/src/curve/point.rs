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
