//! Worst-case accuracy over all tasks: the newest accuracy weighs as much as any other task's lowest.

use super::{Better, Quantity, Unit};
use crate::all_task::AllTask;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "all-task WC-ACC",
    definition: "Worst-case accuracy over all tasks: the newest accuracy weighs as much as any other task's lowest.",
    unit: Unit::Percent,
    digits: 2,
    better: Better::More,
    in_paper: false,
    worst: Some(0.0),
    of: |curve| AllTask::of(curve)?.wc_acc.last().copied(),
};
