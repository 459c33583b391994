//! Accuracy on task 1 at the end of each task, mean over tasks: `avg-ACC = 1/K Σ E_k`.

use super::{Better, Quantity, Unit};
use crate::metrics::Metrics;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "avg-ACC",
    definition: "Accuracy on task 1 at the end of each task, mean over tasks: avg-ACC = 1/K Σ E_k.",
    unit: Unit::Percent,
    digits: 2,
    better: Better::More,
    in_paper: true,
    worst: Some(0.0),
    of: |curve| Some(Metrics::of(curve).ok()?.avg_acc),
};
