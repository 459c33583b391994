//! Accuracy on each task after the first, measured when it ends; mean over those tasks.

use super::{Better, Quantity, Unit};
use crate::plasticity::Plasticity;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "newest task",
    definition: "Accuracy on each task after the first, measured when it ends; mean over those tasks.",
    unit: Unit::Percent,
    digits: 2,
    better: Better::More,
    in_paper: false,
    worst: Some(0.0),
    of: |curve| Plasticity::of(curve).new_task_acc,
};
