//! Iterations from the start of a task until accuracy on it reaches 90 % of what it has at the task's end, mean over the tasks after the first.

use super::{Better, Quantity, Unit};
use crate::plasticity::{LEARNT_FRACTION, times_to_learn};
use crate::stats::mean;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "time to learn",
    definition: "Iterations from the start of a task until accuracy on it reaches 90 % of what it has at the task's end, mean over the tasks after the first; a task of which nothing is learnt counts with its whole length. Needs eval_all_tasks.",
    unit: Unit::Iterations,
    digits: 1,
    better: Better::Less,
    in_paper: false,
    worst: None,
    of: |curve| {
        let times: Vec<f64> =
            times_to_learn(curve, LEARNT_FRACTION)?.iter().map(|time| *time as f64).collect();
        (!times.is_empty()).then(|| mean(&times))
    },
};
