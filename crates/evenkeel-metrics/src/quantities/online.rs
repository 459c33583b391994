//! Accuracy on all tasks seen so far, averaged over the iterations of the tasks after the first.

use super::{Better, Quantity, Unit};
use crate::seen::online;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "online",
    definition: "Accuracy on all tasks seen so far, averaged over the iterations of the tasks after the first. Needs eval_all_tasks.",
    unit: Unit::Percent,
    digits: 2,
    better: Better::More,
    in_paper: false,
    worst: Some(0.0),
    of: online,
};
