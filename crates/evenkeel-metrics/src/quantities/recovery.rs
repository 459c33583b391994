//! Iterations from a switch until task-1 accuracy is back at 95 % of what it was; a gap that stays open counts as its whole task, so it is a lower bound then.

use super::per_switch::mean_of;
use super::{Better, Quantity, Unit};

pub(super) const QUANTITY: Quantity = Quantity {
    name: "recovery",
    definition: "Iterations from a switch until task-1 accuracy is back at 95 % of what it was; a gap that stays open counts as its whole task, so it is a lower bound then.",
    unit: Unit::Iterations,
    digits: 1,
    better: Better::Less,
    in_paper: false,
    worst: None,
    of: |curve| mean_of(curve, |gap, length| Some(gap.recovery.unwrap_or(length) as f64)),
};
