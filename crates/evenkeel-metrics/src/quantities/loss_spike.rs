//! Highest task-1 loss after a switch minus the loss before it, mean over switches.

use super::per_switch::mean_of;
use super::{Better, Quantity, Unit};

pub(super) const QUANTITY: Quantity = Quantity {
    name: "loss spike",
    definition: "Highest task-1 loss after a switch minus the loss before it, mean over switches.",
    unit: Unit::Nats,
    digits: 3,
    better: Better::Less,
    in_paper: false,
    worst: None,
    of: |curve| mean_of(curve, |gap, _| gap.loss_spike),
};
