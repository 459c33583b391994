//! Points to a curve, one by one: a file of many millions is never in memory as such.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Column, Curve, CurveError, CurveFault, Point};

/// A curve in the making.
#[derive(Debug, Default)]
pub struct CurveBuilder {
    iterations: Vec<u64>,
    task1_acc: Vec<f64>,
    /// Loss, gain, entropy, training loss and accuracy on everything seen.
    named: [Column; 5],
    task_acc: Vec<Column>,
    /// Index of the first point of every task.
    starts: Vec<usize>,
}

impl CurveBuilder {
    /// Checks a point and appends it.
    pub fn push(&mut self, point: &Point) -> Result<(), CurveFault> {
        let index = self.iterations.len();
        let before = self.iterations.last().map(|&iteration| (iteration, self.starts.len()));
        point.check_after(before)?;
        if point.task > self.starts.len() {
            self.starts.push(index);
        }
        self.iterations.push(point.iteration);
        self.task1_acc.push(point.task1_acc);
        let named = [point.task1_loss, point.gain, point.entropy, point.train_loss, point.seen_acc];
        self.named.iter_mut().zip(named).for_each(|(column, value)| column.push(index, value));
        if self.task_acc.len() < point.task_acc.len() {
            self.task_acc.resize_with(point.task_acc.len(), Column::default);
        }
        self.task_acc.iter_mut().zip(&point.task_acc).for_each(|(column, &value)| column.push(index, value));
        Ok(())
    }

    /// The curve, if no evaluation is missing. `interval` is the longest that may lie between two evaluations, where that is known; else
    /// it is the most frequent.
    pub fn finish(self, interval: Option<u64>) -> Result<Curve, CurveError> {
        let interval = evaluation_interval(&self.iterations, interval)?;
        let mut bounds = self.starts;
        bounds.push(self.iterations.len());
        let [task1_loss, gain, entropy, train_loss, seen_acc] = self.named;
        Ok(Curve {
            iterations: Arc::new(self.iterations),
            task1_acc: self.task1_acc,
            task1_loss,
            gain,
            entropy,
            train_loss,
            seen_acc,
            task_acc: self.task_acc,
            bounds,
            interval,
        })
    }
}

/// The interval that is known, or else the most frequent step, after checking that no step is longer.
fn evaluation_interval(iterations: &[u64], known: Option<u64>) -> Result<u64, CurveError> {
    // Counting the step from iteration 0 keeps short runs right: with `ρ = 10` and tasks of 15 iterations the
    // points 10, 15, 25, 30 alone would suggest an interval of 5.
    let before = std::iter::once(0).chain(iterations.iter().copied());
    let mut steps = before.zip(iterations.iter().copied());

    let mut counts = HashMap::<u64, usize>::new();
    for (from, to) in steps.clone().filter(|(from, to)| from < to) {
        *counts.entry(to - from).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(step, count)| (count, step));
    let interval = match (known, most, iterations.len()) {
        (_, _, 0) => return Err(CurveError { row: 0, fault: CurveFault::Empty }),
        (Some(known), ..) => known,
        (None, Some((step, _)), _) => step,
        // A single evaluation before training.
        (None, None, _) => 1,
    };
    match steps.by_ref().enumerate().find(|(_, (from, to))| to - from > interval) {
        Some((index, (from, to))) => {
            Err(CurveError { row: index + 1, fault: CurveFault::Hole { from, to, interval } })
        }
        None => Ok(interval),
    }
}
