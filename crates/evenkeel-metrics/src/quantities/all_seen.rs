//! Accuracy on the test images of all tasks at the end of training.

use super::{Better, Quantity, Unit};
use crate::plasticity::Plasticity;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "all seen",
    definition: "Accuracy on the test images of all tasks at the end of training.",
    unit: Unit::Percent,
    digits: 2,
    better: Better::More,
    in_paper: false,
    worst: Some(0.0),
    of: |curve| Plasticity::of(curve).seen_acc,
};
