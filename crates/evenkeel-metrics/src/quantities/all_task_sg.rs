//! The gap of every old task at every switch, mean over both; needs an evaluation of all tasks at every iteration.

use super::{Better, Quantity, Unit};
use crate::all_task::old_task_gaps;
use crate::stats::mean;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "all-task SG",
    definition: "Stability gap of every old task at every switch, mean over both: the share of a task's accuracy before the switch that is lost after it; needs an evaluation of all tasks at every iteration.",
    unit: Unit::Fraction,
    digits: 3,
    better: Better::Less,
    in_paper: false,
    worst: Some(1.0),
    of: |curve| Some(mean(&old_task_gaps(curve)?.concat())),
};
