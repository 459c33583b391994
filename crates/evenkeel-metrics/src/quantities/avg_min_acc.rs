//! Lowest accuracy on task 1 within each later task, mean over those tasks: `avg-min-ACC = 1/(K−1) Σ m_k`.

use super::{Better, Quantity, Unit};
use crate::metrics::Metrics;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "avg-min-ACC",
    definition: "Lowest accuracy on task 1 within each later task, mean over those tasks: avg-min-ACC = 1/(K−1) Σ m_k.",
    unit: Unit::Percent,
    digits: 2,
    better: Better::More,
    in_paper: true,
    worst: Some(0.0),
    of: |curve| Some(Metrics::of(curve).ok()?.avg_min_acc),
};
