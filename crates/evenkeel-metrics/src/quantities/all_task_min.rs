//! Lowest accuracy of every finished task until the end of training, mean over tasks; needs an evaluation of all tasks at every iteration.

use super::{Better, Quantity, Unit};
use crate::all_task::AllTask;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "all-task min-ACC",
    definition: "Lowest accuracy of every finished task until the end of training, mean over tasks; needs an evaluation of all tasks at every iteration.",
    unit: Unit::Percent,
    digits: 2,
    better: Better::More,
    in_paper: false,
    worst: Some(0.0),
    of: |curve| AllTask::of(curve)?.min_acc.last().copied(),
};
