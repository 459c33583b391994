//! Worst-case accuracy: `WC-ACC = E_K/K + (1 − 1/K) · avg-min-ACC`.

use super::{Better, Quantity, Unit};
use crate::metrics::Metrics;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "WC-ACC",
    definition: "Worst-case accuracy: WC-ACC = E_K/K + (1 − 1/K) · avg-min-ACC.",
    unit: Unit::Percent,
    digits: 2,
    better: Better::More,
    in_paper: true,
    worst: Some(0.0),
    of: |curve| Some(Metrics::of(curve).ok()?.wc_acc),
};
