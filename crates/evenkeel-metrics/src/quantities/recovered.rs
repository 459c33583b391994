//! Share of the switches after which task-1 accuracy came back to 95 % of what it was within the task.

use super::per_switch::mean_of;
use super::{Better, Quantity, Unit};

pub(super) const QUANTITY: Quantity = Quantity {
    name: "recovered",
    definition: "Share of the switches after which task-1 accuracy came back to 95 % of what it was within the task.",
    unit: Unit::Percent,
    digits: 0,
    better: Better::More,
    in_paper: false,
    worst: Some(0.0),
    of: |curve| mean_of(curve, |gap, _| Some(if gap.recovery.is_some() { 100.0 } else { 0.0 })),
};
