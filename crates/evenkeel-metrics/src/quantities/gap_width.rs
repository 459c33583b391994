//! Iterations per switch during which task-1 accuracy is below 95 % of what it was before the switch.

use super::per_switch::mean_of;
use super::{Better, Quantity, Unit};

pub(super) const QUANTITY: Quantity = Quantity {
    name: "gap width",
    definition: "Iterations per switch during which task-1 accuracy is below 95 % of what it was before the switch.",
    unit: Unit::Iterations,
    digits: 1,
    better: Better::Less,
    in_paper: false,
    worst: None,
    of: |curve| mean_of(curve, |gap, _| Some(gap.width as f64)),
};
