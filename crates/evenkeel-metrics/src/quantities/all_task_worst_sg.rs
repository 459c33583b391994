//! The largest gap of any old task at any switch; needs an evaluation of all tasks at every iteration.

use super::{Better, Quantity, Unit};
use crate::all_task::old_task_gaps;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "all-task worst SG",
    definition: "Largest stability gap of any old task at any switch; needs an evaluation of all tasks at every iteration.",
    unit: Unit::Fraction,
    digits: 3,
    better: Better::Less,
    in_paper: false,
    worst: Some(1.0),
    of: |curve| old_task_gaps(curve)?.concat().into_iter().reduce(f64::max),
};
