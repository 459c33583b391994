//! Accuracy on all tasks seen so far over the 50 iterations after a switch, mean over switches.

use super::{Better, Quantity, Unit};
use crate::seen::{BEGINNING, after_switches};

pub(super) const QUANTITY: Quantity = Quantity {
    name: "first 50",
    definition: "Accuracy on all tasks seen so far over the 50 iterations after a switch, the new task among them; mean over switches. Needs eval_all_tasks.",
    unit: Unit::Percent,
    digits: 2,
    better: Better::More,
    in_paper: false,
    worst: Some(0.0),
    of: |curve| after_switches(curve, BEGINNING),
};
