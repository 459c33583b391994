//! Stability gap: the share of task-1 accuracy that is lost after a switch, `SG_k = (E_{k−1} − m_k)/E_{k−1}`, mean over switches.

use super::{Better, Quantity, Unit};
use crate::metrics::Metrics;

pub(super) const QUANTITY: Quantity = Quantity {
    name: "avg-SG",
    definition: "Stability gap: the share of task-1 accuracy that is lost after a switch, SG_k = (E_{k−1} − m_k)/E_{k−1}, mean over switches.",
    unit: Unit::Fraction,
    digits: 3,
    better: Better::Less,
    in_paper: true,
    worst: Some(1.0),
    of: |curve| Metrics::of(curve).ok()?.avg_sg,
};
